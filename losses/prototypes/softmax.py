"""The parametric softmax: one prototype for each class, lengths count."""

import math
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import linear, nll_loss

from lossprism.losses import input_checks
from lossprism.losses.geometry import cosine_matrix, dot_matrix
from lossprism.losses.kernels import log1p_sum_exp, small_batch_losses
from lossprism.losses.kernels.cell_terms import logistic_terms
from lossprism.losses.kernels.query_key_losses_by_tiles import (
    Logits,
    against_others,
    directions_and_logits,
)
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import METRIC_LEARNING, PROTOTYPED, Peer
from lossprism.losses.spec import Convention, LossSpec, Symbol
from lossprism.losses.symbols import each_sentence, loss_symbol, sentence_by_class

# Logits, up to which one matrix is faster than tiles; up to the most, torch's own steps still are,
# where their matrix is no more than the gradient that would be kept in its place.
SMALL_BATCH_CELLS, MAX_SMALL_BATCH_CELLS = 2**16, 2**20
# Of few logits whose shares are this near to 1 in their logarithms torch's own cross-entropy is the
# fastest: none is subnormal then (`stable_functions.exp_`). It keeps the digits of a loss that is
# this large.
NEAR, LARGE = 80.0, 0.1
NOBODYS = -(2**63)  # torch leaves out what has this class, by default −100


def softmax_definition(embeddings: Tensor, classes: Tensor, *, prototypes: Tensor) -> Tensor:
    logits = dot_matrix(embeddings, prototypes)
    own_logit = logits.gather(1, classes[:, None])
    others = classes[:, None] != torch.arange(len(prototypes), device=classes.device)
    terms = (logits - own_logit).masked_fill(~others, -torch.inf)
    per_sentence = log1p_sum_exp(terms, dim=1)
    loss = per_sentence.mean()
    return loss


def softmax(embeddings: Tensor, classes: Tensor, *, prototypes: Tensor) -> Tensor:
    r"""mean −log( exp(q·w_c) / Σ_j exp(q·w_j) ), the parametric softmax (S2; S3 eq. 1-1).

    >>> softmax(torch.zeros(1, 2), torch.tensor([0]), prototypes=torch.eye(2))  # log 2
    tensor(0.6931)

    Args:
        embeddings: [N, D], as they are: lengths count.
        classes: [N], the number of each one's prototype.
        prototypes: [C, D], one row for each class.
    """
    loss, logits = _small_by_torch(embeddings, classes, prototypes)
    if loss is not None:
        return loss
    embeddings, classes, prototypes = input_checks.at_prototypes(
        embeddings, classes, prototypes, check_finite=False
    )
    exact = exact_softmax
    if logits is not None:
        exact = partial(small_batch_losses.softmax, logits=logits)
    elif not _is_small_batch(
        embeddings, prototypes
    ):  # few are refused by their products, which are fewer
        input_checks.must_be_finite("embeddings", embeddings)
        input_checks.must_be_finite("prototypes", prototypes)
    return with_gradient(exact, _dense_softmax, embeddings, prototypes, classes)


def _small_by_torch(
    embeddings: Tensor, classes: Tensor, prototypes: Tensor
) -> tuple[Tensor | None, Tensor | None]:
    """Return the loss by torch's own steps if they are as exact, and the logits if they are finite.

    With so few logits each check takes a noticeable share of the time. None is made twice: inputs
    that torch refuses, and faults that do not show in the shares, are left to the checks with
    better messages.
    """
    if not _are_as_torch_takes_them(embeddings, classes, prototypes):
        return None, None
    logits = linear(embeddings, prototypes)
    if logits.dtype != embeddings.dtype:  # lowered by autocast
        return None, None
    shares = logits.log_softmax(dim=1)
    least = shares.detach().amin().item()
    if not math.isfinite(least):
        return None, None
    if least > -NEAR:
        try:
            loss = nll_loss(shares, classes, ignore_index=NOBODYS)
        except IndexError:  # a number that no prototype has
            return None, None
        if loss.item() > LARGE:
            return loss, None
    return None, logits.detach()


def _are_as_torch_takes_them(embeddings: Tensor, classes: Tensor, prototypes: Tensor) -> bool:
    """Return whether they are few, and need neither be raised nor copied."""
    if not (
        isinstance(embeddings, Tensor)
        and isinstance(classes, Tensor)
        and isinstance(prototypes, Tensor)
    ):
        return False
    rows, columns = embeddings.shape, prototypes.shape
    return (
        len(rows) == len(columns) == 2
        and rows[1] == columns[1]
        and 0
        < rows[0] * columns[0]
        <= max(SMALL_BATCH_CELLS, min(MAX_SMALL_BATCH_CELLS, (rows[0] + columns[0]) * rows[1]))
        and classes.shape == rows[:1]
        and embeddings.dtype == prototypes.dtype
        and embeddings.dtype in input_checks.REAL
        and classes.dtype == torch.int64
        and input_checks.may_ask(embeddings)
        and not (embeddings.is_inference() or classes.is_inference() or prototypes.is_inference())
    )


def _dense_softmax(embeddings, prototypes, classes):
    return softmax_definition(embeddings, classes, prototypes=prototypes)


def exact_softmax(needs_grad, embeddings, prototypes, classes):
    """Compute value and gradient, in one matrix if it is small."""
    exact = (
        small_batch_losses.softmax if _is_small_batch(embeddings, prototypes) else _softmax_by_tiles
    )
    return exact(needs_grad, embeddings, prototypes, classes)


def _is_small_batch(embeddings: Tensor, prototypes: Tensor) -> bool:
    return (
        len(embeddings) * len(prototypes) <= SMALL_BATCH_CELLS
        and embeddings.dtype in input_checks.REAL
    )


