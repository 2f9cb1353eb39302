"""The visitor's key in a request's header or cookie, which is never revealed here."""

from __future__ import annotations

from starlette.requests import cookie_parser

from lossprism.explorer.runtime.visitors import is_key
from lossprism.explorer.web.middleware.host_and_origin import of_another_page

HEADER = "x-lossprism-key"
COOKIE = "lossprism_key"
# Browsers let no other site or path set a cookie of this name; it needs an encrypted root.
HOST_COOKIE = f"__Host-{COOKIE}"


def is_encrypted(scope: dict) -> bool:
    """Return whether the browser sent the request encrypted, to this server or to the proxy before
    it."""
    proto = dict(scope["headers"]).get(b"x-forwarded-proto", scope.get("scheme", "http").encode())
    return proto.split(b",")[0].strip() == b"https"


def cookie_name(scope: dict) -> str:
    """Return the name of the cookie with the visitor's key."""
    return HOST_COOKIE if is_encrypted(scope) and not scope.get("root_path") else COOKIE


def sent_key(scope: dict) -> str:
    """Return the key of a request; "" without one, or if another site's page made the browser send
    its cookie."""
    return _in_header(scope) or ("" if of_another_page(scope) else _in_cookie(scope))


def kept_key(scope: dict) -> str:
    """Return the key of a client that will send it again: a client of MCP keeps a cookie only for
    one session."""
    if "/mcp" in scope["path"]:
        return _in_header(scope)
    return sent_key(scope)


def _in_header(scope: dict) -> str:
    said = dict(scope["headers"]).get(HEADER.encode(), b"").decode("latin-1")
    return said if is_key(said) else ""


def _in_cookie(scope: dict) -> str:
    # A proxy may send cookies in several headers; another app's may be no cookies by the book.
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
    cookies = cookie_parser("; ".join(sent))
    # Who came before this name, or by another way, has the key under the plain one.
    kept = cookies.get(cookie_name(scope)) or cookies.get(COOKIE, "")
    return kept if is_key(kept) else ""
