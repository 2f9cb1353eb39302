"""Reader of one cell of a table: a sentence or a score, or the Problem why it is neither."""

import functools
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol

from lossprism.explorer.runtime.json_encoding import whole_letters
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.limits import ROW_LETTERS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import text_of
from lossprism.explorer.sources.label_words_to_scores import (
    INFERENCE,
    INFERENCE_SCORES,
    WORD_SCORES,
)

# What programs write where there is no value; a notebook of transformers writes the last.
NOTHING = ("", "none", "null", "-", "n/a", "no log")
# Words that name columns of texts as often as they are labels.
_ALSO_COLUMN_NAMES = ("positive", "negative", "pos", "neg")
# What stands for a score that is not there.
_NOT_AVAILABLE = ("na", "n/a", "n.a.", "#n/a", "nan", "missing", "unknown", "无", "缺失")
ABSENT = frozenset((*_NOT_AVAILABLE, "-", "–", "—", "?", "nil", "none", "null"))
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)(e[+-]?[0-9]+)?")
# The mark may part thousands from hundreds: 1,250 and 2.500. Nobody means 1.125 so.
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}((,)[0-9]{3}|(\.)[0-9]00)")
_MARKS = frozenset(".,")
# The first mark parts thousands: 1.234,56 and 1,234.56.
_TWO_MARKS = re.compile(
    r"(?<![\w.,])[1-9][0-9]{0,2}(?:(?:(\.)[0-9]{3})+,|(?:(,)[0-9]{3})+\.)[0-9]+(?![\w.,]*[0-9])"
)
# No longer text is a number.
_NUMBER_LETTERS = 400
KNOWN_SCORES = 4096  # labels of a column are few, and stand in it again and again
# A mark of byte order, or a joiner of width nothing, that was left in a text.
_BYTE_ORDER_MARK = "\ufeff"
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity|∞)")


# One word of Latin letters and digits, with a digit: "Q17", "doc_000123", "8f14e45f-ceea".
ID = re.compile(r"(?=[^\s]*[0-9])[A-Za-z0-9_:./#-]{1,64}")
# The same, a web address, or a path that ends like the name of a file.
_REFERENCE = re.compile(
    rf"{ID.pattern}|(https?|s3|gs|file)://\S+|[^\s.][^.]*(\.[^\s.]+)*\.(jpe?g|png|gif|webp|bmp|"
    r"tiff?|svg|wav|mp3|flac|mp4|txt|pdf|html?|json)",
    re.IGNORECASE,
)


class Cells(Protocol):
    """The cells of a row, by the positions of their columns."""

    def __len__(self) -> int: ...
    def __getitem__(self, position: int, /) -> object: ...
    def __iter__(self) -> Iterator[object]: ...


class AmbiguousScore(Problem):
    """A score that may be one or a thousand; the others of its column may tell."""


class UnsupportedValue:
    """A value of a kind that is neither sentence nor score, known by the name of that kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __str__(self) -> str:
        return self.kind


def is_blank(value: object) -> bool:
    """True if nothing was entered. Tables from the page and from pandas write NaN for that too."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and not value.strip())


def is_reference(value: object) -> bool:
    """True if a cell is a path, an address or an id: it names a text or an image, and is no
    sentence.

    >>> is_reference("img_000.jpg"), is_reference("Q17"), is_reference("A cat.")
    (True, True, False)
    """
    return _REFERENCE.fullmatch(str(value).strip()) is not None


def listed_in(value: object) -> list[object]:
    """The entries of a list, also of one that is written as JSON; of anything else that itself.

    Raises Problem if it is longer than a row may be.
    """
    if isinstance(value, str) and value[:80].lstrip().startswith("["):
        if len(value) > ROW_LETTERS:
            raise Problem("row_too_long", most=ROW_LETTERS)
        try:
            value = read_json(value)
        except ValueError:
            return [value]
    return value if isinstance(value, list) else [value]


def read_sentence(value: object, column: str, most: float = math.inf) -> str:
    """Return the sentence without surrounding blanks; numbers are written out.

    Raises Problem if the cell of `column` is empty, holds something that is not text, or has more
    than `most` characters.
    """
    sentence = value.strip() if isinstance(value, str) else _as_text(value, column)
    if not sentence:
        raise Problem("sentence_missing", column=column)
    if len(sentence) > most:
        raise Problem("sentence_too_long", count=len(sentence), most=most)
    if sentence.isascii():
        return sentence
    # Half of a surrogate pair (JSON can hold one) is no character: no encoder could read it.
    if whole_letters(sentence) != sentence:
        raise Problem("sentence_broken_character", column=column)
    if _BYTE_ORDER_MARK in sentence and not (
        sentence := sentence.replace(_BYTE_ORDER_MARK, "").strip()
    ):
        raise Problem("sentence_missing", column=column)
    return sentence


def _as_text(value: object, column: str) -> str:
    """A number written out, and nothing as ""."""
    if is_blank(value):
        return ""
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        kind = value.kind if isinstance(value, UnsupportedValue) else type(value).__name__
        raise Problem("sentence_not_text", column=column, kind=kind)
    try:
        return str(value)
    except ValueError:  # an integer of thousands of digits
        raise Problem("sentence_not_text", column=column, kind=type(value).__name__) from None


