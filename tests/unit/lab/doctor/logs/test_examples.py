"""The made-up logs have the thing the matter that they are named after, and nothing worse."""

from __future__ import annotations

import pytest

from explorer.lab.doctor.logs.examples import EXAMPLES, MNRL
from explorer.lab.doctor.logs.findings import examine_run

MATTER = {"collapsed": "at_collapse", "learned_by_heart": "overfits", "jumped": "jump"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_made_up_log_shows_its_matter_first(name):
    found = examine_run(EXAMPLES[name](), MNRL)
    assert found.faults[0].name == MATTER[name]
    assert all(fault.severity == "note" for fault in found.faults[1:])
    assert found.marks.collapse == pytest.approx(3.4657, abs=1e-4)
