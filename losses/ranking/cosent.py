"""CoSENT: one logarithm over all pairs that should be in order."""

import math

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import log1p_ordered_sum_exp, log1p_sum_exp
from lossprism.losses.labels import COSINES
from lossprism.losses.loss_term_structures import Separable
from lossprism.losses.minimum import least_over_levels
from lossprism.losses.ranking.ordered_pair_symbols import (
    LOG1P_OF_TERMS,
    PAIR_SYMBOLS,
    SCALE,
    ordered_count,
    scaled_parts,
)
from lossprism.losses.sentence_transformers_equivalent_record import of_pairs
from lossprism.losses.spec import Convention, LossSpec
from lossprism.losses.symbols import loss_symbol, pair_by_pair


def cosent_definition(scores: Tensor, labels: Tensor, *, scale: float = 20.0) -> Tensor:
    scaled = scale * scores
    differences = scaled[:, None] - scaled[None, :]
    ordered = labels[:, None] < labels[None, :]
    terms = differences.masked_fill(~ordered, -torch.inf)
    loss = log1p_sum_exp(terms)
    return loss


def cosent_as_printed_definition(scores: Tensor, labels: Tensor, *, scale: float = 20.0) -> Tensor:
    """S0's printed form: 10¹² is subtracted from pairs without an order, and a 0 is prepended,
    whose exponential is the 1 of the formula."""
    scaled = scale * scores
    differences = scaled[:, None] - scaled[None, :]
    ordered = labels[:, None] < labels[None, :]
    terms = differences - (1 - ordered.long()) * 1e12
    loss = torch.cat((torch.zeros_like(scaled[:1]), terms.flatten())).logsumexp(dim=0)
    return loss


def cosent(scores: Tensor, labels: Tensor, *, scale: float = 20.0, gather: bool = False) -> Tensor:
    r"""log(1 + Σ exp(λ(s_j − s_i))) over all pairs of pairs with y_i > y_j (S0; S1 eq. 1).

    >>> scores, labels = torch.tensor([0.0, 0.5]), torch.tensor([1, 0])
    >>> cosent(scores, labels, scale=2.0)  # log(1 + e^(2·0.5))
    tensor(1.3133)

    Args:
        scores: [N], a cosine or any other similarity of each pair.
        labels: [N], any numbers; only their order matters, and ties make no term.
        scale: λ, the inverse temperature.
        gather: compare with the pairs of all processes too; see `losses.gather`.

    Returns:
        The loss, 0-d, 0 if no pair stands above another.
    """
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    return log1p_ordered_sum_exp(scores, scores, labels, scale=scale)


COSENT = LossSpec(
    function=cosent,
    definition=cosent_definition,
    title="CoSENT",
    about="Penalises every two pairs that are ranked in the wrong order.",
    group="pair_scores",
    formula=r"\log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr)",
    symbols={
        **PAIR_SYMBOLS,
        "loss": loss_symbol(r"\log\Bigl(1 + \sum_{j,i} e^{t_{ji}}\Bigr)", LOG1P_OF_TERMS),
    },
    parameters=(SCALE,),
    form=Separable(scaled_parts),
    terms="terms",
    collapse=lambda tensors, **_: math.log1p(ordered_count(tensors["labels"])),
    collapse_formula=r"\ln(1 + |P|)",
    floor=lambda tensors, scale, within=COSINES: least_over_levels(
        tensors["labels"], scale, lowest=within[0], highest=within[1]
    ),
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    formulas_unbounded={"floor": "0"},
    aliases=("CoSENTLoss", "cosine sentence"),
    references=("kexue.fm/archives/8847", "S0", "S1 eq. 1", "doi.org/10.1109/TASLP.2024.3402087"),
    equivalent=of_pairs("CoSENTLoss"),
    conventions=(
        Convention(
            "sentence-transformers 6.2 CoSENTLoss",
            {"scale": 20.0},
            aliases=("SparseCoSENTLoss",),
            former=("sentence-transformers",),
        ),
        Convention(
            "S0 (−10¹²)",
            {"scale": 20.0},
            cosent_as_printed_definition,
            symbols={
                "terms": pair_by_pair(
                    "t_{ji}",
                    r"«scale»\,(«scores[r]» - «scores[c]»)"
                    r" - «either(0, 1e12, ordered[r,c])»",
                    equals=r"d_{ji} - 10^{12}\,[y_j \ge y_i]",
                )
            },
            printed=True,
        ),
    ),
)