def read_score(value: object, column: str, decimal: Collection[str] = ()) -> float:
    """The score as a finite number.

    Text may have surrounding blanks, a decimal comma ("0,8"), digits of another script or width,
    be a percentage ("85%" is 0.85), or one of the words of `WORD_SCORES`. "1,000" may be one or a
    thousand: it is read where its mark is among `decimal`, those that are known to stand before a
    fraction.

    Raises Problem if the cell of `column` is empty, not a number, or not finite; AmbiguousScore.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raise Problem("score_missing", column=column)
    if isinstance(value, str):
        return _finite(_score_from_text(value, column, decimal), value, column)
    if isinstance(value, (Real, Decimal)):
        return _finite(as_float(value), value, column)
    raise Problem("score_not_a_number", column=column, value=shortened(value))


def read_inference(value: object, column: str) -> float:
    """The score of one of the three kinds of natural language inference, written as a word or as
    the number that SNLI and MNLI give it: 0 entailment, 1 neutral, 2 contradiction.

    Raises Problem if it is none of them.
    """
    kind = inference_kind(value)
    if kind is None:
        raise Problem("inference_label", column=column, value=shortened(value))
    return INFERENCE_SCORES[list(INFERENCE)[kind]]


def inference_kind(value: object) -> int | None:
    """Return the kind of inference, as its datasets number the three; None for anything else."""
    word = label_word(value)
    if word in INFERENCE:
        return INFERENCE[word]
    number = None if word is not None or isinstance(value, bool) else number_in(value)
    return int(number) if number is not None and number in INFERENCE.values() else None


def label_word(value: object) -> str | None:
    """The word of `WORD_SCORES` that a cell holds, as it is written there; None for anything else.

    >>> label_word(" Not_Entailment "), label_word("0.5")
    ('not entailment', None)
    """
    if isinstance(value, bool):
        return str(value).casefold()
    if not isinstance(value, str) or value[:1].isdecimal():  # no word begins with a digit
        return None
    return _word_in(_plain_number(value[:_NUMBER_LETTERS]))


def _word_in(plain: str) -> str | None:
    word = plain.replace("_", " ").replace("-", " ")
    return word if word in WORD_SCORES else None


def number_in(value: object) -> float | None:
    """The number that a cell holds, where it is one and no word."""
    if label_word(value) is not None:
        return None
    try:
        return read_score(value, "", _MARKS)
    except Problem:
        return None


def is_score(value: object) -> bool:
    """True if the cell reads as a score, or would if the meaning of its mark were known.

    A single letter, such as the y of yes, and a word that may be the name of a column, such as
    "positive", is a label only in a column that is known to hold them.
    """
    try:
        read_score(value, "", _MARKS)
    except Problem:
        return False
    word = label_word(value)
    return word is None or (
        word not in _ALSO_COLUMN_NAMES and (len(word) > 1 or not word.isascii())
    )


def shortened(value: object, most: int = 40, write: Callable[[object], str] = str) -> str:
    """Shorten the value to fit into a message, written by `str` or by `repr`."""
    text = text_of(value, write)
    return text if len(text) <= most else text[: most - 1] + "…"


def without_thousands(text: str) -> str:
    """Write each number that has both marks with a decimal point alone.

    >>> without_thousands("1.234,56"), without_thousands("loss 4,158.88"), without_thousands("1,2")
    ('1234.56', 'loss 4158.88', '1,2')
    """
    return _TWO_MARKS.sub(lambda one: one[0].replace(one[1] or one[2], "").replace(",", "."), text)


def decimal_mark(value: object) -> str:
    """The mark before a fraction, where the text of a score can be read in one way only; or ""."""
    if not isinstance(value, str) or len(value) > _NUMBER_LETTERS:
        return ""
    plain = _plain_number(value)
    if _TWO_MARKS.fullmatch(plain.lstrip("+-")):
        return max(_MARKS, key=plain.rfind)
    if not _NUMBER.fullmatch(plain) or _GROUPED.fullmatch(plain):
        return ""
    return next((mark for mark in plain if mark in _MARKS), "")


def _plain_number(text: str) -> str:
    """Replace the digits and signs of other scripts and widths by those of ASCII; a digit that is a
    footnote is none."""
    text = text.strip()
    if not text.isascii():
        text = "".join(map(_plain_letter, text))
    return text.strip().casefold()


def _plain_letter(letter: str) -> str:
    digit = unicodedata.decimal(letter, None)
    if digit is not None:
        return str(digit)
    if "\uff01" <= letter <= "\uff5e":  # full width
        return chr(ord(letter) - 0xFEE0)
    return {"−": "-", "٫": ".", "\ufeff": ""}.get(letter, letter)


@functools.lru_cache(maxsize=KNOWN_SCORES)
def _score_from_text(text: str, column: str, decimal: Collection[str]) -> float:
    plain = without_thousands(_plain_number(text)) if len(text) <= _NUMBER_LETTERS else ""
    if _NUMBER.fullmatch(plain):
        grouped = _GROUPED.fullmatch(plain)
        if grouped and (mark := grouped[2] or grouped[3]) not in decimal:
            one, thousands = plain.replace(mark, "."), plain.replace(mark, "")
            values = {"value": shortened(text), "one": f"{float(one):g}", "thousands": thousands}
            raise AmbiguousScore("score_ambiguous", column=column, **values)
        return float(plain.replace(",", "."))
    if (word := _word_in(plain)) is not None:
        return WORD_SCORES[word]
    if plain.endswith("%") and _NUMBER.fullmatch(plain[:-1].strip()):
        return float(plain[:-1].replace(",", ".")) / 100
    if _NOT_FINITE.fullmatch(plain):
        return math.nan
    raise Problem("score_not_a_number", column=column, value=shortened(text))


def as_float(value: Any) -> float:
    """Return a number as a float, infinite where it is too large for one."""
    try:
        return float(value)
    except (OverflowError, ValueError):
        return math.inf


def _finite(score: float, value: object, column: str) -> float:
    if not math.isfinite(score):
        raise Problem("score_not_finite", column=column, value=shortened(value))
    return score
