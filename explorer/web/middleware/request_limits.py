"""Limits of a hosted page that apply before a request is read: its size, and requests a second.

A visitor's requests beyond those answered at a time wait here, without a thread. A refusal is one
line of the log, with its reason and no content. Behind nginx (docs/nginx.conf) most of what is
refused does not come this far.
"""

import asyncio
import contextlib
import sys
import time
from collections import deque
from collections.abc import Callable

from cachetools import LRUCache

from lossprism.explorer.runtime.downloads import ADDRESS
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.middleware.asgi_messages import (
    Application,
    Message,
    Receive,
    Send,
    header,
)
from lossprism.explorer.web.middleware.refusals import refusal, send_refusal
from lossprism.explorer.web.middleware.visitor_key import lasting_key

# Of Gradio's own, which no page uses: each leaves files, or prints what it was asked for.
UNUSED_PATHS = ("/upload", "/deep_link", "/process_recording")
UNUSED_FOLDER = "/custom_component/"
# What is asked for without being sent anything, and made anew each time: 20 ms of the app's lock,
# for whoever asks, so that few of them are made at a time.
COSTLY_PATHS = ("/config", "/info", "/openapi.json", "/mcp/schema")
COSTLY_AT_ONCE = 2
PAGE_REQUESTS = "/requests/"  # what the pages ask for stands below
COUNTED_PATHS = ("/gradio_api/", PAGE_REQUESTS, f"/{ADDRESS}/")
# A value of a list or an object in JSON comes after one of these, which also stand in texts.
BEFORE_VALUES = (b",", b"[", b"{")
MAX_VISITORS = 10_000  # that are distinguished by how often they ask
# Whoever asks too often hears of it after so long: who asks again at each answer asks less often.
REFUSAL_DELAY_S = 0.02
# Who is refused while they still send is listened to for so long: a connection that is closed
# before takes the answer with it.
DRAIN_S = 5.0
# Of what all may send a part is left to those who send little: a few who send much and slowly
# would have everybody else refused.
SMALL_BODY_BYTES, SHARE_FOR_SMALL_BODIES = 2**16, 1 / 8
TOO_SLOW = 408


class TokenBucket:
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


class RequestQueue:
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
    """The request is answered with this status and problem."""

    def __init__(self, status: int, problem: Problem) -> None:
        self.status, self.problem = status, problem
        super().__init__(problem.key)


