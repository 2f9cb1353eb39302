"""Validation of a program's input: a Problem names the first invalid entry."""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from numbers import Real
from typing import Any, NamedTuple, TypeVar

from lossprism.explorer.core.resolved_scenario import Resolved, resolve
from lossprism.explorer.core.scenario import TWINS, Data, Rules, Scenario
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_comparison import MAX_LOSSES, MIN_LOSSES
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS, LARGE_PAIRS
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import finite
from lossprism.explorer.runtime.validation import label_range as read_label_range
from lossprism.explorer.runtime.visitor_key_signing import is_key
from lossprism.explorer.sources.cells import read_score, read_sentence, shortened
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.encoders.uploaded_vectors import in_place_of
from lossprism.explorer.sources.guide_vectors_in_base64 import EncodedVector, encoded_vectors
from lossprism.explorer.sources.pairs_from_tables import read_table, with_stored_vectors
from lossprism.explorer.sources.reading_notes import reading_notes

Value = TypeVar("Value")
# (first sentence, second sentence, label or teacher's score as text), one for each pair.
Rows = tuple[tuple[str, str, str], ...]


class Sent(NamedTuple):
    """Pairs, the teacher's scores of some, whether they came as triplets, a guide's vectors of some
    sentences, the encoder of the table's own vectors, and the roles of a table's columns."""

    rows: Rows
    taught: Rows = ()
    triplets: bool = False
    guided: tuple[EncodedVector, ...] = ()
    own_vectors: str = ""
    reading: tuple[str, ...] = ()


def scenario_of(
    loss: str,
    sentences1: Sequence[str] | None,
    sentences2: Sequence[str] | None,
    scores: Sequence[float] | None,
    parameters: dict[str, Any] | None = None,
    encoder: str = EMBEDDED,
    convention: str = "",
    rules: Rules | None = None,
    guide: str = "",
    teacher: str = "",
    teacher_scores: Sequence[float] | None = None,
    table: object = "",
    columns: object = None,
) -> tuple[Resolved, tuple[str, ...]]:
    """Return the scenario of these pairs, as if typed into the page's table; without scores all are
    positives. Instead of lists, a `table` may be given, read by `rows_of`; returns sentences about
    the roles of its columns.

    Raises Problem, naming the first invalid entry.
    """
    sent = (sentences1, sentences2, scores, table, columns)
    rows = rows_of("compute_loss", EXPLORED_PAIRS, *sent)
    data = table_of(rows, encoder, guide, teacher, teacher_scores)
    return scenario_under(loss, parameters, convention, rules, data), rows.reading


def table_of(
    sent: Sent, encoder: object, guide: object, teacher: object, teacher_scores: object = None
) -> Data:
    """Return the rows, the models to run on them, and existing scores of a teacher, from the rows
    or from a list.

    Raises Problem for two teachers, or unless there is a number for each row.
    """
    rows, taught = sent.rows, ()
    if teacher_scores is not None:
        taught = read_numbers("teacher_scores", teacher_scores)
        lists = {"sentences1": rows, "teacher_scores": taught}
        check_lengths("teacher_scores", len(rows), lists)
        if teacher:
            raise Problem("api_teacher_twice")
    by_list = zip(rows, map(typed, taught), strict=False)
    return Data(
        source="table",
        rows=rows,
        teacher=tuple((first, second, one) for (first, second, _), one in by_list) or sent.taught,
        guided=sent.guided,
        encoder=in_place_of(read_text("encoder", encoder), sent.own_vectors),
        guide=read_text("guide", guide).strip(),
        teacher_model=read_text("teacher", teacher).strip(),
    )


def for_visitor(key: object) -> AbstractContextManager[None]:
    """Run the body for the visitor with this key; "" for the sender of the request.

    Raises Problem if it is no key.
    """
    if key == "":
        return nullcontext()
    if not is_key(key):
        raise Problem("api_key", value=shortened(key, write=repr))
    return as_visitor(str(key))


