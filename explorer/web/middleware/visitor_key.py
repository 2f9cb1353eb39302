"""The visitor of a request on a hosted page, known by a key that the server made.

The browser keeps the key as a cookie that no script can read. A program, which keeps no cookies,
sends it as the header of the same name, and gets its key with its first call. Nothing else that a
client says of itself, such as an address, counts; neither does the cookie if another site's page
makes the browser send it.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from starlette.requests import cookie_parser

from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.visitor_key_signing import is_key, new_key
from lossprism.explorer.web.middleware.asgi_messages import Message, Receive, Send, header, is_html
from lossprism.explorer.web.middleware.host_and_origin_of_request import sent_by_another_site

HEADER = "x-lossprism-key"
COOKIE = "lossprism_key"
# Browsers let no other site or path set a cookie of this name; it needs an encrypted root.
HOST_COOKIE = f"__Host-{COOKIE}"
NEW = "x-lossprism-new"  # of a request that came without a key
KEY_KEPT_S = 30 * 24 * 3600  # since the last page that was opened

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_headers: ContextVar[Mapping[str, str]] = ContextVar("headers", default=NO_HEADERS)


def is_encrypted(scope: dict) -> bool:
    """Return whether the browser sent the request encrypted, to this server or to the proxy before
    it."""
    proto = header(scope, b"x-forwarded-proto") or scope.get("scheme", "http")
    return proto.split(",")[0].strip() == "https"


def cookie_name(scope: dict) -> str:
    """Return the name of the cookie with the visitor's key."""
    return HOST_COOKIE if is_encrypted(scope) and not scope.get("root_path") else COOKIE


def key_of_request(scope: dict) -> str:
    """Return the key of a request; "" without one, or if another site's page made the browser send
    its cookie."""
    return _in_header(scope) or ("" if sent_by_another_site(scope) else _in_cookie(scope))


def lasting_key(scope: dict) -> str:
    """Return the key of a client that will send it again: a client of MCP keeps a cookie only for
    one session."""
    if "/mcp" in scope["path"]:
        return _in_header(scope)
    return key_of_request(scope)


def _in_header(scope: dict) -> str:
    sent = header(scope, HEADER.encode())
    return sent if is_key(sent) else ""


def _in_cookie(scope: dict) -> str:
    # A proxy may send cookies in several headers; another app's may be no cookies by the book.
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
    cookies = cookie_parser("; ".join(sent))
    # Who came before this name, or by another way, has the key under the plain one.
    kept = cookies.get(cookie_name(scope)) or cookies.get(COOKIE, "")
    return kept if is_key(kept) else ""


class VisitorKeyMiddleware:
    """Middleware that gives every request on a hosted page a visitor's key: its own, or a new one,
    which a browser gets as a cookie."""

    def __init__(self, app: Callable[..., Any]) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not deployment_policy().separates_visitors:
            await self.app(scope, receive, send)
            return
        sent, foreign = key_of_request(scope), sent_by_another_site(scope)
        key = sent or new_key()
        own = (HEADER.encode(), NEW.encode())
        others = [(name, value) for name, value in scope["headers"] if name not in own]
        ours = [(own[0], key.encode()), *([] if lasting_key(scope) else [(own[1], b"1")])]
        scope_with_key = {**scope, "headers": [*others, *ours]}

        async def with_cookie(message: Message) -> None:
            starts = message["type"] == "http.response.start"
            # A page that is opened again keeps the key for longer; another's takes none away.
            if starts and not foreign and (is_html(message) or not sent):
                cookie = (b"set-cookie", _cookie(key, scope).encode())
                message = {**message, "headers": [*message.get("headers", ()), cookie]}
            await send(message)

        await self.app(scope_with_key, receive, with_cookie)


def _cookie(key: str, scope: dict) -> str:
    """Return the cookie. On the hub a Space is in a frame of another site: there it must be
    restricted to that place (Partitioned), which requires encryption."""
    where = "SameSite=Lax"
    if is_encrypted(scope):
        framed = deployment_policy().space
        where = "SameSite=None; Secure; Partitioned" if framed else "SameSite=Lax; Secure"
    path = scope.get("root_path") or "/"
    return f"{cookie_name(scope)}={key}; Max-Age={KEY_KEPT_S}; Path={path}; HttpOnly; {where}"


@contextlib.contextmanager
def with_headers(headers: Mapping[str, str]) -> Iterator[None]:
    """Run the body for a request with these headers."""
    token = _headers.set(headers)
    try:
        yield
    finally:
        _headers.reset(token)


def current_headers() -> Mapping[str, str]:
    """Return the headers of the request that is being answered; none outside `with_headers`."""
    return _headers.get()


def as_current_visitor() -> contextlib.AbstractContextManager[None]:
    """Run the body for the visitor of the current request."""
    if not deployment_policy().separates_visitors:
        return contextlib.nullcontext()
    headers = current_headers()
    if not is_key(key := headers.get(HEADER, "")):
        raise RuntimeError("a request without a visitor's key")
    return as_visitor(key, is_new=NEW in headers)
