"""A device that is not here, for tests: what is on it may not meet what is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as trees

DEVICE = torch.device("cuda")
# What a tensor is looked up by may be on the processor.
LOOKED_UP = {"__getitem__", "__setitem__"}


class Elsewhere(TorchFunctionMode):
    """Within it, tensors that were `sent` say that they are on a GPU, as does what is made of them
    until it is brought back; an operation on some of both raises as torch does.

    Computed they are here: it shows where a number comes from, and nothing of a GPU's numbers."""

    def sent(self, tensor: Tensor) -> Tensor:
        there = tensor.detach().clone()
        there.elsewhere = True
        return there

    def __torch_function__(
        self,
        func: Callable,
        types: object,
        args: tuple = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        named = dict(kwargs or {})
        if func is torch.device:
            return func(*args, **named)
        tensors = [one for one in trees.tree_leaves((args, named)) if isinstance(one, Tensor)]
        there = [one for one in tensors if getattr(one, "elsewhere", False)]
        name = func.__name__
        requested = getattr(func, "__self__", None)
        if name == "__get__" and there:
            known = {Tensor.device: DEVICE, Tensor.is_cpu: False, Tensor.is_cuda: True}
            if requested in known:
                return known[requested]
        target = next((one for one in (*args, *named.values()) if _is_device(one)), None)
        if target is not None:
            args = tuple("cpu" if _is_device(one) else one for one in args)
            named = {key: "cpu" if _is_device(one) else one for key, one in named.items()}
        if name in ("numpy", "__array__") and there:
            raise TypeError(f"can't convert {DEVICE} tensor to numpy; use Tensor.cpu() first")
        moves = name == "cpu" or (name == "to" and target is not None)
        here = [one for one in tensors if not getattr(one, "elsewhere", False) and one.ndim]
        if there and here and not moves and name not in LOOKED_UP:
            raise RuntimeError(f"Expected all tensors to be on the same device in {name}")
        found = func(*args, **named)
        stays = bool(there) and name != "cpu"
        if target is not None:
            stays = torch.device(target).type == DEVICE.type
        if isinstance(found, tuple) and hasattr(found, "n_fields"):  # of a name, such as topk's
            for one in found:
                _marked(one, stays)
            return found
        return trees.tree_map_only(Tensor, lambda one: _marked(one, stays), found)


def _is_device(value: object) -> bool:
    return isinstance(value, torch.device) or (isinstance(value, str) and value in ("cpu", "cuda"))


def _marked(tensor: Tensor, stays: bool) -> Tensor:
    if getattr(tensor, "elsewhere", False) == stays:
        return tensor
    if not stays:  # the one that was brought back is still there
        tensor = tensor.view_as(tensor)
    tensor.elsewhere = stays
    return tensor
