"""What the Fine-tune page asks the server for."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, cast

from explorer.core.remarks import Remark
from explorer.core.scenario import Scenario
from explorer.export.figure.files import chart_text, figure_text
from explorer.export.figure.look import look_in
from explorer.export.figure.matrix import matrix_figure
from explorer.export.picture import describe_batch, picture
from explorer.export.picture_data import BatchData, Picture
from explorer.lab.large.drawing import LabelRules
from explorer.lab.training import (
    before_after,
    compare,
    data,
    encoders,
    quota,
    remarks,
    source,
    takeaway,
    teaching,
    unseen_pairs,
)
from explorer.lab.training.outcome import has_ended, outcome
from explorer.lab.training.plan import TrainingData, TrainingPlan
from explorer.lab.training.rows import Pair, examples, form_of
from explorer.lab.training.runs import default_runs as runs
from explorer.lab.training.runs import estimate
from explorer.lab.training.trials import LEAST_RUNS, Offer, offers, tried, twins_of
from explorer.lab.training.verdict import LEVEL, Gain, by_chance
from explorer.runtime import downloads, jobs
from explorer.runtime.cache import Cache
from explorer.runtime.deployment_policy import deployment_policy
from explorer.runtime.downloads import Parcel, Text
from explorer.runtime.limits import CORPORA, NAMED_RUNS, PACES, QUEUED_AT_ONCE, QUOTED_LETTERS
from explorer.runtime.numbers import whole_percent
from explorer.runtime.problem import Problem
from explorer.runtime.validation import integer, of_type, one_of, quoted, texts, whole
from explorer.runtime.wire import Json, Setting, Sparse
from explorer.sources.reading_notes import ReadingNote
from explorer.web.pages.explore.facts import SERVED_LOSS
from explorer.web.pages.finetune.plans import (
    describe_file,
    hand_in,
    read_plan,
    scene_of,
    uploaded_pairs,
)
from explorer.web.serving import JOBS, Nothing, served
from explorer.web.wire.finetune import Compared
from explorer.web.wire.runs import FollowedRun, RunStatus
from losses import LOSSES

Named = TypeVar("Named", dict[Any, Any], tuple[str, ...])


@dataclass(frozen=True)
class Outlook:
    """Why a plan cannot be trained, or in how many steps on how many examples, of which `form`;
    `pace` names the time that a step takes."""

    refused: Problem | None
    examples: int
    form: Literal["pairs", "classes", "triplets", "lists"]
    steps: int
    pace: str


@dataclass(frozen=True)
class Repetition(Outlook):
    """The source's experiment on the same data: so many runs."""

    count: int


@dataclass(frozen=True)
class ChosenThere(Sparse):
    """What the scene of a link says beside its data: `twins` where it leaves them out, and what
    models it names."""

    loss: str
    convention: str
    parameters: dict[str, Setting]
    threshold: float | None
    label_range: tuple[float, float] | None
    extra_negatives: bool
    twins: Literal["apart", "leave_out", "keep"] = "apart"
    guide: str = ""
    teacher_model: str = ""


@dataclass(frozen=True)
class Checked(Outlook):
    """What the data holds, which losses can learn from it, how long the run will be; within which
    Spearman, above and below 0, so many held-out pairs stay `by_chance`, at this `level`. `taught`:
    whether a teacher's scores came with the data; `asked`: about how many pairs a model is asked;
    `guide_unread`: whether a guide's vectors did, which no trainer reads; `encoder_prompts`: those
    of the encoder's own configuration. `notes` say how the columns of a dataset of the hub were
    read; those of a file stand below it."""

    repetition: Repetition
    of_scene: ChosenThere | None
    sample: list[Pair]
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
    encoder_prompts: dict[str, str]
    trials: list[Offer]
    minutes: float | None


@dataclass(frozen=True)
class Pace(Sparse):
    """Seconds, measured here; nothing of it while a run trains."""

    seconds_to_load: float = 0.0
    seconds_per_step: float = 0.0
    seconds_per_evaluation: float = 0.0


@dataclass(frozen=True)
class RunGone:
    """A run that cannot be followed."""

    error: Problem


@dataclass(frozen=True)
class Watched(Sparse):
    """The runs that are followed, and, asked for, how all are doing."""

    runs: dict[str, FollowedRun | RunGone]
    listed: list[RunStatus] | None = None


@dataclass(frozen=True)
class Remarked:
    """What is striking about a run, and, once it has ended, what it gained."""

    remarks: list[Remark]
    gain: Gain | None
    level: str


