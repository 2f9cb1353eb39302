"""Time over N for every measured loss, as one SVG of small panels: ours, definition, peers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from benchmarks.timing_result import Result
from lossprism.explorer.export.figure.appearance import FONTS
from lossprism.explorer.export.figure.svg_elements import Pen, line, px, rectangle
from lossprism.explorer.export.palette import LIGHT

WIDE, HIGH, COLUMNS = 232, 160, 4  # of a panel, with its margins; and panels in a row
LEFT, RIGHT, TOP, BOTTOM = 42, 14, 42, 26  # margins inside a panel
HEAD, FOOT = 58, 26

COLOURS = {
    "ours": "#c2410c",
    "definition": "#6b7280",
    "torch": "#a16207",
    "sentence-transformers": "#1d6fb8",
    "pytorch-metric-learning": "#7e3fb2",
}


def drawn(
    results: Sequence[Result],
    machine: str,
    title: str = "Forward and backward in milliseconds, over N",
) -> str:
    """Both axes are logarithmic and shared by all panels' times."""
    cases = {one.case: None for one in results}
    series = {
        name: [one for one in results if one.case == name]
        for name in cases
        if len({one.size for one in results if one.case == name}) > 1
    }
    pen = Pen("en", LIGHT)
    times = [one.milliseconds for panel in series.values() for one in panel]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    width = COLUMNS * WIDE + RIGHT
    height = HEAD + math.ceil(len(series) / COLUMNS) * HIGH + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {px(width)} {px(height)}" '
        f'width="{px(width)}" height="{px(height)}" font-family="{FONTS}">',
        rectangle(0, 0, width, height, fill=LIGHT.sheet),
        pen.text(LEFT, 24, title, size=15, weight=600),
        *legend(pen, {one.who for panel in series.values() for one in panel}),
    ]
    for place, (name, panel) in enumerate(series.items()):
        row, column = divmod(place, COLUMNS)
        parts += drawn_panel(pen, name, panel, column * WIDE, HEAD + row * HIGH, (low, high))
    parts += [pen.text(LEFT, height - 9, machine, size=9, fill=LIGHT.faint), "</svg>"]
    return "\n".join(parts) + "\n"


def legend(pen: Pen, present: set[str]) -> Iterable[str]:
    at = LEFT
    for who, colour in COLOURS.items():
        if who in present:
            yield f'<circle cx="{px(at + 4)}" cy="42" r="4" fill="{colour}"/>'
            yield pen.text(at + 12, 46, who, size=11)
            at += 30 + 6.2 * len(who)


def drawn_panel(
    pen: Pen, name: str, results: list[Result], x: float, y: float, decades: tuple[int, int]
) -> Iterable[str]:
    left, right, top, bottom = x + LEFT, x + WIDE - RIGHT, y + TOP, y + HIGH - BOTTOM
    sizes = sorted({one.size for one in results})
    start, end = math.log(sizes[0]), math.log(sizes[-1])
    low, high = decades

    def across(size: int) -> float:
        return left + (right - left) * (math.log(size) - start) / (end - start)

    def up(milliseconds: float) -> float:
        return bottom - (bottom - top) * (math.log10(milliseconds) - low) / (high - low)

    title, _, more = name.partition(", ")
    yield pen.text(left, y + 20, title, size=11, weight=600)
    yield pen.text(left, y + 33, more, size=8.5, fill=LIGHT.faint)
    for decade in range(low, high + 1):
        yield line(left, up(10**decade), right, up(10**decade), LIGHT.line)
        if decade % 2 == 0:
            measured = f"{10**decade:,.2f}".rstrip("0").rstrip(".")
            yield pen.text(
                left - 5, up(10**decade) + 3, measured, size=9, fill=LIGHT.faint, anchor="end"
            )
    for size in (sizes[0], sizes[-1]):
        anchor = "start" if size == sizes[0] else "end"
        yield pen.text(
            across(size), bottom + 14, f"{size:,}", size=9, fill=LIGHT.faint, anchor=anchor
        )
    for who, colour in reversed(COLOURS.items()):  # ours last, on top
        points = [(across(one.size), up(one.milliseconds)) for one in results if one.who == who]
        if points:
            path = "M" + "L".join(f"{px(a)} {px(b)}" for a, b in points)
            thick = "2" if who == "ours" else "1.4"
            yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"/>'
        for a, b in points:
            yield f'<circle cx="{px(a)}" cy="{px(b)}" r="2" fill="{colour}"/>'
