"""What the server answers the Fine-tune page."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.core.remarks import Remark
from explorer.lab.training.verdict import Difference, Gain
from explorer.locale import Word
from explorer.runtime.wire import Setting


class Spread(TypedDict):
    """A figure over seeds; one seed has no spread."""

    mean: float
    spread: float | None
    values: list[float]


class GroupDifference(TypedDict):
    """How far group b lies above group a in a figure."""

    a: str
    b: str
    figure: str
    between: Difference


class Group(TypedDict):
    """Runs that differ in the seed alone."""

    label: str
    loss: str
    parameters: dict[str, Setting]
    runs: list[str]
    seeds: list[int]
    figures: dict[str, Spread]
    leading: Literal["spearman", "accuracy_at_1"]
    gain: Gain | None


class MovedPair(TypedDict):
    """A held-out pair and its ranks, 1 for the highest score."""

    first: str
    second: str
    label: float
    score_before: float
    score_after: float
    rank_before: float
    rank_after: float
    label_rank: float


class Neighbour(TypedDict):
    """A sentence nearby."""

    sentence: str
    cosine: float


class Neighbours(TypedDict):
    """The nearest sentences before and after; `kept` of them stayed the same."""

    sentence: str
    before: list[Neighbour]
    after: list[Neighbour]
    kept: int


class OnFile(TypedDict):
    """A file that runs were measured on: of `total` rows `skipped` could not be used; `shared` of
    its `count` pairs have a sentence that one of the runs was trained on."""

    name: str
    count: int
    total: int
    skipped: int
    sampled: bool
    shared: int


class _Compared(TypedDict):
    pairs: Word
    unseen: OnFile | None
    groups: list[Group]
    differences: list[GroupDifference]
    verdict: list[Remark]
    level: str
    least_seeds: int


class Compared(_Compared, total=False):
    """Finished runs beside each other, and what the first of them moved."""

    run: str
    moved: list[MovedPair]
    neighbours: list[Neighbours]
