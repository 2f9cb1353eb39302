"""Up to a million sentences, kept in one buffer.

As objects of their own they would take twice the room, and leave the memory in pieces.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np

# No byte of any text in UTF-8, and what it is read as beside them.
END, END_READ = b"\xff", "\udcff"
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
        for some in self._chunks():
            yield from some.split(END_READ)

    def holding(self, wanted: str) -> np.ndarray:
        """Which of them hold `wanted`, in capitals or not."""
        wanted, found = wanted.casefold(), []
        for some in self._chunks():
            found += [wanted in text for text in some.casefold().split(END_READ)]
        return np.array(found, dtype=bool)

    def _chunks(self) -> Iterator[str]:
        """Some texts at a time, with END_READ between them."""
        for start in range(0, len(self), STEP):
            stop = min(start + STEP, len(self))
            part = self._bytes[self._stops[start] : self._stops[stop] - 1]
            yield part.decode(errors="surrogateescape")


def holding(texts: Sequence[str], wanted: str) -> np.ndarray:
    """Which of any texts hold `wanted`, in capitals or not."""
    if isinstance(texts, Texts):
        return texts.holding(wanted)
    wanted = wanted.casefold()
    return np.fromiter((wanted in text.casefold() for text in texts), bool, count=len(texts))
