"""The triplet loss, of given triplets or mined from classes.

Mined triplets: a row is an anchor with one positive, a column the sentence that may be its
negative. All ordered pairs of one class make a row; for "hard", each anchor with its farthest.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from losses import geometry, inputs
from losses.contrastive.given_triplets import (
    triplet_given,
    triplet_given_definition,
    triplet_given_manhattan_definition,
    triplet_given_shifted_definition,
    triplet_given_swapped_definition,
)
from losses.contrastive.mined_triplets import (
    from_classes,
    triplet_every_anchor_definition,
    triplet_every_anchor_softly_definition,
    triplet_over_violating,
    triplet_over_violating_definition,
    triplet_semi_hard_or_itself,
    triplet_semi_hard_or_itself_definition,
    triplet_shifted_definition,
    triplet_unit,
    triplet_unit_definition,
    triplet_unit_smooth_definition,
    triplet_unit_swapped_definition,
)
from losses.gather import gathered
from losses.kernels import mean_of, softplus
from losses.landmarks import softplus_at
from losses.spec import Convention, LossSpec, Parameter, Symbol
from losses.twins import Twin

MININGS = ("given", "all", "semi_hard", "hard")


def triplet_definition(
    anchors: Tensor,
    positives: Tensor | None = None,
    negatives: Tensor | None = None,
    *,
    classes: Tensor | None = None,
    mining: str = "given",
    margin: float = 1.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
) -> Tensor:
    if positives is not None and negatives is not None:  # mining is "given"
        settings = {"margin": margin, "distance": distance, "soft_margin": soft_margin}
        return triplet_given_definition(anchors, positives, negatives, **settings)
    assert classes is not None
    distances = geometry.distance_matrix(anchors, anchors, distance)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    partners = alike & ~itself
    if mining == "hard":
        anchor = partners.any(dim=1).nonzero()[:, 0]
        positive = distances.masked_fill(~partners, -torch.inf).argmax(dim=1)[anchor]
    else:
        anchor, positive = partners.nonzero(as_tuple=True)
    to_positive = distances[anchor, positive]
    to_others = distances[anchor]
    strangers = ~alike[anchor]
    place = torch.arange(len(classes), device=classes.device)
    if mining == "all":
        valid = strangers
    elif mining == "hard":
        negative = to_others.masked_fill(~strangers, torch.inf).argmin(dim=1)
        valid = strangers & (place == negative[:, None])
    else:  # the nearest negative beyond the positive; if there is none, the farthest
        beyond = strangers & (to_others > to_positive[:, None])
        nearest_beyond = to_others.masked_fill(~beyond, torch.inf).argmin(dim=1)
        farthest = to_others.masked_fill(~strangers, -torch.inf).argmax(dim=1)
        negative = torch.where(beyond.any(dim=1), nearest_beyond, farthest)
        valid = strangers & (place == negative[:, None])
    differences = to_positive[:, None] - to_others + margin
    violations = differences.masked_fill(~valid, -torch.inf)
    terms = softplus(violations) if soft_margin else violations.relu()
    loss = mean_of(terms, valid)
    return loss


def triplet(
    anchors: Tensor,
    positives: Tensor | None = None,
    negatives: Tensor | None = None,
    *,
    classes: Tensor | None = None,
    mining: str = "given",
    margin: float = 1.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
    gather: bool = False,
) -> Tensor:
    r"""mean max(0, d(a, p) − d(a, n) + m) over given or mined triplets (S2; S1 eq. 35).

    >>> anchors, positives, negatives = torch.zeros(1, 1), torch.ones(1, 1), torch.ones(1, 1)
    >>> triplet(anchors, positives, negatives, margin=0.5)  # 1 − 1 + 0.5
    tensor(0.5000)
    >>> embeddings, classes = torch.tensor([[0.0], [1.0], [3.0]]), torch.tensor([0, 0, 1])
    >>> triplet(embeddings, classes=classes, mining="all", margin=2.0)  # (1 − 3 + 2, 1 − 2 + 2)
    tensor(0.5000)

    Args:
        anchors, positives, negatives: [N, D] each. With mining, `anchors` are all embeddings
            [S, D], and the other two are left out.
        classes: [S], whole numbers, to mine from.
        mining: "given"; "all": every (anchor, positive of its class, negative of another);
            "semi_hard": for each (anchor, positive) the nearest negative farther than the
            positive, else the farthest negative (FaceNet); "hard": for each anchor its farthest
            positive and its nearest negative. Without any valid triplet the loss is 0.
        margin: m.
        distance: "euclidean", "squared_euclidean" or "cosine".
        soft_margin: log(1 + e^x) in place of max(0, x): no triplet is ever done with.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    inputs.one_of(geometry.DISTANCES, distance=distance)
    if mining == "given":
        if positives is None or negatives is None:
            raise ValueError(
                'mining is "given", which needs positives and negatives beside the anchors; '
                'with classes, choose mining "all", "semi_hard" or "hard"'
            )
        if classes is not None:
            raise ValueError('classes have no use while mining is "given"')
        settings = {"margin": margin, "distance": distance, "soft_margin": soft_margin}
        return triplet_given(anchors, positives, negatives, **settings, gather=gather)
    inputs.one_of(MININGS, mining=mining)
    if classes is None:
        raise ValueError(f"mining is {mining!r}, which needs the class of each embedding")
    if positives is not None or negatives is not None:
        raise ValueError(
            f"mining is {mining!r}, which finds positives and negatives among the anchors "
            'by class; to use given ones, choose mining "given"'
        )
    anchors, classes = gathered(gather, anchors, classes)
    found = f"soft_{mining}" if soft_margin else mining
    return from_classes(anchors, classes, found, margin, distance, _mined_densely)


