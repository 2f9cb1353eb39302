"""A run folder of LossPrism: its plan and its log."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lossprism.explorer.lab.doctor.logs.log import Log, curves_of
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known, known_as_trained
from lossprism.explorer.lab.training.data import material_of, rules_of
from lossprism.explorer.lab.training.loss_at_collapse_on_random_training_batches import (
    values_at_collapse,
)
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.lab.training.run_json_types import EvaluationRecord, RunConfig, StepRecord
from lossprism.explorer.lab.training.teacher_scores import vectors_of
from lossprism.explorer.lab.training.trainer_rows import examples
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES

# Curves of a step's record and of an evaluation's.
STEP_CURVES = ("loss", "gradient_norm", "learning_rate")
NO_CURVES = ("kind", "step", "seconds", "probe")


def read(folder: Path) -> Log:
    """Read the log. Raises Problem where the folder is damaged or has no step yet."""
    run = RunFolder(folder)
    config = run.config
    plan = config.plan
    curves = curves_of(_points(run))
    if not curves:
        raise Problem("run_nothing_logged", name=folder.name)
    precision = "bf16" if plan.get("bf16") else ""
    known = _known(plan, lambda: _negatives(run, config))
    log = Log("ours", curves, known, str(plan.get("loss", "")), precision)
    return replace(log, **_of_rows(run, config, log))


def _of_rows(run: RunFolder, config: RunConfig, log: Log) -> dict[str, Any]:
    """Return the epochs and the value at collapse of batches from the rows of the run.

    Nothing where they are not there, or the plan is none of this version.
    """
    try:
        plan, material = TrainingPlan.from_run(config.plan), material_of(run)
        if plan.loss not in LOSSES:  # a loss from a file, which is not run to read a log
            return {}
        rules = rules_of(run, plan)
        labelled, taught = config.labelled, vectors_of(run, plan)
        values = values_at_collapse(plan, material, rules, labelled, taught)
    except (Problem, FileNotFoundError):
        return {}
    count, steps = examples(plan, material), max(one.steps[-1] for one in log.curves.values())
    known: dict[str, Any] = {"epochs": float(steps) * plan.batch_size / count if count else None}
    if values:
        error = float(np.std(values)) / math.sqrt(len(values))
        known["drawn_collapse"] = (float(np.mean(values)), error)
    return known


def _negatives(run: RunFolder, config: RunConfig) -> int | None:
    """Number of each query's own negatives in the training; None for pairs that came as no
    triplets."""
    triplets = material_of(run).given_triplets if config.triplets else []
    return len(triplets[0][1]) if triplets else None


def _known(plan: dict, negatives: Callable[[], int | None]) -> Known:
    name, batch = str(plan.get("loss", "")), plan.get("batch_size")
    if name not in LOSSES or LOSSES[name].parts:
        return Known()
    chosen = plan.get("parameters")
    chosen = dict(chosen) if isinstance(chosen, dict | list | tuple) else {}
    own_negatives = negatives() if "negatives" in LOSSES[name].reads.values() else None
    known = known_as_trained(name, chosen, batch if isinstance(batch, int) else None, own_negatives)
    score = {"cross": "logit", "bi": "cosine"}.get(str(plan.get("kind", "")), "")
    return replace(known, convention=str(plan.get("convention", "")), score=score)


def _points(run: RunFolder) -> Iterator[tuple[str, object, object]]:
    for record in run.history():
        if isinstance(record, StepRecord):
            for name in STEP_CURVES:
                yield name, record.step, getattr(record, name)
        elif isinstance(record, EvaluationRecord):
            for name, value in vars(record).items():
                if name not in NO_CURVES and isinstance(value, int | float):
                    yield f"eval_{name}", record.step, value
