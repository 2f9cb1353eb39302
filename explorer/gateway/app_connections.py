"""Connections to the app, reused for one request after the other."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import httptools

PIECE = 2**16  # bytes that are read at once
Headers = list[tuple[bytes, bytes]]


class Unanswered(OSError):
    """The app cannot be reached, or has closed the connection before or within an answer."""


class Connection:
    """A connection, and the received part of the answer to its last request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._parser = httptools.HttpResponseParser(self)
        self._pieces: list[bytes] = []
        self._is_begun = self._is_whole = False
        self.headers: Headers = []
        self.left_at = 0.0  # when its last answer was whole

    @property
    def status(self) -> int:
        return self._parser.get_status_code()

    @property
    def is_free(self) -> bool:
        """Return whether another request may follow."""
        return self._is_whole and self._parser.should_keep_alive() and not self.is_closed

    @property
    def is_closed(self) -> bool:
        return self._reader.at_eof() or self._writer.is_closing()

    def close(self) -> None:
        self._writer.transport.abort()

    async def ask(self, *request: bytes) -> None:
        """Send the parts of a request, and wait for the head of its answer. Raises Unanswered."""
        self._parser = httptools.HttpResponseParser(self)
        self._pieces, self.headers = [], []
        self._is_begun = self._is_whole = False
        self._writer.writelines(request)
        while not self._is_begun:
            await self._hear()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body of the answer as it arrives. Raises Unanswered."""
        while True:
            came, self._pieces = self._pieces, []
            if came:
                yield b"".join(came)
            elif self._is_whole:
                return
            else:
                await self._hear()

    async def _hear(self) -> None:
        try:
            came = await self._reader.read(PIECE)
            if not came:
                raise Unanswered("closed")
            self._parser.feed_data(came)
        except (OSError, httptools.HttpParserError) as error:
            raise Unanswered(type(error).__name__) from error

    # ---- What the parser finds

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self._is_begun = True

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        self._is_whole = True


class Connections:
    """A connection for each concurrent request to this port of the loopback; closed after `idle_s`
    unused seconds."""

    def __init__(self, host: str, port: int, idle_s: float) -> None:
        self._host, self._port, self._idle_s = host, port, idle_s
        self._free: list[Connection] = []

    @contextlib.asynccontextmanager
    async def lent(self) -> AsyncIterator[Connection]:
        """Lend a connection for one request; it is closed unless its answer was read to the end.

        Raises Unanswered if there is no app.
        """
        connection = self._kept() or await self._opened()
        try:
            yield connection
        finally:
            if connection.is_free:
                connection.left_at = time.monotonic()
                self._free.append(connection)
            else:
                connection.close()

    def _kept(self) -> Connection | None:
        """Return the most recently used one, after closing those unused for too long."""
        too_old = time.monotonic() - self._idle_s
        while self._free and (self._free[0].left_at < too_old or self._free[0].is_closed):
            self._free.pop(0).close()
        while self._free:
            if not (found := self._free.pop()).is_closed:
                return found
            found.close()
        return None

    async def _opened(self) -> Connection:
        try:
            return Connection(*await asyncio.open_connection(self._host, self._port))
        except OSError as error:
            raise Unanswered(type(error).__name__) from error
