"""Report on a dataset, and on it under an encoder: lines for a terminal, and the API's answer."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import family_of
from lossprism.explorer.lab.doctor.dataset_reader import Read
from lossprism.explorer.lab.doctor.duplicate_collisions import Collisions
from lossprism.explorer.lab.doctor.finding import Cell, Fault, FoundFault
from lossprism.explorer.lab.doctor.hard_negatives_mined_to_file import MinedNegatives
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import (
    is_of_library,
    possible_losses,
)
from lossprism.explorer.lab.doctor.pair_dataset_checks import Check, Examined
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import (
    MAX_SHOWN_PAIRS,
    Band,
    EncodedPairs,
    Sharpness,
    examine_encoded,
    ranked,
    sharpness,
)
from lossprism.explorer.lab.doctor.suitable_losses import Suited, WeighedLoss
from lossprism.explorer.locale import say, spelled, title_word
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.explorer.runtime.response_parent_classes import Whole, as_answer
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.reading_notes import reading_notes
from lossprism.losses import LOSSES, LossSpec

NAMED_LOSSES = 8  # printed losses that can learn from the data; the JSON has all
MAX_TEXT_LETTERS = 60  # printed of a text


def data_lines(read: Read, examined: Examined, called: str, language: str) -> Iterator[str]:
    """Yield the report of a dataset for the terminal; `called` is the user's name of the loss."""
    loss = title_word(LOSSES[examined.loss])
    yield say(language, "doctor.examined", count=examined.pairs, loss=loss, batch=examined.batch)
    if examined.rows < examined.pairs:
        yield say(language, "doctor.in_rows", rows=examined.rows, batch=examined.batch)
    unread = labels_unread(read, called, language)
    yield from filter(None, (*columns_read(read, language), *_skipped(read, language), unread))
    for fault in examined.faults:
        yield ""
        yield from fault.lines(language, row_lines(read, fault.shown, language))
    if not examined.faults:
        yield say(language, "doctor.none_found")
    keys = ("doctor.looked_for", "doctor.not_looked_for")
    for key, sentences in zip(keys, check_sentences(examined.checks, language), strict=True):
        yield f"\n{say(language, key)}"
        yield from (f"   {sentence}" for sentence in sentences)
    if cleaned := cleaned_line(examined, language):
        yield f"\n{cleaned}"


def _skipped(read: Read, language: str) -> Iterator[str]:
    if read.file is not None and read.file.skipped[0]:
        count, ((row, problem), *_) = read.file.skipped
        reason = say(language, problem.key, **problem.values)
        yield say(language, "doctor.skipped", count=count, row=row, reason=reason)


def suited_lines(suitable: tuple[Suited, ...], none: str, language: str) -> Iterator[str]:
    """Yield the losses that can learn from the data, the first ones with their reasons. `none` is
    the end of the sentence key for no such loss."""
    title = say(language, f"doctor.suited.{'title' if suitable else none}")
    yield f"\n{title}"
    for one in suitable[:NAMED_LOSSES]:
        yield f"{spelled(language, 'loss', title_word(LOSSES[one.loss]))} ({one.loss})"
        yield from (f"   {reason}" for reason in one.written(language))
    if len(suitable) > NAMED_LOSSES:
        yield say(language, "doctor.suited_more", count=len(suitable) - NAMED_LOSSES)


def cleaned_line(examined: Examined, language: str) -> str:
    """Describe the part of the dataset that cleaning keeps; "" if it keeps all."""
    kept, total = len(examined.cleaned.kept), examined.pairs
    if kept == total:
        return ""
    if examined.rows == total:
        return say(language, "doctor.cleaned", kept=kept, total=total)
    rows = {"rows": examined.kept_rows, "all": examined.rows}
    return say(language, "doctor.cleaned_rows", kept=kept, total=total, **rows)


def labels_unread(read: Read, loss: str, language: str = "en") -> str:
    """Warn that the named library class ignores the labels, with the number of negatives that it
    takes as positives; "" if it reads them."""
    profile = read.profile
    below = len(profile) - profile.positives
    if not below or profile.of_triplets or not is_of_library(loss):
        return ""
    if any(family_of(one) != "keys" for one in possible_losses(Known(loss=loss))):
        return ""
    values = {"count": below, "share": percent(below / len(profile))}
    values["threshold"] = display_number(profile.threshold)
    return say(language, "doctor.labels_unread", loss=loss.strip(), **values)


