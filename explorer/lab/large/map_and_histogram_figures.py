"""The map and the histogram of a large batch as SVGs for a slide, drawn without a browser."""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from lossprism.explorer.export.caption import FigureText, parameter_words
from lossprism.explorer.export.figure.appearance import Look
from lossprism.explorer.export.figure.cells import Cells, drawn_cells
from lossprism.explorer.export.figure.header_and_caption import document, header
from lossprism.explorer.export.figure.legend import legend
from lossprism.explorer.export.figure.matrix import LEGEND_GAP
from lossprism.explorer.export.figure.svg_elements import Pen, line, rectangle
from lossprism.explorer.export.figure.text_layout import clean, width_of
from lossprism.explorer.export.palette import Palette, ramp_table
from lossprism.explorer.lab.large.large_batch_remarks import SOUGHT_AXIS
from lossprism.explorer.lab.large.large_batch_session import LargeSession
from lossprism.explorer.lab.large.loss_matrix_methods import parameters_of
from lossprism.explorer.lab.large.score_histogram_by_label import histogram
from lossprism.explorer.lab.large.window_blocks import Blocks, Window
from lossprism.explorer.locale import grouped, say, spelled, title_word
from lossprism.explorer.runtime.number_format import display_number
from lossprism.losses import LOSSES

FACETS = ("total", "share", "largest", "masked")
MAP_SIDE, MIN_MAP_SIDE, GUTTER = 560.0, 80.0, 76.0
# Along an axis: most names of labels, or bands where there are more labels.
MAX_LABELS, BANDS = 24, 6
RIDGE_DISTANCE, MAX_RIDGE_HEIGHT, RIDGE_WIDTH = 46.0, 62.0, 620.0


def legend_of(
    session: LargeSession, loss: str, parameters: Mapping[str, Any], language: str, origin: str
) -> FigureText:
    """Return the texts above and below a figure; `origin` names the source of the pairs."""
    spec = LOSSES[loss]
    parts = [say(language, "figure_text.loss", loss=display_number(session.loss, 6))]
    kind = SOUGHT_AXIS.get(session.matrix.axes[0])
    wrong, compared = session.violated
    if kind:
        values = {"part": session.nearest, "all": session.shape[0]}
        parts.append(say(language, f"figure_text.first_{kind}", **values))
    elif compared:
        parts.append(say(language, "figure_text.violated", part=wrong, all=compared))
    moved = parameters_of(loss)
    rules = [parameter_words(language, one, parameters[one.name]) for one in moved]
    caption = [" · ".join(parts), " · ".join(rules), clean(origin)]
    title = spelled(language, "loss", title_word(spec))
    return FigureText(title, spec.formula_at(**parameters) or "", [one for one in caption if one])


def map_figure(
    session: LargeSession, texts: FigureText, window: Window, facet: str, **look: Unpack[Look]
) -> str:
    """Draw a window of the map, its blocks coloured by a facet, with the labels along both
    sides."""
    pen = Pen.of(**look)
    blocks = session.matrix.blocks(window)
    cells = _cells(blocks, facet, pen.palette)
    ratio = cells.rows / cells.columns
    x, around = pen.margin + GUTTER, 2 * pen.margin + GUTTER + LEGEND_GAP + pen.size.legend
    side = min(MAP_SIDE, pen.width(around + MAP_SIDE) - around)
    wide, tall = side * min(1, 1 / ratio), side * min(1, ratio)
    wide, tall = max(wide, MIN_MAP_SIDE), max(tall, MIN_MAP_SIDE)
    width = pen.width(around + wide)
    parts, y = header(texts, pen, width, step=pen.say("large.map"))
    parts += drawn_cells(pen, cells, (x, y, wide, tall))
    parts.append(rectangle(x, y, wide, tall, fill="none", stroke=pen.palette.line))
    parts += _side(session, pen, 0, blocks.rows, x, y, tall)
    parts += _side(session, pen, 1, blocks.columns, x, y + tall, wide)
    beside, bottom = legend(pen, cells, x + wide + LEGEND_GAP, y)
    part = pen.say("large.part", rows=_places(blocks.rows), columns=_places(blocks.columns))
    caption = [texts.caption[0], part, *texts.caption[1:]]
    texts = FigureText(texts.title, texts.formula, caption)
    return document(texts, pen, width, [*parts, *beside], max(bottom, y + tall + 44))


def _places(edges: np.ndarray) -> str:
    """First and last of the rows or columns between these edges, counted from 1."""
    return f"{grouped(int(edges[0]) + 1)}–{grouped(int(edges[-1]))}"


