"""Training and held-out pairs from a source, and the losses that can learn from them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lossprism.explorer.core.batch import load_pairs
from lossprism.explorer.core.models_of_scenario import has_words
from lossprism.explorer.core.scenario import Data
from lossprism.explorer.lab.training.data_augmentation import augmented
from lossprism.explorer.lab.training.pair_sources import (
    DRAW_SEED,
    held_out_of,
    pairs_of,
    reworded,
    rows_of,
)
from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.lab.training.trainer_rows import (
    AnyPair,
    Material,
    Pair,
    Taught,
    components,
    sentences_of,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs, corrected, scores_or_none
from lossprism.explorer.sources.reading_notes import ReadingNote
from lossprism.losses.labels import LabelRules, label_rules

# Fewer pairs than these leave nothing to learn from, or nothing to measure by.
MIN_TRAINING_PAIRS, MIN_HELD_OUT_PAIRS = 4, 4


@dataclass(frozen=True)
class Corpus:
    """The training pairs and the held-out pairs of a run.

    Training pairs without labels (not `labelled`) are positives. `skipped` counts unreadable rows,
    `shared` the sentences that stand on both sides (only a held-out file of the user's own can have
    some). `teacher` is another model's score of each pair of `train`, NaN for none,
    `held_out_teacher` of each of `held_out`; None without any. `triplets` determines how pairs make
    lists (`Material`); `awaits_teacher`: a model will score them; `brings_guide`: there are a
    guide's vectors, which no trainer reads. `threshold` is that of positive labels where the plan
    has none; `notes` are the roles of the columns.
    """

    train: tuple[Pair, ...]
    held_out: tuple[Pair, ...]
    skipped: int = 0
    shared: int = 0
    labelled: bool = True
    teacher: tuple[float, ...] | None = None
    held_out_teacher: tuple[float, ...] | None = None
    triplets: bool = False
    awaits_teacher: bool = False
    threshold: float | None = None
    brings_guide: bool = False
    notes: tuple[ReadingNote, ...] = ()

    @cached_property
    def material(self) -> Material:
        return Material(self.train, self.teacher, self.triplets, self.awaits_teacher)

    @property
    def labels(self) -> list[float]:
        return [label for _, _, label in (*self.train, *self.held_out)]


def read(plan: TrainingPlan) -> Corpus:
    """Read, split and augment, whatever the loss.

    Raises Problem with a sentence for whatever the user can put right.
    """
    data = plan.data
    origin = pairs_of(data)
    pairs = origin.pairs
    if data.held_out_file:
        train, held_out = _on_one_scale(pairs, held_out_of(data).pairs)
        if len(held_out) < MIN_HELD_OUT_PAIRS:
            raise Problem("training_too_few", count=len(held_out), least=MIN_HELD_OUT_PAIRS)
    else:
        train, held_out = split(rows_of(pairs), data.held_out_share, DRAW_SEED)
    shared = len(sentences_of(train) & sentences_of(held_out))
    added = reworded(data, sentences_of(held_out))
    train += added if pairs.labelled else [(*p[:2], train[0][2], p[3]) for p in added]
    train += augmented(train, data.augment, DRAW_SEED)
    return Corpus(
        tuple(pair[:3] for pair in train),
        tuple(pair[:3] for pair in held_out),
        origin.left_out,
        shared,
        pairs.labelled,
        scores_or_none(pair[3] for pair in train),
        scores_or_none(pair[3] for pair in held_out),
        origin.triplets,
        threshold=pairs.threshold,
        brings_guide=origin.brings_guide,
        notes=origin.notes,
    )


def under_teacher(plan: TrainingPlan, corpus: Corpus) -> Corpus:
    """Replace the teacher's scores of the data by those of the plan's teacher model, if it has
    one."""
    if not plan.teacher_model.strip() or corpus.awaits_teacher:
        return corpus
    return replace(corpus, teacher=None, held_out_teacher=None, awaits_teacher=True)


def _on_one_scale(train: Pairs, held_out: Pairs) -> tuple[list[Taught], list[Taught]]:
    """Return both as rows; where one has no labels, its pairs get the highest of the other."""
    if train.labelled == held_out.labelled or not len(held_out):
        return rows_of(train), rows_of(held_out)
    highest = max((train if train.labelled else held_out).labels)
    one, other = (
        rows_of(side if side.labelled else replace(side, labels=(highest,) * len(side)))
        for side in (train, held_out)
    )
    return one, other


def data_of_scenario(source: Data, pairs: Pairs | None = None) -> TrainingData:
    """Return training data from the corrected pairs of a scenario of Explore, or from `pairs`
    instead.

    Raises Problem where they are no sentences.
    """
    if not has_words(source):
        raise Problem("training_no_words", name=source.source)
    pairs = load_pairs(source) if pairs is None else corrected(pairs, source.corrections)
    name = source.file or source.example
    return TrainingData(source="rows", name=name, rows=pairs.rows, teacher=pairs.taught_rows)


# Splitting


def split(pairs: Sequence[AnyPair], share: float, seed: int) -> tuple[list[AnyPair], list[AnyPair]]:
    """Hold out about `share` of the pairs so that no sentence is on both sides.

    Pairs linked by sentences stay together; groups are held out in random order as they fit.
    """
    if len(pairs) < MIN_TRAINING_PAIRS + MIN_HELD_OUT_PAIRS:
        least = MIN_TRAINING_PAIRS + MIN_HELD_OUT_PAIRS
        raise Problem("training_too_few", count=len(pairs), least=least)
    groups = _groups(pairs)
    random.Random(seed).shuffle(groups)
    target = max(round(share * len(pairs)), MIN_HELD_OUT_PAIRS)
    held_out: set[int] = set()
    for group in groups:
        if len(held_out) + len(group) <= target:
            held_out.update(group)
    if len(held_out) < MIN_HELD_OUT_PAIRS or len(pairs) - len(held_out) < MIN_TRAINING_PAIRS:
        largest = max(map(len, groups))
        if largest == len(pairs):  # no share would do
            raise Problem("training_all_joined", count=len(pairs))
        raise Problem("training_joined", count=len(pairs), largest=largest)
    train = [pair for place, pair in enumerate(pairs) if place not in held_out]
    return train, [pair for place, pair in enumerate(pairs) if place in held_out]


def _groups(pairs: Sequence[AnyPair]) -> list[list[int]]:
    """Places of the pairs, grouped by shared sentences."""
    numbers = components((first, second) for first, second, *_ in pairs)
    groups: dict[int, list[int]] = {}
    for place, (first, *_) in enumerate(pairs):
        groups.setdefault(numbers[first], []).append(place)
    return list(groups.values())


# What a loss can do with them


def rules_for(plan: TrainingPlan, corpus: Corpus) -> LabelRules:
    """The page's rules, on the labels of the whole dataset in place of one batch."""
    threshold = corpus.threshold if plan.threshold is None else plan.threshold
    return label_rules(corpus.labels, threshold, plan.label_range)


def rules_of(run: RunFolder, plan: TrainingPlan) -> LabelRules:
    """The rules that a run was begun with; one of an earlier version read labels from 0 on, or
    from the least below 0, and half of the largest was its threshold."""
    if known := run.config.rules:
        return LabelRules(known.threshold, known.label_range)
    sides = (run.read_pairs(f"{side}.jsonl") for side in ("train", "held_out"))
    labels = [label for side in sides for *_, label in side]
    lowest, highest = min(labels), max(labels)
    ends = (0.0, max(highest, 1.0)) if lowest >= 0 else (lowest, highest)
    return LabelRules(highest / 2 if plan.threshold is None else plan.threshold, ends)


def material_of(run: RunFolder) -> Material:
    """Read the training pairs of a run; one of an earlier version has no teacher and no
    triplets."""
    config = run.config
    pairs, teacher = run.read_scored("train.jsonl")
    awaits = teacher is None and bool(str(config.plan.get("teacher_model", "")).strip())
    return Material(pairs, teacher, config.triplets, awaits)
