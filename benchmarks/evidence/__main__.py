"""Rerun the evidence: `make evidence [PART=plans] [ARGS="--full --again"]`. A part that is done is not repeated.

Of several parts, each is measured in a process of its own: what one leaves in memory is no load for the next, and one
that fails is named at the end while the others go on.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.evidence.figure import Size, load_claims
from benchmarks.evidence.page import write_sections
from benchmarks.evidence.parts import KEPT, PARTS, ROOT, expected_seconds, keep_part, kept_part, measure_part
from benchmarks.evidence.readme import write_figures


def main() -> None:
    """Measure what is not measured yet, and write the page after every part."""
    options = read_options()
    names = options.parts or list(PARTS)
    if len(names) == 1 and options.began is not None:
        run_part(names[0], options)
        return
    if options.again:
        for name in names:
            (options.kept / f"{name}.json").unlink(missing_ok=True)
    if failed := run_parts(names, options):
        sys.exit(f"not measured: {', '.join(failed)}; the same command measures them again and repeats nothing else")


def read_options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(prog="make evidence", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; all of them by default")
    parser.add_argument("--full", action="store_true", help="the papers' own sizes, for a larger machine")
    parser.add_argument("--small", action="store_true", help="the least that has the shape of the page")
    parser.add_argument("--again", action="store_true", help="forget first what is done")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where finished parts are kept")
    parser.add_argument(
        "--readme", type=Path, default=ROOT / "README.md", help="where the part peers writes its figures"
    )
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "evidence.md", help="the page to write")
    parser.add_argument("--began", type=float, help=argparse.SUPPRESS)  # of a process for one part: when the run began
    parser.add_argument("--expected", type=float, default=0.0, help=argparse.SUPPRESS)  # seconds of the whole run
    options = parser.parse_args()
    unknown = [name for name in options.parts if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; use one of {', '.join(PARTS)}")
    return options


def run_parts(names: list[str], options: argparse.Namespace) -> list[str]:
    """Run each part in a process of its own; return those that failed."""
    size = Size(options.full, options.small)
    todo = [name for name in names if not ((part := kept_part(name, options.kept)) and part.size == size.name)]
    expected = sum(expected_seconds(name, size, options.kept) for name in todo) if size.name == "usual" else 0.0
    flags = [f"--{flag}" for flag in ("full", "small") if getattr(options, flag)]
    flags += [f"--{place}={getattr(options, place)}" for place in ("kept", "readme", "page")]
    flags += [f"--began={time.time()}", f"--expected={expected}"]
    failed = []
    try:
        for name in names:
            if subprocess.call([sys.executable, "-m", "benchmarks.evidence", name, *flags]):
                print(f"part {name} FAILED; the others go on", file=sys.stderr, flush=True)
                failed.append(name)
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on with the part that was not done")
    return failed


def run_part(name: str, options: argparse.Namespace) -> None:
    """Measure one part where it is not done in this size, and write its section."""
    size = Size(options.full, options.small)

    def say(text: str) -> None:
        of_all = f" of about {options.expected:.0f}" if options.expected else ""
        print(f"{time.time() - options.began:6.0f}{of_all} s  {text}", file=sys.stderr, flush=True)

    place = f"part {list(PARTS).index(name) + 1} of {len(PARTS)}, {name}"
    part = kept_part(name, options.kept)
    if part and part.size == size.name:
        say(f"{place}: done on {part.date} (--again repeats it)")
    else:
        say(f"{place}, about {expected_seconds(name, size, options.kept):.0f} s" if options.expected else place)
        part = measure_part(name, size, lambda text: say(f"  {name}: {text}"))
        keep_part(part, options.kept)
        say(f"{place}: took {part.seconds:.0f} s")
    write_sections(options.page, [part], load_claims())
    if name == "peers":
        write_figures(options.readme, part)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
