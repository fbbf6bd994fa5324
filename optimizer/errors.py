"""Mistakes that a user can mend: shown as lines, never as a traceback."""

from __future__ import annotations

from dataclasses import dataclass


class HeddleError(Exception):
    """Something the user can put right. `str(error)` is what the user reads; the exit code is 2."""


@dataclass(frozen=True, order=True)
class Problem:
    """One line of a catalog's errors: where it is, what is wrong, what would be right."""

    file: str
    line: int
    query: str
    field: str
    wrong: str
    right: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        names = [name for name in (self.query, self.field) if name]
        return f"{': '.join([place, *names])}: {self.wrong}; {self.right}"


class CatalogError(HeddleError):
    """Every problem of a catalog at once, one line each."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = sorted(problems)
        super().__init__("\n".join(map(str, self.problems)))
