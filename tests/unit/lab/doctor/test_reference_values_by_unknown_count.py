"""The reference values that ship are used for the batches they were computed for."""

from __future__ import annotations

import pytest

from lossprism.explorer.lab.doctor import reference_values_by_unknown_count
from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import axes_of
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import possible_losses
from lossprism.explorer.lab.doctor.possible_meanings_of_number import explain
from lossprism.explorer.lab.doctor.reference_values_by_unknown_count import curves_of, values_along


@pytest.fixture
def computed(monkeypatch):
    """The losses, with the counted axes, whose values are computed."""
    found = []

    def noted(loss, kind, axis, known):
        found.append((loss, axis.counted))
        return values_along(loss, kind, axis, known)

    monkeypatch.setattr(reference_values_by_unknown_count, "values_along", noted)
    for cached in (curves_of, reference_values_by_unknown_count.constant_value):
        cached.cache_clear()
    return found


def test_of_a_bare_number_nothing_is_computed(computed):
    assert explain(0.693, None, "0.693").findings
    assert not computed


def test_batches_of_other_counts_are_computed(computed):
    known = Known(batch=64)
    curves_of(tuple(possible_losses(known)), known)
    counted = {axis for _, axis in computed}
    assert counted == {"", "positives", "negatives_per_query"}  # no dimension, list or class


def test_with_a_dimension_all_is_computed(computed):
    known = Known(dimension=8)
    curves_of(tuple(possible_losses(known)), known)
    with_axes = {one.name for one in possible_losses(known) if any(axes_of(one, known))}
    assert {loss.name for loss, _ in computed} == with_axes
    assert len(with_axes) > 40


def test_another_margin_is_computed_for_the_losses_that_have_one(computed):
    known = Known(margin=0.3)
    curves_of(tuple(possible_losses(known)), known)
    assert {loss.name for loss, _ in computed} == {
        one.name for one in possible_losses(known) if one.changed_parameters
    }


@pytest.mark.parametrize("known", [Known(), Known(batch=64), Known(batch=8), Known(margin=0.3)])
def test_what_ships_is_what_would_be_computed(known, monkeypatch):
    losses = tuple(possible_losses(known))
    curves_of.cache_clear()
    shipped = curves_of(losses, known)
    monkeypatch.setattr(reference_values_by_unknown_count, "_in_file", dict)
    curves_of.cache_clear()
    reference_values_by_unknown_count.constant_value.cache_clear()
    for one, then in zip(curves_of(losses, known), shipped, strict=True):
        assert (one.kind, one.constant is None) == (then.kind, then.constant is None)
        assert [loss for loss, _ in one.members] == [loss for loss, _ in then.members]
        assert [count for count, _ in one.sample] == [count for count, _ in then.sample]
        values, values_then = ([value for _, value in curve.sample] for curve in (one, then))
        assert values == pytest.approx(values_then, rel=1e-9, abs=1e-12)


def test_a_definition_that_does_not_ship_is_computed_beside_those_that_do(computed):
    shipped, *others = possible_losses(Known())
    changed = shipped._replace(function=lambda *inputs, **parameters: shipped.function)
    curves_of((changed, *others), Known())
    assert {loss for loss, _ in computed} == {changed}
