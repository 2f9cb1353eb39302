"""A table that is read a row at a time, and what the contents of its columns may be."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real

import numpy as np

from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import ID, is_blank, is_reference, is_score, number_in
from lossprism.explorer.sources.column_roles import listed, names_degree, names_ids, names_text
from lossprism.explorer.sources.delimited import (
    LEAST_BELOW,
    SAMPLE,
    SAMPLE_CELLS,
    Record,
    ReportProgress,
    no_progress,
)
from lossprism.explorer.sources.json_rows import filled
from lossprism.explorer.sources.lists_and_objects_written_as_text import is_written
from lossprism.explorer.sources.pictures_in_table_cells import Picture, is_data_url
from lossprism.explorer.sources.table_in_pasted_text import numbers_alone
from lossprism.explorer.sources.vector_column_of_each_text_column import names_vectors

_LETTER = re.compile(r"[^\W\d_]|[^\x00-\x7f]")

# More different words than these are no grades.
MAX_GRADES = 5
# A longer text is no grade, however often it comes again.
MAX_GRADE_LETTERS = 40
# Fewer whole numbers in a column of texts may be texts.
LEAST_IDS = 2
# Fewer rows that count on may be labels; no scale of labels goes further than percent.
LEAST_COUNTED, LARGEST_DEGREE = 3, 100
# "qid 0 docid relevance", or of a run "qid Q0 docid rank score name".
_JUDGEMENT = re.compile(r"\S+\s+(?:Q?0\s+)?(?=\S*[0-9])\S++\s+-?[0-9.]+(?:\s+-?[0-9.]+\s+\S+)?")
# "123", "8f14e45f-ceea-467a-9575-6d6a1f3b0001".
_NUMBERED = re.compile(r"[0-9]+|(?=.*[0-9])[0-9a-f]{8}[0-9a-f\-]{8,56}", re.IGNORECASE)
# A list of numbers, or of lists of such, as JSON writes them.
_VECTOR = re.compile(r"\s*(\[\s*){1,2}[+-]?(\.?[0-9]|nan|inf|null)", re.IGNORECASE)


@dataclass(frozen=True)
class Grid:
    """A table that is read a row at a time, any number of times, and never stored.

    `records(report)` yields (row, cells or the Problem that made the row unreadable). Rows are
    counted as the user sees them: 1 is the first row below the header. Empty rows are left out but
    counted, so that the numbers agree with an editor's. `report` hears the progress, and may raise
    to stop. `left_lines` are the numbers of the lines of pasted text around the table;
    `has_made_texts`: some texts are only names of vectors, made for these.
    """

    columns: tuple[str, ...]
    records: Callable[[ReportProgress], Iterator[Record]]
    header: bool
    encoding: str
    left_lines: tuple[int, ...] = ()
    has_made_texts: bool = False

    @cached_property
    def _sample(self) -> dict[int, list[object]]:
        """Cells of each column that are not blank, in the first readable rows."""
        sample: dict[int, list[object]] = {}
        seen = 0
        for count, (_, cells) in enumerate(itertools.islice(self.records(no_progress), SAMPLE), 1):
            for position, cell in () if isinstance(cells, Problem) else filled(cells):
                sample.setdefault(position, []).append(cell)
                seen += 1
            if seen >= SAMPLE_CELLS and count >= LEAST_BELOW:
                break
        return sample

    def column(self, position: int) -> Sequence[object]:
        """The cells of one column, as far as the rows are readable, at most a sample."""
        return self._sample.get(position, ())

    def is_score(self, position: int) -> bool:
        """True if nearly every cell of the column reads as a score, and they do not number rows."""
        return position not in self._row_numbers and self._has_scores(position)

    def is_text(self, position: int, or_reference: bool = False) -> bool:
        """True if the column holds text that is no score, date or version, no numbers written as a
        list and no group of rows; paths, addresses and ids only with `or_reference`."""
        if not self._may_be_text(position) or self._mostly(_has_no_letter, position):
            return False
        return or_reference or not self.is_reference(position)

    def _may_be_text(self, position: int) -> bool:
        return position not in self._groups and self._has_texts(position)

    def _has_scores(self, position: int) -> bool:
        return self._mostly(is_score, position, 0.8)

    def _has_texts(self, position: int) -> bool:
        texts = self._mostly(lambda one: isinstance(one, str) and not is_score(one), position, 0.5)
        return texts and not self.is_vectors(position)

    @cached_property
    def _row_numbers(self) -> frozenset[int]:
        """Columns without names that number the rows: those of whole numbers before a text that all
        differ; without scores beside them only where they count on, or are larger than scores."""
        scores, texts = (
            [] if self.header else [at for at in range(len(self.columns)) if holds(at)]
            for holds in (self._has_scores, self._has_texts)
        )
        numbers = {
            at: _whole_numbers(self.column(at)) for at in scores if at < max(texts, default=0)
        }
        numbers = {at: cells for at, cells in numbers.items() if len({*cells}) == len(cells) > 0}
        if len(numbers) == len(scores):
            return frozenset(at for at, cells in numbers.items() if _are_ids(cells))
        return frozenset(numbers)

    @cached_property
    def _groups(self) -> frozenset[int]:
        """Columns without names that hold the group of a row, such as "images" or "train", beside
        scores: few words of Latin letters, where two other columns hold texts."""
        places = [] if self.header else range(len(self.columns))
        if not any(map(self.is_score, places)):
            return frozenset()
        texts = [at for at in places if self._has_texts(at) and not self.is_reference(at)]
        groups = [at for at in texts if self._repeats_words(at)]
        return frozenset(groups if len(texts) - len(groups) == 2 else ())

    def _repeats_words(self, position: int) -> bool:
        cells = [str(cell).strip() for cell in self.column(position)]
        words = {cell for cell in cells if cell.isascii() and not any(map(str.isspace, cell))}
        return {*cells} == words and len(words) <= len(cells) / 2

    def is_reference(self, position: int) -> bool:
        """True if nearly every cell is a path, an address or an id: it names a text or an image,
        and is no sentence."""
        return self._mostly(is_reference, position)

    def is_pictures(self, position: int) -> bool:
        """True if some cells are pictures, as their data URLs or by the names that they got."""
        return any(isinstance(one, Picture) or is_data_url(one) for one in self.column(position))

    def is_vectors(self, position: int) -> bool:
        """True if the column holds lists of numbers, or lists of such."""
        return self._mostly(_begins_vector, position, 0.5)

    def may_be_score(self, position: int) -> bool:
        """True if the column may hold scores: anything but text, or a few words that come again and
        again; not vectors."""
        if position in self._row_numbers:
            return False
        if names_vectors(self.columns[position]) and self.is_vectors(position):
            return False
        if self._mostly(lambda cell: cell == [] or _lists_words(cell), position):
            return False
        cells = [str(cell) for cell in self.column(position)]
        kinds = len(set(cells))
        short = all(len(cell) <= MAX_GRADE_LETTERS for cell in cells)
        graded = short and 2 <= kinds <= MAX_GRADES and len(cells) >= 4 * kinds
        return bool(cells) and (graded or not self._may_be_text(position))

    def is_ids(self, position: int) -> bool:
        """True if the column holds ids and no texts: nearly every cell is one word with a digit."""
        return self._mostly(lambda cell: ID.fullmatch(str(cell).strip()) is not None, position)

    def is_written(self, position: int) -> bool:
        """True if nearly every cell is a list or an object that is written as text."""
        return self._mostly(is_written, position) and not self.is_vectors(position)

    def _mostly(self, holds: Callable[[object], bool], position: int, share: float = 0.9) -> bool:
        cells = [holds(cell) for cell in self.column(position)]
        return bool(cells) and sum(cells) >= share * len(cells)

    def is_blank(self, position: int) -> bool:
        """True if no readable row has anything in the column."""
        return self._always(is_blank, position)

    def has_nothing(self, position: int) -> bool:
        """True if no readable row has anything in the column, but perhaps an empty list."""
        return self._always(lambda cell: is_blank(cell) or cell in ([], "[]"), position)

    def _always(self, holds: Callable[[object], bool], position: int) -> bool:
        if not all(map(holds, self.column(position))):
            return False
        rows = (cells for _, cells in self.records(step) if not isinstance(cells, Problem))
        return all(holds(row[position]) for row in rows)

    def check_texts(self) -> None:
        """Raise Problem where the table has ids in place of texts: relevance judgements (qrels) as
        BEIR or TREC write them, the run of a search engine, or triplets of ids; or nothing but
        numbers, without a header."""
        places = range(len(self.columns))
        if len(places) > 1 and not self.header and self._has_numbers_alone():
            raise numbers_alone(len(places))
        ids = [place for place in places if self._holds_ids(place)]
        if len(places) == 1 and self._is_judgements(0):
            ids = [0]
        elif len(ids) < 2 or any(self.is_text(at) and not self._is_beside_ids(at) for at in places):
            return
        names = [self.columns[place] for place in ids]
        raise Problem("table_of_ids", columns=listed(names))

    def _has_numbers_alone(self) -> bool:
        """True if all cells are numbers, and not all of them whole, as ids are."""
        cells = [
            number_in(cell) for place in range(len(self.columns)) for cell in self.column(place)
        ]
        return None not in cells and any(cell % 1 for cell in cells if cell is not None)

    def _holds_ids(self, position: int) -> bool:
        """True if a column holds ids, by its name, or in the place of a text: whole numbers and
        hashes where its name is that of a text, anything like an id where it has none."""
        name = self.columns[position]
        cells = [str(one).strip() for cell in self.column(position) for one in _entries(cell)]
        if not self.header:
            return self.is_ids(position)
        if names_ids(name):
            return bool(cells) and all(len(cell.split()) == 1 for cell in cells)
        whole = len(cells) >= LEAST_IDS and all(map(_NUMBERED.fullmatch, cells))
        return whole and names_text(name)

    def _is_beside_ids(self, position: int) -> bool:
        degree = names_degree(self.columns[position])
        return degree or self.is_ids(position) or self._holds_ids(position)

    def _is_judgements(self, position: int) -> bool:
        """True if a column holds whole lines of judgements or of a run, with blanks in them."""
        cells = self.column(position)
        return bool(cells) and all(_JUDGEMENT.fullmatch(str(cell).strip()) for cell in cells)


def _whole_numbers(cells: Sequence[object]) -> list[float]:
    """Return the numbers in all cells, if they are whole; else none."""
    numbers = [number_in(cell) for cell in cells]
    whole = [number for number in numbers if number is not None and number % 1 == 0]
    return whole if len(whole) == len(numbers) else []


def _are_ids(numbers: Sequence[float]) -> bool:
    """True if whole numbers that differ count on by one, or are more than any degree or percent."""
    counts_on = all(two - one == 1 for one, two in itertools.pairwise(numbers))
    return len(numbers) >= LEAST_COUNTED and (counts_on or max(numbers) > LARGEST_DEGREE)


def _entries(cell: object) -> Sequence[object]:
    return cell if isinstance(cell, list) else (cell,)


def _has_no_letter(cell: object) -> bool:
    """True for a date, a time or a version."""
    return isinstance(cell, str) and _LETTER.search(cell) is None


def _begins_vector(cell: object) -> bool:
    if isinstance(cell, str):
        return _VECTOR.match(cell[:80]) is not None
    if isinstance(cell, np.ndarray):
        return True
    while isinstance(cell, list) and cell and isinstance(cell[0], list):
        cell = cell[0]
    return isinstance(cell, list) and bool(cell) and isinstance(cell[0], Real | Decimal)


def _lists_words(cell: object) -> bool:
    if not isinstance(cell, list):
        return False
    return any(isinstance(one, str) and not is_score(one) for one in cell)


def step(done: int, total: int) -> None:
    """Report the progress of reading to the current job."""
    jobs.step("reading", done, total)
