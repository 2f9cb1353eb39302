"""Look of a figure: language, palette, size on paper, and surrounding text."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from lossprism.explorer.export.palette import DARK, LIGHT, PRINT, Palette
from lossprism.explorer.locale import language_of
from lossprism.explorer.runtime.validation import one_of

UNITS_PER_INCH = 108  # of a size on paper: a unit is two thirds of a point
FONTS = (
    "IBM Plex Sans, Segoe UI, Helvetica Neue, Arial, Liberation Sans, Noto Sans CJK SC, "
    "PingFang SC, Microsoft YaHei, WenQuanYi Micro Hei, DejaVu Sans, sans-serif"
)
MATH = (
    "KaTeX_Main, STIX Two Math, STIX Two Text, Cambria Math, Latin Modern Math, "
    "Times New Roman, serif"
)
MONO = "IBM Plex Mono, Menlo, Consolas, monospace"


@dataclass(frozen=True)
class Size:
    """A size of figures: so many inches wide, or as wide as the figure needs if None.

    Font sizes stay between `smallest` and `largest`; these and `margin` are in units.
    """

    inches: float | None = None
    margin: float = 30.0
    smallest: float = 0.0
    largest: float = math.inf
    legend: float = 104.0


def _paper(inches: float) -> Size:
    """A width of a journal's columns, with text of 7 to 9 points."""
    return Size(inches, margin=4.0, smallest=10.6, largest=13.4, legend=92.0)


SIZES = {"slide": Size(), "two_columns": _paper(7.0), "one_column": _paper(3.3)}
PALETTES: dict[str, Palette] = {"light": LIGHT, "dark": DARK, "print": PRINT}


class Look(TypedDict, total=False):
    """Keyword arguments of the figures, their choices: `size` of `SIZES`, `palette` of `PALETTES`
    ("": light, or dark if `dark`), and `picture_only`, without title, formula and caption."""

    language: str
    dark: bool
    palette: str
    size: str
    picture_only: bool


def palette_of(look: Look) -> str:
    """Return the name of the chosen palette."""
    return look.get("palette") or ("dark" if look.get("dark") else "light")


def look_in(request: Mapping[str, Any]) -> Look:
    """Read the choices in a request of a page. Raises Problem for an unknown one."""
    return Look(
        language=language_of(request.get("language")),
        dark=request.get("dark") is True,
        palette=one_of(("", *PALETTES))(request.get("palette") or "", "palette"),
        size=one_of(tuple(SIZES))(request.get("size") or "slide", "size"),
        picture_only=request.get("picture_only") is True,
    )
