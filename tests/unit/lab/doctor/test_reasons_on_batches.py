"""What speaks for and against a loss holds of its gradient on the batch that is spoken of."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
import pytest
import torch

from lossprism.explorer.core.batch import Batch, batch_of_vectors
from lossprism.explorer.core.scenario import Rules
from lossprism.explorer.core.specialised_definitions import accepted
from lossprism.explorer.lab.doctor import dataset_reader
from lossprism.explorer.lab.doctor.suitable_losses import suited, suited_to_classes
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.locale import catalogue
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import pairs_from_tables
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES
from tests.unit.lab.doctor.test_suitable_losses import COUNT, ROWS

WIDTH = 48
STILL = 1e-9  # below this, nothing of a gradient has changed


def text_of(name):
    columns, row = ROWS[name]
    lines = (columns.split(), *(map(str, row(n)) for n in range(COUNT)))
    return "\n".join("\t".join(line) for line in lines)


def unit(rows, seed=0):
    """Random directions [rows, WIDTH]."""
    drawn = np.random.default_rng(seed).standard_normal((rows, WIDTH))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@dataclasses.dataclass(frozen=True)
class OnPairs:
    """A loss on a batch of pairs, with vectors for its sentences [S, D]."""

    loss: str
    pairs: Pairs
    vectors: np.ndarray

    @property
    def spec(self):
        return LOSSES[self.loss]

    @functools.cached_property
    def batch(self) -> Batch:
        return batch_of_vectors(self.pairs, self.vectors, Rules())

    @functools.cached_property
    def result(self) -> tuple[float, np.ndarray]:
        """The loss and its gradient by the vectors [S, D]; 0 where it has nothing to compare."""
        batch, spec = self.batch, self.spec
        vectors = batch.needed_vectors.detach().clone().requires_grad_()
        scores = batch.scores_from(vectors)
        try:
            read = {name: batch.read(what, vectors, scores) for name, what in spec.reads.items()}
        except Problem:  # a batch that is refused teaches nothing
            return math.nan, np.zeros_like(self.vectors)
        call = accepted(spec.definition, {**read, **spec.defaults})
        value = spec.definition(**call)
        if not value.requires_grad:
            return float(value.detach()), np.zeros_like(self.vectors)
        (slope,) = torch.autograd.grad(value, vectors, allow_unused=True)
        flat = torch.zeros_like(vectors) if slope is None else slope
        return float(value.detach()), flat.cpu().double().numpy()

    def on_scores(self, scores) -> tuple[float, torch.Tensor]:
        """The loss and its gradient by scores [N] of the pairs."""
        batch, spec = self.batch, self.spec
        scores = scores.detach().to(batch.labels).requires_grad_()
        read = {name: batch.read(what, batch.vectors, scores) for name, what in spec.reads.items()}
        value = spec.definition(**accepted(spec.definition, {**read, **spec.defaults}))
        return float(value.detach()), torch.autograd.grad(value, scores)[0]

    @property
    def value(self) -> float:
        return self.result[0]

    @property
    def gradient(self) -> np.ndarray:
        return self.result[1]

    def having(self, vectors=None, **pairs) -> OnPairs:
        """The same with other pairs or vectors."""
        changed = dataclasses.replace(self.pairs, **pairs)
        return OnPairs(self.loss, changed, self.vectors if vectors is None else vectors)

    def moves(self, other: OnPairs) -> bool:
        """Whether the other has another gradient."""
        return float(np.abs(self.gradient - other.gradient).max()) > STILL

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sentences of each pair, first and second, and whether it is positive."""
        batch = self.batch
        return batch.first.numpy(), batch.second.numpy(), batch.positive.numpy()

    def pull(self, which: np.ndarray) -> float:
        """The slope of the loss as both sentences of these pairs move towards each other."""
        first, second, _ = self.places
        vectors, gradient = self.vectors, self.gradient
        step = np.zeros_like(vectors)
        np.add.at(step, second[which], vectors[first[which]])
        np.add.at(step, first[which], vectors[second[which]])
        step -= (step * vectors).sum(axis=1, keepdims=True) * vectors
        return float((gradient * step).sum())

    def felt(self, sentences: np.ndarray) -> float:
        """The largest entry of the gradient at these sentences."""
        return float(np.abs(self.gradient[sentences]).max(initial=0.0))


def labels_of(case, change):
    labels = np.array(case.pairs.labels)
    return tuple(change(labels).tolist())


