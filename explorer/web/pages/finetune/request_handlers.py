"""Requests of the Fine-tune page."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from lossprism.explorer.core.remarks import Remark
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.drawing_data_of_exploration import describe_batch, picture
from lossprism.explorer.export.drawing_data_types import BatchData, Picture
from lossprism.explorer.export.figure.appearance import look_in
from lossprism.explorer.export.figure.figure_files import chart_text, figure_text
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.lab.training import (
    cosent_experiment_plans,
    new_file_evaluation,
    run_comparison,
    run_downloads,
    run_remarks,
)
from lossprism.explorer.lab.training.ended_run_scores import has_ended, outcome
from lossprism.explorer.lab.training.parameter_trial_plans import MIN_RUNS, tried
from lossprism.explorer.lab.training.probe_batch_exploration import probe_exploration
from lossprism.explorer.lab.training.rank_and_neighbour_changes import (
    MovedPair,
    Neighbours,
    neighbours,
    rank_changes,
)
from lossprism.explorer.lab.training.run_control import default_runs as runs
from lossprism.explorer.lab.training.run_json_types import FollowedRun, RunStatus
from lossprism.explorer.runtime import downloads, jobs
from lossprism.explorer.runtime.downloads import Download, Text
from lossprism.explorer.runtime.limits import NAMED_RUNS, QUEUED_AT_ONCE, QUOTED_LETTERS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_parent_classes import Sparse
from lossprism.explorer.runtime.validation import integer, of_type, one_of, quoted, texts, whole
from lossprism.explorer.web.page_requests import JOBS, Nothing, served
from lossprism.explorer.web.pages.explore.loss_facts import SERVED_LOSS
from lossprism.explorer.web.pages.finetune.plan_check import check
from lossprism.explorer.web.pages.finetune.request_plan import read_plan
from lossprism.explorer.web.pages.finetune.time_estimate import estimate_pace
from lossprism.explorer.web.pages.finetune.uploaded_file_description import (
    describe_file,
    hand_in,
    uploaded_pairs,
)

Named = TypeVar("Named", dict[Any, Any], tuple[str, ...])


@dataclass(frozen=True)
class RunGone:
    """A run that cannot be followed."""

    error: Problem


@dataclass(frozen=True)
class Watched(Sparse):
    """The runs that are followed, and, on request, the status of all."""

    runs: dict[str, FollowedRun | RunGone]
    listed: list[RunStatus] | None = None


@dataclass(frozen=True)
class Remarked:
    """Remarks on a run, the most important first."""

    remarks: list[Remark]


@dataclass(frozen=True)
class Shared:
    """The names under which runs can be read by whoever has them."""

    runs: list[str]


def _start(request: dict) -> run_comparison.Started:
    """{plans} → the names of the queued runs; all are checked before any is queued."""
    plans = request.get("plans")
    if not isinstance(plans, list) or not 0 < len(plans) <= QUEUED_AT_ONCE:
        raise Problem("training_many", most=QUEUED_AT_ONCE)
    return run_comparison.Started(
        run_comparison.start_all(runs(), [read_plan(plan) for plan in plans])
    )


def _trials(request: dict) -> run_comparison.Started:
    """{plan, parameter} → the names of the short runs that try several values of a parameter."""
    plan, parameter = read_plan(request.get("plan")), str(request.get("parameter", ""))
    room = runs().remaining_runs(MIN_RUNS)
    return run_comparison.Started(run_comparison.start_all(runs(), tried(plan, parameter, room)))


def _repeat(request: dict) -> run_comparison.Started:
    """{plan} → the names of the runs that repeat the source's experiment on its data."""
    plans = cosent_experiment_plans.experiment(read_plan(request.get("plan")))
    return run_comparison.Started(run_comparison.start_all(runs(), plans))


def _watch(request: dict) -> Watched:
    """{offsets: {name: offset}, list} → how these runs are doing, and, asked to, all runs."""
    followed: dict[str, FollowedRun | RunGone] = {}
    offsets = of_type(dict)(request.get("offsets") or {}, "offsets")
    for name, offset in _check_count(offsets).items():
        begin = max(whole(offset, f"offsets.{quoted(name)}"), 0)
        try:
            followed[name] = runs().status(name, begin)
        except Problem as problem:
            followed[name] = RunGone(problem)
    return Watched(followed, runs().listed() if request.get("list") else None)


def _check_count(named: Named) -> Named:
    """Runs that are named in a request, as they are. Raises Problem where there are too many."""
    if len(named) > NAMED_RUNS:
        raise Problem("training_runs_named", most=NAMED_RUNS)
    return named


