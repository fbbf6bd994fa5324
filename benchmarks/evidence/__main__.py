"""Rerun the evidence: `make evidence [PART=plans] [ARGS="--full --again"]`. A part that is done is not repeated.

Of several parts, each is measured in a process of its own: what one leaves in memory is no load for the next.
"""

from __future__ import annotations

import argparse
import subprocess
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
    if len(names) > 1:
        flags = [argument for argument in sys.argv[1:] if argument not in PARTS]
        for name in names:
            if code := subprocess.call([sys.executable, "-m", "benchmarks.evidence", name, *flags]):
                sys.exit(code)
        return
    (name,) = names
    claims, size, began = load_claims(), Size(options.full, options.small), time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:7.0f} s  {text}", file=sys.stderr, flush=True)

    place = f"part {list(PARTS).index(name) + 1} of {len(PARTS)}, {name}"
    part = None if options.again else kept_part(name, options.kept)
    if part:
        say(f"{place}: done on {part.date} (--again repeats it)")
    else:
        say(place)
        part = measure_part(name, size, lambda text: say(f"  {name}: {text}"))
        keep_part(part, options.kept)
    write_sections(options.page, [part], claims)
    if name == "peers":
        write_figures(options.readme, part)
    say(f"written: {options.page}")


if __name__ == "__main__":
    main()
