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
    """Yield all messages of a request, or those until its sender left."""
    came = [await receive()]
    while came[-1]["type"] == "http.request" and came[-1].get("more_body"):
        came.append(await receive())
    return came


def body_of(came: list[Message]) -> bytes:
    """Return the body in these messages."""
    return b"".join(message.get("body", b"") for message in came)
