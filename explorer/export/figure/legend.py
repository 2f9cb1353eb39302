"""Legend of a matrix: its colour ramp with three numbers, and the marks in its cells."""

from collections.abc import Sequence

from lossprism.explorer.export.figure.cells import Cells
from lossprism.explorer.export.figure.svg_elements import Pen, cross, rectangle
from lossprism.explorer.export.palette import channels, ink_on
from lossprism.explorer.runtime.number_format import display_number, percent

LEGEND_HEIGHT = 150.0


def legend(pen: Pen, cells: Cells, x: float, y: float) -> tuple[list[str], float]:
    """Draw the legend from (x, y) on, and return its end."""
    palette, faint = pen.palette, pen.palette.faint
    if cells.values.size == 1:  # its number is written into it
        return [], y
    out = [pen.text(x, y + 10, pen.say(cells.called), size=12, fill=faint)]
    y += 20
    if cells.two_tone:
        for word, colour in (("yes", palette.mask[1]), ("no", palette.mask[0])):
            out += _swatch(pen, x, y, colour, pen.say(f"ui.{word}"))
            y += 21
        return out, y
    out.append(rectangle(x, y, 13, LEGEND_HEIGHT, fill="url(#lp-ramp)", stroke=palette.line))
    out.append(_ramp(cells.stops))
    for part in (0.0, 0.5, 1.0):
        value = cells.value_at(1 - part)
        label = percent(value) if cells.of_shares else display_number(value, 3)
        at = y + 5 + part * (LEGEND_HEIGHT - 6) + 3
        out.append(pen.text(x + 20, at, label, size=12, kind="legend"))
    y += LEGEND_HEIGHT + 14
    if cells.masked.any():
        out += _swatch(pen, x, y, "url(#lp-hatch)", pen.say("legend.masked"))
        y += 21
    if cells.broken.any():
        out += _swatch(pen, x, y, palette.broken, pen.say("legend.broken"))
        out.append(cross(x, y, 13, 13, ink_on(channels(palette.broken))))
        y += 21
    return out, y


def _swatch(pen: Pen, x: float, y: float, fill: str, word: str) -> list[str]:
    return [
        rectangle(x, y, 13, 13, class_="swatch", fill=fill, stroke=pen.palette.line),
        pen.text(x + 20, y + 11, word, size=12),
    ]


def _ramp(stops: Sequence[str]) -> str:
    parts = [
        f'<stop offset="{place / (len(stops) - 1):.4f}" stop-color="{stop}"/>'
        for place, stop in enumerate(reversed(stops))
    ]
    turned = 'x1="0" y1="0" x2="0" y2="1"'
    return f'<linearGradient id="lp-ramp" {turned}>{"".join(parts)}</linearGradient>'
