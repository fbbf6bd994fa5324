"""The strategies: one file each, and one line here."""

from __future__ import annotations

from optimizer.strategies.card import Card
from optimizer.strategies.no_share import no_share
from optimizer.strategies.shared import shared
from optimizer.strategies.weave_share import weave_share

STRATEGIES: dict[str, Card] = {
    card.name: card
    for card in (
        Card("no_share", "No sharing", no_share, "weave_share", "n", "CIKM 2011, section 2", per_query=True),
        Card("shared", "One shared tree", shared, "weave_share", "n", "CIKM 2011, section 2"),
        Card("weave_share", "Weave Share", weave_share, "weave_share", "c^2 log c", "CIKM 2011, section 4"),
    )
}
