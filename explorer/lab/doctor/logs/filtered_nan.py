"""A loss of 0 in the log that was NaN: loggers may filter it to 0."""

import re
from collections.abc import Iterator

import numpy as np

from lossprism.explorer.lab.doctor.finding import SEVERE, Fault
from lossprism.explorer.lab.doctor.logs.log import GRADIENT_NORM_NAME, Curve, Log
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.metric_chance_levels import chances_at
from lossprism.explorer.runtime.number_format import display_number

_ACCURACY = re.compile(r"(?:^|[/_ ])acc(?:uracy)?$", re.I)


def on_filtered(log: Log, curve: Curve, zeros: int) -> Iterator[Fault]:
    """Find loss and gradient exactly 0 in the last `zeros` entries beside an accuracy below 1: with
    a wrong answer, a loss is above 0."""
    steps = curve.steps[len(curve) - zeros :] if zeros else np.array([])
    gradient = [
        _values_at(one, steps)
        for name, one in log.curves.items()
        if GRADIENT_NORM_NAME.search(name)
    ]
    if not any(len(values) and (values == 0).all() for values in gradient):
        return
    for name, one in log.curves.items():
        values = _values_at(one, steps) if _ACCURACY.search(name) else np.array([])
        if len(values) and values.max() < 1:
            yield _filtered(name, values, one, curve, zeros)
            return


def _values_at(curve: Curve, steps: np.ndarray) -> np.ndarray:
    """Return the values of a curve at these steps; none if one of them is not finite."""
    values = curve.values[np.isin(curve.steps, steps)]
    return values if np.isfinite(values).all() else np.array([])


def _filtered(name: str, values: np.ndarray, accuracy: Curve, curve: Curve, zeros: int) -> Fault:
    level = float(values.mean())
    step = float(curve.steps[len(curve) - zeros])
    values_found: dict[str, int | float | str] = {
        "count": zeros,
        "step": int(step) if step == int(step) else step,
        "name": name,
        "figure": display_number(level, 3),
    }
    rounding = max(float(accuracy.unit.max(initial=0.0)), 1e-9)
    always_no = [one for one in chances_at(level, rounding, Known()) if one.metric == "always_no"]
    if always_no:
        values_found |= {
            "candidates": always_no[0].candidates,
            "wrong": always_no[0].candidates - 1,
        }
    more = "zero_always_no" if always_no else "zero_filtered"
    return Fault("zero", SEVERE, values_found, (int(step),), subject="run", more=more)