class _Body:
    """A request's body as far as it has arrived, and whether its client has left."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.size = self.values = 0
        self.is_whole = self.is_given_up = False

    def add(self, message: Message) -> int:
        """Add what a message brings; return its size in bytes."""
        piece = message.get("body", b"")
        self.content += piece
        self.size += len(piece)
        self.values += sum(map(piece.count, BEFORE_VALUES))
        self.is_given_up = message["type"] == "http.disconnect"
        self.is_whole = self.is_given_up or not message.get("more_body")
        return len(piece)

    def take(self) -> Message:
        """Return the whole of it as a message, and keep nothing."""
        content, self.content = bytes(self.content), bytearray()
        return {"type": "http.request", "body": content, "more_body": False}


class RequestLimitsMiddleware:
    """Middleware that counts and measures a visitor's requests as they arrive, and passes a request
    on once it is complete."""

    def __init__(self, app: Application) -> None:
        self.app = app
        self._buckets: LRUCache[str, TokenBucket] = LRUCache(MAX_VISITORS)
        self._lines: dict[str, RequestQueue] = {}
        self._costly = RequestQueue(lambda: COSTLY_AT_ONCE)
        self._held = 0  # bytes of what requests sent that are not answered yet

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        key, body = lasting_key(scope), _Body()
        line: RequestQueue | None = None
        is_read = False
        refused: _Refused | None = None

        async def whole() -> Message:
            nonlocal is_read
            if is_read:  # whoever answers waits for the visitor to leave
                return await receive()
            is_read = True
            return body.take()

        async def noticed(message: Message) -> None:
            if line is self._costly:  # it is made; whoever takes it slowly holds up no other
                leave()
            await send(message)

        def leave() -> None:
            nonlocal line
            if line is not None:
                line.leave()
                if line is not self._costly and not line.under_way:
                    self._lines.pop(key, None)
                line = None

        try:
            await self._check(scope, key)
            await self._take_in(receive, body)
            if not body.is_given_up:
                line = await self._turn(scope, key)
                await self.app(scope, whole, noticed)
        except _Refused as found:
            refused = found
        finally:
            self._held -= body.size
            body.content.clear()
            leave()
        if refused is not None:
            ended = body.is_whole or refused.status == TOO_SLOW
            await refuse(send, refused.status, refused.problem, None if ended else receive)

    async def _check(self, scope: dict, key: str) -> None:
        """Raise _Refused for what the head of a request shows."""
        if self._asks_too_often(scope, key):
            await asyncio.sleep(REFUSAL_DELAY_S)
            raise _Refused(429, Problem("too_often", about="again"))
        if _is_unused(scope["path"]):
            raise _Refused(403, Problem("call_unknown"))
        if _announced(scope) > (most := budget("body_mib")) * MIB:
            raise _Refused(413, Problem("too_much", most=most))

    async def _take_in(self, receive: Receive, body: _Body) -> None:
        """Wait until the request is complete, or its client has left; raise _Refused as soon as it
        is too large or too slow."""
        most, seconds = budget("body_mib"), budget("body_seconds")
        try:
            async with asyncio.timeout(seconds):
                while not body.is_whole:
                    self._held += body.add(await receive())
                    self._check_size(body, most)
        except TimeoutError:
            raise _Refused(TOO_SLOW, Problem("too_slow", most=seconds)) from None

    def _check_size(self, body: _Body, most: float) -> None:
        if body.size > most * MIB:
            raise _Refused(413, Problem("too_much", most=most))
        room = budget("bodies_mib") * MIB
        if self._held > (
            room if body.size <= SMALL_BODY_BYTES else room * (1 - SHARE_FOR_SMALL_BODIES)
        ):
            raise _Refused(503, Problem("low_memory", about="again"))
        if body.values > budget("body_values"):
            raise _Refused(413, Problem("too_many_values", most=budget("body_values")))

    async def _turn(self, scope: dict, key: str) -> RequestQueue | None:
        """Wait for the visitor's turn; return the line to leave. Raise _Refused if too many
        wait."""
        line = self._costly if _is_costly(scope) else None
        if scope["method"] == "POST":
            line = self._lines.setdefault(key, RequestQueue())
        if line is not None and not await line.enter():
            raise _Refused(429, Problem("too_often", about="again"))
        return line

    def _asks_too_often(self, scope: dict, key: str) -> bool:
        """Return whether a request exceeds the rate of its visitor; a page's own files do not
        count. Visitors without a key count as one."""
        of_server = scope["method"] == "POST" or any(one in scope["path"] for one in COUNTED_PATHS)
        if not of_server and not _is_costly(scope):
            return False
        bucket = self._buckets.get(key) or self._buckets.setdefault(key, TokenBucket())
        return not bucket.take()


def _is_unused(path: str) -> bool:
    return path.rstrip("/").endswith(UNUSED_PATHS) or UNUSED_FOLDER in path


def _is_costly(scope: dict) -> bool:
    return scope["path"].rstrip("/").endswith(COSTLY_PATHS)


def _announced(scope: dict) -> int:
    length = header(scope, b"content-length")
    return int(length) if length.isdigit() else 0


async def refuse(send: Send, status: int, problem: Problem, sent: Receive | None = None) -> None:
    """Answer with a sentence that a page can show. The rest of the request, from `sent`, is read
    and dropped."""
    print(f"refused {status} {problem.key}", file=sys.stderr, flush=True)
    close = (b"connection", b"close")
    await send_refusal(send, status, refusal(problem), headers=[close], more_body=sent is not None)
    if sent is not None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(_dropped(sent), DRAIN_S)
        await send({"type": "http.response.body", "body": b""})


async def _dropped(sent: Receive) -> None:
    while (await sent()).get("more_body"):
        pass
