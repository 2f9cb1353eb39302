"""Reader of files with similarities of positives and negatives.

JSON, JSON lines, CSV and TSV are read. A query has a number or a list of numbers under a name such
as "pos" or "neg_scores"; or each row has a label and a number, but no text. The moment is the rest
of the name ("pos_before"), the key around the queries, or a column such as "stage". A file of
integers alone has ids of documents.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lossprism.explorer.lab.doctor.logs.log import STEP_NAMES, is_loss, number_in
from lossprism.explorer.lab.doctor.similarity_gap_findings import Moment, Scores, Similarities
from lossprism.explorer.runtime.json_reading import read_json

POSITIVE = frozenset(("pos", "positive", "positives", "正例", "正样本"))
NEGATIVE = frozenset(("neg", "negative", "negatives", "负例", "负样本"))
SIMILARITY = frozenset(
    (
        *("score", "scores", "sim", "sims", "similarity", "similarities", "cos", "cosine"),
        *("cosines", "mean", "hard", "相似度", "得分"),
    )
)
LABELS = frozenset(("label", "labels", "relevant", "gold", "标签"))
STAGES = frozenset(("stage", "when", "moment", "phase", "checkpoint", "阶段"))
QUERIES = frozenset(("query", "queryid", "qid", "topic", "查询"))
MOMENTS = frozenset(
    ("before", "after", "base", "baseline", "tuned", "finetuned", "训练前", "训练后")
)
MAX_BYTES, HEAD_BYTES = 2**23, 2**16  # of a file, and of its head with the names
_MENTIONED = re.compile(r"pos|正|label|标签|gold|relevant|\\u[0-9a-f]{4}", re.I)

Record = Mapping[str, Any]


def read_similarities(content: bytes) -> Similarities | None:
    """Return the similarities in a file; None for a file of anything else."""
    head = content[:HEAD_BYTES].decode("utf-8-sig", "ignore")
    if len(content) > MAX_BYTES or not _MENTIONED.search(head):
        return None
    moments = _moments(_records(content.decode("utf-8-sig", "ignore")))
    are_ids = all(score.is_integer() for one in moments for query in one.queries
                  for scores in query for score in scores)  # fmt: skip
    return None if are_ids else Similarities(moments)


def _records(text: str) -> Any:
    """Return the value of a JSON text, or the rows of a table; None for neither."""
    if not text.lstrip().startswith(("{", "[")):
        return _rows(text)
    with contextlib.suppress(ValueError):
        return read_json(text)
    with contextlib.suppress(ValueError):
        return [read_json(line) for line in text.splitlines() if line.strip()]
    return None


def _rows(text: str) -> list[dict[str, Any]] | None:
    """Return the rows of a table of numbers with a header; None for any other table."""
    lines = text.strip().splitlines()
    mark = next((one for one in "\t;," if lines and one in lines[0]), ",")
    names = lines[0].split(mark) if lines else []
    rows = []
    for line in lines[1:]:
        cells = line.split(mark)
        numbers = [number_in(cell) for cell in cells]
        if len(cells) != len(names) or None in numbers:
            return None
        rows.append(dict(zip(names, numbers, strict=True)))
    return rows


def _moments(value: Any) -> tuple[Moment, ...]:
    """Return the moments in a JSON value; none if anything in it is not a query."""
    if isinstance(value, dict) and not _scores_in(value):
        named = {name: one for name, one in value.items() if isinstance(one, dict | list)}
        moments = {name: _moments(one) for name, one in named.items()}
        is_named = moments and all(len(one) == 1 for one in moments.values())
        return (
            tuple(Moment(name, one.queries) for name, (one,) in moments.items()) if is_named else ()
        )
    records = [value] if isinstance(value, dict) else value
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        return ()
    return _by_moment(_labelled_queries(records) or map(_scores_at_stage, records))


def _by_moment(found: Iterable[Mapping[str, Scores] | None]) -> tuple[Moment, ...]:
    """Return the moments, each with its scores of all queries; none if a record has no scores."""
    queries: dict[str, list[Scores]] = {}
    for one in found:
        if not one:
            return ()
        for name, scores in one.items():
            queries.setdefault(name, []).append(scores)
    return tuple(Moment(name, tuple(scores)) for name, scores in queries.items())


def _scores_at_stage(record: Record) -> Mapping[str, Scores]:
    """Return the scores of a query by moment, which a column may name."""
    scores = _scores_in(record)
    stage = next((str(one) for name, one in record.items() if name.lower() in STAGES), None)
    return scores if stage is None else dict.fromkeys([stage], *scores.values())


def _scores_in(record: Record) -> dict[str, Scores]:
    """Return the scores of a query by the moment in their names; none for a record of a log, with a
    text under such a name, or without both positives and negatives."""
    scores: dict[str, Scores] = {}
    for name, value in _flat(record):
        words = _words(name)
        sides = [bool(words & side) for side in (POSITIVE, NEGATIVE)]
        numbers = _numbers(value)
        if is_loss(name) or name.lower() in STEP_NAMES or (any(sides) and numbers is None):
            return {}
        if sum(sides) == 1 and numbers is not None:
            scores.setdefault(_moment_in(name), ([], []))[sides.index(True)].extend(numbers)
    return scores if all(own and other for own, other in scores.values()) else {}


def _flat(record: Record) -> Iterator[tuple[str, object]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from ((f"{name}_{inner}", one) for inner, one in value.items())
        else:
            yield str(name), value


def _labelled_queries(records: Sequence[Record]) -> list[dict[str, Scores]]:
    """Return the queries of rows with a label and a number for each moment; none for other rows."""
    names = {name: _words(name) for name in records[0]} if records else {}
    label = next((name for name, words in names.items() if words & LABELS), None)
    query = next((name for name in names if "".join(_words_in_order(name)) in QUERIES), None)
    scores = [
        name
        for name, words in names.items()
        if name not in (label, query) and words & (SIMILARITY | MOMENTS)
    ]
    if label is None or not scores or {label, query, *scores} - {None} != {*names}:
        return []
    queries: dict[object, dict[str, Scores]] = {}
    for record in records:
        truth = record.get(label)
        values = [_numbers(record.get(name)) for name in scores]
        if truth not in (0, 1) or any(one is None or len(one) != 1 for one in values):
            return []
        own = queries.setdefault(str(query and record[query]), {})
        for name, one in zip(scores, values, strict=True):
            own.setdefault(_moment_in(name), ([], []))[0 if truth else 1].extend(one or ())
    return [one for one in queries.values() if all(map(all, one.values()))]


def _moment_in(name: str) -> str:
    """Return the words of a name that are not those of a side or a similarity."""
    named = POSITIVE | NEGATIVE | SIMILARITY
    return " ".join(word for word in _words_in_order(name) if word not in named)


def _words_in_order(name: str) -> list[str]:
    """Return the words of a name: "posScores_before" → pos, scores, before."""
    snake_case = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.findall(r"[a-z]+|\d+|[一-鿿]+", snake_case.lower())


def _words(name: str) -> frozenset[str]:
    return frozenset(_words_in_order(name))


def _numbers(value: object) -> list[float] | None:
    """Return a number or a list of numbers as a list; None for anything else or an empty list."""
    numbers = value if isinstance(value, list) else [value]
    values = [number_in(one) for one in numbers if not isinstance(one, str)]
    finite = [one for one in values if one is not None and math.isfinite(one)]
    return finite if finite and len(finite) == len(numbers) else None
