"""The check of a training run on the Doctor page: what is the matter with it."""

from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.doctor import OTHER_RUN_SETTINGS
from lossprism.explorer.lab.doctor.logs.examples import EXAMPLES
from lossprism.explorer.lab.doctor.logs.findings import ExaminedRun, examine_run
from lossprism.explorer.lab.doctor.logs.log import PASTED, Curve, Log
from lossprism.explorer.lab.doctor.logs.log_curves_packed_for_link import packed_curves
from lossprism.explorer.lab.doctor.logs.run_comparison import compare_runs
from lossprism.explorer.lab.doctor.logs.run_reader import check_size, read_content, read_run
from lossprism.explorer.lab.doctor.logs.run_report import (
    ReadRun,
    RunFinding,
    run_answer,
    run_findings,
)
from lossprism.explorer.lab.saved_training_batches import (
    SavedBatchScenario,
    files_in,
    open_saved_batches,
)
from lossprism.explorer.locale import language_of
from lossprism.explorer.runtime import jobs, uploads
from lossprism.explorer.runtime.base64_arrays import packed
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.jobs import Jobs
from lossprism.explorer.runtime.number_format import Real, json_number
from lossprism.explorer.runtime.owner_consent import agreed_path
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json, Setting
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.runtime.validation import invalid_value, of_type, one_of
from lossprism.explorer.web.page_requests import Working, answer_when_done, served
from lossprism.explorer.web.pages.doctor.number_requests import known_in

KINDS = ("example", "file", "typed", "folder")
LINKED = ("file", "typed")  # logs whose curves a link carries
RUN_SOURCES = ("example", "file", "typed", "kept")  # a folder has batches of a training, or its log
LOGS = tuple(EXAMPLES)
OTHER_RUNS = ("none", *LOGS, "file")
KNOWN_OF_OTHER_RUN = ("loss", *OTHER_RUN_SETTINGS)  # what may be known of another run
# Points of a curve that the page draws.
MAX_DRAWN = 2000


@dataclass(frozen=True)
class DrawnCurve:
    """A curve of a run: packed steps and values."""

    name: str
    steps: str
    values: str


@dataclass(frozen=True)
class OtherRun:
    """Another run, its curves, and the findings of the comparison with the first."""

    about: list[str]
    level: Real | None
    collapse: float | None
    floor: float | None
    known: dict[str, Setting]
    drawn: list[DrawnCurve]
    findings: list[RunFinding]


@dataclass(frozen=True)
class ExaminedRunLog(ReadRun):
    """Findings about a run, as `doctor_run` answers it, the drawn curves, another run beside it,
    and the numbers of a pasted one as a link carries them."""

    drawn: list[DrawnCurve]
    beside: OtherRun | None
    shared: str


def _examine_run(request: Json) -> ExaminedRunLog:
    """{source, curve, held_out: "" for those that go by such names, loss, batch, …: as they were
    typed, beside?: {source, loss, batch, …} of another run, language} → what is the matter with
    the run, its curves, and what its values and the other's can say about each other."""
    source = request.get("source")
    if not isinstance(source, dict):
        raise invalid_value("source", source)
    language, known = language_of(request.get("language")), known_in(request)
    curve, held_out = (of_type(str)(request.get(name, ""), name) for name in ("curve", "held_out"))
    beside = request.get("beside")
    with jobs.heavy_work_turn():
        examined_run = examine_run(_log_in(source), known, curve, held_out)
        other = None if beside is None else _beside(examined_run, beside, language)
    shared = packed_curves(examined_run.log) if source.get("kind") in LINKED else ""
    more = {"drawn": _all_drawn(examined_run), "beside": other, "shared": shared}
    return run_answer(examined_run, ExaminedRunLog, language, **more)


