"""The HTML of the pages, as a browser gets it: with a head of its own, and on a hosted app laid
out once.

Gradio puts a head of ours into a page when its own scripts have come and run: whatever such a head
loads waits for them. In the HTML itself it is fetched beside them.

Gradio lays out a page anew for each who opens it, 60 KB that are the same for all: forty visitors
a second who only open it would leave no time for anything else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import brotli
from cachetools import LRUCache

from explorer.front.asgi import Message, Receive, Send
from explorer.runtime.promise import promised
from explorer.web.hosting import encodings_in

KEPT_PAGES = 32  # pages, by the name under which they were asked for
QUALITY = 5  # of the compression, done once
# What Gradio reads the address of a page off.
NAMED_BY = (b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")
# All addresses of a page are relative to this.
_BASE = re.compile(rb"<base [^>]*>")
# What Gradio says of itself to those who show a link with a title and a picture.
_PREVIEW = re.compile(rb'<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*')


class AnswersPages:
    """Middleware: the pages of these paths are answered with their heads; on a hosted app as they
    were before."""

    def __init__(self, app: Callable[..., Any], heads: Mapping[str, str]) -> None:
        self.app, self.heads = app, heads
        self._kept: LRUCache[tuple, tuple[list, bytes]] = LRUCache(KEPT_PAGES)

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        path = _path(scope)
        if scope["type"] != "http" or scope["method"] != "GET" or path not in self.heads:
            await self.app(scope, receive, send)
            return
        said = dict(scope["headers"])
        packed = promised().packs_answers and "br" in encodings_in(
            said.get(b"accept-encoding", b"").decode("latin-1")
        )
        named = [said.get(name) for name in NAMED_BY]
        key = (scope["path"], scope["scheme"], packed, *named)
        if not promised().packs_answers or not (found := self._kept.get(key)):
            messages = await self._answered(scope, receive)
            if not (found := _page(messages, self.heads[path], packed)):
                for message in messages:
                    await send(message)
                return
            # Whatever stands in the query: a hosted app has no deep links of Gradio's.
            if promised().packs_answers:
                self._kept[key] = found
        headers, body = found
        await send({"type": "http.response.start", "status": 200, "headers": [*headers]})
        await send({"type": "http.response.body", "body": body})

    async def _answered(self, scope: dict, receive: Receive) -> list[Message]:
        messages: list[Message] = []

        async def collect(message: Message) -> None:
            messages.append(message)

        await self.app(scope, receive, collect)
        return messages


def _path(scope: dict) -> str:
    """That of a request, below the path of the host."""
    return scope.get("path", "").removeprefix(scope.get("root_path", "")) or "/"


def _page(messages: list[Message], head: str, packed: bool) -> tuple[list, bytes] | None:
    """The headers and the body of a page, compressed if so asked; None of any other answer."""
    begun = messages[0]
    kind = dict(begun["headers"]).get(b"content-type", b"")
    if begun["status"] != 200 or not kind.startswith(b"text/html"):
        return None
    body = with_head(b"".join(message.get("body", b"") for message in messages[1:]), head)
    headers = [(b"content-type", kind), (b"vary", b"Accept-Encoding")]
    if packed:
        body = brotli.compress(body, quality=QUALITY)
        headers.append((b"content-encoding", b"br"))
    return [*headers, (b"content-length", str(len(body)).encode())], body


def with_head(html: bytes, head: str) -> bytes:
    """The document with these tags where the addresses of its head begin to count, in place of what
    Gradio says of itself."""
    found = _BASE.search(html)
    if found is None:
        raise ValueError("the page has no <base>: Gradio's template is another one")
    before, after = html[: found.end()], html[found.end() :]
    beginning, end, rest = after.partition(b"</head>")
    return before + head.encode() + _PREVIEW.sub(b"", beginning) + end + rest
