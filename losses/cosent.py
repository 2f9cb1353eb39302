"""CoSENT and its variants: one logarithm over all pairs that should be in order.

Rows and columns: in every matrix here the row is the pair j that should score lower and the
column the pair i that should score higher, so a cell is λ(s_j − s_i), row minus column.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from losses import inputs
from losses.floors import least_over_levels
from losses.gather import gathered
from losses.reductions import log1p_ordered_sum_exp, log1p_sum_exp, ordered_sum_of_levels
from losses.reductions.gradient import with_gradient
from losses.spec import Convention, LossSpec, Parameter, Symbol


def cosent_definition(scores: Tensor, labels: Tensor, *, scale: float = 20.0) -> Tensor:
    scaled = scale * scores
    differences = scaled[:, None] - scaled[None, :]
    ordered = labels[:, None] < labels[None, :]
    terms = differences.masked_fill(~ordered, -torch.inf)
    loss = log1p_sum_exp(terms)
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
    scores, labels = inputs.pair_scores(*gathered(gather, scores, labels))
    return log1p_ordered_sum_exp(scores, scores, labels, scale=scale)


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
    scores, labels = inputs.pair_scores(*gathered(gather, scores, labels))
    return log1p_ordered_sum_exp(scores, scores, labels, scale=scale, weighted=True)


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
    (level_scores,) = inputs.real(level_scores=level_scores)
    if level_scores.ndim != 2 or level_scores.numel() == 0:
        raise ValueError(
            f"level_scores has shape {tuple(level_scores.shape)}; a row for each level, [L, N]"
        )
    labels = inputs.ordinal(labels, level_scores.shape[-1])
    weights = level_weights(weights, level_scores.new_zeros(len(level_scores)))
    if isinstance(scale, Tensor):  # it may want a gradient too
        level_scores, scale = level_scores * scale, 1.0
    compute = partial(ordered_sum_of_levels, scale=scale)
    dense = partial(_hierarchical_densely, scale=scale)
    return with_gradient(compute, dense, labels, level_scores, weights)


def _hierarchical_densely(labels, level_scores, weights, *, scale):
    return hierarchical_cosent_definition(level_scores, labels, weights=weights, scale=scale)


def multitask_cosent_definition(
    scores: Tensor,
    labels: Tensor,
    *,
    logits: Tensor,
    classes: Tensor,
    alpha: float = 1.0,
    scale: float = 20.0,
) -> Tensor:
    scaled = scale * scores
    differences = scaled[:, None] - scaled[None, :]
    ordered = labels[:, None] < labels[None, :]
    terms = differences.masked_fill(~ordered, -torch.inf)
    ranking = log1p_sum_exp(terms)
    log_probabilities = logits.log_softmax(dim=1)
    classification = -log_probabilities.gather(1, classes[:, None]).mean()
    loss = ranking + alpha * classification
    return loss


def multitask_cosent(
    scores: Tensor,
    labels: Tensor,
    *,
    logits: Tensor,
    classes: Tensor,
    alpha: float = 1.0,
    scale: float = 20.0,
    gather: bool = False,
) -> Tensor:
    r"""cosent(s, y) + α · CE(logits, classes) (S1 eq. 53).

    >>> scores, labels = torch.tensor([0.0, 0.0]), torch.tensor([1, 0])
    >>> multitask_cosent(scores, labels, logits=torch.zeros(2, 2), classes=labels)  # 2 · log 2
    tensor(1.3863)

    Args:
        scores, labels: [N] each, for the ranking.
        logits: [N, C], the classifier's output for each pair.
        classes: [N], the right class of each pair, 0 … C−1.
        alpha: α, the weight of the cross-entropy.
        scale: λ.
        gather: as for `cosent`.
    """
    scores, labels, logits, classes = gathered(gather, scores, labels, logits, classes)
    scores, labels = inputs.pair_scores(scores, labels)
    logits, scores = inputs.real(logits=logits, scores=scores)
    if logits.ndim != 2 or len(logits) != len(scores):
        raise ValueError(
            f"logits has shape {tuple(logits.shape)}; a row for each of the {len(scores)} pairs"
        )
    classes = inputs.class_numbers(classes, len(logits), most=logits.shape[1])
    ranking = log1p_ordered_sum_exp(scores, scores, labels, scale=scale)
    return ranking + alpha * torch.nn.functional.cross_entropy(logits, classes)


def ordered_count(labels: Tensor) -> int:
    """|P|: how many pairs of pairs have y_i > y_j."""
    return int((labels[:, None] < labels[None, :]).sum())


LOG1P_OF_TERMS = r"\log\bigl(1 + «Σ exp terms»\bigr)"
SCALE = Parameter("scale", 20.0, r"\lambda", 0.1, 1000.0, 0.1, logarithmic=True)
PAIR_SYMBOLS = {
    "scores": Symbol("s_i", ("pair",)),
    "labels": Symbol("y_i", ("pair",)),
    "scaled": Symbol(r"a_i = \lambda s_i", ("pair",), r"«scale» \cdot «scores[r]»"),
    "differences": Symbol(
        r"d_{ji} = \lambda s_j - \lambda s_i",
        ("pair", "pair"),
        r"«scale»\,(«scores[r]» - «scores[c]»)",
    ),
    "ordered": Symbol(r"y_j < y_i", ("pair", "pair"), r"«labels[r]» < «labels[c]»"),
    "terms": Symbol(
        r"t_{ji} = d_{ji}\ \text{where}\ y_j < y_i",
        ("pair", "pair"),
        r"«scale»\,(«scores[r]» - «scores[c]»)",
    ),
}

COSENT = LossSpec(
    function=cosent,
    definition=cosent_definition,
    title="CoSENT",
    group="pair_scores",
    order=1,
    formula=r"\log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr)",
    symbols={
        **PAIR_SYMBOLS,
        "loss": Symbol(
            r"\mathcal L = \log\Bigl(1 + \sum_{j,i} e^{t_{ji}}\Bigr)", live=LOG1P_OF_TERMS
        ),
    },
    parameters=(SCALE,),
    reads={"scores": "scores", "labels": "labels"},
    terms="terms",
    collapse=lambda given, **_: math.log1p(ordered_count(given["labels"])),
    collapse_formula=r"\ln(1 + |P|)",
    floor=lambda given, scale: least_over_levels(given["labels"], scale),
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    references=("kexue.fm/archives/8847", "S0", "S1 eq. 1", "doi.org/10.1109/TASLP.2024.3402087"),
    conventions=(Convention("sentence-transformers", {"scale": 20.0}),),
)

WEIGHTED_COSENT = LossSpec(
    function=weighted_cosent,
    definition=weighted_cosent_definition,
    title="Weighted CoSENT",
    group="pair_scores",
    order=1,
    formula=r"\log\Bigl(1 + \sum_{y_i > y_j} (y_i - y_j)\, e^{\lambda (s_j - s_i)}\Bigr)",
    symbols={
        **PAIR_SYMBOLS,
        "gaps": Symbol(
            r"w_{ji} = [y_i - y_j]_+",
            ("pair", "pair"),
            r"[«labels[c]» - «labels[r]»]_+",
            signed=False,
        ),
        "terms": Symbol(
            r"t_{ji} = d_{ji} + \ln w_{ji}",
            ("pair", "pair"),
            r"«scale»\,(«scores[r]» - «scores[c]») + \ln(«labels[c]» - «labels[r]»)",
        ),
        "loss": Symbol(
            r"\mathcal L = \log\Bigl(1 + \sum_{j,i} e^{t_{ji}}\Bigr)", live=LOG1P_OF_TERMS
        ),
    },
    parameters=(SCALE,),
    reads={"scores": "scores", "labels": "labels"},
    terms="terms",
    collapse=lambda given, **_: math.log1p(_total_gap(given["labels"])),
    collapse_formula=r"\ln\Bigl(1 + \sum_P (y_i - y_j)\Bigr)",
    floor=lambda given, scale: least_over_levels(given["labels"], scale, weighted=True),
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    references=("S1 eq. 52",),
)

HIERARCHICAL_COSENT = LossSpec(
    function=hierarchical_cosent,
    definition=hierarchical_cosent_definition,
    title="Hierarchical CoSENT",
    group="pair_scores",
    order=1,
    formula=r"\sum_{l} \beta_l \log\Bigl(1 + \sum_{y_i > y_j}"
    r" e^{\lambda (s^{(l)}_j - s^{(l)}_i)}\Bigr)",
    symbols={
        "level_scores": Symbol(r"s^{(l)}_i", ("level", "pair")),
        "labels": Symbol("y_i", ("pair",)),
        "scaled": Symbol(
            r"a^{(l)}_i = \lambda s^{(l)}_i",
            ("level", "pair"),
            r"«scale» \cdot «level_scores[r,c]»",
        ),
        "differences": Symbol(
            r"d^{(l)}_{ji} = a^{(l)}_j - a^{(l)}_i",
            ("level", "pair", "pair"),
            r"«scale»\,(«level_scores[l,r]» - «level_scores[l,c]»)",
        ),
        "ordered": Symbol(r"y_j < y_i", ("pair", "pair"), r"«labels[r]» < «labels[c]»"),
        "terms": Symbol(
            r"t^{(l)}_{ji} = d^{(l)}_{ji}\ \text{where}\ y_j < y_i",
            ("level", "pair", "pair"),
            r"«scale»\,(«level_scores[l,r]» - «level_scores[l,c]»)",
        ),
        "level_losses": Symbol(
            r"\mathcal L_l = \log\Bigl(1 + \sum_{j,i} e^{t^{(l)}_{ji}}\Bigr)",
            ("level",),
            r"\log\bigl(1 + «Σ exp terms[r]»\bigr)",
            signed=False,
        ),
        "loss": Symbol(
            r"\mathcal L = \sum_l \beta_l \mathcal L_l", live="«Σ level_losses * tensor(weights)»"
        ),
    },
    parameters=(Parameter("weights", (1.0, 1.0, 1.0), r"\beta", 0.0, 10.0, 0.1), SCALE),
    reads={"level_scores": "level_scores", "labels": "labels"},
    terms="terms",
    collapse=lambda given, weights=None, **_: (
        _total_weight(weights, given) * math.log1p(ordered_count(given["labels"]))
    ),
    collapse_formula=r"\sum_l \beta_l\, \ln(1 + |P|)",
    floor=lambda given, weights=None, scale=20.0: _times(
        _total_weight(weights, given), least_over_levels(given["labels"], scale)
    ),
    floor_formula=r"\sum_l \beta_l \min_{-1 \le s \le 1} \mathcal L_l",
    references=("S1 eq. 54",),
)

MULTITASK_COSENT = LossSpec(
    function=multitask_cosent,
    definition=multitask_cosent_definition,
    title="Multi-task CoSENT",
    group="pair_scores",
    order=1,
    formula=r"\log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr)"
    r" + \alpha\,\mathrm{CE}(z, c)",
    symbols={
        **PAIR_SYMBOLS,
        "logits": Symbol(r"z_{ik}", ("pair", "class")),
        "classes": Symbol(r"c_i", ("pair",)),
        "ranking": Symbol(
            r"\mathcal L_{\mathrm{rank}} = \log\Bigl(1 + \sum_{j,i} e^{t_{ji}}\Bigr)",
            live=LOG1P_OF_TERMS,
        ),
        "log_probabilities": Symbol(
            r"\log p_{ik} = z_{ik} - \log\sum_{k'} e^{z_{ik'}}",
            ("pair", "class"),
            r"«logits[r,c]» - \log\bigl(«Σ exp logits[r]»\bigr)",
        ),
        "classification": Symbol(
            r"\mathcal L_{\mathrm{CE}} = -\frac1N \sum_i \log p_{i c_i}",
            live=r"-\frac{«Σ log_probabilities.gather(1, classes[:, None])»}{«len(classes)»}",
        ),
        "loss": Symbol(
            r"\mathcal L = \mathcal L_{\mathrm{rank}} + \alpha\, \mathcal L_{\mathrm{CE}}",
            live=r"«ranking» + «alpha» \cdot «classification»",
        ),
    },
    parameters=(Parameter("alpha", 1.0, r"\alpha", 0.0, 10.0, 0.05), SCALE),
    reads={
        "scores": "scores",
        "labels": "labels",
        "logits": "pair_logits",
        "classes": "pair_classes",
    },
    terms="terms",
    references=("S1 eq. 53",),
)


def _total_gap(labels: Tensor) -> float:
    return float((labels[:, None] - labels[None, :]).double().relu().sum())


def _total_weight(weights: object, given: dict[str, Tensor]) -> float:
    levels = given["level_scores"][:, 0].double()
    return float(level_weights(weights, levels).sum())


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value
