"""The files of the browser, at addresses that name their content, with their routes.

All modules, styles, fonts and words are below one path that names their content,
`served/<version>/`. Files import each other by relative addresses, so a page never mixes two
versions, and a browser may cache them for good: another version has another path. Only the data of
a page, which depend on how the program was started, are requested each time.
"""

import functools
import hashlib
import mimetypes
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import brotli
from fastapi import Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from lossprism.explorer.export.palette import LIGHT, properties
from lossprism.explorer.locale import LANGUAGES, catalogue, say
from lossprism.explorer.runtime.json_encoding import encoded
from lossprism.explorer.web.middleware.accepted_compression import is_compressed

HERE = Path(__file__).resolve().parent
ICON = HERE / "kit" / "icon.svg"  # of the browser's tab, and of the page installed as an app
# The same drawing, for a system that takes no SVG as the icon of an app.
PNG_ICONS = {192: "kit/icon-192.png", 512: "kit/icon-512.png"}
SHORTCUTS = ("compare", "doctor", "learn")  # pages in the menu of the installed app's icon
PALETTE = "kit/styles/palette.css"  # written from the one palette
CACHED_FOR_GOOD = "public, max-age=31536000, immutable"
CHECKED_EACH_TIME = "no-cache"
COMPRESSIBLE = (".js", ".css", ".json", ".svg")  # the other kinds are compressed as they are
FAST_QUALITY = 5  # of the compression of what is made for a request
BEST_QUALITY, BEST_BYTES = 11, 2**20  # of files up to this size, once
_KINDS = {
    **{".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"},
    **{".svg": "image/svg+xml", ".png": "image/png"},
}
# Comments that fill lines of a script or a style sheet of ours.
_COMMENT = re.compile(rb"^[ \t]*(?://.*|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)$", re.MULTILINE)
# Topics of sentences that a page does not wait for: those of some other page, of problems, of
# libraries beside ours, and of figures that the server draws. They come with the first of them.
LATER_TOPICS = sorted(
    topic
    for topic in {key.partition(".")[0] for key in catalogue(LANGUAGES[0])}
    if topic in ("figure_text", "parity", "problem") or (HERE / "pages" / topic).is_dir()
)


def _files() -> dict[str, bytes]:
    """Return every served file by its address below the version."""
    files = {
        path.relative_to(HERE).as_posix(): _served(path)
        for path in sorted(HERE.rglob("*"))
        if path.suffix in _KINDS and path.is_file()
    }
    files["kit/vendor/plotly.min.js"] = _plotly()
    files[PALETTE] = "\n".join(
        f"{at} {{ {properties(name)} }}" for at, name in ((":root", "light"), ("body.dark", "dark"))
    ).encode()
    return files | {
        f"words/{language}/{part}.json": encoded(sentences)
        for language in LANGUAGES
        for part, sentences in words_by_part(catalogue(language)).items()
    }


def _served(path: Path) -> bytes:
    """Return a file as it is served: our scripts and styles without comments, every line in its
    place."""
    content = path.read_bytes()
    if path.suffix not in (".js", ".css") or "vendor" in path.parts:
        return content
    return _COMMENT.sub(lambda comment: b"\n" * comment[0].count(b"\n"), content)


def words_by_part(sentences: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return sentences by who needs them: "shared" by every page as it opens, else their topic."""
    parts: dict[str, dict[str, str]] = {part: {} for part in ("shared", *LATER_TOPICS)}
    for key, sentence in sentences.items():
        topic = key.partition(".")[0]
        parts[topic if topic in parts else "shared"][key] = sentence
    return parts


def _plotly() -> bytes:
    """Return plotly's script from its package, without importing the package, which takes
    long."""
    package = find_spec("plotly")
    assert package is not None
    assert package.origin is not None
    return (Path(package.origin).parent / "package_data" / "plotly.min.js").read_bytes()


def version(files: Mapping[str, bytes]) -> str:
    """Return a short name that identifies the names and contents of files."""
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:12]


FILES = _files()
VERSION = version(FILES)
BASE = f"served/{VERSION}"  # relative to the address of the first page


def manifest() -> dict[str, object]:
    """Return the web app manifest. Addresses are relative to its own, so that they also hold below
    a path of the host; Gradio's do not."""
    icons = [(ICON.relative_to(HERE).as_posix(), "any")]
    icons += [(name, f"{size}x{size}") for size, name in PNG_ICONS.items()]
    return {
        "id": "lossprism",  # the same app wherever it starts
        "name": "LossPrism",
        "short_name": "LossPrism",
        "description": say("en", "page.about.explore"),
        "lang": "en",
        "icons": [
            {"src": f"{BASE}/{name}", "sizes": sizes, "type": _KINDS[Path(name).suffix]}
            for name, sizes in icons
        ],
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "shortcuts": [
            {"name": say("en", f"page.{page}"), "url": f"./{page}"} for page in SHORTCUTS
        ],
        "background_color": LIGHT.ground,
        "theme_color": LIGHT.ground,
    }


@functools.cache
def packed_file(content: bytes) -> bytes:
    """Return the content of a file, compressed as far as a first visitor can wait for."""
    quality = BEST_QUALITY if len(content) <= BEST_BYTES else FAST_QUALITY
    return brotli.compress(content, quality=quality)


def file_routes(facts: Mapping[str, object]) -> list[APIRoute]:
    """Return the routes of this version's files, and of `facts` by the folder of a page."""
    known = {name: (content, CACHED_FOR_GOOD) for name, content in FILES.items()}
    known |= {f"data/{page}.json": (encoded(one), CHECKED_EACH_TIME) for page, one in facts.items()}

    async def answer(name: str, request: Request) -> Response:
        content, keep = known.get(name, (None, CHECKED_EACH_TIME))
        if content is None:
            return Response(status_code=404, headers={"Cache-Control": CHECKED_EACH_TIME})
        ending = Path(name).suffix
        kind = _KINDS.get(ending) or mimetypes.types_map[ending]
        headers = {"Cache-Control": keep, "Vary": "Accept-Encoding"}
        if ending in COMPRESSIBLE and is_compressed(request.headers):
            headers["Content-Encoding"] = "br"
            content = await run_in_threadpool(packed_file, content)
        return Response(content, media_type=kind, headers=headers)

    def described() -> Response:
        return Response(encoded(manifest()), media_type="application/manifest+json")

    async def icon(size: str, request: Request) -> Response:
        """Serve our icons in place of Gradio's route, which would draw any size, and cannot from an
        SVG."""
        name = {str(known): name for known, name in PNG_ICONS.items()}.get(size)
        return Response(status_code=404) if name is None else await answer(name, request)

    return [
        APIRoute("/pwa_icon/{size}", icon, include_in_schema=False),
        APIRoute(f"/{BASE}/{{name:path}}", answer, include_in_schema=False),
        APIRoute("/manifest.json", described, include_in_schema=False),
    ]
