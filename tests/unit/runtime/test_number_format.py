"""A number is written alike wherever it is read."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest

from lossprism.explorer.locale import grouped
from lossprism.explorer.runtime.number_format import (
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


WRITE = {
    "show": lambda value, digits: display_number(WORDS.get(value, value), digits),
    "grouped": grouped,
    "percent": percent,
    "fixed": fixed,
    "signed": signed,
}


@pytest.mark.parametrize("kind", WRITE)
def test_numbers_are_written_as_on_the_page(kind):
    """Also counts, shares, figures and differences."""
    wrong = [
        (*value, message, WRITE[kind](*value))
        for *value, message in CASES[kind]
        if WRITE[kind](*value) != message
    ]
    assert wrong == []


def test_a_number_reads_back_to_its_digits():
    wrong = []
    for exponent, digits in itertools.product(range(-12, 13), (2, 3, 4, 6)):
        for first in (1.0, 1.234567891, 4.9999, 9.999996):
            value = first * 10.0**exponent
            text = display_number(value, digits)
            read = float(text.replace("\u202f", "").replace("−", "-"))
            if not math.isclose(read, value, rel_tol=0.5000001 * 10 ** (1 - digits)):
                wrong.append((value, digits, text))
    assert wrong == []


def test_numbers_that_json_lacks_are_words():
    assert [json_number(x) for x in (1.5, None)] == [1.5, None]
    words = [json_number(x) for x in (float("inf"), float("-inf"), float("nan"))]
    assert words == ["inf", "-inf", "nan"]
    assert json_numbers([[1.0, math.inf], [math.nan, None]]) == [[1.0, "inf"], ["nan", None]]


@pytest.mark.parametrize(
    ("share", "message"),
    [
        *((0, "0%"), (1, "100%"), (0.1234, "12%"), (0.01234, "1%"), (0.125, "13%")),
        *((0.00012, "<1%"), (0.9994, ">99%"), (1e-12, "0%"), (1 - 1e-12, "100%")),
    ],
)
def test_a_whole_share_has_no_digit_behind_the_point(share, message):
    assert whole_percent(share) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [(4.0, "4"), (-0.5, "-0.5"), (0.1 + 0.2, "0.30000000000000004"), (1e15, "1000000000000000.0")],
)
def test_what_is_typed_reads_back_as_the_same_number(value, message):
    assert typed(value) == message
    assert float(message) == value


def test_a_cell_of_a_table_is_empty_where_nothing_is():
    cells = [csv_number(value) for value in (-math.inf, 0.1, True, False, math.inf)]
    assert cells == ["", 0.1, 1, 0, math.inf]
