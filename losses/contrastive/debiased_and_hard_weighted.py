"""Debiased and hard-weighted contrastive loss: NT-Xent that counts some negatives as positives.

Both as the code of their authors has them (chingyaoc/DCL, joshr17/HCL): over the 2N views, each
against all but itself and its partner.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import in_all, temperature_parameter
from lossprism.losses.contrastive.nt_xent import NT_XENT, VIEWS
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import log_sum_exp, softplus
from lossprism.losses.kernels.block_softmax import noise_of_views
from lossprism.losses.kernels.query_key_losses_by_tiles import Directions
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.minimum import simplex_gap, softplus_at
from lossprism.losses.spec import LossSpec, Parameter
from lossprism.losses.symbols import each_view, view_by_view

# exp of no more than this is asked for: far beyond, the share of positives is all there is.
MAX_EXPONENT = 80.0


def debiased_definition(
    first: Tensor, second: Tensor, *, temperature: float = 0.5, tau_plus: float = 0.1
) -> Tensor:
    views = torch.cat((first, second))
    similarities = cosine_matrix(views, views)
    logits = similarities / temperature
    place = torch.arange(len(views), device=views.device)
    partner = place.roll(len(first))
    positive = logits[place, partner]
    others = (place != place[:, None]) & (place != partner[:, None])
    terms = logits.masked_fill(~others, -torch.inf)
    noise = log_sum_exp(terms, dim=1)
    excess = estimated(noise, positive, len(views) - 2, 1 / temperature, tau_plus)
    per_view = softplus(excess)
    loss = per_view.mean()
    return loss


def hard_weighted_definition(
    first: Tensor,
    second: Tensor,
    *,
    temperature: float = 0.5,
    tau_plus: float = 0.1,
    beta: float = 1.0,
) -> Tensor:
    views = torch.cat((first, second))
    similarities = cosine_matrix(views, views)
    logits = similarities / temperature
    place = torch.arange(len(views), device=views.device)
    partner = place.roll(len(first))
    positive = logits[place, partner]
    others = (place != place[:, None]) & (place != partner[:, None])
    terms = logits.masked_fill(~others, -torch.inf)
    count = max(len(views) - 2, 1)
    # Masked after β, which may be 0.
    importance = log_sum_exp((beta * logits).masked_fill(~others, -torch.inf), dim=1)
    importance = importance.masked_fill(importance.isneginf(), 0) - math.log(count)
    noise = log_sum_exp(beta * logits + terms, dim=1) - importance
    excess = estimated(noise, positive, len(views) - 2, 1 / temperature, tau_plus)
    per_view = softplus(excess)
    loss = per_view.mean()
    return loss


def estimated(
    noise: Tensor, positive: Tensor, count: int, scale: float | Tensor, tau_plus: float
) -> Tensor:
    """Return log of the denominator's estimate of the negatives, less the own logit: [2N].

    Of e^`noise`, `count`·τ⁺ e^`positive` counts as positives and the rest is divided by 1 − τ⁺; the
    estimate is at least `count`·e^(−1/τ).
    """
    gap = noise - positive
    taken = count * tau_plus * (-gap).clamp(max=MAX_EXPONENT).exp()
    left = taken < 1
    remaining = gap + torch.log1p(-taken.masked_fill(~left, 0)) - math.log1p(-tau_plus)
    least = (math.log(count) if count else -math.inf) - scale - positive
    return torch.maximum(remaining.masked_fill(~left, -torch.inf), least)


def debiased(
    first: Tensor,
    second: Tensor,
    *,
    temperature: float = 0.5,
    tau_plus: float = 0.1,
    gather: bool = False,
) -> Tensor:
    r"""NT-Xent whose negatives are rid of the positives among them (Chuang et al. 2020).

    mean over the 2N views of log(1 + G_i / e^(s⁺_i)), where of M = 2N − 2 negatives
    G_i = max( (Σ_j e^(s_ij) − M τ⁺ e^(s⁺_i)) / (1 − τ⁺), M e^(−1/τ) ).

    >>> first = second = torch.eye(2)
    >>> debiased(first, second, temperature=1.0, tau_plus=0.0)  # NT-Xent: log(1 + 2/e)
    tensor(0.5514)

    Args:
        first, second: [N, D] each, two views of the same N things.
        temperature: τ.
        tau_plus: τ⁺ in [0, 1), how many of the negatives are positives in truth.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    return _weighted(first, second, temperature, tau_plus, 0.0, gather)


