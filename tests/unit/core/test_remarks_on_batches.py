"""What a remark says of a loss holds of the loss when it is run on that batch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.remarks import GRADIENT_BAND, remarks
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.doctor.label_faults import only_compares
from lossprism.explorer.locale import catalogue
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders.constant_and_orthogonal import ALIKE, APART
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from lossprism.losses.score_kinds import SCORE_KINDS
from tests.unit.lab.doctor.test_reasons_on_batches import (
    STILL,
    OnPairs,
    together_by_class,
    twins_are_negatives,
    unit,
)
from tests.unit.lab.doctor.test_suitable_losses import COUNT

# Counts of a batch, and no claim about a loss that running it could refute.
OF_THE_BATCH = {"alike", "encoder_error", "few_terms", "language", "modality_gap", "suspects"}
# Said of values or gradients that no loss of the registry has at its defaults; of a margin, a
# teacher, labels beyond the ends and copies left out, what is chosen makes them.
OF_CHOICES = {
    "above_collapse_at", "gradient_small", "labels_outside", "margin_beyond",
    "no_gradient", "not_finite", "same_text_left_out", "teacher_beyond",
}  # fmt: skip
OF_RUNS = ("run_", "verdict_")  # on trainings, which no batch shows
ROUNDED = 0.011  # the most by which three digits are off


def random(**settings):
    drawn = {"pairs": 16, "dimension": 16, "seed": 3, **settings}
    return Data("random", random=RandomBatch(**drawn))


def table(count, row, encoder=APART):
    return Data("table", rows=tuple(map(row, range(count))), encoder=encoder)


BATCHES = {
    "random": random(),
    "in order": random(agreement=1.0, mislabelled=0.0, hard_negatives=0.0),
    "in disorder": random(agreement=0.0),
    "alike": table(8, lambda n: (f"a{n}", f"b{n}", str(n % 2)), ALIKE),
    "one label": table(8, lambda n: (f"a{n}", f"b{n}", "1")),
    "one pair": table(1, lambda n: ("a", "b", "1")),
    "shared texts": table(COUNT, lambda n: (f"a{n}", f"b{n // 2}", "1")),
    "without others": table(8, lambda n: (f"a{n}", f"b{n}", str(int(n < 3)))),
    "none of a class": table(8, lambda n: (f"a{n}", f"b{n}", str(n % 2 / 4))),
}


def case_of(found, vectors=None):
    """The loss on the pairs of an exploration, with its vectors or others [S, D]."""
    own = found.batch.vectors.cpu().numpy() if vectors is None else vectors
    return OnPairs(found.spec.name, found.batch.pairs, own)


def ordered(found):
    """How many pairs of pairs have two labels, and in how many the lower has the higher score."""
    labels, scores = (side.tolist() for side in (found.batch.labels, found.batch.scores))
    both = [(a, b) for a in range(len(labels)) for b in range(len(labels)) if labels[a] > labels[b]]
    return len(both), sum(scores[a] < scores[b] for a, b in both)


def value_at_collapse(found):
    spec = found.spec
    if not spec.reads_scores or SCORE_KINDS[spec.score].at_collapse in (1.0, None):
        vectors = found.batch.vectors.cpu().numpy()
        return case_of(found, np.repeat(vectors[:1], len(vectors), axis=0)).value
    level = SCORE_KINDS[spec.score].at_collapse
    return case_of(found).on_scores(torch.full_like(found.batch.scores, level))[0]


def is_above_collapse(found, values):
    return case_of(found).value > value_at_collapse(found)


def sits_at_collapse(found, values):
    return case_of(found).value == pytest.approx(value_at_collapse(found), rel=0.05)


def learns_nothing(found, values):
    """Whatever the vectors: with one label there is no order."""
    count = len(found.batch.vectors)
    return all(case_of(found, unit(count, seed)).felt(slice(None)) < STILL for seed in range(3))


def draws_to_its_label(found, values):
    """Pairs that all have the highest label come nearer, wherever they stand."""
    case = case_of(found, unit(len(found.batch.vectors)))
    return case.pull(np.arange(len(found.batch))) < -STILL


def compares_nothing(found, values):
    return not only_compares(found.spec) or case_of(found).felt(slice(None)) < STILL


def is_in_order(found, values):
    return ordered(found) == (values["count"], 0) and found.batch.scores.unique().numel() > 1


def lone_sentences(found):
    classes = found.batch.classes.numpy()
    return np.flatnonzero(np.bincount(classes)[classes] < 2)


def are_drawn_to_nothing(found, values):
    """From right angles, no sentence that a lone one comes nearer to lowers the loss."""
    count, lone = len(found.batch.vectors), lone_sentences(found)
    case = case_of(found, np.eye(count))
    towards = case.gradient[lone]
    towards[np.arange(len(lone)), lone] = 0  # by itself it only grows longer
    return len(lone) == values.get("count", count) and towards.min() > -STILL


def inputs_of(found):
    """What the loss reads, by the names of `losses.inputs_that_losses_may_read.READABLE`."""
    return {what: found.given[name] for name, what in found.spec.reads.items()}


def own_key_is_nearest(found, values):
    given = inputs_of(found)
    keys = torch.cat([given[name] for name in ("keys", "negatives") if name in given])
    cosines = torch.nn.functional.cosine_similarity(given["queries"][:, None], keys[None], dim=-1)
    return bool((cosines.argmax(dim=1) == torch.arange(len(cosines))).all())


def own_class_is_nearest(found, values):
    classes = found.batch.classes
    cosines = found.batch.vectors @ found.batch.vectors.T
    cosines.fill_diagonal_(-2)
    is_own = classes[cosines.argmax(dim=1)] == classes
    is_own[lone_sentences(found)] = True  # they look for nothing
    return bool(is_own.all())


def own_prototype_is_nearest(found, values):
    given = inputs_of(found)
    embeddings, prototypes = (given[name] for name in ("embeddings", "prototypes"))
    cosines = torch.nn.functional.cosine_similarity(embeddings[:, None], prototypes[None], dim=-1)
    return bool((cosines.argmax(dim=1) == given["classes"]).all())


def gradient_norm(found):
    return float(np.sqrt((case_of(found).gradient ** 2).sum()))


def is_as_stated(found, values):
    return gradient_norm(found) == pytest.approx(float(values["norm"]), rel=ROUNDED)


def stays_above(found, values):
    """Steps downhill from vectors at random end above the reported minimum."""
    case = case_of(found, unit(len(found.batch.vectors)))
    for _ in range(60):
        moved = case.vectors - 0.5 * case.gradient
        case = case.having(vectors=moved / np.linalg.norm(moved, axis=1, keepdims=True))
    return case.value >= float(values["floor"]) * (1 - ROUNDED)


LAWS = {
    "above_collapse": is_above_collapse,
    "above_collapse_all_over": is_above_collapse,
    "above_collapse_not_above": is_above_collapse,
    "above_collapse_not_below": is_above_collapse,
    "all_alone": are_drawn_to_nothing,
    "all_class": own_class_is_nearest,
    "all_key": own_key_is_nearest,
    "alone": are_drawn_to_nothing,
    "all_prototype": own_prototype_is_nearest,
    "collapsed": sits_at_collapse,
    "gradient_large": lambda f, v: is_as_stated(f, v) and gradient_norm(f) > GRADIENT_BAND[1],
    "in_order": is_in_order,
    "labels_equal": learns_nothing,
    "labels_equal_felt": draws_to_its_label,
    "one_pair": compares_nothing,
    "same_text": lambda found, values: twins_are_negatives(case_of(found)),
    "same_text_floor": stays_above,
}


def each_on_its_own_key():
    """Eight pairs, each of one vector at right angles to all others."""
    pairs = Pairs(*(tuple(f"{side}{n}" for n in range(8)) for side in "ab"), (1.0,) * 8)
    return together_by_class(OnPairs("info_nce", pairs, unit(16))).batch


def explored():
    batch = each_on_its_own_key()
    for loss in LOSSES:
        if set(LOSSES[loss].reads.values()) <= {"queries", "keys"}:
            yield "own keys", explore(Scenario(loss=loss), batch)
    for name, data in BATCHES.items():
        for loss in LOSSES:
            try:
                yield name, explore(Scenario(data, loss=loss))
            except Problem:  # the batch lacks what the loss reads
                continue


def test_every_remark_holds_of_the_loss_on_its_batch():
    false, met = [], set()
    for name, found in explored():
        for remark in remarks(found, most=99):
            met.add(remark.key)
            law = LAWS.get(remark.key)
            if law is not None and not law(found, remark.values):
                false.append((remark.key, found.spec.name, name))
    assert false == []
    assert met >= LAWS.keys()
    keys = {key.removeprefix("remark.") for key in catalogue("en") if key.startswith("remark.")}
    of_losses = {key for key in keys if not key.startswith(OF_RUNS)}
    assert of_losses == LAWS.keys() | OF_THE_BATCH | OF_CHOICES
