"""The losses by any of their names, with a sentence for a name that is no loss's."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.core.related_classes import class_of_trainer, related_class_called
from explorer.runtime.problem import Problem
from losses import LOSSES, LossSpec, aliases
from losses.combined.names import without_blanks

OFF = ("off", "none", "null")  # how a person writes that a parameter is off


class AmbiguousLoss(Problem):
    """A name by which several losses go, or several conventions of one."""


def losses_called(name: str) -> list[LossSpec]:
    """The losses that go by this name (`Registry.all_called`). Raises Problem where none does."""
    try:
        return LOSSES.all_called(name)
    except aliases.LossNameError as refused:
        raise _problem_of(refused, name) from None


def loss_called(name: str, library: str = "") -> tuple[str, str]:
    """The one loss that goes by this name and its convention (`Registry.called`).

    Raises:
        Problem: where no loss does, or a class of sentence-transformers that is no loss here, such
            as its cross-encoders' CrossEntropyLoss, is meant.
        AmbiguousLoss: where several do, or several conventions.
    """
    if other := class_of_trainer(name, library):
        raise other.said(name[: aliases.QUOTED])
    try:
        return LOSSES.called(name, library)
    except aliases.LossNameError as refused:
        raise _problem_of(refused, name) from None


def _problem_of(refused: aliases.LossNameError, name: str) -> Problem:
    if not isinstance(refused, aliases.AmbiguousLoss):
        return unknown_loss(name, by_any=True)
    if not refused.loss:
        close = ", ".join(refused.choices)
        is_shared = aliases.last_part(name) in aliases.SHARED_CLASSES
        key = "loss_shared" if is_shared else "loss_of_several"
        return AmbiguousLoss(key, about="loss", name=refused.name, close=close)
    said = {"name": refused.name, "loss": refused.loss, "known": "; ".join(refused.choices)}
    return AmbiguousLoss("loss_ambiguous", about="loss", **said)


def as_registered(loss: str, convention: str = "", library: str = "") -> tuple[str, str]:
    """The loss as the registry has it, and its convention by the name of today.

    A class or a function of a library is the loss under the convention of that library, unless
    another one is named. What no loss goes by, or several do, stays as it is: whoever computes it
    refuses it.

    Raises Problem for a class of sentence-transformers that is no loss here.
    """
    if not convention and (other := class_of_trainer(loss, library)):
        raise other.said(loss[: aliases.QUOTED])
    try:
        name, own = LOSSES.called(loss, library)
    except aliases.LossNameError:
        return (registered_loss(loss) if convention else without_blanks(loss)), convention
    return name, LOSSES[name].present(convention) if convention else own


def name_as_registered(chosen: Any, library: str = "") -> None:
    """Replace the `loss`, the `convention` and the `parameters` of a frozen dataclass by what they
    are called today: `as_registered`, and None for each parameter that is off."""
    loss, convention = as_registered(chosen.loss, chosen.convention, library)
    object.__setattr__(chosen, "loss", loss)
    object.__setattr__(chosen, "convention", convention)
    object.__setattr__(chosen, "parameters", _with_off(loss, chosen.parameters))


def _with_off(
    loss: str, parameters: Mapping[str, object] | Sequence[tuple[str, object]]
) -> tuple[tuple[str, object], ...]:
    """The parameters, None for each that is off: also where it is off as text, or has the number
    that stood for off in links, runs and calls of earlier versions."""
    known = LOSSES[loss].parameters if parameters and loss in LOSSES else ()
    former = {one.name: one.former_off for one in known if one.on_value is not None}
    return tuple(
        (name, None if name in former and _is_off(value, former[name]) else value)
        for name, value in dict(parameters).items()
    )


def _is_off(value: object, former: float | None) -> bool:
    return value.lower() in OFF if isinstance(value, str) else value == former


def registered_loss(loss: str) -> str:
    """The loss as the registry has it, whatever its convention; as it stands where no loss goes by
    that name, or several do."""
    try:
        found = LOSSES.all_called(loss)
    except aliases.LossNameError:
        found = []
    return found[0].name if len(found) == 1 else without_blanks(loss)


def not_registered(loss: str) -> Problem:
    """Why a loss is not computed: no loss goes by this name, or it may be several."""
    try:
        loss_called(loss)
    except AmbiguousLoss as problem:
        return problem
    except Problem:
        pass
    return unknown_loss(loss)


def unknown_loss(name: str, *, by_any: bool = False) -> Problem:
    """That no loss goes by this name: why, and what is nearest, of a class that is none here; else
    with those that are written much like it, or all that there are. With `by_any`, where all names
    are understood, these are offered as they are written, else the registry's."""
    called = name.strip()[: aliases.QUOTED]
    if akin := related_class_called(called):
        return akin.said(called)
    if close := close_names(called) if by_any else close_losses(called):
        return Problem("unknown_loss_close", about="loss", name=called, close=", ".join(close))
    return Problem("unknown_loss", about="loss", name=called, known=", ".join(LOSSES))


def close_names(name: str) -> list[str]:
    """Up to three names that are written much like this one, the likest first, each of another
    loss: of the registry, of papers, of libraries' classes."""
    return [written for written, _ in aliases.closest(name, LOSSES.known())]


def close_losses(name: str) -> list[str]:
    """The losses of these names, as the registry has them."""
    return [loss for _, loss in aliases.closest(name, LOSSES.known())]


def other_names() -> list[tuple[str, str, str]]:
    """Each other name of each loss, of papers and of libraries' classes and functions, the loss,
    and the convention that the name selects, "" where it selects none, or several. Names with a
    module stand last, so that a bare name is not taken for one of them."""
    found = []
    for spec in LOSSES.known():
        classes = (aliases.classes_named(one) for one in spec.conventions)
        named = dict.fromkeys((*spec.aliases, *itertools.chain.from_iterable(map(sorted, classes))))
        for name in named:
            loss, convention = as_registered(name)
            if loss == spec.name:
                found.append((name, loss, convention))
            elif loss not in LOSSES:  # a name of several
                found.append((name, spec.name, ""))
    return sorted(found, key=lambda one: "." in one[0])
