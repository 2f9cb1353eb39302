"""Numbers as text and as JSON: one writer for captions, figures, tables, links and answers.

`kit/number_format.js` of the page writes as `display_number`, `percent`, `fixed` and `signed` do,
digit by digit: tests/data/numbers.json compares both on the same cases.
"""

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Literal, overload

from lossprism.explorer.locale import grouped

# A number as JSON can carry it: inf and nan as words.
Real = float | Literal["inf", "-inf", "nan"]
# Outside of these a number is written with a power of ten.
SMALL, LARGE = Decimal("0.0001"), 10_000_000


def display_number(value: float | None, digits: int = 4) -> str:
    """Write a number for people: 0.1235, 12 346, 1.2e−5, ∞; — for None.

    It has so many significant digits, and its whole part to the last one; trailing zeros of a
    fraction are dropped, thousands are grouped. From 10,000,000 on and below 0.0001 it has a power
    of ten.
    """
    if value is None:
        return "—"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    kept = max(digits, len(str(int(size)))) if size < LARGE else digits
    near = Context(prec=kept, rounding=ROUND_HALF_UP).create_decimal_from_float(size).normalize()
    text = _plain(near) if SMALL <= near < LARGE else _with_power(near)
    return f"−{text}" if value < 0 else text


def _plain(number: Decimal) -> str:
    whole, point, fraction = f"{number:f}".partition(".")
    return grouped(int(whole)) + point + fraction


def _with_power(number: Decimal) -> str:
    first, rest = (figures := "".join(map(str, number.as_tuple().digits)))[0], figures[1:]
    mantissa = f"{first}.{rest}" if rest else first
    return f"{mantissa}e{number.adjusted()}".replace("-", "−")


# What a sum of shares may be off by, and one that was added up in float32 short of all.
ROUNDING, SHORT = 1e-9, 1e-6


def percent(share: float) -> str:
    """Write a share for people: 12%, 1.2%, 0.0012%. A share below 1 is never 100%, but >99%."""
    value = 100 * share
    text = _to_places(value, 0) if value >= 10 else display_number(value, 2)
    return ">99%" if text == "100" and share < 1 - SHORT else f"{text}%"


def whole_percent(share: float) -> str:
    """Write a share for people in whole percent: 12%, 1%. A share below 1 is never 100%, and one
    above 0 never 0%: >99%, <1%."""
    rounded = _to_places(100 * share, 0)
    if rounded == "100" and share < 1 - ROUNDING:
        return ">99%"
    return "<1%" if rounded == "0" and share > ROUNDING else f"{rounded}%"


def fixed(value: float | None, places: int) -> str:
    """Write a number with so many digits after the point, for columns: 0.500; — for None."""
    if value is None:
        return "—"
    text = _to_places(abs(value), places)
    return f"−{text}" if value < 0 and float(text) else text


def signed(value: float, places: int) -> str:
    """Write a difference with its sign and so many decimal places: +0.010, −0.004, 0.000."""
    text = _to_places(abs(value), places)
    return text if float(text) == 0 else ("−" if value < 0 else "+") + text


def _to_places(value: float, places: int) -> str:
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):f}"


def typed(value: float) -> str:
    """Return the shortest text that reads back as the same number, as typed by people: 4, not
    4.0."""
    whole = value == int(value) and abs(value) < 1e15
    return str(int(value)) if whole else repr(float(value))


def csv_number(value: float | bool) -> object:
    """Return a table cell: a number to its last digit, 1 and 0, empty for an absent one (−∞)."""
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
    """Return nested lists of numbers, each as by `json_number`."""
    return list(map(json_numbers, value)) if isinstance(value, list) else json_number(value)
