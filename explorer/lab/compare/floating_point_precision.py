"""A loss in four precisions, in each form in which it is written.

Vectors, or the scores that were given, are rounded to the type, and everything is computed in it as
torch does; labels and what a teacher gave stay in float32 at least, as trainers hold them (in
bfloat16 0.500 and 0.501 would tie). All are compared with what float64 gives by the stable form.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.trace import Step, Trace, trace
from lossprism.losses import LOSSES
from lossprism.losses.ranking.cosent import cosent_as_printed_definition

TYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
# Two definitions that differ by no more are one loss, written twice.
SAME_LOSS_TOLERANCE = 1e-9
Form = Literal["stable", "printed", "printed_in_type", "function"]


@dataclass(frozen=True)
class StepError:
    """Relative error of a step to its float64 value, by the largest of that; inf where only the
    step is not finite."""

    name: str
    error: float


@dataclass(frozen=True)
class Precise:
    """A loss in one type and one form.

    `form` is "stable" for the definition, "printed" for another way to write the same number
    (`convention` names it; S0's −10¹² mask), "printed_in_type" for the same with 10¹² as a number
    of the type, "function" for the public function, which raises half precision to float32 before
    it computes. `difference` is that of the loss from float64, `gradient_difference` that of the
    gradient by its length; None where there is no gradient. `broken` is the first step that is NaN
    or +∞ where float64 is not, "" if none is. `steps` are those of the definition. `refused` is
    what torch says that cannot compute this in the type; there is no number then.
    """

    type: str
    form: Form
    convention: str
    loss: float | None
    difference: float | None
    gradient_difference: float | None
    broken: str
    steps: tuple[StepError, ...]
    refused: str = ""


def precision(e: Exploration) -> tuple[Precise, ...]:
    """Compute an explored loss in float64, float32, bfloat16 and float16, form by form."""
    exact = _run(e, e.spec.definition, torch.float64)
    return tuple(
        _precise(e, kind, form, convention, definition, exact)
        for form, convention, definition in _forms(e, exact)
        for kind in TYPES
    )


@dataclass(frozen=True, eq=False)
class _Run:
    trace: Trace
    gradient: Tensor | None

    @property
    def loss(self) -> float:
        return float(self.trace.loss)


def _forms(e: Exploration, exact: _Run) -> Iterator[tuple[Form, str, Callable[..., Tensor]]]:
    """The ways in which this loss is written, the definition first."""
    yield "stable", e.scenario.convention, e.spec.definition
    whole = LOSSES[e.spec.name]
    for one in whole.conventions:
        other = one.definition
        if other is None or other is e.spec.definition or one.reads not in ({}, e.spec.reads):
            continue
        takes = {parameter.name for parameter in whole.under(one.name).parameters}
        if takes != e.parameters.keys():
            continue
        loss = _run(e, other, torch.float64).loss
        if math.isclose(loss, exact.loss, rel_tol=SAME_LOSS_TOLERANCE, abs_tol=SAME_LOSS_TOLERANCE):
            yield "printed", one.name, other
            if other is cosent_as_printed_definition:
                yield "printed_in_type", one.name, cosent_masked_in_type
    if e.spec.definition is whole.definition:
        yield "function", e.scenario.convention, whole.function


def cosent_masked_in_type(scores: Tensor, labels: Tensor, *, scale: float = 20.0) -> Tensor:
    """S0's form with 10¹² as a number of the scores' type: in float16 it is ∞, and 0 · ∞ is NaN."""
    scaled = scale * scores
    differences = scaled[:, None] - scaled[None, :]
    ordered = labels[:, None] < labels[None, :]
    mask = torch.tensor(1e12, dtype=scores.dtype, device=scores.device)
    terms = differences - (1 - ordered.to(scores.dtype)) * mask
    loss = torch.cat((torch.zeros_like(scaled[:1]), terms.flatten())).logsumexp(dim=0)
    return loss


def _precise(
    e: Exploration,
    kind: str,
    form: Form,
    convention: str,
    definition: Callable[..., Tensor],
    exact: _Run,
) -> Precise:
    try:
        run = _run(e, definition, TYPES[kind])
    except NotImplementedError as error:  # torch has not every operation in every type
        message = " ".join(str(error).split())[:200]
        return Precise(kind, form, convention, None, None, None, "", (), message)
    steps: list[StepError] = []
    if form != "function":
        reference = exact if form == "stable" else _run(e, definition, torch.float64)
        errors = zip(run.trace.steps, reference.trace.steps, strict=False)
        steps = [StepError(one.name, _error(one, two)) for one, two in errors]
    broken = next((one.name for one in steps if not math.isfinite(one.error)), "")
    if form == "function" and not math.isfinite(run.loss) and math.isfinite(exact.loss):
        broken = "loss"
    return Precise(
        type=kind,
        form=form,
        convention=convention,
        loss=run.loss,
        difference=run.loss - exact.loss,
        gradient_difference=_distance(run.gradient, exact.gradient),
        broken=broken,
        steps=tuple(steps),
    )


def _run(e: Exploration, definition: Callable[..., Tensor], dtype: torch.dtype) -> _Run:
    batch = _rounded(e.batch, dtype)
    vectors = None if batch.vectors is None else batch.vectors.requires_grad_()
    if batch.given is not None:
        scores = batch.given.requires_grad_()
    else:
        scores = batch.scores_from(batch.needed_vectors)
    leaves = [leaf for leaf in (vectors, scores) if leaf is not None and leaf.is_leaf]
    called: dict[str, Any] = {
        **{name: batch.read(what, vectors, scores) for name, what in e.spec.reads.items()},
        **e.parameters,
    }
    traced = trace(definition, wrt=tuple(leaves), **called)
    parts = [g.double().flatten() for g in traced.gradients if g is not None]
    return _Run(traced, torch.cat(parts) if parts else None)


def _rounded(batch: Batch, dtype: torch.dtype) -> Batch:
    """Return the batch with its vectors and scores in this type, and its labels in float32 at
    least."""
    wide = torch.promote_types(dtype, torch.float32)
    vectors, scores, guide, teacher = batch.vectors, batch.given, batch.guide, batch.teacher
    taught = batch.teacher_vectors
    return dataclasses.replace(
        batch,
        vectors=None if vectors is None else vectors.detach().to(dtype, copy=True),
        given=None if scores is None else scores.detach().to(dtype, copy=True),
        labels=batch.labels.to(wide),
        guide=None if guide is None else guide.to(dtype),
        teacher=None if teacher is None else teacher.to(wide),
        teacher_vectors=None if taught is None else taught.to(dtype),
    )


def _error(one: Step, exact: Step) -> float:
    """The largest difference by the largest value; what is masked in both does not count."""
    if not one.value.is_floating_point() or one.value.shape != exact.value.shape:
        return 0.0
    mine, theirs = one.value.double(), exact.value.double()
    fine = theirs.isfinite()
    if not bool(fine.any()):
        return 0.0
    if not bool(mine[fine].isfinite().all()):
        return math.inf
    size = float(theirs[fine].abs().max())
    return float((mine - theirs)[fine].abs().max()) / size if size > 0 else 0.0


def _distance(one: Tensor | None, exact: Tensor | None) -> float | None:
    if one is None or exact is None:
        return None
    length = float(exact.norm())
    return float((one - exact).norm()) / length if length > 0 else float(one.norm())
