"""The matrix of a step, as an SVG for a slide, without a browser.

It shows the page's content (the same arrays of `explorer.export.drawing_data_of_exploration`, the
same colours), with a caption on the origin of the numbers. It needs no font, script or other file.
"""

import math
from typing import Unpack

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.export.caption import FigureText, figure_text_of, reference_values_of
from lossprism.explorer.export.drawing_data_of_exploration import picture
from lossprism.explorer.export.drawing_data_types import Shown, Step
from lossprism.explorer.export.figure.appearance import Look
from lossprism.explorer.export.figure.axis_labels import (
    LABEL_ROOM,
    NAME_ROOM,
    NUMBER_ROOM,
    TEXT_OF_CELL,
    TICKS_ROOM,
    Axis,
    column_names,
    gutter_of,
    row_names,
)
from lossprism.explorer.export.figure.cells import Cells, cells_of, drawn_cells
from lossprism.explorer.export.figure.header_and_caption import document, header
from lossprism.explorer.export.figure.legend import legend
from lossprism.explorer.export.figure.svg_elements import Pen, attributes, line, rectangle
from lossprism.explorer.export.figure.text_layout import clean, px, width_of
from lossprism.explorer.runtime.number_format import display_number

WIDEST, TALLEST, LARGEST_CELL, STRIP = 560.0, 560.0, 64.0, 44.0
LEGEND_GAP = 20.0
MIN_WORDS = 70.0  # beside a row of a figure on paper; with less room it has ticks


def matrix_figure(
    exploration: Exploration,
    *,
    origin: str = "",
    shown: Shown | None = None,
    most_rectangles: int | None = None,
    **look: Unpack[Look],
) -> str:
    """Draw the step and facet that `scenario.view` chooses, as an SVG with legend and caption.

    `origin` is the last line of the caption, in place of the scenario's description of the data,
    and `shown` other cells of that facet, in place of the step's; `most_rectangles` is as for
    `drawn_cells`.
    """
    drawn = picture(exploration)
    shown, step = shown or drawn.shown, drawn.steps[drawn.chosen]
    pen = Pen.of(**look)
    legend_text = figure_text_of(exploration, pen.language, clean(origin))
    if step.value is not None:
        is_loss = drawn.chosen == len(drawn.steps) - 1
        return _number_figure(exploration, legend_text, pen, step, is_loss)
    cells = cells_of(exploration, shown, pen.palette)
    rows = Axis(exploration, shown.row_axis, shown.all_rows, pen.language)
    columns = Axis(exploration, shown.column_axis, shown.all_columns, pen.language)
    gutter, words, wide, tall = _layout(pen, rows, cells)
    beside = LEGEND_GAP + pen.size.legend
    width = pen.width(2 * pen.margin + gutter + wide + beside)
    name = shown.name
    if cells.facet != "value":
        name = f"{name} · {pen.say(cells.called)}"
    parts, y = header(legend_text, pen, width, shown.latex, name)
    x = pen.margin + gutter
    if cells.values.size == 0:
        parts.append(pen.text(x, y + 24, pen.say("figure_text.no_cells"), size=14))
        return document(legend_text, pen, width, parts, y + 44)
    parts += drawn_cells(pen, cells, (x, y, wide, tall), most_rectangles)
    frame = {"class_": "frame", "fill": "none", "stroke": pen.palette.line}
    parts.append(rectangle(x, y, wide, tall, **frame))
    if cells.rows > 1:
        parts += row_names(pen, rows, x, y, tall, gutter, words)
    # Where both axes count the same, the words beside the rows serve the columns too.
    own_words = cells.rows == 1 or rows.axis != columns.axis
    below, bottom = column_names(pen, columns, x, y + tall, wide, words=own_words)
    beside, legend_bottom = legend(pen, cells, x + wide + LEGEND_GAP, y)
    parts += [*below, *beside]
    bottom = max(bottom, legend_bottom)
    if (cells.rows, cells.columns) != (rows.count, columns.count):
        every = f"{rows.count} × {columns.count}"
        cut = pen.say("ui.cut", rows=cells.rows, columns=cells.columns, all=every)
        parts.append(pen.text(x, bottom + 14, cut, size=12, fill=pen.palette.faint))
        bottom += 20
    return document(legend_text, pen, width, parts, bottom + 12)


