"""Downloads of a run: the model, the log, and a script that trains it again."""

import csv
import io
import json
import math
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lossprism import bare_names, losses
from lossprism.explorer.core.own_loss_from_python_file import check_consent
from lossprism.explorer.core.rank_correlation import TIE_LIMIT
from lossprism.explorer.export.jinja_template_renderer import render
from lossprism.explorer.export.trainer_program import python_name
from lossprism.explorer.lab.training import starting_model
from lossprism.explorer.lab.training.data import Pair, material_of, rules_of
from lossprism.explorer.lab.training.held_out_list_metrics import TITLES, list_figures
from lossprism.explorer.lab.training.held_out_metrics import GEOMETRY, MAX_PLACES, HeldOut
from lossprism.explorer.lab.training.metric_uncertainty import ALL_FIGURES
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.lab.training.run_json_types import (
    EvaluationRecord,
    ListFigures,
    Measured,
    StepRecord,
    Summary,
)
from lossprism.explorer.lab.training.run_progress_and_plan_reader import NO_PLACES
from lossprism.explorer.lab.training.teacher_scores import teacher_scores_pairs
from lossprism.explorer.lab.training.trainer_rows import LISTS, Material, columns_for, form_of
from lossprism.explorer.runtime.atomic_write import atomic_write
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.local_path import local_path
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders.bundled_encoder import is_embedded
from lossprism.losses.labels import LabelRules

_OF_STEPS = ("loss", "gradient_norm", "learning_rate", "seconds")
_OF_EVALUATIONS = (*ALL_FIGURES, *GEOMETRY)


def run_json(runs: Runs, name: str) -> str:
    """Plan, summary and every record of a run."""
    status = runs.status(name)
    about = {key: getattr(status, key) for key in ("created", "state", "summary")}
    about = {"id": runs.folder(name).name, **about}
    plan = runs.plan(name).to_json()
    if not deployment_policy().reads_local_paths:
        plan["data"] = {**plan["data"], **NO_PLACES}
    whole = {**about, "plan": plan, "probe": runs.probe(name), "records": runs.history(name)}
    return json.dumps(plain(whole), ensure_ascii=False, indent=1)


def run_csv(runs: Runs, name: str) -> str:
    """A row for each step, with the figures where the model was measured then."""
    rows: dict[int, dict] = {}
    for record in runs.history(name):
        if isinstance(record, StepRecord):
            columns = {key: getattr(record, key) for key in _OF_STEPS}
        elif isinstance(record, EvaluationRecord):
            columns = {**_known(record, _OF_EVALUATIONS), **_of_lists(record)}
        else:
            continue
        rows.setdefault(record.step, {"step": record.step}).update(columns)
    out = io.StringIO()
    of_lists = [f"{name}_of_lists" for name in TITLES]
    writer = csv.DictWriter(out, ["step", *_OF_STEPS, *_OF_EVALUATIONS, *of_lists])
    writer.writeheader()
    writer.writerows(rows[step] for step in sorted(rows))
    return out.getvalue()


def model_zip(runs: Runs, name: str, path: str | Path) -> Path:
    """Pack the model as a folder of sentence-transformers; pack again if the run replaced it
    meanwhile."""
    while True:
        model = runs.folder(name).model
        runs.folder(name).check_links()
        before = _version_of(model)
        if before is None:
            raise Problem("training_no_model", name=name)
        try:
            packed = _zipped(Path(path), _files(model, runs.folder(name).name))
        except FileNotFoundError:
            if _version_of(model) == before:
                raise
        else:
            if _version_of(model) == before:
                return packed


def _version_of(folder: Path) -> tuple[int, int] | None:
    """Identify a folder, to notice another in its place; None where there is none."""
    try:
        about = folder.stat()
    except FileNotFoundError:
        return None
    return about.st_ino, about.st_mtime_ns