def row_lines(read: Read, pairs: Iterable[int], language: str) -> Iterator[str]:
    """Yield the rows that show a finding: their numbers and the beginnings of their texts."""
    profile = read.profile
    for pair in pairs:
        texts = [side[pair - 1] for side in (profile.columns.first, profile.columns.second)]
        label = [display_number(float(profile.labels[pair - 1]))] if profile.labelled else []
        yield row_line(read.row(pair), [*texts, *label], language)


def row_line(row: int, cells: Iterable[str], language: str) -> str:
    """Format a row as one printable line."""
    shown = " · ".join(_on_one_line(cell) for cell in cells)
    return say(language, "doctor.row", row=row, cells=shown)


def _on_one_line(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return shortened(" ".join(plain.split()), MAX_TEXT_LETTERS)


def columns_read(read: Read, language: str) -> list[str]:
    """Describe the roles of the file's columns."""
    notes = () if read.file is None else reading_notes(read.file)
    return [note.written(language) for note in notes]


# ---- With an encoder -----------------------------------------------------------------------------


def encoded_lines(
    read: Read, seen: EncodedPairs, spec: LossSpec, batch: int, language: str
) -> Iterator[str]:
    """Yield the report of the encoder's findings for the terminal."""
    faults, _ = examine_encoded(read.profile, seen, spec, batch)
    whole = {"encoder": seen.encoder, "count": len(seen), "total": len(read.profile)}
    yield f"\n{say(language, 'doctor.with_encoder', **whole)}"
    for fault in faults:
        yield ""
        cells = [
            f"{display_number(cell.cosine, 3)}  {cell.first}  ·  {cell.second}"
            for cell in fault.cells
        ]
        yield from fault.lines(language, cells or row_lines(read, fault.shown, language))
    if not faults:
        yield say(language, "doctor.none_found_encoded")
    if suspects := ranked(seen):
        yield f"\n{say(language, 'ui.suspects')} ({len(suspects)})"
        yield say(language, "ui.suspects_note")
        first = [one.pair for one in suspects[:MAX_SHOWN_PAIRS]]
        yield from (f"   {line}" for line in row_lines(read, first, language))
    yield f"\n{say(language, 'doctor.bands')}"
    yield from (f"   {band.written(language)}" for band in seen.bands)
    if gap := gap_sentence(seen, language):
        yield f"\n{gap}"
    if sharp := sharpness_of(seen, spec, batch):
        yield f"\n{say(language, 'doctor.sharpnesses', others=batch - 1)}"
        yield from (f"   {one.written(batch, language)}" for one in sharp)


def gap_sentence(seen: EncodedPairs, language: str) -> str | None:
    """Report the gap between the vectors of both sides; None without one."""
    if seen.gap is None:
        return None
    return say(language, "remark.modality_gap", gap=display_number(seen.gap, 3))


def sharpness_of(seen: EncodedPairs, spec: LossSpec, batch: int) -> tuple[Sharpness, ...]:
    """Return the sharpness of temperatures for a loss with in-batch negatives; () for others."""
    return sharpness(seen, batch) if spec.negatives_of_batch else ()


# ---- Answers -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SeenFault(FoundFault):
    """A finding that needs an encoder, with the texts that show it."""

    cells: list[Cell]


@dataclass(frozen=True)
class SeenBand(Band, Whole):
    """Cosines of the pairs of a label, or of a range of labels."""

    said: str


@dataclass(frozen=True)
class SeenSharpness(Sharpness, Whole):
    """A temperature with the number of negatives of a batch that carry weight at it."""

    said: str


@dataclass(frozen=True)
class RankedRow(Whole):
    """A row with the share of its comparisons that its label contradicts, and a fitting label."""

    row: int
    rate: float
    fitting: float


@dataclass(frozen=True)
class SeenData(Whole):
    """The encoder's findings about `pairs`; `ranked` are rows on which encoder and label disagree,
    the worst first."""

    encoder: str
    pairs: int
    findings: list[SeenFault]
    looked: list[str]
    not_looked: list[str]
    ranked: list[RankedRow]
    bands: list[SeenBand]
    sharpness: list[SeenSharpness]
    gap: str | None


@dataclass(frozen=True)
class LeftOut(Whole):
    """A row that the cleaned table lacks wholly or in part, and the name of the fault."""

    row: int
    because: str


@dataclass(frozen=True)
class DoctoredData(Whole):
    """The findings about a dataset, the worst first."""

    pairs: int
    rows: int
    skipped: int
    columns: dict[str, str]
    loss: str
    batch: int
    severe: bool
    reading: list[str]
    labels_unread: str
    findings: list[FoundFault]
    looked_for: list[str]
    met: Collisions
    suited: list[WeighedLoss]
    encoded: SeenData | None
    mined: MinedNegatives | None
    kept: int
    kept_rows: int
    left_out: list[LeftOut]


def data_answer(
    read: Read,
    examined: Examined,
    fitting: Iterable[Suited] = (),
    language: str = "en",
    encoded: SeenData | None = None,
    called: str = "",
    mined: MinedNegatives | None = None,
) -> DoctoredData:
    """Return the findings about a dataset for the command and `doctor_data`.

    Rows are numbers of the table; `called` is the user's name of the loss.
    """
    left_out = dict.fromkeys((read.row(one), because) for one, because in examined.cleaned.left_out)
    return as_answer(
        DoctoredData,
        examined,
        skipped=read.file.skipped[0] if read.file else 0,
        columns=read.file.chosen if read.file else {},
        reading=columns_read(read, language),
        labels_unread=labels_unread(read, called, language),
        findings=[
            fault.answered(FoundFault, language, rows=_rows(read, fault.rows))
            for fault in examined.faults
        ],
        looked_for=[check.name for check in examined.checks if check.made],
        suited=WeighedLoss.of(fitting, language),
        encoded=encoded,
        mined=mined,
        kept=len(examined.cleaned.kept),
        left_out=[LeftOut(row, because) for row, because in left_out],
    )


def encoded_answer(
    read: Read, seen: EncodedPairs, spec: LossSpec, batch: int, language: str = "en"
) -> SeenData:
    """Return an encoder's findings about a dataset, the worst first, with its checks, ranked rows,
    cosines by label, and the sharpness of temperatures."""
    faults, checks = examine_encoded(read.profile, seen, spec, batch)
    made, unmade = check_sentences(checks, language)
    return SeenData(
        encoder=seen.encoder,
        pairs=len(seen),
        findings=[
            fault.answered(
                SeenFault, language, rows=_rows(read, fault.rows), cells=cells_by_row(read, fault)
            )
            for fault in faults
        ],
        looked=made,
        not_looked=unmade,
        ranked=[RankedRow(read.row(one.pair), one.rate, one.fitting) for one in ranked(seen)],
        bands=bands_of(seen, language),
        sharpness=sharpness_answer(seen, spec, batch, language),
        gap=gap_sentence(seen, language),
    )


def check_sentences(checks: Iterable[Check], language: str) -> tuple[list[str], list[str]]:
    """Describe the checks that were made, and those that were not, with the reasons."""
    made, unmade = (
        [check.written(language) for check in checks if check.made is made]
        for made in (True, False)
    )
    return made, unmade


def bands_of(seen: EncodedPairs, language: str) -> list[SeenBand]:
    return [as_answer(SeenBand, band, said=band.written(language)) for band in seen.bands]


def sharpness_answer(
    seen: EncodedPairs, spec: LossSpec, batch: int, language: str
) -> list[SeenSharpness]:
    sharpnesses = sharpness_of(seen, spec, batch)
    return [as_answer(SeenSharpness, one, said=one.written(batch, language)) for one in sharpnesses]


def cells_by_row(read: Read, fault: Fault) -> list[Cell]:
    """Return the texts that show a finding, with their rows of the table."""
    return [
        replace(cell, row=read.row(cell.row), other=read.row(cell.other)) for cell in fault.cells
    ]


def _rows(read: Read, pairs: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(map(read.row, pairs)))
