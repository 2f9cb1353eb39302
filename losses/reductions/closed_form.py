"""A loss whose gradient is known as soon as its value is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import torch
from torch import Tensor

Given = Tensor | float | None
Compute = Callable[..., tuple[Tensor, tuple[Tensor | None, ...] | None]]


def closed_form(compute: Compute, definition: Callable[..., Tensor], *given: Given) -> Tensor:
    """The loss of what is given by `compute`, with the gradient that it found on the way.

    `compute(*given, wanted=…)` gives the loss and, if it is wanted, the gradient of each of the
    given (None for what is no tensor). These and the given are all that is kept for the backward
    pass. A second derivative is that of `definition(*given)`, the loss in differentiable steps.
    """
    if torch._C._are_functorch_transforms_active():
        return definition(*given)  # whatever torch.func makes of it
    tensors = [value for value in given if isinstance(value, Tensor)]
    wanted = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
    device = tensors[0].device.type
    lowered = torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)
    with torch.no_grad(), torch.autocast(device, enabled=False) if lowered else nullcontext():
        loss, gradients = compute(*given, wanted=wanted)
    return _ClosedForm.apply(loss, definition, *given, *gradients) if wanted else loss


class _ClosedForm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, loss, definition, *kept):
        given, gradients = kept[: len(kept) // 2], kept[len(kept) // 2 :]
        ctx.definition = definition
        ctx.plain = tuple([None if isinstance(value, Tensor) else value for value in given])
        tensors = [value if isinstance(value, Tensor) else None for value in given]
        ctx.save_for_backward(*tensors, *gradients)
        return loss

    @staticmethod
    def backward(ctx, upstream):
        count = len(ctx.plain)
        needed = ctx.needs_input_grad[2 : 2 + count]
        gradients = ctx.saved_tensors[count:]
        if torch.is_grad_enabled():  # somebody asks for a second derivative
            tensors = ctx.saved_tensors[:count]
            given = [p if t is None else t for p, t in zip(ctx.plain, tensors, strict=True)]
            gradients = _differentiable(ctx.definition, given, needed)
        scaled = [g * upstream if need else None for g, need in zip(gradients, needed, strict=True)]
        return None, None, *scaled, *[None] * count


def _differentiable(
    definition: Callable[..., Tensor], given: list[Given], needed: tuple[bool, ...]
) -> list[Tensor | None]:
    moving = [value for value, need in zip(given, needed, strict=True) if need]
    found = iter(
        torch.autograd.grad(definition(*given), moving, create_graph=True, materialize_grads=True)
    )
    return [next(found) if need else None for need in needed]
