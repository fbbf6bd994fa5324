"""What is wrong with one field, before anyone knows which file and line it stands on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

SHOWN = 60
Meaning = TypeVar("Meaning")
Written = TypeVar("Written")


class Mistake(Exception):  # noqa: N818 (the word users see)
    """One field's mistake: what is wrong and what would be right."""

    def __init__(self, wrong: str, right: str, field: str = "") -> None:
        self.wrong, self.right, self.field = wrong, right, field
        super().__init__(wrong)


def show(text: object) -> str:
    """Return a user's text inside a one-line message: quoted, without line breaks, cut when long."""
    line = str(text)
    return repr(line if len(line) <= SHOWN else line[: SHOWN - 3] + "...")


def did_you_mean(name: str, choices: Iterable[str], otherwise: str) -> str:
    """Return the nearest choice, or what to say when none is near."""
    near = get_close_matches(name[:SHOWN].lower(), {str(choice) for choice in choices}, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else otherwise


def in_field(field: str, parse: Callable[[Written], Meaning], text: Written) -> Meaning:
    """Parse what a field says; its mistake carries the field's name."""
    try:
        return parse(text)
    except Mistake as mistake:
        raise Mistake(mistake.wrong, mistake.right, field) from None


class HeddleError(Exception):
    """Something the user can put right. `str(error)` is what the user reads; the exit code is 2."""


class UnreachableError(HeddleError):
    """A service that does not answer now: nothing is wrong with what the user wrote, and a later try may go well."""


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
