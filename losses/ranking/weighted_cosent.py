"""Weighted CoSENT: each comparison counts by the gap of its labels."""

import math

from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import log1p_ordered_sum_exp, log1p_sum_exp
from lossprism.losses.kernels.ordered_hinge_and_logistic_sums import sum_of_gaps
from lossprism.losses.labels import COSINES
from lossprism.losses.loss_term_structures import Separable
from lossprism.losses.minimum import least_over_levels
from lossprism.losses.ranking.ordered_pair_symbols import (
    LOG1P_OF_TERMS,
    PAIR_SYMBOLS,
    SCALE,
    scaled_parts,
)
from lossprism.losses.spec import LossSpec
from lossprism.losses.symbols import loss_symbol, pair_by_pair


def weighted_cosent_definition(scores: Tensor, labels: Tensor, *, scale: float = 20.0) -> Tensor:
    scaled = scale * scores
    differences = scaled[:, None] - scaled[None, :]
    gaps = (labels[None, :] - labels[:, None]).to(scores.dtype).relu()
    terms = differences + gaps.log()
    loss = log1p_sum_exp(terms)
    return loss


def weighted_cosent(
    scores: Tensor, labels: Tensor, *, scale: float = 20.0, gather: bool = False
) -> Tensor:
    r"""log(1 + Σ (y_i − y_j) exp(λ(s_j − s_i))) over y_i > y_j (S1 eq. 52).

    >>> weighted_cosent(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 0.0]))  # log(1 + 3)
    tensor(1.3863)

    Args:
        scores: [N], similarity of each pair.
        labels: [N], any numbers; their differences are the weights.
        scale: λ.
        gather: as for `cosent`.
    """
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    return log1p_ordered_sum_exp(scores, scores, labels, scale=scale, weighted=True)


WEIGHTED_COSENT = LossSpec(
    function=weighted_cosent,
    definition=weighted_cosent_definition,
    title="Weighted CoSENT",
    about="Weighs CoSENT's comparisons by the gap between their labels.",
    group="pair_scores",
    formula=r"\log\Bigl(1 + \sum_{y_i > y_j} (y_i - y_j)\, e^{\lambda (s_j - s_i)}\Bigr)",
    symbols={
        **PAIR_SYMBOLS,
        "gaps": pair_by_pair(
            "w_{ji}",
            r"[«labels[c]» - «labels[r]»]_+",
            equals="[y_i - y_j]_+",
            signed=False,
            indices=("j", "i"),
        ),
        "terms": pair_by_pair(
            "t_{ji}",
            r"«scale»\,(«scores[r]» - «scores[c]») + \ln(«labels[c]» - «labels[r]»)",
            equals=r"d_{ji} + \ln w_{ji}",
            indices=("j", "i"),
        ),
        "loss": loss_symbol(r"\log\Bigl(1 + \sum_{j,i} e^{t_{ji}}\Bigr)", LOG1P_OF_TERMS),
    },
    parameters=(SCALE,),
    form=Separable(scaled_parts, by_gap=True),
    terms="terms",
    collapse=lambda tensors, **_: math.log1p(float(sum_of_gaps(tensors["labels"].double()))),
    collapse_formula=r"\ln\Bigl(1 + \sum_P (y_i - y_j)\Bigr)",
    floor=lambda tensors, scale, within=COSINES: least_over_levels(
        tensors["labels"], scale, lowest=within[0], highest=within[1], weighted=True
    ),
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    formulas_unbounded={"floor": "0"},
    references=("S1 eq. 52",),
)
