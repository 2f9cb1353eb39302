"""What the triplet loss is at collapse and at best."""

from __future__ import annotations

from torch import Tensor

from losses import geometry
from losses.landmarks import softplus_at


def triplet_collapse(
    given: dict[str, Tensor], margin: float = 1.0, soft_margin: bool = False, **_: object
) -> float:
    classes = given.get("classes")
    if classes is not None and not has_triplet(classes):
        return 0.0
    return softplus_at(margin) if soft_margin else max(margin, 0.0)


def triplet_floor(
    given: dict[str, Tensor],
    margin: float = 1.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
    **_: object,
) -> float | None:
    """0 where classes of one point each can be a margin apart; soft, as far apart as they go."""
    if distance != "cosine":
        return 0.0
    classes = given.get("classes")
    if classes is None:
        return softplus_at(margin - 2) if soft_margin else max(margin - 2.0, 0.0)
    if soft_margin:
        return None if has_triplet(classes) else 0.0
    groups = len(classes.unique())
    if not has_triplet(classes) or margin <= groups / (groups - 1):
        return 0.0
    return None


# How far apart two unit vectors can be.
_DIAMETER = {"euclidean": 2.0, "squared_euclidean": 4.0, "cosine": 2.0}


def floor_of_given(
    given: dict[str, Tensor],
    margin: float = 1.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
    **_: object,
) -> float:
    """0 where vectors may be of any length; unit vectors are no farther apart than a diameter."""
    if distance != "cosine" and not all(map(geometry.are_unit, given.values())):
        return 0.0
    least = margin - _DIAMETER[distance]
    return softplus_at(least) if soft_margin else max(least, 0.0)


def floor_of_manhattan(given: dict[str, Tensor], margin: float = 5.0) -> float:
    """As `floor_of_given`: opposite corners of a cube are 2√D apart by their coordinates."""
    if not all(map(geometry.are_unit, given.values())):
        return 0.0
    return max(margin - 2 * given["anchors"].shape[1] ** 0.5, 0.0)


def has_triplet(classes: Tensor) -> bool:
    _, sizes = classes.unique(return_counts=True)
    return len(sizes) > 1 and bool((sizes > 1).any())
