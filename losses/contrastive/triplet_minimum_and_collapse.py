"""Reference values of the triplet loss."""

import math
from collections.abc import Callable

from torch import Tensor

from lossprism.losses import geometry
from lossprism.losses.minimum import Bound, simplex_gap, softplus_at

# How far apart two unit vectors can be.
DIAMETER = {"euclidean": 2.0, "squared_euclidean": 4.0, "cosine": 2.0}


def triplet_reach(distance: str = "euclidean", **_: object) -> float:
    """Return the distance of two opposite unit vectors."""
    return DIAMETER[distance]


def triplet_collapse(
    tensors: dict[str, Tensor], margin: float = 1.0, soft_margin: bool = False, **_: object
) -> float:
    classes = tensors.get("classes")
    if classes is not None and not has_triplet(classes):
        return 0.0
    return softplus_at(margin) if soft_margin else max(margin, 0.0)


def triplet_floor(
    tensors: dict[str, Tensor],
    margin: float = 1.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
    mining: str = "all",
    **_: object,
) -> float:
    """Return 0 if classes of one point each can be a margin apart; otherwise, and for soft terms,
    the value with unit vectors as far apart as possible."""
    if not has_triplet(tensors["classes"]):
        return 0.0
    if distance != "cosine" and not geometry.are_unit(tensors["anchors"]):
        return 0.0
    of_gap = softplus_at if soft_margin else _hinge
    return _on_the_sphere(tensors["classes"], margin, distance, of_gap, mining != "semi_hard")


def _hinge(x: float) -> float:
    return max(x, 0.0)


def _on_the_sphere(
    classes: Tensor,
    margin: float,
    distance: str,
    of_gap: Callable[[float], float],
    on_average: bool,
) -> float:
    """Return the least mean of terms of d(a, p) − d(a, n) + m over unit vectors.

    A term rises and is convex, so its mean is no less than at the mean distance of an anchor to its
    strangers. For G classes of one size that is at most the distance in a simplex of G corners,
    which has all classes a point and all terms alike; for two classes it is the diameter.
    Otherwise, and if terms weigh strangers unequally, the diameter bounds it.
    """
    sizes = classes.unique(return_counts=True)[1]
    groups = len(sizes)
    reached = of_gap(margin - _corners(2, distance))
    if groups == 2:
        return reached
    simplex = of_gap(margin - _corners(groups, distance))
    if on_average and bool((sizes == sizes[0]).all()):
        return simplex
    return simplex if simplex == reached else Bound(reached)


def _corners(groups: int, distance: str) -> float:
    """Return the distance of two corners of a simplex of so many on the sphere."""
    apart = simplex_gap(groups)
    return {"cosine": apart, "squared_euclidean": 2 * apart, "euclidean": math.sqrt(2 * apart)}[
        distance
    ]


def floor_over_violating(
    tensors: dict[str, Tensor], margin: float = 5.0, distance: str = "euclidean", **_: object
) -> float:
    """Return the minimum: beyond the diameter every triplet violates, so it is the mean over all;
    below it, violations can be as small as desired."""
    least = triplet_floor(tensors, margin, distance)
    if least == 0 or margin > DIAMETER[distance]:
        return least
    return Bound(0.0)


def floor_of_directions(
    tensors: dict[str, Tensor], margin: float = 0.05, soft_margin: bool = False
) -> float:
    """Return the minimum for vectors that are normalised, whatever their length."""
    turned = {**tensors, "anchors": geometry.unit(tensors["anchors"])}
    if soft_margin:
        return triplet_floor(turned, margin, soft_margin=True)
    return floor_over_violating(turned, margin)


def floor_of_shifted(tensors: dict[str, Tensor], margin: float = 1.0, **_: object) -> float:
    """Return the minimum with torch's ε in every dimension, by whose length two points may be
    nearer and farther."""
    least = triplet_floor(tensors, margin)
    slack = 2 * 1e-6 * math.sqrt(tensors["anchors"].shape[1])
    return Bound(max(least - slack, 0.0)) if least > 0 else least


def collapse_of_every_anchor(tensors: dict[str, Tensor], margin: float = 5.0, **_: object) -> float:
    return max(margin, 0.0)


def floor_of_every_anchor(
    tensors: dict[str, Tensor],
    margin: float = 5.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
    **_: object,
) -> float:
    """Return `triplet_floor` if an anchor without a positive counts like any other, and one without
    a negative is a margin away from itself."""
    of_gap = softplus_at if soft_margin else _hinge
    classes = tensors["classes"]
    if len(classes.unique()) == 1:
        return of_gap(margin)
    if distance != "cosine" and not geometry.are_unit(tensors["anchors"]):
        return 0.0
    return _on_the_sphere(classes, margin, distance, of_gap, on_average=True)


def collapse_of_itself(tensors: dict[str, Tensor], margin: float = 5.0, **_: object) -> float:
    """Return the value at collapse; in a batch of one class an anchor is its own negative, at
    distance 0."""
    sizes = tensors["classes"].unique(return_counts=True)[1]
    return max(margin, 0.0) if bool((sizes > 1).any()) else 0.0


def floor_of_itself(
    tensors: dict[str, Tensor], margin: float = 5.0, distance: str = "euclidean", **_: object
) -> float:
    """Return the minimum: for one class, all in one point; else that of semi-hard triplets."""
    if len(tensors["classes"].unique()) == 1:
        return collapse_of_itself(tensors, margin)
    return triplet_floor(tensors, margin, distance, mining="semi_hard")


def floor_of_given(
    tensors: dict[str, Tensor],
    margin: float = 1.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
    **_: object,
) -> float:
    """Return 0 if vectors may be of any length; unit vectors are at most a diameter apart."""
    if distance != "cosine" and not all(map(geometry.are_unit, tensors.values())):
        return 0.0
    least = margin - DIAMETER[distance]
    return softplus_at(least) if soft_margin else max(least, 0.0)


def floor_of_manhattan(tensors: dict[str, Tensor], margin: float = 5.0) -> float:
    """Return `floor_of_given` with opposite corners of a cube 2√D apart by their coordinates."""
    if not all(map(geometry.are_unit, tensors.values())):
        return 0.0
    return max(margin - 2 * tensors["anchors"].shape[1] ** 0.5, 0.0)


def has_triplet(classes: Tensor) -> bool:
    _, sizes = classes.unique(return_counts=True)
    return len(sizes) > 1 and bool((sizes > 1).any())
