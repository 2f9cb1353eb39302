"""Lists and objects that a cell holds as text: written as JSON, as Python writes them, or as numpy
writes lists of texts."""

import re

from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.limits import ROW_LETTERS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.python_parsing_lock import literal
from lossprism.explorer.sources.cells import is_blank, shortened

# Python needs many times the memory of a text for its parsed value.
PYTHON_LETTERS = 2**16
_QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
# Quoted texts in brackets with nothing but blanks between them.
_NUMPY = re.compile(rf"\[\s*(?:(?:{_QUOTED})\s*)++\]", re.DOTALL)


def begins_written(value: object) -> bool:
    """True if a cell is a text that begins like a list or an object."""
    return isinstance(value, str) and value[:80].lstrip()[:1] in ("[", "{")


def is_written(value: object) -> bool:
    """True if a cell holds a list or an object as text."""
    return begins_written(value) and _parsed(str(value)) is not None


def read_written(value: object, column: str) -> object:
    """The list or object that a cell holds as text; anything else as it is.

    Raises Problem if the text begins like one and is none.
    """
    if is_blank(value) or not begins_written(value):
        return value
    if len(text := str(value)) > ROW_LETTERS:
        raise Problem("row_too_long", most=ROW_LETTERS)
    if (parsed := _parsed(text)) is None:
        raise Problem("cell_not_written", column=column, value=shortened(text))
    return parsed


def _parsed(text: str) -> list | dict | None:
    if len(text) > ROW_LETTERS:
        return None
    try:
        return read_json(text)
    except ValueError:
        pass
    if len(text) > PYTHON_LETTERS:
        return None
    try:
        if _NUMPY.fullmatch(text.strip()):  # Python would join its texts
            return [literal(one) for one in re.findall(_QUOTED, text, re.DOTALL)]
        return literal(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
