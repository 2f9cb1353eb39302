"""A loss over two scores: that of a positive pair and that of a negative pair of one query.

A point (s_p, s_n) of the landscape is the loss of the batch of these two pairs with these scores.
`torch.vmap` runs the definition once over all points.
"""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch, batch_of_scores
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.resolved_scenario import Resolved
from lossprism.explorer.core.scenario import Rules
from lossprism.explorer.core.specialised_definitions import accepted
from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.device import device, precision
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.resource_checks import check_matrices
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.loss_term_structures import LogisticSum, Separable
from lossprism.losses.spec import Parameter

# Sources of inputs that two scores, their labels and their common query determine.
DETERMINED_INPUTS = ("scores", "labels", "groups")
CELL_BYTES = 60  # that comparisons take for each pair of pairs
LEVER_STOPS = 41  # of a lever, beside the values in force
STOP_DIGITS = 3  # of a stop
MAX_DOTS = 200
TWO_PAIRS = Pairs(
    first=("query", "query"),
    second=("positive", "negative"),
    labels=(1.0, 0.0),
    scores=(0.0, 0.0),
    label_range=(0.0, 1.0),
)


@dataclass(frozen=True, eq=False)
class Surface:
    """A loss at P points (s_p, s_n): `values` [P], `slopes` [P, 2] by both scores, and `curvature`
    [P], the second derivative by s_p. Derivatives are autograd's: what a definition detaches, as
    the weights of the self-paced Circle, stays still."""

    values: Tensor
    slopes: Tensor
    curvature: Tensor


def has_landscape(spec: LossSpec) -> bool:
    """Return whether a loss of this program is determined by two scores: it reads scores, labels
    and lists alone. `torch.vmap` need not be able to run a user's own."""
    made_of = [reading.made_of for reading in spec.readings]
    is_determined = "scores" in made_of and all(one in DETERMINED_INPUTS for one in made_of)
    return is_determined and spec.group != "own"


def offered() -> list[str]:
    """Return the names of the losses that have a landscape."""
    return [name for name, spec in LOSSES.items() if has_landscape(spec)]


def levers(spec: LossSpec) -> list[Parameter]:
    """Return the scales, temperatures and margins of a loss: what moves its landscape."""
    return [one for one in spec.parameters if one.role and one.kind == "number"]


def stops(parameters: Sequence[Parameter], values: Sequence[float]) -> list[float]:
    """Return the values that a lever of several losses moves through, ascending: over the range
    that they share, by ratios if it is logarithmic, and these `values`."""
    low = max(one.minimum for one in parameters)
    high = min(one.maximum for one in parameters)
    if all(one.logarithmic for one in parameters):
        least, most = torch.tensor([low, high], dtype=torch.float64).log().tolist()
        found = torch.linspace(least, most, LEVER_STOPS, dtype=torch.float64).exp()
    else:
        found = torch.linspace(low, high, LEVER_STOPS, dtype=torch.float64)
    tidy = (min(max(float(f"{one:.{STOP_DIGITS}g}"), low), high) for one in found.tolist())
    return sorted({*tidy, *values})


def two_pairs(positive: float, negative: float) -> Batch:
    """Return the batch of a positive and a negative pair of one query with these scores."""
    return batch_of_scores(dataclasses.replace(TWO_PAIRS, scores=(positive, negative)), Rules())


def surface(resolved: Resolved, points: Tensor) -> Surface:
    """Compute a loss and its derivatives at points (s_p, s_n) [P, 2].

    Raises:
        Problem: if the loss has no landscape.
    """
    if not has_landscape(resolved.spec):
        raise Problem("no_landscape", about="loss", loss=title_word(resolved.spec))
    batch = two_pairs(0.0, 0.0)
    e = explore(resolved, batch)
    leaf = points.to(device=device(), dtype=precision()).requires_grad_()

    def loss_of(scores: Tensor) -> Tensor:
        inputs = {name: batch.read(what, None, scores) for name, what in e.spec.reads.items()}
        return e.definition(**accepted(e.definition, {**inputs, **e.parameters}))

    values = torch.vmap(loss_of)(leaf)
    slopes = _derivative(values, leaf, create_graph=True)
    curvature = _derivative(slopes[:, 0], leaf)[:, 0]
    return Surface(values.detach(), slopes.detach(), curvature)