def hard_weighted(
    first: Tensor,
    second: Tensor,
    *,
    temperature: float = 0.5,
    tau_plus: float = 0.1,
    beta: float = 1.0,
    gather: bool = False,
) -> Tensor:
    r"""`debiased` in which near negatives weigh more, by e^(β s) (HCL, Robinson et al. 2021).

    Σ_j e^(s_ij) becomes Σ_j e^((1+β) s_ij) / mean_j e^(β s_ij); the weights carry a gradient.

    >>> first = second = torch.eye(2)
    >>> hard_weighted(first, second, temperature=1.0, tau_plus=0.0)  # all negatives are as near
    tensor(0.5514)

    Args:
        first, second: [N, D] each, two views of the same N things.
        temperature: τ.
        tau_plus: τ⁺ in [0, 1), how many of the negatives are positives in truth.
        beta: β ≥ 0; at 0 it is `debiased`.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    return _weighted(first, second, temperature, tau_plus, beta, gather)


def _weighted(first, second, temperature, tau_plus, beta, gather):
    input_checks.above_zero(temperature=temperature)
    input_checks.not_below_zero(beta=beta, tau_plus=tau_plus)
    if not tau_plus < 1:
        raise ValueError(f"tau_plus is {tau_plus}; it must be below 1, or nothing is a negative")
    first, second = gathered(gather, first, second)
    first, second = input_checks.paired(
        input_checks.for_products(first), first=first, second=second
    )
    arguments = (first, second, 1 / temperature, tau_plus, beta)
    return with_gradient(_by_tiles, _dense, *arguments)


def _dense(first, second, scale, tau_plus, beta):
    settings = {"temperature": 1 / scale, "tau_plus": tau_plus}
    if beta == 0:
        return debiased_definition(first, second, **settings)
    return hard_weighted_definition(first, second, **settings, beta=beta)


def _by_tiles(needs_grad, first, second, scale, tau_plus, beta):
    points = Directions(torch.cat((first, second)), needs_grad=any(needs_grad))
    every, count = slice(0, None), 2 * len(first)
    logits = points.between(every, every, scale, (any(needs_grad), any(needs_grad)))
    partner = torch.arange(count, device=first.device).roll(len(first))
    slope_of_least = []

    def cost(noise: Tensor, positive: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        excess = estimated(noise, positive, count - 2, scale, tau_plus)
        missed = excess.sigmoid()
        taken = (count - 2) * tau_plus * (positive - noise).clamp(max=MAX_EXPONENT).exp()
        remaining = excess > (math.log(count - 2) if count > 2 else -math.inf) - scale - positive
        by_noise = missed.div(1 - taken).masked_fill(~remaining, 0)
        by_positive = torch.where(remaining, by_noise, missed).neg_()
        slope_of_least.append(missed.masked_fill(remaining, 0).sum())
        return softplus(excess), by_noise, by_positive

    total = noise_of_views(logits, partner, beta, cost)
    if not any(needs_grad):
        return total / count, ()
    gradient, by_scale = points.pull_back(1 / count, scale)
    if by_scale is not None:
        by_scale = by_scale - torch.stack(slope_of_least).sum() / count
    return total / count, (*gradient.split(len(first)), by_scale, None, None)


def _collapse(tensors: dict[str, Tensor], **_: object) -> float:
    return math.log(2 * len(tensors["first"]) - 1)


def _floor(
    tensors: dict[str, Tensor], temperature: float = 0.5, tau_plus: float = 0.1, **_: object
) -> float:
    """Return the value of a simplex, where every exponent is least, whatever the weights."""
    count = len(tensors["first"])
    if count == 1:
        return 0.0
    gap = torch.tensor(-simplex_gap(count) / temperature, dtype=torch.float64)
    noise, others = gap + math.log(2 * count - 2), 2 * count - 2
    least = estimated(
        noise + 1 / temperature, gap * 0 + 1 / temperature, others, 1 / temperature, tau_plus
    )
    return softplus_at(float(least))


_SYMBOLS = {name: NT_XENT.symbols[name] for name in ("first", "second", *VIEWS)} | {
    "terms": view_by_view(r"s_{ik}\ \text{where}\ k \ne i, p(i)", "«logits[r,c]»"),
    "importance": each_view(r"\log \overline{e^{\beta s_{ik}}}"),
    "noise": each_view(r"\log \sum_k e^{s_{ik}}"),
    "excess": each_view("g_i", equals=r"\log G_i - s_{i\,p(i)}"),
    "per_view": each_view(
        r"\ell_i", r"\log\bigl(1 + e^{«excess[r]»}\bigr)", equals=r"\log(1 + e^{g_i})", signed=False
    ),
    "loss": NT_XENT.symbols["loss"],
}

_TAU_PLUS = Parameter("tau_plus", 0.1, r"\tau^+", 0.0, 0.9, 0.01, label="share of positives")


def _with_copies(
    copies: Mapping[str, Tensor], temperature: float = 0.5, tau_plus: float = 0.1, **_: object
) -> float:
    """Return the least value with duplicates, as near as the partner, all other views opposite.
    Weights by nearness do not reduce the negatives."""
    duplicates = in_all(copies)
    count, opposite = len(duplicates) - 2, math.exp(-2 / temperature)
    remaining = (duplicates - count * tau_plus + (count - duplicates) * opposite) / (1 - tau_plus)
    return float(remaining.clamp(min=count * opposite).log1p().mean())


_FORMULA = (
    r"\frac{{1}}{{2N}} \sum_i \log\Bigl(1 + \frac{{G_i}}{{e^{{s_{{i\,p(i)}}}}}}\Bigr),\quad"
    r" G_i = \max\Bigl(\frac{{{} - M \tau^+ e^{{s_{{i\,p(i)}}}}}}{{1 - \tau^+}},"
    r"\ M e^{{-1/\tau}}\Bigr)"
)

DEBIASED = LossSpec(
    function=debiased,
    definition=debiased_definition,
    title="Debiased contrastive",
    about="Corrects NT-Xent for the share of negatives that are positives.",
    steps={
        "excess": "What is left of the negatives, over the positive pair.",
        "noise": "All negatives, summed in the exponential.",
    },
    group="in_batch",
    formula=_FORMULA.format(r"\sum_k e^{s_{ik}}"),
    symbols=_SYMBOLS,
    parameters=(temperature_parameter(0.5), _TAU_PLUS),
    reads={"first": "queries", "second": "keys"},
    terms="terms",
    negatives=("terms",),
    with_copies=_with_copies,
    collapse=_collapse,
    collapse_formula=r"\ln(2N - 1)",
    floor=_floor,
    floor_formula=r"\ln\Bigl(1 + M \max\Bigl("
    r"\frac{e^{-\frac{N}{(N - 1)\tau}} - \tau^+}{1 - \tau^+},\ e^{-2/\tau}\Bigr)\Bigr)",
    references=("Chuang et al. 2020 (debiased)",),
    aliases=("DebiasedMultipleNegativesRankingLoss", "debiased InfoNCE", "DCL of Chuang et al."),
)

HARD_WEIGHTED = LossSpec(
    function=hard_weighted,
    definition=hard_weighted_definition,
    title="Hard-weighted contrastive (HCL)",
    about="Corrects NT-Xent as the debiased loss does, and weighs near negatives more.",
    steps={
        "excess": "What is left of the negatives, over the positive pair.",
        "noise": "The same, near negatives weighing more.",
    },
    group="in_batch",
    formula=_FORMULA.format(r"\frac{\sum_k e^{(1 + \beta) s_{ik}}}{\overline{e^{\beta s_{ik}}}}"),
    symbols={
        **_SYMBOLS,
        "noise": each_view(
            r"\log \frac{\sum_k e^{(1 + \beta) s_{ik}}}{\overline{e^{\beta s_{ik}}}}"
        ),
    },
    parameters=(
        temperature_parameter(0.5),
        _TAU_PLUS,
        Parameter("beta", 1.0, r"\beta", 0.0, 5.0, 0.05, label="weight of near negatives"),
    ),
    reads={"first": "queries", "second": "keys"},
    terms="terms",
    # A cell is also in what weighs the others.
    negatives=("logits",),
    with_copies=_with_copies,
    collapse=_collapse,
    collapse_formula=r"\ln(2N - 1)",
    floor=_floor,
    floor_formula=DEBIASED.floor_formula,
    references=("Robinson et al. 2021 (HCL)",),
    aliases=(
        "HCL",
        "HardNegativeLoss",
        "hard negative contrastive learning",
        "hard contrastive loss",
    ),
)
