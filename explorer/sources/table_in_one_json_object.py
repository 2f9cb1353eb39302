"""Tables that one JSON object holds as a whole.

* rows under a name: ``{"data": [{…}, …]}``, whatever else stands beside them;
* columns: ``{"anchor": […], "positive": […]}`` (`Dataset.to_dict`), also with a name for each row:
  ``{"anchor": {"0": …}, …}`` (pandas' `to_json`);
* ``{"columns": […], "index": […], "data": [[…], …]}`` (pandas' "split");
* queries, corpus and relevant documents, which name each other by ids (LlamaIndex, BEIR).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.limits import OBJECT_LETTERS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import ID, shortened
from lossprism.explorer.sources.column_roles import listed
from lossprism.explorer.sources.nested_rows import Row, is_row, text_of

_COLUMNS_OF_ROWS = "features"  # of the hub's viewer: names and kinds of the columns of "rows"
# The maps of LlamaIndex, and of BEIR under the name that it has there.
_QUERIES, _CORPUS, _RELEVANT = "queries", "corpus", ("relevant_docs", "qrels")


def rows_of_object(text: str) -> Sequence[Row | Problem] | None:
    """Return the rows of a table that is one JSON object; None of any other text.

    Raises Problem if the object has several lists of rows.
    """
    if len(text) > OBJECT_LETTERS or not text.lstrip().startswith("{"):
        return None
    try:
        whole = read_json(text)
    except ValueError:
        return None
    queries, corpus = whole.get(_QUERIES), whole.get(_CORPUS)
    relevant = next((whole[name] for name in _RELEVANT if name in whole), None)
    if isinstance(queries, dict) and isinstance(corpus, dict) and isinstance(relevant, dict):
        return [*_joined(queries, corpus, relevant)]
    if is_row(whole):
        return None
    if tables := {name: value for name, value in whole.items() if _are_objects(value)}:
        if "rows" in tables:
            tables.pop(_COLUMNS_OF_ROWS, None)
        if len(tables) > 1:
            raise Problem("file_several_tables", names=", ".join(tables)[:400])
        return next(iter(tables.values()))
    names, data = whole.get("columns"), whole.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(map(_is_list, data)):
        whole = dict(zip(map(str, names), zip(*data, strict=False), strict=False))
    rows_by_name = [value for value in whole.values() if isinstance(value, dict)]
    if len({tuple(one) for one in rows_by_name}) > 1:  # other rows in each: no columns of a table
        if len(rows_by_name) == len(whole) and all(map(_is_ranking, rows_by_name)):
            raise Problem("table_of_ids", columns=listed([*whole]))
        return None
    return _of_columns({name: _entries(value) for name, value in whole.items()})


def _is_ranking(value: Row) -> bool:
    """True for the documents of a query in a run or in judgements: a number for each id."""
    ids = all(ID.fullmatch(one) for one in value)
    return ids and all(isinstance(one, int | float) for one in value.values())


def _are_objects(value: object) -> TypeGuard[list[Row]]:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _entries(column: object) -> list | tuple | None:
    """Return the cells of a column; None of what is none."""
    cells = [*column.values()] if isinstance(column, dict) else column
    return cells if isinstance(cells, list | tuple) else None


def _of_columns(columns: Mapping[str, list | tuple | None]) -> list[Row] | None:
    """Return the rows of two or more columns of one length; None of anything else."""
    cells = [one for one in columns.values() if one]
    if len(cells) < max(len(columns), 2) or len({len(one) for one in cells}) > 1:
        return None
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def _joined(queries: Row, corpus: Row, relevant: Mapping) -> Iterator[Row | Problem]:
    """Yield each query with each of its relevant documents."""
    for query, known in relevant.items():
        # A list, a map to degrees of relevance, or one id; as keys of JSON all ids are texts.
        documents = known if isinstance(known, list | dict) else [known]
        for document in map(str, documents):
            missing = query if query not in queries else document
            if query not in queries or document not in corpus:
                yield Problem("id_without_text", id=shortened(missing))
                continue
            row: Row = {"query": text_of(queries[query]), "passage": text_of(corpus[document])}
            if isinstance(known, dict):
                row["score"] = known[document]
            yield row
