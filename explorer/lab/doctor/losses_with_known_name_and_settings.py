"""The losses and conventions that a known name may mean, with the known settings."""

from __future__ import annotations

from collections.abc import Iterator

from lossprism.explorer.core.library_classes_without_loss import class_of_trainer
from lossprism.explorer.core.loss_lookup import loss_called, losses_called
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.reference_values import (
    ConfiguredLoss,
    configured_losses,
    sharpening,
)
from lossprism.explorer.lab.doctor.values_of_losses_without_definition import (
    loss_without_definition,
)
from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from lossprism.losses.loss_name_matching import (
    LIBRARY,
    conventions_called,
    is_qualified,
    last_part,
    plain,
)


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
