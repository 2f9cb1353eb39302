"""torch.compile: every public loss in a training step that is one graph."""

import pytest
import torch

from losses.kernels import pairwise
from tests.unit.losses.test_transforms import every_form, value_and_gradient


# That it is one graph either compiler's first half shows; the other half derives its backward pass,
# which in small batches is that of the definition.
@pytest.mark.parametrize(("count", "backend"), [(30, "eager"), (300, "aot_eager")])
@every_form
def test_a_compiled_training_step_is_one_graph(form, count, backend, monkeypatch):
    monkeypatch.setattr(pairwise, "TREE_ABOVE", 200)
    loss, moving, rest = form(count)

    def step(moving, rest):
        return loss([2 * tensor for tensor in moving], rest).square()

    torch._dynamo.reset()
    compiled = torch.compile(step, backend=backend, fullgraph=True)
    found, expected = (value_and_gradient(one, moving, rest) for one in (compiled, step))
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-9)
