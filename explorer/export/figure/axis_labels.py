"""Labels of rows and columns: numbers, sentences, ticks."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cached_property

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.export import drawing_data_types as data
from lossprism.explorer.export.caption import pair_numbers
from lossprism.explorer.export.figure.svg_elements import Pen, Style, line, small_picture
from lossprism.explorer.export.figure.text_layout import clean, clipped, width_of
from lossprism.explorer.export.rows_and_columns_of_step_matrix import NAMED_BY_PAIR, PAIRED
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.number_format import display_number

# Up to this many rows or columns each is named by its sentences; beyond, there are ticks.
MAX_NAMED = 24
NAME_ROOM = 256.0  # for the sentences beside a row
NUMBER_ROOM, LABEL_ROOM = 66.0, 50.0  # for its number, and for the label of its pair
TICKS_ROOM = 58.0  # for ticks in place of names
MIN_TITLE = 90.0  # of the name of the rows, however few there are
TEXT_OF_CELL = 0.62  # the size of a name beside a cell, as a part of the cell
PICTURE_OF_TEXT = 1.6  # the side of a picture beside a name, as a multiple of its size


class Axis:
    """Labels of the rows or columns: `axis` is the picture's."""

    def __init__(
        self, exploration: Exploration, axis: data.Axis, count: int, language: str
    ) -> None:
        self.exploration, self.axis, self.count, self.language = exploration, axis, count, language
        self.name, self.items = axis.name, axis.items
        self.pairs, self.sentences = axis.pairs, axis.sentences
        self.numbers = pair_numbers(exploration)
        self.labels = exploration.batch.labels.tolist()
        self.scores = exploration.batch.scores.detach().tolist()
        self.of_pairs = self.name in PAIRED
        self.pictures = exploration.batch.pictures

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def sorted_by(self) -> str:
        """The order of the items: "label", "score", or "entry"."""
        order = self.exploration.scenario.view.order
        if order == "entry" or self.name == "level" or not self.pairs or min(self.pairs) < 0:
            return "entry"
        values = self.labels if order == "label" else self.scores
        keys = [values[pair] for pair in self.pairs]
        return order if keys == sorted(keys) else "entry"

    def is_named(self, pen: Pen, cell: float) -> bool:
        """Return whether items are few enough for their sentences, beside cells that tall."""
        behind = (*self.pairs, *self.sentences)
        few = len(self) <= MAX_NAMED and cell * TEXT_OF_CELL >= pen.size.smallest
        return few and any(item >= 0 for item in behind)

    def fragment(self, place: int, room: float, size: float) -> str:
        """Return the text of a row or column as far as there is room, "" for none."""
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

    def picture(self, place: int) -> str:
        """Return the picture that the row's text or the first text of its pair names, as a data
        URL, "" for none."""
        batch = self.exploration.batch
        if place < len(self.sentences) and self.sentences[place] >= 0:
            text = batch.pairs.sentences[self.sentences[place]]
        elif place < len(self.pairs) and self.pairs[place] >= 0:
            text = batch.pairs.first[self.pairs[place]]
        else:
            return ""
        return self.pictures.get(text, "")

    def number(self, place: int) -> str:
        """Return the user's number of the row: that of its pair if it has one."""
        pair = self.pairs[place] if place < len(self.pairs) else -1
        paired = self.name in NAMED_BY_PAIR and pair >= 0
        return str(self.numbers[pair] if paired else self.items[place] + 1)

    def label(self, place: int) -> str:
        return display_number(self.labels[self.pairs[place]], 3)

    def key(self, place: int) -> str:
        """Return the sort key of the row for a tick: its label, its similarity, its number."""
        if self.sorted_by == "entry":
            return self.number(place)
        if self.sorted_by == "label":
            return self.label(place)
        return display_number(self.scores[self.pairs[place]], 2)

    def title(self, room: float, size: float) -> str:
        """Return the name with the number of items and their order; with less where there is no
        room for it, the name alone in any room."""
        if not self.name:
            return ""
        what = say(self.language, f"axis.{self.name}")
        values = {"what": what, "count": self.count}
        titles = [say(self.language, "ui.axis", **values), what]
        if self.sorted_by != "entry":
            order = say(self.language, f"order.{self.sorted_by}")
            titles.insert(0, say(self.language, "figure_text.axis_sorted", order=order, **values))
        return next((title for title in titles if width_of(title, size) <= room), what)

    def ticks(self) -> list[tuple[float, float, str]]:
        """Return the marks along the axis (0 to its length), and the texts with their places."""
        keys = [self.key(place) for place in range(len(self))]
        if self.sorted_by == "label":
            groups = [(key, len(list(members))) for key, members in itertools.groupby(keys)]
            if len(groups) <= 12:  # a mark where a label ends, the label in the middle
                ends = itertools.accumulate(size for _, size in groups)
                return [
                    (end, end - size / 2, key)
                    for end, (key, size) in zip(ends, groups, strict=True)
                ]
        limit = MAX_NAMED if len(self) <= MAX_NAMED else 9
        steps = (digit * 10**k for k in range(9) for digit in (1, 2, 5))
        step = next(step for step in steps if len(self) / step <= limit)
        return [(at + 0.5, at + 0.5, keys[at]) for at in range(step - 1, len(self), step)]


