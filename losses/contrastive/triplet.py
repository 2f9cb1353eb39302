"""The triplet loss, of given triplets or mined from classes.

Mined triplets: a row is an anchor with one positive, a column the sentence that may be its
negative. All ordered pairs of one class make a row; for "hard", each anchor with its farthest.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import relu

from lossprism.losses import geometry, input_checks
from lossprism.losses.contrastive.given_triplets import (
    triplet_given,
    triplet_given_definition,
    triplet_given_manhattan_definition,
    triplet_given_shifted_definition,
    triplet_given_swapped_definition,
)
from lossprism.losses.contrastive.mined_triplet_library_variants import (
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
from lossprism.losses.contrastive.sentence_transformers_code_for_triplets import (
    equivalent_of,
    equivalent_of_given,
    equivalent_of_mined,
)
from lossprism.losses.contrastive.triplet_minimum_and_collapse import (
    collapse_of_every_anchor,
    collapse_of_itself,
    floor_of_directions,
    floor_of_every_anchor,
    floor_of_given,
    floor_of_itself,
    floor_of_manhattan,
    floor_of_shifted,
    floor_over_violating,
    triplet_collapse,
    triplet_floor,
    triplet_reach,
)
from lossprism.losses.contrastive.triplet_symbols import (
    EVERY_ANCHOR,
    GIVEN,
    GIVEN_MINIMUM,
    GIVEN_NOTE,
    MINED,
    OF_GIVEN,
    OF_GIVEN_HARD,
    SHIFTED_GIVEN,
    TRIPLET_SYMBOLS,
    VIOLATING,
)
from lossprism.losses.definition_chosen_by_options import Choice, composed
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import mean_of, softplus
from lossprism.losses.library_peer_record import (
    CLASSED,
    METRIC_LEARNING,
    SENTENCE_TRANSFORMERS,
    Peer,
)
from lossprism.losses.masks import others_of_row
from lossprism.losses.spec import Convention, LossSpec, Parameter
from lossprism.losses.symbols import (
    each_given_triplet,
    each_sentence,
    loss_symbol,
    sentence_by_sentence,
    triplet_by_sentence,
)

MININGS = ("given", "all", "semi_hard", "hard")


def triplet_all_definition(
    anchors: Tensor,
    classes: Tensor,
    *,
    margin: float = 1.0,
    distance: str = "euclidean",
    hinge: Callable[[Tensor], Tensor] = relu,
) -> Tensor:
    """Every anchor, positive of its class and negative of another."""
    distances = geometry.distance_matrix(anchors, anchors, distance)
    alike = classes[:, None] == classes[None, :]
    partners = alike & others_of_row(distances)
    anchor, positive = partners.nonzero(as_tuple=True)
    to_positive = distances[anchor, positive]
    to_others = distances[anchor]
    valid = ~alike[anchor]
    differences = to_positive[:, None] - to_others + margin
    violations = differences.masked_fill(~valid, -torch.inf)
    terms = hinge(violations)
    loss = mean_of(terms, valid)
    return loss


def triplet_semi_hard_definition(
    anchors: Tensor,
    classes: Tensor,
    *,
    margin: float = 1.0,
    distance: str = "euclidean",
    hinge: Callable[[Tensor], Tensor] = relu,
) -> Tensor:
    """Each pair of a class with the nearest negative beyond it; without one, the farthest."""
    distances = geometry.distance_matrix(anchors, anchors, distance)
    alike = classes[:, None] == classes[None, :]
    partners = alike & others_of_row(distances)
    anchor, positive = partners.nonzero(as_tuple=True)
    to_positive = distances[anchor, positive]
    to_others = distances[anchor]
    strangers = ~alike[anchor]
    beyond = strangers & (to_others > to_positive[:, None])
    nearest_beyond = to_others.masked_fill(~beyond, torch.inf).argmin(dim=1)
    farthest = to_others.masked_fill(~strangers, -torch.inf).argmax(dim=1)
    negative = torch.where(beyond.any(dim=1), nearest_beyond, farthest)
    place = torch.arange(len(classes), device=classes.device)
    valid = strangers & (place == negative[:, None])
    differences = to_positive[:, None] - to_others + margin
    violations = differences.masked_fill(~valid, -torch.inf)
    terms = hinge(violations)
    loss = mean_of(terms, valid)
    return loss


def triplet_hard_definition(
    anchors: Tensor,
    classes: Tensor,
    *,
    margin: float = 1.0,
    distance: str = "euclidean",
    hinge: Callable[[Tensor], Tensor] = relu,
) -> Tensor:
    """Each anchor with its farthest positive and its nearest negative."""
    distances = geometry.distance_matrix(anchors, anchors, distance)
    alike = classes[:, None] == classes[None, :]
    partners = alike & others_of_row(distances)
    anchor = partners.any(dim=1).nonzero()[:, 0]
    positive = distances.masked_fill(~partners, -torch.inf).argmax(dim=1)[anchor]
    to_positive = distances[anchor, positive]
    to_others = distances[anchor]
    strangers = ~alike[anchor]
    negative = to_others.masked_fill(~strangers, torch.inf).argmin(dim=1)
    place = torch.arange(len(classes), device=classes.device)
    valid = strangers & (place == negative[:, None])
    differences = to_positive[:, None] - to_others + margin
    violations = differences.masked_fill(~valid, -torch.inf)
    terms = hinge(violations)
    loss = mean_of(terms, valid)
    return loss


MINED_DEFINITIONS = {
    "all": triplet_all_definition,
    "semi_hard": triplet_semi_hard_definition,
    "hard": triplet_hard_definition,
}


@composed(triplet_given_definition, *MINED_DEFINITIONS.values())
def triplet_by_options(
    anchors: Tensor,
    positives: Tensor | None = None,
    negatives: Tensor | None = None,
    *,
    classes: Tensor | None = None,
    mining: str = "given",
    margin: float = 1.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
) -> Choice:
    """Choose the definition for the mining of `losses.triplet`."""
    arguments: dict[str, Any] = {"anchors": anchors, "margin": margin, "distance": distance}
    if positives is not None and negatives is not None:  # mining is "given"
        arguments |= {"positives": positives, "negatives": negatives, "soft_margin": soft_margin}
        return triplet_given_definition, arguments
    arguments |= {"classes": classes, "hinge": softplus if soft_margin else relu}
    return MINED_DEFINITIONS[mining], arguments


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
    input_checks.one_of(geometry.DISTANCES, distance=distance)
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
    input_checks.one_of(MININGS, mining=mining)
    if classes is None:
        raise ValueError(f"mining is {mining!r}, which needs the class of each embedding")
    if positives is not None or negatives is not None:
        raise ValueError(
            f"mining is {mining!r}, which finds positives and negatives among the anchors "
            'by class; to use given ones, choose mining "given"'
        )
    anchors, classes = gathered(gather, anchors, classes)
    kind = f"soft_{mining}" if soft_margin else mining
    return from_classes(anchors, classes, kind, margin, distance, _dense_mined)


def _dense_mined(anchors, classes, mining, margin, distance):
    return triplet_by_options(
        anchors,
        classes=classes,
        mining=mining.removeprefix("soft_"),
        margin=margin,
        distance=distance,
        soft_margin=mining.startswith("soft_"),
    )


TRIPLET = LossSpec(
    function=triplet,
    definition=triplet_by_options,
    title="Triplet",
    about="Pushes the negative farther away than the positive, by a margin.",
    steps={
        "anchors": "The anchor of each triplet, or every sentence that may be one.",
        "negatives": "The negative of each triplet.",
        "positives": "The positive of each triplet.",
        "terms": "Only what is missed counts.",
        "to_negative": "Distance from the anchor to its negative.",
    },
    group="distances",
    formula=r"\frac{1}{|T|} \sum_{(a, p, n) \in T} [d(a, p) - d(a, n) + m]_+",
    symbols=TRIPLET_SYMBOLS,
    parameters=(
        # The function's default is "given"; a batch has classes, and mines.
        Parameter("mining", "all", choices=("all", "semi_hard", "hard"), label="mining"),
        Parameter("margin", 1.0, "m", 0.0, 6.0, 0.01, role="margin", label="margin"),
        Parameter("distance", "euclidean", choices=geometry.DISTANCES, label="distance"),
        Parameter("soft_margin", False, label="soft margin"),
    ),
    variants={
        "soft_margin=true": r"\frac{1}{|T|} \sum_{(a, p, n) \in T}"
        r" \log\bigl(1 + e^{d(a, p) - d(a, n) + m}\bigr)"
    },
    reads=MINED,
    terms="violations",
    collapse=triplet_collapse,
    collapse_formula=r"m\ \text{or}\ \ln(1 + e^m)",
    floor=triplet_floor,
    floor_formula=r"0\ \text{or}\ [m - d_{\max}]_+\ \text{or}\ \ln\bigl(1 + e^{m - d_{\max}}\bigr)",
    reach=triplet_reach,
    references=("S2", "S1 eq. 35", "Schroff et al. 2015", "Hermans et al. 2017"),
    equivalent=equivalent_of,
    aliases=(
        "TripletLoss",
        "TripletMarginLoss",
        "TripletMarginWithDistanceLoss",
        "BatchAllTripletLoss",
        "BatchHardTripletLoss",
        "BatchHardSoftMarginTripletLoss",
        "BatchSemiHardTripletLoss",
        "FaceNet",
        "semi-hard",
        "semi-hard triplet",
    ),
    without_others={"mining": "given"},
    conventions=(
        Convention(
            "sentence-transformers 6.2 TripletLoss",
            {"mining": "all", "margin": 5.0},
            aliases=("SparseTripletLoss",),
            given_triplets={"mining": "given"},
            note="The library takes given triplets; a batch of pairs has none, so here all are "
            "mined from the classes. If a first sentence has a positive and others, choose the "
            "convention of given triplets.",
            former=("sentence-transformers TripletLoss",),
        ),
        Convention(
            "sentence-transformers 6.2 TripletLoss (given triplets)",
            {"margin": 5.0},
            triplet_given_definition,
            symbols=OF_GIVEN,
            reads=GIVEN,
            function=triplet_given,
            equivalent=equivalent_of_given,
            note=GIVEN_NOTE,
            collapse=triplet_collapse,
            floor=floor_of_given,
            reach=triplet_reach,
        ),
        Convention(
            "sentence-transformers 6.2, Manhattan distance (given triplets)",
            {"margin": 5.0},
            triplet_given_manhattan_definition,
            formula=r"\frac{1}{|T|} \sum_T \bigl[\sum_k |a_k - p_k|"
            r" - \sum_k |a_k - n_k| + m\bigr]_+",
            symbols={
                **OF_GIVEN,
                "to_positive": each_given_triplet(
                    "d^+_t", equals=r"\sum_k |a_{tk} - p_{tk}|", signed=False
                ),
                "to_negative": each_given_triplet(
                    "d^-_t", equals=r"\sum_k |a_{tk} - n_{tk}|", signed=False
                ),
                "terms": OF_GIVEN_HARD,
            },
            reads=GIVEN,
            note="The distance is a sum over dimensions: for unit vectors it grows about as √D, "
            "so a margin of 5 means less. Each positive pair is combined with each other pair of "
            "the same first sentence.",
            collapse=triplet_collapse,
            floor=floor_of_manhattan,
            floor_formula=r"0\ \text{or}\ [m - 2 \sqrt D]_+",
            peers=(Peer(SENTENCE_TRANSFORMERS, "TripletLoss", GIVEN),),
        ),
        Convention(
            "sentence-transformers 6.2 BatchAll",
            {"margin": 5.0},
            triplet_over_violating_definition,
            formula=r"\frac{\sum_T [d(a, p) - d(a, n) + m]_+}{|\{T: d(a, p) - d(a, n) + m > 0\}|}",
            symbols=VIOLATING,
            function=triplet_over_violating,
            equivalent=partial(equivalent_of_mined, "BatchAllTripletLoss"),
            collapse=triplet_collapse,
            floor=floor_over_violating,
            reach=triplet_reach,
            former=("sentence-transformers BatchAll",),
        ),
        Convention(
            "sentence-transformers 6.2 BatchHard",
            {"margin": 5.0},
            triplet_every_anchor_definition,
            formula=r"\frac1S \sum_a \bigl[\max_p d(a, p) - \min_n d(a, n) + m\bigr]_+",
            symbols=EVERY_ANCHOR,
            equivalent=partial(equivalent_of_mined, "BatchHardTripletLoss"),
            collapse=collapse_of_every_anchor,
            floor=floor_of_every_anchor,
            reach=triplet_reach,
            former=("sentence-transformers BatchHard",),
        ),
        Convention(
            "sentence-transformers 6.2 BatchHardSoftMargin",
            {},
            triplet_every_anchor_softly_definition,
            formula=r"\frac1S \sum_a \log\bigl(1 + e^{\max_p d(a, p) - \min_n d(a, n)}\bigr)",
            symbols={
                **EVERY_ANCHOR,
                "violations": each_sentence(
                    "v_a", "«to_positive[r]» - «to_negative[r]»", equals="d^+_a - d^-_a"
                ),
                "terms": each_sentence(
                    "t_a",
                    r"\log\bigl(1 + e^{«violations[r]»}\bigr)",
                    equals=r"\log(1 + e^{v_a})",
                    signed=False,
                ),
            },
            peers=(Peer(SENTENCE_TRANSFORMERS, "BatchHardSoftMarginTripletLoss", MINED),),
            collapse=lambda tensors, **_: math.log(2),
            collapse_formula=r"\ln 2",
            floor=partial(floor_of_every_anchor, margin=0.0, soft_margin=True),
            floor_formula=r"0\ \text{or}\ \ln\bigl(1 + e^{-d_{\max}}\bigr)",
        ),
        Convention(
            "sentence-transformers 6.2 BatchSemiHard",
            {"margin": 5.0},
            triplet_semi_hard_or_itself_definition,
            function=triplet_semi_hard_or_itself,
            collapse=collapse_of_itself,
            floor=floor_of_itself,
            reach=triplet_reach,
            former=("sentence-transformers BatchSemiHard",),
            peers=(Peer(SENTENCE_TRANSFORMERS, "BatchSemiHardTripletLoss", MINED),),
        ),
        Convention(
            "torch 2.13 (ε in the distance)",
            {"margin": 1.0},
            triplet_shifted_definition,
            formula=r"\frac{1}{|T|} \sum_T \bigl[\lVert a - p + \varepsilon \rVert"
            r" - \lVert a - n + \varepsilon \rVert + m\bigr]_+",
            symbols={
                "distances": sentence_by_sentence(
                    "d_{ik}", equals=r"\lVert z_i - z_k + \varepsilon \rVert", signed=False
                ),
                "loss": loss_symbol(
                    r"\overline{t_{tk}}\ \text{over the triplets}",
                    r"\frac{«Σ terms»}{«strangers.sum().clamp_min(1)»}",
                ),
            },
            collapse=triplet_collapse,
            floor=floor_of_shifted,
            reach=triplet_reach,
            former=("torch (ε in the distance)",),
            peers=(Peer("torch", "TripletMarginLoss", MINED),),
        ),
        Convention(
            "torch 2.13 TripletMarginLoss (given triplets)",
            {"margin": 1.0},
            triplet_given_shifted_definition,
            formula=r"\frac{1}{|T|} \sum_T \bigl[\lVert a - p + \varepsilon \rVert"
            r" - \lVert a - n + \varepsilon \rVert + m\bigr]_+",
            symbols={**OF_GIVEN, **SHIFTED_GIVEN},
            reads=GIVEN,
            note=GIVEN_NOTE,
            collapse=triplet_collapse,
            floor=floor_of_given,
            reach=triplet_reach,
            former=("torch TripletMarginLoss (given triplets)",),
            aliases=("TripletMarginWithDistanceLoss",),
            peers=(Peer("torch", "TripletMarginLoss", GIVEN),),
        ),
        Convention(
            "torch 2.13, swap=True (given triplets)",
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
                "from_positive": each_given_triplet(
                    r"\lVert p_t - n_t + \varepsilon \rVert", signed=False
                ),
                "to_negative": each_given_triplet(
                    "d^-_t",
                    r"\min(«to_anchor[r]», «from_positive[r]»)",
                    equals=r"\min(d(a_t, n_t), d(p_t, n_t))",
                    signed=False,
                ),
                "terms": OF_GIVEN_HARD,
            },
            reads=GIVEN,
            note="Pushes the negative from the nearer of anchor and positive, for each positive "
            "pair and each other pair of the same first sentence. " + GIVEN_MINIMUM,
            collapse=triplet_collapse,
            floor=floor_of_given,
            reach=triplet_reach,
            former=("torch, swap=True (given triplets)",),
            peers=(Peer("torch", "TripletMarginLoss", GIVEN, {"swap": True}),),
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
                "to_others": triplet_by_sentence(
                    "d_{tk}",
                    r"\min(«distances[anchor[r],c]», «distances[positive[r],c]»)",
                    equals=r"\min\bigl(d(a_t, z_k), d(p_t, z_k)\bigr)",
                    signed=False,
                ),
            },
            collapse=triplet_collapse,
            peers=(Peer(METRIC_LEARNING, "TripletMarginLoss", CLASSED, {"swap": True}),),
            floor=floor_of_directions,
            reach=triplet_reach,
        ),
        Convention(
            "pytorch-metric-learning 2.9, smooth_loss=True",
            {"margin": 0.05},
            triplet_unit_smooth_definition,
            formula=r"\frac{1}{|T|} \sum_T \log\bigl(1 + e^{d(a, p) - d(a, n) + m}\bigr),"
            r"\quad \lVert a \rVert = \lVert p \rVert = \lVert n \rVert = 1",
            symbols={
                **VIOLATING,
                "terms": triplet_by_sentence(
                    "t_{tk}",
                    r"\log\bigl(1 + e^{«violations[r,c]»}\bigr)",
                    equals=r"\log(1 + e^{v_{tk}})",
                    signed=False,
                ),
            },
            collapse=partial(triplet_collapse, soft_margin=True),
            collapse_formula=r"\ln(1 + e^m)",
            peers=(Peer(METRIC_LEARNING, "TripletMarginLoss", CLASSED, {"smooth_loss": True}),),
            floor=partial(floor_of_directions, soft_margin=True),
            floor_formula=r"\ln\bigl(1 + e^{m - 2}\bigr)",
        ),
        Convention(
            "pytorch-metric-learning 2.9 TripletMarginLoss",
            {"margin": 0.05},
            triplet_unit_definition,
            formula=r"\frac{\sum_T [d(a, p) - d(a, n) + m]_+}{|\{T: d(a, p) - d(a, n) + m > 0\}|},"
            r"\quad \lVert a \rVert = \lVert p \rVert = \lVert n \rVert = 1",
            symbols=VIOLATING,
            function=triplet_unit,
            collapse=triplet_collapse,
            floor=floor_of_directions,
            reach=triplet_reach,
            former=("pytorch-metric-learning",),
            peers=(Peer(METRIC_LEARNING, "TripletMarginLoss", CLASSED),),
        ),
    ),
)
