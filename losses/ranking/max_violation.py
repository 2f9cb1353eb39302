"""The largest violation of an order: what CoSENT over λ tends to for λ → ∞."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import largest_violation
from lossprism.losses.loss_term_structures import Largest
from lossprism.losses.ranking.ordered_pair_symbols import PAIR_SYMBOLS
from lossprism.losses.spec import LossSpec
from lossprism.losses.symbols import loss_symbol, pair_by_pair


def max_violation_definition(scores: Tensor, labels: Tensor) -> Tensor:
    differences = scores[:, None] - scores[None, :]
    ordered = labels[:, None] < labels[None, :]
    terms = differences.masked_fill(~ordered, -torch.inf)
    loss = terms.max().clamp(min=0)
    return loss


def max_violation(scores: Tensor, labels: Tensor, *, gather: bool = False) -> Tensor:
    r"""max(0, max (s_j − s_i)) over y_i > y_j: the limit of cosent/λ for λ → ∞ (S1 eq. 39).

    >>> max_violation(torch.tensor([0.25, 0.75]), torch.tensor([1, 0]))
    tensor(0.5000)

    Args:
        scores, labels: [N] each.
        gather: as for `pairwise_logistic`.
    """
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    return largest_violation(scores, labels, max_violation_definition)


MAX_VIOLATION = LossSpec(
    function=max_violation,
    definition=max_violation_definition,
    title="Largest violation",
    about="Keeps only the worst violation: what CoSENT becomes as its scale grows.",
    group="pair_scores",
    formula=r"\max\bigl(0, \max_{y_i > y_j} (s_j - s_i)\bigr)",
    symbols={
        **PAIR_SYMBOLS,
        "differences": pair_by_pair(
            "d_{ji}", r"«scores[r]» - «scores[c]»", equals="s_j - s_i", indices=("j", "i")
        ),
        "terms": pair_by_pair(
            "t_{ji}",
            r"«scores[r]» - «scores[c]»",
            equals=r"d_{ji}\ \text{where}\ y_j < y_i",
            indices=("j", "i"),
        ),
        "loss": loss_symbol(
            r"\max\bigl(0, \max_{j,i} t_{ji}\bigr)", r"\max\bigl(0, «max terms»\bigr)"
        ),
    },
    terms="terms",
    collapse=lambda tensors: 0.0,
    collapse_formula="0",
    floor=lambda tensors: 0.0,
    floor_formula="0",
    references=("S1 eq. 39",),
    form=Largest(),
)
