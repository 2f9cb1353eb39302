"""The Fine-tune page: plan a short training, watch it, compare runs, take the model away."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import functools
import hashlib
import inspect
import json
import re
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import gradio as gr

from explorer import device, progress
from explorer.batch import has_words, load_pairs
from explorer.disk import whole_file
from explorer.figure import matrix_figure
from explorer.instruments.base import Instrument
from explorer.lab.training import compare, data, limits, remarks, source, takeaway
from explorer.lab.training.plan import (
    AUGMENTATIONS,
    RANGES,
    SCHEDULES,
    SCRATCH,
    TrainingData,
    TrainingPlan,
)
from explorer.lab.training.runs import MORE_EVALUATIONS, Runs, check_encoder, estimate
from explorer.locale import LANGUAGES
from explorer.pages.frame import framed
from explorer.pages.serving import JOBS, served
from explorer.picture import describe_batch, picture
from explorer.problem import Problem
from explorer.scenario import Data, Scenario
from explorer.sources import tables, textbook
from explorer.sources.columns import CHOOSE_COLUMNS, PAIR_ROLES
from explorer.sources.encoders import EMBEDDED
from explorer.sources.grids import read_grid
from explorer.sources.model_folders import is_hosted
from explorer.sources.practice import PRACTICE, practice_pairs
from losses import LOSSES

# What a plan of the page says of its data, by source; the rest stays with the page. Files are
# named by the token of an upload, so that nobody reads another file of this computer.
SHARED = ("held_out_share", "augment", "most")
ENTRIES = {
    "practice": (),
    "link": (),
    "example": ("example",),
    "file": ("file", "name", "columns", "alternatives", "held_out_file", "held_out_name"),
    "hub": ("hub", "split"),
}
_TOKEN = re.compile(r"[0-9a-f]{32}")
_TEMPORARY = Path(tempfile.gettempdir()) / "lossprism"
UPLOADS = _TEMPORARY / "uploads"
# Models to be taken away are served from here.
PARCELS = _TEMPORARY / "parcels"

# Of each loss, least and most.
SEEDS = (1, 10)
# Of a text that is only quoted.
MOST_LETTERS = 400
# Enough to see something on few pairs, and soon over on many.
FIRST_STEPS = 60
# What the first button trains: small enough to be done in seconds.
QUICK = {
    "encoder": SCRATCH,
    "steps": 120,
    "batch_size": 32,
    "learning_rate": 0.05,
    "evaluations": 24,
}


def build() -> None:
    """Lay the page out inside the current `gr.Blocks`."""
    PARCELS.mkdir(parents=True, exist_ok=True)
    gr.set_static_paths([PARCELS])
    with framed("finetune_controls", channel="finetune", server_functions=SERVED):
        Instrument("finetune_run", channel="finetune")
        Instrument("finetune_curves", channel="finetune")
        with gr.Row(elem_id="lp-probe"):
            with gr.Column(elem_id="lp-probe-bands"):
                Instrument("finetune_probe", channel="finetune")
            with gr.Column(elem_id="lp-probe-matrix"):
                Instrument("matrix", channel="probe")
        Instrument("finetune_runs", channel="finetune")
        Instrument("finetune_takeaway", channel="finetune")


def page_data() -> dict[str, object]:
    """What the instruments of this page know from the start."""
    plan = TrainingPlan().to_json()
    first = {name: value for name, value in plan.items() if name != "own_loss"}
    kept = {name: plan["data"][name] for name in (*SHARED, *sum(ENTRIES.values(), ()))}
    first["steps"] = FIRST_STEPS
    first["data"] = {"source": "practice", "practice": next(iter(PRACTICE)), "link": "", **kept}
    return {
        "first": first,
        "quick": QUICK,
        "more_evaluations": MORE_EVALUATIONS,
        "ranges": {**RANGES, "seeds": SEEDS},
        "schedules": SCHEDULES,
        "augmentations": AUGMENTATIONS,
        "practice": list(PRACTICE),
        "examples": [name for name, example in textbook.EXAMPLES.items() if example.encodable],
        "scratch": SCRATCH,
        "embedded": EMBEDDED,
        "source": _printed(),
        "shared": is_hosted(),
    }


def _printed() -> dict[str, object]:
    """The figures of the source's table, row by row."""
    rows = {
        figure: [
            {
                "model": model,
                "loss": loss,
                "values": [*values, source.AVERAGES[figure][model, loss]],
            }
            for (model, loss), values in table.items()
        ]
        for figure, table in source.FIGURES.items()
    }
    return {"citation": source.CITATION, "sets": source.DATA_SETS, **rows}


