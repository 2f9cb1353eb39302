"""Lookup of losses by any of their names, with a sentence for an unknown name."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from lossprism.explorer.core.library_classes_without_loss import (
    class_of_trainer,
    related_class_called,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES, LossSpec, loss_name_matching
from lossprism.losses.combined.combined_loss_names import without_blanks

# Problems that ask which loss is meant.
AMBIGUOUS = ("problem.loss_shared", "problem.loss_of_several", "problem.loss_ambiguous")
OFF = ("off", "none", "null")  # how a person writes that a parameter is off


def losses_called(name: str) -> list[LossSpec]:
    """Return the losses with this name (`Registry.all_called`). Raises Problem if there is none."""
    try:
        return LOSSES.all_called(name)
    except loss_name_matching.LossNameError as refused:
        raise _problem_of(refused, name) from None


def loss_called(name: str, library: str = "") -> tuple[str, str]:
    """Return the one loss with this name and its convention (`Registry.called`).

    Raises:
        Problem: if there is none, if there are several losses or conventions, which it names, or if
            the name means a class of sentence-transformers without a loss here, such as its
            cross-encoders' CrossEntropyLoss.
    """
    if other := class_of_trainer(name, library):
        raise other.problem(name[: loss_name_matching.MAX_QUOTED])
    try:
        return LOSSES.called(name, library)
    except loss_name_matching.LossNameError as refused:
        raise _problem_of(refused, name) from None


def _problem_of(refused: loss_name_matching.LossNameError, name: str) -> Problem:
    if not isinstance(refused, loss_name_matching.AmbiguousLoss):
        return unknown_loss(name, by_any=True)
    if not refused.loss:
        close = ", ".join(refused.choices)
        is_shared = loss_name_matching.last_part(name) in loss_name_matching.SHARED_CLASSES
        key = "loss_shared" if is_shared else "loss_of_several"
        return Problem(key, about="loss", name=refused.name, close=close)
    values = {"name": refused.name, "loss": refused.loss, "known": "; ".join(refused.choices)}
    return Problem("loss_ambiguous", about="loss", **values)


def is_ambiguous(problem: Problem) -> bool:
    """Return whether a name was shared by several losses, or by several conventions of one."""
    return problem.key in AMBIGUOUS


def as_registered(loss: str, convention: str = "", library: str = "") -> tuple[str, str]:
    """Return the loss's name in the registry, and the current name of its convention.

    A class or function of a library selects that library's convention unless another one is named.
    An unknown or ambiguous name is returned unchanged and refused when it is computed.

    Raises Problem for a class of sentence-transformers without a loss here.
    """
    if not convention and (other := class_of_trainer(loss, library)):
        raise other.problem(loss[: loss_name_matching.MAX_QUOTED])
    try:
        name, of_name = LOSSES.called(loss, library)
    except loss_name_matching.LossNameError:
        return (registered_loss(loss) if convention else without_blanks(loss)), convention
    return name, LOSSES[name].present(convention) if convention else of_name


def name_as_registered(chosen: Any, library: str = "") -> None:
    """Replace `loss`, `convention` and `parameters` of a frozen dataclass by their current names
    (`as_registered`), and each parameter that is off by None."""
    loss, convention = as_registered(chosen.loss, chosen.convention, library)
    object.__setattr__(chosen, "loss", loss)
    object.__setattr__(chosen, "convention", convention)
    object.__setattr__(chosen, "parameters", _with_off(loss, chosen.parameters))


def _with_off(
    loss: str, parameters: Mapping[str, object] | Sequence[tuple[str, object]]
) -> tuple[tuple[str, object], ...]:
    """Return the parameters with None for each that is off, be it as text or as the number that
    stood for off in links, runs and calls of earlier versions."""
    accepted = LOSSES[loss].parameters if parameters and loss in LOSSES else ()
    former = {one.name: one.former_off for one in accepted if one.on_value is not None}
    return tuple(
        (name, None if name in former and _is_off(value, former[name]) else value)
        for name, value in dict(parameters).items()
    )


def _is_off(value: object, former: float | None) -> bool:
    return value.lower() in OFF if isinstance(value, str) else value == former


def registered_loss(loss: str) -> str:
    """Return the loss's name in the registry, whatever its convention; unchanged if unknown or
    ambiguous."""
    try:
        specs = LOSSES.all_called(loss)
    except loss_name_matching.LossNameError:
        specs = []
    return specs[0].name if len(specs) == 1 else without_blanks(loss)


def not_registered(loss: str) -> Problem:
    """Return the problem of a loss that is not computed: unknown, or ambiguous."""
    try:
        loss_called(loss)
    except Problem as problem:
        if is_ambiguous(problem):
            return problem
    return unknown_loss(loss)


def unknown_loss(name: str, *, by_any: bool = False) -> Problem:
    """Return the problem of an unknown loss, with the related class, similar names, or all names.

    With `by_any`, similar names of every kind are offered, otherwise those of the registry.
    """
    called = name.strip()[: loss_name_matching.MAX_QUOTED]
    if related := related_class_called(called):
        return related.problem(called)
    if similar := loss_name_matching.closest(called, LOSSES.known()):
        close = ", ".join(name if by_any else loss for name, loss in similar)
        return Problem("unknown_loss_close", about="loss", name=called, close=close)
    return Problem("unknown_loss", about="loss", name=called, known=", ".join(LOSSES))


def other_names() -> list[tuple[str, str, str]]:
    """Return (other name, loss, convention) for names from papers and libraries.

    The convention is "" if the name selects none, or several. Names with a module are last, so that
    a bare name is not taken for one of them.
    """
    names = []
    for spec in LOSSES.known():
        classes = (loss_name_matching.classes_named(one) for one in spec.conventions)
        named = dict.fromkeys((*spec.aliases, *itertools.chain.from_iterable(map(sorted, classes))))
        for name in named:
            loss, convention = as_registered(name)
            if loss == spec.name:
                names.append((name, loss, convention))
            elif loss not in LOSSES:  # a name of several
                names.append((name, spec.name, ""))
    return sorted(names, key=lambda one: "." in one[0])
