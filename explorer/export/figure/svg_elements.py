"""Elements of a self-contained SVG: text, shapes, PNG images."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TypedDict, Unpack
from xml.sax.saxutils import escape

import numpy as np

from lossprism.explorer.export.figure.appearance import (
    PALETTES,
    SIZES,
    UNITS_PER_INCH,
    Look,
    Size,
    palette_of,
)
from lossprism.explorer.export.figure.formula import Formula, typeset, typeset_lines
from lossprism.explorer.export.figure.text_layout import printable, px
from lossprism.explorer.export.palette import Palette
from lossprism.explorer.locale import catalogue, say

MIN_WIDTH = 720.0


class Style(TypedDict, total=False):
    """Keyword arguments of `Pen.text`: its style, beside text, place and size."""

    fill: str
    anchor: str
    weight: int
    font: str
    turn: float
    kind: str


@dataclass(frozen=True)
class Pen:
    """Writes SVG elements in one language, one palette and one size.

    All text passes through `text`, which escapes it; a user's own has passed `clean`.
    """

    language: str
    palette: Palette
    size: Size = SIZES["slide"]
    picture_only: bool = False

    @classmethod
    def of(cls, **look: Unpack[Look]) -> Pen:
        """Return the pen for these choices."""
        size = SIZES[look.get("size", "slide")]
        only = look.get("picture_only", False)
        return cls(look.get("language", "en"), PALETTES[palette_of(look)], size, only)

    @property
    def margin(self) -> float:
        return self.size.margin

    def width(self, needed: float) -> float:
        """Return the width of a figure that needs so much; below a title at least
        `MIN_WIDTH`."""
        if self.size.inches is not None:
            return self.size.inches * UNITS_PER_INCH
        return needed if self.picture_only else max(needed, MIN_WIDTH)

    def fit(self, size: float) -> float:
        """Return the font size within the limits of the figure's size."""
        return min(max(size, self.size.smallest), self.size.largest)

    def say(self, key: str, **values: object) -> str:
        return say(self.language, key, **values)

    def word(self, words: str) -> str:
        """Return a word inside a formula, in the language."""
        known = catalogue(self.language)
        return known.get(f"math.{words}") or words

    def text(
        self,
        x: float,
        y: float,
        content: str,
        *,
        size: float = 12,
        fill: str = "",
        anchor: str = "",
        weight: int = 0,
        font: str = "",
        turn: float = 0,
        kind: str = "",
    ) -> str:
        size = self.fit(size)
        properties = {
            "class": kind,
            "x": px(x),
            "y": px(y),
            "font-size": px(size),
            "font-family": font,
            "font-weight": str(weight or ""),
            "fill": fill or self.palette.ink,
            "text-anchor": anchor,
            "transform": f"rotate({turn:g} {px(x)} {px(y)})" if turn else "",
        }
        return f"<text{attributes(properties)}>{escape(printable(content))}</text>"

    def formula(self, latex: str, size: float) -> Formula:
        """Set LaTeX as mathematics in one line, at this size within the limits of the figure's."""
        return typeset(latex, self.fit(size), self.word)

    def formula_lines(self, latex: str, size: float, room: float) -> list[Formula]:
        """Set LaTeX as `formula`, in lines of this width."""
        return typeset_lines(latex, self.fit(size), room, self.word)


def attributes(values: dict[str, str]) -> str:
    return "".join(
        f' {name}="{escape(value, {chr(34): "&quot;"})}"' for name, value in values.items() if value
    )


def rectangle(x: float, y: float, width: float, height: float, **properties: str) -> str:
    place = {"x": px(x), "y": px(y), "width": px(width), "height": px(height)}
    named = {name.rstrip("_").replace("_", "-"): value for name, value in properties.items()}
    return f"<rect{attributes({**place, **named})}/>"


def line(x1: float, y1: float, x2: float, y2: float, stroke: str) -> str:
    place = {"x1": px(x1), "y1": px(y1), "x2": px(x2), "y2": px(y2), "stroke": stroke}
    return f"<line{attributes(place)}/>"


def cross(x: float, y: float, w: float, h: float, ink: str) -> str:
    a, b = (x + w * 0.3, x + w * 0.7), (y + h * 0.3, y + h * 0.7)
    path = f"M{px(a[0])} {px(b[0])}L{px(a[1])} {px(b[1])}"
    path += f"M{px(a[1])} {px(b[0])}L{px(a[0])} {px(b[1])}"
    return f'<path class="broken" d="{path}" stroke="{ink}" stroke-width="1.4"/>'


def small_picture(picture: str, x: float, y: float, side: float) -> str:
    """Return a picture, a data URL, in a square."""
    place = {"x": px(x), "y": px(y), "width": px(side), "height": px(side)}
    return f"<image{attributes({'class': 'miniature', **place, 'href': picture})}/>"


def png(pixels: np.ndarray) -> bytes:
    """Encode bytes [rows, columns] (grey) or [rows, columns, 4] (RGBA) as a PNG file; a byte per
    pixel where there are at most 256 colours."""
    from PIL import Image  # only large matrices are images

    out, image, more = io.BytesIO(), Image.fromarray(pixels), {}
    if pixels.ndim == 3:
        flat = np.ascontiguousarray(pixels).view(np.uint32)[..., 0]
        known, places = np.unique(flat, return_inverse=True)
        if len(known) <= 256:
            colours = known.view(np.uint8).reshape(-1, 4)
            image = Image.fromarray(places.reshape(flat.shape).astype(np.uint8), "P")
            image.putpalette(colours[:, :3].tobytes())
            if colours[:, 3].min() < 255:
                more = {"transparency": colours[:, 3].tobytes()}
    image.save(out, "PNG", compress_level=9, **more)
    return out.getvalue()
