"""A number is written alike wherever it is read."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from explorer.locale import grouped
from explorer.runtime.number_format import (
    csv_number,
    display_number,
    fixed,
    json_number,
    json_numbers,
    percent,
    signed,
    typed,
    whole_percent,
)

# The cases of tests/js/numbers.test.js too: both sides write alike.
CASES = json.loads((Path(__file__).parents[2] / "data" / "numbers.json").read_text("utf-8"))
WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


@pytest.mark.parametrize(("value", "digits", "said"), CASES["show"])
def test_numbers_are_written_as_on_the_page(value, digits, said):
    assert display_number(WORDS.get(value, value), digits) == said


@pytest.mark.parametrize(("value", "said"), CASES["grouped"])
def test_counts_are_written_as_on_the_page(value, said):
    assert grouped(value) == said


@pytest.mark.parametrize(("share", "said"), CASES["percent"])
def test_shares_are_written_as_on_the_page(share, said):
    assert percent(share) == said


@pytest.mark.parametrize(("value", "places", "said"), CASES["fixed"])
def test_figures_are_written_as_on_the_page(value, places, said):
    assert fixed(value, places) == said


@pytest.mark.parametrize(("value", "places", "said"), CASES["signed"])
def test_differences_are_written_as_on_the_page(value, places, said):
    assert signed(value, places) == said


@pytest.mark.parametrize("exponent", range(-12, 13))
@pytest.mark.parametrize("digits", [2, 3, 4, 6])
def test_a_number_reads_back_to_its_digits(exponent, digits):
    for first in (1.0, 1.234567891, 4.9999, 9.999996):
        text = display_number(first * 10.0**exponent, digits)
        read = float(text.replace("\u202f", "").replace("−", "-"))
        assert read == pytest.approx(first * 10.0**exponent, rel=0.5000001 * 10 ** (1 - digits))


def test_numbers_that_json_lacks_are_words():
    assert [json_number(x) for x in (1.5, None)] == [1.5, None]
    words = [json_number(x) for x in (float("inf"), float("-inf"), float("nan"))]
    assert words == ["inf", "-inf", "nan"]
    assert json_numbers([[1.0, math.inf], [math.nan, None]]) == [[1.0, "inf"], ["nan", None]]


@pytest.mark.parametrize(
    ("share", "said"),
    [
        *((0, "0%"), (1, "100%"), (0.1234, "12%"), (0.01234, "1%"), (0.125, "13%")),
        *((0.00012, "<1%"), (0.9994, ">99%"), (1e-12, "0%"), (1 - 1e-12, "100%")),
    ],
)
def test_a_whole_share_has_no_digit_behind_the_point(share, said):
    assert whole_percent(share) == said


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
