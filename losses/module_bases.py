"""The base classes of every loss that is an `nn.Module`."""

import inspect
from collections.abc import Callable

import torch
from torch import Tensor, nn

from lossprism.losses.combined.vector_queue import Queues
from lossprism.losses.loss_parameter import ParameterValue
from lossprism.losses.spec import LossSpec

EXTRA = ("gather",)  # keywords that say where a loss runs, not which loss it is


def default_settings(spec: LossSpec) -> dict[str, ParameterValue]:
    """Return the parameters of a loss with their defaults: those of its convention, else those of
    the function."""
    named = inspect.signature(spec.checked).parameters
    return {
        p.name: p.default if spec.convention else named[p.name].default for p in spec.parameters
    }


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
        accepted = default_settings(self.spec)
        extra = [name for name in EXTRA if name in inspect.signature(self.function).parameters]
        for name in settings:
            if name not in accepted and name not in extra:
                names = ", ".join(accepted) or "none"
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}; it has: {names}")
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
