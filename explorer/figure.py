"""A picture of an exploration that stands on its own: an SVG for a slide, without a browser.

It shows what the page's instruments show (the same arrays of `explorer.picture`, the same
colours), with a caption that says where the numbers come from. It needs no font, script or file
beside it. PNGs are made of it in the browser.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import torch

from explorer.caption import caption, pair_numbers, percent, shown_number, title_of
from explorer.explore import Exploration, explore
from explorer.locale import say
from explorer.picture import picture, value_range
from explorer.problem import Problem
from explorer.scenario import LONGEST_JSON, Scenario
from explorer.svg import (
    DARK,
    FONTS,
    LIGHT,
    MONO,
    Palette,
    Pen,
    attributes,
    channels,
    clean,
    clipped,
    cross,
    formula_width,
    ink_on,
    line,
    png,
    printable,
    px,
    ramp_table,
    rectangle,
    width_of,
    wrapped,
)

# Beyond this many rows or columns the cells are one embedded image, not a rectangle each.
MOST_RECTANGLES = 64
# Up to this many rows or columns each is named by its sentences; beyond, there are ticks.
MOST_NAMED = 24
WIDEST, TALLEST, LARGEST_CELL, STRIP = 560.0, 560.0, 64.0, 44.0
NAME_ROOM = 256.0  # for the sentences beside a row
MARGIN, LEGEND_WIDTH, LEGEND_HEIGHT = 30.0, 104.0, 150.0
# Items that belong to one pair each, and go by its number, as on the page.
PAIRED = ("pair", "level_pair", "query", "key", "view")
# A cell this wide has its number written into it.
ROOM_FOR_A_NUMBER = 42.0
MOST_BARS_NAMED = 5


def matrix_figure(
    exploration: Exploration, *, language: str = "en", dark: bool = False, origin: str = ""
) -> str:
    """The step and facet that `scenario.view` chooses, as an SVG with legend and caption.

    `origin` is the last line of the caption, in place of what the scenario says of the data.
    """
    made = picture(exploration)
    shown, step = made["shown"], made["steps"][made["chosen"]]
    pen = Pen(language, DARK if dark else LIGHT)
    if "value" in step:
        is_loss = made["chosen"] == len(made["steps"]) - 1
        return _number_figure(exploration, pen, step, is_loss, origin)
    cells = Cells(exploration, shown, pen.palette)
    rows = Axis(exploration, shown["row_axis"], shown["all_rows"], language)
    columns = Axis(exploration, shown["column_axis"], shown["all_columns"], language)
    wide, tall = _size(cells.rows, cells.columns)
    gutter = _gutter(rows)
    width = max(2 * MARGIN + gutter + wide + 20 + LEGEND_WIDTH, 720.0)
    parts, y = _head(exploration, pen, width, shown["latex"], shown["name"], cells.facet)
    x = MARGIN + gutter
    if cells.values.size == 0:
        parts.append(pen.text(x, y + 24, pen.say("figure_text.no_cells"), size=14))
        return _finished(exploration, pen, width, parts, y + 44, origin)
    parts += _drawn_cells(pen, cells, x, y, wide, tall)
    parts.append(rectangle(x, y, wide, tall, fill="none", stroke=pen.palette.line))
    if cells.rows > 1:
        parts += _row_names(pen, rows, x, y, tall, gutter)
    # Where both axes count the same, the words beside the rows serve the columns too.
    own_words = cells.rows == 1 or rows.said != columns.said
    below, bottom = _column_names(pen, columns, x, y + tall, wide, words=own_words)
    legend, legend_bottom = _legend(pen, cells, x + wide + 20, y)
    parts += [*below, *legend]
    bottom = max(bottom, legend_bottom)
    if (cells.rows, cells.columns) != (rows.count, columns.count):
        every = f"{rows.count} × {columns.count}"
        cut = pen.say("ui.cut", rows=cells.rows, columns=cells.columns, all=every)
        parts.append(pen.text(x, bottom + 14, cut, size=12, fill=pen.palette.faint))
        bottom += 20
    return _finished(exploration, pen, width, parts, bottom + 12, origin)


def _number_figure(e: Exploration, pen: Pen, step: dict, is_loss: bool, origin: str) -> str:
    """A step that is one number: large, and the loss with its landmarks."""
    width = 720.0
    parts, y = _head(e, pen, width, step["latex"], step["name"])
    y += 66
    said = {"size": 64, "weight": 650, "anchor": "middle", "kind": "number"}
    parts.append(pen.text(width / 2, y, shown_number(step["value"], 6), **said))
    y += 20
    if is_loss and (drawn := _landmarks(e, pen, width / 2 - 210, y + 26, 420)):
        parts += drawn
        y += 62
    return _finished(e, pen, width, parts, y + 14, origin)


def _landmarks(e: Exploration, pen: Pen, x: float, y: float, wide: float) -> list[str]:
    """Floor, collapse value and the loss on one line; nothing where only the loss is known."""
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
    for key, value, colour in (
        ("floor", e.floor, palette.floor),
        ("collapse", e.collapse, palette.collapse),
    ):
        if value is None or not math.isfinite(value):
            continue
        said = f"{pen.say(f'figure.{key}')} {shown_number(value, 4)}"
        room = width_of(said, 13) + 12
        left = min(max(taken, place(value) - room / 2), x + wide - room + 12)
        out.append(rectangle(place(value) - 1.5, y - 8, 3, 16, class_=key, fill=colour))
        out.append(pen.text(left, y + 24, said, size=13, fill=colour, kind=key))
        taken = left + room
    if math.isfinite(e.loss):
        said = {"class": "now", "cx": px(place(e.loss)), "cy": px(y), "r": "6"}
        out.append(f"<circle{attributes({**said, 'fill': palette.accent})}/>")
    return out


def bars_figure(exploration: Exploration, *, language: str = "en", dark: bool = False) -> str:
    """The gradient of every pair as bars, in the order of `scenario.view`, with a caption."""
    pen = Pen(language, DARK if dark else LIGHT)
    width, tall, left = 860.0, 260.0, MARGIN + 62
    wide = width - left - MARGIN
    parts, top = _head(exploration, pen, width)
    top += 8
    parts += [
        pen.text(MARGIN, top, pen.say("ui.gradient_per_pair"), size=15, weight=600),
        pen.text(MARGIN, top + 19, pen.say("ui.gradient_note"), size=12, fill=pen.palette.faint),
    ]
    drawn, bottom = _bars(exploration, pen, left, top + 38, wide, tall)
    return _finished(exploration, pen, width, parts + drawn, bottom + 14)


def write_figure(
    source: Scenario | str | Path,
    out: str | Path,
    *,
    kind: str = "matrix",
    language: str = "en",
    dark: bool = False,
) -> Path:
    """Explore a scenario and write its figure, "matrix" or "bars", to an .svg file.

    `source` is a scenario, a link (the whole address or the piece after its #), or the path of
    a .json file that holds a scenario.

    Raises:
        Problem: if there is no such scenario, or the file cannot be written as asked.
    """
    out = Path(out)
    if out.suffix.lower() != ".svg":
        raise Problem("figure_not_svg", name=out.name)
    if kind not in FIGURES:
        raise Problem("figure_kind", name=kind[:60], known=", ".join(FIGURES))
    return saved(FIGURES[kind](explore(read_scenario(source)), language=language, dark=dark), out)


def saved(drawn: str, out: Path) -> Path:
    """Write a figure to a file, and name the file."""
    try:
        out.write_text(drawn, encoding="utf-8")
    except OSError as error:
        raise Problem("figure_not_written", name=out, reason=error.strerror or error) from error
    return out


def read_scenario(source: Scenario | str | Path) -> Scenario:
    """The scenario that a link, an address with a link, or a .json file holds."""
    if isinstance(source, Scenario):
        return source
    text = str(source).strip()
    if "#" not in text and text.lower().endswith(".json"):
        return _scenario_in(Path(text).expanduser())
    return Scenario.from_link(text.rpartition("#")[2])


def _scenario_in(path: Path) -> Scenario:
    try:
        if path.stat().st_size > LONGEST_JSON:
            raise Problem("scenario_file", name=path.name, reason=f"> {LONGEST_JSON:,} bytes")
        chosen = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise Problem("file_unreadable", name=path) from error
    except ValueError as error:
        raise Problem("scenario_file", name=path.name, reason=error) from error
    return Scenario.from_json(chosen)


FIGURES = {"matrix": matrix_figure, "bars": bars_figure}


# ---- Cells ---------------------------------------------------------------------------------


class Cells:
    """The chosen facet of the chosen step as numbers, colours and marks."""

    def __init__(self, exploration: Exploration, shown: dict, palette: Palette) -> None:
        self.palette = palette
        self.rows, self.columns = shown["rows"], shown["columns"]
        self.boolean = shown["boolean"]
        wanted = exploration.scenario.view.facet
        self.facet = wanted if wanted == "value" or shown[wanted] is not None else "value"
        mask = None if shown["mask"] is None else self._unpacked(shown["mask"], np.uint8)
        self.two_tone = self.facet == "mask" or self.boolean
        self.values = (
            mask.astype(np.float32)
            if self.facet == "mask"
            else self._unpacked(shown[self.facet], np.float32)
        )
        hatched = mask is not None and shown["hatched"] and not self.two_tone
        self.masked = mask == 0 if hatched else np.zeros(self.values.shape, dtype=bool)
        self.absent = np.isneginf(self.values)
        self.broken = np.isnan(self.values) | np.isposinf(self.values)
        # As on the page: the meaning of a quantity chooses its colours, not its values.
        signed = self.facet == "gradient" or (self.facet == "value" and shown["signed"])
        self.least, self.largest = (0.0, 1.0) if self.two_tone else self._range(signed)
        self.ramp = "mask" if self.two_tone else "diverging" if signed else "sequential"
        self.stops = getattr(palette, self.ramp)

    def _unpacked(self, text: str, kind: type) -> np.ndarray:
        flat = np.frombuffer(base64.b64decode(text), dtype=kind)
        return flat.reshape(self.rows, self.columns)

    def _range(self, signed: bool) -> tuple[float, float]:
        finite = torch.from_numpy(self.values[np.isfinite(self.values)])
        least, largest = value_range(finite, signed)
        return (0.0 if self.facet == "weight" else least), largest

    def colours(self) -> np.ndarray:
        """[rows, columns, 4] bytes: the ramp, the colour of broken cells, clear where absent."""
        factor = 255 / (self.largest - self.least) if self.largest > self.least else 0.0
        finite = np.where(np.isfinite(self.values), self.values.astype(np.float64), self.least)
        shade = (finite - self.least) * factor + 0.5
        painted = ramp_table(self.stops)[shade.clip(0, 255).astype(int)]
        painted[self.broken] = channels(self.palette.broken)
        alpha = np.where(self.absent, 0, 255)[..., None]
        return np.concatenate([painted, alpha], axis=2).astype(np.uint8)

    def number(self, row: int, column: int) -> str:
        value = float(self.values[row, column])
        return percent(value) if self.facet == "weight" else shown_number(value, 3)


def _drawn_cells(pen: Pen, cells: Cells, x: float, y: float, w: float, h: float) -> list[str]:
    if max(cells.rows, cells.columns) > MOST_RECTANGLES:
        return _cells_as_image(cells, x, y, w, h)
    colours = cells.colours()
    wide, tall = w / cells.columns, h / cells.rows
    painted, hatched, marks, numbers = [], [], [], []
    for row, column in np.ndindex(cells.rows, cells.columns):
        left, top = x + column * wide, y + row * tall
        *rgb, alpha = (int(part) for part in colours[row, column])
        colour = "#{:02x}{:02x}{:02x}".format(*rgb) if alpha else "none"
        painted.append(rectangle(left, top, wide, tall, class_="cell", fill=colour))
        masked = cells.masked[row, column]
        if masked:
            hatched.append(rectangle(left, top, wide, tall, class_="masked", fill="url(#lp-hatch)"))
        ink = pen.palette.ink if not alpha else ink_on(rgb)
        broken = cells.broken[row, column]
        roomy = wide >= ROOM_FOR_A_NUMBER and tall >= 20
        if roomy and not masked and not cells.two_tone:
            said, size = cells.number(row, column), min(14.0, wide / 4)
            size *= min(1.0, (wide - 4) / width_of(said, size))
            style = {"fill": ink, "anchor": "middle", "kind": "broken" if broken else "cell-number"}
            middle = left + wide / 2, top + tall / 2 + size * 0.35
            numbers.append(pen.text(*middle, said, size=size, **style))
        elif broken:
            marks.append(cross(left, top, wide, tall, ink))
    crisp = '<g shape-rendering="crispEdges">'
    return [crisp, *painted, *hatched, "</g>", *marks, *numbers]


def _cells_as_image(cells: Cells, x: float, y: float, w: float, h: float) -> list[str]:
    """Colours as one image; the hatch shows through a second one, so that it stays fine."""

    def image(pixels: np.ndarray, kind: str) -> str:
        said = {
            "class": kind,
            "x": px(x),
            "y": px(y),
            "width": px(w),
            "height": px(h),
            "preserveAspectRatio": "none",
            "style": "image-rendering:pixelated",
            "image-rendering": "optimizeSpeed",
            "href": "data:image/png;base64," + base64.b64encode(png(pixels)).decode(),
        }
        return f"<image{attributes(said)}/>"

    out = [image(cells.colours(), "cells")]
    if cells.masked.any():
        out.append('<mask id="lp-masked">')
        out.append(image(np.where(cells.masked, 255, 0).astype(np.uint8), "masked"))
        out.append("</mask>")
        out.append(rectangle(x, y, w, h, fill="url(#lp-hatch)", mask="url(#lp-masked)"))
    return out


# ---- Names of rows and columns -------------------------------------------------------------


class Axis:
    """What stands beside the rows or below the columns: `said` as the picture has it."""

    def __init__(self, exploration: Exploration, said: dict, count: int, language: str) -> None:
        self.exploration, self.said, self.count, self.language = exploration, said, count, language
        self.name, self.items = said["name"], said["items"]
        self.pairs, self.sentences = said["pairs"], said["sentences"]
        self.numbers = pair_numbers(exploration)
        self.labels = exploration.batch.labels.tolist()
        self.scores = exploration.batch.scores.detach().tolist()
        self.of_pairs = self.name in ("pair", "level_pair")

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def sorted_by(self) -> str:
        """The order in which the items stand: "label", "score", or "entry"."""
        order = self.exploration.scenario.view.order
        if order == "entry" or self.name == "level" or not self.pairs or min(self.pairs) < 0:
            return "entry"
        keys = [self._sorting(order)[pair] for pair in self.pairs]
        return order if keys == sorted(keys) else "entry"

    def _sorting(self, order: str) -> list[float]:
        return self.labels if order == "label" else self.scores

    @property
    def named(self) -> bool:
        """Whether there are few enough to be named by their sentences."""
        behind = (*self.pairs, *self.sentences)
        return len(self) <= MOST_NAMED and any(item >= 0 for item in behind)

    def fragment(self, place: int, room: float, size: float) -> str:
        """The words behind a row or column as far as there is room, "" for none."""
        batch = self.exploration.batch.pairs
        if place < len(self.sentences) and self.sentences[place] >= 0:
            return clipped(batch.sentences[self.sentences[place]], room, size)
        if place < len(self.pairs) and self.pairs[place] >= 0:
            first, second = batch.first[self.pairs[place]], batch.second[self.pairs[place]]
            room -= size  # for what stands between them
            half = max(room / 2, room - width_of(clean(second[:400]), size))
            first = clipped(first, half, size)
            return f"{first} | {clipped(second, room - width_of(first, size), size)}"
        return ""

    def number(self, place: int) -> str:
        """The number a person knows the row by: that of its pair where it has one of its own."""
        pair = self.pairs[place] if place < len(self.pairs) else -1
        paired = self.name in PAIRED and pair >= 0
        return str(self.numbers[pair] if paired else self.items[place] + 1)

    def label(self, place: int) -> str:
        return shown_number(self.labels[self.pairs[place]], 3)

    def key(self, place: int) -> str:
        """What the row is sorted by, for a tick: its label, its similarity, its number."""
        if self.sorted_by == "entry":
            return self.number(place)
        if self.sorted_by == "label":
            return self.label(place)
        return shown_number(self.scores[self.pairs[place]], 2)

    def title(self) -> str:
        if not self.name:
            return ""
        said = {"what": say(self.language, f"axis.{self.name}"), "count": self.count}
        if self.sorted_by == "entry":
            return say(self.language, "ui.axis", **said)
        order = say(self.language, f"order.{self.sorted_by}")
        return say(self.language, "figure_text.axis_sorted", order=order, **said)

    def ticks(self) -> list[tuple[float, float, str]]:
        """Where along the axis (0 to its length) there is a mark, and where which text stands."""
        keys = [self.key(place) for place in range(len(self))]
        if self.sorted_by == "label":
            groups = [(key, len(list(members))) for key, members in itertools.groupby(keys)]
            if len(groups) <= 12:  # a mark where a label ends, the label in the middle
                ends = itertools.accumulate(size for _, size in groups)
                return [
                    (end, end - size / 2, key)
                    for end, (key, size) in zip(ends, groups, strict=True)
                ]
        most = MOST_NAMED if len(self) <= MOST_NAMED else 9
        step = next(step for step in _round_steps() if len(self) / step <= most)
        return [(at + 0.5, at + 0.5, keys[at]) for at in range(step - 1, len(self), step)]


def _round_steps() -> itertools.chain:
    return itertools.chain.from_iterable((10**k, 2 * 10**k, 5 * 10**k) for k in range(9))


# ---- The parts of a matrix -----------------------------------------------------------------


def _gutter(axis: Axis) -> float:
    """The room that the names of the rows need."""
    if len(axis) <= 1:
        return 0.0
    if not axis.named:
        return 58.0
    widest = max(width_of(axis.fragment(at, NAME_ROOM, 12), 12) for at in range(len(axis)))
    return 66 + widest + (50 if axis.of_pairs else 0)


def _size(rows: int, columns: int) -> tuple[float, float]:
    """A vector is a strip; a matrix is square in the cell, as far as the room goes."""
    if rows == 0 or columns == 0:
        return WIDEST, STRIP
    if rows == 1:
        return min(WIDEST, columns * 2 * LARGEST_CELL), STRIP
    cell = min(WIDEST / columns, TALLEST / rows, LARGEST_CELL)
    return max(48.0, cell * columns), max(48.0, cell * rows)


def _row_names(pen: Pen, axis: Axis, x: float, y: float, tall: float, gutter: float) -> list[str]:
    faint, cell = pen.palette.faint, tall / len(axis)
    turned = {"size": 12.5, "fill": faint, "anchor": "middle", "turn": -90.0}
    out = [pen.text(MARGIN + 10, y + tall / 2, axis.title(), **turned)]
    if not axis.named:
        for mark, at, key in axis.ticks():
            out.append(line(x - 4, y + mark * cell, x, y + mark * cell, faint))
            said = {"size": 11.5, "fill": faint, "anchor": "end"}
            out.append(pen.text(x - 7, y + at * cell + 4, key, **said))
        return out
    size = min(12.0, cell * 0.62)
    small = {"size": size, "fill": faint, "anchor": "end"}
    left, right = x - gutter + 26, x - 8
    for place in range(len(axis)):
        base = y + (place + 0.5) * cell + size * 0.35
        if axis.of_pairs:
            out.append(pen.text(right, base, f"y = {axis.label(place)}", **small))
        words = axis.fragment(place, NAME_ROOM, size)
        out.append(pen.text(left + 18, base, axis.number(place), **small))
        out.append(pen.text(left + 24, base, words, size=size, kind="row-name"))
    return out


def _column_names(
    pen: Pen, axis: Axis, x: float, y: float, wide: float, *, words: bool
) -> tuple[list[str], float]:
    """Ticks, or numbers and (with `words`) sentences, and the name of the axis below."""
    if not axis.name:
        return [], y + 8
    cell, said = wide / len(axis), {"fill": pen.palette.faint, "anchor": "middle"}
    out, bottom = [], y + 20
    if len(axis) > MOST_NAMED:
        for mark, at, key in axis.ticks():
            out.append(line(x + mark * cell, y, x + mark * cell, y + 4, pen.palette.faint))
            out.append(pen.text(x + at * cell, y + 17, key, size=11.5, **said))
    else:
        size = min(12.0, cell * 0.62)
        turned = {"size": size, "anchor": "end", "turn": -90.0, "kind": "column-name"}
        for place in range(len(axis)):
            middle = x + (place + 0.5) * cell
            out.append(pen.text(middle, y + 16, axis.number(place), size=size, **said))
            if words and axis.named:
                fragment = axis.fragment(place, 168, size)
                out.append(pen.text(middle + size * 0.35, y + 24, fragment, **turned))
                bottom = max(bottom, y + 28 + 1.08 * width_of(fragment, size))
    out.append(pen.text(x + wide / 2, bottom + 16, axis.title(), size=12.5, **said))
    return out, bottom + 22


def _legend(pen: Pen, cells: Cells, x: float, y: float) -> tuple[list[str], float]:
    palette, faint = pen.palette, pen.palette.faint
    if cells.values.size == 1:  # its number is written into it
        return [], y
    out = [pen.text(x, y + 10, pen.say(f"facet.{cells.facet}"), size=12, fill=faint)]
    y += 20
    if cells.two_tone:
        for word, colour in (("yes", palette.mask[1]), ("no", palette.mask[0])):
            out += _swatch(pen, x, y, colour, pen.say(f"ui.{word}"))
            y += 21
        return out, y
    out.append(rectangle(x, y, 13, LEGEND_HEIGHT, fill="url(#lp-ramp)", stroke=palette.line))
    out.append(_ramp(cells.stops))
    middle = 0.0 if cells.ramp == "diverging" else (cells.least + cells.largest) / 2
    marks = [(0.0, cells.largest), (0.5, middle), (1.0, cells.least)]
    for part, value in marks:
        said = percent(value) if cells.facet == "weight" else shown_number(value, 3)
        at = y + 5 + part * (LEGEND_HEIGHT - 6) + 3
        out.append(pen.text(x + 20, at, said, size=12, kind="legend"))
    y += LEGEND_HEIGHT + 14
    if cells.masked.any():
        out += _swatch(pen, x, y, "url(#lp-hatch)", pen.say("figure_text.masked"))
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


# ---- Bars ----------------------------------------------------------------------------------


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
        said = shown_number(part * most, 3)
        style = {"size": 11.5, "fill": palette.faint, "anchor": "end"}
        out.append(pen.text(x - 8, at + 4, said, **style))
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
    said = {"name": "pair", "items": order, "pairs": order, "sentences": []}
    axis = Axis(e, said, len(order), pen.language)
    below, bottom = _column_names(pen, axis, x, y + tall, wide, words=False)
    felt, bottom = _felt_most(e, pen, gradient, numbers, bottom + 28, x + wide)
    return out + below + felt, bottom


def _bar_order(e: Exploration) -> list[int]:
    """The order the page's bars stand in: sorted as the view says, ties by similarity."""
    places = list(range(len(e.batch)))
    if e.scenario.view.order == "entry":
        return places
    labels, scores = e.batch.labels.tolist(), e.batch.scores.detach().tolist()
    if e.scenario.view.order == "score":
        return sorted(places, key=scores.__getitem__)
    return sorted(places, key=lambda pair: (labels[pair], scores[pair]))


def _felt_most(
    e: Exploration, pen: Pen, gradient: list[float], numbers: list[int], y: float, right: float
) -> tuple[list[str], float]:
    """The pairs that feel most, in words."""
    palette, pairs = pen.palette, e.batch.pairs
    ranked = sorted(
        (pair for pair, g in enumerate(gradient) if g and math.isfinite(g)),
        key=lambda pair: -abs(gradient[pair]),
    )
    out: list[str] = []
    for pair in ranked[:MOST_BARS_NAMED]:
        fill = palette.up if gradient[pair] > 0 else palette.down
        said = {"size": 12.5, "anchor": "end", "weight": 600, "fill": fill}
        out.append(pen.text(MARGIN + 58, y, shown_number(gradient[pair], 3), **said))
        said = {"size": 12.5, "anchor": "end", "fill": palette.faint}
        out.append(pen.text(MARGIN + 90, y, str(numbers[pair]), **said))
        room = (right - MARGIN - 124) / 2
        first = clipped(pairs.first[pair], room, 12.5)
        second = clipped(pairs.second[pair], room, 12.5)
        out.append(pen.text(MARGIN + 100, y, first, size=12.5, kind="bar-name"))
        out.append(pen.text(MARGIN + 116 + room, y, second, size=12.5, fill=palette.faint))
        y += 20
    return out, y - 8


# ---- Head, caption, document ---------------------------------------------------------------


def _head(
    e: Exploration, pen: Pen, width: float, latex: str = "", step: str = "", facet: str = "value"
) -> tuple[list[str], float]:
    """The loss with its formula, then the step; and where what follows may begin."""
    room = width - 2 * MARGIN
    title = clean(title_of(e, pen.language))
    size = min(25.0, 25.0 * room / max(width_of(title, 26), 1))
    y = MARGIN + 18
    out = [pen.text(MARGIN, y, title, size=size, weight=700, kind="title")]
    if written := e.spec.formula_at(**e.parameters):
        formula = pen.formula(r"\mathcal L = " + written)
        left = room - width_of(title, size * 1.06) - 30
        if formula_width(formula, 17) <= left:
            out.append(pen.text(width - MARGIN, y, formula, size=17, anchor="end"))
        else:
            y += 29
            fitted = min(17.0, 17.0 * room / formula_width(formula, 17))
            out.append(pen.text(MARGIN, y, formula, size=fitted))
    if step:
        y += 31
        tail = step if facet == "value" else f"{step} · {pen.say(f'facet.{facet}')}"
        out.append(
            pen.text(
                width - MARGIN,
                y,
                tail,
                size=12.5,
                fill=pen.palette.faint,
                anchor="end",
                font=MONO,
                kind="step",
            )
        )
        if latex:
            second = pen.formula(latex)
            space = room - width_of(tail, 14.5) - 20
            fitted = min(17.0, 17.0 * space / formula_width(second, 17))
            out.append(pen.text(MARGIN, y, second, size=fitted))
    return out, y + 24


def _finished(
    e: Exploration, pen: Pen, width: float, parts: list[str], y: float, origin: str = ""
) -> str:
    """The whole document: what was drawn, with the caption under it."""
    palette, told = pen.palette, caption(e, pen.language, clean(origin))
    y += 10
    parts = [*parts, line(MARGIN, y, width - MARGIN, y, palette.line)]
    y += 22
    for place, sentence in enumerate(told):
        for text in wrapped(sentence, width - 2 * MARGIN - 80, 13):
            style = {"size": 13.0, "fill": palette.faint if place else palette.ink}
            parts.append(pen.text(MARGIN, y, text, weight=0 if place else 600, **style))
            y += 19
    end = {"size": 11.5, "fill": palette.faint, "anchor": "end"}
    parts.append(pen.text(width - MARGIN, y - 19, "LossPrism", **end))
    height = y - 19 + MARGIN - 6
    colour, opacity = palette.hatch
    hatch = (
        '<pattern id="lp-hatch" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<path d="M-1.5 1.5L1.5 -1.5M0 6L6 0M4.5 7.5L7.5 4.5" '
        f'stroke="{colour}" stroke-opacity="{opacity}"/></pattern>'
    )
    head = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {px(width)} {px(height)}",
        "width": px(width),
        "height": px(height),
        "role": "img",
        "font-family": FONTS[pen.language],
        "xml:lang": pen.language,
    }
    return "\n".join(
        [
            f"<svg{attributes(head)}>",
            f"<title>{escape(clean(title_of(e, pen.language)))}</title>",
            f"<desc>{escape(printable('; '.join(told)))}</desc>",
            f"<defs>{hatch}</defs>",
            rectangle(0, 0, width, height, fill=palette.ground),
            *parts,
            "</svg>",
            "",
        ]
    )
