"""A loss whose gradient comes with its value; all that is kept is that and the inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

# Gets which inputs want a gradient, then the inputs; gives the value and a gradient for each
# input, None where none is wanted.
Exact = Callable[..., tuple[Tensor, Sequence[Tensor | None]]]


def with_gradient(exact: Exact, definition: Callable[..., Tensor], *given: object) -> Tensor:
    """The value of `exact`, which autograd differentiates by the gradient that `exact` knows.

    A gradient of the gradient is taken of `definition`, the same loss in plain torch, and so is
    all that `torch.func` asks for.
    """
    if torch._C._are_functorch_transforms_active():
        return definition(*map(_raised, given))
    wanted = [isinstance(one, Tensor) and one.requires_grad for one in given]
    with _without_autocast(given):
        if torch.is_grad_enabled() and any(wanted):
            return _WithGradient.apply(exact, definition, *given)
        return exact([False] * len(given), *given)[0]


def _without_autocast(given: Sequence[object]) -> AbstractContextManager:
    """What is raised to float32 shall not be lowered again."""
    device = next(one.device.type for one in given if isinstance(one, Tensor))
    available = torch.amp.is_autocast_available(device)
    if available and torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


class _WithGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, exact, definition, *given):
        wanted = ctx.needs_input_grad[2:]
        value, gradients = exact(wanted, *given)
        gradients = [one if needed else None for one, needed in zip(gradients, wanted, strict=True)]
        tensors = [one if isinstance(one, Tensor) else None for one in given]
        ctx.save_for_backward(*tensors, *gradients)
        ctx.definition = definition
        ctx.numbers = [None if isinstance(one, Tensor) else one for one in given]
        return value

    @staticmethod
    def backward(ctx, outer):
        count = len(ctx.numbers)
        tensors, gradients = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        if torch.is_grad_enabled():  # this pass is to be differentiated in its turn
            gradients = _differentiable(ctx, tensors)
        scaled = [None if one is None else (one * outer).to(one.dtype) for one in gradients]
        return None, None, *scaled


def _differentiable(ctx, tensors: Sequence[Tensor | None]) -> list[Tensor | None]:
    given = [
        number if tensor is None else tensor
        for number, tensor in zip(ctx.numbers, tensors, strict=True)
    ]
    wanted = [place for place, needed in enumerate(ctx.needs_input_grad[2:]) if needed]
    value = ctx.definition(*map(_raised, given))
    found = torch.autograd.grad(value, [given[place] for place in wanted], create_graph=True)
    gradients: list[Tensor | None] = [None] * len(given)
    for place, gradient in zip(wanted, found, strict=True):
        gradients[place] = gradient
    return gradients


def _raised(one: object) -> object:
    half = isinstance(one, Tensor) and one.dtype in (torch.float16, torch.bfloat16)
    return one.float() if half else one
