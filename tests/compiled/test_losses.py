"""torch.compile: every public loss in a training step that is one graph."""

import pytest
import torch

from losses.kernels import pairwise
from tests.unit.losses.test_transforms import FORMS, every_form, value_and_gradient

# One of each kind of kernel that has a gradient of its own, beside those of `test_tiles`.
WITH_KERNELS = (
    "cosent",
    "pairwise_hinge",
    "supcon",
    "multi_similarity",
    "triplet, hard",
    "list_mle",
)


# That it is one graph the compiler's first half shows.
@pytest.mark.parametrize("count", [30, 300])
@every_form
def test_a_training_step_is_one_graph(form, count, monkeypatch):
    agrees_compiled(form, count, "eager", monkeypatch)


# The other half derives the backward pass, which in small batches is that of the definition.
@pytest.mark.parametrize("name", WITH_KERNELS)
def test_a_compiled_training_step_is_one_graph(name, monkeypatch):
    agrees_compiled(FORMS[name], 300, "aot_eager", monkeypatch)


def agrees_compiled(form, count, backend, monkeypatch):
    monkeypatch.setattr(pairwise, "TREE_ABOVE", 200)
    loss, moving, rest = form(count)

    def step(moving, rest):
        return loss([2 * tensor for tensor in moving], rest).square()

    torch._dynamo.reset()
    compiled = torch.compile(step, backend=backend, fullgraph=True)
    found, expected = (value_and_gradient(one, moving, rest) for one in (compiled, step))
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-9)
