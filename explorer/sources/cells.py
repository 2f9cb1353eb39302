"""One cell of a table: a sentence or a score, or the Problem that says why it is neither."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from numbers import Real

from explorer.runtime.problem import Problem

# Natural language inference and yes-or-no data sets write words where others write numbers.
WORD_SCORES = {
    "true": 1.0,
    "false": 0.0,
    "entailment": 1.0,
    "neutral": 0.5,
    "contradiction": 0.0,
    "蕴含": 1.0,
    "中立": 0.5,
    "矛盾": 0.0,
}
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)(e[+-]?[0-9]+)?")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity|∞)")


def is_blank(value: object) -> bool:
    """Nothing was entered. Tables from the page and from pandas write NaN for that too."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and not value.strip())


def listed_in(value: object) -> list[object]:
    """The entries of a list, also of one that is written as JSON; of anything else that itself."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    return value if isinstance(value, list) else [value]


def read_sentence(value: object, column: str) -> str:
    """The sentence without surrounding blanks; numbers are written out.

    Raises Problem if the cell of `column` is empty or holds something that is not text.
    """
    if is_blank(value):
        raise Problem("sentence_missing", column=column)
    if isinstance(value, bool) or not isinstance(value, (str, Real, Decimal)):
        raise Problem("sentence_not_text", column=column, kind=type(value).__name__)
    sentence = str(value).strip()
    # Half of a surrogate pair (JSON can hold one) is no character: no encoder could read it.
    if _HALF_PAIR.search(sentence):
        raise Problem("sentence_broken_character", column=column)
    return sentence


def read_score(value: object, column: str) -> float:
    """The score as a finite number.

    Text may have surrounding blanks, a decimal comma ("0,8"), full-width digits, or be one of
    the words of `WORD_SCORES`.

    Raises Problem if the cell of `column` is empty, not a number, or not finite.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raise Problem("score_missing", column=column)
    if isinstance(value, str):
        return _finite(_score_from_text(value, column), value, column)
    if isinstance(value, (Real, Decimal)):
        return _finite(_as_float(value), value, column)
    raise Problem("score_not_a_number", column=column, value=shortened(value))


def is_score(value: object) -> bool:
    """Whether the cell reads as a score."""
    try:
        read_score(value, "")
    except Problem:
        return False
    return True


def shortened(value: object, most: int = 40, write: Callable[[object], str] = str) -> str:
    """The value as it fits into a message, written by `str` or by `repr`."""
    try:
        text = write(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
        text = f"{type(value).__name__} …"
    return text if len(text) <= most else text[: most - 1] + "…"


def _score_from_text(text: str, column: str) -> float:
    plain = unicodedata.normalize("NFKC", text).strip().casefold().replace("−", "-")
    if plain in WORD_SCORES:
        return WORD_SCORES[plain]
    if _NUMBER.fullmatch(plain):
        return float(plain.replace(",", "."))
    if _NOT_FINITE.fullmatch(plain):
        return math.nan
    raise Problem("score_not_a_number", column=column, value=shortened(text))


def _as_float(value: Real | Decimal) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):
        return math.inf


def _finite(score: float, value: object, column: str) -> float:
    if not math.isfinite(score):
        raise Problem("score_not_finite", column=column, value=shortened(value))
    return score
