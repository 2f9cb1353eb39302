"""Messages between a server, its middlewares and the app."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
Application = Callable[[dict, Receive, Send], Awaitable[None]]


async def arrived(receive: Receive) -> list[Message]:
    """Yield all messages of a request, or those until its sender left."""
    came = [await receive()]
    while came[-1]["type"] == "http.request" and came[-1].get("more_body"):
        came.append(await receive())
    return came


def body_of(came: list[Message]) -> bytes:
    """Return the body in these messages."""
    return b"".join(message.get("body", b"") for message in came)
