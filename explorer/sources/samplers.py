"""The batches of an epoch as sentence-transformers' samplers draw them, from the same generator.

Theirs read a row of text at a time, and importing them alone takes seconds. Tests hold these to
them, batch for batch.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import torch

from lossprism.explorer.runtime.problem import Problem

Batches = tuple[tuple[int, ...], ...]
Texts = tuple[int, ...]  # of a row, by number

# How often rows are gone through once more where texts that come back leave batches short.
MORE_PASSES = 2
# An epoch that holds less than this share of the rows, for repeats or at all, is no epoch of them.
# One by label has others of its classes the next time.
LEAST_SEEN, LEAST_SEEN_BY_LABEL = 0.75, 0.5


def chunks(rows: Sequence[int], size: int) -> Batches:
    """The full batches of these rows, one after the other."""
    return tuple(tuple(rows[at : at + size]) for at in range(0, len(rows) // size * size, size))


def shuffled(count: int, size: int, generator: torch.Generator) -> Batches:
    """The full batches of so many rows in random order."""
    return chunks(torch.randperm(count, generator=generator).tolist(), size)


def no_duplicates(texts: Sequence[Texts], size: int, generator: torch.Generator) -> Batches:
    """Draw batches without a text in two rows; `texts` are those of each row, each once.

    As many batches as rows allow, fewer where three passes do not fill them.
    """
    target, found = len(texts) // size, []
    for _ in range(1 + MORE_PASSES):
        order = torch.randperm(len(texts), generator=generator).tolist()
        batches = _one_pass([texts[row] for row in order], size)
        found += (tuple(order[row] for row in batch) for batch in batches)
        if not found or len(found) >= target:
            break
    return tuple(found[:target])


@dataclass(frozen=True)
class Epoch:
    """An epoch of full batches.

    Number of places of its rows in whole batches, number of promised batches and of actual ones,
    number of different rows in these, and number of their places with a row of an earlier batch.
    """

    places: int
    expected: int
    batches: int
    seen: int
    repeated: int
    least_seen: float = LEAST_SEEN

    @classmethod
    def of(cls, drawn: Batches, rows: int, size: int) -> Epoch:
        """Count what batches drawn from so many rows hold, which promise as many as rows allow."""
        seen = len(set(itertools.chain.from_iterable(drawn)))
        filled = sum(map(len, drawn))
        return cls(rows // size * size, rows // size, len(drawn), seen, filled - seen)

    @classmethod
    def by_label(cls, drawn: Batches, rows: int, size: int) -> Epoch:
        """The same of `group_by_label`, which promises no more batches than it fills."""
        epoch = cls.of(drawn, rows, size)
        return replace(epoch, expected=len(drawn), least_seen=LEAST_SEEN_BY_LABEL)

    @property
    def repeats(self) -> float:
        """The share of the places that go to such a row."""
        return self.repeated / max(self.seen + self.repeated, 1)

    @property
    def works(self) -> bool:
        """True if all batches are there and hold most of the rows."""
        return self.batches >= self.expected and self.seen >= self.least_seen * self.places


def epoch_without_duplicates(texts: Sequence[Texts], size: int, seed: int = 0) -> Epoch:
    """Draw one epoch by `no_duplicates` and count what it holds."""
    drawn = no_duplicates(texts, size, torch.Generator().manual_seed(seed))
    return Epoch.of(drawn, len(texts), size)


def largest_without_duplicates(texts: Sequence[Texts], size: int, seed: int = 0) -> int:
    """The largest of size / 2, size / 4, … whose epoch works; 0 where not even 2 does."""
    while size >= 4:
        size //= 2
        if epoch_without_duplicates(texts, size, seed).works:
            return size
    return 0


def _one_pass(texts: Sequence[Texts], size: int) -> Iterator[list[int]]:
    """Yield batches; each takes in turn every row that shares no text with its own.

    A row that is passed over waits for the next batch, behind the text that it shares: as long as
    the batch has that, it needs no further look.
    """
    left = Counter(itertools.chain.from_iterable(texts))
    waiting: dict[int, list[int]] = defaultdict(list)  # heaps of rows, by text
    heads: list[tuple[int, int]] = []  # a heap of the first row behind each text, and the text
    ahead = 0
    while heads or ahead < len(texts):
        batch: list[int] = []
        batch_texts: set[int] = set()
        passed: set[int] = set()  # the texts behind which rows wait for the next batch
        while len(batch) < size and (heads or ahead < len(texts)):
            if heads:
                row, text = heappop(heads)
                if not waiting[text] or waiting[text][0] != row:
                    continue
                if text in batch_texts:
                    passed.add(text)
                    continue
                heappop(waiting[text])
                if waiting[text]:
                    heappush(heads, (waiting[text][0], text))
            else:
                row, ahead = ahead, ahead + 1
            shared = next((text for text in texts[row] if text in batch_texts), None)
            if shared is not None:
                heappush(waiting[shared], row)
                passed.add(shared)
                continue
            batch.append(row)
            batch_texts.update(texts[row])
        for text in passed:
            heappush(heads, (waiting[text][0], text))
        left.subtract(text for row in batch for text in texts[row])
        if len(batch) == size:
            yield batch
        elif _max_rows(left, (texts[row] for row in batch)) < size:
            return


def _max_rows(left: Mapping[int, int], batch: Iterable[Texts]) -> int:
    """Largest number of rows without a common text, where every remaining row has a text in common
    with these: the number of their remaining texts, or one where there is none."""
    return sum(max(1, sum(left[text] > 0 for text in texts)) for texts in batch)


def group_by_label(labels: Sequence[float], size: int, generator: torch.Generator) -> Batches:
    """Draw two rows of each label in turn, so that a batch has every one of its labels twice.

    Raises Problem for an odd size, one below 4, and where no two labels have two rows each.
    """
    rows: dict[float, list[int]] = defaultdict(list)
    for row, label in enumerate(labels):
        rows[label].append(row)
    rows = {label: own for label, own in rows.items() if len(own) >= 2}
    if size < 4 or size % 2 or len(rows) < 2:
        raise Problem("sampler_labels", size=size)

    def shuffled(count: int) -> list[int]:
        return torch.randperm(count, generator=generator).tolist()

    waiting = {
        label: deque(own[place] for place in shuffled(len(own))[: len(own) // 2 * 2])
        for label, own in rows.items()
    }
    stream: list[int] = []
    turns, last = list(waiting), None
    while len(turns) >= 2:
        turns = [turns[place] for place in shuffled(len(turns))]
        if len(stream) % size and turns[0] == last:
            turns[0], turns[1] = turns[1], turns[0]
        for label in turns:
            stream += (waiting[label].popleft(), waiting[label].popleft())
        last = turns[-1]
        turns = [label for label in turns if waiting[label]]
    return chunks(stream, size)
