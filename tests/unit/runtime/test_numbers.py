"""A number is written alike wherever it is read."""

from __future__ import annotations

import math

import pytest

from explorer.runtime.numbers import (
    csv_number,
    display_number,
    json_number,
    json_numbers,
    percent,
    typed,
    whole_percent,
)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (-0.5, "−0.5"),
        (12345.678, "12350"),
        (1234567.0, "1.23e6"),
        (1.5e-7, "1.50e−7"),
        (float("nan"), "NaN"),
        (float("-inf"), "−∞"),
        (None, "—"),
    ],
)
def test_numbers_are_written_as_on_the_page(value, said):
    assert display_number(value) == said


def test_numbers_that_json_lacks_are_words():
    assert [json_number(x) for x in (1.5, None)] == [1.5, None]
    words = [json_number(x) for x in (float("inf"), float("-inf"), float("nan"))]
    assert words == ["inf", "-inf", "nan"]
    assert json_numbers([[1.0, math.inf], [math.nan, None]]) == [[1.0, "inf"], ["nan", None]]


@pytest.mark.parametrize(
    ("share", "said", "whole"),
    [
        (0, "0%", "0%"),
        (1, "100%", "100%"),
        (0.1234, "12%", "12%"),
        (0.01234, "1.2%", "1%"),
        (0.00012, "0.012%", "0%"),
        (0.000012, "0.0012%", "0%"),
    ],
)
def test_a_share_has_two_digits_that_count_or_none_behind_the_point(share, said, whole):
    assert (percent(share), whole_percent(share)) == (said, whole)


@pytest.mark.parametrize(
    ("value", "said"),
    [(4.0, "4"), (-0.5, "-0.5"), (0.1 + 0.2, "0.30000000000000004"), (1e15, "1000000000000000.0")],
)
def test_what_is_typed_reads_back_as_the_same_number(value, said):
    assert typed(value) == said
    assert float(said) == value


def test_a_cell_of_a_table_is_empty_where_nothing_is():
    cells = [csv_number(value) for value in (-math.inf, 0.1, True, False, math.inf)]
    assert cells == ["", 0.1, 1, 0, math.inf]
