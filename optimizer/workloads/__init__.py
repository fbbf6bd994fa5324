"""The workloads of the papers, deterministic by seed: as windows in memory, or as catalogs.

- card: What is known of a workload, as data: the command line and the docs are made from it.
- catalog: A workload as a catalog folder: YAML that a person can read.
- draws: What the generators draw with: Zipf's law, the factors of a number, ranges for slides, checked parameters.
- factors: Weave Share's workload: slides from the factors of S_max, so that trees have edges in common.
- market: What the four trades workloads have in common: trades joined with Close and Index.
- random_gen: RandomGen of Factor Windows: distinct windows, each a random multiple of a random seed.
- sequential_gen: SequentialGen of Factor Windows: the multiples 2, 3, 4, ... of one random seed.
- trades_a: Workload A of on-the-fly sharing: the same predicate, different windows (shared time slices).
- trades_b: Workload B of on-the-fly sharing: different predicates, the same window (shared data fragments).
- trades_c: Workload C of on-the-fly sharing, regular: predicates and windows differ.
- trades_c_low: Workload C of on-the-fly sharing, low-sharing: predicates and windows differ.
- workload: A workload: many windows, and the few shapes of query that ask for them.
- zipf_slides: The large workload of the multi-query papers: any slide up to 100,000, hardly a common factor.
"""

from __future__ import annotations

from optimizer.errors import HeddleError
from optimizer.workloads.card import Card
from optimizer.workloads.draws import option_name, require
from optimizer.workloads.factors import factors
from optimizer.workloads.random_gen import random_gen
from optimizer.workloads.sequential_gen import sequential_gen
from optimizer.workloads.trades_a import trades_a
from optimizer.workloads.trades_b import trades_b
from optimizer.workloads.trades_c import trades_c
from optimizer.workloads.trades_c_low import trades_c_low
from optimizer.workloads.workload import Workload
from optimizer.workloads.zipf_slides import zipf_slides

WORKLOADS: dict[str, Card] = {
    "factors": Card(factors, "Weave Share (CIKM 2011, ICDE 2012); TriWeave"),
    "zipf_slides": Card(zipf_slides, "F1 and SlickDeque"),
    "random_gen": Card(random_gen, "Factor Windows, RandomGen"),
    "sequential_gen": Card(sequential_gen, "Factor Windows, SequentialGen"),
    "trades_a": Card(trades_a, "On-the-fly sharing (SIGMOD 2006), workload A", "market"),
    "trades_b": Card(trades_b, "On-the-fly sharing (SIGMOD 2006), workload B", "market"),
    "trades_c": Card(trades_c, "On-the-fly sharing (SIGMOD 2006), workload C, regular", "market"),
    "trades_c_low": Card(trades_c_low, "On-the-fly sharing (SIGMOD 2006), workload C, low-sharing", "market"),
}


def workload(name: str, queries: int, seed: int = 0, **options: object) -> Workload:
    """The named workload; refuses, in one line each, a name, an option or a number that makes no sense."""
    if name not in WORKLOADS:
        raise HeddleError(f"there is no workload {name!r}; use one of {', '.join(WORKLOADS)}")
    known = WORKLOADS[name].options
    for option in options:
        if option not in known:
            raise HeddleError(f"{name} takes no {option_name(option)}; it takes {', '.join(map(option_name, known))}")
    require("queries", queries, 1, 10_000_000)
    require("seed", seed, 0, 2**63 - 1)
    return WORKLOADS[name].generate(queries, seed, **options)
