"""Rows for a trainer: pairs, sentences with classes, triplets, or whole lists.

    pairs      sentence1, sentence2, label                for losses on scored pairs and positives
    classes    sentence, label                            for losses against prototypes
    triplets   anchor, positive, negative_1 …             for losses on positives that take given
                                                          negatives, of data that came as triplets
    lists      sentence1, sentence2 [K], label [K]        for losses on lists and from a teacher

A list has one first sentence; for data that came as triplets, it is a row of them. For a loss that
learns from a teacher the label of a candidate is two numbers: its label, and the teacher's score.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_json_types import RowForm
from lossprism.explorer.sources.pairs import NEGATIVE
from lossprism.losses import LossSpec
from lossprism.losses.labels import LabelRules

Pair = tuple[str, str, float]
# A pair, and a teacher's score, NaN for none.
Taught = tuple[str, str, float, float]
AnyPair = TypeVar("AnyPair", Pair, Taught)

PAIRS: RowForm = "pairs"
CLASSES: RowForm = "classes"
TRIPLETS: RowForm = "triplets"
LISTS: RowForm = "lists"
LEAST_CANDIDATES = 2
# Inputs of a loss that takes given negatives.
_NEGATIVES = {"negatives", "embeddings"}


@dataclass(frozen=True)
class Material:
    """Training pairs. `teacher` has a score for each, NaN for a missing one; None without a
    teacher. With `triplets` the pairs of each row follow each other, positives before negatives.
    `awaits_teacher` is True if a model will score every candidate before the training begins."""

    pairs: Sequence[Pair]
    teacher: Sequence[float] | None = None
    triplets: bool = False
    awaits_teacher: bool = False

    @cached_property
    def lists(self) -> list[list[int]]:
        """The places of the pairs of each list, in order of appearance."""
        groups = self._of_rows() if self.triplets else by_first(self.pairs)
        return [places for places in groups if len(places) >= LEAST_CANDIDATES]

    @cached_property
    def taught_lists(self) -> list[list[int]]:
        """Lists in which the teacher scored every candidate."""
        scores = self.teacher
        if self.awaits_teacher:
            return self.lists
        if scores is None:
            return []
        return [one for one in self.lists if not any(math.isnan(scores[place]) for place in one)]

    def lists_for(self, spec: LossSpec) -> list[list[int]]:
        return self.taught_lists if "teacher" in spec.needs else self.lists

    @cached_property
    def given_triplets(self) -> list[tuple[int, tuple[int, ...]]]:
        """Each positive with the negatives of its row; where rows have different numbers of them,
        each negative by itself, so that each is learnt from."""
        triplets = []
        for places in self.lists if self.triplets else ():
            negatives = tuple(p for p in places if self.pairs[p][2] <= NEGATIVE)
            positives = [p for p in places if self.pairs[p][2] > NEGATIVE]
            if negatives:
                triplets += [(positive, negatives) for positive in positives]
        if len({len(negatives) for _, negatives in triplets}) > 1:
            return [(positive, (one,)) for positive, negatives in triplets for one in negatives]
        return triplets

    def _of_rows(self) -> list[list[int]]:
        """The places of the pairs of each row: another begins with another anchor, or with a
        positive behind a negative."""
        rows: list[list[int]] = []
        for place, (first, _, label) in enumerate(self.pairs):
            before = self.pairs[place - 1] if place else None
            if before is None or before[0] != first or label > NEGATIVE >= before[2]:
                rows.append([])
            rows[-1].append(place)
        return rows


def by_first(pairs: Iterable[Sequence]) -> list[list[int]]:
    """The places of the pairs of each first sentence, in order of appearance."""
    groups: dict[str, list[int]] = {}
    for place, (first, *_) in enumerate(pairs):
        groups.setdefault(first, []).append(place)
    return list(groups.values())


def form_of(plan: TrainingPlan, material: Material) -> RowForm:
    """Return the form of the rows that the loss of a plan learns from."""
    spec = plan.spec
    if plan.forms_classes:
        return CLASSES
    if "lists" in spec.needs:
        return LISTS
    takes_negatives = spec.of_positives and bool(_NEGATIVES & set(spec.reads.values()))
    return TRIPLETS if takes_negatives and material.given_triplets else PAIRS


def examples(plan: TrainingPlan, material: Material) -> int:
    """Number of rows that a run learns from."""
    form = form_of(plan, material)
    if form == CLASSES:
        return len(sentences_of(material.pairs))
    if form == LISTS:
        return len(material.lists_for(plan.spec))
    return len(material.given_triplets if form == TRIPLETS else material.pairs)


def pairs_in(plan: TrainingPlan, material: Material) -> tuple[float, int]:
    """Number of pairs of a row: the mean, and the largest."""
    form = form_of(plan, material)
    if form == LISTS:
        sizes = [len(places) for places in material.lists_for(plan.spec)] or [1]
    elif form == TRIPLETS:
        sizes = [1 + len(negatives) for _, negatives in material.given_triplets]
    else:
        return 1.0, 1
    return sum(sizes) / len(sizes), max(sizes)


def columns_for(plan: TrainingPlan, material: Material, rules: LabelRules) -> dict[str, list]:
    """Return the columns of the dataset, by name."""
    form, pairs = form_of(plan, material), material.pairs
    if form == CLASSES:
        classes = classes_of(pairs, rules.threshold)
        return {"sentence": list(classes), "label": list(classes.values())}
    if form == TRIPLETS:
        return _triplets(material)
    if form == PAIRS:
        first, second, labels = (list(column) for column in zip(*pairs, strict=True))
        return {"sentence1": first, "sentence2": second, "label": labels}
    lists = material.lists_for(plan.spec)
    scores = material.teacher if "teacher" in plan.spec.needs else None
    return {
        "sentence1": [pairs[places[0]][0] for places in lists],
        "sentence2": [[pairs[place][1] for place in places] for places in lists],
        "label": [
            [pairs[p][2] if scores is None else [pairs[p][2], scores[p]] for p in places]
            for places in lists
        ],
    }


def _triplets(material: Material) -> dict[str, list]:
    pairs, rows = material.pairs, material.given_triplets
    count = len(rows[0][1])
    names = ["negative"] if count == 1 else [f"negative_{n}" for n in range(1, count + 1)]
    return {
        "anchor": [pairs[positive][0] for positive, _ in rows],
        "positive": [pairs[positive][1] for positive, _ in rows],
        **{name: [pairs[negatives[n]][1] for _, negatives in rows] for n, name in enumerate(names)},
    }


def sentences_of(pairs: Iterable[Sequence]) -> set[str]:
    return {sentence for first, second, *_ in pairs for sentence in (first, second)}


def classes_of(pairs: Sequence[Pair], threshold: float) -> dict[str, int]:
    """The class of each sentence: connected by positive pairs, over the whole dataset."""
    joined = ((a, b if label >= threshold else a) for a, b, label in pairs)
    alone = ((b, b) for _, b, _ in pairs)
    return components(itertools.chain(joined, alone))


def components(joined: Iterable[tuple[str, str]]) -> dict[str, int]:
    """A number for each sentence, the same for all that are joined: 0, 1, … by appearance."""
    leader: dict[str, str] = {}

    def lead(sentence: str) -> str:
        leader.setdefault(sentence, sentence)
        while leader[sentence] != sentence:
            leader[sentence] = sentence = leader[leader[sentence]]
        return sentence

    for first, second in joined:
        leader[lead(second)] = lead(first)
    numbers: dict[str, int] = {}
    return {sentence: numbers.setdefault(lead(sentence), len(numbers)) for sentence in leader}
