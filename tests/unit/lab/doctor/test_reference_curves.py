"""The reference values that ship are those that are computed, and are used for what they are of."""

from __future__ import annotations

import json

import pytest

from lossprism.explorer.lab.doctor import reference_curves
from lossprism.explorer.lab.doctor.known_loss_and_batch import Known, possible_losses
from lossprism.explorer.lab.doctor.number_explanation import explain
from lossprism.explorer.lab.doctor.reference_curves import FILE, computed_lines, curves_of
from lossprism.losses import LOSSES
from scripts.reference_curves import table


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


def test_the_file_has_what_is_computed():
    """After a change of a loss: ``python -m scripts.reference_curves``."""
    known, made = json.loads(FILE.read_text("utf-8")), json.loads(json.dumps(table()))
    assert known.keys() == made.keys()
    for loss, conventions in made.items():
        assert known[loss].keys() == conventions.keys(), loss
        for convention, lines in conventions.items():
            for (kind, axis, level, values), (*names, level_then, values_then) in zip(
                lines, known[loss][convention], strict=True
            ):
                assert [kind, axis] == names, (loss, convention)
                assert level == (level_then if level is None else pytest.approx(level_then))
                assert [count for count, _ in values] == [count for count, _ in values_then]
                assert [value for _, value in values] == pytest.approx(
                    [value for _, value in values_then], rel=1e-9, abs=1e-12
                )


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