@dataclass(frozen=True)
class Shared:
    """The names under which runs can be read by whoever has them."""

    runs: list[str]


@functools.lru_cache(maxsize=CORPORA)
def _corpus(known: TrainingData) -> data.Corpus:
    return data.read(TrainingPlan(data=known))


def _check(request: dict) -> Checked:
    """{plan} → what the data holds, which losses can learn from it, how long the run will be."""
    chosen: Any = request.get("plan")
    plan = read_plan(chosen)
    encoders.check(plan)
    corpus = data.under_teacher(plan, _corpus(plan.data))
    return Checked(
        **vars(_outlook(plan, corpus)),
        repetition=_repetition(plan, corpus),
        of_scene=_chosen_in(chosen["data"]),
        sample=_sample(corpus.train),
        losses=dict(data.losses_for(plan, corpus)),
        train=len(corpus.train),
        held_out=len(corpus.held_out),
        by_chance=by_chance([pair[:2] for pair in corpus.held_out]) if corpus.labelled else None,
        level=whole_percent(LEVEL),
        labels=(min(corpus.labels), max(corpus.labels), len(set(corpus.labels))),
        labelled=corpus.labelled,
        taught=corpus.teacher is not None,
        asked=teaching.pairs_asked(plan, corpus.material),
        guide_unread=corpus.brings_guide or _has_vectors(chosen["data"]),
        rules=_rules(plan, corpus),
        skipped=corpus.skipped,
        notes=list(corpus.notes) if plan.data.source == "hub" else [],
        shared=corpus.shared,
        rate=plan.rate,
        encoder_prompts=encoders.own_prompts(plan.encoder) if plan.kind == "bi" else {},
        trials=list(offers(plan, runs().room())),
        minutes=quota.most_seconds() / 60 if deployment_policy().bounded else None,
    )


def _rules(plan: TrainingPlan, corpus: data.Corpus) -> LabelRules:
    """How the labels are read, and how many of the training pairs are positive by it."""
    rules = data.rules_for(plan, corpus)
    positives = sum(label >= rules.threshold for *_, label in corpus.train)
    return LabelRules(**rules._asdict(), positives=positives)


def _outlook(plan: TrainingPlan, corpus: data.Corpus) -> Outlook:
    """Why the plan cannot be trained, or on how many examples, in how many steps of which pace."""
    count = examples(plan, corpus.material)
    return Outlook(
        refused=data.why_not(plan, corpus) or quota.why_not(plan, corpus),
        examples=count,
        form=cast("Any", form_of(plan, corpus.material)),
        steps=plan.steps_for(count),
        pace=_pace_key(plan),
    )


def _repetition(plan: TrainingPlan, corpus: data.Corpus) -> Repetition:
    """How many runs the source's experiment takes on this data, and the outlook for each."""
    plans = source.experiment(plan)
    losses = {one.loss: _outlook(one, corpus) for one in plans}.values()
    worst = next((outlook for outlook in losses if outlook.refused), next(iter(losses)))
    return Repetition(**vars(worst), count=len(plans))


def _chosen_in(given: dict) -> ChosenThere | None:
    """What was chosen beside the data in the scene of a link: its loss, and its rules."""
    if given["source"] != "link":
        return None
    scene = scene_of(given)
    if scene.loss not in LOSSES:
        return None
    return ChosenThere(
        loss=scene.loss,
        convention=scene.convention,
        parameters=cast("Any", dict(scene.parameters)),
        threshold=scene.rules.threshold,
        label_range=scene.rules.label_range,
        extra_negatives=scene.rules.extra_negatives,
        twins=cast("Any", twins_of(scene.rules)),
        guide=scene.data.guide,
        teacher_model=scene.data.teacher_model,
    )


def _has_vectors(given: dict) -> bool:
    """Whether the scene of a link has a guide's vectors."""
    return given["source"] == "link" and bool(scene_of(given).data.guided)