def _number_figure(e: Exploration, legend: FigureText, pen: Pen, step: Step, is_loss: bool) -> str:
    """Draw a step that is one number: large, and the loss with its reference values."""
    width = pen.width(720.0)
    parts, y = header(legend, pen, width, step.latex, step.name)
    y += 66
    style = {"size": 64, "weight": 650, "anchor": "middle", "kind": "number"}
    parts.append(pen.text(width / 2, y, display_number(float(step.value or 0), 6), **style))
    y += 20
    across = min(420.0, width - 2 * pen.margin - 20)
    if is_loss and (drawn := _reference_values(e, pen, (width - across) / 2, y + 26, across)):
        parts += drawn
        y += 62
    return document(legend, pen, width, parts, y + 14)


def _reference_values(e: Exploration, pen: Pen, x: float, y: float, wide: float) -> list[str]:
    """Draw minimum, value at collapse and the loss on one line; nothing if only the loss is
    known."""
    palette = pen.palette
    known = [value for value in (e.loss, e.floor, e.collapse) if value is not None]
    known = [value for value in known if math.isfinite(value)]
    if len(known) < 2:
        return []
    least, reach = min(known), max(known) - min(known)

    def place(value: float) -> float:
        return x + wide * (0.04 + 0.92 * (value - least) / reach if reach else 0.5)

    out = [line(x, y, x + wide, y, palette.line)]
    taken = x
    for name, value in reference_values_of(e):
        if not math.isfinite(value):
            continue
        key = "collapse" if name == "collapse" else "floor"
        colour = getattr(palette, key)
        label = f"{pen.say(f'figure.{name}')} {display_number(value, 4)}"
        room = width_of(label, 13) + 12
        left = min(max(taken, place(value) - room / 2), x + wide - room + 12)
        out.append(rectangle(place(value) - 1.5, y - 8, 3, 16, class_=key, fill=colour))
        out.append(pen.text(left, y + 24, label, size=13, fill=colour, kind=key))
        taken = left + room
    if math.isfinite(e.loss):
        mark = {"class": "now", "cx": px(place(e.loss)), "cy": px(y), "r": "6"}
        out.append(f"<circle{attributes({**mark, 'fill': palette.accent})}/>")
    return out


def _layout(pen: Pen, rows: Axis, cells: Cells) -> tuple[float, float, float, float]:
    """Return the space beside the rows, that of their sentences, and the width and height of all
    cells."""
    if pen.size.inches is None:
        wide, tall = _size(cells.rows, cells.columns, WIDEST)
        return gutter_of(rows, pen, tall / max(cells.rows, 1)), NAME_ROOM, wide, tall
    room = pen.width(0) - 2 * pen.margin - LEGEND_GAP - pen.size.legend
    # Named rows need cells as tall as a line, and leave room for some words beside them.
    named = max(pen.size.smallest / TEXT_OF_CELL * cells.rows, room / 2)
    wide, tall = _size(cells.rows, cells.columns, named)
    least = NUMBER_ROOM + LABEL_ROOM + MIN_WORDS
    if cells.rows > 1 and rows.is_named(pen, tall / cells.rows) and room - wide >= least:
        words = room - wide - NUMBER_ROOM - (LABEL_ROOM if rows.of_pairs else 0)
        words = min(words, NAME_ROOM)
        return gutter_of(rows, pen, tall / cells.rows, words), words, wide, tall
    gutter = TICKS_ROOM if cells.rows > 1 else 0.0
    return gutter, 0.0, *_size(cells.rows, cells.columns, room - gutter)


def _size(rows: int, columns: int, widest: float) -> tuple[float, float]:
    """Return the size of a cell: a vector is a strip; a matrix has square cells, if they fit."""
    if rows == 0 or columns == 0:
        return widest, STRIP
    if rows == 1:
        return min(widest, columns * 2 * LARGEST_CELL), STRIP
    cell = min(widest / columns, TALLEST / rows, LARGEST_CELL)
    return max(48.0, cell * columns), max(48.0, cell * rows)
