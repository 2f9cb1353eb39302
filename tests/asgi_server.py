"""Servers of small ASGI apps in threads of this process."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import uvicorn

WAIT_S = 60.0


@contextlib.contextmanager
def served(application, **how: object) -> Iterator[int]:
    """The port of this computer at which the app answers inside."""
    config = uvicorn.Config(application, log_level="critical", lifespan="off", **{"port": 0, **how})
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.001)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        thread.join(WAIT_S)
