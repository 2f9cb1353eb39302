"""By which name a request found this server: the header Host, known to whatever answers it.

A name that whoever made a page points at this computer (DNS rebinding) makes a stranger's page one
of the same origin, so that what only this computer may do asks for a name of this computer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

from explorer.runtime.loopback import is_this_computer

_host: ContextVar[str] = ContextVar("host", default="")


class KnowsHost:
    """Middleware that notes the header Host of each request."""

    def __init__(self, app: Callable[..., Any]) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: object, send: object) -> None:
        if scope["type"] == "http":
            _host.set(dict(scope["headers"]).get(b"host", b"").decode("latin-1"))
        await self.app(scope, receive, send)


def asked_for_here() -> bool:
    """Whether the request that is answered named this computer: localhost, or a loopback address;
    also where there is no request."""
    host = _host.get()
    if not host:
        return True
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:  # no host at all, such as "["
        return False
    return is_this_computer(name or "")
