"""Recognition of pasted or piped input: numbers, the log of a run or a table."""

import math
import re
from dataclasses import dataclass, field
from typing import Literal

from lossprism.explorer.lab.doctor.known_values_parser import known_from
from lossprism.explorer.lab.doctor.logs.log import PASTED, Log, number_in
from lossprism.explorer.lab.doctor.logs.losses_in_sentences_reader import (
    PYTHON_ERROR,
    statements_of,
    without_approximations,
)
from lossprism.explorer.lab.doctor.logs.run_reader import log_reader
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened, without_thousands
from lossprism.explorer.sources.table_file_reader import read_grid
from lossprism.explorer.sources.table_in_pasted_text import are_steps, numbers_alone

Kind = Literal["numbers", "run", "table"]
MAX_NUMBERS, MAX_LETTERS = 20, 1000  # of single values; more are a curve
MIN_LOG_VALUES = 3  # of a curve; fewer are single values

_DECIMAL_COMMA = re.compile(r"[-+−]?\d+,\d+")
_ROW = re.compile(r"\[([^\[\]]*)\]")
_SEPARATOR = re.compile(r"[\s;]+|,\s+")
_VALUE_AFTER = r"\s*(?:loss\s*)?(?:[:=]|is|at|of|为|是)?\s*(\d*\.\d+)(?![\w%]|\.\d)"
_BRACKETS = " \t\r\n[]()`'\"*"


@dataclass(frozen=True)
class Pasted:
    """Recognised input: `numbers` as text with what the text says beside them, or a `log`; a log of
    fewer than `MIN_LOG_VALUES` values has both. A "table" is left to the reader of datasets."""

    kind: Kind
    numbers: tuple[str, ...] = ()
    log: Log | None = None
    known: Known = field(default_factory=Known)


def read_pasted(content: bytes, name: str = PASTED, step: str = "") -> Pasted:
    """Read numbers or the log of a run, or recognise a table.

    Raises Problem for empty input, for a text that is none of these, with what it says beside a
    number, and for a damaged log.
    """
    text = content.decode("utf-8-sig", "replace").strip()
    if not text:
        raise Problem("pasted_nothing")
    if numbers := numbers_in(text):
        return Pasted("numbers", numbers)
    known, rest = known_from(text[:MAX_LETTERS])
    if read := log_reader(name, content):
        log = read(step)
        values = _values_of_short_log(log)
        return Pasted("numbers", values, log, known) if values else Pasted("run", log=log)
    if numbers := _values_of_first_metric(text) or _numbers_beside(known, rest, text):
        return Pasted("numbers", numbers, known=known)
    if width := _matrix_width(text[:MAX_LETTERS]):
        raise numbers_alone(width)
    is_short = "\n" not in text or (known.provided and len(text) <= MAX_LETTERS)
    is_error = text.startswith("Traceback (most recent") or (
        "\n" not in text and PYTHON_ERROR.match(text) is not None
    )
    if is_error or (is_short and text[0] not in "{[" and not _are_rows(content)):
        if not known.provided:
            raise Problem("pasted_unknown", text=shortened(text))
        said = ", ".join(f"{name} {value}" for name, value in known.provided.items())
        raise Problem("pasted_no_value", known=said)
    return Pasted("table")


def _numbers_beside(known: Known, rest: str, text: str) -> tuple[str, ...]:
    """Return the numbers of a text of numbers and of what is known beside them; of any other text,
    the fraction that follows the name of the known loss."""
    if numbers := numbers_in(rest) if known.provided else ():
        return numbers
    after = known.loss and re.search(rf"\b{re.escape(known.loss)}{_VALUE_AFTER}", text, re.I)
    return (after[1],) if after else ()


def _are_rows(content: bytes) -> bool:
    """True if lines have the columns of a table and are more than its header."""
    try:
        return len(read_grid(content, PASTED, None).columns) > 1
    except Problem:
        return False


