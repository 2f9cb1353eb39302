"""torch.compile: every loss that goes by tiles in a training step that is one graph."""

import pytest
import torch

from lossprism.losses import LOSSES
from lossprism.losses.kernels import query_key_losses_by_tiles
from tests.unit.losses.kernels.test_query_key_losses_by_tiles import CASES, agree, made

# Other choices make another graph; other numbers do where terms grow too large to be summed as they
# are, as those of InfoNCE in both directions at τ = 0.001.
GRAPHS = [
    case for case in CASES if not case[1] or any(type(one) is not float for one in case[1].values())
]


# That it is one graph the compiler's first half shows. The other half derives the backward pass:
# of the gradient that a loss has worked out on its way, whatever it is asked for.
@pytest.mark.thorough
@pytest.mark.parametrize(("name", "parameters", "extra"), GRAPHS)
def test_a_compiled_training_step_is_one_graph(name, parameters, extra, monkeypatch):
    monkeypatch.setattr(query_key_losses_by_tiles, "TILE_CELLS", 1)
    monkeypatch.setattr(query_key_losses_by_tiles, "MIN_TILE_ROWS", 4)
    vectors, rest = made(name, 7, extra)  # a whole tile and a ragged one
    encoder = torch.nn.Linear(5, 4, dtype=torch.float64)

    def step():
        encoded = {name: encoder(vector) for name, vector in vectors.items()}
        return LOSSES[name].function(**encoded, **rest, **parameters)

    expected = torch.autograd.grad(step(), list(encoder.parameters()))
    torch._dynamo.reset()
    backend = "eager" if parameters or extra else "aot_eager"
    compiled = torch.compile(step, backend=backend, fullgraph=True)
    agree(torch.autograd.grad(compiled(), list(encoder.parameters())), expected)
