"""Private parts of torch that `losses` uses: here, and nowhere else.

Each has no public counterpart, or one that costs more than a tenth of a small batch's step
(measured on one core, N = 8, forward and backward). `tests/unit/losses/test_torch_internals.py`
says which of them a new torch has changed, and their purpose.
"""

from contextlib import AbstractContextManager

import torch
from torch import Tensor
from torch.autograd import forward_ad


def below_autograd() -> AbstractContextManager:
    """Return a context that runs steps below autograd, as torch's own operators do.

    Public: `torch.no_grad`, under which autograd is still entered at every step: 16 % more for
    `cosent`, 17 % for `info_nce`. `torch.inference_mode` makes tensors that cannot be saved.
    """
    return torch._C._AutoDispatchBelowAutograd()


def in_torch_func() -> bool:
    """Return whether torch.func is active (`grad`, `vmap`, …), or a derivative is carried forwards.

    Public: none. A tensor can be asked for a tangent (`forward_ad.unpack_dual`), which
    torch.compile does not trace; there is no query for an active transform.
    """
    return torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0


def differentiated_again() -> bool:
    """Return whether torch.func takes more than one derivative, or carries one forwards.

    Public: none; see `in_torch_func`.
    """
    if forward_ad._current_level >= 0:
        return True
    kinds = torch._C._functorch.TransformType  # pyright: ignore[reportAttributeAccessIssue]
    stack = torch._C._functorch.get_interpreter_stack() or ()  # pyright: ignore[reportAttributeAccessIssue]
    return sum(one.key() in (kinds.Grad, kinds.Jvp) for one in stack) > 1


def is_batch_of_gradients(outer: Tensor) -> bool:
    """Return whether a gradient is several at once (`is_grads_batched`), which cannot be read.

    Public: none; reading it raises.
    """
    # Torch's stubs do not name its private modules.
    return torch._C._functorch.is_legacy_batchedtensor(outer)  # pyright: ignore[reportAttributeAccessIssue]


def graph_is_kept() -> bool:
    """Return, within a backward pass, whether the graph and its saved tensors are retained.

    Public: none; without it every gradient would have to be copied before it is returned.
    """
    return torch._C._autograd._get_current_graph_task_keep_graph()  # pyright: ignore[reportAttributeAccessIssue]


def cdist_backward(slopes: Tensor, vectors: Tensor, lengths: Tensor) -> Tensor:
    """Return Σ_k slopes_ik ∂|v_i − v_k|/∂v_i, from existing distances [N, N].

    Public: `torch.cdist` under autograd, which computes all distances once more.
    """
    return torch.ops.aten._cdist_backward(slopes, vectors, vectors, 2.0, lengths)
