"""Circle loss as one sum over the batch, with fixed margins or with self-paced weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from losses import inputs
from losses.cosent import LOG1P_OF_TERMS, PAIR_SYMBOLS, ordered_count
from losses.gather import gathered
from losses.geometry import cosine_matrix
from losses.reductions import classes as large
from losses.reductions import (
    few,
    log1p_ordered_sum_exp,
    log1p_sum_exp,
    log_sum_exp,
    mean_of,
    softplus,
)
from losses.reductions.classes import is_small
from losses.reductions.gradient import with_gradient
from losses.spec import Convention, LossSpec, Parameter, Symbol


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
    scores, labels = inputs.pair_scores(*gathered(gather, scores, labels))
    shift = scale * (positive_margin - negative_margin)
    return log1p_ordered_sum_exp(scores, scores, labels, scale=scale, shift=shift)


def circle_self_paced_definition(
    scores: Tensor, labels: Tensor, *, scale: float = 64.0, margin: float = 0.25
) -> Tensor:
    positive_pace = (1 + margin - scores).relu().detach()
    negative_pace = (scores + margin).relu().detach()
    positive_logits = -scale * positive_pace * (scores - (1 - margin))
    negative_logits = scale * negative_pace * (scores - margin)
    contrasted = labels[:, None] < labels[None, :]
    sums = negative_logits[:, None] + positive_logits[None, :]
    terms = sums.masked_fill(~contrasted, -torch.inf)
    loss = log1p_sum_exp(terms)
    return loss


def circle_self_paced(
    scores: Tensor,
    labels: Tensor,
    *,
    scale: float = 64.0,
    margin: float = 0.25,
    gather: bool = False,
) -> Tensor:
    r"""Circle loss with weights α_p = [1 + m − s]₊, α_n = [s + m]₊ (Sun et al. 2020, eq. 6).

    Δ_p = 1 − m and Δ_n = m. The weights follow the scores but carry no gradient.

    >>> scores, labels = torch.tensor([0.5, 0.5]), torch.tensor([1, 0])
    >>> circle_self_paced(scores, labels, scale=1.0)  # log(1 + e^(.75·.25 + .75·.25))
    tensor(0.8981)

    Args:
        scores, labels: [N] each, as for `circle`.
        scale: γ.
        margin: m.
        gather: as for `circle`.
    """
    scores, labels = inputs.pair_scores(*gathered(gather, scores, labels))
    negatives = (scores + margin).relu().detach() * (scores - margin)
    positives = (1 + margin - scores).relu().detach() * (scores - (1 - margin))
    return log1p_ordered_sum_exp(negatives, positives, labels, scale=scale)


def circle_per_anchor_definition(
    embeddings: Tensor, classes: Tensor, *, scale: float = 80.0, margin: float = 0.4
) -> Tensor:
    """As pytorch-metric-learning: one softplus for each anchor, the mean over the non-zero."""
    similarities = cosine_matrix(embeddings, embeddings)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    positives = alike & ~itself
    positive_pace = (1 + margin - similarities).relu().detach()
    negative_pace = (similarities + margin).relu().detach()
    positive_logits = -scale * positive_pace * (similarities - (1 - margin))
    negative_logits = scale * negative_pace * (similarities - margin)
    terms = torch.where(alike, positive_logits, negative_logits).masked_fill(itself, -torch.inf)
    positive_total = log_sum_exp(terms.masked_fill(~alike, -torch.inf), dim=1)
    negative_total = log_sum_exp(terms.masked_fill(alike, -torch.inf), dim=1)
    valid = positives.any(dim=1) & ~alike.all(dim=1)
    totals = (positive_total + negative_total).masked_fill(~valid, -torch.inf)
    per_anchor = softplus(totals)
    loss = mean_of(per_anchor, per_anchor > 0)
    return loss


def circle_per_anchor(
    embeddings: Tensor,
    classes: Tensor,
    *,
    scale: float = 80.0,
    margin: float = 0.4,
    gather: bool = False,
) -> Tensor:
    r"""Self-paced Circle loss for each anchor of a batch, the mean over those that have one.

    log(1 + Σ_n e^{γ[s_n + m]₊(s_n − m)} · Σ_p e^{−γ[1 + m − s_p]₊(s_p − 1 + m)}) with the cosines s
    of the anchor with every other of its class (p) and of the other classes (n), as
    pytorch-metric-learning. The weights in brackets carry no gradient.

    >>> embeddings = torch.eye(3)
    >>> classes = torch.tensor([0, 0, 1])
    >>> circle_per_anchor(embeddings, classes, scale=1.0, margin=0.25)  # log(1 + e^(1 − 2m²))
    tensor(1.2234)

    Args:
        embeddings: [N, D].
        classes: [N], whole numbers.
        scale: γ.
        margin: m.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    embeddings, classes = gathered(gather, embeddings, classes)
    (embeddings,) = inputs.vectors(embeddings=embeddings)
    classes = inputs.class_numbers(classes, len(embeddings))

    learned = isinstance(scale, Tensor) or isinstance(margin, Tensor)
    given = (embeddings, classes, scale, margin)
    if learned:
        return _per_anchor_densely(*given)
    exact = few if is_small(len(embeddings), embeddings) else large
    return with_gradient(exact.paced_circle, _per_anchor_densely, *given)


