"""Alignment and uniformity: how near positive pairs are, and how evenly the sphere is filled."""

import math

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix, unit, unit_and_pull
from lossprism.losses.kernels import class_label_losses as large
from lossprism.losses.kernels import log_sum_exp, small_batch_losses
from lossprism.losses.kernels.class_label_losses import is_small
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.minimum import simplex_gap
from lossprism.losses.spec import LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_query, loss_symbol, sentence_by_sentence


def alignment_definition(first: Tensor, second: Tensor) -> Tensor:
    differences = unit(first) - unit(second)
    terms = differences.square().sum(dim=1)
    loss = terms.mean()
    return loss


def alignment(first: Tensor, second: Tensor, *, gather: bool = False) -> Tensor:
    r"""mean ‖x − y‖² of the directions x, y of positive pairs (Wang & Isola 2020, α = 2).

    It is 2 − 2 cos, and 0 at collapse: alone it draws everything to one point, so it goes together
    with `uniformity`.

    >>> alignment(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 3.0]]))  # 1² + 1²
    tensor(2.)

    Args:
        first, second: [N, D] each; row i of both belongs together.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    first, second = gathered(gather, first, second)
    first, second = input_checks.paired(torch.float32, False, first=first, second=second)
    return with_gradient(_alignment, alignment_definition, first, second)


def _alignment(needs_grad, first, second):
    (ours, pull_ours), (theirs, pull_theirs) = unit_and_pull(first), unit_and_pull(second)
    differences = ours.sub(theirs)
    loss = differences.square().sum() / len(first)
    input_checks.must_be_made_of_finite(loss, first=first, second=second)
    if not any(needs_grad):
        return loss, ()
    differences.mul_(2 / len(first))
    return loss, (pull_ours(differences), pull_theirs(differences.neg()))


def uniformity_definition(embeddings: Tensor, *, t: float = 2.0) -> Tensor:
    similarities = cosine_matrix(embeddings, embeddings)
    distances = 2 - 2 * similarities
    others = ~torch.eye(len(embeddings), dtype=torch.bool, device=embeddings.device)
    terms = (-t * distances).masked_fill(~others, -torch.inf)
    total = log_sum_exp(terms.flatten(), dim=0)
    pairs = max(len(embeddings) * (len(embeddings) - 1), 1)
    loss = (total - math.log(pairs)).masked_fill(~others.any(), 0)
    return loss


def uniformity(embeddings: Tensor, *, t: float = 2.0, gather: bool = False) -> Tensor:
    r"""log mean_{i≠k} e^{−t ‖z_i − z_k‖²} of the directions z (Wang & Isola 2020).

    0 where all are one point, and the less the more evenly they are spread: down to −2tN/(N − 1).
    Of a single vector it is 0.

    >>> uniformity(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))  # −2 · 2²
    tensor(-8.)

    Args:
        embeddings: [N, D].
        t: how fast the Gaussian falls with the squared distance.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    (embeddings,) = gathered(gather, embeddings)
    plain = isinstance(t, Tensor) or len(embeddings) == 1
    (embeddings,) = input_checks.vectors(torch.float32, plain, embeddings=embeddings)
    if plain:
        return _dense_uniformity(embeddings, t)
    exact = small_batch_losses if is_small(len(embeddings), embeddings) else large
    return with_gradient(_checked(exact.uniform), _dense_uniformity, embeddings, t)


def _checked(exact):
    """Check that the vectors were finite by their value: it is one number, and they are many."""

    def uniform(needs_grad, embeddings, t):
        loss, gradients = exact(needs_grad, embeddings, t)
        input_checks.must_be_made_of_finite(loss, embeddings=embeddings)
        return loss, gradients

    return uniform


def _dense_uniformity(embeddings, t):
    return uniformity_definition(embeddings, t=t)


def _uniformity_floor(tensors: dict[str, Tensor], t: float = 2.0) -> float:
    """Return the value of a simplex: the mean of the squared distances is at most 2N/(N − 1)."""
    count = len(tensors["embeddings"])
    return 0.0 if count == 1 else -2 * t * simplex_gap(count)


