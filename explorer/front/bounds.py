"""What a hosted page refuses before it is read: too much at once, or too often. What one visitor
asks for beyond what is answered at a time waits here, where it keeps no thread.

A refusal is one line of the log, with its reason and no content, and costs next to nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections import deque
from collections.abc import Iterable

from cachetools import LRUCache

from explorer.front.asgi import Application, Message, Receive, Send
from explorer.front.visitor import kept_key
from explorer.locale import say
from explorer.runtime.budgets import budget
from explorer.runtime.limits import MIB
from explorer.runtime.problem import Problem

# Of Gradio's own, which no page uses: each leaves files.
UNUSED = ("/upload", "/deep_link", "/process_recording")
# What is asked for without being sent anything, and made anew each time.
MADE_ANEW = ("/config", "/openapi.json")
# A value of a list or an object in JSON comes after one of these, which also stand in texts.
BEFORE_VALUES = (b",", b"[", b"{")
VISITORS = 10_000  # that are told from others by how often they ask
# Whoever asks too often hears of it after so long: who asks again at each answer asks less often.
HELD_S = 0.02


class Bucket:
    """Token bucket: so many requests at once, and so many a second after that."""

    def __init__(self) -> None:
        self.left = budget("requests_at_once")
        self.at = time.monotonic()

    def take(self) -> bool:
        """Whether one more may be answered now."""
        now = time.monotonic()
        gained = (now - self.at) * budget("requests_a_second")
        self.left, self.at = min(self.left + gained, budget("requests_at_once")), now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Line:
    """The requests of one visitor: so many are answered at a time, and so many wait for that."""

    def __init__(self) -> None:
        self.under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> bool:
        """Whether this one may be answered, now that it is its turn; False where too many wait."""
        if self.under_way < budget("requests_of_one"):
            self.under_way += 1
            return True
        if len(self._waiting) >= budget("requests_waiting"):
            return False
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self.leave()
            raise
        return True

    def leave(self) -> None:
        while self._waiting:
            if not (following := self._waiting.popleft()).done():
                following.set_result(None)
                return
        self.under_way -= 1


class _Refused(Exception):
    """What comes in is not waited for any longer."""


class Bounded:
    """Middleware: what a visitor sends is counted and measured while it comes in."""

    def __init__(self, app: Application) -> None:
        self.app = app
        self._buckets: LRUCache[str, Bucket] = LRUCache(VISITORS)
        self._lines: dict[str, Line] = {}
        self._held = 0  # bytes of what requests sent that are not answered yet

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = budget("body_mib")
        too_much = Problem("too_much", most=most)
        if self._asks_too_often(scope):
            await asyncio.sleep(HELD_S)
            await refuse(scope, send, 429, Problem("too_often", about="again"))
            return
        if scope["path"].rstrip("/").endswith(UNUSED):
            await refuse(scope, send, 403, Problem("call_unknown"))
            return
        if _announced(scope["headers"]) > most * MIB:
            await refuse(scope, send, 413, too_much)
            return
        key = kept_key(scope)
        began, came, values, whole, answered = time.monotonic(), 0, 0, False, False
        refused: tuple[int, Problem] | None = None
        line: Line | None = None

        async def measured() -> Message:
            nonlocal came, values, whole, refused, line
            if whole:  # whoever answers waits for the visitor to leave
                return await receive()
            left = budget("body_seconds") - (time.monotonic() - began)
            try:
                message = await asyncio.wait_for(receive(), max(left, 0))
            except TimeoutError:
                refused = 408, Problem("too_slow", most=budget("body_seconds"))
                raise _Refused from None
            whole = not message.get("more_body")
            body = message.get("body", b"")
            came += len(body)
            self._held += len(body)
            values += sum(map(body.count, BEFORE_VALUES))
            if came > most * MIB:
                refused = 413, too_much
                raise _Refused
            if self._held > budget("bodies_mib") * MIB:
                refused = 503, Problem("low_memory", about="again")
                raise _Refused
            if values > budget("body_values"):
                refused = 413, Problem("too_many_values", most=budget("body_values"))
                raise _Refused
            if whole and scope["method"] == "POST":
                mine = self._lines.setdefault(key, Line())
                if not await mine.enter():
                    refused = 429, Problem("too_often", about="again")
                    raise _Refused
                line = mine
            return message

        async def noticed(message: Message) -> None:
            nonlocal answered
            if not refused:  # else somebody on the way has an answer of their own to what is raised
                answered = True
                await send(message)

        try:
            with contextlib.suppress(_Refused):
                await self.app(scope, measured, noticed)
        finally:
            self._held -= came
            if line is not None:
                line.leave()
                if not line.under_way:
                    self._lines.pop(key, None)
        if refused and not answered:
            await refuse(scope, send, *refused)

    def _asks_too_often(self, scope: dict) -> bool:
        """What is asked of the server, that is; a page's own files are few and small. All who come
        without a key are counted as one."""
        path = scope["path"].rstrip("/")
        if (
            scope["method"] != "POST"
            and "/gradio_api/" not in path
            and not path.endswith(MADE_ANEW)
        ):
            return False
        key = kept_key(scope)
        bucket = self._buckets.get(key) or self._buckets.setdefault(key, Bucket())
        return not bucket.take()


def _announced(headers: Iterable[tuple[bytes, bytes]]) -> int:
    said = dict(headers).get(b"content-length", b"0")
    return int(said) if said.isdigit() else 0


async def refuse(scope: dict, send: Send, status: int, problem: Problem) -> None:
    """Answer a page by a sentence that it can show, and a program by the status too."""
    print(f"refused {status} {problem.key}", file=sys.stderr, flush=True)
    if "component_server" in scope["path"]:
        status = 200
    answer = {"error": problem.to_json(), "detail": say("en", problem.key, **problem.values)}
    body = json.dumps(answer).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
