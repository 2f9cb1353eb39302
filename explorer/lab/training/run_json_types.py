"""A training run as JSON: its plan, the records of its log, its results and its status.

Each file of a run folder is read as one of these types (`run_file_reader`), and answers are made of
them. An entry that earlier versions did not write has the default that stands for it.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Literal

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.runtime.response_parent_classes import Sparse, Whole

RunStage = Literal[
    "queued",
    "loading",
    "training",
    "paused",
    "saving",
    "finished",
    "stopped",
    "failed",
    "interrupted",
]
RowForm = Literal["pairs", "classes", "triplets", "lists"]  # of the training rows
LoadedPart = Literal["libraries", "teacher", "encoder", "held_out"]
# Bounds of whole numbers, and numbers that may be NaN or infinite, as in a run that diverged.
ANY_STEP = {"least": -1}  # −1 stands for a resumed run that had no checkpoint
PROCESS = {"least": 1, "most": 2**31 - 1}
SCORE = {"finite": False}


@dataclass(frozen=True, kw_only=True)
class RecordedData:
    """Source of the pairs of a run; the pairs themselves stay with the server."""

    source: str
    example: str
    triplets: bool
    file: str
    name: str
    columns: list[tuple[str, str]]
    encoding: str
    hub: str
    split: str
    held_out_file: str
    held_out_name: str
    held_out_share: float
    alternatives: list[str]
    augment: list[str]
    most: int


@dataclass(frozen=True, kw_only=True)
class RecordedPlan:
    """Everything that decides a run."""

    data: RecordedData
    encoder: str
    kind: Literal["bi", "cross"]
    vocabulary: int
    dimension: int
    query_prompt: str
    document_prompt: str
    guide: str
    teacher_model: str
    loss: str
    convention: str
    parameters: dict[str, Setting]
    own_loss: str
    similarity: Literal["", "cosine", "dot"]
    threshold: float | None
    label_range: tuple[float, float] | None
    extra_negatives: bool
    twins: Literal["apart", "leave_out", "keep"]
    sampler: Literal["", "in_order", "shuffled", "no_duplicates", "group_by_label"]
    steps: int
    epochs: float
    batch_size: int
    learning_rate: float
    schedule: Literal["linear", "cosine", "source"]
    warmup: float
    weight_decay: float
    clipping: float
    seed: int
    layers: int = field(metadata=ANY_STEP)
    lora: int
    bf16: bool
    evaluations: int
    checkpoint_seconds: float


@dataclass(frozen=True)
class RecordedRules:
    """The rules that the labels of a run are read by."""

    threshold: float
    label_range: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Contents of config.json: the plan as it was stored, and what its data turned out to be;
    `version` is the version of LossPrism that began the run, "" before it was recorded."""

    plan: dict[str, object]
    created: float
    version: str = ""
    device: str | None = None
    skipped: int = 0
    shared: int = 0
    labelled: bool = True
    triplets: bool = False
    rules: RecordedRules | None = None


@dataclass(frozen=True, kw_only=True)
class RunState:
    """Contents of state.json: the state, the place in the queue, and the process of the run, which
    is known by its start: on the clock (`born`) or `after_boot`, in seconds."""

    state: RunStage
    ticket: int
    process: int = field(metadata=PROCESS)
    born: float
    after_boot: float | None = None
    steps: int | None = None
    part: LoadedPart = "libraries"
    began: float | None = None
    done: int = 0
    total: int = 0
    problem: Problem | None = None
    time_is_up: bool = False


@dataclass(frozen=True)
class RunOwner:
    """Contents of owner.json: the visitor of a hosted page, and the token of the link of a shared
    run."""

    visitor: str = ""
    token: str = ""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """Contents of probe.json: the pairs that are followed, with the rules and the bands of
    their labels, and the number of live pairs."""

    first: list[str]
    second: list[str]
    labels: list[float]
    threshold: float | None = None
    label_range: tuple[float, float] | None = None
    labelled: bool = True
    teacher: list[float | None] | None = None
    bands: list[tuple[float, float]] | None = None
    live: int = 0


