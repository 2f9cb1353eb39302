"""Limits of a hosted page that apply before a request is read: its size, and requests a second.

A visitor's requests beyond those answered at a time wait here, without a thread. A refusal is one
line of the log, with its reason and no content, and costs next to nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable

from cachetools import LRUCache

from explorer.gateway.asgi import Application, Message, Receive, Send
from explorer.gateway.visitor_key import kept_key
from explorer.locale import say
from explorer.runtime.budgets import budget
from explorer.runtime.downloads import ADDRESS
from explorer.runtime.limits import MIB
from explorer.runtime.problem import Problem
from explorer.runtime.processes import give_back

# Of Gradio's own, which no page uses: each leaves files, or prints what it was asked for.
UNUSED = ("/upload", "/deep_link", "/process_recording")
UNUSED_BELOW = "/custom_component/"
# What is asked for without being sent anything, and made anew each time: 20 ms of the app's lock,
# for whoever asks, so that few of them are made at a time.
MADE_ANEW = ("/config", "/info", "/openapi.json", "/mcp/schema")
ANEW_AT_ONCE = 2
PAGE_REQUESTS = "/requests/"  # what the pages ask for stands below
OF_SERVER = ("/gradio_api/", PAGE_REQUESTS, f"/{ADDRESS}/")
# A value of a list or an object in JSON comes after one of these, which also stand in texts.
BEFORE_VALUES = (b",", b"[", b"{")
VISITORS = 10_000  # that are told from others by how often they ask
# Whoever asks too often hears of it after so long: who asks again at each answer asks less often.
HELD_S = 0.02
# Who is refused while they still send is listened to for so long: a connection that is closed
# before takes the answer with it.
LISTENED_S = 5.0
# Of what all may send a part is left to those who send little: a few who send much and slowly
# would have everybody else refused.
LITTLE, LEFT_TO_LITTLE = 2**16, 1 / 8
MUCH = 64 * MIB  # is given back to the system once it is not held any more


class Bucket:
    """Token bucket: a burst of so many requests, and so many a second after that."""

    def __init__(self) -> None:
        self.left = budget("requests_at_once")
        self.at = time.monotonic()

    def take(self) -> bool:
        """Take a token; return whether there was one."""
        now = time.monotonic()
        gained = (now - self.at) * budget("requests_a_second")
        self.left, self.at = min(self.left + gained, budget("requests_at_once")), now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Line:
    """A visitor's requests, or those of one kind: so many are answered at a time, and so many
    wait."""

    def __init__(self, at_once: Callable[[], float] = lambda: budget("requests_of_one")) -> None:
        self.under_way = 0
        self._at_once = at_once
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> bool:
        """Wait for a turn; return False if too many wait already."""
        if self.under_way < self._at_once():
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
    """The rest of the request is not awaited."""


class Bounded:
    """Middleware that counts and measures a visitor's requests as they arrive."""

    def __init__(self, app: Application) -> None:
        self.app = app
        self._buckets: LRUCache[str, Bucket] = LRUCache(VISITORS)
        self._lines: dict[str, Line] = {}
        self._anew = Line(lambda: ANEW_AT_ONCE)
        self._held = 0  # bytes of what requests sent that are not answered yet
        self._most_held = 0  # since memory was given back

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = budget("body_mib")
        too_much = Problem("too_much", most=most)
        if self._asks_too_often(scope):
            await asyncio.sleep(HELD_S)
            await refuse(scope, send, 429, Problem("too_often", about="again"), receive)
            return
        if _is_unused(scope["path"]):
            await refuse(scope, send, 403, Problem("call_unknown"), receive)
            return
        if _announced(scope["headers"]) > most * MIB:
            await refuse(scope, send, 413, too_much, receive)
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
            room = budget("bodies_mib") * MIB
            if self._held > (room if came <= LITTLE else room * (1 - LEFT_TO_LITTLE)):
                refused = 503, Problem("low_memory", about="again")
                raise _Refused
            if values > budget("body_values"):
                refused = 413, Problem("too_many_values", most=budget("body_values"))
                raise _Refused
            if whole and (mine := self._line_of(scope, key)):
                if not await mine.enter():
                    refused = 429, Problem("too_often", about="again")
                    raise _Refused
                line = mine
            return message

        async def noticed(message: Message) -> None:
            nonlocal answered
            if not refused:  # else somebody on the way has an answer of their own to what is raised
                answered = True
                if line is self._anew:  # it is made; whoever takes it slowly holds up no other
                    leave()
                await send(message)

        def leave() -> None:
            nonlocal line
            if line is not None:
                line.leave()
                if line is not self._anew and not line.under_way:
                    self._lines.pop(key, None)
                line = None

        try:
            with contextlib.suppress(_Refused):
                await self.app(scope, measured, noticed)
        finally:
            self._let_go(came)
            leave()
        if refused and not answered:
            slow = refused[0] == 408
            await refuse(scope, send, *refused, None if whole or slow else receive)

    def _let_go(self, came: int) -> None:
        self._most_held = max(self._most_held, self._held)
        self._held -= came
        if self._held < MUCH / 8 and self._most_held > MUCH:
            self._most_held = 0
            give_back()

    def _line_of(self, scope: dict, key: str) -> Line | None:
        if scope["method"] == "POST":
            return self._lines.setdefault(key, Line())
        return self._anew if _is_made_anew(scope) else None

    def _asks_too_often(self, scope: dict) -> bool:
        """Return whether a request exceeds the rate of its visitor; a page's own files do not
        count. Visitors without a key count as one."""
        of_server = scope["method"] == "POST" or any(one in scope["path"] for one in OF_SERVER)
        if not of_server and not _is_made_anew(scope):
            return False
        key = kept_key(scope)
        bucket = self._buckets.get(key) or self._buckets.setdefault(key, Bucket())
        return not bucket.take()


def _is_unused(path: str) -> bool:
    return path.rstrip("/").endswith(UNUSED) or UNUSED_BELOW in path


def _is_made_anew(scope: dict) -> bool:
    return scope["path"].rstrip("/").endswith(MADE_ANEW)


def _announced(headers: Iterable[tuple[bytes, bytes]]) -> int:
    said = dict(headers).get(b"content-length", b"0")
    return int(said) if said.isdigit() else 0


async def refuse(
    scope: dict, send: Send, status: int, problem: Problem, sent: Receive | None = None
) -> None:
    """Answer a page with a sentence that it can show, and a program with the status too.

    The rest of the request, from `sent`, is read and dropped.
    """
    print(f"refused {status} {problem.key}", file=sys.stderr, flush=True)
    if PAGE_REQUESTS in scope["path"]:
        status = 200
    answer = {"error": problem.to_json(), "detail": say("en", problem.key, **problem.values)}
    body = json.dumps(answer).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    if sent is not None:
        await send({"type": "http.response.body", "body": body, "more_body": True})
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(_dropped(sent), LISTENED_S)
        body = b""
    await send({"type": "http.response.body", "body": body})


async def _dropped(sent: Receive) -> None:
    while (await sent()).get("more_body"):
        pass
