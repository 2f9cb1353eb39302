"""The name by which a request reached this server, and pages of another origin that sent it.

The name is the header Host, available to the code that answers the request.

A page's author can point a name at this computer (DNS rebinding), which makes the stranger's page
one of the same origin. So actions reserved to this computer require one of its own names.
"""

from collections.abc import Collection, Mapping
from contextvars import ContextVar
from typing import NamedTuple
from urllib.parse import urlsplit

from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.loopback import is_this_computer
from lossprism.explorer.web.middleware.asgi_messages import Application, Receive, Send, header

# The ports that addresses leave out.
USUAL_PORTS = {"http": 80, "https": 443}
_host: ContextVar[str] = ContextVar("host", default="")


class HostMiddleware:
    """Middleware that notes the header Host of each request."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            _host.set(header(scope, b"host"))
        await self.app(scope, receive, send)


class Origin(NamedTuple):
    """Origin of a page, as browsers compare sites."""

    scheme: str
    host: str
    port: int


def origin_of(address: str) -> Origin | None:
    """Return the origin of a complete address; None for anything else, such as "null" or
    "http://[".

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
    """Return the name in a header Host, in lower case, without its port; "" if it holds none.

    >>> name_in("Example.ORG.:7860"), name_in("[::1]:80"), name_in("[")
    ('example.org', '::1', '')
    """
    origin = origin_of(f"http://{host}")
    return origin.host if origin else ""


def host_is_this_computer() -> bool:
    """Return whether the current request named this computer: localhost, or a loopback address;
    True without a request."""
    host = _host.get()
    return is_this_computer(name_in(host)) if host else True


def sent_by_another_site(scope: Mapping) -> bool:
    """Return whether another site's page made the browser send this, with its user's cookies. A
    link or a frame that opens our page does not count: the page is then ours."""
    return is_cross_origin(scope) and not is_navigation(scope)


def is_navigation(scope: Mapping) -> bool:
    """Return whether a browser will show the answer, in a window or in a frame."""
    mode = header(scope, b"sec-fetch-mode")
    return scope["method"] in ("GET", "HEAD") and mode == "navigate"


def is_cross_origin(scope: Mapping, ours: Collection[Origin] = ()) -> bool:
    """Return whether a page of another origin makes the browser send this request.

    Browsers say so in every request (Sec-Fetch-Site), or, if the page is not encrypted, at least in
    a POST (Origin); without either it is no browser's. `ours` are origins of the page beside the
    requested name, such as a proxy's.
    """
    headers = dict(scope["headers"])
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        return site not in (b"same-origin", b"none")
    if b"origin" not in headers:
        return False
    origin = origin_of(headers[b"origin"].decode("latin-1"))
    return origin is None or not (origin in ours or _is_same_origin(origin, scope))


def _is_same_origin(origin: Origin, scope: Mapping) -> bool:
    """Return whether a request was sent to the origin of the page that sent it.

    A proxy may take encrypted requests for us, and drop the port of the forwarded name. A name of
    this computer has no proxy: another port there is another program.
    """
    scheme = scope.get("scheme", "http").replace("ws", "http")  # a socket is of its page
    name, port = scope.get("server") or ("", None)
    says = (b"host", b"x-forwarded-host") if deployment_policy().trusts_proxies else (b"host",)
    for host in [*(header(scope, key) for key in says), f"{name}:{port}" if port else name]:
        if is_this_computer(origin.host):
            if origin == origin_of(f"{scheme}://{host}"):
                return True
        elif name_in(host) == origin.host and _port_in(host) in (None, origin.port):
            return True
    return False


def _port_in(host: str) -> int | None:
    """Return the port in a header Host."""
    return urlsplit(f"//{host}").port
