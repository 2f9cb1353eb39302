"""Columns whose texts are of one kind, by their names."""

import re

from lossprism.explorer.sources.column_names import plain_name

# Names of two sides of one kind, beside those that differ in a number or letter at their end alone.
_SAME_KINDS = ({"first", "second"}, {"left", "right"})
_COUNTED_SIDE = re.compile("[0-9ab一二甲乙]$")


def name_same_kind(first: str, second: str) -> bool:
    """True if two columns hold texts of one kind, so that a pair is the same the other way round.

    >>> name_same_kind("sentence1", "sentence2"), name_same_kind("question", "answer")
    (True, False)
    """
    one, other = plain_name(first), plain_name(second)
    counted = all(map(_COUNTED_SIDE.search, (one, other)))
    return {one, other} in _SAME_KINDS or (counted and one != other and one[:-1] == other[:-1])