def _derivative(heights: Tensor, leaf: Tensor, create_graph: bool = False) -> Tensor:
    """∂Σ heights/∂leaf; 0 where they do not depend on it."""
    if not heights.requires_grad:
        return torch.zeros_like(leaf)
    return torch.autograd.grad(
        heights.sum(), leaf, create_graph=create_graph, materialize_grads=True
    )[0]


@dataclass(frozen=True)
class Boundary:
    """The level line on which the term of the two pairs is 0: the loss is `level` there. It is the
    line s_p = s_n + `shift`, or the circle of this `radius` around (1, 0) and, where s_n is below
    `straight_below`, a line of one s_p."""

    level: float
    shift: float | None = None
    radius: float | None = None
    straight_below: float | None = None


def boundary(resolved: Resolved) -> Boundary | None:
    """Return the boundary between the right and the wrong order, None for a loss without a term
    inside ln(1 + e^term).

    A library may divide a logistic sum by ln 2: its level is the value at equal scores.
    """
    parameters = resolved.parameters
    if isinstance(resolved.spec.form, LogisticSum):
        return Boundary(float(surface(resolved, torch.zeros(1, 2)).values), shift=0.0)
    if not isinstance(resolved.spec.form, Separable):
        return None
    if resolved.spec.name == "circle_self_paced":
        margin = _number(parameters["margin"])
        return Boundary(math.log(2), radius=math.sqrt(2) * margin, straight_below=-margin)
    positive, negative = (parameters.get(f"{one}_margin", 0.0) for one in ("positive", "negative"))
    return Boundary(math.log(2), shift=_number(positive) - _number(negative))


def _number(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)


def curvature_by_formula(slope: Tensor, total: Tensor) -> Tensor:
    """λ² S / (1 + S)², the second derivative of ln(1 + S) by the score of the positive (S1 eq. 18
    corrected): S is the sum of e^(λ(a_k − s)) over the negatives, `slope` is λ."""
    return slope**2 * total / (1 + total) ** 2


def curvature_of(resolved: Resolved, points: Tensor) -> Tensor | None:
    """Return `curvature_by_formula` at points (s_p, s_n) [P, 2], None for a loss without sums of
    exponentials in its form."""
    form = resolved.spec.form
    if not isinstance(form, Separable):
        return None
    places = points.to(device=device(), dtype=precision()).requires_grad_()
    positives, negatives = places[:, 0], places[:, 1]
    falling = form.parts(positives, **resolved.parameters)[1]
    rising = form.parts(negatives, **resolved.parameters)[0]
    slope = _derivative(falling, places)[:, 0]
    return curvature_by_formula(slope, (rising + falling).detach().exp())


def comparisons(batch: Batch, spec: LossSpec) -> Tensor:
    """Return the scores (s_p, s_n) [C, 2] of every two pairs of a batch that the loss may compare,
    the most wrongly ordered first: of pairs on both sides of the threshold, or of two labels, and
    for a loss on lists of one query."""
    check_matrices(len(batch), CELL_BYTES)
    labels = batch.positive.to(batch.labels) if spec.by_threshold else batch.labels
    ordered = labels[:, None] > labels[None, :]
    if any("list" in reading.axes for reading in spec.readings):
        ordered &= batch.first[:, None] == batch.first[None, :]
    higher, lower = ordered.nonzero(as_tuple=True)
    scores = batch.scores.detach()
    pairs = torch.stack([scores[higher], scores[lower]], dim=1)
    return pairs[(pairs[:, 0] - pairs[:, 1]).argsort()]
