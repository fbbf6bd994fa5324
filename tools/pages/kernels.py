"""docs/kernels.md, from the techniques' cards and the operators' table."""

from __future__ import annotations

from itertools import groupby

from jobs.kernels.algebra.operators import OPS
from optimizer.algebra.techniques import CARDS, Card, allowed

INTRODUCTION = """# Kernels

A kernel takes the closed partials of a tree, in slice order, and emits the windows that end. Every technique is one
file of `jobs/kernels/techniques/`. This page is generated from their cards.

    from jobs.kernels.techniques.stream import advance, make, operations, run
    state = make("daba", [Window(range=60, slide=10)], "max")
    state, answers = advance(state, slice_starts, rows, until)

`operators.lift` makes rows of values and `operators.lower` makes values of rows. `stream.to_bytes` and `from_bytes`
carry a state to another process, with the same answers bit for bit; `operations` says how many combine operations it
has cost. `run` answers many keys in one call.

Null, NaN, infinities and -0.0 are treated as Spark treats them. Sums of int64 are exact, and an answer that does not
fit is flagged. The invertible techniques keep float sums exactly, in an accumulator that spans all exponents, and count
NaN and infinities beside it: what has left a window leaves nothing behind.

Operations are counted per slide over n partials. The worst cases are those of streams without gaps: after a gap, all
that has expired meanwhile is evicted at once.
"""


def _technique_row(card: Card) -> str:
    queries = "all in one pass" if card.multi_query else "one range each"
    cells = [
        f"`{card.name}`",
        card.full_name,
        card.needs,
        queries,
        card.amortized,
        card.worst_case,
        card.space,
        card.paper,
    ]
    return f"| {' | '.join(cells)} |"


def technique_table() -> str:
    """Return the techniques' cards as a Markdown table: combine operations per slide over n partials."""
    head = "| technique | full name | needs | queries | amortized operations | worst case | space | paper |"
    return "\n".join([head, "|---" * 8 + "|", *map(_technique_row, CARDS.values())])


def component_table() -> str:
    """Return the components as a Markdown table: their partials, and the techniques that their algebra forbids."""
    lines = ["| component | partials | not with |", "|---|---|---|"]
    for component, pairs in groupby(OPS, key=lambda pair: pair[0]):
        kinds = ", ".join(kind for _, kind in pairs)
        refused = ", ".join(f"`{name}`" for name in CARDS if not allowed(name, component))
        lines.append(f"| `{component}` | {kinds} | {refused} |")
    return "\n".join(lines)


def refresh(page: str) -> str:
    """Return docs/kernels.md, whatever it says now: all of it is generated."""
    return f"{INTRODUCTION}\n## Techniques\n\n{technique_table()}\n\n## Components\n\n{component_table()}\n"
