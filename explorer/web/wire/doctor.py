"""What the server answers the Doctor page."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.runtime.numbers import Real
from explorer.runtime.wire import Setting
from explorer.web.large_files import LargeFile
from explorer.web.wire.doctored import (
    CountedClass,
    ExplainedFinding,
    ExplainedValue,
    FoundCell,
    ReadRun,
    RunFinding,
    SeenBand,
    SeenSharpness,
)


class ToldFinding(ExplainedFinding):
    """The same, with what else is to be said of it, sentence by sentence."""

    beside: list[str]


class Explained(ExplainedValue):
    """What a number means, as `explain_loss_value` answers it."""

    findings: list[ToldFinding]  # type: ignore[misc]


class EvidentRow(TypedDict):
    """A pair that shows a finding, with the row of the table that it stands in."""

    row: int
    first: str
    second: str
    label: Real | None


class DataFinding(TypedDict):
    """What is the matter with a data set: in a sentence, what to do and paste, rows that show it,
    and the link of a scene of Explore with these rows ("" where none fits)."""

    name: str
    severity: Literal["severe", "warning", "note"]
    said: str
    advice: list[str]
    rows: list[EvidentRow]
    scene: str


class EncodedFinding(DataFinding):
    """A finding that takes an encoder, with texts of two pairs that show it."""

    cells: list[FoundCell]


class EncodedData(TypedDict):
    """What only an encoder can tell of a data set, on so many of its pairs; `ranked` are the first
    of those on which it and the labels disagree."""

    encoder: str
    pairs: int
    findings: list[EncodedFinding]
    looked: list[str]
    not_looked: list[str]
    ranked: list[EvidentRow]
    bands: list[SeenBand]
    sharpness: list[SeenSharpness]


class FittingLoss(TypedDict):
    """A loss that can learn from the data, with reasons for and against in sentences, and which of
    the `scenes` shows some of its rows; null where no two fit into a link."""

    loss: str
    reasons: list[str]
    scene: int | None


class ExaminedData(TypedDict):
    """What is the matter with a data set, pairs in so many rows, for a loss in batches of so many
    of these, the worst first; what was looked for, and what was not; all losses that can learn from
    it, and how many of these, the last ones, stand folded; links of scenes of Explore with rows of
    it, which several of the losses share; how many pairs and rows a cleaned table keeps; and how a
    file was read."""

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


class ClassRow(TypedDict):
    """A text, of those read, that shows a finding, with the class that it stands in."""

    row: int
    text: str
    called: str


class ClassFinding(TypedDict):
    """What is the matter with a table of classes, with texts that show it, and the link of a scene
    of Explore with these and others of their classes ("" where none fits)."""

    name: str
    severity: Literal["severe", "warning", "note"]
    said: str
    advice: list[str]
    rows: list[ClassRow]
    scene: str


class FetchedRows(TypedDict):
    """Rows of a data set as a file that the server has, by its content."""

    file: str
    name: str


class ExaminedClasses(TypedDict):
    """What is the matter with a table of texts and their classes in batches of a size, the worst
    first; the share of a batch's rows that are alone of their class; the largest classes, and the
    smallest of the others; the losses that can learn from it, and how many, the last ones, stand
    folded; the link of a scene with rows of it; how many texts stay in the cleaned table, and how
    many have a class of another spelling there; its pairs of one class as a file that the server
    has, null where no loss can; and how the table was read."""

    rows: int
    classes: int
    skipped: int
    columns: dict[str, str]
    alone: float
    largest: list[CountedClass]
    smallest: list[CountedClass]
    findings: list[ClassFinding]
    looked: list[str]
    suited: list[FittingLoss]
    scenes: list[str]
    more: int
    kept: int
    respelled: int
    pairs_file: FetchedRows | None
    file: LargeFile


class DrawnCurve(TypedDict):
    """A curve of a run: packed steps and values."""

    name: str
    steps: str
    values: str


class OtherRun(TypedDict):
    """Another run, its curves, and what its values and the first one's can say of each other."""

    about: list[str]
    level: Real | None
    collapse: float | None
    floor: float | None
    known: dict[str, Setting]
    drawn: list[DrawnCurve]
    findings: list[RunFinding]


class ExaminedRunLog(ReadRun):
    """What is the matter with a run, as `doctor_run` answers it, the curves that are drawn, another
    run beside it, and the numbers of a pasted one as a link carries them."""

    drawn: list[DrawnCurve]
    beside: OtherRun | None
    shared: str


class PastedKind(TypedDict):
    """What was pasted: "numbers", with these as the number's field takes them, a "run" or a
    "table"."""

    kind: Literal["numbers", "run", "table"]
    value: str


class ListedBatch(TypedDict):
    """A batch of a training: its step, its loss there and in its scene, and the link of that."""

    step: int
    called: str
    value: Real
    here: Real | None
    said: str
    scene: str


class KeptBatches(TypedDict):
    """The batches that PrismCallback kept in a folder, by step."""

    batches: list[ListedBatch]
