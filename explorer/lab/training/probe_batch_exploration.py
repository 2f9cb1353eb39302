"""The probe batch of a run as `explore` shows it, at any step that was recorded."""

import dataclasses

import numpy as np

from lossprism.explorer.core.batch import batch_of_scores, batch_of_vectors
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.scenario import Rules, Scenario
from lossprism.explorer.lab.training.data import rules_of
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_folder import null_as_nan
from lossprism.explorer.lab.training.run_json_types import EvaluationRecord, Probe
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs


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
