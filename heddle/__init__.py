"""The command line: one file per command.

- __main__: `python -m heddle`.
- main: `heddle`: the commands, and what a user sees when one fails.
- commands: The commands of `heddle`, in the order --help lists them.
- demo: The first run: events, a peer to compare with, and the screen at its end.
- processes: The processes that `heddle demo` and `heddle ui` start.
"""