def script_zip(runs: Runs, name: str, path: str | Path, own_loss: str = "") -> Path:
    """Pack train.py with its files: pairs, losses, and the starting model.

    `own_loss` permits packing the file of the run's own loss, as in `Runs.resume`.
    """
    run = runs.folder(name)
    plan = runs.plan(name)
    run.check_links()
    check_consent(plan.own_loss, own_loss)
    parts: list[tuple[str, str | bytes]] = [
        ("train.py", script(runs, name)),
        ("train.jsonl", _examples(plan, run)),
        ("held_out.jsonl", _rows(run.read_pairs("held_out.jsonl"))),
        ("requirements.txt", _requirements(plan)),
    ]
    # As in a checkout, where an own loss finds `losses` by its bare name as well.
    package = Path(bare_names.__file__).parent
    parts += [(f"lossprism/{file.name}", file.read_bytes()) for file in package.glob("*.py")]
    package = Path(losses.__file__).parent
    parts += [(f"losses/{at}", data) for at, data in _files(package, "")]
    if plan.encoder == SCRATCH:
        if not run.start.is_dir():
            raise Problem("training_no_start", name=name)
        parts += [(f"start/{at}", data) for at, data in _files(run.start, "")]
    if plan.own_loss:
        place = local_path(plan.own_loss.rpartition(":")[0])
        parts.append(("own_loss.py", place.read_bytes()))
    return _zipped(Path(path), parts)


def _requirements(plan: TrainingPlan) -> str:
    return render("requirements.txt", embedded=_needs_embedded(plan), lora=bool(plan.lora))


def _needs_embedded(plan: TrainingPlan) -> bool:
    return any(map(is_embedded, starting_model.models_of(plan)))


