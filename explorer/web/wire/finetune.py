"""What the server answers the Fine-tune page."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.core.remarks import Remark
from explorer.lab.large.drawing import LabelRules
from explorer.lab.training.trials import Offer
from explorer.lab.training.verdict import Difference, Gain
from explorer.locale import Word
from explorer.runtime.problem import Problem
from explorer.runtime.wire import Setting
from explorer.sources.reading_notes import ReadingNote
from explorer.web.wire.runs import FollowedRun, RunStatus


class Encoded(TypedDict):
    """In which encoding a file was read ("" where that cannot be told), and those it could be read
    in, the likeliest first, each with how its first words would read."""

    encoding: str
    encodings: list[tuple[str, str]]


class Outlook(TypedDict):
    """Why a plan cannot be trained, or in how many steps on how many examples, of which `form`;
    `pace` names the time that a step takes."""

    refused: Problem | None
    examples: int
    form: Literal["pairs", "classes", "triplets", "lists"]
    steps: int
    pace: str


class Repetition(Outlook):
    """The source's experiment on the same data: so many runs."""

    count: int


class _ChosenThere(TypedDict):
    loss: str
    convention: str
    parameters: dict[str, Setting]
    threshold: float | None
    label_range: tuple[float, float] | None
    extra_negatives: bool


class ChosenThere(_ChosenThere, total=False):
    """What the scene of a link says beside its data: `twins` where it leaves them out, and what
    models it names."""

    twins: Literal["apart", "leave_out", "keep"]
    guide: str
    teacher_model: str


class Checked(Outlook):
    """What the data holds, which losses can learn from it, how long the run will be; within which
    Spearman, above and below 0, so many held-out pairs stay `by_chance`, at this `level`. Whether a
    teacher's scores came with the data is `taught`, of how many pairs a model is asked `asked`;
    whether a guide's vectors did, which no trainer reads, `guide_unread`. `notes` say how the
    columns of a data set of the hub were read; those of a file stand below it."""

    repetition: Repetition
    of_scene: ChosenThere | None
    sample: list[tuple[str, str, float]]
    losses: dict[str, Problem | None]
    train: int
    held_out: int
    by_chance: float | None
    level: str
    labels: tuple[float, float, int]
    labelled: bool
    taught: bool
    asked: int
    guide_unread: bool
    rules: LabelRules
    skipped: int
    notes: list[ReadingNote]
    shared: int
    rate: float
    trials: list[Offer]
    minutes: float | None


class Pace(TypedDict, total=False):
    """Seconds, measured here; nothing of it while a run trains."""

    seconds_to_load: float
    seconds_per_step: float
    seconds_per_evaluation: float


class RunGone(TypedDict):
    """A run that cannot be followed."""

    error: Problem


class _Watched(TypedDict):
    runs: dict[str, FollowedRun | RunGone]


class Watched(_Watched, total=False):
    """The runs that are followed, and, asked for, how all are doing."""

    listed: list[RunStatus]


class Remarked(TypedDict):
    """What is striking about a run, and, once it has ended, what it gained."""

    remarks: list[Remark]
    gain: Gain | None
    level: str


class Spread(TypedDict):
    """A figure over seeds; one seed has no spread."""

    mean: float
    spread: float | None
    values: list[float]


class GroupDifference(TypedDict):
    """How far group b lies above group a in a figure."""

    a: str
    b: str
    figure: str
    between: Difference


class Group(TypedDict):
    """Runs that differ in the seed alone."""

    label: str
    loss: str
    parameters: dict[str, Setting]
    runs: list[str]
    seeds: list[int]
    figures: dict[str, Spread]
    leading: Literal["spearman", "accuracy_at_1"]
    gain: Gain | None


class MovedPair(TypedDict):
    """A held-out pair and its ranks, 1 for the highest score."""

    first: str
    second: str
    label: float
    score_before: float
    score_after: float
    rank_before: float
    rank_after: float
    label_rank: float


class Neighbour(TypedDict):
    """A sentence nearby."""

    sentence: str
    cosine: float


class Neighbours(TypedDict):
    """The nearest sentences before and after; `kept` of them stayed the same."""

    sentence: str
    before: list[Neighbour]
    after: list[Neighbour]
    kept: int


class OnFile(TypedDict):
    """A file that runs were measured on: of `total` rows `skipped` could not be used; `shared` of
    its `count` pairs have a sentence that one of the runs was trained on."""

    name: str
    count: int
    total: int
    skipped: int
    sampled: bool
    shared: int


class _Compared(TypedDict):
    pairs: Word
    unseen: OnFile | None
    groups: list[Group]
    differences: list[GroupDifference]
    verdict: list[Remark]
    level: str
    least_seeds: int


class Compared(_Compared, total=False):
    """Finished runs beside each other, and what the first of them moved."""

    run: str
    moved: list[MovedPair]
    neighbours: list[Neighbours]


class Upload(Encoded):
    """A file that was handed in: its token, its columns, which of them serve, of which nothing is
    read, how many pairs."""

    file: str
    name: str
    columns: list[str]
    chosen: dict[str, str]
    unread: list[str]
    used: int
    labelled: bool
    inference: bool
    notes: list[ReadingNote]
    total: int


class UploadUndecided(Encoded):
    """A file whose columns, or whose encoding, are to be chosen from."""

    file: str
    name: str
    problem: Problem
    columns: list[str]
    chosen: dict[str, str]
