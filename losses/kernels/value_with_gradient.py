"""Losses whose gradient is computed with the value; only the gradient and the inputs are kept."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from lossprism.losses.input_checks import may_ask, savable, would_be_lowered
from lossprism.losses.torch_internals import (
    below_autograd,
    graph_is_kept,
    in_torch_func,
    is_batch_of_gradients,
)

Gradients = Sequence[Tensor | None]
# Gets which inputs want a gradient, then the inputs; gives the value and a gradient for each
# input, None where none is needed.
Exact = Callable[..., tuple[Tensor, Gradients]]


def with_gradient(
    exact: Exact, definition: Callable[..., Tensor], *inputs: *tuple[Tensor, *tuple[object, ...]]
) -> Tensor:
    """Return the value of `exact`, which autograd differentiates by the gradient that `exact`
    returns.

    Second derivatives, and all derivatives of `torch.func`, are those of `definition`, the same
    loss in plain torch.
    """
    if in_torch_func():
        return definition(*map(_raised, inputs))
    if would_be_lowered(inputs[0]):
        with torch.autocast(inputs[0].device.type, enabled=False):
            return with_gradient(exact, definition, *inputs)
    recording = torch.is_grad_enabled()
    needs_grad = [recording and isinstance(one, Tensor) and one.requires_grad for one in inputs]
    # Computed before the node of the graph is made: inside it every step would cost more.
    with _unrecorded():
        value, gradients = exact(needs_grad, *inputs)
    if True not in needs_grad:
        return value
    # The node has only what wants a gradient: each tensor more costs a small batch of its time.
    moving, known, still = [], [], []
    for one, gradient, needed in zip(inputs, gradients, needs_grad, strict=True):
        if needed:
            moving.append(one)
            known.append(gradient)
        else:
            still.append(one)
    return _WithGradient.apply((value, known, still, needs_grad, definition), *moving)


def _unrecorded() -> AbstractContextManager:
    """Return a context that records no graph: below autograd, which is faster than disabling it;
    or, for a compiler, which knows no such level, `torch.no_grad`."""
    compiling = torch.compiler.is_compiling()
    return torch.no_grad() if compiling else below_autograd()


class _WithGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, known, *moving):
        value, gradients, still, ctx.needs_grad, ctx.definition = known
        tensors = [one if _to_save(one) else None for one in still]
        ctx.save_for_backward(*gradients, *moving, *tensors)
        ctx.others = [
            one if kept is None else None for one, kept in zip(still, tensors, strict=True)
        ]
        ctx.versions = _versions(ctx.others)
        return value

    @staticmethod
    def backward(ctx, *outers):
        (outer,) = outers
        saved = ctx.saved_tensors
        count = len(ctx.needs_input_grad) - 1
        gradients = saved[:count]
        if torch.is_grad_enabled():  # this pass is to be differentiated in its turn
            gradients = _differentiable(ctx, saved[count : 2 * count], saved[2 * count :])
        elif _is_one(outer) and not graph_is_kept():
            return None, *gradients
        return None, *[None if one is None else one * outer for one in gradients]


def _to_save(one: object) -> bool:
    """Return whether autograd keeps it. Integers and booleans have no graph to release: they stay
    the caller's, and are read again only for a second derivative."""
    return isinstance(one, Tensor) and one.is_floating_point() and savable(one)


def _versions(inputs: Sequence[object]) -> list[int]:
    """Return how many times each tensor was changed in place, if counted."""
    if torch.compiler.is_compiling():
        return []
    return [one._version for one in inputs if isinstance(one, Tensor) and savable(one)]


def _is_one(outer: Tensor) -> bool:
    """Return whether it is known to be 1; batched gradients (`is_grads_batched`) cannot be
    read."""
    if not may_ask(outer) or is_batch_of_gradients(outer):
        return False
    return outer.item() == 1


def _differentiable(ctx, moving: Gradients, tensors: Gradients) -> list[Tensor | None]:
    if ctx.versions != _versions(ctx.others):
        raise RuntimeError(
            "a gradient of the gradient is taken of a loss whose labels, classes or texts were "
            "changed in place since it was computed; compute it again, or change a copy"
        )
    still = (
        other if tensor is None else tensor
        for other, tensor in zip(ctx.others, tensors, strict=True)
    )
    moved = iter(moving)
    value = ctx.definition(
        *[_raised(next(moved if needed else still)) for needed in ctx.needs_grad]
    )
    needs_grad = ctx.needs_input_grad[1:]
    to = [one for one, needed in zip(moving, needs_grad, strict=True) if needed and one is not None]
    derivatives = iter(torch.autograd.grad(value, to, create_graph=True, materialize_grads=True))
    return [next(derivatives) if needed else None for needed in needs_grad]


def _raised(one: object) -> object:
    if isinstance(one, Tensor) and one.dtype in (torch.float16, torch.bfloat16):
        return one.float()
    return one
