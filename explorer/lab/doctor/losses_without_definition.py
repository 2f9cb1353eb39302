"""Losses that people bring numbers of and that have no definition here: what they are where nothing
is learned, and at best, known by a formula each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from lossprism.losses.aliases import SHARED_CLASSES, plain

MAX_KINDS = 1000  # classes of a classifier
KINDS_OF_INFERENCE = 3

Values = dict[str, float | int]
# Of a value, its tolerance, how many classes there are if that is known, and whether the loss was
# named: the end of a sentence's key, with its values; None where there is nothing to say.
Place = Callable[[float, float, int | None, bool], tuple[str, Values] | None]


@dataclass(frozen=True)
class Relative:
    """A loss without a definition here. `names` are read as `plain` does, `exactly` to the letter,
    because they are other losses' too."""

    name: str
    names: tuple[str, ...]
    place: Place
    exactly: tuple[str, ...] = ()


def relative_called(name: str) -> Relative | None:
    """The one that goes by this name; None where a loss of the registry may."""
    last = name.strip().rpartition(".")[2]
    for one in RELATIVES:
        if last in one.exactly or (one.names and plain(name) in map(plain, one.names)):
            return one
    return None


def _simsiam(value: float, off: float, _: int | None, named: bool) -> tuple[str, Values] | None:
    """Place −½ (cos + cos′) of predictions and targets: from −1 to 1, −1 also where all are
    alike."""
    values: Values = {"cosine": -value}
    if value < -1 - off or value > 1 + off:
        return ("beyond", {}) if named else None
    if abs(value + 1) <= off:
        return "floor", {}
    if abs(value) <= off:
        return ("start", {}) if named else None
    return ("between", values) if named or value < -off else None


def _dpo(value: float, off: float, _: int | None, named: bool) -> tuple[str, Values] | None:
    """Place −ln σ(β Δ): Δ is 0 where policy and reference are the same."""
    start = math.log(2)
    if abs(value - start) <= off:
        return "start", {"start": start}
    if not named:
        return None
    if value < 0:
        return "beyond", {}
    return ("above" if value > start else "below"), {"start": start}


def _classifier(
    value: float, off: float, classes: int | None, named: bool
) -> tuple[str, Values] | None:
    """Place a cross-entropy over `classes` kinds: ln of these where all are as likely."""
    counts = range(2, MAX_KINDS + 1) if named else (KINDS_OF_INFERENCE,)
    if classes is not None:
        counts = (classes,)
    for kinds in counts:
        if abs(value - math.log(kinds)) <= off:
            return "start", {"classes": kinds}
    if not named:
        return None
    kinds = classes or KINDS_OF_INFERENCE
    values: Values = {"classes": kinds, "start": math.log(kinds)}
    if value < 0:
        return "beyond", {}
    return ("above" if value > math.log(kinds) else "below"), values


RELATIVES = (
    Relative("simsiam", ("SimSiam", "NegativeCosineSimilarity", "negative cosine"), _simsiam),
    Relative("dpo", ("DPO", "DPOLoss", "DPOTrainer", "direct preference optimization"), _dpo),
    Relative("classifier", (), _classifier, exactly=tuple(SHARED_CLASSES)),
)
