"""Messages between a server, its middlewares and the app."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Application = Callable[[dict, Receive, Send], Awaitable[None]]


def header(scope: Mapping, name: bytes) -> str:
    """Return the last header of this name, in lower case, of a request or a response; "" if it has
    none."""
    return dict(scope.get("headers", ())).get(name, b"").decode("latin-1")


def is_html(response: Mapping) -> bool:
    """Return whether a response that starts is a page."""
    return header(response, b"content-type").startswith("text/html")


async def arrived(receive: Receive) -> list[Message]:
    """Return all messages of a request, or those until its sender left."""
    messages = [await receive()]
    while messages[-1]["type"] == "http.request" and messages[-1].get("more_body"):
        messages.append(await receive())
    return messages


def body_of(messages: list[Message]) -> bytes:
    """Return the body in these messages."""
    return b"".join(message.get("body", b"") for message in messages)
