"""The report on a data set, as lines of text and as plain JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from explorer.lab.doctor.axes import family_of
from explorer.lab.doctor.data import Examined
from explorer.lab.doctor.known import Known, is_of_library, sides_for
from explorer.lab.doctor.reading import Read
from explorer.lab.doctor.suitable_losses import Suited
from explorer.locale import say, spelled, title_word
from explorer.runtime.numbers import display_number, percent
from explorer.sources.cells import shortened
from explorer.sources.reading_notes import reading_notes
from losses import LOSSES

NAMED_LOSSES = 8  # losses that can learn from the data; the JSON has all
LETTERS = 60  # of a text of a row that shows a finding


def data_lines(read: Read, found: Examined, called: str, language: str) -> Iterator[str]:
    """What a person reads of it in the terminal; `called` is what the loss was called."""
    loss = title_word(LOSSES[found.loss])
    yield say(language, "doctor.examined", count=found.pairs, loss=loss, batch=found.batch)
    if found.rows < found.pairs:
        yield say(language, "doctor.in_rows", rows=found.rows, batch=found.batch)
    unread = labels_unread(read, called, language)
    yield from filter(None, (*columns_read(read, language), *_skipped(read, language), unread))
    for fault in found.faults:
        yield ""
        yield from fault.lines(language, row_lines(read, fault.shown, language))
    if not found.faults:
        yield say(language, "doctor.none_found")
    for key, made in (("doctor.looked_for", True), ("doctor.not_looked_for", False)):
        yield f"\n{say(language, key)}"
        yield from (f"   {one.said(language)}" for one in found.checks if one.made is made)
    if cleaned := cleaned_line(found, language):
        yield f"\n{cleaned}"


def _skipped(read: Read, language: str) -> Iterator[str]:
    if read.file is not None and read.file.skipped[0]:
        count, ((row, problem), *_) = read.file.skipped
        reason = say(language, problem.key, **problem.values)
        yield say(language, "doctor.skipped", count=count, row=row, reason=reason)


def suited_lines(found: tuple[Suited, ...], none: str, language: str) -> Iterator[str]:
    """The losses that can learn from the data, the first ones with their reasons; `none` ends the
    key of what is said without any."""
    title = say(language, f"doctor.suited.{'title' if found else none}")
    yield f"\n{title}"
    for one in found[:NAMED_LOSSES]:
        yield f"{spelled(language, 'loss', title_word(LOSSES[one.loss]))} ({one.loss})"
        yield from (f"   {reason}" for reason in one.said(language))
    if len(found) > NAMED_LOSSES:
        yield say(language, "doctor.suited_more", count=len(found) - NAMED_LOSSES)


def cleaned_line(found: Examined, language: str) -> str:
    """How much of the data set stays; "" where all does."""
    kept, total = len(found.cleaned.kept), found.pairs
    if kept == total:
        return ""
    if found.rows == total:
        return say(language, "doctor.cleaned", kept=kept, total=total)
    rows = {"rows": found.kept_rows, "all": found.rows}
    return say(language, "doctor.cleaned_rows", kept=kept, total=total, **rows)


def labels_unread(read: Read, loss: str, language: str = "en") -> str:
    """That the class of a library, by whose name the loss was told, reads none of the labels that
    are there, and how many rows are positive pairs to it alone; "" where that is not so."""
    profile = read.profile
    below = len(profile) - profile.positives
    if not below or profile.of_triplets or not is_of_library(loss):
        return ""
    if any(family_of(side) != "keys" for side in sides_for(Known(loss=loss))):
        return ""
    values = {"count": below, "share": percent(below / len(profile))}
    values["threshold"] = display_number(profile.threshold)
    return say(language, "doctor.labels_unread", loss=loss.strip(), **values)


def row_lines(read: Read, pairs: Iterable[int], language: str) -> Iterator[str]:
    """Rows of a file that show a finding: their numbers, and how their texts begin."""
    profile = read.profile
    for pair in pairs:
        texts = [side[pair - 1] for side in (profile.columns.first, profile.columns.second)]
        label = [display_number(float(profile.labels[pair - 1]))] if profile.labelled else []
        yield row_line(read.row(pair), [*texts, *label], language)


def row_line(row: int, cells: Iterable[str], language: str) -> str:
    """A row in one line of a terminal, whatever its cells hold."""
    told = " · ".join(_on_one_line(cell) for cell in cells)
    return say(language, "doctor.row", row=row, cells=told)


def _on_one_line(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return shortened(" ".join(plain.split()), LETTERS)


def data_to_json(
    read: Read,
    found: Examined,
    fitting: Iterable[Suited],
    language: str = "en",
    encoded: dict[str, Any] | None = None,
    called: str = "",
) -> dict[str, Any]:
    """What is the matter with a data set as plain JSON: of the command, and as `doctor_data`
    answers it, with what an encoder told where one was asked. Rows are those of the table; `called`
    is what the loss was called."""
    left_out = dict.fromkeys((read.row(one), because) for one, because in found.cleaned.left_out)
    return {
        "pairs": found.pairs,
        "rows": found.rows,
        "skipped": read.file.skipped[0] if read.file else 0,
        "columns": read.file.chosen if read.file else {},
        "reading": columns_read(read, language),
        "loss": found.loss,
        "batch": found.batch,
        "severe": found.severe,
        "labels_unread": labels_unread(read, called, language),
        "findings": [
            {**fault.to_json(language), "rows": _rows(read, fault.rows)} for fault in found.faults
        ],
        "looked_for": [check.name for check in found.checks if check.made],
        "met": vars(found.met),
        "suited": [one.to_json(language) for one in fitting],
        "encoded": None if encoded is None else _by_row(read, encoded),
        "kept": len(found.cleaned.kept),
        "kept_rows": found.kept_rows,
        "left_out": [{"row": row, "because": because} for row, because in left_out],
    }


def columns_read(read: Read, language: str) -> list[str]:
    """Which columns of the file were taken as what."""
    notes = () if read.file is None else reading_notes(read.file)
    return [note.written(language) for note in notes]


def _rows(read: Read, pairs: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(map(read.row, pairs)))


def _by_row(read: Read, encoded: dict[str, Any]) -> dict[str, Any]:
    """What an encoder told, with the rows of the table in place of the pairs that were read."""
    findings = []
    for fault in encoded["findings"]:
        cells = [
            cell | {name: read.row(cell[name]) for name in ("row", "other")}
            for cell in fault["cells"]
        ]
        told = {name: value for name, value in fault.items() if name != "pairs"}
        findings.append({**told, "rows": _rows(read, fault["pairs"]), "cells": cells})
    ranked = [
        {"row": read.row(one["pair"]), "rate": one["rate"], "fitting": one["fitting"]}
        for one in encoded["ranked"]
    ]
    return {**encoded, "findings": findings, "ranked": ranked}
