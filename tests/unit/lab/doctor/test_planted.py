"""Planted faults are found, and none is invented: on a few draws, which leave more to chance than
those of ``python -m tests.planted``."""

from __future__ import annotations

import pytest

from tests.planted import (
    LEAST_OF_ENCODER,
    Counted,
    beside,
    counted,
    curves,
    encoded,
    is_low,
    tables,
)

OF_ROWS = {
    "copies", "conflicting_labels", "rater_noise", "same_on_both_sides", "mixed_scripts", "cut_off",
    "twins", "texts_in_classes", "texts_again", "classes_of_one", "class_spellings",
    "negative_is_own", "twins_met",
    "margin_beyond", tables.OTHERWISE, *tables.BY_FILE,
}  # fmt: skip
OF_TABLES = OF_ROWS | {*tables.WHOLE, "one_class", "rows_alone"}


@pytest.mark.parametrize(
    ("measured", "names", "least"),
    [
        (tables.measured(2), OF_TABLES, 1),  # what texts and labels tell is counted
        (encoded.measured(3), LEAST_OF_ENCODER.keys(), 0.75),
        (curves.measured(6), curves.FINDINGS, 0.75),
        (beside.measured(3), beside.PLANTED.keys(), 0.75),
    ],
    ids=["tables", "vectors", "runs", "two runs"],
)
def test_each_kind_is_found_and_hardly_any_is_invented(measured, names, least):
    found = counted(measured)
    assert set(found) == set(names)
    low = {
        name: one
        for name, one in found.items()
        if min(one.precision, one.recall, one.planted) < least
    }
    assert not low


@pytest.mark.parametrize(
    ("message", "both", "low"), [(20, 20, False), (20, 15, True), (40, 20, True), (0, 0, True)]
)
def test_the_command_fails_where_many_are_missed_or_invented(message, both, low):
    assert is_low("run", "jump", Counted(20, message, both)) == low
