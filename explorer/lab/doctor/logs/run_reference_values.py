"""Reference values of a run: value at collapse and minimum of its loss, and figures beside them."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lossprism.explorer.core.loss_lookup import is_ambiguous
from lossprism.explorer.lab.doctor.assumed_labels import assumed_labels
from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import axes_of, family_of
from lossprism.explorer.lab.doctor.logs.curve_noise import noise_of
from lossprism.explorer.lab.doctor.logs.log import CORRELATION_NAME, PRISM_PREFIX, Curve, Log
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import single_loss
from lossprism.explorer.lab.doctor.minimum_for_unknown_labels_or_scores import Minimum, minimum_of
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    FLOOR,
    ConfiguredLoss,
    reference_value,
)
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout
from lossprism.explorer.runtime.problem import Problem


@dataclass(frozen=True)
class RunReferenceValues:
    """Reference values of a run: value at collapse and minimum of its loss.

    They were logged by the run (`logged`), follow from its counts, or are those of batches `drawn`
    from its rows; None where unknown. `errors` are their standard errors, if logged or drawn, and
    `assumed` names the unknown labels behind them (see `assumed_labels`). `minimum` is the lower
    bound of the loss, whatever is unknown. Figures of the last batches: `negatives`, the mean
    cosine of negatives, and `order`, a correlation of held-out pairs with their labels, with the
    name of its curve.
    """

    collapse: float | None = None
    floor: float | None = None
    logged: bool = False
    drawn: bool = False
    negatives: float | None = field(default=None, compare=False)
    order: tuple[str, float] | None = field(default=None, compare=False)
    assumed: str = ""
    errors: Mapping[str, float] = field(default_factory=dict, compare=False)
    minimum: Minimum = field(default=Minimum(None), compare=False)


def single_loss_if_known(known: Known) -> ConfiguredLoss | None:
    """Return the known loss; None where it is unknown, or has no definition here. Raises Problem
    for a name of several losses."""
    if not known.loss:
        return None
    try:
        return single_loss(known)
    except Problem as problem:
        if is_ambiguous(problem):
            raise
        return None


def run_reference_values(log: Log, known: Known) -> RunReferenceValues:
    """Return value at collapse and minimum: as `PrismCallback` logged them, else by the counts of
    the batch, else the value at collapse of batches drawn from the rows of the run."""
    logged = {kind: _logged(log, f"{PRISM_PREFIX}{kind}") for kind in (COLLAPSE, FLOOR)}
    beside = {"negatives": _logged(log, f"{PRISM_PREFIX}negative_cosine"), "order": _order(log)}
    if logged[COLLAPSE] is not None:
        errors = {kind: _error(log, f"{PRISM_PREFIX}{kind}") for kind in logged}
        minimum = Minimum(logged[FLOOR])
        return RunReferenceValues(
            logged[COLLAPSE], logged[FLOOR], True, **beside, errors=errors, minimum=minimum
        )
    loss = single_loss_if_known(known)
    marks = (
        RunReferenceValues(**beside) if loss is None else _marks_from_counts(loss, known, beside)
    )
    drawn = log.drawn_collapse
    if marks.collapse is not None or drawn is None or known != log.known:
        return marks
    value, error = drawn
    errors = {COLLAPSE: error, FLOOR: 0.0}
    return dataclasses.replace(marks, collapse=value, drawn=True, assumed="", errors=errors)


def _marks_from_counts(
    loss: ConfiguredLoss, known: Known, beside: Mapping[str, Any]
) -> RunReferenceValues:
    collapse, floor = (_value_from_counts(loss, known, kind) for kind in (COLLAPSE, FLOOR))
    ends = {COLLAPSE: collapse, FLOOR: floor}
    known_ends = [kind for kind, value in ends.items() if value is not None]
    assumed = assumed_labels(loss, known, known_ends)
    return RunReferenceValues(
        collapse, floor, **beside, assumed=assumed, minimum=_minimum_from_counts(loss, known)
    )


def _logged(log: Log, name: str) -> float | None:
    """Return the last level of a logged curve; None without one."""
    curve = _curve(log, name)
    return None if curve is None else _last(curve)


def _error(log: Log, name: str) -> float:
    """Return the standard error of that level; 0 without a curve."""
    curve = _curve(log, name)
    return 0.0 if curve is None else noise_of(curve.values).of_mean(_tenth(curve))


def _curve(log: Log, name: str) -> Curve | None:
    curves = (curve.finite for one, curve in log.curves.items() if one.endswith(name))
    return next((curve for curve in curves if len(curve)), None)


def _order(log: Log) -> tuple[str, float] | None:
    """Return the first held-out correlation of similarity and label, by name, and its last
    level."""
    named = [name for name in log.figures if CORRELATION_NAME.search(name)]
    curves = ((name, log.curves[name].finite) for name in named)
    return next(((name, _last(curve)) for name, curve in curves if len(curve)), None)


def _last(curve: Curve) -> float:
    """Return the mean of the last tenth."""
    return float(curve.values[-_tenth(curve) :].mean())


def _tenth(curve: Curve) -> int:
    return max(len(curve) // 10, 1)


def _layouts(loss: ConfiguredLoss, known: Known) -> list[Layout]:
    """Return the known batch, or a few of the possible ones."""
    axis = next(axes_of(loss, known), None)
    if axis is None:
        return []
    if family_of(loss) == "keys" and not axis.counted:
        return [axis.layout_of(1)]
    if not axis.counted:
        axis = next(axes_of(loss, dataclasses.replace(known, batch=None)), axis)
    counts = sorted({min(max(axis.least, count), axis.most) for count in (2, 3, 5, 8)})
    return [axis.layout_of(count) for count in dict.fromkeys(counts)]


def _minimum_from_counts(loss: ConfiguredLoss, known: Known) -> Minimum:
    """Return the lower bound of the loss on all batches that the known counts allow."""
    minimums = [minimum_of(loss, known, layout) for layout in _layouts(loss, known)]
    certain = [one.certain for one in minimums if one.certain is not None]
    causes = [one.cause for one in minimums if one.cause]
    return Minimum(
        min(certain) if minimums and len(certain) == len(minimums) else None,
        causes[0] if causes else "",
        next((one.label_ends for one in minimums if one.label_ends), None),
    )


def _value_from_counts(loss: ConfiguredLoss, known: Known, kind: str) -> float | None:
    """Return a reference value on the known batch, or the one of all possible batches if they
    agree."""
    layouts = _layouts(loss, known)
    found = [reference_value(loss, kind, layout) for layout in layouts]
    if len(layouts) == 1:
        return found[0]
    same = len(layouts) > 2 and None not in found
    values = [one or 0.0 for one in found]
    return values[0] if same and max(values) - min(values) < 1e-9 else None
