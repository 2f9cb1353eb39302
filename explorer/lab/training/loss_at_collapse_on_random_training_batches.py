"""The value of a run's loss for equal embeddings, on random batches of the run's own rows."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.probe_batch_exploration import explored
from lossprism.explorer.lab.training.run_json_types import Probe
from lossprism.explorer.lab.training.trainer_rows import (
    CLASSES,
    LISTS,
    TRIPLETS,
    Material,
    classes_of,
    form_of,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import distinct
from lossprism.losses.labels import LabelRules

# Batches of a run that are drawn again, and the most pairs of each.
DRAWN_BATCHES, MAX_DRAWN_PAIRS = 16, 1024


TeacherVectors = Callable[[Sequence[str]], torch.Tensor]


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
