"""A table of texts with classes, and its reader."""

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from lossprism.explorer.lab.doctor.pair_table_profile import Cleaned
from lossprism.explorer.lab.doctor.text_ids import ids_of, pair_ids
from lossprism.explorer.lab.doctor.text_measurements import figures_of, folded
from lossprism.explorer.lab.large.text_buffer import TextBuffer
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.jobs import Report
from lossprism.explorer.runtime.limits import LARGE_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import read_sentence
from lossprism.explorer.sources.column_names import CLASS_NAMES, QUERY_NAMES, TEXT_NAMES, plain_name
from lossprism.explorer.sources.column_roles import (
    CLASS_ROLES,
    may_name_class,
    name_classes,
    requested_columns,
)
from lossprism.explorer.sources.reading_notes import ColumnsRead
from lossprism.explorer.sources.table_column_kinds import Grid
from lossprism.explorer.sources.table_file_reader import read_grid

P = TypeVar("P")
C = TypeVar("C")
HEADER_BYTES = 4096  # that hold the names of the columns


@dataclass(frozen=True, eq=False)
class ClassTable:
    """N texts with C classes.

    `of` is the number of the class of each text [N], `rows` its row in the table [N], `numbers` one
    number for equal texts [N]. `names` and `sizes` are those of the classes [C]. `skipped` counts
    unreadable rows, `columns` are the columns by role, `named` all columns; `header`, `encoding`
    and `left_lines` tell how the table was read.
    """

    texts: TextBuffer
    of: np.ndarray
    rows: np.ndarray
    names: tuple[str, ...]
    sizes: np.ndarray
    numbers: np.ndarray
    skipped: int
    columns: dict[str, str]
    named: tuple[str, ...]
    header: bool
    encoding: str
    left_lines: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.of)

    @property
    def used(self) -> ColumnsRead:
        """Roles of the columns."""
        unread = tuple(name for name in self.named if name not in self.columns.values())
        left = self.left_lines
        return ColumnsRead(columns=self.named, chosen=self.columns, unread=unread, left_lines=left)

    @property
    def by_size(self) -> list[tuple[str, int]]:
        """The classes with their sizes, the largest first."""
        order = np.argsort(-self.sizes, kind="stable").tolist()
        return [(self.names[at], int(self.sizes[at])) for at in order]

    @cached_property
    def _members(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of all texts by class, and where each class begins among them."""
        return np.argsort(self.of, kind="stable"), np.cumsum(self.sizes) - self.sizes

    @cached_property
    def spellings(self) -> list[list[int]]:
        """Groups of classes, by number, whose names are equal but for case, width and blanks, the
        largest class first."""
        same: dict[str, list[int]] = {}
        for at in np.argsort(-self.sizes, kind="stable").tolist():
            same.setdefault(folded(self.names[at]), []).append(at)
        return [classes for classes in same.values() if len(classes) > 1]

    @cached_property
    def one_spelling(self) -> np.ndarray:
        """The class of each text [N], by the number of the most frequent spelling of its name."""
        numbers = np.arange(len(self.names))
        for classes in self.spellings:
            numbers[classes] = classes[0]
        return numbers[self.of]

    @cached_property
    def respelled(self) -> np.ndarray:
        """The places of texts whose class has a more frequent spelling."""
        return np.flatnonzero(self.one_spelling != self.of)

    @cached_property
    def _both(self) -> np.ndarray:
        """A number for each text with its class [N]."""
        return pair_ids(self.numbers, self.one_spelling)

    @cached_property
    def mixed(self) -> np.ndarray:
        """The places of texts that have several classes."""
        several = np.bincount(np.unique(np.stack([self.numbers, self._both]), axis=1)[0])
        return np.flatnonzero(several[self.numbers] > 1)

    @cached_property
    def again(self) -> np.ndarray:
        """The places of texts that repeat an earlier text of their class."""
        repeats = np.ones(len(self), dtype=bool)
        repeats[np.unique(self._both, return_index=True)[1]] = False
        return np.flatnonzero(repeats)

    @cached_property
    def cleaned(self) -> Cleaned:
        """Return the table without texts of several classes, and without repeated texts of a class.

        Different spellings of a class's name are one class.
        """
        faults = {"texts_in_classes": self.mixed, "texts_again": self.again}
        return Cleaned.without(len(self), faults)

    def row(self, text: int) -> int:
        """Return the row of the table of a text, counted from 1."""
        return int(self.rows[text - 1])

    def members(self, kind: int, count: int) -> list[int]:
        """Return the places of the first `count` texts of a class."""
        places, begins = self._members
        begin = begins[kind]
        return places[begin : begin + min(count, self.sizes[kind])].tolist()


def names_classes(content: bytes) -> bool:
    """True if the first line of a delimited table names two columns, one of them for classes.
    Otherwise two columns of words are pairs. JSON has its names in every row."""
    line = content[:HEADER_BYTES].partition(b"\n")[0].decode("utf-8-sig", "replace").strip()
    names = [name.strip().strip('"') for name in re.split(r"[,;\t|]", line)]
    return line[:1] not in "{[" and name_classes(names)


def pairs_or_classes(
    head: bytes, columns: Mapping[str, str] | None, pairs: Callable[[], P], classes: Callable[[], C]
) -> P | C:
    """Read a table by one of two readers: as texts with classes if their columns were chosen, or if
    none were chosen and the names say so, or pairs cannot be read; else as pairs. Raises Problem if
    it is neither."""
    if set(columns or ()) & set(CLASS_ROLES) or (not columns and names_classes(head)):
        return classes()
    try:
        return pairs()
    except Problem as problem:
        if not columns and problem.about == "columns":
            with contextlib.suppress(Problem):  # the first problem says more
                return classes()
        raise


def read_classes(
    content: bytes | Path,
    name: str,
    report: Report,
    *,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    encoding: str = "",
) -> ClassTable:
    """Read one column of texts and one of classes: the chosen ones, "text" and "class", or by the
    table's contents.

    Raises Problem if there is no such table.
    """
    if header is None and not encoding and isinstance(content, bytes):
        header = names_classes(content) or None
    named = (columns or {}).values()
    grid = read_grid(content, name, header, lambda *far: report("parsing", *far), encoding, named)
    text, kind = _columns(grid, requested_columns(grid.columns, columns or {}, CLASS_ROLES))
    texts, of, rows, known, skipped = TextBuffer(), [], [], {}, 0
    max_letters = budget("sentence_letters")
    for row, cells in grid.records(lambda *far: report("reading", *far)):
        if len(of) >= LARGE_PAIRS:
            break
        try:
            if isinstance(cells, Problem):
                raise cells
            sentence = read_sentence(cells[text], grid.columns[text], max_letters)
            named = read_sentence(cells[kind], grid.columns[kind], max_letters)
        except Problem:
            skipped += 1
            continue
        texts.append(sentence)
        of.append(known.setdefault(named, len(known)))
        rows.append(row)
    is_named = may_name_class(grid.columns[kind]) or "class" in (columns or ())
    if not of or (len(known) == len(of) > 1 and not is_named):  # ids, where each is alone
        raise Problem("no_pairs")
    places = np.array(of, dtype=np.int64)
    figures = figures_of(texts, lambda done: report("numbering", done, len(of)))
    (numbers,) = ids_of(figures.hashes)
    used = {"text": grid.columns[text], "class": grid.columns[kind]}
    how = (grid.columns, grid.header, grid.encoding, grid.left_lines)
    return ClassTable(
        texts,
        places,
        np.array(rows),
        tuple(known),
        np.bincount(places),
        numbers,
        skipped,
        used,
        *how,
    )


def _columns(grid: Grid, chosen: Mapping[str, int]) -> tuple[int, int]:
    """Return the positions of texts and classes.

    Classes are in the chosen column, in one with a name for classes (words before numbers), or in
    the other one of two; texts in the only column of texts, or in one with a name for texts. Raises
    Problem if that leaves a choice.
    """
    plain = [plain_name(one) for one in grid.columns]
    taken = chosen.get("text")
    named = [at for at, name in enumerate(grid.columns) if at != taken and may_name_class(name)]
    known = sorted(named, key=lambda at: (not grid.is_text(at), plain[at] not in CLASS_NAMES))
    of = chosen.get("class", next(iter(known), None))
    if taken is None:
        of_classes = {of} if "class" in chosen else {of, *named}
        texts = [at for at in range(len(plain)) if at not in of_classes and grid.is_text(at)]
        if len(texts) > 1 and "class" not in chosen:
            # The text beside a query is what it is judged for.
            called = [at for at in texts if plain[at] in TEXT_NAMES]
            texts = texts if any(plain[at] in QUERY_NAMES for at in called) else called or texts
    else:
        texts = [taken]
    if of is None and len(plain) == 2 and len(texts) == 1:
        of = 1 - texts[0]
    if of is None or len(texts) != 1:
        raise Problem("class_columns", about="columns", columns=", ".join(grid.columns)[:400])
    return texts[0], of
