"""Supervised contrastive learning: every sentence of the same class is a positive."""

import math
from typing import cast

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import temperature_parameter
from lossprism.losses.definition_chosen_by_options import Choice, composed
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.joined_mask_and_bias_rules import Rule
from lossprism.losses.kernels import class_label_losses as large
from lossprism.losses.kernels import log1p_sum_exp, log_sum_exp, mean_of, small_batch_losses
from lossprism.losses.kernels.class_label_losses import is_small
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import CLASSED, METRIC_LEARNING, Peer
from lossprism.losses.masks import EVERY_CELL, OTHERS
from lossprism.losses.minimum import simplex_gap
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_sentence, loss_symbol, sentence_by_sentence

BASE_TEMPERATURE = 0.07  # of SupContrast, which multiplies its loss by τ/τ_base


def supcon_definition(
    embeddings: Tensor,
    classes: Tensor,
    *,
    queue: Tensor | None = None,
    queue_classes: Tensor | None = None,
    temperature: float = 0.1,
    where: Rule = OTHERS,
) -> Tensor:
    keys = embeddings if queue is None else torch.cat((embeddings, queue))
    key_classes = classes if queue_classes is None else torch.cat((classes, queue_classes))
    similarities = cosine_matrix(embeddings, keys)
    logits = similarities / temperature
    candidates = where(logits)
    positives = (classes[:, None] == key_classes[None, :]) & candidates
    terms = logits.masked_fill(~candidates, -torch.inf)
    partition = log_sum_exp(terms, dim=1)
    positive_count = positives.sum(dim=1)
    attraction = logits.masked_fill(~positives, 0).sum(dim=1) / positive_count.clamp_min(1)
    per_anchor = partition - attraction
    loss = mean_of(per_anchor, positive_count > 0)
    return loss


@composed(supcon_definition)
def supcon_by_options(
    embeddings: Tensor,
    classes: Tensor,
    *,
    queue: Tensor | None = None,
    queue_classes: Tensor | None = None,
    temperature: float = 0.1,
    include_self: bool = False,
) -> Choice:
    """Choose whether an anchor is a key of its own, as `losses.supcon` has it."""
    arguments = {
        "embeddings": embeddings,
        "classes": classes,
        "queue": queue,
        "queue_classes": queue_classes,
        "temperature": temperature,
        "where": EVERY_CELL if include_self else OTHERS,
    }
    return supcon_definition, arguments


def supcon(
    embeddings: Tensor,
    classes: Tensor,
    *,
    queue: Tensor | None = None,
    queue_classes: Tensor | None = None,
    temperature: float = 0.1,
    include_self: bool = False,
    gather: bool = False,
) -> Tensor:
    r"""mean_i −(1/#P(i)) Σ_{p∈P(i)} log( exp(cos(z_i, z_p)/τ) / Σ_k exp(cos(z_i, z_k)/τ) ) (S2).

    The mean runs over the anchors that have a positive; without any, the loss is 0.

    >>> embeddings = torch.eye(3)
    >>> supcon(embeddings, torch.tensor([0, 0, 1]))  # two keys at one cosine: log 2
    tensor(0.6931)

    Args:
        embeddings: [N, D].
        classes: [N], whole numbers.
        queue: [Q, D], earlier embeddings, keys for every anchor.
        queue_classes: [Q], their classes.
        temperature: τ.
        include_self: the anchor is a key and a positive of itself, as S2 writes it; Khosla et
            al. leave it out.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`); the
            queue is the same in all of them.
    """
    embeddings, classes = gathered(gather, embeddings, classes)
    input_checks.above_zero(temperature=temperature)
    embeddings, queue = cast(
        "tuple[Tensor, Tensor | None]", input_checks.vectors(embeddings=embeddings, queue=queue)
    )
    classes = input_checks.class_numbers(classes, len(embeddings))
    if (queue is None) != (queue_classes is None):
        raise ValueError("queue and queue_classes belong together: give both or neither")
    if queue is not None and queue_classes is not None:
        queue_classes = input_checks.class_numbers(queue_classes, len(queue), name="queue_classes")
    return _supervised(embeddings, classes, queue, queue_classes, temperature, include_self, False)


def _supervised(embeddings, classes, queue, *given):
    queued = 0 if queue is None else len(queue)
    exact = small_batch_losses if is_small(len(embeddings), embeddings, queued) else large
    return with_gradient(exact.supervised, _dense_supcon, embeddings, classes, queue, *given)


def _dense_supcon(embeddings, classes, queue, queue_classes, temperature, include_self, zeros):
    if zeros:
        whole = supcon_with_zeros_definition(embeddings, classes, temperature=temperature)
        return BASE_TEMPERATURE / temperature * whole  # `supcon_with_zeros` multiplies by τ/τ_base
    return supcon_by_options(
        embeddings,
        classes,
        queue=queue,
        queue_classes=queue_classes,
        temperature=temperature,
        include_self=include_self,
    )