def _steer(request: dict) -> Nothing:
    what = one_of(("pause", "resume", "stop", "unshare", "delete"))(request.get("what"), "what")
    getattr(runs(), what)(request.get("run"))
    return Nothing()


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
    exploration = probe_exploration(runs(), name, step, scenario)
    if request.get("known") == name:
        return Probed(picture(exploration))
    probe = runs().probe(name)
    bands = probe.bands if probe and probe.bands else []
    return Probed(
        picture(exploration), ProbeBatch(name, **describe_batch(exploration.batch), bands=bands)
    )


def _figure(request: dict) -> Text:
    """{run, step, scenario, origin, format, and a look} → the probe batch as a file."""
    scenario, look = Scenario.from_json(request.get("scenario")), look_in(request)
    step = integer(request.get("step"), "step")
    exploration = probe_exploration(runs(), str(request.get("run")), step, scenario)
    origin = str(request.get("origin") or "")[:QUOTED_LETTERS]
    name = f"lossprism-{request.get('run')}-probe"
    return figure_text(name, matrix_figure(exploration, origin=origin, **look), request)


def _remark(request: dict) -> Remarked:
    """{run} → what is striking about it so far, and once it has ended, what it gained."""
    return Remarked(run_remarks.remarks(runs(), str(request.get("run"))))


@dataclass(frozen=True)
class Compared(Sparse, run_comparison.Comparison):
    """Finished runs beside each other, and what the first of them moved."""

    run: str = ""
    moved: list[MovedPair] | None = None
    neighbours: list[Neighbours] | None = None


def _compare(request: dict) -> Compared:
    """{runs, on?: {file, name, columns}} → a table of finished runs with their verdict; and what
    one of them moved: on the held-out pairs, or on those of a file."""
    names = _check_count(texts(request.get("runs") or (), "runs"))
    on = uploaded_pairs(request["on"]) if request.get("on") else None
    comparison = vars(run_comparison.table(runs(), names, on))
    ended = [name for name in names if has_ended(runs().folder(name))]
    if not ended:
        return Compared(**comparison)
    run = runs().folder(ended[0])
    scores = new_file_evaluation.outcomes({run.name: run}, on)[run.name] if on else outcome(run)
    return Compared(
        **comparison,
        run=ended[0],
        moved=rank_changes(scores),
        neighbours=[] if on else neighbours(runs(), ended[0], count=3)[:20],
    )


# What can be taken away as text: its file, its type, and what makes it; and as a file that the
# server packs.
TEXTS = {
    "json": ("{run}.json", "application/json", run_downloads.run_json),
    "csv": ("{run}.csv", "text/csv", run_downloads.run_csv),
    "script": ("train.py", "text/x-python", run_downloads.script),
}
PACKED = {
    "model": ("-model.zip", run_downloads.model_zip),
    "kit": ("-train.zip", run_downloads.script_zip),
}


def _take(request: dict) -> Text | Download:
    """{run, what} → a file's name with its type and text, or with the path it is served from."""
    what = one_of((*TEXTS, *PACKED))(request.get("what"), "what")
    name = str(request.get("run"))
    folder = runs().folder(name)
    if what in TEXTS:
        file, kind, make = TEXTS[what]
        return Text(name=file.format(run=folder.name), type=kind, text=make(runs(), name))
    ending, pack = PACKED[what]
    # The last download of each kind stays.
    with jobs.heavy_work_turn():
        path = pack(runs(), name, downloads.folder_of_run(folder.name) / f"{folder.name}{ending}")
    return Download(name=path.name, path=downloads.address_of(path))


def _share(request: dict) -> Shared:
    """{runs} → the same by the names under which anyone who has them may read them.

    A run of somebody else, which was shared with the visitor, keeps the name that it came by.
    """
    names = _check_count(texts(request.get("runs") or (), "runs"))
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
    served("check", check),
    served("estimate", estimate_pace),
    served("start", _start, keeps=True),
    served("repeat", _repeat, keeps=True),
    served("trials", _trials, keeps=True),
    served("watch", _watch),
    _of_runs("steer", _steer, Nothing),
    _of_runs("probe", _probe, Probed),
    _of_runs("figure", _figure, Text),
    served("chart", chart_text),
    _of_runs("remark", _remark, Remarked),
    _of_runs("compare", _compare, Compared),
    _of_runs("take", _take, Text | Download),
    _of_runs("share", _share, Shared),
    served("hand_in", hand_in, keeps=True),
    served("describe", describe_file),
    SERVED_LOSS,
    *JOBS,
]
