"""The report on a table of classes, as lines of text and as an answer."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lossprism.explorer.lab.doctor.class_dataset_checks import ClassesExamined
from lossprism.explorer.lab.doctor.class_dataset_checks_by_encoder import (
    EncodedClasses,
    EncodedClassTexts,
    encoded_classes,
)
from lossprism.explorer.lab.doctor.data_report import LeftOut, row_line
from lossprism.explorer.lab.doctor.finding import FoundFault
from lossprism.explorer.lab.doctor.suitable_losses import Suited, WeighedLoss
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.response_parent_classes import Whole, as_answer
from lossprism.explorer.sources.reading_notes import reading_notes

NAMED_CLASSES = 5  # classes, the largest and the smallest


def class_lines(
    table: ClassTable, classes_examined: ClassesExamined, language: str
) -> Iterator[str]:
    """Yield the report of a table of classes for the terminal."""
    whole = {"count": len(table), "classes": len(table.names), "batch": classes_examined.batch}
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
            sizes_by_name = [f"{name} ({count})" for name, count in some]
            yield say(
                language,
                f"doctor.class.{key}",
                classes=say(language, "ui.between").join(sizes_by_name),
            )
    for fault in classes_examined.faults:
        yield ""
        yield from fault.lines(language, _row_lines(table, fault.shown, language))
    if not classes_examined.faults:
        yield say(language, "doctor.none_found")
    yield f"\n{say(language, 'doctor.looked_for')}"
    yield from (f"   {check.written(language)}" for check in classes_examined.checks)
    kept = len(table.cleaned.kept)
    if kept < len(table) or len(table.respelled):
        yield f"\n{say(language, 'doctor.class.cleaned', kept=kept, total=len(table))}"


def _row_lines(table: ClassTable, texts: Iterable[int], language: str) -> Iterator[str]:
    for text in texts:
        cells = (table.texts[text - 1], table.names[int(table.of[text - 1])])
        yield row_line(table.row(text), cells, language)


@dataclass(frozen=True)
class CountedClass(Whole):
    """A class, and how many texts it has."""

    name: str
    count: int


@dataclass(frozen=True)
class DoctoredClasses(Whole):
    """The findings about texts and their classes, the worst first."""

    rows: int
    skipped: int
    columns: dict[str, str]
    reading: list[str]
    batch: int
    severe: bool
    alone: float
    classes: list[CountedClass]
    findings: list[FoundFault]
    looked_for: list[str]
    suited: list[WeighedLoss]
    encoded: EncodedClasses | None
    kept: int
    respelled: int
    left_out: list[LeftOut]


def classes_answer(
    table: ClassTable,
    classes_examined: ClassesExamined,
    fitting: Iterable[Suited] = (),
    language: str = "en",
    seen: EncodedClassTexts | None = None,
) -> DoctoredClasses:
    """The same as an answer, with what an encoder showed; rows are those of the table."""
    return as_answer(
        DoctoredClasses,
        classes_examined,
        skipped=table.skipped,
        columns=table.columns,
        reading=[note.written(language) for note in reading_notes(table.used)],
        classes=counted_classes(table),
        findings=[
            fault.answered(FoundFault, language, rows=[table.row(text) for text in fault.rows])
            for fault in classes_examined.faults
        ],
        looked_for=[check.name for check in classes_examined.checks],
        suited=WeighedLoss.of(fitting, language),
        encoded=seen and encoded_classes(seen),
        kept=len(table.cleaned.kept),
        respelled=len(table.respelled),
        left_out=[LeftOut(table.row(text), name) for text, name in table.cleaned.left_out],
    )


def counted_classes(table: ClassTable) -> list[CountedClass]:
    """The classes, the largest first."""
    return [CountedClass(name, count) for name, count in table.by_size]
