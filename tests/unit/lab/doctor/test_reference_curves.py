"""The reference values that ship are used for the counts they were computed for."""

from __future__ import annotations

import pytest

from lossprism.explorer.lab.doctor import reference_curves
from lossprism.explorer.lab.doctor.known_loss_and_batch import Known, possible_losses
from lossprism.explorer.lab.doctor.number_explanation import explain
from lossprism.explorer.lab.doctor.reference_curves import computed_lines, curves_of
from lossprism.losses import LOSSES


@pytest.fixture
def computed(monkeypatch):
    """The losses whose lines are computed."""
    found = []

    def noted(loss, *others):
        found.append(loss)
        return computed_lines(loss, *others)

    monkeypatch.setattr(reference_curves, "computed_lines", noted)
    curves_of.cache_clear()
    return found


def test_of_a_bare_number_nothing_is_computed(computed):
    assert explain(0.693, None, "0.693").findings
    assert not computed


@pytest.mark.parametrize("known", [{"batch": 64}, {"margin": 0.3}, {"dimension": 8}])
def test_with_something_known_all_is_computed(computed, known):
    known = Known(**known)
    curves_of(tuple(possible_losses(known)), known)
    assert {one.name for one in computed} == set(LOSSES)


def test_a_definition_that_does_not_ship_is_computed_beside_those_that_do(computed):
    shipped, *others = possible_losses(Known())
    changed = shipped._replace(function=lambda *inputs, **parameters: shipped.function)
    curves_of((changed, *others), Known())
    assert computed == [changed]
