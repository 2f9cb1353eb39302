"""Reverse proxy: forwards an accepted request to the app, and its answer back."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from explorer.gateway.app_connections import Connection, Connections, Headers, Unanswered
from explorer.gateway.asgi import Message, Receive, Send, arrived
from explorer.gateway.request_limits import refuse
from explorer.gateway.visitor_key import HEADER
from explorer.runtime.problem import Problem

HERE = "127.0.0.1"
# A connection to the app that nobody uses is closed after so long; the app waits longer.
IDLE_S, APP_IDLE_S = 30.0, 60
# What belongs to one of the two connections, and not to what is sent through both.
OF_A_CONNECTION = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade"}
    | {b"proxy-connection", b"expect"}
)
# What says who asks for what of whom is not: it passes also where Connection names it.
OF_A_REQUEST = frozenset({b"host", b"cookie", HEADER.encode()})
WITH_BODIES = ("POST", "PUT", "PATCH")


class Proxy:
    """ASGI app that forwards every request to the app on this port of the loopback.

    A request is forwarded once it is complete; the answer comes back piece by piece. If the client
    leaves early, the connection to the app is closed, too, which ends its work.
    """

    def __init__(self, port: int) -> None:
        self._app = Connections(HERE, port, IDLE_S)

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        came = await arrived(receive)
        if came[-1]["type"] != "http.request":
            return
        body = [message.get("body", b"") for message in came]  # of a large one there is one copy
        handing = asyncio.create_task(self._hand_on(scope, body, send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait((handing, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            handing.cancel()
            leaving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await handing

    async def _hand_on(self, scope: dict, body: list[bytes], send: Send) -> None:
        begun = False
        try:
            async with self._app.lent() as connection:
                await connection.ask(_head(scope, sum(map(len, body))), *body)
                begun = True
                await send(_begun(connection))
                if scope["method"] != "HEAD":
                    async for piece in connection.pieces():
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
        except Unanswered as error:
            if begun:  # the connection is closed: half an answer is not taken for a whole one
                print(f"half an answer of the app: {error}", file=sys.stderr, flush=True)
                return
            print(f"no answer of the app: {error}", file=sys.stderr, flush=True)
            await refuse(scope, send, 502, Problem("no_answer", about="again"))


def _head(scope: dict, length: int) -> bytes:
    method, asked = scope["method"], scope["query_string"]
    target = scope["raw_path"] + (b"?" + asked if asked else b"")
    own = OF_A_CONNECTION | _named(scope["headers"]) | {b"content-length"}
    lines = [name + b": " + value for name, value in scope["headers"] if name not in own]
    if length or method in WITH_BODIES:
        lines.append(b"content-length: %d" % length)
    return b"\r\n".join((b"%s %s HTTP/1.1" % (method.encode(), target), *lines, b"", b""))


def _begun(connection: Connection) -> Message:
    own = OF_A_CONNECTION | _named(connection.headers)
    kept = [one for one in connection.headers if one[0] not in own]
    return {"type": "http.response.start", "status": connection.status, "headers": kept}


def _named(headers: Headers) -> set[bytes]:
    """Return the headers that their sender declares to be of the connection."""
    said = b",".join(value for name, value in headers if name == b"connection")
    return {name.strip().lower() for name in said.split(b",")} - OF_A_REQUEST


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