def rows_of(
    name: str,
    limit: int,
    sentences1: object,
    sentences2: object,
    scores: object,
    table: object = "",
    columns: object = None,
    *,
    language: str = "en",
) -> Sent:
    """Return the pairs as they would be typed.

    They come as lists, each entry checked, and all of one length; without scores (None) their cells
    are empty. Or as a `table`, the text of one or a list of objects, read like a file's: pairs,
    triplets with any number of negatives, a text with a list of candidates; what is said of its
    columns is in this `language`.

    Raises Problem for both, for too many pairs, and for the first unusable row.
    """
    if table not in ("", None, []):
        if not sentences1 == sentences2 == scores is None:
            raise Problem("api_table_and_lists")
        return _rows_of_table(name, limit, table, columns, language)
    if sentences1 is None and sentences2 is None:
        raise Problem("api_empty")
    first = _sentences("sentences1", sentences1)
    second = _sentences("sentences2", sentences2)
    lists = {"sentences1": first, "sentences2": second}
    if scores is None:
        labels = [""] * check_lengths(name, limit, lists)
    else:
        numbers = read_numbers("scores", scores)
        check_lengths(name, limit, {**lists, "scores": numbers})
        labels = map(typed, numbers)
    return Sent(tuple(zip(first, second, labels, strict=True)))


def _rows_of_table(name: str, limit: int, table: object, columns: object, language: str) -> Sent:
    if not isinstance(table, str):
        if not all(isinstance(row, dict) for row in _listed("table", table)):
            raise Problem("api_table", value=shortened(table, write=repr))
        table = json.dumps(table, ensure_ascii=False, allow_nan=True)
    content = table.encode("utf-8", "replace")
    read = read_table(
        content, "table", columns=columns_of(columns), most=LARGE_PAIRS, with_vectors=True
    )
    if read.skipped:
        row, problem = read.skipped[0].row, read.skipped[0].problem
        raise Problem("api_table_row", row=row, reason=str(problem))
    count = len(read.pairs)
    if not count:
        raise Problem("api_empty")
    if count > limit:
        raise Problem("api_too_many", count=count, name=name, most=limit)
    pairs = read.pairs
    vectors = encoded_vectors(pairs.sentences, pairs.guide)
    reading = tuple(note.written(language) for note in reading_notes(read))
    own = with_stored_vectors(read, "table").own_vectors
    return Sent(pairs.rows, pairs.taught_rows, "anchor" in read.chosen, vectors, own, reading)


def rules_of(
    threshold: object = None,
    label_range: object = None,
    extra_negatives: object = True,
    prototypes: object = None,
    twins: object = "keep",
) -> Rules:
    """Read the page's rules, which turn pairs into positives, negatives, classes and prototypes.

    Raises Problem, naming the first invalid entry.
    """
    listed_rows = () if prototypes is None else _listed("prototypes", prototypes)
    rows = (read_numbers(f"prototypes[{place}]", row) for place, row in enumerate(listed_rows))
    return Rules(
        None if threshold is None else _number("threshold", threshold),
        None if label_range is None else _ends("label_range", label_range),
        read_switch("extra_negatives", extra_negatives),
        "\n".join(" ".join(map(repr, row)) for row in rows),
        read_choice("twins", twins, TWINS),
    )


def _number(name: str, value: object) -> float:
    try:
        return finite(value, name)
    except Problem:
        raise Problem("api_one_number", name=name, value=shortened(value, write=repr)) from None


def _ends(name: str, value: object) -> tuple[float, float]:
    numbers = read_numbers(name, value)
    if len(numbers) != 2:
        raise Problem("api_ends", name=name, value=shortened(value, write=repr))
    return read_label_range(numbers, name)


def scenario_under(
    loss: object,
    parameters: object,
    convention: object,
    rules: Rules | None = None,
    data: Data | None = None,
) -> Resolved:
    scenario = Scenario(
        data=data or Data(),
        rules=rules or Rules(),
        loss=read_text("loss", loss),
        convention=read_text("convention", convention),
        parameters=_parameters("parameters", parameters),
    )
    return resolve(scenario, strict=True)


def _parameters(name: str, chosen: object) -> tuple[tuple[str, object], ...]:
    return tuple(
        (one, tuple(value) if isinstance(value, list) else value)
        for one, value in read_object(name, chosen).items()
    )


def _of_type(kind: type[Value], problem: str, name: str, value: object) -> Value:
    """Return a value of this type. Raises the Problem of this key, with the name, for any other."""
    if not isinstance(value, kind):
        raise Problem(problem, name=name, value=shortened(value, write=repr))
    return value