def _per_anchor_densely(embeddings, classes, scale, margin):
    return circle_per_anchor_definition(embeddings, classes, scale=scale, margin=margin)


def _all_terms(count: int, exponent: float) -> float:
    """log(1 + count · exp(exponent))."""
    if count == 0:
        return 0.0
    total = torch.tensor([math.log(count) + exponent], dtype=torch.float64)
    return float(log1p_sum_exp(total))


def _circle_floor(
    given: dict[str, Tensor], scale: float, positive_margin: float, negative_margin: float
) -> float | None:
    if len(given["labels"].unique()) > 2:
        return None
    exponent = scale * (-2 + positive_margin - negative_margin)
    return _all_terms(ordered_count(given["labels"]), exponent)


def _paced_collapse(given: dict[str, Tensor], scale: float, margin: float) -> float:
    exponent = scale * ((1 + margin) * (1 - margin) - margin * margin)  # every score is 1
    return _all_terms(ordered_count(given["labels"]), exponent)


def _paced_floor(given: dict[str, Tensor], scale: float, margin: float) -> float | None:
    """Positives at 1 and negatives at 0: each exponent is −γm² there, its least value."""
    if len(given["labels"].unique()) > 2:
        return None
    return _all_terms(ordered_count(given["labels"]), -2 * scale * margin**2)


LOGITS = {
    "sums": Symbol(
        r"u_{ji} = n_j + p_i", ("pair", "pair"), r"«negative_logits[r]» + «positive_logits[c]»"
    ),
    "contrasted": Symbol(r"y_j < y_i", ("pair", "pair"), r"«labels[r]» < «labels[c]»"),
    "terms": Symbol(
        r"t_{ji} = u_{ji}\ \text{where}\ y_j < y_i",
        ("pair", "pair"),
        r"«negative_logits[r]» + «positive_logits[c]»",
    ),
    "loss": Symbol(r"\mathcal L = \log\Bigl(1 + \sum_{j,i} e^{t_{ji}}\Bigr)", live=LOG1P_OF_TERMS),
}

SENTENCES = ("sentence", "sentence")
PER_ANCHOR = {
    "embeddings": Symbol("z_i", ("sentence", "dimension")),
    "classes": Symbol("c_i", ("sentence",)),
    "similarities": Symbol(r"s_{ik} = \cos(z_i, z_k)", SENTENCES),
    "alike": Symbol("c_i = c_k", SENTENCES, "«classes[r]» = «classes[c]»"),
    "itself": Symbol("i = k", SENTENCES, "«r» = «c»"),
    "positives": Symbol(
        r"c_i = c_k,\ i \ne k", SENTENCES, r"«classes[r]» = «classes[c]»,\ «r» \ne «c»"
    ),
    "positive_pace": Symbol(
        r"\alpha^+_{ik} = [1 + m - s_{ik}]_+",
        SENTENCES,
        "[1 + «margin» - «similarities[r,c]»]_+",
        signed=False,
    ),
    "negative_pace": Symbol(
        r"\alpha^-_{ik} = [s_{ik} + m]_+",
        SENTENCES,
        "[«similarities[r,c]» + «margin»]_+",
        signed=False,
    ),
    "positive_logits": Symbol(
        r"p_{ik} = -\gamma \alpha^+_{ik} (s_{ik} - 1 + m)",
        SENTENCES,
        r"-«scale» \cdot «positive_pace[r,c]»\,(«similarities[r,c]» - 1 + «margin»)",
    ),
    "negative_logits": Symbol(
        r"n_{ik} = \gamma \alpha^-_{ik} (s_{ik} - m)",
        SENTENCES,
        r"«scale» \cdot «negative_pace[r,c]»\,(«similarities[r,c]» - «margin»)",
    ),
    "terms": Symbol(
        r"t_{ik} = p_{ik}\ \text{where}\ c_i = c_k,\ n_{ik}\ \text{elsewhere}",
        SENTENCES,
        r"«either(-scale, scale, alike[r,c])»"
        r" \cdot «either(positive_pace[r,c], negative_pace[r,c], alike[r,c])»"
        r"\,(«similarities[r,c]» - «either(1 - margin, margin, alike[r,c])»)",
    ),
    "positive_total": Symbol(
        r"P_i = \log \sum_{c_k = c_i} e^{t_{ik}}",
        ("sentence",),
        r"\log\bigl(«Σ exp terms[r] where alike[r]»\bigr)",
    ),
    "negative_total": Symbol(
        r"N_i = \log \sum_{c_k \ne c_i} e^{t_{ik}}",
        ("sentence",),
        r"\log\bigl(«Σ exp terms[r] where ~alike[r]»\bigr)",
    ),
    "valid": Symbol(r"i \in A", ("sentence",)),
    "totals": Symbol(r"P_i + N_i", ("sentence",), "«positive_total[r]» + «negative_total[r]»"),
    "per_anchor": Symbol(
        r"\ell_i = \log\bigl(1 + e^{P_i + N_i}\bigr)",
        ("sentence",),
        r"\log\bigl(1 + e^{«totals[r]»}\bigr)",
        signed=False,
    ),
    "loss": Symbol(
        r"\mathcal L = \text{mean of}\ \ell_i > 0",
        live=r"\frac{«Σ per_anchor»}{«(per_anchor > 0).sum().clamp_min(1)»}",
    ),
}

