"""Charts of a page as figures: panels of curves, bars and bands, or of shapes, with one
caption."""

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Unpack

from lossprism.explorer.export.caption import FigureText
from lossprism.explorer.export.figure.appearance import Look
from lossprism.explorer.export.figure.chart_sent_by_page import (
    ACROSS,
    DOWN,
    Band,
    Chart,
    Colour,
    Panel,
    PlotAxis,
    Trace,
)
from lossprism.explorer.export.figure.header_and_caption import document, header
from lossprism.explorer.export.figure.svg_elements import Pen, Style, attributes, line, rectangle
from lossprism.explorer.export.figure.text_layout import clean, px, width_of, wrapped
from lossprism.explorer.runtime.number_format import display_number, percent

Place = Callable[[float, float], tuple[float, float]]  # where a point of the axes stands
GAP, LINE = 18.0, 18.0
LEFT, BELOW, RIGHT, ABOVE = 52.0, 22.0, 24.0, 8.0  # around a plot
TICK_ROOM = 44.0  # along an axis
AXIS_TITLE, TITLE_LINE = 11.5, 16.0  # its size, and the room of a line
MIN_PANEL = 240.0  # of a panel that stands beside another


def chart_figure(chart: Chart, **look: Unpack[Look]) -> str:
    """Draw the chart as SVG, with as many panels side by side as the size allows."""
    pen = Pen.of(**look)
    across = min(chart.across, len(chart.panels))
    if pen.size.inches is not None and pen.width(0) < across * MIN_PANEL:
        across = 1
    rows = [chart.panels[at : at + across] for at in range(0, len(chart.panels), across)]
    natural = max(sum(panel.wide + GAP for panel in row) for row in rows)
    width = pen.width(natural - GAP + 2 * pen.margin)
    scale = (width - 2 * pen.margin + GAP) / natural if pen.size.inches is not None else 1.0
    parts, y = header(FigureText(clean(chart.title), "", []), pen, width)
    for row in rows:
        x, below = pen.margin, y
        for panel in row:
            wide = panel.wide * scale - GAP * (1 - scale)
            drawn, bottom = _panel(pen, panel, x, y, wide)
            parts += drawn
            x, below = x + wide + GAP, max(below, bottom)
        y = below + 6
    drawn, y = _legend(pen, chart.legend, y, width)
    legend = FigureText(clean(chart.title), "", [clean(sentence) for sentence in chart.caption])
    return document(legend, pen, width, parts + drawn, y)


def _panel(pen: Pen, panel: Panel, x: float, y: float, wide: float) -> tuple[list[str], float]:
    out: list[str] = []
    if panel.title:
        lines = wrapped(clean(panel.title), wide, pen.fit(12.5))
        out += [pen.text(x, y + 14 + 16 * at, text, size=12.5) for at, text in enumerate(lines)]
        y += 6 + 16 * len(lines)
    factor = wide / panel.wide
    if panel.axes is None:
        out += [_shape(pen, shape, x, y, factor) for shape in panel.shapes]
        return out, y + panel.tall * factor
    tall = max(panel.tall * min(factor, 1.0), min(panel.tall, 150.0))
    return out + _plot(pen, panel, panel.axes, (x, y, wide, tall)), y + tall


def _ink(pen: Pen, colour: Colour) -> str:
    return colour.name if colour.name.startswith("#") else getattr(pen.palette, colour.name)


def _faded(colour: Colour) -> str:
    return "" if colour.opacity >= 1 else f"{colour.opacity:.3g}"


# ---- A plot --------------------------------------------------------------------------------------


def _plot(
    pen: Pen, panel: Panel, axes: tuple[PlotAxis, PlotAxis], box: tuple[float, float, float, float]
) -> list[str]:
    x, y, wide, tall = box
    across, up = axes
    names = [clean(name) for _, name in _ticks(up, 6)]
    left = max([LEFT - 8, *(8 + width_of(name, pen.fit(11)) for name in names)])
    beside = _title_lines(pen, up, tall - ABOVE - BELOW - TITLE_LINE)
    left += TITLE_LINE * len(beside)
    under = _title_lines(pen, across, wide - left - RIGHT)
    below = BELOW + TITLE_LINE * len(under)
    frame = (x + left, y + ABOVE, wide - left - RIGHT, tall - ABOVE - below)
    out = [part for band in panel.bands if (part := _band(pen, band, axes, frame))]
    out += _axes(pen, axes, frame)
    middle = frame[0] + frame[2] / 2, frame[1] + frame[3] / 2
    style: Style = {"fill": pen.palette.faint, "anchor": "middle", "kind": "axis"}
    for at, text in enumerate(under):
        foot = frame[1] + frame[3] + 33 + TITLE_LINE * at
        out.append(pen.text(middle[0], foot, text, size=AXIS_TITLE, **style))
    upward: Style = {**style, "turn": -90.0}
    for at, text in enumerate(beside):
        edge = x + 11 + TITLE_LINE * at
        out.append(pen.text(edge, middle[1], text, size=AXIS_TITLE, **upward))
    before: Trace | None = None
    for trace in panel.traces:
        out += _trace(pen, trace, before, axes, frame)
        before = trace
    return out


