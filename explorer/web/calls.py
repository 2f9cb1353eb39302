"""What a page asks of its own functions, answered before Gradio is asked.

Gradio finds the same function by the same name; on its way there it looks through thirty layers
for what no page of ours has: a login, files in the request, the copy of a component for each
visitor. That takes a third of the time of a slider's answer. Whatever is no plain call of a
function that there is goes its way, and is answered there as before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from anyio import CapacityLimiter
from gradio.context import LocalContext
from starlette.requests import Request
from starlette.responses import Response

from explorer.front.asgi import Message, Receive, Send, arrived, body_of
from explorer.web.instrument import Instrument
from explorer.web.pool import Pool

PATH = "/gradio_api/component_server"
# What a hand on the page waits for has threads of its own, and so many; all else has these.
AT_HAND = ("explore", "compare", "look", "cancel")
PLACES_AT_HAND, PLACES = 40, 8


class AnswersCalls:
    """Middleware: the functions of these components, by their number, are called at once."""

    def __init__(self, app: Callable[..., Any], blocks: Mapping[int, Any]) -> None:
        self.app, self.blocks = app, blocks
        self._at_hand = Pool(CapacityLimiter(PLACES_AT_HAND))
        self._others = Pool(CapacityLimiter(PLACES))

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _is_call(scope):
            await self.app(scope, receive, send)
            return
        came = await arrived(receive)
        called = self._called(body_of(came))
        if called is None:
            await self.app(scope, _again(came, receive), send)
            return
        function, data = called
        # Gradio, too, sets the request as it came.
        LocalContext.request.set(Request(scope))  # pyright: ignore[reportArgumentType]
        pool = self._at_hand if function.__name__ in AT_HAND else self._others
        answer = await pool.run(function, data)
        await answer(scope, receive, send)

    def _called(self, body: bytes) -> tuple[Callable[[object], Response], object] | None:
        """The function that is meant, and what it is asked; None of what is no call of one."""
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            return None
        if not isinstance(asked, dict) or not isinstance(asked.get("session_hash"), str):
            return None
        if type(asked.get("component_id")) is not int:
            return None
        block = self.blocks.get(asked["component_id"])
        functions = block.calls if isinstance(block, Instrument) else {}
        name = asked.get("fn_name")
        if not isinstance(name, str) or name not in functions or "data" not in asked:
            return None
        return functions[name], asked["data"]


def _is_call(scope: dict) -> bool:
    if scope["method"] != "POST":
        return False
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    kind = dict(scope["headers"]).get(b"content-type", b"")
    return path.rstrip("/") == PATH and kind.startswith(b"application/json")


def _again(came: list[Message], receive: Receive) -> Receive:
    """What comes in, once more from its beginning."""
    left = iter(came)

    async def next_one() -> Message:
        for message in left:
            return message
        return await receive()

    return next_one