# Where runs are kept: see `--runs`


@functools.cache
def runs() -> Runs:
    return Runs(device=str(device.device()))


# What is asked for


def _plan(chosen: object) -> TrainingPlan:
    """The plan that the page sends, with its data found on the server."""
    if not isinstance(chosen, dict) or not isinstance(chosen.get("data"), dict):
        raise Problem("scenario_entry", where="plan", value=str(chosen)[:60])
    plan = {name: value for name, value in chosen.items() if name not in ("data", "own_loss")}
    if not str(plan.get("encoder", EMBEDDED)).strip():
        raise Problem("training_no_encoder")
    spec = LOSSES.get(plan.get("loss"))
    if spec and spec.group == "own":
        plan["own_loss"] = f"{inspect.getfile(spec.function)}:{spec.function.__name__}"
    made = TrainingPlan.from_json({**plan, "data": _shared(chosen["data"])})
    return dataclasses.replace(made, data=_found(made.data, chosen["data"]))


def _shared(given: dict) -> dict[str, object]:
    if given.get("source") not in ENTRIES:
        raise Problem("scenario_entry", where="data.source", value=str(given.get("source"))[:60])
    wanted = (*SHARED, *ENTRIES[given["source"]])
    return {name: given[name] for name in wanted if name in given}


def _found(known: TrainingData, given: dict) -> TrainingData:
    where = given["source"]
    if where == "practice":
        if given.get("practice") not in PRACTICE:
            value = str(given.get("practice"))[:60]
            raise Problem("scenario_entry", where="data.practice", value=value)
        rows = practice_pairs(given["practice"])
        return dataclasses.replace(known, source="rows", name=given["practice"], rows=_text(rows))
    if where == "link":
        name, rows = _linked(_scene(given).data)
        return dataclasses.replace(known, source="rows", name=name, rows=rows)
    if where == "file":
        files = {"file": _uploaded(known.file, "file")}
        if known.held_out_file:
            files["held_out_file"] = _uploaded(known.held_out_file, "held_out_file")
        return dataclasses.replace(known, source="file", **files)
    if where == "hub" and not known.hub.strip():
        raise Problem("training_no_hub_id")
    return dataclasses.replace(known, source=where)


def _text(rows: tuple) -> tuple[tuple[str, str, str], ...]:
    return tuple((first, second, f"{label:g}") for first, second, label in rows)


def _scene(given: dict) -> Scenario:
    """The scene in a link of the Explore page."""
    link = str(given.get("link", "")).strip().rpartition("#")[2]
    if not link:
        raise Problem("training_no_link")
    return Scenario.from_link(link)


def _linked(scene: Data) -> tuple[str, tuple[tuple[str, str, str], ...]]:
    """The name and the rows of a scene's data."""
    if not has_words(scene):
        raise Problem("training_no_words", name=scene.source)
    pairs = load_pairs(scene)
    rows = zip(pairs.first, pairs.second, pairs.labels, strict=True)
    return scene.file or scene.example, _text(tuple(rows))


# Uploads


def _uploaded(token: str, where: str) -> str:
    """The path of an upload, by the token that it was given."""
    if not token:
        raise Problem("training_no_file")
    if not _TOKEN.fullmatch(token):
        raise Problem("scenario_entry", where=f"data.{where}", value=token[:60])
    path = UPLOADS / token
    if not path.exists():
        raise Problem("training_file_gone")
    return str(path)


