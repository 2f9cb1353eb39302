"""Losses without a definition here whose numbers people bring: their values before learning and at
the minimum, by a formula each."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from lossprism.losses.loss_name_matching import SHARED_CLASSES, plain

MAX_CLASSES = 1000  # of a classifier
INFERENCE_CLASSES = 3  # entailment, neutral, contradiction

Values = dict[str, float | int]
# From a value, its tolerance, the number of classes (None if unknown) and whether the loss is named
# to the end of a sentence's key and its values; None where there is nothing to say.
Place = Callable[[float, float, int | None, bool], tuple[str, Values] | None]


@dataclass(frozen=True)
class LossWithoutDefinition:
    """A loss without a definition here. `names` match in any spelling (`plain`); those in `exactly`
    must match to the letter, because other losses have them in other spellings."""

    name: str
    names: tuple[str, ...]
    place: Place
    exactly: tuple[str, ...] = ()


def loss_without_definition(name: str) -> LossWithoutDefinition | None:
    """Return the one of this name; None where it may be a loss of the registry."""
    last = name.strip().rpartition(".")[2]
    for one in LOSSES_WITHOUT_DEFINITION:
        if last in one.exactly or (one.names and plain(name) in map(plain, one.names)):
            return one
    return None


def _simsiam(
    value: float, tolerance: float, _: int | None, named: bool
) -> tuple[str, Values] | None:
    """Place −½ (cos + cos′) of predictions and targets, from −1 to 1; equal vectors give −1 too."""
    values: Values = {"cosine": -value}
    if value < -1 - tolerance or value > 1 + tolerance:
        return ("beyond", {}) if named else None
    if abs(value + 1) <= tolerance:
        return "floor", {}
    if abs(value) <= tolerance:
        return ("start", {}) if named else None
    return ("between", values) if named or value < -tolerance else None


def _dpo(value: float, tolerance: float, _: int | None, named: bool) -> tuple[str, Values] | None:
    """Place −ln σ(β Δ), where Δ is 0 while policy and reference are equal."""
    start = math.log(2)
    if abs(value - start) <= tolerance:
        return "start", {"start": start}
    if not named:
        return None
    if value < 0:
        return "beyond", {}
    return ("above" if value > start else "below"), {"start": start}


def _classifier(
    value: float, tolerance: float, classes: int | None, named: bool
) -> tuple[str, Values] | None:
    """Place a cross-entropy over `classes`: their logarithm where all are equally likely."""
    counts = range(2, MAX_CLASSES + 1) if named else (INFERENCE_CLASSES,)
    if classes is not None:
        counts = (classes,)
    for count in counts:
        if abs(value - math.log(count)) <= tolerance:
            return "start", {"classes": count}
    if not named:
        return None
    count = classes or INFERENCE_CLASSES
    values: Values = {"classes": count, "start": math.log(count)}
    if value < 0:
        return "beyond", {}
    return ("above" if value > math.log(count) else "below"), values


LOSSES_WITHOUT_DEFINITION = (
    LossWithoutDefinition(
        "simsiam", ("SimSiam", "NegativeCosineSimilarity", "negative cosine"), _simsiam
    ),
    LossWithoutDefinition(
        "dpo", ("DPO", "DPOLoss", "DPOTrainer", "direct preference optimization"), _dpo
    ),
    LossWithoutDefinition("classifier", (), _classifier, exactly=tuple(SHARED_CLASSES)),
)