def _beside(examined_run: ExaminedRun, beside: object, language: str) -> OtherRun:
    """Return another run, and the comparison of both."""
    if not isinstance(beside, dict) or not isinstance(source := beside.get("source"), dict):
        raise invalid_value("beside", beside)
    other = examine_run(_log_in(source), known_in(beside))
    compared = run_findings(compare_runs(examined_run, other), language)
    read = run_answer(other, ReadRun, language)
    return as_answer(OtherRun, read, drawn=_all_drawn(other), findings=compared)


def _all_drawn(examined_run: ExaminedRun) -> list[DrawnCurve]:
    names = dict.fromkeys(name for name in (examined_run.curve, examined_run.held_out) if name)
    return [_drawn(examined_run.log.curves[name]) for name in names]


def _log_in(source: Json) -> Log:
    kind = one_of(KINDS)(source.get("kind", KINDS[0]), "source.kind")
    if kind == "example":
        name = one_of(LOGS)(source.get("example", LOGS[0]), "source.example")
        return EXAMPLES[name]()
    if kind == "folder":
        return read_run(_folder_in(source))
    if kind == "typed":
        return _typed_log(of_type(str)(source.get("text", ""), "source.text"))
    name, text = uploads.name_in(source), of_type(str)(source.get("text", ""), "source.text")
    try:
        content = uploads.read(of_type(str)(source.get("file", ""), "source.file"), name)
    except Problem:
        if not text:
            raise
        return _typed_log(text)  # what the link carries of a file that is not here
    check_size(name, len(content))
    return read_content(name, content, of_type(str)(source.get("step", ""), "source.step"))


def _typed_log(text: str) -> Log:
    content = text.encode("utf-8", "replace")
    check_size(PASTED, len(content))
    return read_content(PASTED, content)


def _drawn(curve: Curve) -> DrawnCurve:
    """The points of a curve, every so manyth where there are too many, and the last."""
    every = -(-len(curve) // MAX_DRAWN)
    places = np.unique(np.append(np.arange(0, len(curve), every), len(curve) - 1))
    steps, values = curve.steps[places], curve.values[places]
    return DrawnCurve(curve.name, packed(steps), packed(values))


# ---- Batches that were kept ----------------------------------------------------------------------

_listed = Jobs()


@dataclass(frozen=True)
class ListedBatch:
    """A batch of a training: its step, its loss there and in its scenario, and the link of that."""

    step: int
    called: str
    value: Real
    here: Real | None
    said: str
    scene: str


@dataclass(frozen=True)
class KeptBatches:
    """The batches that PrismCallback kept in a folder, by step, and the number of files that are
    still being written."""

    batches: list[ListedBatch]
    unfinished: int


def _saved_batches(request: Json) -> KeptBatches | Working:
    """{folder, language} → the batches that PrismCallback kept there, each with its scenario; or
    how far reading them is."""
    language = language_of(request.get("language"))
    folder = _folder_in(request)

    files = files_in(folder)

    def answer(opened: list[SavedBatchScenario]) -> KeptBatches:
        return KeptBatches([_batch(one, language) for one in opened], files.unfinished)

    there = tuple(path.name for path in files.complete)  # a training adds more
    job = _listed.start((folder, there), lambda report: open_saved_batches(folder, report))
    return answer_when_done(job, answer)


def _folder_in(request: Json) -> str:
    """A folder of this computer, which the page of a visitor does not read."""
    folder = of_type(str)(request.get("folder"), "folder").strip()
    if not deployment_policy().reads_local_paths:
        raise Problem("kept_hosted")
    if not folder:
        raise Problem("kept_no_folder")
    agreed_path(folder)
    return folder


def _batch(one: SavedBatchScenario, language: str) -> ListedBatch:
    return ListedBatch(
        step=one.batch.step,
        called=one.batch.called,
        value=json_number(one.batch.value),
        here=json_number(one.here),
        said=one.written(language),
        scene=one.scenario.to_link(),
    )


SERVED = [served("examine_run", _examine_run), served("kept", _saved_batches)]