def tells_apart(case, *sides):
    """Whether it matters which pairs of a side have which of its labels."""
    labels, scale = np.array(case.pairs.labels), case.batch.label_range
    for seed in range(4):
        drawn = case.having(vectors=unit(len(case.vectors), seed), label_range=scale)
        for by in (1, 2):
            other = labels.copy()
            for side in sides:
                other[side] = np.roll(labels[side], by)
            if drawn.moves(drawn.having(labels=tuple(other.tolist()))):
                return True
    return False


def reads_degrees(case):
    """Whether degrees matter on one side of the threshold."""
    positive = case.places[2]
    return tells_apart(case, positive, ~positive)


def tells_neutral_from_contradiction(case):
    return tells_apart(case, np.array(case.pairs.labels) < 1)


def flipped(case):
    low, high = case.batch.label_range
    return case.having(labels=labels_of(case, lambda labels: low + high - labels))


def permuted(case):
    """Each label with the next pair."""
    labels = labels_of(case, lambda labels: np.roll(labels, 1))
    return case.having(labels=labels, label_range=case.batch.label_range)


def permuted_in_lists(case):
    """The labels of each list of one label, in another order."""
    first, _, _ = case.places
    labels = np.array(case.pairs.labels)
    for own in np.unique(first):
        there = np.flatnonzero(first == own)
        if len(set(labels[there])) == 1:
            labels[there] = np.roll(labels[there], 1)
    return case.having(labels=tuple(labels.tolist()))


def other_teacher(case):
    return case.having(teacher=tuple(np.roll(case.pairs.teacher, 1).tolist()))


def guided_by(case, seed):
    count = len(case.pairs.sentences)
    vectors = np.ones((count, 4)) if seed is None else unit(count, seed)
    return case.having(guide=vectors)


def pulls_positives(case):
    return case.pull(case.places[2]) < -STILL


def reads_guide(case):
    return guided_by(case, None).moves(guided_by(case, 3))


def negatives_of(case):
    first, second, positive = case.places
    own = np.unique(np.concatenate([first[positive], second[positive]]))
    return np.setdiff1d(second[~positive], own), np.setdiff1d(first[~positive], own)


def feels_negatives(case):
    return case.felt(negatives_of(case)[0]) > STILL


def alike(case):
    return case.having(vectors=np.repeat(unit(1), len(case.vectors), axis=0))


def together_by_class(case):
    """Sentences that positive pairs join on one vector, all others at right angles to it."""
    classes = case.batch.classes.numpy()
    return case.having(vectors=np.eye(classes.max() + 1)[classes])


def tells_classes(case):
    """Whether what positive pairs join has a lower loss together than with everything else."""
    return together_by_class(case).value < alike(case).value


def learns_among_pairs(case):
    return pulls_positives(case) and tells_classes(case)


def is_best_when_alike(case):
    return alike(case).value <= case.value + STILL


def spreads(case):
    return alike(case).value > case.value + STILL


def draws_pairs_alike(case):
    """Under one label no scores are better than some that are all the same."""
    one = case.having(labels=(1.0,) * COUNT)
    if not case.spec.reads_scores:
        return is_best_when_alike(one)
    ends = np.linspace(-1, 1, 201)
    best = min(one.on_scores(torch.full((COUNT,), end))[0] for end in ends)
    drawn = torch.rand(COUNT, generator=torch.Generator().manual_seed(0)) * 2 - 1
    return best <= one.on_scores(drawn)[0] + STILL


def lists_stay_apart(case):
    """A candidate of one list moves: others of it feel that, and none of another list."""
    first, second, _ = case.places
    listed = np.flatnonzero(np.bincount(first)[first] > 1)
    own = first[listed[0]]
    moved = case.vectors.copy()
    moved[second[listed[0]]] = unit(1, 9)[0]
    change = np.abs(case.gradient - case.having(vectors=moved).gradient).max(axis=1)
    inside, outside = second[first == own][1:], second[first != own]
    within = change[inside].max() > STILL or "teacher" in case.spec.needs
    return within and change[outside].max(initial=0.0) < STILL


def lone_candidates_are_still(case):
    first, second, _ = case.places
    return case.felt(second[np.bincount(first)[first] < 2]) < STILL


def two_are_one_difference(case):
    """Both scores of a list of two have opposite slopes: as in a loss on their difference."""
    _, slope = case.on_scores(case.batch.scores)
    lists = case.batch.lists
    pairs = lists[(lists >= 0).sum(dim=1) == 2][:, :2]
    return float(slope[pairs].sum(dim=1).abs().max()) < STILL


