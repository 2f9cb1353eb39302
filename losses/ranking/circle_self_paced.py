"""Circle loss with self-paced weights: one sum over the batch, or one for each anchor."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import class_label_losses as large
from lossprism.losses.kernels import (
    log1p_sum_exp,
    log_sum_exp,
    mean_of,
    ordered_sum,
    small_batch_losses,
    softplus,
)
from lossprism.losses.kernels.class_label_losses import is_small
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import CLASSED, METRIC_LEARNING, Peer
from lossprism.losses.loss_term_structures import Separable
from lossprism.losses.minimum import log1p_of
from lossprism.losses.ranking.circle_with_fixed_margins import SCALE, SUM_SYMBOLS
from lossprism.losses.ranking.ordered_pair_symbols import PAIR_SYMBOLS, ordered_count
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_pair, each_sentence, loss_symbol, sentence_by_sentence


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
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    arguments = (scores, labels, scale, margin)
    if isinstance(scale, Tensor) or isinstance(margin, Tensor):
        return _dense_self_paced(*arguments)
    return with_gradient(_self_paced, _dense_self_paced, *arguments)


def _dense_self_paced(scores, labels, scale, margin):
    return circle_self_paced_definition(scores, labels, scale=scale, margin=margin)


def _self_paced(needs_grad, scores, labels, scale, margin):
    falling, rising = (scores + margin).relu_(), (1 + margin - scores).relu_()
    negatives, positives = (scores - margin) * falling, (scores - (1 - margin)) * rising
    loss, (_, *slopes) = ordered_sum(needs_grad, labels, negatives, positives, scale=scale)
    by_negatives, by_positives = slopes
    return loss, (by_negatives.mul_(falling).addcmul_(by_positives, rising), None, None, None)


def paced_parts(scores: Tensor, *, scale: float, margin: float) -> tuple[Tensor, Tensor]:
    """γ[s_j + m]₊(s_j − m) and −γ[1 + m − s_i]₊(s_i − 1 + m), the brackets without gradient."""
    falling, rising = (scores + margin).relu().detach(), (1 + margin - scores).relu().detach()
    return scale * falling * (scores - margin), -scale * rising * (scores - (1 - margin))


def circle_per_anchor_definition(
    embeddings: Tensor, classes: Tensor, *, scale: float = 80.0, margin: float = 0.4
) -> Tensor:
    """pytorch-metric-learning's form: one softplus for each anchor, the mean over the
    non-zero."""
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
    (embeddings,) = input_checks.vectors(embeddings=embeddings)
    classes = input_checks.class_numbers(classes, len(embeddings))

    learned = isinstance(scale, Tensor) or isinstance(margin, Tensor)
    arguments = (embeddings, classes, scale, margin)
    if learned:
        return _dense_per_anchor(*arguments)
    exact = small_batch_losses if is_small(len(embeddings), embeddings) else large
    return with_gradient(exact.paced_circle, _dense_per_anchor, *arguments)


def _dense_per_anchor(embeddings, classes, scale, margin):
    return circle_per_anchor_definition(embeddings, classes, scale=scale, margin=margin)


def _paced_collapse(
    tensors: dict[str, Tensor], scale: float, margin: float, at: float | None = 1.0
) -> float | None:
    """Every score is the same one."""
    if at is None:
        return None
    of_negative = max(at + margin, 0.0) * (at - margin)
    of_positive = max(1 + margin - at, 0.0) * (at - (1 - margin))
    exponent = scale * (of_negative - of_positive)
    return log1p_of(ordered_count(tensors["labels"]), exponent)


def _paced_floor(tensors: dict[str, Tensor], scale: float, margin: float) -> float | None:
    """Positives at 1 and negatives at 0: each exponent is −γm² there, its least value."""
    if len(tensors["labels"].unique()) > 2:
        return None
    return log1p_of(ordered_count(tensors["labels"]), -2 * scale * margin**2)


PER_ANCHOR = {
    "embeddings": Symbol("z_i", ("sentence", "dimension"), stem="z"),
    "classes": each_sentence("c_i", stem="c"),
    "similarities": sentence_by_sentence("s_{ik}", equals=r"\cos(z_i, z_k)"),
    "alike": sentence_by_sentence("c_i = c_k", "«classes[r]» = «classes[c]»"),
    "itself": sentence_by_sentence("i = k", "«r» = «c»"),
    "positives": sentence_by_sentence(
        r"c_i = c_k,\ i \ne k", r"«classes[r]» = «classes[c]»,\ «r» \ne «c»"
    ),
    "positive_pace": sentence_by_sentence(
        r"\alpha^+_{ik}",
        "[1 + «margin» - «similarities[r,c]»]_+",
        equals="[1 + m - s_{ik}]_+",
        signed=False,
    ),
    "negative_pace": sentence_by_sentence(
        r"\alpha^-_{ik}",
        "[«similarities[r,c]» + «margin»]_+",
        equals="[s_{ik} + m]_+",
        signed=False,
    ),
    "positive_logits": sentence_by_sentence(
        "p_{ik}",
        r"-«scale» \cdot «positive_pace[r,c]»\,(«similarities[r,c]» - 1 + «margin»)",
        equals=r"-\gamma \alpha^+_{ik} (s_{ik} - 1 + m)",
    ),
    "negative_logits": sentence_by_sentence(
        "n_{ik}",
        r"«scale» \cdot «negative_pace[r,c]»\,(«similarities[r,c]» - «margin»)",
        equals=r"\gamma \alpha^-_{ik} (s_{ik} - m)",
    ),
    "terms": sentence_by_sentence(
        "t_{ik}",
        r"«either(-scale, scale, alike[r,c])»"
        r" \cdot «either(positive_pace[r,c], negative_pace[r,c], alike[r,c])»"
        r"\,(«similarities[r,c]» - «either(1 - margin, margin, alike[r,c])»)",
        equals=r"p_{ik}\ \text{where}\ c_i = c_k,\ n_{ik}\ \text{elsewhere}",
    ),
    "positive_total": each_sentence(
        "P_i",
        r"\log\bigl(«Σ exp terms[r] where alike[r]»\bigr)",
        equals=r"\log \sum_{c_k = c_i} e^{t_{ik}}",
    ),
    "negative_total": each_sentence(
        "N_i",
        r"\log\bigl(«Σ exp terms[r] where ~alike[r]»\bigr)",
        equals=r"\log \sum_{c_k \ne c_i} e^{t_{ik}}",
    ),
    "valid": each_sentence(r"i \in A"),
    "totals": each_sentence(r"P_i + N_i", "«positive_total[r]» + «negative_total[r]»"),
    "per_anchor": each_sentence(
        r"\ell_i",
        r"\log\bigl(1 + e^{«totals[r]»}\bigr)",
        equals=r"\log\bigl(1 + e^{P_i + N_i}\bigr)",
        signed=False,
    ),
    "loss": loss_symbol(
        r"\text{mean of}\ \ell_i > 0",
        r"\frac{«Σ per_anchor»}{«(per_anchor > 0).sum().clamp_min(1)»}",
    ),
}

CIRCLE_SELF_PACED = LossSpec(
    function=circle_self_paced,
    definition=circle_self_paced_definition,
    title="Circle, self-paced",
    about="Slows Circle loss down for pairs that are already in place.",
    steps={"labels": "1 for a pair whose label reaches the threshold, 0 for the others."},
    group="pair_scores",
    formula=r"\log\Bigl(1 + \sum_{j \in -} e^{\gamma \alpha_n (s_j - m)}"
    r" \sum_{i \in +} e^{-\gamma \alpha_p (s_i - 1 + m)}\Bigr)",
    symbols={
        **PAIR_SYMBOLS,
        **SUM_SYMBOLS,
        "positive_pace": each_pair(
            r"\alpha_i", r"[1 + «margin» - «scores[r]»]_+", equals="[1 + m - s_i]_+", signed=False
        ),
        "negative_pace": each_pair(
            r"\alpha_j", r"[«scores[r]» + «margin»]_+", equals="[s_j + m]_+", signed=False
        ),
        "positive_logits": each_pair(
            "p_i",
            r"-«scale» \cdot «positive_pace[r]»\,(«scores[r]» - 1 + «margin»)",
            equals=r"-\gamma \alpha_i (s_i - 1 + m)",
        ),
        "negative_logits": each_pair(
            "n_j",
            r"«scale» \cdot «negative_pace[r]»\,(«scores[r]» - «margin»)",
            equals=r"\gamma \alpha_j (s_j - m)",
        ),
    },
    parameters=(
        SCALE,
        Parameter("margin", 0.25, "m", 0.0, 1.0, 0.01, role="margin", label="margin"),
    ),
    reads={"scores": "scores", "labels": "binary_labels"},
    form=Separable(paced_parts),
    terms="terms",
    collapse=_paced_collapse,
    collapse_formula=r"\ln\bigl(1 + |P|\, e^{\gamma(1 - 2m^2)}\bigr)",
    floor=_paced_floor,
    floor_formula=r"\ln\bigl(1 + |P|\, e^{-2\gamma m^2}\bigr)",
    references=("Sun et al. 2020, eq. 6",),
    note="The weights α follow the scores but carry no gradient. The gradient shown is that of a "
    "training step, with α fixed, not the slope of the loss.",
    conventions=(
        Convention("paper (γ = 256)", {"scale": 256.0, "margin": 0.25}, printed=True),
        Convention(
            "pytorch-metric-learning 2.9 CircleLoss (per anchor)",
            {"scale": 80.0, "margin": 0.4},
            circle_per_anchor_definition,
            formula=r"\frac{1}{|A|} \sum_{a \in A} \log\Bigl(1 +"
            r" \sum_{n} e^{\gamma \alpha_n (s_{an} - m)}"
            r" \sum_{p} e^{-\gamma \alpha_p (s_{ap} - 1 + m)}\Bigr)",
            symbols=PER_ANCHOR,
            reads={"embeddings": "embeddings", "classes": "classes"},
            function=circle_per_anchor,
            former=("pytorch-metric-learning (per anchor)",),
            peers=(Peer(METRIC_LEARNING, "CircleLoss", CLASSED),),
        ),
    ),
)
