"""Charts as a page sends them: panels of curves, bars and bands in Plotly's form, or of
shapes."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from lossprism.explorer.export.palette import LIGHT, SHADES
from lossprism.explorer.runtime.validation import finite, invalid_value, of_type, one_of, texts

T = TypeVar("T")
MAX_PANELS, MAX_PARTS, MAX_POINTS = 12, 5_000, 500_000
LETTERS = 400  # of a text
LARGEST_POWER = 300.0  # of ten at the end of a logarithmic axis
PANEL_SIDES = (10.0, 4000.0)  # pixels of a panel
SHAPES = ("line", "rect", "circle", "text", "image")
# The attributes of a shape that are numbers: to the right, downwards, or neither.
ACROSS, DOWN = ("x", "x1", "x2", "cx", "width"), ("y", "y1", "y2", "cy", "height")
NUMBERS = ("r", "font-size", "font-weight", "stroke-width", "opacity", "fill-opacity")
_PNG = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+")
_COLOUR = re.compile(r"(#[0-9a-f]{6})([0-9a-f]{2})?|rgba?\((\d+),\s*(\d+),\s*(\d+)[^)]*\)", re.I)
_DASHES = {"dash": "5 3", "dot": "1.5 3", "dashdot": "9 3 2 3", "longdashdot": "9 3 2 3"}
# The name of a colour of either theme, by which another palette has its own.
_NAMES = {
    value: name
    for theme in ("light", "dark")
    for name, value in SHADES[theme].items()
    if isinstance(value, str)
}


@dataclass(frozen=True)
class Colour:
    """A colour by its name in the palette, or as "#rrggbb" for others."""

    name: str
    opacity: float = 1.0


@dataclass(frozen=True)
class PlotAxis:
    """An axis from `low` to `high`, powers of ten if `logarithmic`; `ticks` if it names them."""

    low: float
    high: float
    logarithmic: bool = False
    title: str = ""
    percent: bool = False
    ticks: list[tuple[float, str]] | None = None


@dataclass(frozen=True)
class Trace:
    """A curve, points or bars, NaN for missing numbers; bars have `base` and `widths`."""

    mode: str
    x: list[float]
    y: list[float]
    colour: Colour
    width: float = 1.0
    dashes: str = ""
    words: list[str] = field(default_factory=list)
    base: float = 0.0
    widths: list[float] = field(default_factory=list)
    to_previous: bool = False


@dataclass(frozen=True)
class Band:
    """A range of either axis, or of the panel from 0 to 1 if `by_panel`."""

    colour: Colour
    x: tuple[float, float]
    y: tuple[float, float]
    by_panel: tuple[bool, bool]


@dataclass(frozen=True)
class Panel:
    """A part of a chart: a plot of traces over two axes, or else shapes."""

    title: str
    wide: float
    tall: float
    axes: tuple[PlotAxis, PlotAxis] | None
    traces: list[Trace]
    bands: list[Band]
    shapes: list[dict[str, str | float]]


@dataclass(frozen=True)
class Chart:
    """A complete chart: `legend` has a name, a colour, dashes and a look of each curve."""

    title: str
    caption: list[str]
    legend: list[tuple[str, Colour, str]]
    panels: list[Panel]
    across: int


def read_chart(value: object) -> Chart:
    """Read a chart. Raises Problem, naming the first invalid entry."""
    entries = of_type(dict)(value, "chart")
    panels = _listed(entries.get("panels"), "chart.panels", MAX_PANELS, _panel)
    points = sum(len(trace.x) for panel in panels for trace in panel.traces)
    if points > MAX_POINTS or not panels:
        raise invalid_value("chart.panels", f"{points} points")
    return Chart(
        _text(entries.get("title"), "chart.title"),
        [one[:LETTERS] for one in texts(entries.get("caption", ()), "chart.caption")[:MAX_PANELS]],
        _listed(entries.get("legend", []), "chart.legend", 2 * MAX_PANELS, _legend),
        panels,
        max(1, min(int(finite(entries.get("across", 1), "chart.across")), MAX_PANELS)),
    )


def _panel(value: object, where: str) -> Panel:
    entries = of_type(dict)(value, where)
    wide, tall = (finite(entries.get(side), f"{where}.{side}") for side in ("wide", "tall"))
    if not all(PANEL_SIDES[0] <= side <= PANEL_SIDES[1] for side in (wide, tall)):
        raise invalid_value(where, f"{wide} × {tall}")
    title = _text(entries.get("title", ""), f"{where}.title")
    if "shapes" in entries:
        shapes = _listed(entries["shapes"], f"{where}.shapes", MAX_PARTS, _shape)
        return Panel(title, wide, tall, None, [], [], shapes)
    layout = of_type(dict)(entries.get("layout"), f"{where}.layout")
    x, y = (_axis(layout.get(f"{name}axis"), f"{where}.layout.{name}axis") for name in "xy")
    traces = _listed(entries.get("data"), f"{where}.data", MAX_PARTS, _trace)
    bands = _listed(layout.get("shapes", []), f"{where}.layout.shapes", MAX_PARTS, _band)
    return Panel(title, wide, tall, (x, y), traces, bands, [])


def _axis(value: object, where: str) -> PlotAxis:
    entries = of_type(dict)(value, where)
    low, high = _numbers(entries.get("range"), f"{where}.range", 2)
    is_logarithmic = entries.get("type") == "log"
    if not math.isfinite(high - low) or low >= high or (is_logarithmic and high > LARGEST_POWER):
        raise invalid_value(f"{where}.range", entries.get("range"))
    ticks = None
    if "tickvals" in entries:
        names = texts(entries.get("ticktext"), f"{where}.ticktext")
        places = _numbers(entries["tickvals"], f"{where}.tickvals", len(names))
        ticks = [(place, name[:LETTERS]) for place, name in zip(places, names, strict=True)]
    title = of_type(dict)(entries.get("title") or {}, f"{where}.title")
    return PlotAxis(
        low,
        high,
        is_logarithmic,
        _text(title.get("text") or "", f"{where}.title.text"),
        entries.get("tickformat") == ".0%",
        ticks,
    )


def _trace(value: object, where: str) -> Trace:
    entries = of_type(dict)(value, where)
    x = _numbers(entries.get("x"), f"{where}.x")
    y = _numbers(entries.get("y"), f"{where}.y", len(x))
    if entries.get("type") == "bar":
        marker = of_type(dict)(entries.get("marker"), f"{where}.marker")
        widths = _numbers(entries.get("width"), f"{where}.width", len(x))
        base = finite(entries.get("base", 0), f"{where}.base")
        colour = colour_of(marker.get("color"), f"{where}.marker.color")
        return Trace("bars", x, y, colour, base=base, widths=widths)
    line = of_type(dict)(entries.get("line") or {}, f"{where}.line")
    filled, mode = entries.get("fill") == "tonexty", str(entries.get("mode") or "lines")
    look = of_type(dict)(entries.get("marker"), f"{where}.marker") if mode == "markers" else line
    written = entries.get("fillcolor") if filled else look.get("color") or LIGHT.ink
    colour = colour_of(written, f"{where}.color")
    opacity = colour.opacity * finite(entries.get("opacity", 1), f"{where}.opacity")
    width = look.get("size", 6) if mode == "markers" else look.get("width", 2)
    words = texts(entries["text"], f"{where}.text") if "text" in entries else ()
    return Trace(
        "markers" if mode == "markers" else "lines",
        x,
        y,
        Colour(colour.name, opacity),
        finite(width, f"{where}.width"),
        dashes_of(line.get("dash")),
        [one[:LETTERS] for one in words],
        to_previous=filled,
    )


def _band(value: object, where: str) -> Band:
    entries = of_type(dict)(value, where)
    ends = [finite(entries.get(end), f"{where}.{end}") for end in ("x0", "x1", "y0", "y1")]
    colour = colour_of(entries.get("fillcolor"), f"{where}.fillcolor")
    opacity = colour.opacity * finite(entries.get("opacity", 1), f"{where}.opacity")
    by_panel = entries.get("xref") == "paper", entries.get("yref") == "paper"
    return Band(Colour(colour.name, opacity), (ends[0], ends[1]), (ends[2], ends[3]), by_panel)


def _shape(value: object, where: str) -> dict[str, str | float]:
    entries = of_type(dict)(value, where)
    shape: dict[str, str | float] = {"tag": one_of(SHAPES)(entries.get("tag"), f"{where}.tag")}
    for name in (*ACROSS, *DOWN, *NUMBERS):
        if name in entries:
            shape[name] = finite(entries[name], f"{where}.{name}")
    if "href" in entries:
        shape["href"] = of_type(str)(entries["href"], f"{where}.href")
        if not _PNG.fullmatch(entries["href"]):
            raise invalid_value(f"{where}.href", entries["href"])
    for name in ("fill", "stroke"):
        if entries.get(name, "none") != "none":
            colour = colour_of(entries[name], f"{where}.{name}")
            shape |= {name: colour.name, f"{name}-of": colour.opacity}
    anchors = one_of(("", "start", "middle", "end"))
    shape["text-anchor"] = anchors(entries.get("text-anchor", ""), f"{where}.text-anchor")
    shape["stroke-dasharray"] = dashes_of(entries.get("stroke-dasharray"))
    shape["text"] = _text(entries.get("text", ""), f"{where}.text")
    return shape


def _legend(value: object, where: str) -> tuple[str, Colour, str]:
    entries = of_type(dict)(value, where)
    colour = colour_of(entries.get("colour"), f"{where}.colour")
    opacity = finite(entries.get("opacity", 1), f"{where}.opacity")
    name = _text(entries.get("name"), f"{where}.name")
    return name, Colour(colour.name, opacity), dashes_of(entries.get("dashes"))


def colour_of(value: object, where: str) -> Colour:
    """Read a colour as a page writes it, "#rrggbb", "#rrggbbaa" or "rgb(r,g,b)"."""
    match = _COLOUR.fullmatch(of_type(str)(value, where).strip())
    if not match:
        raise invalid_value(where, value)
    known, alpha, *parts = match.groups()
    known = (known or "#{:02x}{:02x}{:02x}".format(*(min(int(one), 255) for one in parts))).lower()
    return Colour(_NAMES.get(known, known), int(alpha, 16) / 255 if alpha else 1.0)


def dashes_of(value: object) -> str:
    """Return the lengths of dashes and gaps, "" for a solid line."""
    known = _DASHES.get(str(value or ""), str(value or ""))
    return " ".join(re.findall(r"\d+(?:\.\d+)?", known)[:4])


def _listed(value: object, where: str, most: int, read: Callable[[object, str], T]) -> list[T]:
    entries = of_type(list)(value, where)
    if len(entries) > most:
        raise invalid_value(where, f"{len(entries)} > {most}")
    return [read(one, f"{where}[{number}]") for number, one in enumerate(entries, 1)]


def _numbers(value: object, where: str, count: int | None = None) -> list[float]:
    """Return numbers, NaN for anything else."""
    entries = of_type(list)(value, where)
    if count is not None and len(entries) != count:
        raise invalid_value(where, f"{len(entries)} ≠ {count}")
    return [math.nan if one is None else finite(one, where) for one in entries]


def _text(value: object, where: str) -> str:
    return of_type(str)(value, where)[:LETTERS]