def numbers_in(text: str) -> tuple[str, ...]:
    """Return the numbers of a text of at most 20 numbers and nothing else; none of any other text
    or of points of a curve. Decimal commas become points, and percentages fractions.

    >>> numbers_in("2.09, 2.08"), numbers_in("2,09"), numbers_in("[1,2]"), numbers_in("2.09 s")
    (('2.09', '2.08'), ('2.09',), ('1', '2'), ())
    >>> numbers_in("~0.693"), numbers_in("93.75%"), numbers_in("10 0.69\\n20 0.68")
    (('0.693',), ('0.9375',), ())
    """
    if len(text) > MAX_LETTERS or _matrix_width(text) or are_steps(_cells(text.strip(_BRACKETS))):
        return ()
    is_list = text.strip().startswith("[")
    plain = without_approximations(text)
    plain = (plain if is_list else without_thousands(plain)).strip(_BRACKETS)
    words = [one.strip(",") for one in re.split(r"[\s;]+", plain) if one.strip(",")]
    if all(map(_DECIMAL_COMMA.fullmatch, words)) and not is_list:
        words = [one.replace(",", ".") for one in words]
    else:
        words = [one for word in words for one in word.split(",") if one]
    is_numbers = 0 < len(words) <= MAX_NUMBERS and all(number_in(one) is not None for one in words)
    return tuple(words) if is_numbers else ()


def _matrix_width(text: str) -> int:
    """Return how many numbers each row of a matrix has: two or more rows in brackets, or lines of
    three or more numbers; 0 for any other text.

    >>> _matrix_width("0.9 0.1\\n0.2 0.8"), _matrix_width("tensor([[1, 2], [3, 4]])")
    (0, 2)
    >>> _matrix_width("0.9 0.1 0.2\\n0.2 0.8 0.3"), _matrix_width("2.09 2.08 2.1\\n2.1")
    (3, 0)
    """
    in_brackets = [_cells(row)[0] for row in _ROW.findall(text) if row.strip()]
    rows = in_brackets or _cells(text)
    width = len(rows[0]) if len(rows) > 1 and len({len(row) for row in rows}) == 1 else 0
    are_numbers = all(number_in(one) is not None for row in rows for one in row)
    return width if are_numbers and width >= (2 if in_brackets else 3) else 0


def _cells(text: str) -> list[list[str]]:
    """Split each line at blanks and semicolons, or without these at commas."""
    lines = (_SEPARATOR.split(line.strip()) for line in text.split("\n") if line.strip())
    return [cells if len(cells) > 1 else cells[0].split(",") for cells in lines]


def read_typed(text: str) -> Pasted:
    """Read the numbers of a typed text, also those in a sentence about a loss or a metric, with
    what it says beside them; no numbers of any other text.

    Raises Problem as `_values_of_first_metric` does.
    """
    if numbers := numbers_in(text):
        return Pasted("numbers", numbers)
    known, rest = known_from(text[:MAX_LETTERS])
    read = log_reader(PASTED, text.encode("utf-8", "replace"))
    values = _values_of_short_log(read("")) if read else _values_of_first_metric(text)
    return Pasted("numbers", values or _numbers_beside(known, rest, text), known=known)


def _values_of_first_metric(text: str) -> tuple[str, ...]:
    """Return the values of the first loss or metric in a sentence. Raises Problem where a sentence
    has only metrics that no reference value or chance level is known of."""
    statements = [] if "\n" in text else statements_of(text)
    values = [one.values for one in statements if one.topic != "other_metric"]
    if statements and not values:
        raise Problem("pasted_metric", text=shortened(text))
    return values[0] if values else ()


def _values_of_short_log(log: Log) -> tuple[str, ...]:
    """Return the values of the loss, as they were written, if they are too few for a curve."""
    curve = log.curves.get(log.trained or log.held_out)
    few = MIN_LOG_VALUES if log.source == "console" else 2  # a table of two rows is a curve
    if curve is None or len(curve) >= few:
        return ()
    if len(curve.finite) < len(curve):
        return ()
    return tuple(
        f"{value:.{max(round(-math.log10(2 * unit)), 0)}f}" if unit else repr(value)
        for value, unit in zip(curve.values.tolist(), curve.unit.tolist(), strict=True)
    )
