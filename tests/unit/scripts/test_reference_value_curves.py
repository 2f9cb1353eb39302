"""The reference values that ship are those that are computed."""

from __future__ import annotations

import json

import pytest

from lossprism.explorer.lab.doctor.reference_values_by_unknown_count import FILE
from scripts.reference_value_curves import table


def test_the_file_has_what_is_computed():
    """After a change of a loss: ``python -m scripts.reference_value_curves``."""
    known, made = json.loads(FILE.read_text("utf-8")), json.loads(json.dumps(table()))
    assert known.keys() == made.keys()
    for loss, conventions in made.items():
        assert known[loss].keys() == conventions.keys(), loss
        for convention, kinds in conventions.items():
            assert known[loss][convention].keys() == kinds.keys(), (loss, convention)
            for kind, axes in kinds.items():
                for found, then in zip(axes, known[loss][convention][kind], strict=True):
                    assert (found is None) == (then is None), (loss, convention, kind)
                    if found is not None:
                        is_same(found, then)


def is_same(found, then):
    """The constant, and the sample at the same counts."""
    (constant, sample), (constant_then, sample_then) = found, then
    assert constant == (constant_then if constant is None else pytest.approx(constant_then))
    assert [count for count, _ in sample] == [count for count, _ in sample_then]
    values, values_then = ([value for _, value in one] for one in (sample, sample_then))
    assert values == pytest.approx(values_then, rel=1e-9, abs=1e-12)
