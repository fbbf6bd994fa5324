"""The first signal asks a run to end after its batch, the second ends it; handlers are put back afterwards."""

from __future__ import annotations

import signal
import threading

import pytest

from jobs.host.stops import SIGNALS, stop_on_signal


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_asks_and_the_second_ends(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with stop_on_signal() as stop:
        assert not stop.is_set()
        signal.raise_signal(number)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_handlers_are_put_back_after_an_error() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(ValueError, match="broken"), stop_on_signal():
        raise ValueError("broken")
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_thread_that_may_not_handle_signals_gets_an_event_all_the_same() -> None:
    events: list[threading.Event] = []

    def run() -> None:
        with stop_on_signal() as stop:
            events.append(stop)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert [event.is_set() for event in events] == [False]
