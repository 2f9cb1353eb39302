"""Figures as PNG, without a browser: the SVG's own drawing, in pixels."""

import functools
import io
import math
import unicodedata
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import numpy as np

from lossprism.explorer.export.figure.appearance import UNITS_PER_INCH
from lossprism.explorer.export.figure.font_files import INVISIBLE, FigureFile
from lossprism.explorer.export.figure.text_layout import printable

UNIT_PIXELS = 2.0  # pixels to a unit, as the page exports them
# About four times the largest figure: no caption, however long, makes a picture without end.
MAX_PIXELS = 16_000_000
# What a generic family is where the system does not say: the first of these that there is. An SVG
# none of whose families is there would be drawn without its words.
FAMILIES = {
    "sans-serif": ("Arial", "Liberation Sans", "Noto Sans", "DejaVu Sans"),
    "serif": ("Times New Roman", "Liberation Serif", "Noto Serif", "DejaVu Serif"),
    "monospace": ("Consolas", "Menlo", "Liberation Mono", "DejaVu Sans Mono"),
}
NO_FONT = "no such font"
FALLBACKS = ("Noto Sans CJK SC", "WenQuanYi Micro Hei", "PingFang SC", "Microsoft YaHei")
CELL = 24  # pixels of a letter that is tried
PRIVATE = "\U0010fffd"  # of private use: fonts have a box for it, or nothing
NO_INK = INVISIBLE | {"Mn", "Me", "Zs"}


def as_png(svg: str) -> FigureFile:
    """Return a figure as PNG, `UNIT_PIXELS` pixels to a unit, or fewer if that would exceed
    `MAX_PIXELS`."""
    tree = ElementTree.fromstring(svg)
    _, _, width, height = map(float, tree.attrib["viewBox"].split())
    zoom = min(UNIT_PIXELS, math.sqrt(MAX_PIXELS / (width * height)))
    return FigureFile(_png(svg, _generic(), zoom), undrawn(_letters(tree)))


def undrawn(letters: str) -> str:
    """Return those of the letters that no font of this computer has, each once."""
    letters_to_draw = sorted(
        {letter for letter in letters if unicodedata.category(letter) not in NO_INK}
    )
    if not letters_to_draw:
        return ""
    cells = _cells([(letter, "sans-serif") for letter in (*letters_to_draw, PRIVATE)], _generic())
    missing = (cells[:-1] == cells[-1]).all(axis=(1, 2)) | _blank(cells[:-1])
    return "".join(letter for letter, gone in zip(letters_to_draw, missing, strict=True) if gone)


def _letters(tree: ElementTree.Element) -> str:
    """Return all letters that the figure shows; title and description are not drawn."""
    written = tree.iter("{http://www.w3.org/2000/svg}text")
    return "".join("".join(element.itertext()) for element in written)


@functools.cache  # fonts do not come and go while the app runs, and trying them takes 0.1 s
def _generic() -> dict[str, str]:
    """Return the generic families' replacements on this computer if the system's own are missing;
    nothing without any font."""
    missing = _blank(_cells([("x", family) for family in FAMILIES], {}))
    unknown = [family for family, is_missing in zip(FAMILIES, missing, strict=True) if is_missing]
    tried = [(family, name) for family in unknown for name in (*FAMILIES[family], *FALLBACKS)]
    if not tried:
        return {}
    # The renderer falls back on a generic family, which would hide that one is missing.
    none = dict.fromkeys(FAMILIES, NO_FONT)
    there = ~_blank(_cells([("x", name) for _, name in tried], none))
    families: dict[str, str] = {}
    for (family, name), is_there in zip(tried, there, strict=True):
        if is_there:
            families.setdefault(family, name)
    return families


def _cells(written: Sequence[tuple[str, str]], generic: dict[str, str]) -> np.ndarray:
    """Render each letter in its family, black on white: grey pixels [letters, CELL, CELL]."""
    from PIL import Image

    height = CELL * len(written)
    texts = "".join(
        f'<text x="4" y="{CELL * place + 18}" font-size="14" font-family={quoteattr(family)}>'
        f"&#{ord(letter)};</text>"
        for place, (letter, family) in enumerate(written)
        if printable(letter)
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{CELL}" height="{height}">'
        f'<rect width="{CELL}" height="{height}" fill="white"/>{texts}</svg>'
    )
    grey = np.asarray(Image.open(io.BytesIO(_png(svg, generic))).convert("L"))
    return grey.reshape(len(written), CELL, CELL)


def _png(svg: str, generic: dict[str, str], zoom: float = 1.0) -> bytes:
    from resvg_py import svg_to_bytes  # only who asks for pixels needs it

    return svg_to_bytes(
        svg_string=svg,
        zoom=zoom,
        dpi=UNITS_PER_INCH,  # of a size in inches; any other is in units
        sans_serif_family=generic.get("sans-serif"),
        serif_family=generic.get("serif"),
        monospace_family=generic.get("monospace"),
    )


def _blank(cells: np.ndarray) -> np.ndarray:
    return (cells == 255).all(axis=(1, 2))
