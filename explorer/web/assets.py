"""Files and facts for the browser: modules, styles, fonts, words, and each page's facts.

All of it is below one path that names its content, `served/<version>/`. Files import each other by
relative addresses, so a page never mixes two versions, and a browser may cache them for good:
another version has another path. Only the facts of a page, which depend on how the program was
started, are requested each time.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from fastapi import Response
from fastapi.routing import APIRoute

from lossprism.explorer.export.palette import LIGHT, properties
from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.runtime.json_encoding import encoded

HERE = Path(__file__).resolve().parent
ICON = HERE / "kit" / "icon.svg"  # of the browser's tab, and of the page installed as an app
# The same drawing, for a system that takes no SVG as the icon of an app.
DRAWN = {192: "kit/icon-192.png", 512: "kit/icon-512.png"}
# In the order in which a later one may overrule an earlier.
PALETTE = "kit/styles/palette.css"  # written from the one palette
_KIT_STYLES = (
    "palette",
    "reset",
    "theme",
    "layout",
    "controls",
    "figures",
    "matrix",
    "bars",
    "chart",
    "present",
    "tables",
)
SHARED_STYLES = (
    "kit/vendor/katex/katex.min.css",
    *(f"kit/styles/{name}.css" for name in _KIT_STYLES),
)
FOREVER = "public, max-age=31536000, immutable"
ANEW = "no-cache"

_KINDS = {
    **{".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"},
    **{".svg": "image/svg+xml", ".png": "image/png"},
}
_IMPORT = re.compile(r"""^import\s(?:[^"';]*\sfrom\s)?"(\.[^"]+)";$""", re.MULTILINE)


def _files() -> dict[str, bytes]:
    """Return every served file by its address below the version."""
    files = {
        path.relative_to(HERE).as_posix(): path.read_bytes()
        for path in sorted(HERE.rglob("*"))
        if path.suffix in _KINDS and path.is_file()
    }
    files["kit/vendor/plotly.min.js"] = _plotly()
    files[PALETTE] = "\n".join(
        f"{at} {{ {properties(name)} }}" for at, name in ((":root", "light"), ("body.dark", "dark"))
    ).encode()
    return files | {f"words/{name}.json": encoded(catalogue(name)) for name in LANGUAGES}


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
MOUNT = "kit/mount.js"  # where a page begins


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


def manifest() -> dict[str, object]:
    """Return the web app manifest. Addresses are relative to its own, so that they also hold below
    a path of the host; Gradio's do not."""
    icons = [(ICON.relative_to(HERE).as_posix(), "any")]
    icons += [(name, f"{size}x{size}") for size, name in DRAWN.items()]
    return {
        "name": "LossPrism",
        "icons": [
            {"src": f"{BASE}/{name}", "sizes": sizes, "type": _KINDS[Path(name).suffix]}
            for name, sizes in icons
        ],
        "start_url": "./",
        "display": "standalone",
        "background_color": LIGHT.ground,
        "theme_color": LIGHT.ground,
    }


def routes(facts: Mapping[str, object]) -> list[APIRoute]:
    """Return the routes of this version's files, and of `facts` by the folder of a page."""
    known = {name: (content, FOREVER) for name, content in FILES.items()}
    known |= {f"data/{page}.json": (encoded(one), ANEW) for page, one in facts.items()}

    async def answer(name: str) -> Response:
        content, keep = known.get(name, (None, ANEW))
        if content is None:
            return Response(status_code=404, headers={"Cache-Control": ANEW})
        ending = Path(name).suffix
        kind = _KINDS.get(ending) or mimetypes.types_map[ending]
        return Response(content, media_type=kind, headers={"Cache-Control": keep})

    def described() -> Response:
        return Response(encoded(manifest()), media_type="application/manifest+json")

    async def icon(size: str) -> Response:
        """Serve our icons in place of Gradio's route, which would draw any size, and cannot from an
        SVG."""
        name = {str(known): name for known, name in DRAWN.items()}.get(size)
        return Response(status_code=404) if name is None else await answer(name)

    return [
        APIRoute("/pwa_icon/{size}", icon, include_in_schema=False),
        APIRoute(f"/{BASE}/{{name:path}}", answer, include_in_schema=False),
        APIRoute("/manifest.json", described, include_in_schema=False),
    ]
