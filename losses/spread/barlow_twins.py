"""Barlow Twins: each dimension correlates with itself across the pair, and with no other."""

import torch
from torch import Tensor
from torch.linalg import vector_norm

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import MIN_LENGTH, centred, dot_matrix, unit, unit_and_pull
from lossprism.losses.kernels.squared_column_products import across
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import OF_PAIRS, Peer
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.spread.vicreg import DIMENSIONS, SIDES, floor_if_independent
from lossprism.losses.symbols import loss_symbol


def barlow_twins_definition(
    first: Tensor, second: Tensor, *, off_diagonal_weight: float = 0.005
) -> Tensor:
    centred_first, centred_second = varying(first), varying(second)
    correlations = dot_matrix(unit(centred_first.T), unit(centred_second.T))
    itself = torch.eye(len(correlations), dtype=torch.bool, device=first.device)
    invariance = (1 - correlations.diagonal()).square()
    redundancy = correlations.masked_fill(itself, 0).square()
    loss = invariance.sum() + off_diagonal_weight * redundancy.sum()
    return loss


def varying(vectors: Tensor) -> Tensor:
    """Subtract each dimension's mean; a dimension that does not vary is a constant 0, since a
    correlation has an infinite slope there."""
    moved = centred(vectors)
    return moved.masked_fill(vector_norm(moved, dim=0) < MIN_LENGTH, 0)


