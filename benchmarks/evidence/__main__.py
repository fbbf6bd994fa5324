"""Rerun the evidence: `make evidence [PART=plans] [ARGS="--full --again"]`. A part that is done is not repeated."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.evidence.figure import Size, load_claims
from benchmarks.evidence.page import write_sections
from benchmarks.evidence.parts import KEPT, PARTS, ROOT, keep_part, kept_part, measure_part
from benchmarks.evidence.readme import write_figures


def main() -> None:
    """Measure what is not measured yet, and write the page after every part."""
    parser = argparse.ArgumentParser(prog="make evidence", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; all of them by default")
    parser.add_argument("--full", action="store_true", help="the papers' own sizes, for a larger machine")
    parser.add_argument("--small", action="store_true", help="the least that has the shape of the page")
    parser.add_argument("--again", action="store_true", help="repeat parts that are done")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where finished parts are kept")
    parser.add_argument(
        "--readme", type=Path, default=ROOT / "README.md", help="where the part peers writes its figures"
    )
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "evidence.md", help="the page to write")
    options = parser.parse_args()
    unknown = [name for name in options.parts if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; use one of {', '.join(PARTS)}")
    names = options.parts or list(PARTS)
    claims, size, began = load_claims(), Size(options.full, options.small), time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:7.0f} s  {text}", file=sys.stderr, flush=True)

    for number, name in enumerate(names, 1):
        part = None if options.again else kept_part(name, options.kept)
        if part:
            say(f"part {number} of {len(names)}, {name}: done on {part.date} (--again repeats it)")
        else:
            say(f"part {number} of {len(names)}, {name}")
            part = measure_part(name, size, lambda text, name=name: say(f"  {name}: {text}"))
            keep_part(part, options.kept)
        write_sections(options.page, [part], claims)
        if name == "peers":
            write_figures(options.readme, part)
    say(f"written: {options.page}")


if __name__ == "__main__":
    main()
