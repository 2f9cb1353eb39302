"""Reference values of RankNet and its conventions."""

import functools
import math
from collections.abc import Callable
from typing import Any

from torch import Tensor

from lossprism.losses.kernels.ordered_hinge_and_logistic_sums import sum_of_gaps
from lossprism.losses.labels import COSINES, UNJUDGED, Ends
from lossprism.losses.minimum import softplus_at
from lossprism.losses.ranking.ordered_pair_symbols import ordered_count


def of_judged(value_of: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reference value of the pairs whose label is not `UNJUDGED`."""

    @functools.wraps(value_of)
    def of_judged(tensors: dict[str, Tensor], **parameters: Any) -> Any:
        judged = tensors["labels"] != UNJUDGED
        return value_of({name: value[judged] for name, value in tensors.items()}, **parameters)

    return of_judged


def judged_count(labels: Tensor) -> int:
    return ordered_count(labels[labels != UNJUDGED])


def by_gap_collapse(tensors: dict[str, Tensor], **_: object) -> float:
    count = ordered_count(tensors["labels"])
    return count and math.log(2) * float(sum_of_gaps(tensors["labels"].double())) / count


def _logistic_at(difference: float, count: int, reduction: str) -> float:
    """The loss when every one of `count` ordered pairs has this scaled difference."""
    each = softplus_at(difference)
    return each * (count if reduction == "sum" else min(count, 1))


def logistic_collapse(tensors: dict[str, Tensor], reduction: str = "sum", **_: object) -> float:
    return _logistic_at(0.0, ordered_count(tensors["labels"]), reduction)


def logistic_floor(
    tensors: dict[str, Tensor], scale: float, reduction: str = "sum", within: Ends = COSINES
) -> float | None:
    """Every ordered pair at the ends. Between ends, that of graded labels is not known."""
    farthest = scale * (within[1] - within[0])
    if math.isinf(farthest):
        return 0.0
    if len(tensors["labels"].unique()) > 2:
        return None
    return _logistic_at(-farthest, ordered_count(tensors["labels"]), reduction)


def binary_floor(tensors: dict[str, Tensor], within: Ends = COSINES, **chosen: Any) -> float | None:
    least = logistic_floor(tensors, **chosen, reduction="mean", within=within)
    return None if least is None else least / math.log(2)


def per_item_floor(
    tensors: dict[str, Tensor], within: Ends = COSINES, **chosen: Any
) -> float | None:
    labels = tensors["labels"]
    least = logistic_floor({"labels": labels[labels >= 0]}, **chosen, within=within)
    return None if least is None else least / len(labels)


def by_gap_floor(tensors: dict[str, Tensor], within: Ends = COSINES, **chosen: Any) -> float | None:
    labels = tensors["labels"].double()
    least = logistic_floor(tensors, **chosen, reduction="mean", within=within)
    return least and least * float(labels.max() - labels.min())
