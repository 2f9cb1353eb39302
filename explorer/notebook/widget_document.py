"""The document in the frame of a widget: the page's own modules and styles, in one text.

A frame keeps the styles of the page and those of the notebook apart. The modules import each other
by names that the document's import map leads to their texts, so that no server is asked.
"""

import base64
import functools
import json
import posixpath
import re
from pathlib import Path

from lossprism.explorer.export.figure.font_files import KATEX, gradio_fonts
from lossprism.explorer.export.rows_and_columns_of_step_matrix import NAMED_BY_PAIR, PAIRED
from lossprism.explorer.locale import COUNTS, catalogue
from lossprism.explorer.web import page_html, static_files

FRAME = static_files.FILES["widget/frame.js"].decode()  # the module that anywidget runs
VIEW, VIEW_STYLE = "widget/view.js", "widget/view.css"  # what the document runs
KATEX_STYLE = "kit/vendor/katex/katex.min.css"
STYLES = (
    *("palette", "fonts_and_reset", "base_text", "controls"),
    *("head_and_metrics", "problems_and_remarks", "matrix", "tables"),
)
# The beginnings of the keys of what the view says.
TOPICS = ("ui.", "facet.", "legend.", "order.", "axis.", "math.", "figure.", "figure_text.")
_ADDRESS = re.compile(r"url\(\"?([^)\"]+\.woff2)\"?\)")
_RELATIVE = re.compile(r"""(^import\s(?:[^"';]*\sfrom\s)?")(\.[^"]+)(";$)""", re.MULTILINE)


@functools.cache
def document() -> str:
    """Return the document as HTML: an import map, the styles with their fonts, and the view."""
    paths = page_html.imported([VIEW])
    modules = {_name(path): _as_data("text/javascript", _module(path)) for path in paths}
    names = [KATEX_STYLE, *(f"kit/styles/{one}.css" for one in STYLES), VIEW_STYLE]
    styles = "\n".join(static_files.FILES[name].decode() for name in names)
    return (
        '<!doctype html><html><head><meta charset="utf-8">'
        f'<script type="importmap">{json.dumps({"imports": modules})}</script>'
        f"<style>{_ADDRESS.sub(_embedded, styles)}</style></head>"
        f'<body><div class="lp"></div><script type="module">import "{_name(VIEW)}";</script>'
        "</body></html>"
    )


def sentences(language: str) -> dict[str, str]:
    """Return the sentences of the catalogue that the view may say."""
    return {key: text for key, text in catalogue(language).items() if key.startswith(TOPICS)}


def page_facts() -> dict[str, list[str]]:
    """Return the facts of `pageData` that the view reads."""
    return {"counts": sorted(COUNTS), "paired": [*PAIRED], "by_pair": [*NAMED_BY_PAIR]}


def _name(path: str) -> str:
    return f"lossprism/{path}"


def _module(path: str) -> bytes:
    """Return a module whose relative imports are the names of the import map."""
    folder = posixpath.dirname(path)

    def named(match: re.Match[str]) -> str:
        start, relative, end = match.groups()
        return start + _name(posixpath.normpath(posixpath.join(folder, relative))) + end

    return _RELATIVE.sub(named, static_files.FILES[path].decode()).encode()


def _as_data(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _embedded(match: re.Match[str]) -> str:
    """Return the address of a font as the font itself."""
    path = _fonts()[posixpath.basename(match.group(1))]
    return f"url({_as_data('font/woff2', path.read_bytes())})"


@functools.cache
def _fonts() -> dict[str, Path]:
    """Return the fonts of the styles by their names: KaTeX's, and those that Gradio brings."""
    folders = [KATEX, *gradio_fonts()]
    return {path.name: path for folder in folders for path in folder.rglob("*.woff2")}
