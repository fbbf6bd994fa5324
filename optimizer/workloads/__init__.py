"""The workloads of the papers, deterministic by seed: as windows in memory, or as catalogs.

- generators: One function for each workload: slides by factors or by Zipf, multiples of a window, trades.
- workload: Workload, Shape, the Card of a generator, what generators share, and a workload as a catalog folder.
"""

from __future__ import annotations

from optimizer.errors import HeddleError
from optimizer.workloads.generators import (
    factors,
    random_gen,
    sequential_gen,
    trades_a,
    trades_b,
    trades_c,
    trades_c_low,
    zipf_slides,
)
from optimizer.workloads.workload import Card, Workload, option_name, require

WORKLOADS: dict[str, Card] = {
    "factors": Card(factors, "Multi-query optimization of incrementally evaluated windows (TKDE), experiments 1 to 5"),
    "zipf_slides": Card(zipf_slides, "Weave Share (CIKM 2011), Table 1"),
    "random_gen": Card(random_gen, "Factor Windows (ICDE 2022), RandomGen"),
    "sequential_gen": Card(sequential_gen, "Factor Windows (ICDE 2022), SequentialGen"),
    "trades_a": Card(trades_a, "On-the-fly sharing (SIGMOD 2006), workload A", "market"),
    "trades_b": Card(trades_b, "On-the-fly sharing (SIGMOD 2006), workload B", "market"),
    "trades_c": Card(trades_c, "On-the-fly sharing (SIGMOD 2006), workload C, regular", "market"),
    "trades_c_low": Card(trades_c_low, "On-the-fly sharing (SIGMOD 2006), workload C, low-sharing", "market"),
}


def workload(name: str, queries: int, seed: int = 0, **options: object) -> Workload:
    """Draw the named workload; refuse, in one line, a name, an option or a number that makes no sense.

    >>> [(window.range, window.slide) for window in workload("sequential_gen", 3, seed=1).windows()]
    [(10, 10), (15, 15), (20, 20)]
    """
    if name not in WORKLOADS:
        raise HeddleError(f"there is no workload {name!r}; use one of {', '.join(WORKLOADS)}")
    accepted = WORKLOADS[name].options
    for option in options:
        if option not in accepted:
            names = ", ".join(map(option_name, accepted))
            raise HeddleError(f"{name} takes no {option_name(option)}; it takes {names}")
    require("queries", queries, 1, 10_000_000)
    require("seed", seed, 0, 2**63 - 1)
    return WORKLOADS[name].generate(queries, seed, **options)
