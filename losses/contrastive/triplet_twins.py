"""The code that computes the triplet losses with sentence-transformers."""

from __future__ import annotations

from losses.contrastive.triplet_symbols import (
    GIVEN,
    MINED,
)
from losses.twins import Twin


def twin_of_mined(
    kind: str, *, margin: float, distance: str, soft_margin: bool = False
) -> Twin | None:
    """A loss of sentence-transformers that mines by itself."""
    if soft_margin or distance not in ("euclidean", "cosine"):
        return None
    return Twin(
        f"BatchHardTripletLossDistanceFunction, {kind}",
        MINED,
        f"metric = BatchHardTripletLossDistanceFunction.{distance}_distance\n"
        f"twin = {kind}(None, distance_metric=metric, margin={margin!r})\n"
        "loss = twin.compute_loss_from_embeddings([anchors], classes)\n",
    )


def twin_of(*, mining: str, margin: float, distance: str, soft_margin: bool) -> Twin | None:
    if soft_margin:
        return None
    if mining == "semi_hard":
        return twin_of_mined("BatchSemiHardTripletLoss", margin=margin, distance=distance)
    if mining != "all" or distance not in ("euclidean", "cosine"):
        return None
    return Twin(
        "TripletDistanceMetric, TripletLoss",
        MINED,
        "# Every (anchor, positive of its class, negative of another).\n"
        "alike = classes[:, None] == classes[None, :]\n"
        "partners = alike & ~torch.eye(len(classes), dtype=torch.bool)\n"
        "valid = partners[:, :, None] & ~alike[:, None, :]\n"
        "triplets = [anchors[place] for place in valid.nonzero(as_tuple=True)]\n"
        f"metric = TripletDistanceMetric.{distance.upper()}\n"
        f"twin = TripletLoss(None, distance_metric=metric, triplet_margin={margin!r})\n"
        "loss = twin.compute_loss_from_embeddings(triplets, None)\n",
        over_triplets=True,
    )


def twin_of_given(*, margin: float, distance: str, soft_margin: bool) -> Twin | None:
    if soft_margin or distance not in ("euclidean", "cosine"):
        return None
    return Twin(
        "TripletDistanceMetric, TripletLoss",
        GIVEN,
        f"metric = TripletDistanceMetric.{distance.upper()}\n"
        f"twin = TripletLoss(None, distance_metric=metric, triplet_margin={margin!r})\n"
        "loss = twin.compute_loss_from_embeddings([anchors, positives, negatives], None)\n",
    )
