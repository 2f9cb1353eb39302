"""The gradient of every pair as bars, as an SVG."""

import math
from typing import Unpack

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.export import drawing_data_types as data
from lossprism.explorer.export.caption import figure_text_of, pair_numbers
from lossprism.explorer.export.figure.appearance import Look
from lossprism.explorer.export.figure.axis_labels import Axis, column_names
from lossprism.explorer.export.figure.header_and_caption import document, header
from lossprism.explorer.export.figure.svg_elements import Pen, cross, line, rectangle
from lossprism.explorer.export.figure.text_layout import clipped, wrapped
from lossprism.explorer.runtime.number_format import display_number

MAX_BARS_NAMED = 5


def bars_figure(exploration: Exploration, **look: Unpack[Look]) -> str:
    """Draw the gradient of every pair as bars, in the order of `scenario.view`, with a
    caption."""
    pen = Pen.of(**look)
    width, tall, left = pen.width(860.0), 260.0, pen.margin + 62
    wide = width - left - pen.margin
    legend = figure_text_of(exploration, pen.language)
    parts, top = header(legend, pen, width)
    if pen.picture_only:
        drawn, bottom = _bars(exploration, pen, left, top, wide, tall)
        return document(legend, pen, width, drawn, bottom)
    top += 8
    kind = "projected" if exploration.is_projected else "score"
    note = f"{pen.say(f'ui.gradient_note.{kind}')} {pen.say('ui.gradient_sign')}"
    notes = wrapped(note, width - 2 * pen.margin, pen.fit(12))
    parts += [
        pen.text(pen.margin, top, pen.say(f"ui.gradient_per_pair.{kind}"), size=15, weight=600),
        *(
            pen.text(pen.margin, top + 19 + 16 * place, line, size=12, fill=pen.palette.faint)
            for place, line in enumerate(notes)
        ),
    ]
    drawn, bottom = _bars(exploration, pen, left, top + 22 + 16 * len(notes), wide, tall)
    return document(legend, pen, width, parts + drawn, bottom + 14)


def _bars(
    e: Exploration, pen: Pen, x: float, y: float, wide: float, tall: float
) -> tuple[list[str], float]:
    gradient = [float(g) for g in e.pair_gradient]
    numbers, palette = pair_numbers(e), pen.palette
    order = _bar_order(e)
    finite = [abs(g) for g in gradient if math.isfinite(g)]
    most = max(finite, default=0.0)
    zero, reach = y + tall / 2, tall / 2 - 4
    out: list[str] = []
    for part in (1, 0, -1) if most else (0,):
        at = zero - part * reach
        out.append(line(x, at, x + wide, at, palette.line))
        label = display_number(part * most, 3)
        style = {"size": 11.5, "fill": palette.faint, "anchor": "end"}
        out.append(pen.text(x - 8, at + 4, label, **style))
    width = wide / len(order)
    for place, pair in enumerate(order):
        g, left = gradient[pair], x + place * width + width * 0.12
        if not math.isfinite(g):
            out.append(cross(left, zero - 7, max(width * 0.76, 8), 14, palette.broken))
            continue
        size = abs(g) / most * reach if most else 0.0
        top = zero - size if g > 0 else zero
        fill = palette.up if g > 0 else palette.down
        out.append(rectangle(left, top, width * 0.76, size, class_="bar", fill=fill))
    pairs = data.Axis("pair", order, order, sentences=[])
    axis = Axis(e, pairs, len(order), pen.language)
    below, bottom = column_names(pen, axis, x, y + tall, wide, words=False)
    if pen.picture_only:
        return out + below, bottom
    largest, bottom = _largest_gradients(e, pen, gradient, numbers, bottom + 28, x + wide)
    return out + below + largest, bottom


def _bar_order(e: Exploration) -> list[int]:
    """Return the page's order of bars: sorted by the view, ties by similarity."""
    places = list(range(len(e.batch)))
    if e.scenario.view.order == "entry":
        return places
    labels, scores = e.batch.labels.tolist(), e.batch.scores.detach().tolist()
    if e.scenario.view.order == "score":
        return sorted(places, key=scores.__getitem__)
    return sorted(places, key=lambda pair: (labels[pair], scores[pair]))


def _largest_gradients(
    e: Exploration, pen: Pen, gradient: list[float], numbers: list[int], y: float, right: float
) -> tuple[list[str], float]:
    """Describe the pairs with the largest gradients."""
    palette, pairs = pen.palette, e.batch.pairs
    ranked = sorted(
        (pair for pair, g in enumerate(gradient) if g and math.isfinite(g)),
        key=lambda pair: -abs(gradient[pair]),
    )
    out: list[str] = []
    for pair in ranked[:MAX_BARS_NAMED]:
        fill = palette.up if gradient[pair] > 0 else palette.down
        look = {"size": 12.5, "anchor": "end", "weight": 600, "fill": fill}
        out.append(pen.text(pen.margin + 58, y, display_number(gradient[pair], 3), **look))
        look = {"size": 12.5, "anchor": "end", "fill": palette.faint}
        out.append(pen.text(pen.margin + 90, y, str(numbers[pair]), **look))
        room = (right - pen.margin - 124) / 2
        first = clipped(pairs.first[pair], room, 12.5)
        second = clipped(pairs.second[pair], room, 12.5)
        out.append(pen.text(pen.margin + 100, y, first, size=12.5, kind="bar-name"))
        out.append(pen.text(pen.margin + 116 + room, y, second, size=12.5, fill=palette.faint))
        y += 20
    return out, y - 8
