"""Timeouts of connections: how long a hosted page waits for whoever has one to it.

Uvicorn ends a connection that is idle after an answer, but waits without end for the head of a
request, of any length, and for somebody to take an answer: a client that sends a header a minute,
or reads nothing, would cost nothing and hold a connection for as long as it likes.
"""

from __future__ import annotations

import asyncio
import sys

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from explorer.runtime.budgets import budget

HEAD_BYTES = 2**16  # of a request: its first line and its headers
HEAD_END = b"\r\n\r\n"


class BoundedConnection(HttpToolsProtocol):
    """A connection whose other side sends the head of a request, and takes an answer, in time."""

    _head: asyncio.TimerHandle | None = None
    _answer: asyncio.TimerHandle | None = None
    _in_head = True
    _came = 0  # bytes of a head
    _last = b""  # of them those that may begin its end

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._wait_for_head()
            seen = self._last + data
            end = seen.find(HEAD_END)
            self._came += (len(seen) if end < 0 else end) - len(self._last)
            self._last = seen[1 - len(HEAD_END) :]
            if self._came > HEAD_BYTES:
                self._refuse(431, "too_much")
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._in_head, self._came, self._last = False, 0, b""
        self._head = _cancelled(self._head)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head = True

    def pause_writing(self) -> None:
        """The other side does not take what is sent to it, for now."""
        super().pause_writing()
        if self._answer is None:
            left = budget("answer_seconds")
            self._answer = self.loop.call_later(left, self._give_up)

    def resume_writing(self) -> None:
        self._answer = _cancelled(self._answer)
        super().resume_writing()

    def _wait_for_head(self) -> None:
        if self._head is None:
            left = budget("head_seconds")
            self._head = self.loop.call_later(left, self._refuse, 408, "too_slow")

    def _refuse(self, status: int, why: str) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            _tell(status, why)
            said = b"content-length: 0\r\nconnection: close\r\n\r\n"
            self.transport.write(STATUS_LINE[status] + said)
            self.transport.close()

    def _give_up(self) -> None:
        self._stop_waiting()
        _tell(408, "too_slow")
        self.transport.abort()

    def _stop_waiting(self) -> None:
        self._head, self._answer = _cancelled(self._head), _cancelled(self._answer)


def _cancelled(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _tell(status: int, why: str) -> None:
    print(f"refused {status} problem.{why}", file=sys.stderr, flush=True)
