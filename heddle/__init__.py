"""Heddle from Python (`heddle.run`, `heddle.explain`), and the command line: one file per command.

- __main__: `python -m heddle`.
- main: `heddle`: the commands, and what a user sees when one fails.
- commands: The commands of `heddle`, in the order --help lists them.
- demo: The first run: events, a peer to compare with, and the screen at its end.
- frames: `heddle.run`: queries over a table of a Python program.
- processes: The processes that `heddle demo` and `heddle ui` start.
"""

from heddle.frames import explain, run

__all__ = ["explain", "run"]