def _files(folder: Path, under: str) -> Iterable[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            name = "/".join(filter(None, (under, file.relative_to(folder).as_posix())))
            yield name, file.read_bytes()


def _zipped(path: Path, parts: Iterable[tuple[str, str | bytes]]) -> Path:
    with atomic_write(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in parts:
            packed.writestr(name, data)
    return path


def _examples(plan: TrainingPlan, run: RunFolder) -> str:
    """Return the rows of the trainer; the script calls a teacher of the plan itself."""
    columns = columns_for(plan, _untaught(plan, material_of(run)), rules_of(run, plan))
    rows = zip(*columns.values(), strict=True)
    return _lines(dict(zip(columns, row, strict=True)) for row in rows)


def _untaught(plan: TrainingPlan, material: Material) -> Material:
    """Return the pairs as they were before the plan's teacher scored them."""
    return replace(material, teacher=None, awaits_teacher=True) if plan.asks_teacher else material


def _rows(pairs: Iterable[Pair]) -> str:
    return _lines({"sentence1": a, "sentence2": b, "label": label} for a, b, label in pairs)


def _lines(rows: Iterable[dict]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def script(runs: Runs, name: str) -> str:
    """Return Python that trains the model of a run again, outside LossPrism."""
    plan, run = runs.plan(name), runs.folder(name)
    material, rules = _untaught(plan, material_of(run)), rules_of(run, plan)
    held_out_pairs = run.read_pairs("held_out.jsonl")
    held_out = HeldOut.of(held_out_pairs, (), rules.threshold)
    columns = columns_for(plan, material, rules)
    examples = len(next(iter(columns.values())))
    classes = len(set(columns["label"])) if plan.forms_classes else 0
    in_lists = form_of(plan, material) == LISTS
    arguments = plan.trainer_arguments(plan.steps_for(examples), examples, columns)
    del arguments["per_device_train_batch_size"]
    follows = plan.drawn_by == "in_order"
    if follows:
        del arguments["batch_sampler"]
    is_bi = plan.kind == "bi"
    model = "SentenceTransformer" if is_bi else "CrossEncoder"
    teacher_scores = plan.asks_teacher and teacher_scores_pairs(run, plan)
    moves_some = plan.layers >= 0 and not plan.lora
    return render(
        "train.py",
        run=run.name,  # without the token of a link
        kind="sentence" if is_bi else "cross",
        model=model,
        models=_imported(plan, model, teacher_scores),
        folder="sentence_transformer" if is_bi else "cross_encoder",
        is_cross=not is_bi,
        beside=_beside(plan),
        headline=_headline(runs.folder(name).summary),
        own_loss=plan.loss if plan.own_loss else "",
        loss=f'training_loss("{plan.loss}")',
        loss_imports=[
            "training_loss",
            "check_epoch",
            *(["in_order"] if follows else []),
            *(["move_only"] if moves_some else []),
            *(["whole_lists"] if in_lists and is_bi else []),
            *(["with_vectors"] if plan.learns_vectors else []),
        ],
        loss_arguments=plan.loss_arguments(rules.threshold, rules.label_range, classes),
        in_lists=in_lists,
        follows=follows,
        taught="teacher" in plan.spec.needs,
        teacher=python_name(plan.teacher_model) if plan.asks_teacher else "",
        teacher_scores=teacher_scores,
        vectors=plan.learns_vectors,
        guide=python_name(plan.guide) if plan.asks_guide else "",
        trainer_arguments=arguments,
        encoder=python_name(plan.encoder),
        prompts=_prompts(plan),
        default_prompt=starting_model.default_prompt(plan),
        sides_alike=plan.encodes_sides_alike,
        from_scratch=plan.encoder == SCRATCH,
        is_embedded=_needs_embedded(plan),
        lora=plan.lora,
        layers=plan.layers,
        seed=plan.seed,
        finds_keys=is_bi and held_out.is_positive,
        lists=_lists(held_out_pairs, rules),
        most_places=MAX_PLACES,
        batch=min(plan.batch_size, examples),
    )


def _prompts(plan: TrainingPlan) -> dict[str, str]:
    """The prompts that the script sets; empty where neither plan nor encoder has any."""
    has_some = any(plan.prompts.values()) or starting_model.own_prompts(plan.encoder)
    return plan.prompts if has_some and plan.kind == "bi" else {}


def _imported(plan: TrainingPlan, model: str, teacher_scores: bool) -> list[str]:
    """Names that the script imports from sentence-transformers."""
    teacher = "CrossEncoder" if teacher_scores else "SentenceTransformer"
    classes = [teacher] * plan.asks_teacher + ["SentenceTransformer"] * plan.asks_guide
    return sorted({model, f"{model}Trainer", *classes})


def _lists(held_out: Sequence[Pair], rules: LabelRules) -> dict | None:
    """Return the script's settings to measure lists; None where no held-out list can be
    measured."""
    figures = list_figures(held_out, np.zeros(len(held_out)), rules)
    if not (figures and figures.count):
        return None
    return {"floor": float(figures.floor), "relevant": float(rules.threshold), "tied": TIE_LIMIT}


def _headline(summary: Summary | None) -> list[str]:
    """List the run's measurements on its held-out pairs, where it has ended."""
    if summary is None:
        return []
    before, after = _named(summary.before), _named(summary.after)
    return [
        f"held-out {name}: {before.get(name, math.nan):.6f} -> {value:.6f}"
        for name, value in after.items()
    ]


def _named(measured: Measured) -> dict[str, float]:
    """Return the figures that have a value, by the names that the script prints."""
    return {**_known(measured, ALL_FIGURES), **_of_lists(measured)}


def _known(of: Measured | ListFigures, figures: Iterable[str]) -> dict[str, float]:
    """Return those of these figures that have a value."""
    values = {name: getattr(of, name) for name in figures}
    return {name: value for name, value in values.items() if value is not None}


def _of_lists(measured: Measured) -> dict[str, float]:
    """Return those of lists that have a value."""
    known = _known(measured.lists, TITLES) if measured.lists else {}
    return {f"{name}_of_lists": value for name, value in known.items()}


def _beside(plan: TrainingPlan) -> list[str]:
    """Return the files and folders that the script reads: examples, loss, starting model."""
    own = ["own_loss.py"] if plan.own_loss else []
    start = ["start/"] if plan.encoder == SCRATCH else []
    return ["train.jsonl", "held_out.jsonl", "losses/", "lossprism/", *own, *start]
