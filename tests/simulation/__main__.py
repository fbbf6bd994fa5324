"""Plays episodes for some minutes; stops at the first that breaks, and prints its seed.

python -m tests.simulation [--minutes 1] [--seed 1] [--episodes 0]
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.simulation.episode import Broken, play_episode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--episodes", type=int, default=0, help="instead of minutes")
    options = parser.parse_args()
    started, cpu, steps, seed = time.monotonic(), time.process_time(), 0, options.seed
    while (
        seed < options.seed + options.episodes
        if options.episodes
        else time.monotonic() < started + 60 * options.minutes
    ):
        try:
            steps += play_episode(seed)
        except Broken as broken:
            sys.stdout.write(f"{broken}\n")
            sys.exit(1)
        seed += 1
    minutes = (time.process_time() - cpu) / 60
    sys.stdout.write(
        f"seeds {options.seed} to {seed - 1}: {steps:,} steps, {steps / minutes:,.0f} a minute of CPU, nothing broken\n"
    )


if __name__ == "__main__":
    main()
