"""The report on a table of classes, as lines of text and as plain JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from explorer.lab.doctor.classes import ClassesExamined, ClassTable
from explorer.lab.doctor.data_report import row_line
from explorer.lab.doctor.encoded_classes import SeenClasses, seen_classes_to_json
from explorer.lab.doctor.suitable_losses import Suited
from explorer.locale import say
from explorer.sources.reading_notes import reading_notes

NAMED_CLASSES = 5  # classes, the largest and the smallest


def class_lines(table: ClassTable, found: ClassesExamined, language: str) -> Iterator[str]:
    """What a person reads of it."""
    whole = {"count": len(table), "classes": len(table.names), "batch": found.batch}
    yield say(language, "doctor.class.examined", **whole)
    yield from (note.written(language) for note in reading_notes(table.used))
    if table.skipped:
        yield say(language, "doctor.class.skipped", count=table.skipped)
    sizes = table.by_size
    for key, some in (
        ("largest", sizes[:NAMED_CLASSES]),
        ("smallest", sizes[NAMED_CLASSES:][-NAMED_CLASSES:]),
    ):
        if some:
            told = [f"{name} ({count})" for name, count in some]
            yield say(
                language, f"doctor.class.{key}", classes=say(language, "ui.between").join(told)
            )
    for fault in found.faults:
        yield ""
        yield from fault.lines(language, _row_lines(table, fault.shown, language))
    if not found.faults:
        yield say(language, "doctor.none_found")
    yield f"\n{say(language, 'doctor.looked_for')}"
    yield from (f"   {check.said(language)}" for check in found.checks)
    kept = len(table.cleaned.kept)
    if kept < len(table) or len(table.respelled):
        yield f"\n{say(language, 'doctor.class.cleaned', kept=kept, total=len(table))}"


def _row_lines(table: ClassTable, texts: Iterable[int], language: str) -> Iterator[str]:
    for text in texts:
        cells = (table.texts[text - 1], table.names[int(table.of[text - 1])])
        yield row_line(table.row(text), cells, language)


def classes_to_json(
    table: ClassTable,
    found: ClassesExamined,
    fitting: Iterable[Suited],
    language: str,
    seen: SeenClasses | None = None,
) -> dict[str, Any]:
    """The same as plain JSON, with what an encoder showed; rows are those of the table."""
    return {
        "rows": len(table),
        "skipped": table.skipped,
        "columns": table.columns,
        "reading": [note.written(language) for note in reading_notes(table.used)],
        "batch": found.batch,
        "severe": found.severe,
        "alone": found.alone,
        "classes": [{"name": name, "count": count} for name, count in table.by_size],
        "findings": [
            {**fault.to_json(language), "rows": [table.row(text) for text in fault.rows]}
            for fault in found.faults
        ],
        "looked_for": [check.name for check in found.checks],
        "suited": [one.to_json(language) for one in fitting],
        "encoded": seen and seen_classes_to_json(seen),
        "kept": len(table.cleaned.kept),
        "respelled": len(table.respelled),
        "left_out": [
            {"row": table.row(text), "because": name} for text, name in table.cleaned.left_out
        ],
    }
