"""A way to a server that is slow and fails: every connection of a port of its own goes through here.

Requests that begin with their length, as those to a name node do, are known one by one: each takes so long, and such a
share of them fails, half of these after the server has done them. Of connections without such requests, as those to a
data node, that share fails: half of them at once, the others after what was sent has arrived, before an answer comes.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

GREETING = 7  # bytes with which a client of a name node begins
PIECE = 1 << 16


@dataclass
class Unsteady:
    """What happens on the way to a port of this machine."""

    port: int
    seconds: float
    share: float
    has_requests: bool
    pick: random.Random = field(default_factory=lambda: random.Random(1))
    failures: int = 0

    def has_failed(self) -> bool:
        """Draw whether something fails."""
        fails = self.pick.random() < self.share
        self.failures += fails
        return fails

    async def serve(self, client: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        """Carry what a client says to the server, and back what this answers, until one of them or the way ends."""
        server, ask = await asyncio.open_connection("127.0.0.1", self.port)
        answers = asyncio.create_task(_copy(server, answer))
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            is_cut = await (self._carry_requests(client, ask) if self.has_requests else self._carry(client, ask))
            if not is_cut:
                ask.write_eof()
                await answers
        answers.cancel()
        for writer in (ask, answer):
            writer.close()

    async def _carry(self, client: asyncio.StreamReader, ask: asyncio.StreamWriter) -> bool:
        """Carry what a client says until it has said all; return whether the way was cut before."""
        await asyncio.sleep(self.seconds)
        fails = self.has_failed()
        if not fails:
            await _copy(client, ask)
        elif self.pick.random() < 0.5:
            ask.write(await client.read(PIECE))
            await ask.drain()
        return fails

    async def _carry_requests(self, client: asyncio.StreamReader, ask: asyncio.StreamWriter) -> bool:
        """The same, request by request."""
        ask.write(await client.readexactly(GREETING))
        while True:
            length = await client.readexactly(4)
            request = length + await client.readexactly(int.from_bytes(length, "big"))
            await asyncio.sleep(self.seconds)
            fails = self.has_failed()
            if not fails or self.pick.random() < 0.5:
                ask.write(request)
                await ask.drain()
            if fails:
                return True


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()


@contextmanager
def unsteady_way(way: Unsteady, host: str, port: int) -> Iterator[None]:
    """A way to a server, open at an address of its own."""
    loop, is_open, is_over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with await asyncio.start_server(way.serve, host, port):
            is_open.set()
            await is_over.wait()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:  # which ends what is under way, too
            runner.run(serve())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert is_open.wait(30)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(is_over.set)
        thread.join(30)
