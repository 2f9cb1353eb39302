"""Known values beside a number: the loss or a library's class, its settings, the batch's counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lossprism.explorer.lab.doctor.reference_values import (
    sharpening,
)
from lossprism.explorer.runtime.limits import LARGE_PAIRS
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import is_number
from lossprism.losses import LOSSES
from lossprism.losses.score_kinds import SCORE_KINDS

# The counts, each with its least value.
COUNTS = {"batch": 1, "negatives": 0, "classes": 1, "processes": 1, "dimension": 1}
SETTINGS = ("temperature", "scale", "margin")
MAX_SETTING = 1e6


@dataclass(frozen=True)
class Known:
    """The user's knowledge; None and "" for unknown values.

    `loss` is a name of the registry, an alias, or a library's class. `batch` counts pairs (for a
    loss on classes, sentences), `negatives` the hard negatives of each query, `processes` the
    training processes, each with a batch of its own. `score` is the kind of the scores
    (`losses.score_kinds`), `convention` the one in the record of a training.
    """

    loss: str = ""
    batch: int | None = None
    negatives: int | None = None
    classes: int | None = None
    processes: int | None = None
    dimension: int | None = None
    temperature: float | None = None
    scale: float | None = None
    margin: float | None = None
    score: str = ""
    convention: str = ""

    @property
    def provided(self) -> dict[str, Any]:
        """The known values by name."""
        return {name: value for name, value in vars(self).items() if value not in (None, "")}

    def completed(self, other: Known) -> Known:
        """Fill its blanks from the other, but never both a scale and a temperature."""
        if self.temperature is not None or self.scale is not None:
            other = replace(other, temperature=None, scale=None)
        return replace(other, **self.provided)

    def checked(self) -> Known:
        """Return itself. Raises Problem for the first impossible value, by name."""
        for name, least in COUNTS.items():
            count_of(name, getattr(self, name), least)
        for name in SETTINGS:
            value = getattr(self, name)
            if value is None:
                continue
            # The inverse of a scale, as a temperature, has the same largest value.
            least = -MAX_SETTING if name == "margin" else 1 / MAX_SETTING
            if not is_number(value) or not least <= value <= MAX_SETTING:
                raise Problem("explain_setting", name=name, value=str(value)[:60])
        if self.score and self.score not in SCORE_KINDS:
            kinds = ", ".join(SCORE_KINDS)
            raise Problem("explain_score", value=self.score[:60], known=kinds)
        if self.temperature is not None and self.scale is not None:
            raise Problem(
                "explain_both", temperature=typed(self.temperature), scale=typed(self.scale)
            )
        return self


def count_of(name: str, count: object, least: int = 1) -> int | None:
    """Return the count, None where it is unknown. Raises Problem for an impossible one, by name."""
    if count is None:
        return None
    if isinstance(count, int) and type(count) is not bool and least <= count <= LARGE_PAIRS:
        return count
    raise Problem("explain_count", name=name, value=str(count)[:60], least=least, most=LARGE_PAIRS)


def known_as_trained(
    name: str, parameters: Mapping[str, object], batch: int | None, negatives: int | None = None
) -> Known:
    """Return the loss and the counts in the record of a training.

    Without the loss if it is the user's own or a sum, whose ends do not follow from counts.
    """
    if name not in LOSSES or LOSSES[name].parts:
        return Known(batch=batch, negatives=negatives)
    factor = sharpening(LOSSES[name])
    value = parameters.get(factor.name) if factor else None
    margin = parameters.get("margin")
    factor_of = float(value) if isinstance(value, int | float) else None
    is_temperature = factor is not None and "temperature" in factor.name
    return Known(
        loss=name,
        batch=batch,
        negatives=negatives,
        temperature=factor_of if is_temperature else None,
        scale=None if is_temperature else factor_of,
        margin=float(margin) if isinstance(margin, int | float) else None,
    )