def queries_are_unread(case):
    """With the first sentence of each pair as a text of its own, of the same vector."""
    _, second, _ = case.places
    names = tuple(f"{n} {text}" for n, text in enumerate(case.pairs.first))
    alone = case.having(first=names, in_rows=None)
    place = {text: case.vectors[at] for at, text in enumerate(case.pairs.sentences)}
    origin = {**place, **{f"{n} {text}": place[text] for n, text in enumerate(case.pairs.first)}}
    vectors = np.stack([origin[text] for text in alone.pairs.sentences])
    alone = alone.having(vectors=vectors)
    ours = case.gradient[second]
    theirs = alone.gradient[alone.places[1]]
    return bool(np.abs(ours - theirs).max() < STILL)


def cosines_are_labels(case):
    """Where each cosine is its label, the loss is still; in the same order, half as far, not."""
    low, high = case.batch.label_range
    labels = (case.batch.labels - low) / (high - low)
    at_labels, halved = (case.on_scores(scores)[1].abs().max() for scores in (labels, labels / 2))
    return float(at_labels) < STILL < float(halved)


def twins_are_negatives(case):
    """With each row's texts as texts of its own, as a trainer has them, a model that holds together
    what shares a text has a higher loss than one that tells the rows apart."""
    classes = {t: int(n) for t, n in zip(case.pairs.sentences, case.batch.classes, strict=True)}
    named = [
        tuple(f"{n} {t}" for n, t in enumerate(s)) for s in (case.pairs.first, case.pairs.second)
    ]
    by_row = case.having(first=named[0], second=named[1], in_rows=None)
    ends = [text.split(" ", 1) for text in by_row.pairs.sentences]
    together = np.eye(2 * COUNT)[[classes[text] for _, text in ends]]
    apart = np.eye(2 * COUNT)[[int(row) for row, _ in ends]]
    return by_row.having(vectors=together).value > by_row.having(vectors=apart).value + 1e-6


def one_negative_at_a_time(loss):
    """Of an anchor with its positive, the slope at one negative does not change with another."""
    spec, vectors = LOSSES[loss], torch.from_numpy(unit(4)).requires_grad_()
    known = {"embeddings": vectors, "paired_classes": torch.tensor([0, 0, 1, 2])}
    read = {name: known[what] for name, what in spec.reads.items()}
    value = spec.definition(**accepted(spec.definition, {**read, **spec.defaults}))
    (slope,) = torch.autograd.grad(value, vectors, create_graph=True)
    felt = torch.autograd.grad(slope[2].sum(), vectors)[0][3]
    return float(slope[3].detach().abs().max()) > STILL > float(felt.detach().abs().max())


def has_a_prototype_of_each_class(case):
    batch = case.batch
    prototypes = batch.read("prototypes", batch.vectors, batch.scores)
    return len(prototypes) == len(batch.classes.unique()) > 1 and case.felt(slice(None)) > STILL


def reads_two_outputs(case):
    return case.batch.read("pair_logits", None, case.batch.scores).shape == (len(case.pairs), 2)


FOR = {
    "above_threshold": lambda c: pulls_positives(c) and not reads_degrees(c),
    "degrees": lambda c: reads_degrees(c),
    "entailed": lambda c: pulls_positives(c) or tells_classes(c),
    "given_triplets": lambda c: pulls_positives(c) and feels_negatives(c),
    "guide": reads_guide,
    "hard_negatives": feels_negatives,
    "joined": tells_classes,
    "kinds_in_order": lambda c: c.moves(flipped(c)),
    "lists": lists_stay_apart,
    "mostly_positive": learns_among_pairs,
    "positives": learns_among_pairs,
    "positives_alone": pulls_positives,
    "positives_of_labels": pulls_positives,
    "positives_of_triplets": pulls_positives,
    "spreads": spreads,
    "teacher": lambda c: c.moves(other_teacher(c)),
    "triplet_labels": lambda c: c.moves(flipped(c)),
    "yes_or_no": lambda c: c.moves(flipped(c)),
}
AGAINST = {
    "alike": lambda c: c.having(labels=(1.0,) * COUNT).felt(slice(None)) < STILL,
    "as_cosines": cosines_are_labels,
    "classes_of_pairs": has_a_prototype_of_each_class,
    "drawn_alike": draws_pairs_alike,
    "degrees_lost": lambda c: not reads_degrees(c),
    "few_in_order": lambda c: not c.moves(permuted_in_lists(c)),
    "few_lists": lone_candidates_are_still,
    "kinds_as_degrees": tells_neutral_from_contradiction,
    "labels_unread": lambda c: not c.moves(permuted(c)),
    "lists_of_two": two_are_one_difference,
    "negatives_halved": lambda c: feels_negatives(c) and c.felt(negatives_of(c)[1]) < STILL,
    "negatives_unread": lambda c: not feels_negatives(c),
    "nothing_to_learn": lambda c: not c.moves(permuted(c)),
    "one_negative": lambda c: one_negative_at_a_time(c.loss),
    "only_pulls": is_best_when_alike,
    "queries_unread": queries_are_unread,
    "second_encoder": reads_guide,
    "teacher_unread": lambda c: not c.moves(other_teacher(c)),
    "twins": twins_are_negatives,
    "two_outputs": reads_two_outputs,
}


