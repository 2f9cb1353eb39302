"""Candidates that are no negatives, because their text is the anchor's or the positive's own.

Whoever holds the texts numbers them: equal numbers are equal texts. Texts are compared as texts,
never by similarity. A candidate of the same text is left out of the negatives; it is not made a
positive.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from losses.inputs import may_ask

# From here on sorting the numbers takes less than looking them up in every block.
WORTH_SORTING = 1024

# Which cells [n, C] of a span of rows are left out.
Absent = Callable[[slice], Tensor]


def same_text(anchors: Tensor, positives: Tensor, candidates: Tensor) -> Tensor:
    """Whether candidate j has the text of row i's anchor or of its positive: bool [R, C].

    Args:
        anchors, positives: [R], the numbers of the texts of each row.
        candidates: [C], those of what it is compared with.

    >>> same_text(torch.tensor([1, 2]), torch.tensor([3, 4]), torch.tensor([3, 4, 1]))
    tensor([[ True, False,  True],
            [False,  True, False]])
    """
    return (candidates == anchors[:, None]) | (candidates == positives[:, None])


def same_text_count(anchors: Tensor, positives: Tensor, candidates: Tensor) -> Tensor:
    """How many candidates have the text of each row's anchor or of its positive: int64 [R].

    The sums of the rows of `same_text`, in O(R + C) memory.
    """
    ordered = candidates.sort().values

    def count(texts: Tensor) -> Tensor:
        below = torch.searchsorted(ordered, texts)
        return torch.searchsorted(ordered, texts, right=True) - below

    return count(anchors) + count(positives).masked_fill(anchors == positives, 0)


def absent_by(anchors: Tensor, positives: Tensor, candidates: Tensor) -> Absent:
    """`same_text` of a span of rows at a time."""
    return lambda span: same_text(anchors[span], positives[span], candidates)


def all_differ(texts: Tensor) -> bool:
    """Whether it is known that no text stands twice, so that none is left out for its text; of few
    rows, and where asking would hold something up, it is not asked.

    >>> all_differ(torch.arange(2000)), all_differ(torch.arange(2000) // 2)
    (True, False)
    """
    if len(texts) < WORTH_SORTING or not may_ask(texts):
        return False
    ordered = texts.sort().values
    return not bool((ordered[1:] == ordered[:-1]).any())
