"""Elements of a self-contained SVG: palettes, text that fits, shapes, PNG images."""

from __future__ import annotations

import io
import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack
from xml.sax.saxutils import escape

import numpy as np

from lossprism.explorer.export.figure.appearance import (
    MATH,
    PALETTES,
    SIZES,
    UNITS_PER_INCH,
    Look,
    Size,
)
from lossprism.explorer.export.figure.formula import Run, runs
from lossprism.explorer.export.palette import Palette
from lossprism.explorer.locale import catalogue, say

LEAST_WIDTH = 720.0
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DIRECTED = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Return text without the characters that XML forbids; lone surrogates are replaced."""
    return _FORBIDDEN.sub("", re.sub("[\ud800-\udfff]", "\ufffd", text))


def clean(text: str) -> str:
    """Return printable text on one line that cannot reorder its surroundings.

    Marks of direction are dropped and blanks merged; right-to-left text is isolated.
    """
    text = " ".join(_DIRECTED.sub("", printable(text)).split())
    backwards = any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in text)
    return f"\u2068{text}\u2069" if backwards else text


def _advance(letter: str) -> float:
    """Return the approximate width of a letter, in units of the font size."""
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn", "Me"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in "iljtfrI.,:;'|!()[] ":
        return 0.31
    return 0.84 if letter in "mwMW@%" else 0.66 if letter.isupper() else 0.54


def width_of(text: str, size: float) -> float:
    """Return the approximate width of the text, in pixels."""
    return size * sum(map(_advance, text))


def clipped(text: str, room: float, size: float) -> str:
    """Return as much of a user's text as fits into `room` pixels, cleaned."""
    text = clean(text[:400])
    if width_of(text, size) <= room:
        return text
    plain = text.strip("\u2068\u2069")
    room -= 0.8 * size  # for the dots
    widths = itertools.accumulate(width_of(letter, size) for letter in plain)
    kept = sum(1 for width in widths if width <= room)
    return clean(f"{plain[:kept].rstrip()}…")


def wrapped(sentence: str, room: float, size: float) -> list[str]:
    """Return the sentence in lines that fit, broken at blanks, or anywhere in Chinese."""
    lines, line = [], ""
    for piece in re.findall(r"[^\s\u2e80-\uffef]+\s*|[\u2e80-\uffef]|\s+", sentence):
        if line and width_of(line + piece.rstrip(), size) > room:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()]


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
        palette = look.get("palette") or ("dark" if look.get("dark") else "light")
        size = SIZES[look.get("size", "slide")]
        only = look.get("picture_only", False)
        return cls(look.get("language", "en"), PALETTES[palette], size, only)

    @property
    def margin(self) -> float:
        return self.size.margin

    def width(self, needed: float) -> float:
        """Return the width of a figure that needs so much; below a title at least
        `LEAST_WIDTH`."""
        if self.size.inches is not None:
            return self.size.inches * UNITS_PER_INCH
        return needed if self.picture_only else max(needed, LEAST_WIDTH)

    def fit(self, size: float) -> float:
        """Return the font size within the limits of the figure's size."""
        return min(max(size, self.size.smallest), self.size.largest)

    def say(self, key: str, **values: object) -> str:
        return say(self.language, key, **values)

    def word(self, words: str) -> str:
        """Return a word inside a formula, in the language."""
        known = catalogue(self.language)
        return known.get(f"math.{words}") or known.get(f"figure_text.{words}") or words

    def text(
        self,
        x: float,
        y: float,
        content: str | Sequence[Run],
        *,
        size: float = 12,
        fill: str = "",
        anchor: str = "",
        weight: int = 0,
        font: str = "",
        turn: float = 0,
        kind: str = "",
    ) -> str:
        formula = not isinstance(content, str)
        size = self.fit(size)
        properties = {
            "class": kind,
            "x": px(x),
            "y": px(y),
            "font-size": px(size),
            "font-family": MATH if formula else font,
            "font-weight": str(weight or ""),
            "fill": fill or self.palette.ink,
            "text-anchor": anchor,
            "transform": f"rotate({turn:g} {px(x)} {px(y)})" if turn else "",
        }
        inner = _tspans(content, size) if formula else escape(printable(content))
        return f"<text{attributes(properties)}>{inner}</text>"

    def formula(self, latex: str) -> list[Run]:
        return runs(latex, self.word)


def _tspans(content: Sequence[Run], size: float) -> str:
    """Return runs as tspans; each moves up or down relative to the last one."""
    out, at = [], 0.0
    for run in content:
        properties = {
            "dy": px((at - run.rise) * size) if run.rise != at else "",
            "font-size": px(run.size * size) if run.size != 1 else "",
            "font-style": "italic" if run.italic else "",
        }
        at = run.rise
        kept = escape(printable(run.text).replace(" ", "\u00a0"))  # blanks at its ends stay
        out.append(f"<tspan{attributes(properties)}>{kept}</tspan>")
    return "".join(out)


def formula_width(content: Sequence[Run], size: float) -> float:
    return sum(width_of(run.text, run.size * size) for run in content)


def formula_lines(content: Sequence[Run], room: float, size: float) -> list[list[Run]]:
    """Return the formula in lines that fit, broken at blanks on the base line."""
    lines: list[list[Run]] = [[]]
    for run in content:
        pieces = re.findall("[^ ]+ *| +", run.text) if run.rise == 0 else [run.text]
        for piece in (replace(run, text=text) for text in pieces or [run.text]):
            breaks = run.rise == 0 and lines[-1] and lines[-1][-1].text.endswith(" ")
            if breaks and formula_width([*lines[-1], piece], size) > room:
                lines.append([])
            lines[-1].append(piece)
    return lines


def attributes(values: dict[str, str]) -> str:
    return "".join(
        f' {name}="{escape(value, {chr(34): "&quot;"})}"' for name, value in values.items() if value
    )


def px(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


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


def png(pixels: np.ndarray) -> bytes:
    """Encode bytes [rows, columns] (grey) or [rows, columns, 4] (RGBA) as a PNG file."""
    from PIL import Image  # only large matrices are images

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG", compress_level=9)
    return out.getvalue()