ALIGNMENT = LossSpec(
    function=alignment,
    definition=alignment_definition,
    title="Alignment",
    about="Pulls the two sentences of a positive pair together.",
    steps={
        "differences": "What the directions of a pair differ by.",
        "terms": "What each pair costs by itself.",
    },
    group="spread",
    without_others={},
    aliases=("align loss",),
    formula=r"\frac1N \sum_i \lVert x_i - y_i \rVert^2,"
    r"\quad \lVert x_i \rVert = \lVert y_i \rVert = 1",
    symbols={
        "first": Symbol("x_i", ("query", "dimension"), stem="x"),
        "second": Symbol("y_i", ("query", "dimension"), stem="y"),
        "differences": Symbol(
            r"\tfrac{x_i}{\lVert x_i \rVert} - \tfrac{y_i}{\lVert y_i \rVert}",
            ("query", "dimension"),
        ),
        "terms": each_query(
            "t_i", "«Σ differences[r] ** 2»", equals=r"\lVert x_i - y_i \rVert^2", signed=False
        ),
        "loss": loss_symbol(r"\frac1N \sum_i t_i", r"\frac{«Σ terms»}{«len(terms)»}"),
    },
    reads={"first": "queries", "second": "keys"},
    terms="terms",
    collapse=lambda tensors: 0.0,
    collapse_formula="0",
    floor=lambda tensors: 0.0,
    floor_formula="0",
    references=("Wang & Isola 2020",),
    note="It is 0 at collapse, so alone it is satisfied by one point for everything. Uniformity "
    "is the other half.",
)

UNIFORMITY = LossSpec(
    function=uniformity,
    definition=uniformity_definition,
    title="Uniformity",
    about="Spreads all sentences evenly over the sphere.",
    steps={
        "distances": "Squared distance of the directions.",
        "others": "Every pair of two sentences.",
        "total": "All pairs, summed in the exponential.",
    },
    group="spread",
    aliases=("uniform loss", "Gaussian potential"),
    formula=r"\log \frac{1}{N(N - 1)} \sum_{i \ne k} e^{-t \lVert z_i - z_k \rVert^2},"
    r"\quad \lVert z_i \rVert = 1",
    symbols={
        "embeddings": Symbol("z_i", ("sentence", "dimension"), stem="z"),
        "similarities": sentence_by_sentence("c_{ik}", equals=r"\cos(z_i, z_k)"),
        "distances": sentence_by_sentence(
            "d_{ik}",
            r"2 - 2 \cdot «similarities[r,c]»",
            equals=r"\lVert z_i - z_k \rVert^2 = 2 - 2 c_{ik}",
        ),
        "others": sentence_by_sentence(r"k \ne i", r"«c» \ne «r»"),
        "terms": sentence_by_sentence(
            "t_{ik}", r"-«t» \cdot «distances[r,c]»", equals=r"-t\, d_{ik}\ \text{where}\ k \ne i"
        ),
        "total": Symbol(r"\log \sum_{i \ne k} e^{t_{ik}}", live=r"\log\bigl(«Σ exp terms»\bigr)"),
        "loss": loss_symbol(
            r"\log \sum_{i \ne k} e^{t_{ik}} - \ln N(N - 1)",
            r"«total» - \ln «max(len(embeddings) * (len(embeddings) - 1), 1)»",
        ),
    },
    parameters=(
        Parameter(
            "t", 2.0, "t", 0.1, 20.0, 0.1, logarithmic=True, role="sharpness", label="sharpness"
        ),
    ),
    terms="terms",
    collapse=lambda tensors, t=2.0: 0.0,
    collapse_formula="0",
    floor=_uniformity_floor,
    floor_formula=r"-\frac{2 t N}{N - 1}",
    references=("Wang & Isola 2020",),
    note="A loss below 0 is normal: its highest value, 0, is that of one point for everything.",
)