def read_object(name: str, value: object) -> dict[str, Any]:
    """Read an object with any entries; null for none."""
    entries = {} if value is None else _of_type(dict, "api_object", name, value)
    return {str(one): inner for one, inner in entries.items()}


def columns_of(value: object) -> dict[str, str]:
    """Read the roles of columns. Raises Problem unless it is an object of texts."""
    chosen = read_object("columns", value)
    return {role: read_text(f"columns.{role}", column) for role, column in chosen.items()}


def sides_of(name: str, losses: object) -> list[Side]:
    """Read the losses to compare, each an object of "loss", "convention" and "parameters".

    Their existence is not checked here. Raises Problem, naming the first invalid entry.
    """
    listed = _listed(name, losses)
    if not MIN_LOSSES <= len(listed) <= MAX_LOSSES:
        raise Problem("compare_sides", count=len(listed), least=MIN_LOSSES, most=MAX_LOSSES)
    return [_side(f"{name}[{place}]", one) for place, one in enumerate(listed)]


def _side(name: str, value: object) -> Side:
    if not isinstance(value, dict) or not {"loss"} <= value.keys() <= _OF_SIDE:
        raise Problem("api_loss", name=name, value=shortened(value, write=repr))
    return Side(
        read_text(f"{name}.loss", value["loss"]),
        read_text(f"{name}.convention", value.get("convention", "")),
        _parameters(f"{name}.parameters", value.get("parameters")),
    )


_OF_SIDE = {"loss", "convention", "parameters"}


def read_text(name: str, value: object) -> str:
    return _of_type(str, "api_text", name, value)


def read_switch(name: str, value: object) -> bool:
    return _of_type(bool, "parameter_switch", name, value)


def read_choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Read one of these; an accepted "" is not listed in the problem."""
    if value not in choices:
        shown, names = shortened(value), ", ".join(filter(None, choices))
        raise Problem("parameter_choice", name=name, value=shown, known=names)
    return str(value)


def _listed(name: str, values: object) -> Sequence[object]:
    return _of_type(list, "api_list", name, [*values] if isinstance(values, tuple) else values)


def _sentences(name: str, values: object) -> tuple[str, ...]:
    max_letters = budget("sentence_letters")

    def read(place: int, value: object) -> str:
        try:
            sentence = read_sentence(read_text(name, value), name)
        except Problem:
            shown = shortened(value, write=repr)
            raise Problem("api_sentence", name=name, place=place, value=shown) from None
        return read_sentence(sentence, name, max_letters)

    return tuple(read(place, value) for place, value in enumerate(_listed(name, values)))


def read_numbers(name: str, values: object) -> tuple[float, ...]:
    def read(place: int, value: object) -> float:
        try:
            return read_score(value if isinstance(value, Real) else None, name)
        except Problem:
            shown = shortened(value, write=repr)
            raise Problem("api_number", name=name, place=place, value=shown) from None

    return tuple(read(place, value) for place, value in enumerate(_listed(name, values)))


# What JSON has in place of what is no number, as `explorer.runtime.number_format.Real` is written
# and as others write it.
NO_NUMBER = ("nan", "inf", "-inf", "infinity", "-infinity")


def read_values(name: str, values: object) -> tuple[float, ...]:
    """Read numbers as `read_numbers`, and null (NaN), NaN and infinities, also as words."""
    listed = _listed(name, values)
    not_numbers = [_no_number(value) for value in listed]
    others = [value if no is None else 0.0 for value, no in zip(listed, not_numbers, strict=True)]
    found = zip(read_numbers(name, others), not_numbers, strict=True)
    return tuple(number if no is None else no for number, no in found)


def _no_number(value: object) -> float | None:
    """Return a NaN or an infinity, also of a word; None for anything else."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        return float(value) if value.strip().lower() in NO_NUMBER else None
    return value if isinstance(value, float) and not math.isfinite(value) else None


def check_lengths(function: str, limit: int, lists: Mapping[str, Sequence[object]]) -> int:
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise Problem("api_lengths", lengths=counts)
    count = max(lengths.values())
    if count == 0:
        raise Problem("api_empty")
    if count > limit:
        raise Problem("api_too_many", count=count, name=function, most=limit)
    return count
