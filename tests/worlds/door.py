"""A door in front of a server on loopback: while it is shut nobody gets in, and whoever is inside is cut off."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self

LOOPBACK = "127.0.0.1"
CHUNK = 1 << 16


class Door:
    """Hands connections on to a port of the server. `shut` is for its clients what the server's death is."""

    def __init__(self, port: int) -> None:
        self.to = port
        self.inside: list[socket.socket] = []
        self.is_answering = True
        self.listener = self._listen(0)
        self.port: int = self.listener.getsockname()[1]

    def _listen(self, port: int) -> socket.socket:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()
        threading.Thread(target=self._serve, args=(listener,), daemon=True).start()
        return listener

    def _serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                try:
                    server = socket.create_connection((LOOPBACK, self.to))
                except OSError:  # the server is down itself
                    client.close()
                    continue
                self.inside += [client, server]
                threading.Thread(target=self._carry, args=(client, server, False), daemon=True).start()
                threading.Thread(target=self._carry, args=(server, client, True), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if is_answer and not self.is_answering:
                    self.shut()
                    return
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def shut(self) -> None:
        """Let nobody in, and cut off who is inside."""
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for end in self.inside:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self.inside.clear()

    def shut_at_answer(self) -> None:
        """Be shut as soon as the server answers: it has done what it was asked, and nobody hears of it."""
        self.is_answering = False

    def open(self) -> None:
        """Let clients in again, at the same port."""
        self.is_answering = True
        self.listener = self._listen(self.port)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()
