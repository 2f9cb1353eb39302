"""Up to a million sentences, kept in one buffer.

As objects of their own they would take twice the room, and leave the memory in pieces.
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

    def holding(self, wanted: str) -> np.ndarray:
        """Which of them hold `wanted`, in capitals or not."""
        wanted, found = wanted.casefold(), np.zeros(len(self), dtype=bool)
        for part, some, end in self._chunks():
            folded = some.casefold()
            if wanted in folded:
                found[part] = [wanted in text for text in folded.split(end)]
        return found

    def _chunks(self) -> Iterator[tuple[slice, str, str]]:
        """Some texts at a time: which, all of them in one, and what stands between them."""
        for start in range(0, len(self), STEP):
            stop = min(start + STEP, len(self))
            part = self._bytes[self._stops[start] : self._stops[stop] - 1]
            if b"\0" in part:
                yield slice(start, stop), part.decode(errors="surrogateescape"), "\udcff"
            else:  # several times as fast where all of it is ASCII
                yield slice(start, stop), part.replace(END, b"\0").decode(), "\0"


def holding(texts: Sequence[str], wanted: str) -> np.ndarray:
    """Which of any texts hold `wanted`, in capitals or not."""
    if isinstance(texts, Texts):
        return texts.holding(wanted)
    wanted = wanted.casefold()
    return np.fromiter((wanted in text.casefold() for text in texts), bool, count=len(texts))
