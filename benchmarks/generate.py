"""Generating events against writing them: prints, per stream, the CPU time of `generate` over that of pyarrow alone.

    python benchmarks/generate.py [EVENTS]

Both sides run in this process, in turn, on the same tables; pyarrow writes them with its defaults, file by file.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from jobs.generate import STREAMS, Options, generate

ROUNDS = 3


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def ratio(stream: str, events: int, folder: Path) -> float:
    """Generated and written, over written only."""
    options = Options(events, keys=100, key_skew=1.0 if stream == "trades" else 0.0)
    ours = seconds(lambda: generate(stream, options, folder / "ours"))
    theirs = 0.0
    for part in sorted((folder / "ours").glob("*.parquet")):
        table = pq.read_table(part)
        theirs += seconds(lambda table=table: pq.write_table(table, folder / "theirs.parquet"))  # type: ignore[misc]
    return ours / theirs


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    for stream in STREAMS:
        ratios = []
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                ratios.append(ratio(stream, events, Path(folder)))
        shown = ", ".join(f"{value:.2f}" for value in ratios)
        print(f"{stream}: {events:,} events take {shown} times what pyarrow takes to write them (at most 3)")


if __name__ == "__main__":
    main()
