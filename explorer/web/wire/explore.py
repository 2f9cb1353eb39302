"""What the server answers the Explore page."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.core.marks import Planted, SharedText
from explorer.core.remarks import Statistics as Statistics
from explorer.core.scenario import Reading
from explorer.lab.training.trials import Offer
from explorer.web.wire.facts import Loss
from explorer.web.wire.shared import (
    Batch,
    Encoded,
    Picture,
    Problem,
    ReadingNote,
    Real,
    Scenario,
    SkippedRow,
)


class SceneBatch(Batch):
    """The batch of a scene: `scale` is the λ advised for it, `sigma` the spread of its scores;
    `same_texts`, `planted` and what a teacher gave, if it did, are marked at its pairs."""

    scale: tuple[float, float] | None
    sigma: float
    foreign: bool
    editable: bool
    same_texts: list[SharedText]
    planted: list[Planted]
    teacher: list[float | None] | None


class _Explored(TypedDict):
    picture: Picture


class Explored(_Explored, total=False):
    """`batch`, `skipped`, `limited` where the page has another batch; `rows` names those sent."""

    batch: SceneBatch
    skipped: list[SkippedRow]
    limited: bool
    rows: str


class _Unexplored(TypedDict):
    error: Problem
    skipped: list[SkippedRow]


class Unexplored(_Unexplored, total=False):
    """A scene that cannot be explored, and which of its rows cannot be used."""

    rows: str


class OwnFile(TypedDict):
    """The file of a loss of the user's own as it was read last, `read_at` seconds since 1970."""

    file: str
    digest: str
    read_at: float
    loss: Loss


class Own(TypedDict):
    """The file, and why the loss in it cannot be used."""

    own: OwnFile
    problem: Problem | None


class OwnText(TypedDict):
    """A file to be edited; the digest names the content."""

    file: str
    text: str
    digest: str


class OwnWritten(TypedDict):
    """The digest of what stands in the file now."""

    digest: str


class SendRows(TypedDict):
    """The rows of that name are not held: they are to be sent again."""

    send_rows: Literal[True]


class FileRead(Encoded):
    """The pairs that are used of a file, and how it was read; `file` is its digest."""

    name: str
    file: str
    rows: list[tuple[str, str, str]]
    teacher: list[tuple[str, str, str]]
    guided: list[tuple[str, str]]
    reading: Reading
    columns: list[str]
    chosen: dict[str, str]
    notes: list[ReadingNote]
    header: bool


class FileUndecided(Encoded):
    """A file whose columns, or whose encoding, are to be chosen from."""

    error: Problem
    file: str
    columns: list[str]
    chosen: dict[str, str]
    header: bool


class SendFile(TypedDict):
    """The file of that digest is not held: it is to be sent again."""

    send_file: Literal[True]


class OverBatches(TypedDict):
    """The figures of the strip over many batches: of each its name and a value for each batch."""

    figures: dict[str, list[Real]]


class Link(TypedDict):
    """The scene as the end of an address."""

    link: str


class OpenedScene(TypedDict):
    """The scene of a link or of a scene file."""

    scenario: Scenario


class Swept(TypedDict):
    """The loss, its gradient and its active terms along the range of one parameter."""

    parameter: str
    logarithmic: bool
    values: list[float]
    loss: list[Real]
    gradient: list[Real]
    active: list[Real] | None
    advised: tuple[float, float] | None
    within: list[tuple[float, float]] | None
    trials: Offer | None


class Opinion(TypedDict):
    """What another model makes of a batch: the label that would fit each pair's place, [N]."""

    model: str
    fitting: list[float]
