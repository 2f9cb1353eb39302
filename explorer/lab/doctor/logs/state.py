"""``trainer_state.json``, as transformers' Trainer saves it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from explorer.lab.doctor.known import Known
from explorer.lab.doctor.logs.log import Log, curves_of
from explorer.runtime.problem import Problem

APART = ("step", "epoch")


def read(name: str, content: bytes) -> Log:
    """Raises Problem where it is damaged or has nothing logged."""
    try:
        held = json.loads(content.decode("utf-8-sig"))
        history = held["log_history"]
        points = [*_points(history)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as damage:
        reason = str(damage)[:120] or type(damage).__name__
        raise Problem("run_damaged", name=name, reason=reason) from None
    curves = curves_of(points)
    if not curves:
        raise Problem("run_nothing_logged", name=name)
    batch = held.get("train_batch_size")
    counted = isinstance(batch, int) and not isinstance(batch, bool) and batch > 0
    return Log("trainer_state", curves, Known(batch=batch if counted else None))


def _points(history: list[dict]) -> Iterator[tuple[str, object, object]]:
    for place, record in enumerate(history):
        if "step" not in record:
            raise ValueError(f"entry {place + 1} of log_history has no step")
        for name, value in record.items():
            if name not in APART and isinstance(value, int | float):
                yield name, record["step"], value
