"""Circle loss as one sum over the batch, with fixed margins."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import log1p_ordered_sum_exp, log1p_sum_exp
from lossprism.losses.labels import COSINES, Ends
from lossprism.losses.loss_term_structures import Separable
from lossprism.losses.minimum import log1p_of
from lossprism.losses.ranking.ordered_pair_symbols import (
    LOG1P_OF_TERMS,
    PAIR_SYMBOLS,
    ordered_count,
)
from lossprism.losses.spec import LossSpec, Parameter
from lossprism.losses.symbols import each_pair, loss_symbol, pair_by_pair


def circle_definition(
    scores: Tensor,
    labels: Tensor,
    *,
    scale: float = 64.0,
    positive_margin: float = 0.0,
    negative_margin: float = 0.0,
) -> Tensor:
    negative_logits = scale * (scores - negative_margin)
    positive_logits = -scale * (scores - positive_margin)
    contrasted = labels[:, None] < labels[None, :]
    sums = negative_logits[:, None] + positive_logits[None, :]
    terms = sums.masked_fill(~contrasted, -torch.inf)
    loss = log1p_sum_exp(terms)
    return loss


def circle(
    scores: Tensor,
    labels: Tensor,
    *,
    scale: float = 64.0,
    positive_margin: float = 0.0,
    negative_margin: float = 0.0,
    gather: bool = False,
) -> Tensor:
    r"""log(1 + Σ_neg exp(γ(s_j − Δ_n)) · Σ_pos exp(−γ(s_i − Δ_p))) (S1 eq. 2–4).

    The product of the two sums is the sum over all (negative, positive) pairs of pairs, which
    is how the definition writes it; graded labels then work too, by their order.

    >>> scores, labels = torch.tensor([0.5, 0.5]), torch.tensor([1, 0])
    >>> circle(scores, labels)  # both margins 0 and equal scores: log 2
    tensor(0.6931)

    Args:
        scores: [N].
        labels: [N], 0/1, or grades of which the higher should score higher.
        scale: γ.
        positive_margin: Δ_p, the score a positive should exceed.
        negative_margin: Δ_n, the score a negative should stay below.
        gather: compare with the pairs of all processes too; see `losses.gather`.
    """
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    shift = scale * (positive_margin - negative_margin)
    return log1p_ordered_sum_exp(scores, scores, labels, scale=scale, shift=shift)


def margin_parts(
    scores: Tensor, *, scale: float, positive_margin: float, negative_margin: float
) -> tuple[Tensor, Tensor]:
    """γ(s_j − Δ_n) and −γ(s_i − Δ_p), of which a term is the sum."""
    return scale * (scores - negative_margin), -scale * (scores - positive_margin)


def _circle_floor(
    tensors: dict[str, Tensor],
    scale: float,
    positive_margin: float,
    negative_margin: float,
    within: Ends = COSINES,
) -> float | None:
    if len(tensors["labels"].unique()) > 2:
        return None
    exponent = scale * (within[0] - within[1] + positive_margin - negative_margin)
    return log1p_of(ordered_count(tensors["labels"]), exponent)


SUM_SYMBOLS = {
    "sums": pair_by_pair(
        "u_{ji}",
        r"«negative_logits[r]» + «positive_logits[c]»",
        equals="n_j + p_i",
        indices=("j", "i"),
    ),
    "contrasted": pair_by_pair(r"y_j < y_i", r"«labels[r]» < «labels[c]»"),
    "terms": pair_by_pair(
        "t_{ji}",
        r"«negative_logits[r]» + «positive_logits[c]»",
        equals=r"u_{ji}\ \text{where}\ y_j < y_i",
        indices=("j", "i"),
    ),
    "loss": loss_symbol(r"\log\Bigl(1 + \sum_{j,i} e^{t_{ji}}\Bigr)", LOG1P_OF_TERMS),
}

# γ, by which both forms multiply similarities.
SCALE = Parameter(
    "scale", 64.0, r"\gamma", 0.1, 256.0, 0.1, logarithmic=True, role="sharpness", label="scale"
)
CIRCLE = LossSpec(
    function=circle,
    definition=circle_definition,
    title="Circle",
    about="Compares positives with negatives as CoSENT does, with a margin on either side.",
    steps={"labels": "1 for a pair whose label reaches the threshold, 0 for the others."},
    group="pair_scores",
    formula=r"\log\Bigl(1 + \sum_{j \in -} e^{\gamma (s_j - \Delta_n)}"
    r" \sum_{i \in +} e^{-\gamma (s_i - \Delta_p)}\Bigr)",
    symbols={
        **PAIR_SYMBOLS,
        **SUM_SYMBOLS,
        "negative_logits": each_pair(
            "n_j", r"«scale»\,(«scores[r]» - «negative_margin»)", equals=r"\gamma (s_j - \Delta_n)"
        ),
        "positive_logits": each_pair(
            "p_i",
            r"-«scale»\,(«scores[r]» - «positive_margin»)",
            equals=r"-\gamma (s_i - \Delta_p)",
        ),
    },
    parameters=(
        SCALE,
        Parameter(
            "positive_margin",
            0.0,
            r"\Delta_p",
            -1.0,
            1.0,
            0.01,
            role="margin",
            label="positive margin",
        ),
        Parameter(
            "negative_margin",
            0.0,
            r"\Delta_n",
            -1.0,
            1.0,
            0.01,
            role="margin",
            label="negative margin",
        ),
    ),
    reads={"scores": "scores", "labels": "binary_labels"},
    form=Separable(margin_parts),
    terms="terms",
    collapse=lambda tensors, scale, positive_margin, negative_margin: log1p_of(
        ordered_count(tensors["labels"]), scale * (positive_margin - negative_margin)
    ),
    collapse_formula=r"\ln\bigl(1 + |P|\, e^{\gamma(\Delta_p - \Delta_n)}\bigr)",
    floor=_circle_floor,
    floor_formula=r"\ln\bigl(1 + |P|\, e^{\gamma(\Delta_p - \Delta_n - 2)}\bigr)",
    formulas_unbounded={"floor": "0"},
    aliases=("CircleLoss",),
    references=("S1 eq. 2–4", "Sun et al. 2020"),
)
