"""By which name a request found this server, and whether a page of another sent it.

The name is the header Host, known to whatever answers the request.

A name that whoever made a page points at this computer (DNS rebinding) makes a stranger's page one
of the same origin, so that what only this computer may do asks for a name of this computer.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from urllib.parse import urlsplit

from explorer.front.asgi import Application, Receive, Send
from explorer.runtime.loopback import is_this_computer

_host: ContextVar[str] = ContextVar("host", default="")


class KnowsHost:
    """Middleware that notes the header Host of each request."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            _host.set(dict(scope["headers"]).get(b"host", b"").decode("latin-1"))
        await self.app(scope, receive, send)


def asked_for_here() -> bool:
    """Whether the request that is answered named this computer: localhost, or a loopback address;
    also where there is no request."""
    host = _host.get()
    return is_this_computer(_name_in(f"//{host}")) if host else True


def of_another_page(scope: Mapping) -> bool:
    """Whether a page that is not ours had the browser send this, with the cookies of whoever looks
    at it. A link that leads here, or a frame that shows us, is none: the page is then ours.

    Browsers say so of every request, or, where the page is not encrypted, at least from where they
    post; what says nothing is no browser's.
    """
    headers = dict(scope["headers"])
    said = headers.get(b"sec-fetch-site")
    if said is not None:
        opens = scope["method"] in ("GET", "HEAD")
        opens = opens and headers.get(b"sec-fetch-mode") == b"navigate"
        return said not in (b"same-origin", b"none") and not opens
    origin = headers.get(b"origin")
    if origin is None:
        return False
    said_of_us = (headers.get(name, b"") for name in (b"host", b"x-forwarded-host"))
    ours = {_name_in(f"//{host.decode('latin-1')}") for host in said_of_us}
    name = _name_in(origin.decode("latin-1"))
    return not name or name not in {(scope.get("server") or ("",))[0], *ours}


def _name_in(address: str) -> str:
    """The host of an address; "" of what is none, such as "//[" or "null"."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
