"""The reference values that ship are those that are computed."""

from __future__ import annotations

import json

import pytest

from lossprism.explorer.lab.doctor.reference_curves import FILE
from scripts.reference_curves import table


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