def _title_lines(pen: Pen, axis: PlotAxis, room: float) -> list[str]:
    return wrapped(clean(axis.title), room, pen.fit(AXIS_TITLE)) if axis.title else []


def _share(axis: PlotAxis, value: float) -> float:
    """Return the place of a value along an axis, from 0 to 1; values beyond its ends are at
    them."""
    if axis.logarithmic:
        value = math.log10(value) if value > 0 else axis.low
    return min(max((value - axis.low) / (axis.high - axis.low), 0.0), 1.0)


def _ticks(axis: PlotAxis, most: int) -> list[tuple[float, str]]:
    """Return the places of the ticks on the axis, and their texts."""
    if axis.ticks is not None:
        return axis.ticks
    if axis.logarithmic:
        first, last = math.ceil(axis.low - 1e-9), math.floor(axis.high + 1e-9)
        step = max(1, -(-(last - first + 1) // most))
        return [(10.0**at, display_number(10.0**at, 3)) for at in range(first, last + 1, step)]
    span = axis.high - axis.low
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * by for by in (1, 2, 5, 10) if span / (power * by) <= most)
    places = [
        at * step for at in range(math.ceil(axis.low / step), math.floor(axis.high / step) + 1)
    ]
    write = percent if axis.percent else lambda value: display_number(value, 4)
    return [(place, write(0.0 if abs(place) < step / 2 else place)) for place in places]


def _axes(
    pen: Pen, axes: tuple[PlotAxis, PlotAxis], frame: tuple[float, float, float, float]
) -> list[str]:
    x, y, wide, tall = frame
    across, up = axes
    faint = pen.palette.faint
    out = []
    for value, label in _ticks(up, max(2, int(tall / 26))):
        at = y + tall * (1 - _share(up, value))
        out.append(line(x, at, x + wide, at, pen.palette.line))
        out.append(pen.text(x - 6, at + 4, clean(label), size=11, fill=faint, anchor="end"))
    free = -math.inf
    for value, label in _ticks(across, max(2, int(wide / TICK_ROOM))):
        at = x + wide * _share(across, value)
        half = width_of(label, pen.fit(11)) / 2
        if at - half >= free:
            free = at + half + 4
            out.append(
                pen.text(at, y + tall + 16, clean(label), size=11, fill=faint, anchor="middle")
            )
    out.append(line(x, y + tall, x + wide, y + tall, faint))
    return out


def _band(
    pen: Pen, band: Band, axes: tuple[PlotAxis, PlotAxis], frame: tuple[float, float, float, float]
) -> str:
    x, y, wide, tall = frame
    sides = zip((band.x, band.y), axes, band.by_panel, strict=True)
    (left, right), (low, high) = (
        sorted(end if whole else _share(axis, end) for end in ends) for ends, axis, whole in sides
    )
    place = x + wide * left, y + tall * (1 - high), wide * (right - left), tall * (high - low)
    return rectangle(*place, fill=_ink(pen, band.colour), opacity=_faded(band.colour))


def _trace(
    pen: Pen,
    trace: Trace,
    before: Trace | None,
    axes: tuple[PlotAxis, PlotAxis],
    frame: tuple[float, float, float, float],
) -> list[str]:
    x, y, wide, tall = frame
    across, up = axes

    def place(at: float, value: float) -> tuple[float, float]:
        return x + wide * _share(across, at), y + tall * (1 - _share(up, value))

    ink, faded = _ink(pen, trace.colour), _faded(trace.colour)
    points = list(zip(trace.x, trace.y, strict=True))
    if trace.mode == "bars":
        return _bars(pen, trace, place)
    if trace.mode == "markers":
        return [_dot(*place(*one), trace.width / 2, ink, faded) for one in points if _known(one)]
    if trace.to_previous:
        edge = list(zip(before.x, before.y, strict=True)) if before else []
        ring = [place(*one) for one in (*edge, *reversed(points)) if _known(one)]
        return [_path(ring, {"fill": ink, "opacity": faded}, closed=True)] if ring else []
    look = {"stroke": ink, "stroke-width": px(trace.width), "opacity": faded}
    look |= {"stroke-dasharray": trace.dashes, "fill": "none", "class": "curve"}
    pieces = [list(group) for known, group in itertools.groupby(points, _known) if known]
    out = [_path([place(*one) for one in piece], look) for piece in pieces if trace.width]
    for one, word in zip(points, trace.words, strict=False):
        if word and _known(one):
            at, height = place(*one)
            out.append(pen.text(at + 6, height + 4, clean(word), size=12, weight=600, fill=ink))
    return out


def _bars(pen: Pen, trace: Trace, place: Place) -> list[str]:
    ink, out = _ink(pen, trace.colour), []
    for at, size, width in zip(trace.x, trace.y, trace.widths, strict=True):
        if not _known((at, size)) or not size:
            continue
        (left, low), (right, high) = (
            place(at - width / 2, trace.base),
            place(at + width / 2, trace.base + size),
        )
        top, foot = sorted((low, high))
        out.append(rectangle(left, top, right - left, foot - top, class_="bar", fill=ink))
    return out


def _known(point: tuple[float, float]) -> bool:
    return all(map(math.isfinite, point))


def _path(points: list[tuple[float, float]], look: Mapping[str, str], *, closed=False) -> str:
    d = "M" + "L".join(f"{px(x)} {px(y)}" for x, y in points) + ("Z" if closed else "")
    return f"<path{attributes({'d': d, **look})}/>"


def _dot(x: float, y: float, radius: float, ink: str, faded: str) -> str:
    circle = {"cx": px(x), "cy": px(y), "r": px(radius), "fill": ink, "opacity": faded}
    return f"<circle{attributes(circle)}/>"


# ---- Shapes and legend ---------------------------------------------------------------------------


def _shape(pen: Pen, shape: dict[str, str | float], x: float, y: float, factor: float) -> str:
    """Draw a shape of a panel, moved to (x, y) and scaled; text keeps its size."""
    tag = str(shape["tag"])

    def moved(name: str) -> float:
        by = 0.0 if name in ("width", "height") else x if name in ACROSS else y
        return float(shape[name]) * factor + by

    if tag == "text":
        fill = _ink(pen, Colour(str(shape.get("fill", "faint"))))
        size, weight = float(shape.get("font-size", 11)), int(shape.get("font-weight", 0))
        style = {"anchor": str(shape["text-anchor"]), "weight": weight, "fill": fill, "size": size}
        return pen.text(moved("x"), moved("y"), clean(str(shape["text"])), **style)
    values = {name: px(moved(name)) for name in (*ACROSS, *DOWN) if name in shape}
    for name in ("fill", "stroke"):
        values[name] = _ink(pen, Colour(str(shape[name]))) if name in shape else "none"
    opacities = [float(shape.get(name, 1)) for name in ("opacity", "fill-opacity", "fill-of")]
    values["opacity"] = _faded(Colour("", math.prod(opacities)))
    values["stroke-dasharray"] = str(shape["stroke-dasharray"])
    if "stroke-width" in shape:
        values["stroke-width"] = px(float(shape["stroke-width"]))
    if "r" in shape:
        values["r"] = px(float(shape["r"]) * min(factor, 1.0))
    values["href"] = str(shape.get("href", ""))
    return f"<{tag}{attributes(values)}/>"


def _legend(
    pen: Pen, legend: list[tuple[str, Colour, str]], y: float, width: float
) -> tuple[list[str], float]:
    """Draw a line and a name for each curve, in as many lines as needed."""
    out: list[str] = []
    x, right = pen.margin, width - pen.margin
    for name, colour, dashes in legend:
        room = 34 + 1.1 * width_of(clean(name), pen.fit(12.5)) + GAP
        if x > pen.margin and x + room > right:
            x, y = pen.margin, y + LINE
        look = {"stroke": _ink(pen, colour), "stroke-width": "2.5", "fill": "none"}
        look |= {"opacity": _faded(colour), "stroke-dasharray": dashes}
        out.append(_path([(x, y + 10), (x + 26, y + 10)], look))
        out.append(pen.text(x + 34, y + 14, clean(name), size=12.5))
        x += room
    return out, y + LINE + 6 if legend else y
