"""Storage of millions of sentences, in a temporary file once they are many.

In memory they would take as much as all else that is known of a large table.
"""

import os
import tempfile
import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, overload

import numpy as np

# No byte of any text in UTF-8.
TEXT_END = b"\xff"
# Texts that are looked at together.
TEXTS_AT_ONCE = 2**14
UNWRITTEN_BYTES = 2**20  # that are kept in memory, to be written together


class TextBuffer(Sequence[str]):
    """Texts by number, to be appended to and read."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._waiting: list[bytes] = []  # to be written
        self._written = 0
        self._file: IO[bytes] | None = None  # of all texts, once there are many
        self._lock = threading.Lock()
        self._stops = array("Q", [0])
        for text in texts:
            self.append(text)

    def append(self, text: str) -> None:
        encoded = text.encode()
        stop = self._stops[-1] + len(encoded) + len(TEXT_END)
        self._waiting.append(encoded)
        self._stops.append(stop)
        if stop - self._written >= UNWRITTEN_BYTES:
            self._write()

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it ends with its texts
        self._file.seek(0, os.SEEK_END)
        self._file.write(TEXT_END.join([*self._waiting, b""]))
        self._waiting.clear()
        self._written = self._stops[-1]

    def _part(self, start: int, stop: int) -> bytes:
        """Return the texts from one place to another, with TEXT_END between them."""
        with self._lock:
            if self._file is None:
                return TEXT_END.join(self._waiting[start:stop])
            if self._waiting:
                self._write()
            at = self._stops[start]
            self._file.seek(at)
            return self._file.read(self._stops[stop] - len(TEXT_END) - at)

    @property
    def nbytes(self) -> int:
        """Bytes of the texts and their places, in memory or in the file."""
        return self._stops[-1] + self._stops.itemsize * len(self._stops)

    def __len__(self) -> int:
        return len(self._stops) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self._part(place, place + 1).decode()

    def __iter__(self) -> Iterator[str]:
        for _, some, end in self._chunks():
            yield from some.split(end)

    def holding(self, searched: str) -> np.ndarray:
        """Mask of the texts that contain `searched`, whatever the case."""
        searched, matches = searched.casefold(), np.zeros(len(self), dtype=bool)
        for part, some, end in self._chunks():
            folded = some.casefold()
            if searched in folded:
                matches[part] = [searched in text for text in folded.split(end)]
        return matches

    def _chunks(self) -> Iterator[tuple[slice, str, str]]:
        """Yield some texts at a time: their slice, all of them in one, and the separator between
        them."""
        for start in range(0, len(self), TEXTS_AT_ONCE):
            stop = min(start + TEXTS_AT_ONCE, len(self))
            part = self._part(start, stop)
            if b"\0" in part:
                yield slice(start, stop), part.decode(errors="surrogateescape"), "\udcff"
            else:  # several times as fast where all of it is ASCII
                yield slice(start, stop), part.replace(TEXT_END, b"\0").decode(), "\0"


def holding(texts: Sequence[str], searched: str) -> np.ndarray:
    """Mask of the texts that contain `searched`, whatever the case."""
    if isinstance(texts, TextBuffer):
        return texts.holding(searched)
    searched = searched.casefold()
    return np.fromiter((searched in text.casefold() for text in texts), bool, count=len(texts))
