"""Faults of a user's own loss function during a training: errors, and values that are no number."""

import functools
from collections.abc import Callable

import torch
from torch import Tensor

from lossprism.explorer.core.own_loss_from_python_file import own_loss_errors
from lossprism.explorer.lab.training.out_of_memory import is_out_of_memory
from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LossSpec
from lossprism.losses.input_checks import NotFinite


class OwnNotFinite(NotFinite):
    """A function of one's own made no number of numbers: `what` of it is none."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the {what} is no number")
        self.what = what


def watched(spec: LossSpec, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Wrap the function of a user's own loss so that its faults are reported as its own during
    training.

    An error it raises becomes a Problem with its type, message, file and line; so does an answer
    that is not one number and, at its first batch, one without a gradient to its inputs. NaN or
    infinities that it, or its gradient, makes of finite numbers raise `OwnNotFinite`.
    """
    felt = False

    @functools.wraps(function)
    def called(*arguments: object, **named: object) -> Tensor:
        nonlocal felt
        try:
            with own_loss_errors(spec):
                value = function(*arguments, **named)
        except Problem as problem:
            if is_out_of_memory(problem.__cause__) and problem.__cause__ is not None:
                raise problem.__cause__ from None
            raise
        if not isinstance(value, Tensor) or value.dim():
            shape = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
            raise Problem("not_one_number", name=spec.name, shape=shape)
        tensors = [one for one in (*arguments, *named.values()) if isinstance(one, Tensor)]
        learned = [one for one in tensors if one.requires_grad]
        if not torch.is_grad_enabled() or not learned:
            return value
        if not felt and not _reaches(value, learned):
            raise Problem("training_no_gradient", about="loss", name=title_word(spec))
        felt = True
        if all(bool(one.isfinite().all()) for one in learned):
            if not bool(value.isfinite()):
                raise OwnNotFinite("loss")
            for one in learned:
                one.register_hook(_finite_or_raise)
        return value

    return called


def _reaches(value: Tensor, tensors: list[Tensor]) -> bool:
    if not value.requires_grad:
        return False
    gradients = torch.autograd.grad(value, tensors, retain_graph=True, allow_unused=True)
    return any(one is not None for one in gradients)


def _finite_or_raise(gradient: Tensor) -> None:
    if not bool(gradient.isfinite().all()):
        raise OwnNotFinite("gradient")