@dataclass(frozen=True, kw_only=True)
class ListFigures:
    """Means over `count` lists, null where that is 0. Left out are lists of equal labels (`alike`)
    and those `without` a relevant candidate; a label of `floor` gains nothing."""

    ndcg_at_10: float | None
    mrr_at_10: float | None
    count: int
    alike: int
    without: int
    floor: float


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Figures of held-out pairs, null where labels or vectors do not allow them, or the version
    that made the run did not have them."""

    pairs: int | None = None
    spearman: float | None = field(default=None, metadata=SCORE)
    pearson: float | None = field(default=None, metadata=SCORE)
    accuracy: float | None = field(default=None, metadata=SCORE)
    accuracy_threshold: float | None = field(default=None, metadata=SCORE)
    auc: float | None = field(default=None, metadata=SCORE)
    accuracy_at_1: float | None = field(default=None, metadata=SCORE)
    mrr_at_10: float | None = field(default=None, metadata=SCORE)
    alignment: float | None = field(default=None, metadata=SCORE)
    uniformity: float | None = field(default=None, metadata=SCORE)
    effective_rank: float | None = field(default=None, metadata=SCORE)
    mean_cosine: float | None = field(default=None, metadata=SCORE)
    lists: ListFigures | None = None

    def figures(self) -> Measured:
        """Return the figures without what a record has beside them."""
        return Measured(
            **{one.name: getattr(self, one.name) for one in dataclasses.fields(Measured)}
        )

    def of_lists(self, figure: str) -> float | None:
        """Return a figure of the lists; None where there is none."""
        return None if self.lists is None else getattr(self.lists, figure)


@dataclass(frozen=True, kw_only=True)
class LiveHistogram:
    """Number of scores of each band of labels in each bin, [bands, bins]."""

    edges: list[float]
    counts: list[list[int]]


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """A step of the training."""

    kind: Literal["step"] = "step"
    step: int
    loss: float = field(default=math.nan, metadata=SCORE)
    gradient_norm: float = field(default=math.nan, metadata=SCORE)
    learning_rate: float = field(default=math.nan, metadata=SCORE)
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class EvaluationRecord(Measured):
    """The live pairs, measured; `probe` has the score of each probe pair."""

    kind: Literal["evaluation"] = "evaluation"
    step: int
    histogram: LiveHistogram | None = None
    probe: list[float] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class HeldOutRecord(Measured):
    """All held-out pairs, measured before the first step and after the last."""

    kind: Literal["held_out"] = "held_out"
    step: int
    when: Literal["before", "after"]
    histogram: LiveHistogram | None = None


@dataclass(frozen=True, kw_only=True)
class AlarmRecord:
    """All scores lie within `high` − `low`, since a step."""

    kind: Literal["alarm"] = "alarm"
    step: int
    since: int
    low: float
    high: float
    loss: float | None = field(default=None, metadata=SCORE)
    collapse: float | None = field(default=None, metadata=SCORE)


@dataclass(frozen=True, kw_only=True)
class EventRecord:
    """An event of the run; `resumed`: earlier records beyond `step` do not count."""

    kind: Literal["checkpoint", "resumed", "paused", "continued"]
    step: int = field(metadata=ANY_STEP)


RunRecord = StepRecord | EvaluationRecord | HeldOutRecord | AlarmRecord | EventRecord


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """Numbers of training pairs and held-out pairs."""

    train: int
    held_out: int


@dataclass(frozen=True, kw_only=True)
class ExampleCount:
    """Number and form of the training rows."""

    form: RowForm
    count: int


@dataclass(frozen=True, kw_only=True)
class Summary(Sparse):
    """Results of a run; `repeated` of its held-out pairs repeat another, where that matters; runs
    of earlier versions have no `examples`."""

    loss: float = field(metadata=SCORE)
    steps: int
    seconds: float
    steps_per_second: float
    before: Measured
    after: Measured
    threshold: float
    label_range: tuple[float, float]
    pairs: PairCounts
    skipped: int
    shared: int
    kept_step: int
    repeated: int | None = None
    examples: ExampleCount | None = None


@dataclass(frozen=True, kw_only=True)
class Loading(Sparse):
    """The part that is being loaded, and the seconds so far; for a teacher the number of sentences
    or pairs it has read, 0 of 0 at first."""

    part: LoadedPart
    seconds: float
    done: int | None = None
    total: int | None = None


@dataclass(frozen=True, kw_only=True)
class Standing(Whole):
    """Status of a run, without its problem; `shared`: others may read it by the link of its
    owner."""

    id: str
    loss: str
    encoder: str
    kind: Literal["bi", "cross"]
    plan: RecordedPlan
    created: float
    state: RunStage
    shared: bool
    loading: Loading | None
    queue_position: int | None
    queue_seconds: float | None
    step: int
    steps: int | None
    seconds: float
    seconds_left: float | None
    summary: Summary | None


@dataclass(frozen=True, kw_only=True)
class RunStatus(Standing):
    """Status of a run."""

    problem: Problem | None


@dataclass(frozen=True, kw_only=True)
class FollowedRun(RunStatus):
    """And what its log has since the offset that was asked from."""

    records: list[RunRecord]
    offset: int


@dataclass(frozen=True, kw_only=True)
class Followed(Standing):
    """Status of a training: its problem, in words, and the records of its log since an offset."""

    problem: str | None
    records: list[RunRecord]
    offset: int
