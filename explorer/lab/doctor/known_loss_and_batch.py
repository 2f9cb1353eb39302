"""Known values beside the number: the loss or a library's class, the counts of the batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lossprism.explorer.core.loss_lookup import loss_called, losses_called
from lossprism.explorer.core.related_classes import class_of_trainer
from lossprism.explorer.lab.doctor.losses_without_definition import relative_called
from lossprism.explorer.lab.doctor.reference_values import (
    ConfiguredLoss,
    configured_losses,
    sharpening,
)
from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.limits import LARGE_PAIRS
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_types import is_number
from lossprism.losses import LOSSES
from lossprism.losses.aliases import LIBRARY, conventions_called, is_qualified, last_part, plain
from lossprism.losses.score_kinds import SCORE_KINDS

# The counts with their smallest values.
COUNTS = {"batch": 1, "negatives": 0, "classes": 1, "processes": 1, "dimension": 1}
SETTINGS = ("temperature", "scale", "margin")
LARGEST = 1e6


@dataclass(frozen=True)
class Known:
    """The user's knowledge; None and "" for unknown values.

    `loss` is a name of the registry, an alias, or a library's class. `batch` counts pairs (for a
    loss on classes, sentences), `negatives` the hard negatives of each query, `processes` those
    that train together, each on a batch of its own. `score` is the kind of its scores
    (`losses.score_kinds`), `convention` the one that a record of a training names.
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

    def checked(self) -> Known:
        """Return itself. Raises Problem, naming the first entry that cannot be."""
        for name, least in COUNTS.items():
            count_of(name, getattr(self, name), least)
        for name in SETTINGS:
            value = getattr(self, name)
            if value is None:
                continue
            # One over a scale is a temperature.
            least = -LARGEST if name == "margin" else 1 / LARGEST
            if not is_number(value) or not least <= value <= LARGEST:
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
    """A count that may be known, None where it is not. Raises Problem, naming it, where it cannot
    be."""
    if count is None:
        return None
    if isinstance(count, int) and type(count) is not bool and least <= count <= LARGE_PAIRS:
        return count
    raise Problem("explain_count", name=name, value=str(count)[:60], least=least, most=LARGE_PAIRS)


def possible_losses(known: Known) -> list[ConfiguredLoss]:
    """Return each loss under each convention that may be meant, with the known parameters. A class
    of a library is its conventions alone.

    Raises Problem where no loss goes by that name, or one of `RELATIVES`, and for a sum of losses.
    """
    if not known.loss.strip():
        losses = [loss for spec in LOSSES.values() for loss in configured_losses(spec)]
    else:
        losses = [*_named(_on_scores(known))]
    recorded = [loss for loss in losses if known.convention and loss.convention == known.convention]
    return [_set(loss, known) for loss in recorded or losses]


def other_conventions(known: Known) -> list[ConfiguredLoss]:
    """Return the other conventions of the losses whose library's class is named, which may be meant
    where no value of its own fits. None for a class that stands in the name of its convention."""
    if not known.loss.strip() or known.convention:
        return []
    name, found = plain(known.loss), []
    for spec in losses_called(known.loss):
        selected = conventions_called(spec, known.loss)
        if selected and not any(name in map(plain, one.split()) for one in selected):
            found += [loss for loss in configured_losses(spec) if loss.convention not in selected]
    return [_set(loss, known) for loss in found]


def _on_scores(known: Known) -> str:
    """The name of the loss: on logits that of a cross-encoder's class, where a bi-encoder has one
    of the same name."""
    crossed = f"cross_encoder.losses.{last_part(known.loss)}"
    return crossed if known.score == "logit" and _is_qualified(crossed) else known.loss


def _is_qualified(name: str) -> bool:
    return any(is_qualified(name, one) for spec in LOSSES.values() for one in spec.conventions)


def single_loss(known: Known) -> ConfiguredLoss:
    """The one loss that data or a run are examined for; of a class of several libraries, that of
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
    if relative_called(name):
        raise Problem("loss_not_here", about="loss", name=name.strip()[:60])
    for spec in losses_called(name):
        if spec.parts:
            raise Problem("explain_sum", about="loss", loss=title_word(spec))
        selected = conventions_called(spec, name)
        for loss in configured_losses(spec):
            if not selected or loss.convention in selected:
                yield loss


def is_without_ends(name: str) -> bool:
    """True if the loss of that name has no ends that counts determine: a sum of losses, or one of
    `RELATIVES`. Raises Problem where no loss has the name."""
    return relative_called(name) is not None or all(spec.parts for spec in losses_called(name))


def is_of_library(name: str) -> bool:
    """True if a loss was named as the class of a library, to which every row is a positive pair if
    it reads no labels."""
    if not name.strip() or LOSSES.exact(name) or relative_called(name):
        return False
    return any(conventions_called(spec, name) for spec in losses_called(name))


def _set(loss: ConfiguredLoss, known: Known) -> ConfiguredLoss:
    """Return the loss with the temperature, the scale (one over the other), the margin and the kind
    of score, where it has them."""
    spec, moved = loss.spec, {}
    factor = sharpening(spec)
    if factor is not None:
        own = known.temperature if "temperature" in factor.name else known.scale
        other = known.scale if "temperature" in factor.name else known.temperature
        if own is not None:
            moved[factor.name] = float(own)
        elif other is not None:
            moved[factor.name] = 1 / other
    margins = [one for one in spec.parameters if one.role == "margin"]
    if known.margin is not None and len(margins) == 1:
        moved[margins[0].name] = float(known.margin)
    if known.score in ("cosine", "dot") and "similarity" in spec.defaults:
        moved["similarity"] = known.score
    return loss.with_parameters(**moved)._replace(score=known.score)


def known_as_trained(
    name: str, parameters: Mapping[str, object], batch: int | None, negatives: int | None = None
) -> Known:
    """Return the loss, of this name in the registry, and the counts that a record of a training
    has.

    Without the loss if it is the user's own, or a sum, which cannot be decoded.
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