def gutter_of(axis: Axis, pen: Pen, cell: float, room: float = NAME_ROOM) -> float:
    """Return the width of the row names, with so much of it for their sentences."""
    if len(axis) <= 1:
        return 0.0
    if not axis.is_named(pen, cell):
        return TICKS_ROOM
    widest = max(width_of(axis.fragment(at, room, 12), 12) for at in range(len(axis)))
    if any(map(axis.picture, range(len(axis)))):
        widest = min(room, widest + PICTURE_OF_TEXT * 12 + 4)
    return NUMBER_ROOM + widest + (LABEL_ROOM if axis.of_pairs else 0)


def row_names(
    pen: Pen, axis: Axis, x: float, y: float, tall: float, gutter: float, room: float
) -> list[str]:
    """Draw the names of the rows in a gutter by `gutter_of` with this room; else ticks."""
    faint, cell = pen.palette.faint, tall / len(axis)
    turned: Style = {"fill": faint, "anchor": "middle", "turn": -90.0, "kind": "axis"}
    title = axis.title(max(tall, MIN_TITLE), pen.fit(12.5))
    out = [pen.text(pen.margin + 10, y + tall / 2, title, size=12.5, **turned)]
    if gutter <= TICKS_ROOM:
        for mark, at, key in _spaced(axis.ticks(), cell, lambda _: pen.fit(11.5)):
            out.append(line(x - 4, y + mark * cell, x, y + mark * cell, faint))
            style = {"size": 11.5, "fill": faint, "anchor": "end"}
            out.append(pen.text(x - 7, y + at * cell + 4, key, **style))
        return out
    size = min(12.0, cell * TEXT_OF_CELL)
    small = {"size": size, "fill": faint, "anchor": "end"}
    left, right = x - gutter + 26, x - 8
    for place in range(len(axis)):
        base = y + (place + 0.5) * cell + size * 0.35
        if axis.of_pairs:
            out.append(pen.text(right, base, f"y = {axis.label(place)}", **small))
        start = left + 24
        if picture := axis.picture(place):
            side = PICTURE_OF_TEXT * size
            out.append(small_picture(picture, start, base - size * 0.35 - side / 2, side))
            start += side + 4
        words = axis.fragment(place, room - (start - left - 24), pen.fit(size))
        out.append(pen.text(left + 18, base, axis.number(place), **small))
        out.append(pen.text(start, base, words, size=size, kind="row-name"))
    return out


def column_names(
    pen: Pen, axis: Axis, x: float, y: float, wide: float, *, words: bool
) -> tuple[list[str], float]:
    """Draw ticks, or numbers and (with `words`) sentences, and the name of the axis below."""
    if not axis.name:
        return [], y + 8
    cell = wide / len(axis)
    style: Style = {"fill": pen.palette.faint, "anchor": "middle"}
    out, bottom = [], y + 20
    size = min(12.0, cell * TEXT_OF_CELL)
    if len(axis) > MAX_NAMED or size < pen.size.smallest:
        for mark, at, key in _spaced(axis.ticks(), cell, lambda k: width_of(k, pen.fit(11.5)) + 4):
            out.append(line(x + mark * cell, y, x + mark * cell, y + 4, pen.palette.faint))
            out.append(pen.text(x + at * cell, y + 17, key, size=11.5, **style))
    else:
        turned: Style = {"anchor": "end", "turn": -90.0, "kind": "column-name"}
        for place in range(len(axis)):
            middle = x + (place + 0.5) * cell
            out.append(pen.text(middle, y + 16, axis.number(place), size=size, **style))
            if words and axis.is_named(pen, cell):
                fragment = axis.fragment(place, 168, size)
                out.append(pen.text(middle + size * 0.35, y + 24, fragment, size=size, **turned))
                bottom = max(bottom, y + 28 + 1.08 * width_of(fragment, size))
    title = axis.title(wide + 2 * TICKS_ROOM, pen.fit(12.5))
    named: Style = {**style, "kind": "axis"}
    out.append(pen.text(x + wide / 2, bottom + 16, title, size=12.5, **named))
    return out, bottom + 22


def _spaced(
    ticks: list[tuple[float, float, str]], cell: float, room_of: Callable[[str], float]
) -> Iterator[tuple[float, float, str]]:
    """Drop ticks whose text overlaps the one before."""
    free = -math.inf
    for mark, at, key in ticks:
        room = room_of(key)
        if at * cell - room / 2 >= free:
            free = at * cell + room / 2
            yield mark, at, key
