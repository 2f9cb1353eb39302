"""What is the matter with a data set, for programs."""

from __future__ import annotations

from typing import cast

from explorer.lab.doctor import USUAL_BATCH, USUAL_LOSS
from explorer.lab.doctor.data import examine
from explorer.lab.doctor.known import Known, sides_for
from explorer.lab.doctor.reading import Read, read_content, read_given
from explorer.lab.doctor.suited import suited
from explorer.lab.doctor.told import data_to_json
from explorer.locale import LANGUAGES
from explorer.runtime import jobs
from explorer.runtime.limits import TRAINED_PAIRS
from explorer.runtime.problem import Problem
from explorer.sources.pairs import POSITIVE, Pairs
from explorer.web.api.reading import columns_of, read_choice, read_text, rows_of
from explorer.web.wire.program import DoctoredData


def doctor_data(
    loss: str = USUAL_LOSS,
    sentences1: list[str] | None = None,
    sentences2: list[str] | None = None,
    scores: list[float] | None = None,
    table: str = "",
    columns: dict[str, str] | None = None,
    batch: int = USUAL_BATCH,
    tokens: int | None = None,
    language: str = "en",
) -> DoctoredData:
    """What is the matter with a data set of pairs, for a loss in batches of a size: told from its
    texts and labels alone, without an encoder.

    Args:
        loss: name of the loss, such as "info_nce", an alias or a library's class
        sentences1: the first sentence of each of up to 100,000 pairs; null where a table is given
        sentences2: the second sentence of each pair
        scores: the label of each pair; null if there are none, all pairs are then positives
        table: in place of the lists, a whole table as text: CSV, TSV, JSON lines or a JSON array
        columns: which of the table's columns is "first", "second", "score" ("none" for no labels)
            and "teacher", or "anchor", "positive" and "negative"; left out, they are recognised
        batch: pairs of a batch
        tokens: that the encoder reads of a text; null if not known
        language: of the sentences in the answer, "en" or "zh"

    Returns:
        An object with
        findings, the worst first, each with name (which stays the same), severity ("severe",
        "warning" or "note"), said (a sentence), values (the numbers in it), pairs (the first that
        show it, counted from 1) and advice (what to paste); severe, whether any is;
        looked_for, the names of what these columns and this loss allow to be looked for;
        met, what a batch has on average: pairs of rows that share a text and meet as negatives,
        rows that have such a partner, floor, below which no softmax over the batch can then fall,
        and share of the negatives that are wrong;
        suited, the losses that can learn from the data, the best reasons first, each with the
        names of reasons for it and against it, and said, the same in sentences;
        kept, how many pairs a cleaned table has, and left_out, the others, each with because;
        pairs and skipped, how many were read and how many rows could not be; columns, those of the
        table that were read; loss and batch, as they were taken.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Example:
        >>> answer = doctor_data("cosent", ["a", "A ", "c"], ["b", "b", "d"], [1, 0, 0.5], batch=2)
        >>> [(one["name"], one["pairs"]) for one in answer["findings"]]
        [('conflicting_labels', [1, 2])]
    """
    known = Known(loss=read_text("loss", loss), batch=batch).checked()
    spec = sides_for(known)[0].spec
    size, most = known.batch or USUAL_BATCH, Known(batch=tokens).checked().batch
    read_choice("language", language, LANGUAGES)
    with jobs.in_turn():
        read = _read(sentences1, sentences2, scores, table, columns)
        found = examine(read.profile, spec, size, most_tokens=most)
        fitting = suited(read.profile, size)
        return cast("DoctoredData", data_to_json(read, found, fitting, language))


def _read(first: object, second: object, scores: object, table: object, columns: object) -> Read:
    text = read_text("table", table)
    if bool(text) == (first is not None or second is not None):
        raise Problem("api_table_or_lists")
    if text:
        content = text.encode("utf-8", "surrogatepass")
        return read_content(content, "table.txt", jobs.step, columns=columns_of(columns))
    rows = rows_of("doctor_data", TRAINED_PAIRS, first, second, scores)
    one, other, labels = zip(*rows, strict=True)
    labelled = scores is not None
    given = tuple(map(float, labels)) if labelled else (POSITIVE,) * len(rows)
    return read_given(Pairs(one, other, given, labelled=labelled), jobs.step)
