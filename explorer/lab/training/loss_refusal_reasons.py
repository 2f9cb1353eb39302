"""Losses that can learn from the data of a plan, and the reasons why others cannot."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lossprism.explorer.core.label_requirements import (
    label_off_scale,
    labels_needed,
    positives_loss,
)
from lossprism.explorer.lab.training.data import Corpus, read, rules_for, under_teacher
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.trainer_rows import (
    CLASSES,
    PAIRS,
    Material,
    classes_of,
    columns_for,
    form_of,
)
from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.samplers import (
    Epoch,
    epoch_without_duplicates,
    group_by_label,
    largest_without_duplicates,
)
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.combined.combined_loss_names import RECIPES
from lossprism.losses.labels import LabelRules
from lossprism.losses.sentence_transformers.generated_training_loss_classes import trains_as_one


def checked_corpus(plan: TrainingPlan) -> Corpus:
    """Read the corpus of a plan. Raises Problem where the loss cannot learn from it."""
    corpus = under_teacher(plan, read(plan))
    if reason := refusal(plan, corpus):
        raise reason
    return corpus


@dataclass(frozen=True)
class LearningFacts:
    """Facts that decide which losses can learn.

    Number of different `labels`, and the one of a single label; number of positives; whether there
    is a teacher's score, and a teacher model (`asked`); and, with and without a teacher, the number
    of lists and of those with candidates on both sides of the threshold.
    """

    kind: str
    labelled: bool
    labels: int
    label: float
    threshold: float
    label_range: tuple[float, float]
    positives: int
    count: int
    taught: bool
    asked: bool
    lists: tuple[int, int]
    sided: tuple[int, int]


def _facts(plan: TrainingPlan, corpus: Corpus) -> LearningFacts:
    material, (threshold, label_range) = corpus.material, rules_for(plan, corpus)
    labels = [label for *_, label in corpus.train]

    def on_both_sides(places: Sequence[int]) -> bool:
        return len({labels[place] >= threshold for place in places}) == 2

    both = material.lists, material.taught_lists
    return LearningFacts(
        kind=plan.kind,
        labelled=corpus.labelled,
        labels=len(set(labels)),
        label=labels[0],
        threshold=threshold,
        label_range=label_range,
        positives=sum(label >= threshold for label in labels),
        count=len(labels),
        taught=corpus.teacher is not None or corpus.awaits_teacher,
        asked=corpus.awaits_teacher,
        lists=(len(both[0]), len(both[1])),
        sided=(sum(map(on_both_sides, both[0])), sum(map(on_both_sides, both[1]))),
    )


def refusal(plan: TrainingPlan, corpus: Corpus) -> Problem | None:
    """Return the reason why the loss cannot learn from this data with this kind of encoder; None if
    it can."""
    (reason,) = _reasons(plan, corpus, [plan.spec])
    return reason or no_epoch(plan, corpus.material, rules_for(plan, corpus))


def no_epoch(plan: TrainingPlan, material: Material, rules: LabelRules) -> Problem | None:
    """Return the reason why the sampler of the plan fills no whole epoch with the loss's rows; None
    where it does."""
    if plan.drawn_by == "no_duplicates":
        return _duplicates(plan, material, rules)
    return _by_label(plan, material, rules) if plan.drawn_by == "group_by_label" else None


def _by_label(plan: TrainingPlan, material: Material, rules: LabelRules) -> Problem | None:
    """Return the reason why batches with every label twice make no epoch: the sampler leaves out
    the rest of the rows once only one label is left."""
    form, size = form_of(plan, material), plan.batch_size
    if form not in (PAIRS, CLASSES):
        return Problem("training_no_label", about="size")
    labels: list[float] = [label for *_, label in material.pairs]
    if form == CLASSES:
        labels = list(classes_of(material.pairs, rules.threshold).values())
    try:
        drawn = group_by_label(labels, size, torch.Generator().manual_seed(plan.seed))
    except Problem as problem:
        return problem.concerning("size")
    if not drawn:
        return Problem("no_batch", about="size", size=size)
    found = Epoch.by_label(drawn, len(labels), size)
    if found.works:
        return None
    values = {"size": size, "batches": found.batches, "seen": found.seen, "rows": len(labels)}
    return Problem("training_by_label", about="size", **values)


def _duplicates(plan: TrainingPlan, material: Material, rules: LabelRules) -> Problem | None:
    """Return the reason why batches without duplicate texts make no epoch.

    The trainer would end without a message, or before its first step, where its sampler fills fewer
    than it promises.
    """
    columns = columns_for(plan, material, rules)
    sides = [column for name, column in columns.items() if name != "label"]
    numbers: dict[str, int] = {}
    texts = [
        tuple({numbers.setdefault(str(text), len(numbers)) for text in row})
        for row in zip(*sides, strict=True)
    ]
    size = plan.batch_size
    found = epoch_without_duplicates(texts, size, plan.seed)
    if found.works:
        return None
    fits = largest_without_duplicates(texts, size, plan.seed)
    values = {"size": size, "batches": found.batches, "expected": found.expected}
    values |= {"repeats": percent(found.repeats), "fits": fits}
    key = "training_duplicates" if fits else "training_duplicates_none"
    return Problem(key, about="size", **values)


def _reasons(plan: TrainingPlan, corpus: Corpus, specs: Sequence[LossSpec]) -> list[Problem | None]:
    """Return the reason why each of these losses cannot learn, or None; common parts are computed
    once."""
    facts = _facts(plan, corpus)
    able = [title_word(one) for one in LOSSES.values() if not _obstacle(one, "—", facts)]
    outside = label_off_scale(corpus.labels, facts.label_range)
    return [
        _obstacle(spec, able or "—", facts) or (outside if spec.by_range else None)
        for spec in specs
    ]


def _obstacle(spec: LossSpec, known: object, facts: LearningFacts) -> Problem | None:
    """Return the obstacle of a loss on these pairs; `known` are losses that can learn."""
    values = {"loss": title_word(spec), "known": known}
    if not trains_as_one(spec):
        return Problem("training_sum_apart", about="loss", **values)
    learns = "teacher" in spec.needs
    if not facts.labelled:
        if facts.kind == "cross" and not learns:
            such = title_word(positives_loss())
            return Problem("training_cross_positives", about="scores", known=such)
        if reason := labels_needed(spec):
            return reason
    if facts.kind == "cross" and not spec.reads_scores_only:
        return Problem("training_needs_vectors", **values)
    if "teacher_vectors" in spec.needs and not facts.asked:
        return Problem("training_needs_teacher_vectors", about="loss", **values)
    if learns and not facts.taught:
        return Problem("training_needs_teacher", about="loss", **values)
    if "lists" in spec.needs and not facts.lists[learns]:
        key = "training_teacher_gaps" if facts.lists[0] else "training_needs_lists"
        return Problem(key, about="loss", **values)
    if "order" in spec.needs and facts.labels < 2:
        return Problem("training_one_label", label=display_number(facts.label), **values)
    values["threshold"] = display_number(facts.threshold)
    if "sides" in spec.needs:
        if facts.positives in (0, facts.count):
            return Problem("training_one_side", **values)
        if "lists" in spec.needs and not facts.sided[learns]:
            return Problem("training_lists_one_side", **values)
    if "positives" in spec.needs and facts.positives < 2:
        return Problem("training_no_positives", count=facts.positives, **values)
    return None


def losses_for(plan: TrainingPlan, corpus: Corpus) -> dict[str, Problem | None]:
    """Return every loss, and the sums that are trained with, with the reason where one cannot learn
    from this data."""
    names = (*LOSSES, *RECIPES)
    return dict(zip(names, _reasons(plan, corpus, [LOSSES[name] for name in names]), strict=True))
