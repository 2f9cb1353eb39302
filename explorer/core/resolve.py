"""A scenario resolved: its loss, parameters and models are looked up and checked here, once.

Whatever computes takes what was resolved, and asks for no name again.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from dataclasses import dataclass

from explorer.core.batch import Batch, load_pairs, make_batch
from explorer.core.loss_lookup import not_registered
from explorer.core.models import Models, find_models
from explorer.core.own_loss import own_loss, renew
from explorer.core.parameters import checked
from explorer.core.positives import refused
from explorer.core.scenario import Scenario
from explorer.locale import title_word
from explorer.runtime.problem import Problem
from explorer.sources.pairs import Pairs
from losses import LOSSES, LossSpec
from losses.spec import ParameterValue


@dataclass(frozen=True, eq=False)
class Resolved:
    """A scenario with its loss in the chosen convention and all its parameters; its models are
    found when its batch is made."""

    scenario: Scenario
    spec: LossSpec
    parameters: dict[str, ParameterValue]

    def __reduce__(self) -> tuple[object, ...]:
        return resolve, (self.scenario,)  # a loss is looked up in each process

    @functools.cached_property
    def models(self) -> Models:
        return find_models(self.scenario.data)

    @functools.cached_property
    def batch(self) -> Batch:
        """The scenario's batch. Raises Problem where the loss cannot take its pairs, before any
        sentence is encoded."""
        self.check_pairs()
        return make_batch(self.scenario.data, self.scenario.rules, self.models)

    def check_pairs(self) -> None:
        """Raise Problem where the loss needs labels that rows of one's own have not."""
        if self.scenario.data.source == "table":
            check_labels(load_pairs(self.scenario.data), self.spec)

    def at(self, **chosen: object) -> Resolved:
        """Return the same at other values of some parameters. Raises Problem for what does not
        fit."""
        values = {**dict(self.scenario.parameters), **chosen}
        scenario = dataclasses.replace(self.scenario, parameters=tuple(values.items()))
        return Resolved(scenario, self.spec, parameters_for(self.spec, values))


def resolve(scenario: Scenario, strict: bool = False) -> Resolved:
    """Look up a scenario's loss and check its parameters; a loss of one's own is read again if its
    file changed.

    What only another convention of the loss takes is passed over, since a link or a run folder may
    be of a time when this one took it too; `strict` refuses it.

    Raises:
        Problem: where there is no such loss or convention, or a parameter does not fit.
    """
    spec = spec_for(scenario)
    if strict:
        check_names(spec, (name for name, _ in scenario.parameters))
    return Resolved(scenario, spec, parameters_for(spec, dict(scenario.parameters)))


def check_labels(pairs: Pairs, spec: LossSpec) -> None:
    """Raise Problem where the loss needs labels that the pairs have not."""
    if not pairs.labelled and (reason := refused(spec)):
        raise reason


def spec_for(scenario: Scenario) -> LossSpec:
    """Return the chosen loss in the chosen convention; one's own as its file is now."""
    renew(scenario.loss)
    return registered(scenario)


def registered(scenario: Scenario) -> LossSpec:
    """Return the same, one's own as it was read last. Raises Problem where there is none."""
    if scenario.loss not in LOSSES:
        raise not_registered(scenario.loss)
    spec = LOSSES[scenario.loss]
    known = [convention.name for convention in spec.conventions]
    if scenario.convention and scenario.convention not in known:
        raise Problem(
            "unknown_convention",
            about="loss",
            name=scenario.convention[:60],
            loss=title_word(spec),
            known=", ".join(known) or "—",
        )
    return spec.under(scenario.convention)


def parameters_for(spec: LossSpec, chosen: dict[str, object]) -> dict[str, ParameterValue]:
    """The defaults with what was chosen put over them, each checked against its range.

    What only another convention of the loss takes is passed over: a link or a run folder may be of
    a time when this one took it too.
    """
    known = {parameter.name: parameter for parameter in spec.parameters}
    check_names(spec, [name for name in chosen if not _is_of(spec.name, name)])
    return {
        name: checked(parameter, chosen[name]) if name in chosen else parameter.default
        for name, parameter in known.items()
    }


def check_names(spec: LossSpec, names: Iterable[str]) -> None:
    """Refuse a parameter that the loss in this convention does not have."""
    known = [parameter.name for parameter in spec.parameters]
    for name in names:
        if name not in known:
            said = {"loss": title_word(spec), "known": ", ".join(known) or "—"}
            raise Problem("unknown_parameter", about="loss", name=name[:60], **said)


def _is_of(loss: str, name: str) -> bool:
    """Whether the loss takes this parameter, if perhaps not in every convention; one's own may
    have taken it before its file changed."""
    if own_loss(loss) is not None:
        return True
    return loss in LOSSES and any(one.name == name for one in LOSSES[loss].parameters)
