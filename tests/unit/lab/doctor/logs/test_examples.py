"""The made-up logs have the thing the matter that they are named after, and nothing worse."""

from __future__ import annotations

import math

import pytest

from lossprism.explorer.lab.doctor.logs.examples import EXAMPLES
from lossprism.explorer.lab.doctor.logs.findings import examine_run

MATTER = {
    "collapsed": "at_collapse",
    "learned_by_heart": "overfits",
    "stays_high": "gap",
    "leaked": "leak",
    "brief": "between",
    "jumped": "jump",
    "apart": "not_collapsed",
    "too_high": "above_collapse",
    "in_order": "ordered",
    "turned_round": "turned",
    "too_low": "below_floor",
    "of_dot_products": "below_assumed",
    "below_zero": "labels_outside",
    "solved": "at_floor",
    "in_half_precision": "digits_lost",
    "forgot": "figure_falls",
    "broke": "not_finite",
    "vanished": "stops",
    "no_gradient": "gradient_not_finite",
    "idle": "zero",
    "too_wide": "margin_beyond",
    "unnamed": "",
    "never_fell": "flat",
}


OTHER_COLLAPSE = {"too_wide": 5.0, "below_zero": math.log(2)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_made_up_log_shows_its_matter_first(name):
    found = examine_run(EXAMPLES[name]())
    assert [fault.name for fault in found.faults[:1]] == ([MATTER[name]] if MATTER[name] else [])
    beside = {"zero"} if name == "no_gradient" else set()  # what a Trainer logs of such a loss
    assert all(fault.severity == "note" or fault.name in beside for fault in found.faults[1:])
    if name in ("unnamed", "never_fell"):
        assert found.marks.collapse is None
        return
    if name in OTHER_COLLAPSE:
        assert found.marks.collapse == pytest.approx(OTHER_COLLAPSE[name])
        return
    assert found.marks.collapse == pytest.approx(3.4657, abs=1e-4)
