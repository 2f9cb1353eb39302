"""N-pair: each anchor's own positive against the positives of all others, without a temperature."""

import math

import torch
from torch import Tensor

from lossprism.losses import geometry, input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import LOG1P_OF_ROW, mean_log1p
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import log1p_sum_exp
from lossprism.losses.kernels.query_key_losses_by_tiles import against_others, directions_and_logits
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import METRIC_LEARNING, OF_PAIRS, Peer
from lossprism.losses.minimum import log1p_of, simplex_gap
from lossprism.losses.prototypes.softmax import exact_softmax
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_query, loss_symbol, query_by_key

SIMILARITIES = ("dot", "cosine")


def n_pair_definition(anchors: Tensor, positives: Tensor, *, similarity: str = "dot") -> Tensor:
    compare = geometry.dot_matrix if similarity == "dot" else geometry.cosine_matrix
    similarities = compare(anchors, positives)
    own = similarities.diagonal()
    others = ~torch.eye(*similarities.shape, dtype=torch.bool, device=similarities.device)
    terms = (similarities - own[:, None]).masked_fill(~others, -torch.inf)
    per_query = log1p_sum_exp(terms, dim=1)
    loss = per_query.mean()
    return loss


def n_pair(
    anchors: Tensor, positives: Tensor, *, similarity: str = "dot", gather: bool = False
) -> Tensor:
    r"""mean_i log(1 + Σ_{j≠i} exp(a_i·p_j − a_i·p_i)) (Sohn 2016).

    The batch has one pair of each class, so that the positives of the others are negatives. With
    "cosine" it is InfoNCE at τ = 1.

    >>> n_pair(torch.eye(2), 3 * torch.eye(2))  # log(1 + e^(0 − 3))
    tensor(0.0486)

    Args:
        anchors, positives: [N, D] each; row i of both belongs together.
        similarity: "dot", in which lengths count, or "cosine".
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.one_of(SIMILARITIES, similarity=similarity)
    anchors, positives = gathered(gather, anchors, positives)
    anchors, positives = input_checks.paired(
        input_checks.for_products(anchors), anchors=anchors, positives=positives
    )
    exact = _of_dots if similarity == "dot" else _of_cosines
    return with_gradient(exact, _dense, anchors, positives, similarity)


def _dense(anchors, positives, similarity):
    return n_pair_definition(anchors, positives, similarity=similarity)


def _of_dots(needs_grad, anchors, positives, _similarity):
    own = torch.arange(len(anchors), device=anchors.device)
    return exact_softmax(needs_grad, anchors, positives, own)


def _of_cosines(needs_grad, anchors, positives, _similarity):
    count = len(anchors)
    points, logits = directions_and_logits(needs_grad, anchors, positives, 1.0)
    total, _ = against_others(logits)
    if not any(needs_grad):
        return total / count, ()
    gradient, _ = points.pull_back(1 / count, 1.0)
    return total / count, (*gradient.split(count), None)


def _n_pair_collapse(tensors: dict[str, Tensor], **_: object) -> float:
    return math.log(len(tensors["anchors"]))


def _n_pair_floor(tensors: dict[str, Tensor], similarity: str = "dot") -> float:
    count = len(tensors["anchors"])
    if count == 1 or similarity == "dot":  # which grows without end
        return 0.0
    return log1p_of(count - 1, -simplex_gap(count))


N_PAIR = LossSpec(
    function=n_pair,
    definition=n_pair_definition,
    title="N-pair",
    about="Picks each anchor's positive among all positives of the batch, by dot product.",
    steps={
        "anchors": "First sentences of the positive pairs.",
        "own": "What each row should choose.",
        "positives": "Second sentences of the positive pairs.",
        "similarities": "Dot product, or cosine, of every anchor with every positive.",
    },
    group="in_batch",
    aliases=("N-pairs", "multi-class N-pair", "NPairsLoss"),
    formula=r"\frac1N \sum_i \log\Bigl(1 + \sum_{j \ne i} e^{a_i \cdot p_j - a_i \cdot p_i}\Bigr)",
    symbols={
        "anchors": Symbol("a_i", ("query", "dimension"), stem="a"),
        "positives": Symbol("p_j", ("key", "dimension")),
        "similarities": query_by_key("s_{ij}", equals=r"a_i \cdot p_j\ \text{or}\ \cos(a_i, p_j)"),
        "own": each_query("s_{ii}", "«similarities[r,r]»"),
        "others": query_by_key(r"j \ne i", r"«c» \ne «r»"),
        "terms": query_by_key(
            "t_{ij}",
            "«similarities[r,c]» - «own[r]»",
            equals=r"s_{ij} - s_{ii}\ \text{where}\ j \ne i",
        ),
        "per_query": each_query(
            r"\ell_i",
            LOG1P_OF_ROW,
            equals=r"\log\Bigl(1 + \sum_{j \ne i} e^{t_{ij}}\Bigr)",
            signed=False,
        ),
        "loss": loss_symbol(r"\frac1N \sum_i \ell_i", r"\frac{«Σ per_query»}{«len(per_query)»}"),
    },
    parameters=(Parameter("similarity", "dot", choices=SIMILARITIES, label="similarity"),),
    variants={
        "similarity=cosine": r"\frac1N \sum_i \log\Bigl(1 + \sum_{j \ne i}"
        r" e^{\cos(a_i, p_j) - \cos(a_i, p_i)}\Bigr)"
    },
    reads={"anchors": "queries", "positives": "keys"},
    terms="terms",
    negatives=("terms",),
    with_copies=mean_log1p,
    collapse=_n_pair_collapse,
    collapse_formula=r"\ln N",
    floor=_n_pair_floor,
    floor_formula=r"0\ \text{or}\ \ln\bigl(1 + (N - 1)\, e^{-\frac{N}{N - 1}}\bigr)",
    references=("Sohn 2016 (N-pair)",),
    note="With dot products the loss falls without end as vectors grow, so the paper adds a "
    "penalty on their length. On unit vectors it is InfoNCE at τ = 1, which cannot come near 0.",
    conventions=(
        Convention(
            "pytorch-metric-learning 2.9 NPairsLoss (unit vectors)",
            {"similarity": "cosine"},
            note="The library takes the first pair of each class and normalises its vectors: "
            "InfoNCE at τ = 1, which cannot come near 0.",
            peers=(Peer(METRIC_LEARNING, "NPairsLoss", OF_PAIRS),),
        ),
    ),
)
