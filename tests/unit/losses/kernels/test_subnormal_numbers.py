"""Subnormal numbers, which make a product of matrices slow, stand in no weight and no gradient."""

import pytest
import torch

from lossprism.losses import LOSSES
from lossprism.losses.kernels.stable_functions import LEAST, exp_, flush_


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_what_has_lost_digits_is_zero_and_the_rest_is_exp(dtype):
    least = torch.tensor(LEAST[dtype], dtype=torch.float64).log()
    given = torch.tensor([0.0, -1, least + 0.5, least - 0.5, 2 * least, -torch.inf, torch.nan])
    given = given.to(dtype)
    found = exp_(given.clone())
    assert torch.equal(found[:3], given[:3].exp())
    assert not found[3:6].any()
    assert found[6].isnan()
    signed = torch.tensor([-1, 1, LEAST[dtype] / 2, -LEAST[dtype] / 2, -torch.inf], dtype=dtype)
    assert flush_(signed).tolist() == [-1, 1, 0, 0, -torch.inf]


SMALLEST = torch.finfo(torch.float32).tiny
SEPARATED = [  # losses at a temperature at which separated pairs leave the range of float32
    ("info_nce", {}),
    ("info_nce", {"symmetric": True}),
    ("info_nce", {"directions": ("query_to_key", "key_to_query", "key_to_key")}),
    ("nt_xent", {}),
    ("n_pair", {"similarity": "dot"}),
]


@pytest.mark.parametrize(("name", "parameters"), SEPARATED)
def test_separated_pairs_leave_no_subnormal_weight(name, parameters, monkeypatch):
    """What is multiplied into the gradient, at every size, and the gradient of float64."""
    if name != "n_pair":
        parameters = {**parameters, "temperature": 0.01}
    spec, seen = LOSSES[name], []
    plain = torch.addmm

    def watched(beside, *factors, **more):
        sizes = [factor.detach().abs() for factor in factors]
        seen.extend(((size > 0) & (size < SMALLEST)).double().mean() for size in sizes)
        return plain(beside, *factors, **more)

    monkeypatch.setattr(torch, "addmm", watched)
    for count in (24, 300):
        vectors = torch.randn(2, count, 64) * (3 if name == "n_pair" else 1)
        vectors[1] = vectors[0] + 0.3 * vectors[1]
        sides = [one.clone().requires_grad_() for one in vectors]
        value = spec.function(*sides, **parameters)
        exact = [one.double().requires_grad_() for one in vectors]
        wanted = spec.definition(*exact, **parameters)
        assert float(value.detach()) == pytest.approx(float(wanted.detach()), rel=1e-3, abs=1e-30)
        found = torch.autograd.grad(value, sides)
        for got, expected in zip(found, torch.autograd.grad(wanted, exact), strict=True):
            torch.testing.assert_close(got.double(), expected, rtol=1e-4, atol=1e-7)
    assert seen
    assert max(seen) < 1e-3
