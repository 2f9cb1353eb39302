"""An event loop for a test that needs one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_loop(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """What it returns, run on a thread of its own: a browser test before may have left a loop
    running on this one, which Playwright's synchronous calls do."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
