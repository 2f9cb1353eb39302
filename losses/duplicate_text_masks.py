"""Candidates excluded as negatives because their text is the anchor's or the positive's own.

Callers number the texts: equal numbers are equal texts. Texts are compared as texts, never by
similarity. A candidate of the same text is excluded from the negatives, not made a positive.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from lossprism.losses.input_checks import may_ask

# From here on sorting the numbers takes less than looking them up in every block.
MIN_SORTED_TEXTS = 1024

# Which cells [n, C] of a span of rows are left out.
Absent = Callable[[slice], Tensor]


def same_text(anchors: Tensor, positives: Tensor, candidates: Tensor) -> Tensor:
    """Return whether candidate j has the text of row i's anchor or of its positive: bool [R, C].

    Args:
        anchors, positives: [R], the text numbers of each row.
        candidates: [C], the text numbers of the candidates.

    >>> same_text(torch.tensor([1, 2]), torch.tensor([3, 4]), torch.tensor([3, 4, 1]))
    tensor([[ True, False,  True],
            [False,  True, False]])
    """
    return (candidates == anchors[:, None]) | (candidates == positives[:, None])


def same_text_count(anchors: Tensor, positives: Tensor, candidates: Tensor) -> Tensor:
    """Count the candidates with the text of each row's anchor or of its positive: int64 [R].

    Equals the row sums of `same_text`, in O(R + C) memory.
    """
    ordered = candidates.sort().values

    def count(texts: Tensor) -> Tensor:
        below = torch.searchsorted(ordered, texts)
        return torch.searchsorted(ordered, texts, right=True) - below

    return count(anchors) + count(positives).masked_fill(anchors == positives, 0)


def absent_by(anchors: Tensor, positives: Tensor, candidates: Tensor) -> Absent:
    """Return `same_text` for a span of rows at a time."""
    return lambda span: same_text(anchors[span], positives[span], candidates)


def all_differ(texts: Tensor) -> bool:
    """Return whether all texts are known to differ, so that none needs to be excluded. False
    without a check for few rows, and where the check would block.

    >>> all_differ(torch.arange(2000)), all_differ(torch.arange(2000) // 2)
    (True, False)
    """
    if len(texts) < MIN_SORTED_TEXTS or not may_ask(texts):
        return False
    ordered = texts.sort().values
    return not bool((ordered[1:] == ordered[:-1]).any())
