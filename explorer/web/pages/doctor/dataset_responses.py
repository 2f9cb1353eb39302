"""The answers of the check of a dataset: findings, rows that show them, and losses that suit."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from lossprism.explorer.lab.doctor.class_dataset_checks import examine_classes
from lossprism.explorer.lab.doctor.classes_report import (
    NAMED_CLASSES,
    CountedClass,
    counted_classes,
)
from lossprism.explorer.lab.doctor.data_report import (
    SeenBand,
    SeenSharpness,
    bands_of,
    cells_by_row,
    check_sentences,
    gap_sentence,
    sharpness_answer,
)
from lossprism.explorer.lab.doctor.dataset_reader import Read
from lossprism.explorer.lab.doctor.dataset_row_scenarios import (
    class_finding_places,
    class_rows_link,
    class_sample,
    finding_places,
    keeps_lists,
    paired,
    rows_link,
    sample_places,
)
from lossprism.explorer.lab.doctor.finding import Cell, Fault, Severity
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import (
    MAX_SHOWN_PAIRS,
    EncodedPairs,
    examine_encoded,
    ranked,
)
from lossprism.explorer.lab.doctor.reference_values import ConfiguredLoss
from lossprism.explorer.lab.doctor.suitable_losses import Suited, suited, suited_to_classes
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.runtime import jobs, uploads
from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.jobs import Jobs, Report
from lossprism.explorer.runtime.number_format import Real, json_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.sources.character_encodings import encoding_choices
from lossprism.explorer.sources.column_roles import NO_SCORE, TEACHER
from lossprism.explorer.sources.reading_notes import reading_notes
from lossprism.explorer.web.page_requests import started_once
from lossprism.explorer.web.pages.doctor.data_source import Source
from lossprism.explorer.web.pages.large.uploaded_file_description import (
    LargeFile,
    LargeFileUndecided,
    described,
)

PAIR_SECONDS = 1e-4  # of a processor, to examine a pair
CLASS_LOSS = "supcon"  # under which a finding about classes is shown
EVIDENT_LETTERS = 600  # of a text that shows a finding
UNFOLDED_LOSSES = 1  # losses that can learn from the data, before the others, which stand folded


@dataclass(frozen=True)
class EvidentRow:
    """A pair that shows a finding, with the row of the table that it stands in."""

    row: int
    first: str
    second: str
    label: Real | None


@dataclass(frozen=True)
class ClassRow:
    """A text, of those read, that shows a finding, with the class that it stands in."""

    row: int
    text: str
    called: str


@dataclass(frozen=True)
class DataFinding:
    """A finding about a dataset: its sentence, the advice with code to paste, rows, or texts of
    two pairs, that show it, and the link of a scenario with these ("" where none fits)."""

    name: str
    severity: Severity
    said: str
    advice: list[str]
    rows: list[EvidentRow | ClassRow]
    cells: list[Cell]
    scene: str


@dataclass(frozen=True)
class EncodedData:
    """An encoder's findings about `pairs` of a dataset; `ranked` are the first of those on which
    it and the labels disagree."""

    encoder: str
    pairs: int
    findings: list[DataFinding]
    looked: list[str]
    not_looked: list[str]
    ranked: list[EvidentRow]
    bands: list[SeenBand]
    sharpness: list[SeenSharpness]
    gap: str | None


@dataclass(frozen=True)
class FittingLoss:
    """A loss that can learn from the data, with reasons for and against in sentences, and which of
    the `scenes` shows some of its rows; null where no two fit into a link."""

    loss: str
    reasons: list[str]
    scene: int | None


@dataclass(frozen=True)
class ExaminedData:
    """Findings about a dataset, pairs in rows, for a loss in batches of a size, the worst first.

    With the checks made and not made; the losses that can learn from it, and the number of these,
    the last ones, that stand folded; links of scenarios with rows of it, which several of the
    losses share; the numbers of pairs and rows of the cleaned table; and the reading of the file.
    """

    pairs: int
    rows: int
    findings: list[DataFinding]
    looked: list[str]
    not_looked: list[str]
    suited: list[FittingLoss]
    scenes: list[str]
    more: int
    kept: int
    kept_rows: int
    file: LargeFile | None


@dataclass(frozen=True)
class FetchedRows:
    """Rows of a dataset as a file that the server has, by its content."""

    file: str
    name: str


@dataclass(frozen=True)
class ExaminedClasses:
    """Findings about a table of texts and their classes in batches of a size, the worst first.

    The share of a batch's rows that are alone of their class; the largest classes, and the smallest
    of the others; the losses that can learn from it, and the number of these, the last ones, that
    stand folded; the link of a scenario with rows of it; the number of texts in the cleaned table,
    and of those with a class of another spelling; its pairs of one class as a file of the server,
    null where no loss can; and the reading of the table.
    """

    rows: int
    classes: int
    skipped: int
    columns: dict[str, str]
    alone: float
    largest: list[CountedClass]
    smallest: list[CountedClass]
    findings: list[DataFinding]
    looked: list[str]
    suited: list[FittingLoss]
    scenes: list[str]
    more: int
    kept: int
    respelled: int
    pairs_file: FetchedRows | None
    file: LargeFile


@dataclass(frozen=True)
class UndecidedData(LargeFileUndecided):
    """A file whose columns, or whose encoding, are to be chosen from, and why."""

    problem: Problem


def examined(
    read: Read,
    *,
    source: Source,
    loss: ConfiguredLoss,
    batch: int,
    tokens: int | None,
    margin: float | None,
    language: str,
) -> ExaminedData:
    """Return the findings about pairs, and the losses that can learn from them."""
    profile = read.profile
    with jobs.light_work_turn(PAIR_SECONDS * len(profile)):
        examination = examine(profile, read.spec(loss), batch, most_tokens=tokens, margin=margin)
        fitting = suited(profile, batch)
        losses, scenarios = _suited(read, fitting, language)
        looked, not_looked = check_sentences(examination.checks, language)
        return as_answer(
            ExaminedData,
            examination,
            findings=[_finding(read, fault, loss.name, language) for fault in examination.faults],
            looked=looked,
            not_looked=not_looked,
            suited=losses,
            scenes=scenarios,
            more=max(0, len(fitting) - UNFOLDED_LOSSES),
            kept=len(examination.cleaned.kept),
            file=_file(read, source),
        )


def encoded(
    read: Read, seen: EncodedPairs, loss: ConfiguredLoss, batch: int, language: str
) -> EncodedData:
    """Return an encoder's findings about pairs."""
    spec = read.spec(loss)
    faults, checks = examine_encoded(read.profile, seen, spec, batch)
    looked, not_looked = check_sentences(checks, language)
    return EncodedData(
        seen.encoder,
        len(seen),
        [_finding(read, fault, loss.name, language) for fault in faults],
        looked,
        not_looked,
        [_row(read, one.pair) for one in ranked(seen)[:MAX_SHOWN_PAIRS]],
        bands_of(seen, language),
        sharpness_answer(seen, spec, batch, language),
        gap_sentence(seen, language),
    )


