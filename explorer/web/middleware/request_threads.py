"""Threads that answer requests, and the end of work whose visitor left."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread

from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.thread_slot_lending import in_pool
from lossprism.explorer.web.middleware.asgi_messages import Message, Receive, Send

Result = TypeVar("Result")

MAX_LENT_SLOTS = 200  # threads beside those of a pool that wait; a thread is memory, too


class Pool:
    """So many threads, and one more for each that waits (`runtime.thread_slot_lending`)."""

    def __init__(self, limiter: CapacityLimiter) -> None:
        self.limiter = limiter
        self._places = limiter.total_tokens
        self._lent = 0

    async def run(self, function: Callable[..., Result], *arguments: object) -> Result:
        """Call the function in one of the threads, and return its result; others wait outside of
        them."""
        with self.lending():
            return await to_thread.run_sync(function, *arguments, limiter=self.limiter)

    def lending(self) -> contextlib.AbstractContextManager[None]:
        """Let the code inside, in a thread of this pool, lend its slot."""
        loop = asyncio.get_running_loop()

        def widen(by: int) -> None:
            with contextlib.suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._widen, by)

        return in_pool(widen)

    def _widen(self, by: int) -> None:
        self._lent += by
        self.limiter.total_tokens = self._places + min(self._lent, MAX_LENT_SLOTS)


class EndsWork:
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
            with jobs.until_left(left), self._gradios().lending():
                await self.app(scope, noticed, send)
        finally:
            if watching is not None:
                watching.cancel()

    def _gradios(self) -> Pool:
        limiter = to_thread.current_default_thread_limiter()
        if self._others is None or self._others.limiter is not limiter:
            self._others = Pool(limiter)
        return self._others