def _hand_in(request: object) -> dict[str, object]:
    """{name, content: base64} → the file's token, with what `_describe` says of it."""
    if not isinstance(request, dict) or not isinstance(request.get("content"), str):
        raise Problem("scenario_entry", where="file", value=str(request)[:60])
    name = Path(str(request.get("name") or "file")).name[:200]
    try:
        content = base64.b64decode(request["content"], validate=True)
    except binascii.Error as error:
        raise Problem("scenario_entry", where="file", value=name) from error
    UPLOADS.mkdir(parents=True, exist_ok=True)
    token = hashlib.sha256(content + name.encode("utf-8", "replace")).hexdigest()[:32]
    path = UPLOADS / token
    with whole_file(path) as file:
        file.write(content)
    return _describe({"file": token, "name": name})


def _describe(request: dict) -> dict[str, object]:
    """{file: token, name, columns?} → its columns, which of them serve, how many pairs it has."""
    token, name = str(request.get("file")), str(request.get("name"))[:200]
    path, columns = Path(_uploaded(token, "file")), dict(request.get("columns") or {})
    known = {"file": token, "name": name}
    try:
        table = tables.read_file(path, name, columns=columns or None, most=RANGES["most"][1])
    except Problem as problem:
        if problem.key not in CHOOSE_COLUMNS:
            raise
        chosen = {**dict.fromkeys(PAIR_ROLES, ""), **columns}
        listed = read_grid(path.read_bytes(), name, None).columns
        return {**known, "problem": problem.to_json(), "columns": listed, "chosen": chosen}
    return {
        **known,
        "columns": table.columns,
        "chosen": table.chosen,
        "used": len(table.pairs),
        "total": table.total,
        "encoding": table.encoding,
    }


# Answers


@functools.lru_cache(maxsize=4)
def _corpus(known: TrainingData, seed: int) -> data.Corpus:
    return data.read(TrainingPlan(data=known, seed=seed))


def _check(request: dict) -> dict[str, object]:
    """{plan} → what the data holds, which losses can learn from it, how long the run will be."""
    chosen = request.get("plan")
    plan = _plan(chosen)
    check_encoder(plan)
    corpus = _corpus(plan.data, plan.seed)
    reasons = data.losses_for(plan, corpus)
    return {
        **_outlook(plan, corpus),
        "repetition": _repetition(plan, corpus),
        "of_scene": _chosen_in(chosen["data"]),
        "sample": _sample(corpus.train),
        "losses": {name: reason and reason.to_json() for name, reason in reasons.items()},
        "train": len(corpus.train),
        "held_out": len(corpus.held_out),
        "labels": [min(corpus.labels), max(corpus.labels), len(set(corpus.labels))],
        "skipped": corpus.skipped,
        "shared": corpus.shared,
        "rate": plan.rate,
        "minutes": limits.most_seconds() / 60 if is_hosted() else None,
    }


def _outlook(plan: TrainingPlan, corpus: data.Corpus) -> dict[str, object]:
    """Why the plan cannot be trained, or on how many examples, in how many steps of which pace."""
    refused = data.why_not(plan, corpus) or limits.why_not(plan, corpus)
    count = data.examples(plan, corpus.train)
    return {
        "refused": refused and refused.to_json(),
        "examples": count,
        "steps": plan.steps_for(count),
        "pace": _pace_key(plan),
    }


def _repetition(plan: TrainingPlan, corpus: data.Corpus) -> dict[str, object]:
    """How many runs the source's experiment takes on this data, and the outlook for each."""
    plans = source.experiment(plan)
    losses = {one.loss: _outlook(one, corpus) for one in plans}.values()
    worst = next((outlook for outlook in losses if outlook["refused"]), next(iter(losses)))
    return {"count": len(plans), **worst}


def _chosen_in(given: dict) -> dict[str, object] | None:
    """What was chosen beside the data in the scene of a link: its loss, and its rules."""
    if given["source"] != "link":
        return None
    scene = _scene(given)
    if scene.loss not in LOSSES:
        return None
    rules = {name: getattr(scene.rules, name) for name in ("threshold", "extra_negatives")}
    form = {"loss": scene.loss, "convention": scene.convention}
    return {**form, "parameters": dict(scene.parameters), **rules}


