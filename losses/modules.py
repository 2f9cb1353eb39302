"""Every loss as an `nn.Module`: ``CosentLoss(scale=20.0)(scores, labels)``.

A module holds the parameters of its loss and nothing else; tensors go into `forward`. The class
of each loss in `LOSSES` is made below: `info_nce` gives `InfoNceLoss`, and so on. Losses against
prototypes learn them: ``ArcfaceLoss(count, dimension, margin=0.3)``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn

from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.combined.vector_queue import Queues

EXTRA = ("gather",)  # keywords that say where a loss runs, not which loss it is


class Settled(nn.Module):
    """A loss with its settings. An `nn.Parameter` among them, such as a temperature, is
    learned."""

    @property
    def settings(self) -> dict[str, object]:
        return {name: self._parameters.get(name, value) for name, value in self._chosen.items()}

    @settings.setter
    def settings(self, chosen: dict[str, object]) -> None:
        self._chosen = chosen
        for name, value in chosen.items():
            if isinstance(value, nn.Parameter):
                self.register_parameter(name, value)


class LossModule(Settled):
    """A loss with its parameters fixed. Subclasses name the loss."""

    spec: LossSpec

    def __init__(self, **settings: object) -> None:
        super().__init__()
        named = inspect.signature(self.function).parameters
        accepted = {
            p.name: p.default if self.spec.convention else named[p.name].default
            for p in self.spec.parameters
        }
        extra = [name for name in EXTRA if name in named]
        for name in settings:
            if name not in accepted and name not in extra:
                said = ", ".join(accepted) or "none"
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}; it has: {said}")
        self.settings = {**accepted, **settings}

    @property
    def function(self) -> Callable[..., Tensor]:
        return self.spec.checked

    def forward(self, *given: Tensor, **named: Tensor) -> Tensor:
        return self.function(*given, **named, **self.settings)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.settings.items())


class PrototypeLoss(LossModule):
    """A loss that learns one prototype [D] for each of `count` classes.

    Called with the rest of the loss's inputs: embeddings [N, D] and classes [N].
    """

    def __init__(self, count: int, dimension: int, **settings: object) -> None:
        super().__init__(**settings)
        self.prototypes = nn.Parameter(torch.empty(count, dimension))
        nn.init.xavier_uniform_(self.prototypes)

    def forward(self, *given: Tensor, **named: Tensor) -> Tensor:
        return super().forward(*given, **named, prototypes=self.prototypes)

    def extra_repr(self) -> str:
        count, dimension = self.prototypes.shape
        return ", ".join(filter(None, (f"{count}, {dimension}", super().extra_repr())))


class QueuedLoss(LossModule):
    """A loss with vectors of earlier batches as further keys.

    It stores those of batches seen while gradients are computed, up to the parameter `length_of_…`;
    they are part of its `state_dict`.
    """

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.queues = Queues(self.spec.parts)
        self._taken = inspect.signature(self.function)

    def forward(self, *given: Tensor, **named: Tensor) -> Tensor:
        bound = self._taken.bind_partial(*given, **named).arguments
        return self.queues.value(self.function, bound, self.settings)


def module_name(name: str) -> str:
    """Return the class name: `info_nce` → `InfoNceLoss`, `info_nce+angle` →
    `InfoNceAngleLoss`."""
    words = re.findall(r"[^\W_]+", name.removesuffix("_loss"))
    return "".join(word.capitalize() for word in words) + "Loss"


def loss_module(name: str) -> type[LossModule]:
    """Return the class for the loss of this name, also for one registered later, and for a sum:
    ``loss_module("info_nce+angle")(weight_of_angle=0.1)``. The name of a library's class selects
    the loss as that library computes it: ``loss_module("MultipleNegativesRankingLoss")()``."""
    return MODULES.get(name) or _module_of(LOSSES[name])


def _module_of(spec: LossSpec) -> type[LossModule]:
    base = PrototypeLoss if "prototypes" in spec.reads else LossModule
    base = QueuedLoss if any(part.length for part in spec.parts) else base
    convention = spec.convention and f", as in {spec.convention}"
    described = f"{spec.title}: `losses.{spec.name}` with its parameters held{convention}."
    attributes = {"spec": spec, "__module__": __name__, "__doc__": described}
    return cast("type[LossModule]", type(module_name(spec.name), (base,), attributes))


MODULES: dict[str, type[LossModule]] = {name: _module_of(spec) for name, spec in LOSSES.items()}
globals().update({module.__name__: module for module in MODULES.values()})  # to import, to pickle

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]  # a class is made for each loss
    "MODULES",
    "LossModule",
    "PrototypeLoss",
    "QueuedLoss",
    "Settled",
    "loss_module",
    *(m.__name__ for m in MODULES.values()),
]
