"""Value and gradient from one pass, as one node of the graph that keeps no more than its inputs."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Solve = Callable[..., tuple[Tensor, ...]]


def closed_form(
    solve: Solve, dense: Callable[..., Tensor], labels: Tensor, *moving: Tensor
) -> Tensor:
    """The value of `solve(labels, *moving)`, which returns it with its gradient at each `moving`.

    `dense(labels, *moving)` is the same value in differentiable steps. Second derivatives are
    taken from it, if anyone asks for them, and all that the transforms of `torch.func` want.
    """
    if torch._C._are_functorch_transforms_active():
        return dense(labels, *moving)
    with torch.no_grad():
        value, *gradients = solve(labels, *moving)
    return _Value.apply(value, dense, labels, *moving, *gradients)


class _Value(torch.autograd.Function):
    """A value whose gradients are known."""

    @staticmethod
    def forward(ctx, value, dense, *kept):
        ctx.dense = dense
        ctx.save_for_backward(*kept)
        return value

    @staticmethod
    def backward(ctx, outer):
        kept = ctx.saved_tensors  # labels, what moves, and as many gradients
        count = len(kept) // 2
        gradients = kept[count + 1 :]
        if torch.is_grad_enabled():
            gradients = _Gradient.apply(ctx.dense, *kept)
        given = [outer * gradient for gradient in gradients]
        return None, None, None, *given, *[None] * count


class _Gradient(torch.autograd.Function):
    """Gradients that are known already, with a backward pass of their own."""

    @staticmethod
    def forward(ctx, dense, labels, *kept):
        moving, gradients = kept[: len(kept) // 2], kept[len(kept) // 2 :]
        ctx.dense = dense
        ctx.save_for_backward(labels, *moving)
        return tuple([gradient.clone() for gradient in gradients])

    @staticmethod
    def backward(ctx, *outer):
        labels, *moving = ctx.saved_tensors
        further = torch.is_grad_enabled()
        with torch.enable_grad():
            first = torch.autograd.grad(ctx.dense(labels, *moving), moving, create_graph=True)
            second = torch.autograd.grad(first, moving, outer, create_graph=further)
        return None, None, *second, *[None] * len(moving)