def examined_classes(
    table: ClassTable, source: Source, batch: int, language: str
) -> ExaminedClasses:
    """Return the findings about texts and their classes, and the losses that can learn from
    them."""
    examination, fitting = examine_classes(table, batch), suited_to_classes(table, batch)
    rows = class_rows_link(table, class_sample(table), CLASS_LOSS)
    losses, scenarios = _with_links(fitting, [rows] * len(fitting), language)
    sizes = counted_classes(table)
    return ExaminedClasses(
        rows=len(table),
        classes=len(table.names),
        skipped=table.skipped,
        columns=table.columns,
        alone=examination.alone,
        largest=sizes[:NAMED_CLASSES],
        smallest=sizes[NAMED_CLASSES:][-NAMED_CLASSES:],
        findings=[
            fault.answered(
                DataFinding,
                language,
                rows=[_class_row(table, row) for row in fault.shown],
                cells=[],
                scene=_class_link(table, fault),
            )
            for fault in examination.faults
        ],
        looked=check_sentences(examination.checks, language)[0],
        suited=losses,
        scenes=scenarios,
        more=max(0, len(fitting) - UNFOLDED_LOSSES),
        kept=len(table.cleaned.kept),
        respelled=len(table.respelled),
        pairs_file=_paired_file(table, source) if fitting else None,
        file=_class_file(table, source),
    )


