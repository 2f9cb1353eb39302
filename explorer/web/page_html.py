"""The HTML of each page, and the routes that answer with it."""

import functools
import json
import re
from collections.abc import Iterable
from html import escape
from string import Template

import brotli
from fastapi import Response
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

from lossprism.explorer.export.palette import LIGHT
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.web.middleware.accepted_compression import is_compressed
from lossprism.explorer.web.pages.link_previews import language_in, tags
from lossprism.explorer.web.static_files import BASE, FAST_QUALITY, FILES, HERE, LATER_TOPICS

# In the order in which a later one may overrule an earlier.
_KIT_STYLES = (
    "palette",
    "fonts_and_reset",
    "base_text",
    "layout",
    "header",
    "controls",
    "sliders",
    "head_and_metrics",
    "problems_and_remarks",
    "stale_and_busy",
    "matrix",
    "tables",
    "chart",
    "presentation_and_small_screens",
)
SHARED_STYLES = (
    "kit/vendor/katex/katex.min.css",
    *(f"kit/styles/{name}.css" for name in _KIT_STYLES),
)

TEMPLATE = Template((HERE / "kit" / "document.html").read_text(encoding="utf-8"))
COMPRESSED_PAGES = 32  # pages that are kept compressed
_PART = re.compile(r'data-part="([^"]+)"')

_IMPORT = re.compile(r"""^import\s(?:[^"';]*\sfrom\s)?"(\.[^"]+)";$""", re.MULTILINE)


STARTUP_MODULE = "kit/page_startup.js"  # where a page begins


def imported(modules: Iterable[str]) -> list[str]:
    """Return these modules and all that they import, each once, in order."""
    found = list(dict.fromkeys(modules))
    for module in found:  # grows on the way
        folder = (HERE / module).parent
        for name in _IMPORT.findall(FILES[module].decode()):
            path = (folder / name).resolve().relative_to(HERE).as_posix()
            if path not in found:
                found.append(path)
    return found


def styles(page: str) -> list[str]:
    """Return the shared styles, then those in the page's own folder."""
    return [*SHARED_STYLES, *sorted(f for f in FILES if re.match(rf"pages/{page}/.*\.css$", f))]


def page_routes(paths: Iterable[str], folder: str, functions: Iterable[str]) -> list[Route]:
    """Return the routes of a page at each of its paths ("learn/collapse"), with the names of the
    functions that it may call."""
    names = tuple(functions)
    return [route for path in paths for route in _routes_of(path, folder, names)]


def _routes_of(path: str, folder: str, functions: tuple[str, ...]) -> list[Route]:

    async def answer(request: Request) -> Response:
        root, link = request.scope.get("root_path", ""), request.query_params.get("scene", "")
        # All addresses of the page are relative to it.
        up = f"{root}/" if root else "../" * path.count("/") or "./"
        language = language_in(request.query_params)
        html = document(folder, functions, up, path, link, str(request.base_url), language)
        return _response(html, request)

    async def without_slash(_: Request) -> Response:
        return RedirectResponse(f"/{path}", status_code=301)

    page = Route(f"/{path}", answer, methods=["GET"])
    return [page, Route(f"/{path}/", without_slash, methods=["GET"])] if path else [page]


def _response(html: bytes, request: Request) -> Response:
    """Return the page, compressed for a remote client."""
    headers = {"Vary": "Accept-Encoding"}
    if is_compressed(request.headers):
        html, headers["Content-Encoding"] = _packed(html), "br"
    return Response(html, media_type="text/html", headers=headers)


@functools.lru_cache(maxsize=COMPRESSED_PAGES)
def _packed(html: bytes) -> bytes:
    return brotli.compress(html, quality=FAST_QUALITY)


def document(
    folder: str,
    functions: tuple[str, ...],
    up: str,
    path: str = "",
    link: str = "",
    base: str = "",
    language: str = LANGUAGES[0],
) -> bytes:
    """Return the page of this folder; `up` leads from its address to that of the first page, `path`
    is where it stands, `link` and `language` are in its address, `base` is the address of the
    app."""
    html = _document(folder, functions, up)
    for name, text in tags(folder, path, link, base, language).items():
        html = html.replace(f"@{name}@", text)
    return html.encode()


@functools.cache
def _document(folder: str, functions: tuple[str, ...], up: str) -> str:
    body = (HERE / "pages" / folder / "page.html").read_text(encoding="utf-8")
    modules = [STARTUP_MODULE, f"pages/{folder}/state.js", *_PART.findall(body)]
    sheets = [f'<link rel="stylesheet" href="{BASE}/{n}">' for n in styles(folder)]
    ahead = [f'<link rel="modulepreload" href="{BASE}/{name}">' for name in imported(modules)]
    # Requested by a script, which runs when all modules are there.
    facts = f'<link rel="preload" as="fetch" crossorigin href="{BASE}/data/{folder}.json">'
    languages = {name: say(name, "ui.language") for name in LANGUAGES}
    return TEMPLATE.substitute(
        base=escape(up),
        served=BASE,
        ground=LIGHT.ground,
        styles="\n".join(sheets),
        modules="\n".join([facts, *ahead]),
        folder=folder,
        functions=" ".join(functions),
        languages=escape(json.dumps(languages, ensure_ascii=False)),
        words=" ".join(LATER_TOPICS),
        theme=FILES["kit/initial_theme.js"].decode(),
        language=FILES["kit/initial_language.js"].decode(),
        body=body,
    )
