"""The end of work whose client has left."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from anyio import to_thread

from lossprism.explorer.runtime import jobs
from lossprism.explorer.web.middleware.asgi_messages import Message, Receive, Send
from lossprism.explorer.web.middleware.request_threads import Pool


class CancelOnDisconnectMiddleware:
    """Middleware that ends a request's work at its next step once the client has left; work of
    programs may lend its slot while it waits."""

    def __init__(self, app: Callable[..., Any]) -> None:
        self.app = app
        self._others: Pool | None = None  # of what Gradio answers

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        left = threading.Event()
        watching: asyncio.Task | None = None

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            left.set()

        async def noticed() -> Message:
            nonlocal watching
            message = await receive()
            if message["type"] == "http.disconnect":
                left.set()
            elif not message.get("more_body") and watching is None:
                watching = asyncio.create_task(watch())
            return message

        try:
            with jobs.cancelled_when(left), self._gradios().lending():
                await self.app(scope, noticed, send)
        finally:
            if watching is not None:
                watching.cancel()

    def _gradios(self) -> Pool:
        limiter = to_thread.current_default_thread_limiter()
        if self._others is None or self._others.limiter is not limiter:
            self._others = Pool(limiter)
        return self._others
