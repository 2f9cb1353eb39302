"""The probe batch of a run as `explore` shows it, at any step that was recorded, and the value at
collapse of its own batches."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import torch

from lossprism.explorer.core.batch import batch_of_scores, batch_of_vectors
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.scenario import Rules, Scenario
from lossprism.explorer.lab.training.data import rules_of
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_folder import null_as_nan
from lossprism.explorer.lab.training.run_json_types import EvaluationRecord, Probe
from lossprism.explorer.lab.training.trainer_rows import (
    CLASSES,
    LISTS,
    TRIPLETS,
    Material,
    classes_of,
    form_of,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs, distinct
from lossprism.losses.label_scale import LabelRules

# Batches of a run that are drawn again, and the most pairs of each.
DRAWN_BATCHES, MAX_DRAWN_PAIRS = 16, 1024
TeacherVectors = Callable[[Sequence[str]], torch.Tensor]


def probe_exploration(
    runs: Runs, name: str, step: int, scenario: Scenario | None = None
) -> Exploration:
    """Return the loss of the run (or of a scenario) on its probe batch at a recorded step."""
    evaluations = [one for one in runs.history(name) if isinstance(one, EvaluationRecord)]
    probe = runs.probe(name)
    if not evaluations or probe is None:
        raise Problem("training_not_finished", name=name)
    record = min(evaluations, key=lambda one: abs(one.step - step))
    vectors = runs.probe_vectors(name, record.step)
    scores = np.array(record.probe)
    plan = runs.plan(name)
    if probe.threshold is None or probe.label_range is None:  # of an earlier version
        rules = rules_of(runs.folder(name), plan)
        probe = dataclasses.replace(probe, threshold=rules.threshold, label_range=rules.label_range)
    guide, taught = runs.probe_guide(name), runs.probe_teacher(name)
    return explored(plan, probe, scores, vectors, scenario, guide, taught)


def explored(
    plan: TrainingPlan,
    probe: Probe,
    scores: np.ndarray,
    vectors: np.ndarray | None,
    scenario: Scenario | None = None,
    guide: np.ndarray | None = None,
    teacher_vectors: np.ndarray | None = None,
) -> Exploration:
    """The loss of the plan (or of a scenario) on the probe batch with these scores or vectors.

    A bi-encoder's vectors [S, D] are those of the sentences in the order of `Pairs.sentences`
    (more may follow); a cross-encoder has scores only, and a loss that reads vectors is refused. A
    `guide` has given its own vectors [S, G] of these sentences, a teacher `teacher_vectors`.
    """
    if scenario is None:
        scenario = Scenario(loss=plan.loss, convention=plan.convention, parameters=plan.parameters)
    rules = Rules(
        threshold=probe.threshold,
        label_range=probe.label_range,
        extra_negatives=plan.extra_negatives,
        twins="leave_out" if plan.leaves_duplicates_out else "keep",
    )
    crosses = plan.encoder if plan.kind == "cross" else ""  # its scores are logits
    data = dataclasses.replace(scenario.data, cross_encoder=crosses)
    scenario = dataclasses.replace(scenario, rules=rules, data=data)
    pairs = Pairs(
        tuple(probe.first),
        tuple(probe.second),
        tuple(map(float, probe.labels)),
        labelled=probe.labelled,
        teacher=tuple(null_as_nan(probe.teacher)) if probe.teacher else None,
        guide=guide,
        teacher_vectors=teacher_vectors,
    )
    if len(pairs) == 0:
        raise Problem("training_no_probe")
    if vectors is None:
        scored = dataclasses.replace(pairs, scores=tuple(map(float, scores[: len(pairs)])))
        return explore(scenario, batch_of_scores(scored, rules))
    return explore(scenario, batch_of_vectors(pairs, vectors[: len(pairs.sentences)], rules))


def values_at_collapse(
    plan: TrainingPlan,
    material: Material,
    rules: LabelRules,
    labelled: bool,
    vectors_of: TeacherVectors | None = None,
) -> list[float]:
    """The loss of the plan on random batches of its own rows if all sentences were alike; a teacher
    gives `vectors_of` texts. Empty for batches of triplets, or where the loss has no such value on
    them."""
    form, draw = form_of(plan, material), np.random.default_rng(0)
    if plan.spec.collapse is None or form == TRIPLETS:
        return []
    if form == CLASSES:
        return _with_classes(plan, material, rules, draw)
    rows = [[place] for place in range(len(material.pairs))]
    if form == LISTS:
        rows = material.lists_for(plan.spec)
    values = []
    for _ in range(DRAWN_BATCHES if rows else 0):
        chosen = draw.permutation(len(rows))[: plan.batch_size]
        places = [place for row in chosen for place in rows[row]][:MAX_DRAWN_PAIRS]
        try:
            values.append(_collapse_of(plan, material, rules, labelled, vectors_of, places, draw))
        except Problem:  # it needs inputs that only the training had, such as a guide
            return []
    return [value for value in values if value is not None]


def _collapse_of(
    plan: TrainingPlan,
    material: Material,
    rules: LabelRules,
    labelled: bool,
    vectors_of: TeacherVectors | None,
    places: Sequence[int],
    draw: np.random.Generator,
) -> float | None:
    """The same of the batch of the pairs at these places."""
    first, second, labels = zip(*(material.pairs[place] for place in places), strict=True)
    teacher = material.teacher and [material.teacher[place] for place in places]
    texts = distinct(first, second)
    taught = None if vectors_of is None else np.asarray(vectors_of(texts))
    vectors = None
    if plan.kind == "bi":
        vectors = draw.normal(size=(len(texts), 8 if taught is None else taught.shape[1]))
    scores = draw.normal(size=len(first))
    probe = Probe(
        first=list(first),
        second=list(second),
        labels=list(labels),
        labelled=labelled,
        teacher=list(teacher) if teacher else None,
        **rules._asdict(),
    )
    return explored(plan, probe, scores, vectors, teacher_vectors=taught).collapse


def _with_classes(
    plan: TrainingPlan, material: Material, rules: LabelRules, draw: np.random.Generator
) -> list[float]:
    """Draw values for sentences with classes: each class of the data has a prototype."""
    classes = np.array([*classes_of(material.pairs, rules.threshold).values()])
    assert plan.spec.collapse is not None
    values = []
    for _ in range(DRAWN_BATCHES):
        drawn = torch.from_numpy(draw.permutation(classes)[: plan.batch_size])
        inputs = {
            "embeddings": torch.zeros(len(drawn), 1),
            "classes": drawn,
            "prototypes": torch.zeros(len(set(classes.tolist())), 1),
        }
        values.append(plan.spec.collapse(inputs, **plan.settings))
    return [value for value in values if value is not None]