def _cells(blocks: Blocks, facet: str, palette: Palette) -> Cells:
    """The colours that the page has for the facet."""
    area = np.diff(blocks.rows)[:, None] * np.diff(blocks.columns)[None, :]
    taking_part = blocks.present / area
    masked = blocks.present == 0
    facets = {
        "total": blocks.total,
        "share": blocks.share,
        "largest": blocks.largest,
        "masked": taking_part,
    }[facet]
    values = np.where(masked, -np.inf, facets)
    seen = values[np.isfinite(values)]
    least, largest = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
    ramp, single = "sequential", bool(area.max() == 1)
    if facet == "masked":
        ramp, least, largest = "mask", 0.0, 1.0
    elif facet == "share":
        least = 0.0
    elif (facet == "largest" or single) and least < 0 < largest:
        largest = max(-least, largest)
        ramp, least = "diverging", -largest
    shares = facet in ("share", "masked")
    called = f"large.facet.{facet}"
    return Cells(palette, values, masked, ramp, least, largest, called, of_shares=shares)


def _side(
    session: LargeSession, pen: Pen, axis: int, edges: np.ndarray, x: float, y: float, length: float
) -> list[str]:
    """Draw the labels along the rows (0) or the columns (1), and the title of the axis."""
    matrix = session.matrix
    behind = np.asarray((matrix.row_pairs, matrix.column_pairs)[axis])[edges[0] : edges[-1]]
    labels = session.batch.labels[behind]
    starts = np.append(0, 1 + np.flatnonzero(labels[1:] != labels[:-1]))
    if len(starts) <= MAX_LABELS:
        middles = (starts + np.append(starts[1:], len(labels))) / 2
        marks = list(zip(middles / len(labels), labels[starts], strict=True))
    else:
        shares = (np.arange(BANDS) + 0.5) / BANDS
        marks = list(zip(shares, labels[(shares * len(labels)).astype(int)], strict=True))
    name = matrix.axes[axis]
    title = pen.say("ui.axis", what=pen.say(f"axis.{name}"), count=len(labels))
    if name == "pair":
        title += " · " + pen.say("large.higher" if axis else "large.lower")
    faint = pen.palette.faint
    out, last = [], -np.inf
    for share, label in marks:
        at = float(share) * length
        tick = display_number(float(label), 3)
        if at - last < (width_of(tick, 11.5) + 8 if axis else 14):
            continue
        last = at
        if axis:
            out.append(pen.text(x + at, y + 16, tick, size=11.5, fill=faint, anchor="middle"))
        else:
            out.append(pen.text(x - 7, y + at + 4, tick, size=11.5, fill=faint, anchor="end"))
    middle = length / 2
    if axis:
        named = pen.text(x + middle, y + 36, title, size=12.5, fill=faint, anchor="middle")
    else:
        place = pen.margin + 10, y + middle
        named = pen.text(*place, title, size=12.5, fill=faint, anchor="middle", turn=-90.0)
    return [*out, named]


def histogram_figure(session: LargeSession, texts: FigureText, **look: Unpack[Look]) -> str:
    """Draw pairs by similarity, a ridge for each label, the lowest at the bottom, on one scale."""
    pen = Pen.of(**look)
    seen, faint = histogram(session.batch), pen.palette.faint
    names = [_range_name(pen, low, high) for low, high in seen.groups]
    x = pen.margin + 14 + max(width_of(name, pen.fit(12)) for name in names)
    width = pen.width(x + RIDGE_WIDTH + pen.margin)
    across = min(RIDGE_WIDTH, width - x - pen.margin)
    parts, y = header(texts, pen, width, step=pen.say("large.histogram"))
    low, high = float(seen.edges[0]), float(seen.edges[-1])
    places = x + (seen.edges - low) / (high - low) * across
    unit = MAX_RIDGE_HEIGHT / max(int(seen.counts.max()), 1)
    y += MAX_RIDGE_HEIGHT - RIDGE_DISTANCE
    colours = ramp_table(pen.palette.diverging)
    for row, (name, counts) in enumerate(zip(reversed(names), seen.counts[::-1], strict=True)):
        base = y + (row + 1) * RIDGE_DISTANCE
        share = 1 - row / max(len(names) - 1, 1) if len(names) > 1 else 0.5
        red, green, blue = colours[int(10 + 110 * share if share < 0.5 else 135 + 110 * share)]
        fill = f"#{red:02x}{green:02x}{blue:02x}"
        parts.append(line(x, base, x + across, base, pen.palette.line))
        for at in np.flatnonzero(counts):
            size = counts[at] * unit
            wide = max(places[at + 1] - places[at] - 0.5, 0.5)
            parts.append(rectangle(places[at], base - size, wide, size, class_="bar", fill=fill))
        parts.append(pen.text(x - 8, base - 4, name, size=12, fill=faint, anchor="end"))
    bottom = y + len(names) * RIDGE_DISTANCE
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        tick = display_number(low + share * (high - low), 3)
        place = x + share * across, bottom + 18
        parts.append(pen.text(*place, tick, size=11.5, fill=faint, anchor=anchor))
    return document(texts, pen, width, parts, bottom + 34)


def _range_name(pen: Pen, low: float, high: float) -> str:
    if low == high:
        return display_number(low, 3)
    ends = {"low": display_number(low, 3), "high": display_number(high, 3)}
    return pen.say("large.from_to", **ends)
