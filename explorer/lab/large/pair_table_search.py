"""The table of all pairs of a large batch: searched, filtered, sorted, a page at a time."""

import operator
import re
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.large.batch import LargeBatch
from lossprism.explorer.lab.large.large_batch_session import LargeSession
from lossprism.explorer.lab.large.text_buffer import holding
from lossprism.explorer.runtime.problem import Problem

ROWS_PER_PAGE = 20
# What the page calls the columns that can be compared.
_NAMES = {
    **{"label": "label", "similarity": "score", "gradient": "gradient"},
    **{"标签": "label", "相似度": "score", "梯度": "gradient"},
}
_SIGN = r"(<=|>=|=|<|>|≤|≥)"
_CONDITION = re.compile(
    rf"({'|'.join(_NAMES)})\s*{_SIGN}\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?![\w.])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*(?:[,;，；、&]|and\b|且|和)?\s*", re.IGNORECASE)
# What looks like one: a name with a sign, or any one word with a sign and a number.
_MEANT = re.compile(
    rf"(?:{'|'.join(_NAMES)})\s*{_SIGN}|^\w+\s*{_SIGN}\s*[+−-]?[.\d]", re.IGNORECASE
)
_SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    "≤": operator.le,
    "=": lambda column, value: np.isclose(column, value, atol=0),
    ">=": operator.ge,
    "≥": operator.ge,
    ">": operator.gt,
}


@dataclass(frozen=True, eq=False)
class Page:
    """The places of the pairs on this page, and how many pairs were found in all."""

    places: np.ndarray
    found: int


def page(session: LargeSession, search: str, column: str, falling: bool, number: int) -> Page:
    """Page `number`, counted from 0, of the pairs that `search` finds, sorted by a column.

    `search` is one or more comparisons ("label = 3, similarity > 0.9"), a pair's number ("#17"),
    or a part of a sentence, in quotes if it looks like a comparison. Numbers that do not exist
    come last.

    Raises Problem for a comparison that cannot be read.
    """
    values = _values(session)
    matching = _found(session.batch, values, search)
    sorted_by = values[column if column in values else "gradient"][matching]
    key = -sorted_by if falling else sorted_by
    start = number * ROWS_PER_PAGE
    order = np.argsort(key, kind="stable")[start : start + ROWS_PER_PAGE]
    return Page(matching[order], len(matching))


def _values(session: LargeSession) -> dict[str, np.ndarray]:
    batch = session.batch
    return {
        "entry": batch.entry,
        "label": batch.labels,
        "score": batch.scores,
        "gradient": session.gradient,
    }


def _found(batch: LargeBatch, values: dict[str, np.ndarray], search: str) -> np.ndarray:
    search = search.strip().replace("\u202f", "")  # a number as the page groups it
    if not search:
        return np.arange(len(batch))
    if _MEANT.search(search) and not search.startswith('"'):
        fits = np.ones(len(batch), dtype=bool)
        for name, sign, number in _conditions(search):
            fits &= _SIGNS[sign](values[_NAMES[name.lower()]], float(number))
        return np.flatnonzero(fits)
    if numbered := re.fullmatch(r"#?\s*(\d[\d,]*)", search):
        exact = np.flatnonzero(batch.entry == int(numbered[1].replace(",", "")) - 1)
        if len(exact):
            return exact
    text = search.strip('"')
    hits = holding(batch.first, text) | holding(batch.second, text)
    return np.flatnonzero(hits[batch.entry])


def _conditions(search: str) -> list[tuple[str, str, str]]:
    """The comparisons in `search`: name, sign and number of each."""
    plain, place, conditions = search.replace("−", "-"), 0, []
    while place < len(plain):
        condition = _CONDITION.match(plain, place)
        if not condition:
            raise Problem("large_search", about="search", text=search[place:].strip()[:60])
        conditions.append(condition.groups())
        between = _BETWEEN.match(plain, condition.end())
        assert between is not None, "nothing at all may stand between"
        place = between.end()
    return conditions
