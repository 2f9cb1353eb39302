"""torch.compile: every public loss in a training step that is one graph."""

import functools
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

import losses
from losses.kernels import pairwise
from tests.unit.losses.test_transforms import FORMS, value_and_gradient

PACKAGE = str(Path(losses.__file__).parent)
# One of each kind of kernel that has a gradient of its own, beside those of `test_tiles`.
WITH_KERNELS = (
    "cosent",
    "pairwise_hinge",
    "supcon",
    "multi_similarity",
    "triplet, hard",
    "list_mle",
)


def way(form, count):
    """The lines of the package that a step of so many rows goes by, each once or more than once."""
    lines = Counter()

    def step(frame, event, _):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            lines[frame.f_code.co_filename, frame.f_lineno] += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        value_and_gradient(*form(count))
    finally:
        sys.settrace(before)
    assert lines
    return {line: min(often, 2) for line, often in lines.items()}


FEW, MANY = 30, 300


@functools.cache
def of_many():
    """Forms whose many rows go by lines that no few go by, nor the many of one before: these and
    those of `WITH_KERNELS`, whose many are compiled as well, go by all that any go by."""
    gone = set().union(*(way(form, FEW).items() for form in FORMS.values()))
    for name in WITH_KERNELS:
        gone |= way(FORMS[name], MANY).items()
    found = set()
    for name, form in FORMS.items():
        if not (lines := way(form, MANY).items()) <= gone:
            found.add(name)
            gone |= lines
    return found


# That it is one graph the compiler's first half shows.
@pytest.mark.parametrize("name", FORMS)
def test_a_training_step_is_one_graph(name, monkeypatch):
    monkeypatch.setattr(pairwise, "TREE_ABOVE", 200)
    agrees_compiled(FORMS[name], FEW, "eager")
    if name in of_many():
        agrees_compiled(FORMS[name], MANY, "eager")


# The other half derives the backward pass, which in small batches is that of the definition.
@pytest.mark.parametrize("name", WITH_KERNELS)
def test_a_compiled_training_step_is_one_graph(name, monkeypatch):
    monkeypatch.setattr(pairwise, "TREE_ABOVE", 200)
    agrees_compiled(FORMS[name], MANY, "aot_eager")


def agrees_compiled(form, count, backend):
    loss, moving, rest = form(count)

    def step(moving, rest):
        return loss([2 * tensor for tensor in moving], rest).square()

    torch._dynamo.reset()
    compiled = torch.compile(step, backend=backend, fullgraph=True)
    found, expected = (value_and_gradient(one, moving, rest) for one in (compiled, step))
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-9)
