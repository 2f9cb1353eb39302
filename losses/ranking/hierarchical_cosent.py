"""CoSENT at several levels of one batch: the same pairs, several scores, one weight a level."""

import math
from functools import partial

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import log1p_sum_exp, ordered_sum_of_levels
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.minimum import least_over_levels
from lossprism.losses.ranking.ordered_pair_symbols import SCALE, ordered_count
from lossprism.losses.spec import LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_pair, loss_symbol, pair_by_pair


def hierarchical_cosent_definition(
    level_scores: Tensor,
    labels: Tensor,
    *,
    weights: Tensor | tuple[float, ...] | None = None,
    scale: float = 20.0,
) -> Tensor:
    scaled = scale * level_scores
    differences = scaled[:, :, None] - scaled[:, None, :]
    ordered = labels[:, None] < labels[None, :]
    terms = differences.masked_fill(~ordered, -torch.inf)
    level_losses = log1p_sum_exp(terms.flatten(start_dim=1), dim=1)
    loss = (level_weights(weights, level_losses) * level_losses).sum()
    return loss


def level_weights(weights: Tensor | tuple[float, ...] | None, like: Tensor) -> Tensor:
    """β of each level: as given, or 1."""
    if weights is None:
        return torch.ones_like(like)
    learned = isinstance(weights, Tensor)
    shape = weights.shape if learned else (len(weights),)
    if shape != like.shape:
        raise ValueError(
            f"weights has {math.prod(shape)} entries; one for each of the {len(like)} levels"
        )
    # Made where they are needed: an accelerator would have to wait for a copy.
    return weights.to(like) if learned else torch.stack([like.new_full((), w) for w in weights])


def hierarchical_cosent(
    level_scores: Tensor,
    labels: Tensor,
    *,
    weights: Tensor | tuple[float, ...] | None = None,
    scale: float = 20.0,
    gather: bool = False,
) -> Tensor:
    r"""Σ_l β_l · cosent(s^(l), y) over levels of one batch (S1 eq. 54).

    >>> level_scores, labels = torch.tensor([[0.0, 0.0], [0.0, 0.0]]), torch.tensor([1, 0])
    >>> hierarchical_cosent(level_scores, labels, weights=(1.0, 0.5))  # 1.5 · log 2
    tensor(1.0397)

    Args:
        level_scores: [L, N], the similarity of each pair at each level (word, sentence …).
        labels: [N].
        weights: [L], β; 1 for every level if left out.
        scale: λ.
        gather: as for `cosent`.
    """
    if gather:
        by_pair, labels = gathered(gather, level_scores.T, labels)
        level_scores = by_pair.T
    (level_scores,) = input_checks.real(level_scores=level_scores)
    if level_scores.ndim != 2 or level_scores.numel() == 0:
        raise ValueError(
            f"level_scores has shape {tuple(level_scores.shape)}; a row for each level, [L, N]"
        )
    labels = input_checks.ordinal(labels, level_scores.shape[-1])
    weights = level_weights(weights, level_scores.new_zeros(len(level_scores)))
    if isinstance(scale, Tensor):  # it may want a gradient too
        level_scores, scale = input_checks.recordable(level_scores) * scale, 1.0
    compute = partial(ordered_sum_of_levels, scale=scale)
    dense = partial(_dense_hierarchical, scale=scale)
    return with_gradient(compute, dense, labels, level_scores, weights)


def _dense_hierarchical(labels, level_scores, weights, *, scale):
    return hierarchical_cosent_definition(level_scores, labels, weights=weights, scale=scale)


HIERARCHICAL_COSENT = LossSpec(
    function=hierarchical_cosent,
    definition=hierarchical_cosent_definition,
    title="Hierarchical CoSENT",
    about="Adds CoSENT at several levels of similarity, with weights.",
    group="pair_scores",
    formula=r"\sum_{l} \beta_l \log\Bigl(1 + \sum_{y_i > y_j}"
    r" e^{\lambda (s^{(l)}_j - s^{(l)}_i)}\Bigr)",
    symbols={
        "level_scores": Symbol(r"s^{(l)}_i", ("level", "pair"), stem="s^{(l)}"),
        "labels": each_pair("y_i", stem="y"),
        "scaled": Symbol(
            "a^{(l)}_i",
            ("level", "pair"),
            r"«scale» \cdot «level_scores[r,c]»",
            equals=r"\lambda s^{(l)}_i",
            stem="a^{(l)}",
        ),
        "differences": Symbol(
            "d^{(l)}_{ji}",
            ("level", "pair", "pair"),
            r"«scale»\,(«level_scores[l,r]» - «level_scores[l,c]»)",
            equals="a^{(l)}_j - a^{(l)}_i",
            indices=("j", "i"),
        ),
        "ordered": pair_by_pair(r"y_j < y_i", r"«labels[r]» < «labels[c]»"),
        "terms": Symbol(
            "t^{(l)}_{ji}",
            ("level", "pair", "pair"),
            r"«scale»\,(«level_scores[l,r]» - «level_scores[l,c]»)",
            equals=r"d^{(l)}_{ji}\ \text{where}\ y_j < y_i",
            indices=("j", "i"),
        ),
        "level_losses": Symbol(
            r"\mathcal L_l",
            ("level",),
            r"\log\bigl(1 + «Σ exp terms[r]»\bigr)",
            equals=r"\log\Bigl(1 + \sum_{j,i} e^{t^{(l)}_{ji}}\Bigr)",
            signed=False,
        ),
        "loss": loss_symbol(r"\sum_l \beta_l \mathcal L_l", "«Σ level_losses * tensor(weights)»"),
    },
    parameters=(
        Parameter("weights", (1.0, 1.0, 1.0), r"\beta", 0.0, 10.0, 0.1, label="level weights"),
        SCALE,
    ),
    terms="terms",
    collapse=lambda tensors, weights=None, **_: (
        _total_weight(weights, tensors) * math.log1p(ordered_count(tensors["labels"]))
    ),
    collapse_formula=r"\sum_l \beta_l\, \ln(1 + |P|)",
    floor=lambda tensors, weights=None, scale=20.0: (
        (least := least_over_levels(tensors["labels"], scale))
        and _total_weight(weights, tensors) * least
    ),
    floor_formula=r"\sum_l \beta_l \min_{-1 \le s \le 1} \mathcal L_l",
    references=("S1 eq. 54",),
)


def _total_weight(weights: Tensor | tuple[float, ...] | None, tensors: dict[str, Tensor]) -> float:
    levels = tensors["level_scores"][:, 0].double()
    return float(level_weights(weights, levels).sum())
