"""A scenario with its loss, parameters and models looked up and validated, once.

Computations take the resolved scenario and look up no name again.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from dataclasses import dataclass

from lossprism.explorer.core.batch import Batch, load_pairs, make_batch
from lossprism.explorer.core.label_requirements import labels_needed
from lossprism.explorer.core.loss_lookup import not_registered
from lossprism.explorer.core.models_of_scenario import Models, find_models
from lossprism.explorer.core.own_loss_from_python_file import own_loss, reload_if_changed
from lossprism.explorer.core.parameter_values import checked
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.spec import ParameterValue


@dataclass(frozen=True, eq=False)
class Resolved:
    """A scenario with its loss in the chosen convention and all its parameters; models are located
    when its batch is made."""

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
        """The scenario's batch. Raises Problem, before any encoding, if the loss cannot use its
        pairs."""
        self.check_pairs()
        return make_batch(self.scenario.data, self.scenario.rules, self.models)

    def check_pairs(self) -> None:
        """Raise Problem if the loss needs labels and the user's rows have none."""
        if self.scenario.data.source == "table":
            check_labels(load_pairs(self.scenario.data), self.spec)

    def at(self, **chosen: object) -> Resolved:
        """Return the same with other parameter values. Raises Problem if one does not fit."""
        values = {**dict(self.scenario.parameters), **chosen}
        scenario = dataclasses.replace(self.scenario, parameters=tuple(values.items()))
        return Resolved(scenario, self.spec, parameters_for(self.spec, values))


def resolve(scenario: Scenario, strict: bool = False) -> Resolved:
    """Look up a scenario's loss and check its parameters; a user's loss is reloaded if its file
    changed.

    A parameter of another convention of the loss is ignored, since an old link or run folder may
    have it; `strict` refuses it.

    Raises:
        Problem: if there is no such loss or convention, or a parameter does not fit.
    """
    spec = spec_for(scenario)
    if strict:
        check_names(spec, (name for name, _ in scenario.parameters))
    return Resolved(scenario, spec, parameters_for(spec, dict(scenario.parameters)))


def check_labels(pairs: Pairs, spec: LossSpec) -> None:
    """Raise Problem if the loss needs labels and the pairs have none."""
    if not pairs.labelled and (reason := labels_needed(spec)):
        raise reason


def spec_for(scenario: Scenario) -> LossSpec:
    """Return the chosen loss in the chosen convention; a user's loss is reloaded."""
    reload_if_changed(scenario.loss)
    return registered(scenario)


def registered(scenario: Scenario) -> LossSpec:
    """Return the same without reloading a user's loss. Raises Problem if there is none."""
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
    """Return the defaults updated by the chosen values, each checked against its range.

    A parameter of another convention of the loss is ignored: an old link or run folder may have it.
    """
    known = {parameter.name: parameter for parameter in spec.parameters}
    check_names(spec, [name for name in chosen if not _is_of(spec.name, name)])
    return {
        name: checked(parameter, chosen[name]) if name in chosen else parameter.default
        for name, parameter in known.items()
    }


def check_names(spec: LossSpec, names: Iterable[str]) -> None:
    """Raise Problem for a parameter that the loss in this convention does not have."""
    known = [parameter.name for parameter in spec.parameters]
    for name in names:
        if name not in known:
            values = {"loss": title_word(spec), "known": ", ".join(known) or "—"}
            raise Problem("unknown_parameter", about="loss", name=name[:60], **values)


def _is_of(loss: str, name: str) -> bool:
    """Return whether some convention of the loss has this parameter; a user's loss may have had it
    before its file changed."""
    if own_loss(loss) is not None:
        return True
    return loss in LOSSES and any(one.name == name for one in LOSSES[loss].parameters)
