"""Reverse proxy: a request that has passed is handed on to the app, and its answer back."""

from __future__ import annotations

import asyncio
import sys

import httpcore

from explorer.front.asgi import Message, Receive, Send, arrived, body_of
from explorer.front.bounds import refuse
from explorer.runtime.problem import Problem

# A connection to the app that nobody uses is closed after so long; the app waits longer.
IDLE_S, APP_IDLE_S = 30.0, 60
# What belongs to one of the two connections, and not to what is sent through both.
OF_A_CONNECTION = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade"}
    | {b"proxy-connection", b"expect"}
)
Headers = list[tuple[bytes, bytes]]


class Proxy:
    """ASGI app: every request is one to the app on this port of this computer.

    It is sent once it has come whole; the answer is handed back piece by piece. Whoever leaves
    before its end closes the connection to the app, too, which ends work by it.
    """

    def __init__(self, port: int) -> None:
        self._origin = (b"http", b"127.0.0.1", port)
        self._app = httpcore.AsyncConnectionPool(
            max_connections=None, keepalive_expiry=IDLE_S, retries=0
        )

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"nothing here speaks {scope['type']}")
        came = await arrived(receive)
        if came[-1]["type"] != "http.request":
            return
        handing = asyncio.create_task(self._hand_on(scope, body_of(came), send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait((handing, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (handing, leaving):
                task.cancel()
        if not handing.cancelled():
            await asyncio.wait((handing,))
        if not handing.cancelled() and (error := handing.exception()):
            raise error

    async def _hand_on(self, scope: dict, body: bytes, send: Send) -> None:
        begun = False
        try:
            async with self._app.stream(
                scope["method"],
                httpcore.URL(
                    scheme=self._origin[0],
                    host=self._origin[1],
                    port=self._origin[2],
                    target=_target(scope),
                ),
                headers=_handed_on(scope["headers"], body, scope["method"]),
                content=body or None,
            ) as answer:
                begun = True
                await send(_begun(answer))
                async for piece in answer.aiter_stream():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            if begun:  # the connection is closed: half an answer is not taken for a whole one
                raise
            print(f"no answer of the app: {type(error).__name__}", file=sys.stderr, flush=True)
            await refuse(scope, send, 502, Problem("no_answer", about="again"))


def _target(scope: dict) -> bytes:
    asked = scope["query_string"]
    return scope["raw_path"] + (b"?" + asked if asked else b"")


def _handed_on(headers: Headers, body: bytes, method: str) -> Headers:
    own = OF_A_CONNECTION | _named(headers)
    kept = [one for one in headers if one[0] not in own and one[0] != b"content-length"]
    if body or method in ("POST", "PUT", "PATCH"):
        kept.append((b"content-length", str(len(body)).encode()))
    return kept


def _begun(answer: httpcore.Response) -> Message:
    headers = [(name.lower(), value) for name, value in answer.headers]
    own = OF_A_CONNECTION | _named(headers)
    kept = [one for one in headers if one[0] not in own]
    return {"type": "http.response.start", "status": answer.status, "headers": kept}


def _named(headers: Headers) -> set[bytes]:
    """The headers that whoever sent them says are of the connection."""
    said = b",".join(value for name, value in headers if name == b"connection")
    return {name.strip().lower() for name in said.split(b",")}


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
