"""Gradients in float32 beside those of the definition in float64, from small inputs to large."""

import pytest
import torch

from lossprism.losses import LOSSES
from tests.unit.losses.made import PAIRS, case, inputs_for, learned

SIZES = [10.0**power for power in range(7)]
# Losses whose gradient is 1 / temperature times that of a rounded score, or reads an angle near 0
# or π, have fewer digits than float32 has.
WITHIN = 2e-5
NO_NUMBER = 1e-30  # what is smaller is rounded to 0, or nearly so, in float32

FORMS = [
    pytest.param(name, convention, id=f"{name}, {convention or 'ours'}")
    for name, spec in LOSSES.items()
    for convention in ("", *(one.name for one in spec.conventions))
]


def form_of(name, convention):
    """The public function of a loss or of a convention; of a bare convention its definition."""
    own = LOSSES[name]
    chosen = next((one for one in own.conventions if one.name == convention), None)
    if chosen is None or chosen.definition is None:
        return own.function
    return chosen.function or chosen.definition


def gradients_of(form, given, leaves, dtype, parameters):
    moving = {name: given[name].to(dtype).requires_grad_() for name in leaves}
    still = {n: t.to(dtype) if t.is_floating_point() else t for n, t in given.items()}
    loss = form(**{**still, **moving}, **parameters)
    found = torch.autograd.grad(
        loss, list(moving.values()), allow_unused=True, materialize_grads=True
    )
    return [one.double() for one in found]


def compare(name, convention, given, **chosen):
    spec = LOSSES[name].under(convention)
    leaves = learned(spec, given)
    given = {n: t.float().double() if t.is_floating_point() else t for n, t in given.items()}
    parameters = {**spec.defaults, **chosen}
    exact = gradients_of(spec.definition, given, leaves, torch.float64, parameters)
    rough = gradients_of(form_of(name, convention), given, leaves, torch.float32, parameters)
    for one, expected in zip(rough, exact, strict=True):
        size = expected.abs().max().item()
        if size > NO_NUMBER:
            assert (one - expected).abs().max().item() / size < WITHIN


def made(name, convention, count=PAIRS):
    given = inputs_for(LOSSES[name].under(convention), seed=1, count=count)
    return {n: t for n, t in given.items() if t is not None}


@pytest.mark.parametrize("count", [PAIRS, 60])  # kernels change their method between
@pytest.mark.parametrize(("name", "convention"), FORMS)
def test_a_gradient_keeps_its_digits_however_large_the_inputs_are(name, convention, count):
    spec, given = LOSSES[name].under(convention), made(name, convention, count)
    # A sigmoid of a logit beyond 16 is 1 in float32, with slope 0, in the library too.
    sizes = SIZES[:2] if "σ(s)" in convention else SIZES
    for size in sizes:
        larger = {n: t * size if n in learned(spec, given) else t for n, t in given.items()}
        with case(size=size):
            compare(name, convention, larger)


ON_SCORES = [
    pytest.param(name, id=name)
    for name, spec in LOSSES.items()
    if not spec.parts and {"scores", "list_scores"} & set(spec.reads.values())
]


@pytest.mark.parametrize("name", ON_SCORES)
def test_scores_far_from_zero_keep_the_digits_of_their_differences(name):
    """Losses of differences alone, whose gradient sums to 0."""
    given = made(name, "")
    scores = next(n for n, what in LOSSES[name].reads.items() if what in ("scores", "list_scores"))
    (slopes,) = gradients_of(LOSSES[name].function, given, [scores], torch.float64, {})
    if abs(slopes.sum()) > 1e-12:
        pytest.skip("the loss depends on more than differences")
    temperatures = [{}]
    if "temperature" in LOSSES[name].defaults:
        temperatures += [{"temperature": 0.1}]
    for size in SIZES:
        for chosen in temperatures:
            with case(size=size, **chosen):
                compare(name, "", {**given, scores: given[scores] + size}, **chosen)