CIRCLE = LossSpec(
    function=circle,
    definition=circle_definition,
    title="Circle",
    group="pair_scores",
    order=3,
    formula=r"\log\Bigl(1 + \sum_{j \in -} e^{\gamma (s_j - \Delta_n)}"
    r" \sum_{i \in +} e^{-\gamma (s_i - \Delta_p)}\Bigr)",
    symbols={
        **PAIR_SYMBOLS,
        **LOGITS,
        "negative_logits": Symbol(
            r"n_j = \gamma (s_j - \Delta_n)",
            ("pair",),
            r"«scale»\,(«scores[r]» - «negative_margin»)",
        ),
        "positive_logits": Symbol(
            r"p_i = -\gamma (s_i - \Delta_p)",
            ("pair",),
            r"-«scale»\,(«scores[r]» - «positive_margin»)",
        ),
    },
    parameters=(
        Parameter("scale", 64.0, r"\gamma", 0.1, 256.0, 0.1, logarithmic=True),
        Parameter("positive_margin", 0.0, r"\Delta_p", -1.0, 1.0, 0.01),
        Parameter("negative_margin", 0.0, r"\Delta_n", -1.0, 1.0, 0.01),
    ),
    reads={"scores": "scores", "labels": "binary_labels"},
    terms="terms",
    collapse=lambda given, scale, positive_margin, negative_margin: _all_terms(
        ordered_count(given["labels"]), scale * (positive_margin - negative_margin)
    ),
    collapse_formula=r"\ln\bigl(1 + |P|\, e^{\gamma(\Delta_p - \Delta_n)}\bigr)",
    floor=_circle_floor,
    floor_formula=r"\ln\bigl(1 + |P|\, e^{\gamma(\Delta_p - \Delta_n - 2)}\bigr)",
    references=("S1 eq. 2–4", "Sun et al. 2020"),
)

CIRCLE_SELF_PACED = LossSpec(
    function=circle_self_paced,
    definition=circle_self_paced_definition,
    title="Circle, self-paced",
    group="pair_scores",
    order=3,
    formula=r"\log\Bigl(1 + \sum_{j \in -} e^{\gamma \alpha_n (s_j - m)}"
    r" \sum_{i \in +} e^{-\gamma \alpha_p (s_i - 1 + m)}\Bigr)",
    symbols={
        **PAIR_SYMBOLS,
        **LOGITS,
        "positive_pace": Symbol(
            r"\alpha_i = [1 + m - s_i]_+",
            ("pair",),
            r"[1 + «margin» - «scores[r]»]_+",
            signed=False,
        ),
        "negative_pace": Symbol(
            r"\alpha_j = [s_j + m]_+", ("pair",), r"[«scores[r]» + «margin»]_+", signed=False
        ),
        "positive_logits": Symbol(
            r"p_i = -\gamma \alpha_i (s_i - 1 + m)",
            ("pair",),
            r"-«scale» \cdot «positive_pace[r]»\,(«scores[r]» - 1 + «margin»)",
        ),
        "negative_logits": Symbol(
            r"n_j = \gamma \alpha_j (s_j - m)",
            ("pair",),
            r"«scale» \cdot «negative_pace[r]»\,(«scores[r]» - «margin»)",
        ),
    },
    parameters=(
        Parameter("scale", 64.0, r"\gamma", 0.1, 256.0, 0.1, logarithmic=True),
        Parameter("margin", 0.25, "m", 0.0, 1.0, 0.01),
    ),
    reads={"scores": "scores", "labels": "binary_labels"},
    terms="terms",
    collapse=_paced_collapse,
    collapse_formula=r"\ln\bigl(1 + |P|\, e^{\gamma(1 - 2m^2)}\bigr)",
    floor=_paced_floor,
    floor_formula=r"\ln\bigl(1 + |P|\, e^{-2\gamma m^2}\bigr)",
    references=("Sun et al. 2020, eq. 6",),
    conventions=(
        Convention("paper (γ = 256)", {"scale": 256.0, "margin": 0.25}),
        Convention(
            "pytorch-metric-learning (per anchor)",
            {"scale": 80.0, "margin": 0.4},
            circle_per_anchor_definition,
            formula=r"\frac{1}{|A|} \sum_{a \in A} \log\Bigl(1 +"
            r" \sum_{n} e^{\gamma \alpha_n (s_{an} - m)}"
            r" \sum_{p} e^{-\gamma \alpha_p (s_{ap} - 1 + m)}\Bigr)",
            symbols=PER_ANCHOR,
            reads={"embeddings": "embeddings", "classes": "classes"},
            function=circle_per_anchor,
        ),
    ),
)