@dataclasses.dataclass(frozen=True)
class OnClasses:
    """A loss on texts with their classes, `sizes` of which are so large."""

    loss: str
    sizes: tuple[int, ...] = (3, 2, 4)

    def slope(self, vectors=None) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss of vectors [N, D], random ones if left out, its gradient by them, and them."""
        spec = LOSSES[self.loss]
        classes = torch.repeat_interleave(torch.arange(len(self.sizes)), torch.tensor(self.sizes))
        drawn = unit(len(classes)) if vectors is None else vectors
        given = torch.from_numpy(drawn).requires_grad_()
        known = {"embeddings": given, "classes": classes, "paired_classes": classes}
        known["prototypes"] = torch.from_numpy(unit(len(self.sizes), 5))
        read = {name: known[what] for name, what in spec.reads.items()}
        value = spec.definition(**accepted(spec.definition, {**read, **spec.defaults}))
        (slope,) = torch.autograd.grad(value, given)
        return float(value.detach()), slope.numpy(), drawn

    def tells_classes(self) -> bool:
        classes = np.repeat(np.arange(len(self.sizes)), self.sizes)
        together, alike = (np.eye(WIDTH)[at] for at in (classes, 0 * classes))
        return self.slope(together)[0] < self.slope(alike)[0]


def has_no_positive_alone(case):
    """Among texts of classes of their own no two are drawn together."""
    _, slope, vectors = OnClasses(case.loss, (1,) * 6).slope()
    cosines = vectors @ vectors.T
    pulls = slope @ vectors.T - np.diag(slope @ vectors.T)[:, None] * cosines
    return bool((pulls + pulls.T)[~np.eye(6, dtype=bool)].min() > -STILL)


def learns_without_second_texts(case):
    return float(np.abs(OnClasses(case.loss, (1,) * 6).slope()[1]).max()) > STILL


def knows_these_classes_alone(case):
    """A class without a vector is refused."""
    spec = LOSSES[case.loss]
    known = {"embeddings": torch.from_numpy(unit(4)), "prototypes": torch.from_numpy(unit(2))}
    known["classes"] = torch.tensor([0, 1, 1, 2])
    with pytest.raises(ValueError, match="class"):
        spec.function(**{name: known[what] for name, what in spec.reads.items()})
    return True


OF_CLASSES = {
    "alone": has_no_positive_alone,
    "classes": OnClasses.tells_classes,
    "one_negative": lambda c: one_negative_at_a_time(c.loss),
    "prototypes": learns_without_second_texts,
    "prototypes_of_these": knows_these_classes_alone,
}
LAWS = {**FOR, **AGAINST, **OF_CLASSES}


@functools.cache
def weighed(name):
    """The losses that are weighed on a table, each on its batch."""
    text = text_of(name).encode()
    read = dataset_reader.read_table(text, "t.tsv", lambda *_: None)
    if isinstance(read, ClassTable):
        return [(one, OnClasses(one.loss)) for one in suited_to_classes(read, 16)]
    pairs = pairs_from_tables.read_table(text, "t.tsv").pairs
    vectors = unit(len(pairs.sentences))
    return [(one, OnPairs(one.loss, pairs, vectors)) for one in suited(read.profile, 16)]


def test_every_reason_holds_of_the_gradient_on_the_batch_that_it_describes():
    """Of every loss that is weighed on every table, and every sentence at least once."""
    false, met = [], set()
    for name in ROWS:
        for one, case in weighed(name):
            for sentence in (*one.reasons, *one.against):
                met.add(sentence)
                if not LAWS[sentence](case):
                    false.append((sentence, one.loss, name))
    assert false == []
    start = "doctor.suited."
    sentences = {key.removeprefix(start) for key in catalogue("en") if key.startswith(start)}
    assert met == sentences - {"title", "first", "none", "none_classes"} == LAWS.keys()