def _sample(pairs: Sequence[Pair]) -> list[Pair]:
    """A pair of the highest label, one from the middle, and one of the lowest."""
    ordered = sorted(pairs, key=lambda pair: -pair[2])
    places = sorted({0, len(ordered) // 2, len(ordered) - 1})
    return [
        (a[:QUOTED_LETTERS], b[:QUOTED_LETTERS], label)
        for a, b, label in map(ordered.__getitem__, places)
    ]


# Two trial steps are the same for all who ask, so the times of the last ones are kept; one trial
# at a time, and none beside a run.
_trial = threading.Lock()
_paces: Cache[Pace] = Cache(PACES)
PACE = tuple(one.name for one in fields(Pace))


def _estimate(request: dict) -> Pace:
    """{plan, repetition?} → seconds to load, and for each step and evaluation, of the plan or of
    one run of the source's experiment on its data, here; {} while a run trains."""
    plan = read_plan(request.get("plan"))
    if request.get("repetition"):
        plan = source.experiment(plan)[0]
    key = _pace_key(plan)
    if known := _paces.get(key):
        return known
    if runs().busy() or not _trial.acquire(blocking=False):
        return Pace()
    try:
        found = estimate(plan, runs().device, wanted=_nobody_trains)
        if found is None:
            return Pace()
        return _paces.put(key, Pace(**{name: found[name] for name in PACE}))
    finally:
        _trial.release()


def _nobody_trains() -> bool:
    jobs.step("trial")  # ends here once the page no longer waits
    return not runs().busy()


def _pace_key(plan: TrainingPlan) -> str:
    """All of a plan but what makes no step of it slower: how many there are, and mere numbers."""
    usual = TrainingPlan()
    same = {name: getattr(usual, name) for name in NOT_SLOWER}
    choices = tuple((n, v) for n, v in plan.parameters if isinstance(v, bool | str | tuple))
    slow = dataclasses.replace(plan, **same, parameters=choices)
    return hashlib.sha256(json.dumps(slow.to_json()).encode()).hexdigest()


NOT_SLOWER = (
    *("steps", "epochs", "evaluations", "seed", "threshold", "label_range"),
    *("learning_rate", "schedule", "warmup", "weight_decay", "clipping"),
)


def _start(request: dict) -> Json:
    """{plans} → the names of the queued runs; all are checked before any is queued."""
    plans = request.get("plans")
    if not isinstance(plans, list) or not 0 < len(plans) <= QUEUED_AT_ONCE:
        raise Problem("training_many", most=QUEUED_AT_ONCE)
    return {"started": compare.start_all(runs(), [read_plan(plan) for plan in plans])}


def _trials(request: dict) -> Json:
    """{plan, parameter} → the names of the short runs that try several values of a parameter."""
    plan, parameter = read_plan(request.get("plan")), str(request.get("parameter", ""))
    room = runs().room(LEAST_RUNS)
    return {"started": compare.start_all(runs(), tried(plan, parameter, room))}


def _repeat(request: dict) -> Json:
    """{plan} → the names of the runs that repeat the source's experiment on its data."""
    return {"started": compare.start_all(runs(), source.experiment(read_plan(request.get("plan"))))}


def _watch(request: dict) -> Watched:
    """{offsets: {name: offset}, list} → how these runs are doing, and, asked to, all runs."""
    found: dict[str, Any] = {}
    offsets = of_type(dict)(request.get("offsets") or {}, "offsets")
    for name, offset in _few(offsets).items():
        begin = max(whole(offset, f"offsets.{quoted(name)}"), 0)
        try:
            found[name] = runs().status(name, begin)
        except Problem as problem:
            found[name] = RunGone(problem)
    return Watched(found, cast("Any", runs().listed()) if request.get("list") else None)


def _few(named: Named) -> Named:
    """Runs that are named in a request, as they are. Raises Problem where there are too many."""
    if len(named) > NAMED_RUNS:
        raise Problem("training_runs_named", most=NAMED_RUNS)
    return named


def _steer(request: dict) -> Json:
    what = one_of(("pause", "resume", "stop", "unshare", "delete"))(request.get("what"), "what")
    getattr(runs(), what)(request.get("run"))
    return {}


@dataclass(frozen=True)
class ProbeBatch(BatchData):
    """The probe batch; `bands` are ranges of labels."""

    bands: list[tuple[float, float]]


@dataclass(frozen=True)
class Probed(Sparse):
    """The picture of the probe batch at a step; the `batch` where the page has another."""

    picture: Picture
    batch: ProbeBatch | None = None


def _probe(request: dict) -> Probed:
    """{run, step, scenario, known} → the picture of the probe batch at a recorded step."""
    scenario = Scenario.from_json(request.get("scenario"))
    name, step = str(request.get("run")), integer(request.get("step"), "step")
    found = before_after.exploration(runs(), name, step, scenario)
    if request.get("known") == name:
        return Probed(picture(found))
    probe = runs().probe(name)
    bands = probe["bands"] if probe else []
    return Probed(picture(found), ProbeBatch(name, **describe_batch(found.batch), bands=bands))


def _figure(request: dict) -> Text:
    """{run, step, scenario, origin, format, and a look} → the probe batch as a file."""
    scenario, look = Scenario.from_json(request.get("scenario")), look_in(request)
    step = integer(request.get("step"), "step")
    look = look_in(request)
    found = before_after.exploration(runs(), str(request.get("run")), step, scenario)
    origin = str(request.get("origin") or "")[:QUOTED_LETTERS]
    name = f"lossprism-{request.get('run')}-probe"
    return figure_text(name, matrix_figure(found, origin=origin, **look), request)


def _remark(request: dict) -> Remarked:
    """{run} → what is striking about it so far, and once it has ended, what it gained, where that
    says something of other pairs."""
    name = str(request.get("run"))
    gained = remarks.gain_of(runs(), name)
    gain = gained if gained and not gained.is_blank else None
    return Remarked(list(remarks.remarks(runs(), name)), gain, whole_percent(LEVEL))


def _compare(request: dict) -> Json:
    """{runs, on?: {file, name, columns}} → a table of finished runs with their verdict; and what
    one of them moved: on the held-out pairs, or on those of a file."""
    names = _few(texts(request.get("runs") or (), "runs"))
    on = uploaded_pairs(request["on"]) if request.get("on") else None
    answer: Json = compare.table(runs(), names, on)
    ended = [name for name in names if has_ended(runs().folder(name))]
    if ended:
        answer["run"] = ended[0]
        run = runs().folder(ended[0])
        found = unseen_pairs.outcomes({run.name: run}, on)[run.name] if on else outcome(run)
        answer["moved"] = before_after.rank_changes(found)
        answer["neighbours"] = [] if on else before_after.neighbours(runs(), ended[0], most=3)[:20]
    return answer


# What can be taken away as text: its file, its type, and what makes it; and as a file that the
# server packs.
TEXTS = {
    "json": ("{run}.json", "application/json", takeaway.run_json),
    "csv": ("{run}.csv", "text/csv", takeaway.run_csv),
    "script": ("train.py", "text/x-python", takeaway.script),
}
PACKED = {"model": ("-model.zip", takeaway.model_zip), "kit": ("-train.zip", takeaway.script_zip)}


def _take(request: dict) -> Json:
    """{run, what} → a file's name with its type and text, or with the path it is served from."""
    what = one_of((*TEXTS, *PACKED))(request.get("what"), "what")
    name = str(request.get("run"))
    folder = runs().folder(name)
    if what in TEXTS:
        file, kind, make = TEXTS[what]
        return {"name": file.format(run=folder.name), "type": kind, "text": make(runs(), name)}
    ending, pack = PACKED[what]
    # The last download of each kind stays.
    with jobs.in_turn():
        path = pack(runs(), name, downloads.place_of(folder.name) / f"{folder.name}{ending}")
    return {"name": path.name, "path": downloads.address_of(path)}


def _share(request: dict) -> Shared:
    """{runs} → the same by the names under which whoever is told them may read them.

    A run of somebody else, which was shared with the visitor, keeps the name that it came by.
    """
    names = _few(texts(request.get("runs") or (), "runs"))
    mine = [runs().folder(name).is_mine for name in names]
    return Shared([runs().share(n) if own else n for n, own in zip(names, mine, strict=True)])


def _of_runs(
    name: str, answer: Callable[[dict], object], answers: object
) -> Callable[[object], object]:
    """Served; a run that is deleted while it is read is a run that is not there."""

    def respond(request: dict) -> object:
        try:
            return answer(request)
        except FileNotFoundError:
            for run in (request.get("run"), *(request.get("runs") or ())):
                if run is not None:
                    runs().folder(run)
            raise

    return served(name, respond, answers)


SERVED: list[Callable] = [
    served("check", _check),
    served("estimate", _estimate),
    served("start", _start, compare.Started, keeps=True),
    served("repeat", _repeat, compare.Started, keeps=True),
    served("trials", _trials, compare.Started, keeps=True),
    served("watch", _watch),
    _of_runs("steer", _steer, Nothing),
    _of_runs("probe", _probe, Probed),
    _of_runs("figure", _figure, Text),
    served("chart", chart_text),
    _of_runs("remark", _remark, Remarked),
    _of_runs("compare", _compare, Compared),
    _of_runs("take", _take, Text | Parcel),
    _of_runs("share", _share, Shared),
    served("hand_in", hand_in, keeps=True),
    served("describe", describe_file),
    SERVED_LOSS,
    *JOBS,
]
