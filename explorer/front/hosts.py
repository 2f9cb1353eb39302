"""By which name a request found this server, and whether a page of another origin sent it.

The name is the header Host, known to whatever answers the request.

A name that whoever made a page points at this computer (DNS rebinding) makes a stranger's page one
of the same origin, so that what only this computer may do asks for a name of this computer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextvars import ContextVar
from typing import NamedTuple
from urllib.parse import urlsplit

from explorer.front.asgi import Application, Receive, Send
from explorer.runtime.loopback import is_this_computer

# The ports that addresses leave out.
USUAL_PORTS = {"http": 80, "https": 443}
_host: ContextVar[str] = ContextVar("host", default="")


class KnowsHost:
    """Middleware that notes the header Host of each request."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            _host.set(dict(scope["headers"]).get(b"host", b"").decode("latin-1"))
        await self.app(scope, receive, send)


class Origin(NamedTuple):
    """Where a page comes from, as browsers tell one site from another."""

    scheme: str
    host: str
    port: int


def origin_of(address: str) -> Origin | None:
    """The origin of a whole address; None of what is none, such as "null" or "http://[".

    >>> origin_of("https://Example.org./losses")
    Origin(scheme='https', host='example.org', port=443)
    """
    try:
        parts = urlsplit(address)
        port = parts.port or USUAL_PORTS.get(parts.scheme)
    except ValueError:
        return None
    host = (parts.hostname or "").removesuffix(".")
    return Origin(parts.scheme, host, port) if host and port else None


def name_in(host: str) -> str:
    """The name in a header Host, in lower case, without its port; "" of what is none.

    >>> name_in("Example.ORG.:7860"), name_in("[::1]:80"), name_in("[")
    ('example.org', '::1', '')
    """
    found = origin_of(f"http://{host}")
    return found.host if found else ""


def asked_for_here() -> bool:
    """Whether the request that is answered named this computer: localhost, or a loopback address;
    also where there is no request."""
    host = _host.get()
    return is_this_computer(name_in(host)) if host else True


def of_another_page(scope: Mapping) -> bool:
    """Whether a page that is not ours had the browser send this, with the cookies of whoever looks
    at it. A link that leads here, or a frame that shows us, is none: the page is then ours."""
    return is_foreign(scope) and not opens(scope)


def opens(scope: Mapping) -> bool:
    """Whether a browser is about to show what it asks for, in a window or in a frame."""
    mode = dict(scope["headers"]).get(b"sec-fetch-mode")
    return scope["method"] in ("GET", "HEAD") and mode == b"navigate"


def is_foreign(scope: Mapping, ours: Collection[Origin] = ()) -> bool:
    """Whether a page of another origin has the browser send this request.

    Browsers say so of every request (Sec-Fetch-Site), or, where the page is not encrypted, at least
    from where they post (Origin); what says nothing is no browser's. `ours` are origins of the page
    beside the name that was asked for, such as that of a proxy.
    """
    headers = dict(scope["headers"])
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        return site not in (b"same-origin", b"none")
    if b"origin" not in headers:
        return False
    origin = origin_of(headers[b"origin"].decode("latin-1"))
    return origin is None or not (origin in ours or _is_asked_for(origin, scope))


def _is_asked_for(origin: Origin, scope: Mapping) -> bool:
    """Whether a request was sent to the origin of the page that sent it.

    A proxy may take encrypted requests for us, and leave out the port of the name that it hands on.
    A name of this computer has no proxy before it: another port there is another program.
    """
    headers = dict(scope["headers"])
    scheme = scope.get("scheme", "http").replace("ws", "http")  # a socket is of its page
    name, port = scope.get("server") or ("", None)
    hosts = [headers.get(key, b"").decode("latin-1") for key in (b"host", b"x-forwarded-host")]
    for host in [*hosts, f"{name}:{port}" if port else name]:
        if is_this_computer(origin.host):
            if origin == origin_of(f"{scheme}://{host}"):
                return True
        elif name_in(host) == origin.host and _port_in(host) in (None, origin.port):
            return True
    return False


def _port_in(host: str) -> int | None:
    """The port that a header Host names."""
    return urlsplit(f"//{host}").port
