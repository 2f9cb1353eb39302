"""Threads that answer requests, and the end of work whose visitor left."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from lossprism.explorer.runtime.waiting_request_lends_its_thread import in_pool

Result = TypeVar("Result")

MAX_LENT_SLOTS = 200  # threads beside those of a pool that wait; a thread is memory, too


class Pool:
    """So many threads, and one more for each that waits and lends its own."""

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
