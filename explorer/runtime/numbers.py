"""Numbers as text and as JSON: one writer for captions, figures, tables, links and answers.

`kit/numbers` of the page writes as `display_number` and `percent` do, digit by digit.
"""

from __future__ import annotations

import math
from typing import Any, Literal, overload

# A number as JSON can carry it: inf and nan as words.
Real = float | Literal["inf", "-inf", "nan"]


def display_number(value: float | None, digits: int = 4) -> str:
    """A number rounded to so many digits for people: 0.1235, 1.2e−5, ∞; — where there is none."""
    if value is None:
        return "—"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e5:
        mantissa, exponent = f"{value:.{max(digits - 2, 1)}e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
    else:
        text = f"{float(f'{value:.{digits}g}'):.12f}".rstrip("0").rstrip(".")
    return text.replace("-", "−")


def percent(share: float) -> str:
    """A share for people: 12%, 1.2%, 0.0012%."""
    value = 100 * share
    if 0 < value < 0.01:
        return f"{display_number(value, 2)}%"
    return f"{value:.0f}%" if value >= 10 or value == 0 else f"{float(f'{value:.2g}'):g}%"


def whole_percent(share: float) -> str:
    """A share for people, to the nearest hundredth: 12%, 1%."""
    return f"{100 * share:.0f}%"


def signed(value: float, places: int) -> str:
    """A difference with its sign, to so many places after the point: +0.010, −0.004, 0.000."""
    text = f"{value:+.{places}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def typed(value: float) -> str:
    """The shortest text that reads back as the same number, as a person types it: 4, not 4.0."""
    whole = value == int(value) and abs(value) < 1e15
    return str(int(value)) if whole else repr(float(value))


def csv_number(value: float | bool) -> object:
    """A cell of a table: a number to its last digit, 1 and 0, nothing for what is absent (−∞)."""
    if isinstance(value, bool):
        return int(value)
    return "" if value == -math.inf else value


@overload
def json_number(value: float) -> Real: ...
@overload
def json_number(value: float | None) -> Real | None: ...
def json_number(value: float | None) -> Real | None:
    """A number as JSON can carry it: inf and nan, which JSON lacks, as words."""
    if value is None or math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


def json_numbers(value: Any) -> Any:
    """Nested lists of numbers, each as `json_number` writes it."""
    return list(map(json_numbers, value)) if isinstance(value, list) else json_number(value)
