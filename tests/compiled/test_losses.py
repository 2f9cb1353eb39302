"""torch.compile: every public loss in a training step that is one graph."""

import functools
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

from lossprism import losses
from lossprism.losses.kernels import ordered_hinge_and_logistic_sums
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
def chosen():
    """By form, the sizes at which it is compiled: one at least, and both where only so all lines
    are gone by that any form goes by at either, each as often as by them, once or more than once.
    """
    ways = {
        count: {name: way(form, count).items() for name, form in FORMS.items()}
        for count in (FEW, MANY)
    }
    many = dict.fromkeys(WITH_KERNELS)
    gone = set().union(*ways[FEW].values(), *(ways[MANY][name] for name in many))
    for name, lines in ways[MANY].items():
        if not lines <= gone:
            many[name] = None
            gone |= lines
    few = dict.fromkeys(name for name in FORMS if name not in many)
    gone = set().union(*(ways[FEW][n] for n in few), *(ways[MANY][n] for n in many))
    for name in many:
        if not ways[FEW][name] <= gone:
            few[name] = None
            gone |= ways[FEW][name]
    return {name: [*[FEW] * (name in few), *[MANY] * (name in many)] for name in FORMS}


# That it is one graph the compiler's first half shows. The other half derives the backward pass,
# which in small batches is that of the definition.
@pytest.mark.thorough
@pytest.mark.parametrize("name", FORMS)
def test_a_training_step_is_one_graph(name, monkeypatch):
    monkeypatch.setattr(ordered_hinge_and_logistic_sums, "HINGE_ROWS", 200)
    for count in chosen()[name]:
        derived = name in WITH_KERNELS and count == MANY
        agrees_compiled(FORMS[name], count, "aot_eager" if derived else "eager")


def agrees_compiled(form, count, backend):
    loss, moving, rest = form(count)

    def step(moving, rest):
        return loss([2 * tensor for tensor in moving], rest).square()

    torch._dynamo.reset()
    compiled = torch.compile(step, backend=backend, fullgraph=True)
    found, expected = (value_and_gradient(one, moving, rest) for one in (compiled, step))
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-9)
