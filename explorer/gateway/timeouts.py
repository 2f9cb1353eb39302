"""Timeouts of connections to a hosted page.

Uvicorn closes a connection that is idle after a response, but waits without limit for the head of a
request, of any length, and for the client to read a response: a client that sends a header a
minute, or reads nothing, would hold a connection at no cost for as long as it likes.

A client that sends further requests before a response (pipelining) is served in order; how much it
may send meanwhile is bounded, and its disconnection is noticed.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from explorer.runtime.budgets import budget

HEAD_BYTES = 2**16  # of a request: its first line and its headers
HEAD_END = b"\r\n\r\n"
# Neither the expected head of a request nor a body: trailers of a chunked body, and requests that
# follow one without a response yet.
BESIDE_BYTES = 2**16


class BoundedConnection(HttpToolsProtocol):
    """A connection whose client must send the head of a request, and read an answer, in time."""

    _head: asyncio.TimerHandle | None = None
    _answer: asyncio.TimerHandle | None = None
    _in_head = True
    _came = 0  # bytes of a head
    _last = b""  # of them those that may begin its end
    _beside = 0  # bytes since the last of a body, and bytes before an answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self._asked: deque[RequestResponseCycle] = deque()  # and not answered
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        for one in self._asked:  # uvicorn tells the last of them
            one.disconnected = True
            one.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head and not self._answers:
            self._wait_for_head()
            seen = self._last + data
            end = seen.find(HEAD_END)
            self._came += (len(seen) if end < 0 else end) - len(self._last)
            self._last = seen[1 - len(HEAD_END) :]
            if self._came > HEAD_BYTES:
                self._refuse(431, "too_much")
                return
        else:
            self._beside += len(data)
        super().data_received(data)
        if self._beside > BESIDE_BYTES:
            self._refuse(431, "too_much")
        elif self._answers:  # uvicorn may read no more, and would not see that somebody leaves
            self.flow.resume_reading()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # what comes after a body was not there when it was let in
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._came, self._last = False, 0, b""
        self._head = _cancelled(self._head)
        parser = self.parser
        assert parser is not None
        asks_for_another = parser.should_upgrade()
        if asks_for_another and (parser.get_method() == b"CONNECT" or _has_body(self.headers)):
            raise ValueError("what follows is taken for the other protocol, a body too")
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not before:
            self._asked.append(self.cycle)
            if asks_for_another:  # nobody speaks it here, and what follows is not read
                self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        if not self._answers:
            self._beside = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head = True

    def on_response_complete(self) -> None:
        self._asked.popleft()
        if not self._asked:
            self._beside = 0
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "malformed")

    def pause_writing(self) -> None:
        """Start the timeout of a client that does not read."""
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

    @property
    def _answers(self) -> bool:
        """Return whether a request is complete and its answer not yet sent."""
        return bool(self._asked) and not self._asked[0].more_body

    def _refuse(self, status: int, why: str) -> None:
        self._stop_waiting()
        if self.transport.is_closing():
            return
        _log_refusal(status, why)
        if self._answers or any(one.response_started for one in self._asked):
            self.transport.abort()  # it would be taken for a part of that answer
            return
        said = b"content-length: 0\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + said)
        self.transport.close()

    def _give_up(self) -> None:
        self._stop_waiting()
        _log_refusal(408, "too_slow")
        self.transport.abort()

    def _stop_waiting(self) -> None:
        self._head, self._answer = _cancelled(self._head), _cancelled(self._answer)


def _has_body(headers: list[tuple[bytes, bytes]]) -> bool:
    said = dict(headers)
    return b"transfer-encoding" in said or said.get(b"content-length", b"0") != b"0"


def _cancelled(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _log_refusal(status: int, why: str) -> None:
    print(f"refused {status} problem.{why}", file=sys.stderr, flush=True)
