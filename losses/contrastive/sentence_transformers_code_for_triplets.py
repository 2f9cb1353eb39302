"""The code that computes the triplet losses with sentence-transformers."""

from lossprism.losses.contrastive.triplet_symbols import GIVEN, MINED
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent


def equivalent_of_mined(kind: str, *, margin: float, distance: str) -> Equivalent | None:
    """Return the code of a loss of sentence-transformers that mines by itself."""
    if distance not in ("euclidean", "cosine"):
        return None
    return Equivalent(
        f"BatchHardTripletLossDistanceFunction, {kind}",
        MINED,
        f"metric = BatchHardTripletLossDistanceFunction.{distance}_distance\n"
        f"theirs = {kind}(None, distance_metric=metric, margin={margin!r})\n"
        "loss = theirs.compute_loss_from_embeddings([anchors], classes)\n",
    )


def equivalent_of(
    *, mining: str, margin: float, distance: str, soft_margin: bool
) -> Equivalent | None:
    if soft_margin:
        return None
    if mining == "semi_hard":
        return equivalent_of_mined("BatchSemiHardTripletLoss", margin=margin, distance=distance)
    if mining != "all" or distance not in ("euclidean", "cosine"):
        return None
    return Equivalent(
        "TripletDistanceMetric, TripletLoss",
        MINED,
        "# Every (anchor, positive of its class, negative of another).\n"
        "alike = classes[:, None] == classes[None, :]\n"
        "partners = alike & ~torch.eye(len(classes), dtype=torch.bool)\n"
        "valid = partners[:, :, None] & ~alike[:, None, :]\n"
        "triplets = [anchors[place] for place in valid.nonzero(as_tuple=True)]\n"
        f"metric = TripletDistanceMetric.{distance.upper()}\n"
        f"theirs = TripletLoss(None, distance_metric=metric, triplet_margin={margin!r})\n"
        "loss = theirs.compute_loss_from_embeddings(triplets, None)\n",
        over_triplets=True,
    )


def equivalent_of_given(*, margin: float, distance: str, soft_margin: bool) -> Equivalent | None:
    if soft_margin or distance not in ("euclidean", "cosine"):
        return None
    return Equivalent(
        "TripletDistanceMetric, TripletLoss",
        GIVEN,
        f"metric = TripletDistanceMetric.{distance.upper()}\n"
        f"theirs = TripletLoss(None, distance_metric=metric, triplet_margin={margin!r})\n"
        "loss = theirs.compute_loss_from_embeddings([anchors, positives, negatives], None)\n",
    )