def _mined_densely(anchors, classes, mining, margin, distance):
    return triplet_definition(
        anchors,
        classes=classes,
        mining=mining.removeprefix("soft_"),
        margin=margin,
        distance=distance,
        soft_margin=mining.startswith("soft_"),
    )


def _has_triplet(classes: Tensor) -> bool:
    _, sizes = classes.unique(return_counts=True)
    return len(sizes) > 1 and bool((sizes > 1).any())


def _triplet_collapse(
    given: dict[str, Tensor], margin: float = 1.0, soft_margin: bool = False, **_: object
) -> float:
    classes = given.get("classes")
    if classes is not None and not _has_triplet(classes):
        return 0.0
    return softplus_at(margin) if soft_margin else max(margin, 0.0)


def _triplet_floor(
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
        return None if _has_triplet(classes) else 0.0
    groups = len(classes.unique())
    if not _has_triplet(classes) or margin <= groups / (groups - 1):
        return 0.0
    return None


# How far apart two unit vectors can be.
_DIAMETER = {"euclidean": 2.0, "squared_euclidean": 4.0, "cosine": 2.0}


def _floor_of_given(
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


def _floor_of_manhattan(given: dict[str, Tensor], margin: float = 5.0) -> float:
    """As `_floor_of_given`: opposite corners of a cube are 2√D apart by their coordinates."""
    if not all(map(geometry.are_unit, given.values())):
        return 0.0
    return max(margin - 2 * given["anchors"].shape[1] ** 0.5, 0.0)


MINED = {"anchors": "embeddings", "classes": "paired_classes"}
GIVEN_NOTE = (
    "Takes each positive pair with each other pair of the same first sentence. Of unit vectors the "
    "floor is the margin less the largest distance they can have; vectors of any length reach 0."
)
GIVEN = {
    "anchors": "triplet_anchors",
    "positives": "triplet_positives",
    "negatives": "triplet_negatives",
}

TRIPLET_SYMBOLS = {
    "anchors": Symbol("z_i", ("sentence", "dimension")),
    "directions": Symbol(r"z_i / \lVert z_i \rVert", ("sentence", "dimension")),
    "classes": Symbol("c_i", ("sentence",)),
    "distances": Symbol(r"d_{ik} = d(z_i, z_k)", ("sentence", "sentence"), signed=False),
    "alike": Symbol("c_i = c_k", ("sentence", "sentence"), "«classes[r]» = «classes[c]»"),
    "itself": Symbol("i = k", ("sentence", "sentence"), "«r» = «c»"),
    "partners": Symbol(
        r"c_i = c_k,\ i \ne k",
        ("sentence", "sentence"),
        r"«classes[r]» = «classes[c]»,\ «r» \ne «c»",
    ),
    "anchor": Symbol("a_t", ("triplet",)),
    "positive": Symbol("p_t", ("triplet",)),
    "to_positive": Symbol(
        r"d^+_t = d(a_t, p_t)", ("triplet",), "«distances[anchor[r],positive[r]]»", signed=False
    ),
    "to_others": Symbol(
        r"d_{tk} = d(a_t, z_k)", ("triplet", "sentence"), "«distances[anchor[r],c]»", signed=False
    ),
    "strangers": Symbol(
        r"c_{a_t} \ne c_k", ("triplet", "sentence"), r"«classes[anchor[r]]» \ne «classes[c]»"
    ),
    "beyond": Symbol(
        r"c_{a_t} \ne c_k,\ d_{tk} > d^+_t",
        ("triplet", "sentence"),
        r"«classes[anchor[r]]» \ne «classes[c]»,\ «to_others[r,c]» > «to_positive[r]»",
    ),
    "place": Symbol("k", ("sentence",)),
    "nearest_beyond": Symbol(r"\arg\min_{d_{tk} > d^+_t} d_{tk}", ("triplet",)),
    "farthest": Symbol(r"\arg\max_k d_{tk}", ("triplet",), signed=False),
    "negative": Symbol("n_t", ("triplet",)),
    "valid": Symbol(r"(t, k)\ \text{is a triplet}", ("triplet", "sentence")),
    "differences": Symbol(
        r"x_{tk} = d^+_t - d_{tk} + m",
        ("triplet", "sentence"),
        "«to_positive[r]» - «to_others[r,c]» + «margin»",
    ),
    "violations": Symbol(
        r"v_{tk} = d^+_t - d_{tk} + m\ \text{where}\ (t, k)\ \text{is a triplet}",
        ("triplet", "sentence"),
        "«to_positive[r]» - «to_others[r,c]» + «margin»",
    ),
    "terms": Symbol(
        r"t_{tk} = [v_{tk}]_+\ \text{or}\ \log(1 + e^{v_{tk}})",
        ("triplet", "sentence"),
        {
            "soft_margin": r"\log\bigl(1 + e^{«violations[r,c]»}\bigr)",
            "": "[«violations[r,c]»]_+",
        },
        signed=False,
    ),
    "loss": Symbol(
        r"\mathcal L = \overline{t_{tk}}\ \text{over the triplets}",
        live=r"\frac{«Σ terms»}{«valid.sum().clamp_min(1)»}",
    ),
}

VIOLATING = {
    "loss": Symbol(
        r"\mathcal L = \text{mean of}\ t_{tk} > 0",
        live=r"\frac{«Σ terms»}{«(terms > 0).sum().clamp_min(1)»}",
    )
}

OF_GIVEN = {
    "anchors": Symbol("a_t", ("given_triplet", "dimension")),
    "positives": Symbol("p_t", ("given_triplet", "dimension")),
    "negatives": Symbol("n_t", ("given_triplet", "dimension")),
    "to_positive": Symbol(r"d^+_t = d(a_t, p_t)", ("given_triplet",), signed=False),
    "to_negative": Symbol(r"d^-_t = d(a_t, n_t)", ("given_triplet",), signed=False),
    "violations": Symbol(
        r"v_t = d^+_t - d^-_t + m",
        ("given_triplet",),
        "«to_positive[r]» - «to_negative[r]» + «margin»",
    ),
    "terms": Symbol(
        r"t_t = [v_t]_+\ \text{or}\ \log(1 + e^{v_t})",
        ("given_triplet",),
        {"soft_margin": r"\log\bigl(1 + e^{«violations[r]»}\bigr)", "": "[«violations[r]»]_+"},
        signed=False,
    ),
    "loss": Symbol(
        r"\mathcal L = \frac{1}{|T|} \sum_t t_t", live=r"\frac{«Σ terms»}{«len(terms)»}"
    ),
}

OF_GIVEN_HARD = Symbol("t_t = [v_t]_+", ("given_triplet",), "[«violations[r]»]_+", signed=False)

SHIFTED_GIVEN = {
    "to_positive": Symbol(
        r"d^+_t = \lVert a_t - p_t + \varepsilon \rVert", ("given_triplet",), signed=False
    ),
    "to_negative": Symbol(
        r"d^-_t = \lVert a_t - n_t + \varepsilon \rVert", ("given_triplet",), signed=False
    ),
}

EVERY_ANCHOR = {
    "to_positive": Symbol(
        r"d^+_a = \max_p d(a, p)",
        ("sentence",),
        r"\max\bigl(0, «max distances[r] where alike[r] & ~itself[r]»\bigr)",
        signed=False,
    ),
    "farthest": Symbol(
        r"\max_k d_{ak}",
        ("sentence",),
        r"\max\bigl(«max distances[r]»\bigr)",
        signed=False,
    ),
    "to_negative": Symbol(
        r"d^-_a = \min_n d(a, n)",
        ("sentence",),
        r"\min\bigl(«min distances[r] + farthest[r][..., None] * alike[r]»\bigr)",
        signed=False,
    ),
    "violations": Symbol(
        r"v_a = d^+_a - d^-_a + m",
        ("sentence",),
        "«to_positive[r]» - «to_negative[r]» + «margin»",
    ),
    "terms": Symbol("t_a = [v_a]_+", ("sentence",), "[«violations[r]»]_+", signed=False),
    "loss": Symbol(r"\mathcal L = \frac1S \sum_a t_a", live=r"\frac{«Σ terms»}{«len(terms)»}"),
}


def _twin_of_mined(
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


def _twin(*, mining: str, margin: float, distance: str, soft_margin: bool) -> Twin | None:
    if soft_margin:
        return None
    if mining == "semi_hard":
        return _twin_of_mined("BatchSemiHardTripletLoss", margin=margin, distance=distance)
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


def _twin_of_given(*, margin: float, distance: str, soft_margin: bool) -> Twin | None:
    if soft_margin or distance not in ("euclidean", "cosine"):
        return None
    return Twin(
        "TripletDistanceMetric, TripletLoss",
        GIVEN,
        f"metric = TripletDistanceMetric.{distance.upper()}\n"
        f"twin = TripletLoss(None, distance_metric=metric, triplet_margin={margin!r})\n"
        "loss = twin.compute_loss_from_embeddings([anchors, positives, negatives], None)\n",
    )


TRIPLET = LossSpec(
    function=triplet,
    definition=triplet_definition,
    title="Triplet",
    group="distances",
    formula=r"\frac{1}{|T|} \sum_{(a, p, n) \in T} [d(a, p) - d(a, n) + m]_+",
    symbols=TRIPLET_SYMBOLS,
    parameters=(
        # The function's default is "given"; a batch has classes, and mines.
        Parameter("mining", "all", choices=("all", "semi_hard", "hard")),
        Parameter("margin", 1.0, "m", 0.0, 6.0, 0.01, role="margin"),
        Parameter("distance", "euclidean", choices=geometry.DISTANCES),
        Parameter("soft_margin", False),
    ),
    variants={
        "soft_margin=true": r"\frac{1}{|T|} \sum_{(a, p, n) \in T}"
        r" \log\bigl(1 + e^{d(a, p) - d(a, n) + m}\bigr)",
    },
    reads=MINED,
    terms="violations",
    collapse=_triplet_collapse,
    collapse_formula="m",
    floor=_triplet_floor,
    floor_formula="0",
    references=("S2", "S1 eq. 35", "Schroff et al. 2015", "Hermans et al. 2017"),
    twin=_twin,
    aliases=(
        "TripletLoss",
        "TripletMarginLoss",
        "TripletMarginWithDistanceLoss",
        "BatchAllTripletLoss",
        "BatchHardTripletLoss",
        "BatchHardSoftMarginTripletLoss",
        "BatchSemiHardTripletLoss",
    ),
    conventions=(
        Convention(
            "sentence-transformers TripletLoss",
            {"mining": "all", "margin": 5.0},
            given_triplets={"mining": "given"},
            note="The library's loss takes triplets as they are given. A batch of pairs has none: "
            "here all are mined from the classes. Where a first sentence has a positive and "
            "others, choose the convention of given triplets.",
        ),
        Convention(
            "sentence-transformers 6.2 TripletLoss (given triplets)",
            {"margin": 5.0},
            triplet_given_definition,
            symbols=OF_GIVEN,
            reads=GIVEN,
            function=triplet_given,
            twin=_twin_of_given,
            note=GIVEN_NOTE,
            collapse=_triplet_collapse,
            floor=_floor_of_given,
        ),
        Convention(
            "sentence-transformers 6.2, Manhattan distance (given triplets)",
            {"margin": 5.0},
            triplet_given_manhattan_definition,
            formula=r"\frac{1}{|T|} \sum_T \bigl[\sum_k |a_k - p_k|"
            r" - \sum_k |a_k - n_k| + m\bigr]_+",
            symbols={
                **OF_GIVEN,
                "to_positive": Symbol(
                    r"d^+_t = \sum_k |a_{tk} - p_{tk}|", ("given_triplet",), signed=False
                ),
                "to_negative": Symbol(
                    r"d^-_t = \sum_k |a_{tk} - n_{tk}|", ("given_triplet",), signed=False
                ),
                "terms": OF_GIVEN_HARD,
            },
            reads=GIVEN,
            note="A sum over dimensions: it grows with their number, about as √D for unit vectors, "
            "and the margin of 5 with it means less. Takes each positive pair with each other pair "
            "of the same first sentence.",
            collapse=_triplet_collapse,
            floor=_floor_of_manhattan,
        ),
        Convention(
            "sentence-transformers BatchAll",
            {"margin": 5.0},
            triplet_over_violating_definition,
            formula=r"\frac{\sum_T [d(a, p) - d(a, n) + m]_+}{|\{T: d(a, p) - d(a, n) + m > 0\}|}",
            symbols=VIOLATING,
            function=triplet_over_violating,
            twin=partial(_twin_of_mined, "BatchAllTripletLoss"),
        ),
        Convention(
            "sentence-transformers BatchHard",
            {"margin": 5.0},
            triplet_every_anchor_definition,
            formula=r"\frac1S \sum_a \bigl[\max_p d(a, p) - \min_n d(a, n) + m\bigr]_+",
            symbols=EVERY_ANCHOR,
            twin=partial(_twin_of_mined, "BatchHardTripletLoss"),
        ),
        Convention(
            "sentence-transformers 6.2 BatchHardSoftMargin",
            {},
            triplet_every_anchor_softly_definition,
            formula=r"\frac1S \sum_a \log\bigl(1 + e^{\max_p d(a, p) - \min_n d(a, n)}\bigr)",
            symbols={
                **EVERY_ANCHOR,
                "violations": Symbol(
                    r"v_a = d^+_a - d^-_a", ("sentence",), "«to_positive[r]» - «to_negative[r]»"
                ),
                "terms": Symbol(
                    r"t_a = \log(1 + e^{v_a})",
                    ("sentence",),
                    r"\log\bigl(1 + e^{«violations[r]»}\bigr)",
                    signed=False,
                ),
            },
        ),
        Convention(
            "sentence-transformers BatchSemiHard",
            {"margin": 5.0},
            triplet_semi_hard_or_itself_definition,
            function=triplet_semi_hard_or_itself,
        ),
        Convention(
            "torch (ε in the distance)",
            {"margin": 1.0},
            triplet_shifted_definition,
            formula=r"\frac{1}{|T|} \sum_T \bigl[\lVert a - p + \varepsilon \rVert"
            r" - \lVert a - n + \varepsilon \rVert + m\bigr]_+",
            symbols={
                "distances": Symbol(
                    r"d_{ik} = \lVert z_i - z_k + \varepsilon \rVert",
                    ("sentence", "sentence"),
                    signed=False,
                ),
                "loss": Symbol(
                    r"\mathcal L = \overline{t_{tk}}\ \text{over the triplets}",
                    live=r"\frac{«Σ terms»}{«strangers.sum().clamp_min(1)»}",
                ),
            },
        ),
        Convention(
            "torch TripletMarginLoss (given triplets)",
            {"margin": 1.0},
            triplet_given_shifted_definition,
            formula=r"\frac{1}{|T|} \sum_T \bigl[\lVert a - p + \varepsilon \rVert"
            r" - \lVert a - n + \varepsilon \rVert + m\bigr]_+",
            symbols={**OF_GIVEN, **SHIFTED_GIVEN},
            reads=GIVEN,
            note=GIVEN_NOTE,
            collapse=_triplet_collapse,
            floor=_floor_of_given,
        ),
        Convention(
            "torch, swap=True (given triplets)",
            {"margin": 1.0},
            triplet_given_swapped_definition,
            formula=r"\frac{1}{|T|} \sum_T \bigl[\lVert a - p + \varepsilon \rVert"
            r" - \min\bigl(\lVert a - n + \varepsilon \rVert,"
            r" \lVert p - n + \varepsilon \rVert\bigr)"
            r" + m\bigr]_+",
            symbols={
                **OF_GIVEN,
                "to_positive": SHIFTED_GIVEN["to_positive"],
                "to_anchor": SHIFTED_GIVEN["to_negative"],
                "from_positive": Symbol(
                    r"\lVert p_t - n_t + \varepsilon \rVert", ("given_triplet",), signed=False
                ),
                "to_negative": Symbol(
                    r"d^-_t = \min(d(a_t, n_t), d(p_t, n_t))",
                    ("given_triplet",),
                    r"\min(«to_anchor[r]», «from_positive[r]»)",
                    signed=False,
                ),
                "terms": OF_GIVEN_HARD,
            },
            reads=GIVEN,
            note="The negative is held away from whichever is nearer to it, anchor or positive. "
            + GIVEN_NOTE,
            collapse=_triplet_collapse,
            floor=_floor_of_given,
        ),
        Convention(
            "pytorch-metric-learning 2.9, swap=True",
            {"margin": 0.05},
            triplet_unit_swapped_definition,
            formula=r"\frac{\sum_T [d(a, p) - \min(d(a, n), d(p, n)) + m]_+}"
            r"{|\{T: d(a, p) - \min(d(a, n), d(p, n)) + m > 0\}|},"
            r"\quad \lVert a \rVert = \lVert p \rVert = \lVert n \rVert = 1",
            symbols={
                **VIOLATING,
                "to_others": Symbol(
                    r"d_{tk} = \min\bigl(d(a_t, z_k), d(p_t, z_k)\bigr)",
                    ("triplet", "sentence"),
                    r"\min(«distances[anchor[r],c]», «distances[positive[r],c]»)",
                    signed=False,
                ),
            },
            collapse=_triplet_collapse,
        ),
        Convention(
            "pytorch-metric-learning 2.9, smooth_loss=True",
            {"margin": 0.05},
            triplet_unit_smooth_definition,
            formula=r"\frac{1}{|T|} \sum_T \log\bigl(1 + e^{d(a, p) - d(a, n) + m}\bigr),"
            r"\quad \lVert a \rVert = \lVert p \rVert = \lVert n \rVert = 1",
            symbols={
                **VIOLATING,
                "terms": Symbol(
                    r"t_{tk} = \log(1 + e^{v_{tk}})",
                    ("triplet", "sentence"),
                    r"\log\bigl(1 + e^{«violations[r,c]»}\bigr)",
                    signed=False,
                ),
            },
            collapse=partial(_triplet_collapse, soft_margin=True),
        ),
        Convention(
            "pytorch-metric-learning",
            {"margin": 0.05},
            triplet_unit_definition,
            formula=r"\frac{\sum_T [d(a, p) - d(a, n) + m]_+}{|\{T: d(a, p) - d(a, n) + m > 0\}|},"
            r"\quad \lVert a \rVert = \lVert p \rVert = \lVert n \rVert = 1",
            symbols=VIOLATING,
            function=triplet_unit,
        ),
    ),
)