def supcon_with_zeros_definition(
    embeddings: Tensor, classes: Tensor, *, temperature: float = 0.07
) -> Tensor:
    """SupContrast's form: an anchor without a positive counts as a zero, and the whole ×
    τ/τ_base."""
    similarities = cosine_matrix(embeddings, embeddings)
    logits = similarities / temperature
    candidates = ~torch.eye(len(logits), dtype=torch.bool, device=logits.device)
    positives = (classes[:, None] == classes[None, :]) & candidates
    terms = logits.masked_fill(~candidates, -torch.inf)
    partition = log_sum_exp(terms, dim=1)
    positive_count = positives.sum(dim=1)
    attraction = logits.masked_fill(~positives, 0).sum(dim=1) / positive_count.clamp_min(1)
    per_anchor = (partition - attraction).masked_fill(positive_count == 0, 0)
    loss = temperature / BASE_TEMPERATURE * per_anchor.mean()
    return loss


def supcon_with_zeros(
    embeddings: Tensor, classes: Tensor, *, temperature: float = 0.07, gather: bool = False
) -> Tensor:
    """SupCon as SupContrast: the mean over all anchors, those without a positive as zeros, times
    τ/τ_base with τ_base = 0.07.

    >>> embeddings = torch.eye(3)
    >>> supcon_with_zeros(embeddings, torch.tensor([0, 0, 1]), temperature=0.07)  # ⅔ log 2
    tensor(0.4621)

    Args:
        embeddings, classes: [N, D] and [N], as for `supcon`.
        temperature: τ.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    embeddings, classes = gathered(gather, embeddings, classes)
    input_checks.above_zero(temperature=temperature)
    (embeddings,) = input_checks.vectors(embeddings=embeddings)
    classes = input_checks.class_numbers(classes, len(embeddings))
    mean = _supervised(embeddings, classes, None, None, temperature, False, True)
    return temperature / BASE_TEMPERATURE * mean


def supcon_over_losses_definition(
    embeddings: Tensor, classes: Tensor, *, temperature: float = 0.1
) -> Tensor:
    """pytorch-metric-learning's form: the mean over anchors whose loss is not 0; 0 for one
    class."""
    similarities = cosine_matrix(embeddings, embeddings)
    logits = similarities / temperature
    candidates = ~torch.eye(len(logits), dtype=torch.bool, device=logits.device)
    alike = classes[:, None] == classes[None, :]
    positives = alike & candidates
    terms = logits.masked_fill(~candidates, -torch.inf)
    partition = log_sum_exp(terms, dim=1)
    positive_count = positives.sum(dim=1)
    attraction = logits.masked_fill(~positives, 0).sum(dim=1) / positive_count.clamp_min(1)
    valid = (positive_count > 0) & ~alike.all(dim=1)
    per_anchor = (partition - attraction).masked_fill(~valid, 0)
    loss = mean_of(per_anchor, per_anchor > 0)
    return loss


def _queued(tensors: dict[str, Tensor]) -> int:
    queue = tensors.get("queue")
    return 0 if queue is None else len(queue)


def _collapse(tensors: dict[str, Tensor], include_self: bool = False, **_: object) -> float:
    classes, count = tensors["classes"], len(tensors["classes"])
    known = classes if not _queued(tensors) else torch.cat((classes, tensors["queue_classes"]))
    sizes = (classes[:, None] == known[None, :]).sum(dim=1)
    if not include_self and bool((sizes < 2).all()):
        return 0.0
    return math.log(count + _queued(tensors) - (0 if include_self else 1))


def _floor(
    tensors: dict[str, Tensor], temperature: float = 0.1, include_self: bool = False
) -> float | None:
    """Return the minimum, known for classes of one size: each class one point, the points a
    simplex."""
    _, sizes = tensors["classes"].unique(return_counts=True)
    groups, size = len(sizes), int(sizes[0])
    if _queued(tensors) or bool((sizes != size).any()):
        return None
    positives = size if include_self else size - 1
    if positives == 0:
        return 0.0
    if groups == 1:
        return math.log(positives)
    others = (groups - 1) * size
    exponent = math.log(others / positives) - simplex_gap(groups) / temperature
    rest = log1p_sum_exp(torch.tensor([exponent], dtype=torch.float64))
    return math.log(positives) + float(rest)


SUPCON = LossSpec(
    function=supcon,
    definition=supcon_by_options,
    title="Supervised contrastive (SupCon)",
    about="Pulls all sentences of a class together, against all others in the batch.",
    steps={"keys": "Every sentence of the batch, and the queue's, if there is one."},
    group="in_batch",
    formula=r"\frac1N \sum_i \frac{-1}{|P(i)|} \sum_{p \in P(i)}"
    r" \log \frac{e^{\cos(z_i, z_p)/\tau}}{\sum_k e^{\cos(z_i, z_k)/\tau}}",
    symbols={
        "embeddings": Symbol("z_i", ("sentence", "dimension"), stem="z"),
        "classes": each_sentence("c_i", stem="c"),
        "keys": Symbol("z_k", ("sentence", "dimension")),
        "key_classes": each_sentence("c_k"),
        "similarities": sentence_by_sentence("c_{ik}", equals=r"\cos(z_i, z_k)"),
        "logits": sentence_by_sentence(
            "s_{ik}", r"«similarities[r,c]» / «temperature»", equals=r"c_{ik} / \tau"
        ),
        "candidates": sentence_by_sentence(r"k \in A(i)"),
        "positives": sentence_by_sentence(
            r"k \in P(i)", r"«classes[r]» = «classes[c]»,\ «candidates[r,c]» = 1"
        ),
        "terms": sentence_by_sentence(
            "t_{ik}",
            r"«similarities[r,c]» / «temperature»",
            equals=r"s_{ik}\ \text{where}\ k \in A(i)",
        ),
        "partition": each_sentence(
            "Z_i", r"\log\bigl(«Σ exp terms[r]»\bigr)", equals=r"\log \sum_{k \in A(i)} e^{s_{ik}}"
        ),
        "positive_count": each_sentence("|P(i)|"),
        "attraction": each_sentence(
            "a_i",
            r"\frac{«Σ logits[r] where positives[r]»}{«positive_count[r].clamp_min(1)»}",
            equals=r"\frac{1}{|P(i)|} \sum_{p \in P(i)} s_{ip}",
            stem="a",
        ),
        "per_anchor": each_sentence(
            r"\ell_i", r"«partition[r]» - «attraction[r]»", equals="Z_i - a_i"
        ),
        "loss": loss_symbol(
            r"\overline{\ell_i}\ \text{over}\ |P(i)| > 0",
            r"\frac{«Σ per_anchor where positive_count»}"
            r"{«(positive_count > 0).sum().clamp_min(1)»}",
        ),
    },
    parameters=(
        temperature_parameter(0.1),
        Parameter("include_self", False, label="anchor is its own key"),
    ),
    terms="terms",
    selectors=("positives", "alike"),
    collapse=_collapse,
    collapse_formula=r"\ln(N - 1)",
    floor=_floor,
    floor_formula=r"\ln\bigl(n - 1 + (N - n)\, e^{-\frac{C}{(C - 1)\tau}}\bigr)",
    aliases=("supervised contrastive", "SupConLoss"),
    references=("S2", "Khosla et al. 2020", "Graf et al. 2021"),
    conventions=(
        Convention(
            "pytorch-metric-learning 2.9",
            {"temperature": 0.1},
            supcon_over_losses_definition,
            symbols={
                "alike": sentence_by_sentence("c_i = c_k", "«classes[r]» = «classes[c]»"),
                "valid": each_sentence(
                    r"|P(i)| > 0,\ C > 1", r"«positive_count[r]» > 0,\ «alike.all(dim=1)[r]» = 0"
                ),
                "per_anchor": each_sentence(
                    r"\ell_i",
                    "«either(partition[r], 0, valid[r])» - «either(attraction[r], 0, valid[r])»",
                    equals=r"Z_i - a_i\ \text{where}\ |P(i)| > 0,\ C > 1",
                ),
                "loss": loss_symbol(
                    r"\overline{\ell_i}\ \text{over}\ \ell_i > 0",
                    r"\frac{«Σ per_anchor»}{«(per_anchor > 0).sum().clamp_min(1)»}",
                ),
            },
            note="Anchors with a loss of exactly 0 are left out of the mean, so a batch of one "
            "class gives 0. With its memory bank (CrossBatchMemory) all keys are stored ones "
            "without gradient: an anchor moves towards its positives, and they do not move "
            "towards it.",
            former=("pytorch-metric-learning",),
            peers=(Peer(METRIC_LEARNING, "SupConLoss", CLASSED),),
        ),
        Convention("S2 (the anchor is its own positive)", {"include_self": True}, printed=True),
        Convention(
            "SupContrast, unreleased, December 2023 (anchors without a positive count as zeros)",
            {"temperature": BASE_TEMPERATURE},
            supcon_with_zeros_definition,
            formula=r"\frac{\tau}{0.07} \cdot \frac1N \sum_i \frac{-1}{|P(i)|} \sum_{p \in P(i)}"
            r" \log \frac{e^{\cos(z_i, z_p)/\tau}}{\sum_k e^{\cos(z_i, z_k)/\tau}}",
            symbols={
                "per_anchor": each_sentence(
                    r"\ell_i",
                    r"\min\bigl(1, «positive_count[r]»\bigr)\,(«partition[r]» - «attraction[r]»)",
                    equals=r"Z_i - a_i\ \text{where}\ |P(i)| > 0",
                ),
                "loss": loss_symbol(
                    r"\frac{\tau}{0.07} \cdot \frac1N \sum_i \ell_i",
                    r"\frac{«temperature» \cdot («Σ per_anchor»)}"
                    r"{0.07 \cdot «len(per_anchor)»}",
                ),
            },
            note="The repository has no releases. Before its pull request 142 (opened on 2 "
            "December 2023, merged) an anchor without a positive made the loss NaN, as at "
            "2728c67.",
            function=supcon_with_zeros,
            former=("SupContrast (anchors without a positive count as zeros)",),
            peers=(Peer("HobbitLong/SupContrast", "SupConLoss"),),
        ),
    ),
)
