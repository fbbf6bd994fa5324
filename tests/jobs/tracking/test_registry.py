"""The registry: promotion only when better, roll back by moving the alias, history."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jobs.host.settings import Settings
from jobs.tracking.registry import champion, decide, history, plan_of, promote, register, roll_back
from jobs.tracking.store import Store
from optimizer.catalog.write import add_query
from optimizer.errors import HeddleError
from optimizer.plan.definition import Traffic
from optimizer.plan.prices import Prices
from tests.worlds.platform import catalog_of, planned, replanned

MORE = {"id": "low", "stream": "readings", "select": "min(x)", "range": "8 seconds", "slide": "8 seconds"}


def test_only_a_cheaper_plan_is_promoted(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    assert champion(store, "readings") is None
    promoted = [
        replanned(store, catalog, planned(catalog, name))[1] for name in ("no_share", "weave_share", "no_share")
    ]
    assert promoted == [True, True, False]
    now = champion(store, "readings")
    assert now is not None
    assert (now.number, now.strategy) == (2, "weave_share")
    assert plan_of(store, now) == planned(catalog)
    assert [(v.number, v.champion) for v in history(store, "readings")] == [(2, True), (1, False)]


def test_the_same_plan_again_is_not_better(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    replanned(store, catalog, planned(catalog))
    assert replanned(store, catalog, planned(catalog))[1] is False


def test_roll_back_goes_from_champion_to_champion(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    for name in ("no_share", "weave_share"):
        replanned(store, catalog, planned(catalog, name))
    assert roll_back(store, "readings").number == 1
    with pytest.raises(HeddleError, match="no champion before"):
        roll_back(store, "readings")
    promote(store, history(store, "readings")[0])
    assert roll_back(store, "readings").number == 1
    assert roll_back(store, "readings", 2).number == 2
    found = champion(store, "readings")
    assert found is not None
    assert found.number == 2
    with pytest.raises(HeddleError, match="no version 9"):
        roll_back(store, "readings", 9)


def test_a_champion_of_another_catalog_gives_way(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    replanned(store, catalog, planned(catalog))
    add_query(place.catalog, MORE)
    changed = catalog_of(place)
    dearer = planned(changed, "no_share")
    assert replanned(store, changed, dearer)[1] is True


def test_the_champion_is_costed_at_the_rate_of_today(place: Settings) -> None:
    catalog = catalog_of(place)
    slow = replace(planned(catalog), traffic=Traffic(5.0, ticks=1_000_000))
    today = planned(catalog)
    assert decide(today, slow).champion_cost == pytest.approx(today.cost)
    assert not decide(today, slow).better


def test_seconds_decide_where_they_are_known(place: Settings) -> None:
    catalog = catalog_of(place)
    few, fast = planned(catalog, technique="panes"), planned(catalog)
    literal_is_slow = Prices({"partial": 1e-7, "final.panes": 1e-3, "final.two_stacks_block": 1e-8})
    literal_is_fast = Prices({"partial": 1e-7, "final.panes": 1e-8, "final.two_stacks_block": 1e-3})
    assert decide(fast, few, literal_is_slow).better
    assert not decide(fast, few, literal_is_fast).better
    assert decide(fast, few, Prices({"partial": 1e-7, "final.panes": 1e-8})).unit == "operations per second"


def test_a_plan_is_registered_once(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    version, _ = replanned(store, catalog, planned(catalog))
    assert replanned(store, catalog, planned(catalog))[0].number == version.number
    assert register(store, planned(catalog), "another run").number == version.number
