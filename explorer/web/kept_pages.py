"""The pages of a hosted app, as they were laid out once.

Gradio lays out a page anew for each who opens it, 200 KB that are the same for all: forty visitors
a second who only open it would leave no time for anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import brotli
from cachetools import LRUCache

from explorer.runtime.visitors import is_hosted
from explorer.web.hosting import Message, Receive, Send, encodings_in

KEPT_PAGES = 32  # pages, by the name under which they were asked for
QUALITY = 5  # of the compression, done once
# What Gradio reads the address of a page off.
NAMED_BY = (b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")


class KeepsPages:
    """Middleware: on a hosted app a page of these paths is answered as it was before."""

    def __init__(self, app: Callable[..., Any], paths: Collection[str]) -> None:
        self.app, self.paths = app, frozenset(paths)
        self._kept: LRUCache[tuple, tuple[list, bytes]] = LRUCache(KEPT_PAGES)

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_hosted() or not self._is_page(scope):
            await self.app(scope, receive, send)
            return
        said = dict(scope["headers"])
        packed = "br" in encodings_in(said.get(b"accept-encoding", b"").decode("latin-1"))
        named = [said.get(name) for name in NAMED_BY]
        key = (scope["path"], scope["scheme"], packed, *named)
        if not (found := self._kept.get(key)):
            messages = await self._answered(scope, receive)
            if not (found := _page(messages, packed)):
                for message in messages:
                    await send(message)
                return
            self._kept[key] = found
        headers, body = found
        await send({"type": "http.response.start", "status": 200, "headers": [*headers]})
        await send({"type": "http.response.body", "body": body})

    def _is_page(self, scope: dict) -> bool:
        """Whatever stands in the query: there are no deep links of Gradio's on a hosted app."""
        path = scope["path"].removeprefix(scope.get("root_path", "")) or "/"
        return scope["method"] == "GET" and path in self.paths

    async def _answered(self, scope: dict, receive: Receive) -> list[Message]:
        messages: list[Message] = []

        async def collect(message: Message) -> None:
            messages.append(message)

        await self.app(scope, receive, collect)
        return messages


def _page(messages: list[Message], packed: bool) -> tuple[list, bytes] | None:
    """The headers and the body of a page, compressed where the browser takes it so; None of any
    other answer."""
    begun = messages[0]
    kind = dict(begun["headers"]).get(b"content-type", b"")
    if begun["status"] != 200 or not kind.startswith(b"text/html"):
        return None
    body = b"".join(message.get("body", b"") for message in messages[1:])
    headers = [(b"content-type", kind), (b"vary", b"Accept-Encoding")]
    if packed:
        body = brotli.compress(body, quality=QUALITY)
        headers.append((b"content-encoding", b"br"))
    return [*headers, (b"content-length", str(len(body)).encode())], body
