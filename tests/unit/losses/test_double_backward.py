"""The gradient of a gradient, of every loss under every convention and choice."""

import itertools

import pytest
import torch

from lossprism.losses import LOSSES
from lossprism.losses.geometry import DISTANCES, distance_matrix
from tests.unit.losses.made import case, inputs_for, learned

CONVENTIONS = [
    pytest.param(name, convention, id=f"{name}, {convention or 'ours'}")
    for name, spec in LOSSES.items()
    for convention in ("", *(one.name for one in spec.conventions))
]


def choices_of(spec):
    """Every combination of two of the choices and switches of a loss."""
    several = {
        one.name: one.choices or (False, True)
        for one in spec.parameters
        if one.choices or isinstance(one.default, bool)
    }
    yield {}
    for pair in itertools.combinations(several, min(2, len(several))):
        for chosen in itertools.product(*(several[name] for name in pair)):
            yield dict(zip(pair, chosen, strict=True))


def twice(form, given, leaves, parameters):
    """The gradient of the sum of the squares of the gradient; None where the loss refuses."""
    moving = {name: given[name].clone().requires_grad_() for name in leaves}
    try:
        loss = form(**{**given, **moving}, **parameters)
    except ValueError:
        return None
    options = {"allow_unused": True, "materialize_grads": True}
    first = torch.autograd.grad(loss, list(moving.values()), create_graph=True, **options)
    size = sum(one.square().sum() for one in first)
    if not size.requires_grad:  # the loss is linear
        return [torch.zeros_like(one) for one in moving.values()]
    return torch.autograd.grad(size, list(moving.values()), **options)


@pytest.mark.parametrize(("name", "convention"), CONVENTIONS)
def test_a_gradient_of_the_gradient(name, convention):
    own = LOSSES[name]
    spec = own.under(convention)
    known = {one.name: one for one in own.conventions}
    replaced = convention and known[convention].definition is not None
    function = known[convention].function if replaced else own.function
    given = inputs_for(spec, seed=1)
    given = {n: t for n, t in given.items() if t is not None}
    leaves = learned(spec, given)
    # A convention without a definition of its own differs from ours in its defaults alone.
    for chosen in choices_of(spec) if replaced or not convention else ({},):
        parameters = {**spec.defaults, **chosen}
        with case(**chosen):
            expected = twice(spec.definition, given, leaves, parameters)
            for one in expected or ():
                assert one.isfinite().all()
            if function is not None and expected is not None:
                found = twice(function, given, leaves, parameters)
                if found is not None:
                    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", DISTANCES)
def test_distances_can_be_differentiated_twice(kind):
    made = torch.Generator().manual_seed(2)
    rows, columns = (
        torch.randn(count, 3, generator=made, dtype=torch.float64, requires_grad=True)
        for count in (4, 5)
    )
    weights = torch.randn(4, 4, generator=made, dtype=torch.float64)
    check = torch.autograd.gradgradcheck
    assert check(lambda rows, columns: distance_matrix(rows, columns, kind), (rows, columns))
    assert check(lambda rows: (weights * distance_matrix(rows, rows, kind)).sum(), (rows,))

    def total(rows):
        return (weights * distance_matrix(rows, rows, kind)).sum()

    at_once = torch.func.hessian(total)(rows.detach())
    torch.testing.assert_close(at_once, torch.autograd.functional.hessian(total, rows.detach()))


def test_equal_vectors_can_be_differentiated_twice():
    """A Euclidean distance of 0 has the slope 0; the square of a distance is 2 · d² there."""
    equal = torch.ones(3, 2, dtype=torch.float64)
    for kind, second in (("euclidean", 0.0), ("squared_euclidean", 8.0)):

        def total(rows, kind=kind):
            return distance_matrix(rows, rows, kind).sum()

        for found in (
            torch.autograd.functional.hessian(total, equal),
            torch.func.hessian(total)(equal),
        ):
            assert found[0, 0, 0, 0].item() == second


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_near_duplicates_far_from_zero_keep_the_gradient(dtype):
    """Also where it is to be differentiated, and so made of products."""
    rows = torch.full((3, 4), 100.0, dtype=dtype)
    rows[1, 0] += 2**-10
    rows[2, 1] += 2**-9
    rows.requires_grad_()
    gradients = [
        torch.autograd.grad(distance_matrix(rows, rows)[0, 1], rows, create_graph=again)[0]
        for again in (False, True)
    ]
    torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-5)
    assert gradients[1][1].tolist() == pytest.approx([1.0, 0, 0, 0], abs=1e-5)