def barlow_twins(
    first: Tensor, second: Tensor, *, off_diagonal_weight: float = 0.005, gather: bool = False
) -> Tensor:
    r"""Σ_j (1 − C_jj)² + λ Σ_{j≠k} C_jk² (Zbontar et al. 2021).

    C_jk is the correlation over the batch of dimension j of the one side with dimension k of the
    other. A dimension that does not vary correlates with none, and has no gradient.

    >>> first = torch.tensor([[1.0, 2.0], [-1.0, -2.0]])  # two dimensions that say the same
    >>> barlow_twins(first, first)  # 0 + 0.005 · 2
    tensor(0.0100)

    Args:
        first, second: [N, D] each; row i of both belongs together.
        off_diagonal_weight: λ.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    first, second = gathered(gather, first, second)
    first, second = input_checks.paired(first=first, second=second)
    arguments = (first, second, off_diagonal_weight)
    if isinstance(off_diagonal_weight, Tensor):
        return _dense(*arguments)
    return with_gradient(_barlow_twins, _dense, *arguments)


def _dense(first, second, off_diagonal_weight):
    return barlow_twins_definition(first, second, off_diagonal_weight=off_diagonal_weight)


def _barlow_twins(needs_grad, first, second, off_diagonal_weight):
    sides = [varying(side) for side in (first, second)]
    (ours, pull_ours), (theirs, pull_theirs) = (unit_and_pull(side.T) for side in sides)
    own, redundancy, *halves = across(ours.T, theirs.T)
    missing = 1 - own
    loss = missing.square().sum() + off_diagonal_weight * redundancy
    if not any(needs_grad):
        return loss, ()
    missing.mul_(-2)
    by_first, by_second = (
        pull(half.mul_(2 * off_diagonal_weight).addcmul_(other.T, missing).T)
        .masked_fill_(~side.any(dim=0)[:, None], 0)
        .T
        for side, pull, half, other in zip(
            sides, (pull_ours, pull_theirs), halves, (theirs, ours), strict=True
        )
    )
    return loss, (by_first, by_second, None)  # whose columns sum to 0, as if centred


def barlow_twins_of_batch_norm_definition(
    first: Tensor, second: Tensor, *, off_diagonal_weight: float = 0.0051
) -> Tensor:
    """facebookresearch/barlowtwins' form: deviations are those of a batch normalisation, with
    ε."""
    centred_first, centred_second = centred(first), centred(second)
    deviation_first = (centred_first.square().mean(dim=0) + 1e-5).sqrt()
    deviation_second = (centred_second.square().mean(dim=0) + 1e-5).sqrt()
    scaled_first = centred_first / deviation_first
    scaled_second = centred_second / deviation_second
    correlations = dot_matrix(scaled_first.T, scaled_second.T) / len(first)
    itself = torch.eye(len(correlations), dtype=torch.bool, device=first.device)
    invariance = (1 - correlations.diagonal()).square()
    redundancy = correlations.masked_fill(itself, 0).square()
    loss = invariance.sum() + off_diagonal_weight * redundancy.sum()
    return loss


BARLOW_TWINS = LossSpec(
    function=barlow_twins,
    definition=barlow_twins_definition,
    title="Barlow Twins",
    about="Correlates each dimension with itself across the pair, and with no other.",
    steps={
        "correlations": "How each dimension of the one side correlates with each of the other.",
        "deviation_first": "How much each dimension of the first sentences varies.",
        "deviation_second": "The same of the second sentences.",
        "invariance": "What each dimension lacks of correlating with itself.",
        "redundancy": "What different dimensions have in common.",
        "scaled_first": "First sentences in units of that.",
        "scaled_second": "Second sentences in units of that.",
    },
    group="spread",
    without_others={},
    aliases=("BarlowTwinsLoss", "redundancy reduction"),
    formula=r"\sum_j (1 - C_{jj})^2 + \lambda \sum_{j \ne k} C_{jk}^2",
    symbols={
        **SIDES,
        "deviation_first": Symbol(
            r"\sqrt{\mathrm{Var}(x_j) + \varepsilon}",
            ("dimension",),
            r"\sqrt{«centred_first.square().mean(dim=0)[r]» + 10^{-5}}",
            signed=False,
            indices=("j",),
        ),
        "deviation_second": Symbol(
            r"\sqrt{\mathrm{Var}(y_j) + \varepsilon}",
            ("dimension",),
            r"\sqrt{«centred_second.square().mean(dim=0)[r]» + 10^{-5}}",
            signed=False,
            indices=("j",),
        ),
        "scaled_first": Symbol(
            r"\hat x_i",
            ("query", "dimension"),
            r"\frac{«centred_first[r,c]»}{«deviation_first[c]»}",
            stem=r"\hat x",
        ),
        "scaled_second": Symbol(
            r"\hat y_i",
            ("query", "dimension"),
            r"\frac{«centred_second[r,c]»}{«deviation_second[c]»}",
            stem=r"\hat y",
        ),
        "correlations": Symbol(
            "C_{jk}", DIMENSIONS, equals=r"\mathrm{corr}(x_j, y_k)", indices=("j", "k")
        ),
        "invariance": Symbol(
            "(1 - C_{jj})^2",
            ("dimension",),
            "(1 - «correlations[r,r]»)^2",
            signed=False,
            indices=("j",),
        ),
        "redundancy": Symbol(
            r"C_{jk}^2\ \text{where}\ j \ne k",
            DIMENSIONS,
            r"«correlations[r,c]»^2 \cdot «~itself[r,c]»",
            signed=False,
            indices=("j", "k"),
        ),
        "loss": loss_symbol(
            r"\sum_j (1 - C_{jj})^2 + \lambda \sum_{j \ne k} C_{jk}^2",
            r"«Σ invariance» + «off_diagonal_weight» \cdot («redundancy.sum()»)",
        ),
    },
    parameters=(
        Parameter(
            "off_diagonal_weight",
            0.005,
            r"\lambda",
            1e-4,
            1.0,
            1e-4,
            logarithmic=True,
            label="weight off the diagonal",
        ),
    ),
    reads={"first": "queries", "second": "keys"},
    terms="correlations",
    selectors=("itself",),
    collapse=lambda tensors, **_: float(tensors["first"].shape[1]),
    collapse_formula="D",
    floor=floor_if_independent,
    floor_formula="0",
    references=("Zbontar et al. 2021 (Barlow Twins)",),
    note="N rows vary independently in at most N − 1 dimensions: with fewer rows than dimensions "
    "some correlate, and the minimum is unknown.",
    conventions=(
        Convention(
            "facebookresearch/barlowtwins 046eec3 (batch normalisation with ε, λ = 0.0051)",
            {"off_diagonal_weight": 0.0051},
            barlow_twins_of_batch_norm_definition,
            note="The ε = 10⁻⁵ in the deviations pulls a dimension that hardly varies towards 0. "
            "Before that commit the code also multiplied the loss by --scale-loss.",
            former=("facebookresearch/barlowtwins (batch normalisation with ε, λ = 0.0051)",),
            peers=(Peer("facebookresearch/barlowtwins", "BarlowTwins"),),
        ),
        Convention(
            "lightly 1.6.0 BarlowTwinsLoss (batch normalisation with ε)",
            {"off_diagonal_weight": 0.005},
            barlow_twins_of_batch_norm_definition,
            peers=(Peer("lightly", "BarlowTwinsLoss", OF_PAIRS),),
        ),
    ),
)