def _softmax_by_tiles(needs_grad, embeddings, prototypes, classes):
    share = 1 / len(embeddings)
    exact = torch.promote_types(embeddings.dtype, torch.float32)
    by_embeddings, by_prototypes = (
        torch.zeros_like(part, dtype=exact) if needed else None
        for part, needed in zip((embeddings, prototypes), needs_grad[:2], strict=True)
    )
    logits = Logits(embeddings, prototypes, 1.0, by_embeddings, by_prototypes)
    _, gaps = against_others(logits, classes, share=share)
    gradient = (
        None if g is None else g.to(embeddings.dtype) for g in (by_embeddings, by_prototypes)
    )
    # Each one's share is summed: the mean may fit where the sum would overflow.
    return logistic_terms(gaps).mul_(share).sum(), (*gradient, None)


def moved_by_tiles(needs_grad, embeddings, prototypes, classes, scale, move):
    """Compute the softmax over s·cos θ with the own cosine moved, and its gradient by embeddings,
    prototypes and scale. `move` returns the new own cosines [N], and their slope by each, None for
    1."""
    count = len(embeddings)
    with_scale = [*needs_grad[:2], needs_grad[3]]
    points, logits = directions_and_logits(with_scale, embeddings, prototypes, scale)
    own = logits.at(classes)
    moved, slopes = move(own)
    total, gaps = against_others(logits, classes, own=moved * scale, slopes=slopes)
    if not any(needs_grad):
        return total / count, ()
    gradient, by_scale = points.pull_back(1 / count, scale)
    if by_scale is not None:  # the own logit is scale · moved, and counted as scale · slope · own
        counted = own if slopes is None else slopes * own
        by_scale = by_scale + (gaps.sigmoid() * (counted - moved)).sum() / count
    return total / count, (*gradient.split([count, len(prototypes)]), None, by_scale, None)


def softmax_of_directions_definition(
    embeddings: Tensor, classes: Tensor, *, prototypes: Tensor, temperature: float = 0.05
) -> Tensor:
    """NormalizedSoftmax of pytorch-metric-learning: all on the sphere, over a temperature."""
    logits = cosine_matrix(embeddings, prototypes) / temperature
    own_logit = logits.gather(1, classes[:, None])
    others = classes[:, None] != torch.arange(len(prototypes), device=classes.device)
    terms = (logits - own_logit).masked_fill(~others, -torch.inf)
    per_sentence = log1p_sum_exp(terms, dim=1)
    loss = per_sentence.mean()
    return loss


def evenly_many(tensors: dict[str, Tensor]) -> bool:
    """Return whether all prototypes have equally many sentences."""
    sizes = tensors["classes"].bincount(minlength=len(tensors["prototypes"]))
    return not bool((sizes != sizes[0]).any())


PROTOTYPE_SYMBOLS = {
    "embeddings": Symbol("q_i", ("sentence", "dimension"), stem="q"),
    "classes": each_sentence("c_i", stem="c"),
    "prototypes": Symbol("w_j", ("class", "dimension")),
    "similarities": sentence_by_class(r"\cos\theta_{ij}"),
    "others": sentence_by_class(r"j \ne c_i", r"«c» \ne «classes[r] + 1»"),
    "per_sentence": each_sentence(
        r"\ell_i",
        r"\log\bigl(1 + «Σ exp terms[r]»\bigr)",
        equals=r"\log\Bigl(1 + \sum_{j \ne c_i} e^{t_{ij}}\Bigr)",
        signed=False,
    ),
    "loss": loss_symbol(r"\frac1N \sum_i \ell_i", r"\frac{«Σ per_sentence»}{«len(per_sentence)»}"),
}

SOFTMAX = LossSpec(
    function=softmax,
    definition=softmax_definition,
    title="Softmax with prototypes",
    about="Classifies each sentence among the class prototypes.",
    group="prototypes",
    formula=r"-\frac1N \sum_i \log \frac{e^{q_i \cdot w_{c_i}}}{\sum_j e^{q_i \cdot w_j}}",
    symbols={
        **PROTOTYPE_SYMBOLS,
        "logits": sentence_by_class("z_{ij}", equals=r"q_i \cdot w_j"),
        "own_logit": sentence_by_class(r"z_{i c_i}", "«logits[r,classes[r]]»"),
        "terms": sentence_by_class(
            "t_{ij}",
            "«logits[r,c]» - «own_logit[r,0]»",
            equals=r"z_{ij} - z_{i c_i}\ \text{where}\ j \ne c_i",
        ),
    },
    terms="terms",
    collapse=lambda tensors, **_: math.log(len(tensors["prototypes"])),
    collapse_formula=r"\ln C",
    floor=lambda tensors, **_: 0.0,
    floor_formula="0",
    aliases=("NormalizedSoftmaxLoss", "parametric softmax", "NormFace", "CrossEntropyLoss"),
    references=("S2", "S3 eq. 1-1"),
    conventions=(
        Convention(
            "pytorch-metric-learning 2.9 NormalizedSoftmaxLoss (τ = 0.05)",
            {},
            softmax_of_directions_definition,
            formula=r"-\frac1N \sum_i \log \frac{e^{\cos\theta_{i c_i}/\tau}}"
            r"{\sum_j e^{\cos\theta_{ij}/\tau}},\quad \tau = 0.05",
            symbols={"logits": sentence_by_class("z_{ij}", equals=r"\cos\theta_{ij} / \tau")},
            former=("pytorch-metric-learning NormalizedSoftmax (τ = 0.05)",),
            peers=(Peer(METRIC_LEARNING, "NormalizedSoftmaxLoss", PROTOTYPED),),
        ),
    ),
    peers=(Peer("torch", "CrossEntropyLoss", PROTOTYPED),),
)
