"""What torch does not promise still does what `losses` takes it for, and stands in one file."""

import re
from pathlib import Path

import pytest
import torch
from torch.autograd import forward_ad

from lossprism import losses
from lossprism.losses import torch_internals

PRIVATE = re.compile(r"torch\._|\._C\b|_functorch|\._current_level|ops\.aten|ops\.prims")
FOLDER = Path(losses.__file__).parent
CHANGED = f"torch {torch.__version__} changed what losses/torch_internals.py uses: "


def test_nothing_private_of_torch_stands_elsewhere():
    found = {
        path.relative_to(FOLDER).as_posix()
        for path in FOLDER.rglob("*.py")
        if PRIVATE.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"torch_internals.py"}


@pytest.mark.parametrize(
    ("holder", "name"),
    [
        (torch._C, "_AutoDispatchBelowAutograd"),
        (torch._C, "_are_functorch_transforms_active"),
        (torch._C._functorch, "is_legacy_batchedtensor"),
        (torch._C._autograd, "_get_current_graph_task_keep_graph"),
        (forward_ad, "_current_level"),
        (torch.ops.aten, "_cdist_backward"),
    ],
)
def test_it_is_there(holder, name):
    assert hasattr(holder, name), f"{CHANGED}{name} is gone; see there what takes its place"


def test_below_autograd_nothing_is_recorded():
    one = torch.ones(3, requires_grad=True)
    with torch_internals.below_autograd():
        made = one * 2
    assert not made.requires_grad, CHANGED + "_AutoDispatchBelowAutograd records"
    assert not made.is_inference(), CHANGED + "what is made there cannot be saved"
    assert (one * 2).requires_grad, CHANGED + "_AutoDispatchBelowAutograd does not end"


def test_transforms_and_forward_derivatives_are_noticed():
    seen = []

    def requested(x):
        seen.append(torch_internals.in_torch_func())
        return x.sum()

    requested(torch.ones(2))
    torch.func.grad(requested)(torch.ones(2))
    torch.func.vmap(requested)(torch.ones(2, 2))
    with forward_ad.dual_level():
        requested(torch.ones(2))
    requested(torch.ones(2))
    assert seen == [False, True, True, True, False], CHANGED + "transforms go unnoticed"


def test_a_batch_of_gradients_and_a_kept_graph_are_noticed():
    seen = []

    class Watched(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, outer):
            batch = torch_internals.is_batch_of_gradients(outer)
            seen.append((batch, torch_internals.graph_is_kept()))
            return outer

    x = torch.ones(2, requires_grad=True)
    Watched.apply(x).sum().backward()
    made = Watched.apply(x)
    torch.autograd.grad(made, x, torch.ones(2), retain_graph=True)
    torch.autograd.grad(made, x, torch.eye(2), is_grads_batched=True)
    assert seen[0] == (False, False), CHANGED + "a plain backward pass is taken for another"
    assert seen[1] == (False, True), CHANGED + "a retained graph goes unnoticed"
    assert seen[2][0], CHANGED + "a batch of gradients goes unnoticed"


def test_the_backward_of_distances_is_that_of_cdist():
    vectors = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    slopes = torch.randn(5, 5, dtype=torch.float64)
    slopes = slopes + slopes.T
    lengths = torch.cdist(vectors, vectors, compute_mode="donot_use_mm_for_euclid_dist")
    (expected,) = torch.autograd.grad((slopes * lengths).sum() / 2, vectors)
    found = torch_internals.cdist_backward(slopes, vectors.detach(), lengths.detach())
    torch.testing.assert_close(found, expected, msg=CHANGED + "_cdist_backward differs")
