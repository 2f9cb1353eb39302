"""A loss in four types and several forms: where digits are lost, and where it overflows."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.compare.floating_point_precision import TYPES, precision
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from tests.scenes import data_for

RANDOM = Data(source="random", random=RandomBatch(pairs=10, dimension=6, seed=1))
S0 = Data(example="cosent_batch")


def rows(found):
    return {(one.form, one.type): one for one in found}


@pytest.mark.parametrize("loss", LOSSES)
def test_each_type_is_as_near_as_it_has_digits(loss):
    found = rows(precision(explore(Scenario(data=data_for(loss, RANDOM), loss=loss))))
    exact = found["stable", "float64"]
    assert (exact.difference, exact.gradient_difference) == (0, 0)
    assert {one for _, one in found} == {*TYPES}
    for name, most in (("float32", 1e-4), ("bfloat16", 0.3), ("float16", 0.05)):
        one = found["stable", name]
        if one.refused:  # torch has no distances of half precision
            assert "not implemented for" in one.refused
            assert one.loss is None
            continue
        assert abs(one.difference) <= most * max(abs(exact.loss), 1)
        assert one.broken == ""
        assert math.isfinite(one.gradient_difference)


def test_the_printed_example_keeps_two_digits_in_float32():
    """S0: 7.919774e-06 in float64; the 1 that is printed takes the digits away in float32."""
    found = rows(precision(explore(Scenario(data=S0))))
    assert found["stable", "float64"].loss == pytest.approx(7.919774e-06, rel=1e-6)
    assert found["printed", "float64"].loss == pytest.approx(7.919774e-06, rel=1e-6)
    stable, printed = (found[form, "float32"].loss for form in ("stable", "printed"))
    assert stable == pytest.approx(7.919774e-06, rel=1e-3)
    assert printed == pytest.approx(7.919774e-06, rel=0.05)
    assert abs(printed - 7.919774e-06) > 1e-8


def test_the_printed_mask_is_harmless_until_it_is_a_number_of_float16():
    """Claim S0-mask: the mask is float32 and the difference promotes; as float16 it is ∞."""
    batch = make_batch(S0, Rules())
    turned = dataclasses.replace(batch, labels=batch.labels.flip(0))  # all in the wrong order
    found = rows(precision(explore(Scenario(data=S0), turned)))
    values = [found["printed", kind].loss for kind in ("float16", "bfloat16")]
    assert values == pytest.approx([16.253857] * 2, abs=0.15)
    assert found["printed", "float32"].loss == pytest.approx(16.253857, abs=1e-5)
    for kind in TYPES:
        assert found["printed", kind].broken == ""
    inside = found["printed_in_type", "float16"]
    assert math.isnan(inside.loss)
    assert inside.broken == "mask"  # 10¹² is ∞ there
    assert math.isfinite(found["printed_in_type", "bfloat16"].loss)


def test_a_scale_that_float16_cannot_hold_is_named_where_it_breaks():
    batch = make_batch(S0, Rules())
    far = dataclasses.replace(batch, given=batch.given * 1000)
    e = explore(Scenario(data=S0, parameters=(("scale", 1000.0),)), far)
    found = rows(precision(e))
    assert found["stable", "float32"].broken == ""
    assert found["stable", "float16"].broken == "scaled"
    # The function raises half precision first.
    assert found["function", "float16"].broken == ""


def test_only_what_is_the_same_number_is_another_form_of_it():
    forms = {one.form for one in precision(explore(Scenario(data=RANDOM)))}
    assert forms == {"stable", "printed", "printed_in_type", "function"}
    others = {one.form for one in precision(explore(Scenario(data=RANDOM, loss="siglip")))}
    assert others == {"stable", "function"}


def test_the_batch_stays_as_it_was():
    e = explore(Scenario(data=RANDOM))
    before = e.batch.vectors.clone()
    precision(e)
    assert torch.equal(e.batch.vectors, before)
    assert not e.batch.vectors.requires_grad
