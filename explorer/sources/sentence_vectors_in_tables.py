"""Vectors of sentences as a file brings them, in columns beside the texts."""

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

import numpy as np

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import (
    Cells,
    as_float,
    is_blank,
    listed_in,
    read_sentence,
    shortened,
)

# Of its length: an encoder gives a sentence vectors that differ by rounding, by the batch that it
# stands in. What differs by more is another vector.
SAME_WITHIN = 0.01
_KINDS = (float, int, Decimal)


class SentenceVectors:
    """Vectors of the sentences of a table, all of one dimension: `columns` maps each column of
    texts to that of its vectors, both by their place in `names`.

    A row is read, and then kept or not. With `needed`, a row without one of its vectors is refused.
    """

    def __init__(
        self, names: Sequence[str], columns: Mapping[int, int], *, needed: bool = False
    ) -> None:
        self._names, self._columns, self._needed = names, columns, needed
        self._read: dict[str, np.ndarray] = {}  # of the last row
        self._places: dict[str, int] = {}  # of the rows that were kept
        self._numbers = array("f")
        self._width = 0

    @property
    def places(self) -> frozenset[int]:
        """Positions of the columns with its vectors."""
        return frozenset(self._columns.values())

    def read(self, cells: Cells, is_list: Callable[[Cells, int], bool]) -> None:
        """Read the vectors of a row; `is_list(cells, place)` says whether a cell of texts is read
        as a list of them. An empty cell says nothing.

        Raises Problem for what is no list of numbers, holds none, one that is not finite, or zeros
        alone, has not as many as those before it, or is not what its sentence had before.
        """
        self._read = {}
        for place, at in self._columns.items():
            texts, vectors = [cells[place]], [cells[at]]
            if is_list(cells, place) and not is_blank(cells[at]):
                texts, vectors = listed_in(cells[place]), listed_in(cells[at])
                if len(vectors) != len(texts):
                    raise Problem(
                        "candidates_values",
                        column=self._names[place],
                        other=self._names[at],
                        count=len(texts),
                        values=len(vectors),
                    )
            for text, cell in zip(texts, vectors, strict=True):
                if self._needed and is_blank(cell) and not is_blank(text):
                    raise Problem("vector_missing", column=self._names[at])
                if not is_blank(text) and not is_blank(cell):
                    self._take(read_sentence(text, self._names[place]), cell, self._names[at])

    def _take(self, sentence: str, cell: object, column: str) -> None:
        vector = _vector(cell, column)
        self._width = self._width or len(vector)
        if len(vector) != self._width:
            raise Problem("vector_width", column=column, width=len(vector), first=self._width)
        before = self._read.get(sentence, self._known(sentence))
        if before is not None and not _same(before, vector):
            raise Problem("vector_differs", column=column, sentence=shortened(sentence))
        self._read[sentence] = vector

    def _known(self, sentence: str) -> np.ndarray | None:
        place = self._places.get(sentence)
        if place is None:
            return None
        return np.array(self._numbers[place * self._width : (place + 1) * self._width])

    def keep(self) -> None:
        """Keep the row that was read last: of each sentence the first vector."""
        for sentence, vector in self._read.items():
            if sentence not in self._places:
                self._places[sentence] = len(self._places)
                self._numbers.frombytes(vector.tobytes())

    def every(self) -> tuple[tuple[str, ...], np.ndarray]:
        """All sentences of the rows that were kept, and their vectors, float32 [S, D]."""
        width = self._width if self._places else 0
        numbers = np.frombuffer(self._numbers, dtype=np.float32)
        return tuple(self._places), numbers.reshape(len(self._places), width)

    def of(self, sentences: Sequence[str]) -> np.ndarray | None:
        """The vectors of these sentences, float32 [S, G], NaN for one that has none; None where
        none has any."""
        if not self._places:
            return None
        places = [self._places.get(sentence, -1) for sentence in sentences]
        rows = self.every()[1][places]
        rows[[place < 0 for place in places]] = math.nan
        return rows


def _vector(cell: object, column: str) -> np.ndarray:
    """The vector in a cell of `column`, float32 [D]: a row of a file of arrays, or a list."""
    if isinstance(cell, np.ndarray):
        return _checked(cell.astype(np.float32), cell, column)
    numbers = listed_in(cell)
    if len(numbers) == 1 and numbers[0] is cell:
        raise Problem("vector_not_a_vector", column=column, value=shortened(cell))
    if not numbers:
        raise Problem("vector_empty", column=column)
    for number in numbers:
        if type(number) not in _KINDS:
            raise Problem("vector_not_a_vector", column=column, value=shortened(number))
    vector = np.array(list(map(as_float, numbers)))
    with np.errstate(over="ignore"):
        return _checked(vector.astype(np.float32), numbers, column)


def _checked(vector: np.ndarray, numbers: Sequence | np.ndarray, column: str) -> np.ndarray:
    """The vector. Raises Problem unless it is finite and has a direction."""
    finite = np.isfinite(vector)
    if not finite.all():
        odd = numbers[int(finite.argmin())]
        raise Problem("vector_not_finite", column=column, value=shortened(odd))
    if not has_direction(vector):
        raise Problem("vector_zero", column=column)
    return vector


def has_direction(vector: np.ndarray) -> bool:
    """True if a vector is long enough to have a direction, from which cosines are made."""
    from lossprism.losses.geometry import (
        MIN_LENGTH,  # with torch, which other examples and files do without
    )

    return bool(np.linalg.norm(vector.astype(np.float64)) >= MIN_LENGTH)


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    """True if two vectors are one, but for rounding."""
    return bool(np.linalg.norm(one - other) <= SAME_WITHIN * np.linalg.norm(one))
