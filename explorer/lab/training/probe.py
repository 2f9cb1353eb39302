"""The probe batch of a run as `explore` shows it, at any step that was recorded, and the value at
collapse of its own batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from explorer.core.batch import batch_of_scores, batch_of_vectors
from explorer.core.explore import Exploration, explore
from explorer.core.scenario import Rules, Scenario
from explorer.lab.training.folder import from_nulls
from explorer.lab.training.plan import TrainingPlan
from explorer.lab.training.rows import LISTS, PAIRS, Material, form_of
from explorer.runtime.problem import Problem
from explorer.sources.pairs import Pairs
from losses.labels import LabelRules

# Batches of a run that are drawn again, each of so many pairs at most.
DRAWN_BATCHES, MOST_DRAWN_PAIRS = 16, 1024


def explored(
    plan: TrainingPlan,
    probe: Mapping,
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
    ends = probe.get("label_range")  # of an earlier version there are none
    rules = Rules(
        threshold=probe["threshold"],
        label_range=tuple(ends) if ends else None,
        extra_negatives=plan.extra_negatives,
        twins="leave_out" if plan.leaves_twins_out else "keep",
    )
    crosses = plan.encoder if plan.kind == "cross" else ""  # whose scores are logits
    data = dataclasses.replace(scenario.data, cross_encoder=crosses)
    scenario = dataclasses.replace(scenario, rules=rules, data=data)
    pairs = Pairs(
        tuple(probe["first"]),
        tuple(probe["second"]),
        tuple(map(float, probe["labels"])),
        labelled=probe.get("labelled", True),
        teacher=tuple(from_nulls(probe["teacher"])) if probe.get("teacher") else None,
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
    plan: TrainingPlan, material: Material, rules: LabelRules, labelled: bool
) -> list[float]:
    """The loss of the plan on random batches of its own rows if all sentences were alike. Empty
    where the batches are not of pairs or lists, or the loss has no such value on them."""
    form, rows = form_of(plan, material), [[place] for place in range(len(material.pairs))]
    if form == LISTS:
        rows = material.lists_for(plan.spec)
    if form not in (PAIRS, LISTS) or plan.spec.collapse is None or not rows:
        return []
    draw = np.random.default_rng(0)
    found = []
    for _ in range(DRAWN_BATCHES):
        chosen = draw.permutation(len(rows))[: plan.batch_size]
        pairs = [material.pairs[place] for row in chosen for place in rows[row]]
        first, second, labels = zip(*pairs[:MOST_DRAWN_PAIRS], strict=True)
        batch = {"first": first, "second": second, "labels": labels, "labelled": labelled}
        vectors = draw.normal(size=(2 * len(first), 8)) if plan.kind == "bi" else None
        try:
            explored_batch = explored(
                plan, {**batch, **rules._asdict()}, draw.normal(size=len(first)), vectors
            )
        except Problem:  # it reads what only the training had: a guide, a teacher
            return []
        found.append(explored_batch.collapse)
    return [value for value in found if value is not None]
