"""Storage of up to a million sentences in one buffer.

As objects of their own they would take twice the memory, and leave it in pieces.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np

# No byte of any text in UTF-8.
END = b"\xff"
# Texts that are looked at together.
STEP = 2**14


class Texts(Sequence[str]):
    """Texts by number, to be appended to and read."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._bytes = bytearray()
        self._stops = array("Q", [0])
        for text in texts:
            self.append(text)

    def append(self, text: str) -> None:
        self._bytes += text.encode() + END
        self._stops.append(len(self._bytes))

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
        return self._bytes[self._stops[place] : self._stops[place + 1] - 1].decode()

    def __iter__(self) -> Iterator[str]:
        for _, some, end in self._chunks():
            yield from some.split(end)

    def holding(self, searched: str) -> np.ndarray:
        """Mask of the texts that contain `searched`, whatever the case."""
        searched, found = searched.casefold(), np.zeros(len(self), dtype=bool)
        for part, some, end in self._chunks():
            folded = some.casefold()
            if searched in folded:
                found[part] = [searched in text for text in folded.split(end)]
        return found

    def _chunks(self) -> Iterator[tuple[slice, str, str]]:
        """Yield some texts at a time: their slice, all of them in one, and the separator between
        them."""
        for start in range(0, len(self), STEP):
            stop = min(start + STEP, len(self))
            part = self._bytes[self._stops[start] : self._stops[stop] - 1]
            if b"\0" in part:
                yield slice(start, stop), part.decode(errors="surrogateescape"), "\udcff"
            else:  # several times as fast where all of it is ASCII
                yield slice(start, stop), part.replace(END, b"\0").decode(), "\0"


def holding(texts: Sequence[str], searched: str) -> np.ndarray:
    """Mask of the texts that contain `searched`, whatever the case."""
    if isinstance(texts, Texts):
        return texts.holding(searched)
    searched = searched.casefold()
    return np.fromiter((searched in text.casefold() for text in texts), bool, count=len(texts))
