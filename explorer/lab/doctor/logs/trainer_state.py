"""Reader of ``trainer_state.json``, as transformers' Trainer saves it.

A NaN is written as NaN, as a word or, by another program, as null.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from lossprism.explorer.lab.doctor.logs.log import NO_NUMBERS, Log, curves_of, last_epoch
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known, known_as_trained
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.sentence_transformers.library_loss_recognition import CALLBACK_RECORD

NO_CURVES = ("step", "epoch")


def read(name: str, content: bytes) -> Log:
    """Return the log in a trainer_state.json. Raises Problem if it is damaged or logs nothing."""
    try:
        state = read_json(content.decode("utf-8-sig"))
        history = state["log_history"]
        points = [*_points(history)]
    except (ValueError, KeyError, TypeError, AttributeError) as damage:
        reason = str(damage)[:120] or type(damage).__name__
        raise Problem("run_damaged", name=name, reason=reason) from None
    curves = curves_of(points)
    if not curves:
        raise Problem("run_nothing_logged", name=name)
    batch = state.get("train_batch_size")
    counted = isinstance(batch, int) and not isinstance(batch, bool) and batch > 0
    known, called = _recorded_loss(state, batch if counted else None)
    epochs = last_epoch(record.get("epoch") for record in history)
    return Log("trainer_state", curves, known, called, epochs=epochs)


def _recorded_loss(state: dict, batch: int | None) -> tuple[Known, str]:
    """Read the loss that `PrismCallback` saved there, and the class of that loss."""
    callbacks = state.get("stateful_callbacks")
    record = callbacks.get(CALLBACK_RECORD) if isinstance(callbacks, dict) else None
    if not isinstance(record, dict):
        return Known(batch=batch), ""
    called, columns = str(record.get("called", "")), record.get("columns")
    parameters = record.get("parameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    negatives = max(columns - 2, 0) if isinstance(columns, int) else None
    known = known_as_trained(
        str(record.get("loss", "")), parameters, batch=batch, negatives=negatives
    )
    # A library's class is known by its name and convention.
    library = known.loss and record.get("convention")
    if not library:
        return known, called
    return replace(known, loss=called, convention=str(library)), called


def _points(history: list[dict]) -> Iterator[tuple[str, object, object]]:
    for place, record in enumerate(history):
        if "step" not in record:
            raise ValueError(f"entry {place + 1} of log_history has no step")
        for name, value in record.items():
            if name not in NO_CURVES and (value is None or isinstance(value, int | float)):
                yield name, record["step"], math.nan if value is None else value
            elif name not in NO_CURVES and value in NO_NUMBERS:
                yield name, record["step"], float(value)
