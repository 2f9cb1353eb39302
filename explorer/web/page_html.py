"""The HTML of the pages: one head for all, and the body that a page has in its folder."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from html import escape
from string import Template

import brotli
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.web import assets
from lossprism.explorer.web.hosting import encodings_in
from lossprism.explorer.web.previews import tags

TEMPLATE = Template((assets.HERE / "kit" / "document.html").read_text(encoding="utf-8"))
PACKED = 32  # pages that are kept compressed
QUALITY = 5  # of the compression, done once
_PART = re.compile(r'data-part="([^"]+)"')


def routes(paths: Iterable[str], folder: str, functions: Iterable[str]) -> list[Route]:
    """Return the routes of a page at each of its paths ("learn/collapse"), with the names of the
    functions that it may call."""
    names = tuple(functions)
    return [route for path in paths for route in _routes(path, folder, names)]


def _routes(path: str, folder: str, functions: tuple[str, ...]) -> list[Route]:

    async def answer(request: Request) -> Response:
        root, link = request.scope.get("root_path", ""), request.query_params.get("scene", "")
        # All addresses of the page are relative to it.
        up = f"{root}/" if root else "../" * path.count("/") or "./"
        html = document(folder, functions, up, link, str(request.base_url))
        return _response(html, request)

    async def without_slash(_: Request) -> Response:
        return RedirectResponse(f"/{path}", status_code=301)

    page = Route(f"/{path}", answer, methods=["GET"])
    return [page, Route(f"/{path}/", without_slash, methods=["GET"])] if path else [page]


def _response(html: bytes, request: Request) -> Response:
    """Return the page, compressed for a remote client."""
    headers = {"Vary": "Accept-Encoding"}
    accepted = encodings_in(request.headers.get("accept-encoding", ""))
    if deployment_policy().packs_answers and "br" in accepted:
        html, headers["Content-Encoding"] = _packed(html), "br"
    return Response(html, media_type="text/html", headers=headers)


@functools.lru_cache(maxsize=PACKED)
def _packed(html: bytes) -> bytes:
    return brotli.compress(html, quality=QUALITY)


def document(
    folder: str, functions: tuple[str, ...], up: str, link: str = "", base: str = ""
) -> bytes:
    """Return the page of this folder; `up` leads from its address to that of the first page, `link`
    is the scene in its address, `base` the address of the app."""
    html = _document(folder, functions, up)
    for name, text in tags(folder, link, base).items():
        html = html.replace(f"@{name}@", text)
    return html.encode()


@functools.cache
def _document(folder: str, functions: tuple[str, ...], up: str) -> str:
    body = (assets.HERE / "pages" / folder / "page.html").read_text(encoding="utf-8")
    modules = [assets.MOUNT, f"pages/{folder}/state.js", *_PART.findall(body)]
    styles = [f'<link rel="stylesheet" href="{assets.BASE}/{n}">' for n in assets.styles(folder)]
    ahead = [
        f'<link rel="modulepreload" href="{assets.BASE}/{name}">'
        for name in assets.imported(modules)
    ]
    languages = {name: say(name, "ui.language") for name in LANGUAGES}
    return TEMPLATE.substitute(
        base=escape(up),
        served=assets.BASE,
        styles="\n".join(styles),
        modules="\n".join(ahead),
        folder=folder,
        functions=" ".join(functions),
        languages=escape(json.dumps(languages, ensure_ascii=False)),
        theme=assets.FILES["kit/first_theme.js"].decode(),
        body=body,
    )
