"""Known values beside a number: the loss or a library's class, its settings, the batch's counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lossprism.explorer.core.library_classes_without_loss import class_of_trainer
from lossprism.explorer.core.loss_lookup import loss_called, losses_called
from lossprism.explorer.lab.doctor.losses_without_definition import loss_without_definition
from lossprism.explorer.lab.doctor.reference_values import (
    ConfiguredLoss,
    configured_losses,
    sharpening,
)
from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.limits import LARGE_PAIRS
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import is_number
from lossprism.losses import LOSSES
from lossprism.losses.loss_name_matching import (
    LIBRARY,
    conventions_called,
    is_qualified,
    last_part,
    plain,
)
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


def possible_losses(known: Known) -> list[ConfiguredLoss]:
    """Return each loss under each convention that may be meant, with the known parameters; for a
    library's class, its conventions alone.

    Raises Problem where no loss goes by that name, or one of `LOSSES_WITHOUT_DEFINITION`, and for a
    sum of losses.
    """
    if not known.loss.strip():
        losses = [loss for spec in LOSSES.values() for loss in configured_losses(spec)]
    else:
        losses = [*_named(_on_scores(known))]
    recorded = [loss for loss in losses if known.convention and loss.convention == known.convention]
    return [_with_known_settings(loss, known) for loss in recorded or losses]


def other_conventions(known: Known) -> list[ConfiguredLoss]:
    """Return the other conventions of the losses whose library's class is named: tried where that
    class has no value that matches. Empty for a class that names its convention."""
    if not known.loss.strip() or known.convention:
        return []
    name, conventions = plain(known.loss), []
    for spec in losses_called(known.loss):
        selected = conventions_called(spec, known.loss)
        if selected and not any(name in map(plain, one.split()) for one in selected):
            conventions += [
                loss for loss in configured_losses(spec) if loss.convention not in selected
            ]
    return [_with_known_settings(loss, known) for loss in conventions]


def _on_scores(known: Known) -> str:
    """Return the name of the loss; on logits, that of the cross-encoder's class of this name."""
    crossed = f"cross_encoder.losses.{last_part(known.loss)}"
    return crossed if known.score == "logit" and _is_qualified(crossed) else known.loss


def _is_qualified(name: str) -> bool:
    return any(is_qualified(name, one) for spec in LOSSES.values() for one in spec.conventions)


def single_loss(known: Known) -> ConfiguredLoss:
    """Return the one loss to examine data or a run for; of a class of several libraries, that of
    sentence-transformers.

    Raises Problem as `possible_losses` does, and for a name of several losses or conventions.
    """
    if other := class_of_trainer(known.loss, LIBRARY):
        raise other.problem(known.loss)
    losses = possible_losses(known)
    if known.convention and losses[0].convention == known.convention:
        return losses[0]
    meant = loss_called(_on_scores(known), LIBRARY)
    return next(loss for loss in losses if (loss.name, loss.convention) == meant)


def _named(name: str) -> Iterator[ConfiguredLoss]:
    if loss_without_definition(name):
        raise Problem("loss_not_here", about="loss", name=name.strip()[:60])
    for spec in losses_called(name):
        if spec.parts:
            raise Problem("explain_sum", about="loss", loss=title_word(spec))
        selected = conventions_called(spec, name)
        for loss in configured_losses(spec):
            if not selected or loss.convention in selected:
                yield loss


def is_without_ends(name: str) -> bool:
    """True for a loss whose ends do not follow from counts: a sum of losses, or one of
    `LOSSES_WITHOUT_DEFINITION`. Raises Problem where no loss has the name."""
    return loss_without_definition(name) is not None or all(
        spec.parts for spec in losses_called(name)
    )


def is_of_library(name: str) -> bool:
    """True for the class of a library, to which every row is a positive pair if it reads no
    labels."""
    if not name.strip() or LOSSES.exact(name) or loss_without_definition(name):
        return False
    return any(conventions_called(spec, name) for spec in losses_called(name))


def _with_known_settings(loss: ConfiguredLoss, known: Known) -> ConfiguredLoss:
    """Return the loss with the known temperature or scale, margin and kind of score, where it has
    them."""
    spec, changed = loss.spec, {}
    factor = sharpening(spec)
    if factor is not None:
        own, inverse = known.temperature, known.scale
        if "temperature" not in factor.name:
            own, inverse = inverse, own
        if own is not None:
            changed[factor.name] = float(own)
        elif inverse is not None:
            changed[factor.name] = 1 / inverse
    margins = [one for one in spec.parameters if one.role == "margin"]
    if known.margin is not None and len(margins) == 1:
        changed[margins[0].name] = float(known.margin)
    if known.score in ("cosine", "dot") and "similarity" in spec.defaults:
        changed["similarity"] = known.score
    return loss.with_parameters(**changed)._replace(score=known.score)


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
