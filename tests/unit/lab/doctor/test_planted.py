"""Planted faults are found, and none is invented."""

from __future__ import annotations

import pytest

from tests.planted import beside, counted, curves, encoded, tables

pytestmark = pytest.mark.thorough


OF_ROWS = {
    "copies", "conflicting_labels", "rater_noise", "same_on_both_sides", "mixed_scripts", "cut_off",
    "twins", "texts_in_classes", "texts_again", "classes_of_one", "class_spellings",
    "negative_is_own", "twins_met",
    "margin_beyond", tables.OTHERWISE, *tables.BY_FILE,
}  # fmt: skip


def test_in_tables_each_kind_is_found_and_none_is_invented():
    """What texts and labels tell is counted, so that all of it is right."""
    found = counted(tables.measured())
    assert set(found) == OF_ROWS | {*tables.WHOLE, "one_class", "rows_alone"}
    for name, one in found.items():
        assert one.planted >= tables.DRAWS, name
        assert (one.precision, one.recall) == (1, 1), (name, one)


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [
        ("near_duplicates", 0.99, 0.95),
        ("false_negatives", 0.8, 0.95),
        ("disagreement", 0.9, 0.8),
        ("tokens_cut_off", 1, 1),
    ],
)
def test_an_encoder_tells_most_of_them(told, name, precision, recall):
    """A key may stand above a query's own by chance, and a label may be wrong by little."""
    one = told[name]
    assert one.planted >= 5 * encoded.DRAWS
    assert one.precision >= precision
    assert one.recall >= recall


@pytest.fixture(scope="module")
def told():
    found = counted(encoded.measured())
    assert set(found) == {"near_duplicates", "false_negatives", "disagreement", "tokens_cut_off"}
    return found


def test_in_runs_nine_of_ten_are_found_and_hardly_any_is_invented():
    found = counted(curves.measured())
    assert set(found) == curves.FINDINGS
    for name, one in found.items():
        assert one.planted >= curves.DRAWS, name
        assert one.recall >= 0.9, (name, one)
        assert one.precision >= 0.9, (name, one)


def test_of_two_runs_it_is_known_what_their_values_can_say():
    """Counted of no value, so that fewer draws than the document's show it as well."""
    draws = 16
    found = counted(beside.measured(draws))
    assert set(found) == beside.PLANTED.keys()
    for name, one in found.items():
        assert one.planted >= draws / 2, name
        assert min(one.precision, one.recall) >= 0.95, (name, one)