def _class_link(table: ClassTable, fault: Fault) -> str:
    """Texts of a finding, and of other classes."""
    places = class_finding_places(table, fault.shown)
    return class_rows_link(table, places, CLASS_LOSS) if fault.rows else ""


_paired = Jobs(most=2)


def _paired_file(table: ClassTable, source: Source) -> FetchedRows:
    """The texts as pairs of one class, a file as if somebody had handed it in: Fine-tune takes
    pairs, and joins them to classes again."""
    name = f"{source.stem}-pairs.tsv"

    def work(report: Report) -> str:
        return uploads.put(paired(table), name)

    job = started_once(
        _paired, (source, visitor()), work, lambda kept: uploads.find(kept) is not None
    )
    return FetchedRows(job.result(), name)


def _class_file(table: ClassTable, source: Source) -> LargeFile:
    """Describe the reading of the table, as of a file of pairs."""
    return LargeFile(
        encoding=table.encoding,
        encodings=encoding_choices(source.content, table.encoding, source.encoding),
        columns=table.named,
        chosen=table.columns,
        header=table.header,
        total=len(table) + table.skipped,
        used=len(table),
        limited=False,
        labelled=True,
        inference=False,
        notes=reading_notes(table.used),
        skipped=0,
        reasons=[],
    )


def _class_row(table: ClassTable, row: int) -> ClassRow:
    called = table.names[int(table.of[row - 1])]
    return ClassRow(table.row(row), _clipped(table.texts[row - 1]), _clipped(called))


def _file(read: Read, source: Source) -> LargeFile | None:
    if read.file is None:
        return None
    description = described(read.file, source.content, source.encoding)
    # A column of a teacher may be chosen, too.
    chosen = {**description.chosen, TEACHER: description.chosen.get(TEACHER, NO_SCORE)}
    return dataclasses.replace(description, chosen=chosen)


def _finding(read: Read, fault: Fault, loss: str, language: str) -> DataFinding:
    """A finding, with the first of the cells that show it, or of the rows."""
    in_cells = dict.fromkeys(row for cell in fault.cells for row in (cell.row, cell.other))
    places = finding_places(read.profile, in_cells or fault.shown, loss)
    cells = [
        dataclasses.replace(cell, first=_clipped(cell.first), second=_clipped(cell.second))
        for cell in cells_by_row(read, fault)
    ]
    return fault.answered(
        DataFinding,
        language,
        rows=[] if cells else [_row(read, pair) for pair in fault.shown],
        cells=cells,
        scene=rows_link(read.profile, places, loss) if fault.rows else "",
    )


def _clipped(text: str) -> str:
    """A text of the evidence as far as it is shown."""
    return text if len(text) <= EVIDENT_LETTERS else f"{text[:EVIDENT_LETTERS].rstrip()} …"


def _row(read: Read, pair: int) -> EvidentRow:
    columns, at = read.profile.columns, pair - 1
    label = float(read.profile.labels[at]) if read.profile.labelled else None
    sides = _clipped(columns.first[at]), _clipped(columns.second[at])
    return EvidentRow(read.row(pair), *sides, json_number(label))


def _suited(
    read: Read, fitting: Sequence[Suited], language: str
) -> tuple[list[FittingLoss], list[str]]:
    """The losses, each with the place of its rows among the scenes: those of losses that keep
    lists, and those of all others."""
    kinds = [keeps_lists(read.profile, one.loss) for one in fitting]
    first_of = {kinds[at]: fitting[at].loss for at in reversed(range(len(fitting)))}
    scenarios = {
        kind: rows_link(read.profile, sample_places(read.profile, loss), loss)
        for kind, loss in first_of.items()
    }
    return _with_links(fitting, [scenarios[kind] for kind in kinds], language)


def _with_links(
    fitting: Sequence[Suited], links: Sequence[str], language: str
) -> tuple[list[FittingLoss], list[str]]:
    """The losses, each with the place of its link among those that differ; and these."""
    scenarios = [*dict.fromkeys(filter(None, links))]
    losses = [
        FittingLoss(one.loss, [*one.written(language)], scenarios.index(link) if link else None)
        for one, link in zip(fitting, links, strict=True)
    ]
    return losses, scenarios
