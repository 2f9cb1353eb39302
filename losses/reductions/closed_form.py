"""A loss whose gradient is known as soon as its value is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

Given = Tensor | float | bool | None
Compute = Callable[..., tuple[Tensor, tuple[Tensor | None, ...] | None]]


def closed_form(compute: Compute, definition: Callable[..., Tensor], *given: Given) -> Tensor:
    """The loss of what is given by `compute`, with the gradient that it found on the way.

    `compute(*given, wanted=…)` gives the loss and, if any is wanted, the gradient of each of the
    given (None for what is no tensor, or not wanted). `wanted` tells for each whether it is; it
    is empty if none is. Gradients and given are all that is kept for the backward pass. A second
    derivative is that of `definition(*given)`, the loss in differentiable steps, and so is all
    that `torch.func` asks for.
    """
    if torch._C._are_functorch_transforms_active():
        return definition(*map(_raised, given))
    tensors = [value for value in given if isinstance(value, Tensor)]
    with _without_autocast(tensors[0].device.type):
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            return _ClosedForm.apply(compute, definition, *given)
        return compute(*given, wanted=())[0]


def _without_autocast(device: str) -> AbstractContextManager:
    if torch.amp.is_autocast_available(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def _raised(value: Given) -> Given:
    """In float32 at least, as far as `definition` needs it."""
    half = isinstance(value, Tensor) and value.dtype in (torch.float16, torch.bfloat16)
    return value.float() if half else value


class _ClosedForm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, compute, definition, *given):
        loss, gradients = compute(*given, wanted=ctx.needs_input_grad[2:])
        ctx.definition = definition
        ctx.plain = tuple(None if isinstance(value, Tensor) else value for value in given)
        tensors = tuple(value if isinstance(value, Tensor) else None for value in given)
        needed = ctx.needs_input_grad[2:]
        gradients = [g if need else None for g, need in zip(gradients, needed, strict=True)]
        ctx.save_for_backward(*tensors, *gradients)
        return loss

    @staticmethod
    def backward(ctx, upstream):
        count, needed = len(ctx.plain), ctx.needs_input_grad[2:]
        gradients = ctx.saved_tensors[count:]
        if torch.is_grad_enabled():  # somebody asks for a second derivative
            tensors = ctx.saved_tensors[:count]
            given = [p if t is None else t for p, t in zip(ctx.plain, tensors, strict=True)]
            gradients = _differentiable(ctx.definition, given, needed)
        scaled = [
            g * upstream.to(g.dtype) if need else None
            for g, need in zip(gradients, needed, strict=True)
        ]
        return None, None, *scaled


def _differentiable(
    definition: Callable[..., Tensor], given: list[Given], needed: tuple[bool, ...]
) -> list[Tensor | None]:
    moving = [value for value, need in zip(given, needed, strict=True) if need]
    found = iter(
        torch.autograd.grad(
            definition(*map(_raised, given)), moving, create_graph=True, materialize_grads=True
        )
    )
    return [next(found) if need else None for need in needed]
