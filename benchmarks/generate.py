"""Generating events against writing them: prints, per stream, the CPU time of `generate` over that of pyarrow alone.

    python benchmarks/generate.py [EVENTS]

Both sides run in this process, in turn, on the same tables, file by file. pyarrow writes them twice: with its defaults,
and with the settings of the generator, which spend no dictionary on columns that do not repeat.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from jobs.generate import STREAMS, Options, generate, silent
from jobs.generate.files import write_part

ROUNDS = 3


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def ratios(stream: str, events: int, folder: Path) -> tuple[float, float]:
    """Generated and written, over written only: with pyarrow's defaults, with the generator's settings."""
    options = Options(events, keys=100, key_skew=1.0 if stream == "trades" else 0.0)
    ours = seconds(lambda: generate(stream, options, folder / "ours"))
    plain = same = 0.0
    for part in sorted((folder / "ours").glob("*.parquet")):
        table = pq.read_table(part)
        plain += seconds(partial(pq.write_table, table, folder / "plain.parquet"))
        same += seconds(partial(write_part, folder / "same.parquet", iter([table]), silent))
    return ours / plain, ours / same


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    for stream in STREAMS:
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                plain, same = ratios(stream, events, Path(folder))
            print(
                f"{stream}: generating {events:,} events takes {plain:.2f} times what pyarrow takes to write them "
                f"({same:.2f} with the generator's settings); at most 3"
            )


if __name__ == "__main__":
    main()
