"""Meaning of labels: the ends of their scale, the threshold of positives, and regression targets.

One rule for every page, for programs and for `losses.sentence_transformers`.

>>> label_rules([1, 2, 4, 5])
LabelRules(threshold=3.0, label_range=(1.0, 5.0))
>>> label_rules([0.0, 2.4, 5.0]).threshold
2.5
>>> label_rules([0, 0.3, 1])
LabelRules(threshold=0.5, label_range=(0.0, 1.0))
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

Ends = tuple[float, float]
Labels = TypeVar("Labels")  # an array or a tensor

UNIT: Ends = (0.0, 1.0)
COSINES: Ends = (-1.0, 1.0)
# The label of a pair that nobody judged, in relevance judgements of degrees from 0 on.
UNJUDGED = -1
# What people are asked to grade on, from the narrowest to the widest.
COMMON_RANGES: tuple[Ends, ...] = ((1.0, 5.0), (0.0, 5.0), (0.0, 10.0), (0.0, 100.0))

# By so much, labels that were computed or kept in float32 may miss a whole number, and by this
# share of a scale its end.
TOLERANCE = 1e-6


class LabelRules(NamedTuple):
    """Pairs with a label of at least `threshold` are positive; `label_range` is the scale, lowest
    and highest."""

    threshold: float
    label_range: Ends


def label_rules(
    labels: Sequence[float], threshold: float | None = None, label_range: Ends | None = None
) -> LabelRules:
    """Return the rules as passed; for missing ones, those that fit the labels of the whole data:
    the scale by `label_range_of`, and its middle as the threshold.

    Raises:
        ValueError: if there is neither a label nor a `label_range`.
    """
    ends = label_range_of(labels) if label_range is None else label_range
    return LabelRules(middle(ends) if threshold is None else threshold, ends)


def label_range_of(labels: Sequence[float], *, part: bool = False) -> Ends:
    """Return the ends of the scale of labels [N], all finite.

    Labels within 0..1 are read as 0 to 1, those within −1..1 as −1 to 1. If the least and largest
    are whole numbers, these are the ends, since whole data reach both; except if the least is above
    1, and they reach the upper end of 1–5, 0–10 or 0–100 and lie on both sides of its middle: then
    nobody gave the lowest grade, and 2 to 5 are read as on 1 to 5. Otherwise the scale is the first
    of 1–5, 0–5, 0–10, 0–100 that holds all labels and whose middle one of them reaches, or else
    their least and largest. A single label is compared with 0. For a `part` of the data, which need
    not reach the ends, it is the first of the four that holds the labels.

    Raises:
        ValueError: if there is no label.
    """
    low, high = _tidy(min(labels)), _tidy(max(labels))
    for ends in (UNIT, COSINES):
        if holds(ends, low, high):
            return ends
    if not part:
        if low == high:
            return min(low, 0.0), max(high, 0.0)
        if low.is_integer() and high.is_integer():
            # Grades of which nobody gave the lowest: 2 to 5 were given on 1 to 5.
            reached = (e for e in COMMON_RANGES if e[1] == high and holds(e, low, high) and low > 1)
            return next((ends for ends in reached if low < middle(ends)), (low, high))
    for ends in COMMON_RANGES:
        if holds(ends, low, high) and (part or high >= middle(ends)):
            return ends
    return (low, high) if low < high else (min(low, 0.0), max(high, 0.0))


def middle(ends: Ends) -> float:
    """Return the midpoint of the ends, as one would type it: 3.7 between 0.1 and 7.3."""
    return float(f"{ends[0] / 2 + ends[1] / 2:.12g}")


def holds(ends: Ends, low: float, high: float) -> bool:
    """Return whether labels from `low` to `high` lie between the ends, up to rounding."""
    slack = TOLERANCE * (ends[1] - ends[0])
    return ends[0] - slack <= low and high <= ends[1] + slack


def unit_labels(labels: Labels, ends: Ends) -> Labels:
    """Map the labels to a scale from 0 to 1: the low end becomes 0, the high end 1."""
    return (labels - ends[0]) / (ends[1] - ends[0])  # pyright: ignore[reportOperatorIssue]


def cosine_labels(labels: Labels, ends: Ends) -> Labels:
    """Return the labels as cosines to regress on: unchanged on a scale from −1 to 1, all others
    mapped to 0..1, as usual for sentence-transformers' CosineSimilarityLoss."""
    return labels if ends == COSINES else unit_labels(labels, ends)


def _tidy(label: float) -> float:
    """Return the nearby whole number, up to rounding; else the number itself."""
    near = float(round(label))
    return near if abs(label - near) <= TOLERANCE else float(label)