def _sample(pairs: Sequence[data.Pair]) -> list[data.Pair]:
    """A pair of the highest label, one from the middle, and one of the lowest."""
    ordered = sorted(pairs, key=lambda pair: -pair[2])
    places = sorted({0, len(ordered) // 2, len(ordered) - 1})
    return [
        (a[:MOST_LETTERS], b[:MOST_LETTERS], label)
        for a, b, label in map(ordered.__getitem__, places)
    ]


# Two trial steps are the same for all who ask, so the times of the last ones are kept; one trial
# at a time, and none beside a run.
_trial = threading.Lock()
_paces: dict[str, dict[str, float]] = {}
MOST_PACES = 256
PACE = ("seconds_to_load", "seconds_per_step", "seconds_per_evaluation")


def _estimate(request: dict) -> dict[str, object]:
    """{plan, repetition?} → seconds to load, and for each step and evaluation, of the plan or of
    one run of the source's experiment on its data, here; {} while a run trains."""
    plan = _plan(request.get("plan"))
    if request.get("repetition"):
        plan = source.experiment(plan)[0]
    key = _pace_key(plan)
    if known := _paces.get(key):
        return known
    if runs().busy() or not _trial.acquire(blocking=False):
        return {}
    try:
        found = estimate(plan, runs().device, wanted=_nobody_trains)
        if found is None:
            return {}
        pace = _paces[key] = {name: found[name] for name in PACE}
        if len(_paces) > MOST_PACES:
            del _paces[next(iter(_paces))]
        return pace
    finally:
        _trial.release()


def _nobody_trains() -> bool:
    progress.step("trial")  # ends here once the page no longer waits
    return not runs().busy()


def _pace_key(plan: TrainingPlan) -> str:
    """All of a plan but what makes no step of it slower: how many there are, and mere numbers."""
    usual = TrainingPlan()
    same = {name: getattr(usual, name) for name in NOT_SLOWER}
    choices = tuple((n, v) for n, v in plan.parameters if isinstance(v, bool | str | tuple))
    slow = dataclasses.replace(plan, **same, parameters=choices)
    return hashlib.sha256(json.dumps(slow.to_json()).encode()).hexdigest()


NOT_SLOWER = (
    *("steps", "epochs", "evaluations", "seed", "threshold"),
    *("learning_rate", "schedule", "warmup", "weight_decay", "clipping"),
)


def _start(request: dict) -> dict[str, object]:
    """{plans} → the names of the queued runs; all are checked before any is queued."""
    plans = request.get("plans")
    if not isinstance(plans, list) or not 0 < len(plans) <= MOST_AT_ONCE:
        raise Problem("training_many", most=MOST_AT_ONCE)
    return {"started": compare.start_all(runs(), [_plan(plan) for plan in plans])}


def _repeat(request: dict) -> dict[str, object]:
    """{plan} → the names of the runs that repeat the source's experiment on its data."""
    return {"started": compare.start_all(runs(), source.experiment(_plan(request.get("plan"))))}


MOST_AT_ONCE = 24


def _watch(request: dict) -> dict[str, object]:
    """{offsets: {name: offset}, list, known} → how these runs are doing, and, asked to, all runs.

    On a Space, which strangers share, all are those that the visitor began or was told the name of.
    """
    answer: dict[str, object] = {"runs": {}}
    for name, offset in dict(request.get("offsets") or {}).items():
        try:
            answer["runs"][name] = _slim(runs().status(name, max(int(offset), 0)))
        except Problem as problem:
            answer["runs"][name] = {"error": problem.to_json()}
    if request.get("list"):
        listed = runs().listed()
        if is_hosted():
            known = set(map(str, request.get("known") or ()))
            listed = [status for status in listed if status["id"] in known]
        answer["listed"] = [_slim(status) for status in listed]
    return answer


def _slim(status: dict) -> dict:
    """Without the rows: the page asks often, and does not show them."""
    plan = status["plan"]
    slim = {name: value for name, value in plan["data"].items() if name != "rows"}
    return {**status, "plan": {**plan, "data": slim}}


def _steer(request: dict) -> dict[str, object]:
    what = request.get("what")
    if what not in ("pause", "resume", "stop", "delete"):
        raise Problem("scenario_entry", where="what", value=str(what)[:60])
    getattr(runs(), what)(request.get("run"))
    return {}


def _probe(request: dict) -> dict[str, object]:
    """{run, step, scenario, known} → the picture of the probe batch at a recorded step."""
    scenario = Scenario.from_json(request.get("scenario"))
    name, step = request.get("run"), request.get("step")
    if type(step) is not int:
        raise Problem("scenario_entry", where="step", value=str(step)[:60])
    found = compare.exploration(runs(), name, step, scenario)
    answer: dict[str, object] = {"picture": {**picture(found), "remarks": []}}
    if request.get("known") != name:
        bands = runs().probe(name)["bands"]
        answer["batch"] = {"key": name, "bands": bands, **describe_batch(found.batch)}
    return answer


def _figure(request: dict) -> dict[str, object]:
    """{run, step, scenario, language, dark, origin} → the probe batch as an SVG."""
    scenario = Scenario.from_json(request.get("scenario"))
    language, step = request.get("language"), request.get("step")
    if language not in LANGUAGES:
        raise Problem("scenario_entry", where="language", value=str(language)[:60])
    if type(step) is not int:
        raise Problem("scenario_entry", where="step", value=str(step)[:60])
    found = compare.exploration(runs(), request.get("run"), step, scenario)
    origin = str(request.get("origin") or "")[:MOST_LETTERS]
    dark = request.get("dark") is True
    return {"text": matrix_figure(found, language=language, dark=dark, origin=origin)}


def _remark(request: dict) -> dict[str, object]:
    """{run} → what is striking about it so far, and once it has ended, what it gained."""
    name = request.get("run")
    gained = remarks.gain_of(runs(), name)
    return {
        "remarks": [dataclasses.asdict(remark) for remark in remarks.remarks(runs(), name)],
        "gain": gained and dataclasses.asdict(gained),
    }


def _compare(request: dict) -> dict[str, object]:
    """{runs} → a table of finished runs with tests; and what one of them moved."""
    names = [str(name) for name in request.get("runs") or []]
    answer: dict[str, object] = compare.table(runs(), names)
    ended = [name for name in names if (runs().folder(name).path / "after.npz").exists()]
    if ended:
        answer["run"] = ended[0]
        answer["moved"] = compare.moved_pairs(runs(), ended[0])
        answer["neighbours"] = compare.neighbours(runs(), ended[0], most=3)[:20]
    return answer


# What can be taken away as text: its file, its type, and what makes it; and as a file that the
# server packs.
TEXTS = {
    "json": ("{run}.json", "application/json", takeaway.run_json),
    "csv": ("{run}.csv", "text/csv", takeaway.run_csv),
    "script": ("train.py", "text/x-python", takeaway.script),
}
PACKED = {"model": ("-model.zip", takeaway.model_zip), "kit": ("-train.zip", takeaway.script_zip)}


def _take(request: dict) -> dict[str, object]:
    """{run, what} → a file's name with its type and text, or with the path it is served from."""
    what, name = request.get("what"), request.get("run")
    folder = runs().folder(name)
    if what in TEXTS:
        file, kind, make = TEXTS[what]
        return {"name": file.format(run=name), "type": kind, "text": make(runs(), name)}
    if what not in PACKED:
        raise Problem("scenario_entry", where="what", value=str(what)[:60])
    ending, pack = PACKED[what]
    (PARCELS / folder.name).mkdir(parents=True, exist_ok=True)  # the last parcel of each kind stays
    path = pack(runs(), name, PARCELS / folder.name / f"{name}{ending}")
    return {"name": path.name, "path": path.as_posix()}


def _of_runs(name: str, answer: Callable[[dict], dict]) -> Callable[[object], dict]:
    """Served; a run that is deleted while it is read is a run that is not there."""

    def asked(request: dict) -> dict[str, object]:
        try:
            return answer(request)
        except FileNotFoundError:
            for run in (request.get("run"), *(request.get("runs") or ())):
                if run is not None:
                    runs().folder(run)
            raise

    return served(name, asked)


SERVED: list[Callable] = [
    served("check", _check),
    served("estimate", _estimate),
    served("start", _start),
    served("repeat", _repeat),
    served("watch", _watch),
    _of_runs("steer", _steer),
    _of_runs("probe", _probe),
    _of_runs("figure", _figure),
    _of_runs("remark", _remark),
    _of_runs("compare", _compare),
    _of_runs("take", _take),
    served("hand_in", _hand_in),
    served("describe", _describe),
    *JOBS,
]
