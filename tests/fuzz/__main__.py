"""Tries random cases for some minutes; writes the first wrong one, made small, as a folder that can be run again.

python -m tests.fuzz [--minutes 1] [--seed 1] [--into run/fuzz]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.case import Case, cases
from tests.fuzz.coverage import Coverage
from tests.worlds.warehouse import STREAM


def try_cases(number: int, seed_number: int, coverage: Coverage) -> Case | None:
    """Try so many cases; return the first wrong one, made as small as it gets, or None."""
    failing: list[Case] = []

    @seed(seed_number)
    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(case=cases())
    def attempt(case: Case) -> None:
        coverage.add(case.features())
        folder = Path(tempfile.mkdtemp())
        try:
            world = case.write(folder)
            case.check(case.evaluate(world))
        except Exception:
            failing.append(case)
            raise
        finally:
            shutil.rmtree(folder)

    try:
        attempt()
    except Exception:
        traceback.print_exc()
    return failing[-1] if failing else None  # what is tried last is the smallest


def write_reproduction(case: Case, folder: Path) -> None:
    """Write the events and the catalog of a case, and how to run it again with Spark as the judge."""
    shutil.rmtree(folder, ignore_errors=True)
    case.write(folder)
    options = f"{folder / 'catalog'} --stream {STREAM} --warehouse {folder / 'warehouse'}"
    commands = [
        f"heddle evaluate {options} --local --files-per-batch {case.files_per_batch}",
        f"heddle check {options} --all",
    ]
    (folder / "README").write_text("\n".join([*commands, "", repr(case), ""]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--into", type=Path, default=Path("run/fuzz"))
    options = parser.parse_args()
    coverage, until, number = Coverage(), time.monotonic() + 60 * options.minutes, options.seed
    while time.monotonic() < until:
        wrong = try_cases(25, number, coverage)
        if wrong is not None:
            write_reproduction(wrong, options.into)
            sys.stdout.write(f"wrong with --seed {number}: {options.into} has the case; {coverage.summary()}\n")
            sys.exit(1)
        number += 1
        sys.stdout.write(f"seeds {options.seed} to {number - 1}: {coverage.summary()}\n")


if __name__ == "__main__":
    main()
