"""A training run as JSON: its plan, the records of its log, how it is doing."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.runtime.problem import Problem
from explorer.runtime.response_types import Setting


class TrainingData(TypedDict):
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


class TrainingPlan(TypedDict):
    """Everything that decides a run."""

    data: TrainingData
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
    layers: int
    lora: int
    bf16: bool
    evaluations: int
    checkpoint_seconds: float


class ListFigures(TypedDict):
    """Means over `count` lists, null where that is 0. Left out are lists of equal labels (`alike`)
    and those `without` a relevant candidate; a label of `floor` gains nothing."""

    ndcg_at_10: float | None
    mrr_at_10: float | None
    count: int
    alike: int
    without: int
    floor: float


class _Measured(TypedDict):
    spearman: float | None
    pearson: float | None
    accuracy: float | None
    accuracy_threshold: float | None
    auc: float | None
    alignment: float | None
    uniformity: float | None
    effective_rank: float | None
    mean_cosine: float | None


class Measured(_Measured, total=False):
    """Figures of held-out pairs, null where labels or vectors do not allow them. Of how many pairs,
    of positives how often a query finds its key, and how lists are ordered runs of earlier versions
    do not say."""

    pairs: int
    accuracy_at_1: float | None
    mrr_at_10: float | None
    lists: ListFigures | None


class LiveHistogram(TypedDict):
    """Number of scores of each band of labels in each bin, [bands, bins]."""

    edges: list[float]
    counts: list[list[int]]


class StepRecord(TypedDict):
    """A step of the training."""

    kind: Literal["step"]
    step: int
    loss: float
    gradient_norm: float
    learning_rate: float
    seconds: float


class EvaluationRecord(Measured):
    """The live pairs, measured; `probe` has the score of each probe pair."""

    kind: Literal["evaluation"]
    step: int
    histogram: LiveHistogram | None
    probe: list[float]
    seconds: float


class HeldOutRecord(Measured):
    """All held-out pairs, measured before the first step and after the last."""

    kind: Literal["held_out"]
    step: int
    when: Literal["before", "after"]
    histogram: LiveHistogram | None


class AlarmRecord(TypedDict):
    """All scores lie within `high` − `low`, since a step."""

    kind: Literal["alarm"]
    step: int
    since: int
    low: float
    high: float
    loss: float | None
    collapse: float | None


class EventRecord(TypedDict):
    """An event of the run; `resumed`: earlier records beyond `step` do not count."""

    kind: Literal["checkpoint", "resumed", "paused", "continued"]
    step: int


RunRecord = StepRecord | EvaluationRecord | HeldOutRecord | AlarmRecord | EventRecord


class PairCounts(TypedDict):
    """Numbers of training pairs and held-out pairs."""

    train: int
    held_out: int


class _Summary(TypedDict):
    loss: float
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


class ExampleCount(TypedDict):
    """Number and form of the training rows."""

    form: Literal["pairs", "classes", "triplets", "lists"]
    count: int


class Summary(_Summary, total=False):
    """Results of a run; `repeated` of its held-out pairs repeat another, where that matters; runs
    of earlier versions have no `examples`."""

    repeated: int
    examples: ExampleCount


class _Loading(TypedDict):
    part: Literal["libraries", "teacher", "encoder", "held_out"]
    seconds: float


class Loading(_Loading, total=False):
    """The part that is being loaded, and the seconds so far; for a teacher the number of sentences
    or pairs it has read, 0 of 0 at first."""

    done: int
    total: int


class Standing(TypedDict):
    """Status of a run, without its problem; `shared`: others may read it by the link of its
    owner."""

    id: str
    loss: str
    encoder: str
    kind: Literal["bi", "cross"]
    plan: TrainingPlan
    created: float
    state: Literal[
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
    shared: bool
    loading: Loading | None
    queue_position: int | None
    queue_seconds: float | None
    step: int
    steps: int | None
    seconds: float
    seconds_left: float | None
    summary: Summary | None


class RunStatus(Standing):
    """Status of a run."""

    problem: Problem | None


class FollowedRun(RunStatus):
    """And what its log has since the offset that was asked from."""

    records: list[RunRecord]
    offset: int


class Followed(Standing):
    """Status of a training: its problem, in words, and the records of its log since an offset."""

    problem: str | None
    records: list[RunRecord]
    offset: int
