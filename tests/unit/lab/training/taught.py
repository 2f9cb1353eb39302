"""Small data with lists, with triplets and with a teacher, and what is trained on them."""

from __future__ import annotations

import random

from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.losses import LOSSES
from tests.tiny import sentence

ON_LISTS = [
    n for n, spec in LOSSES.items() if "lists" in spec.needs and "teacher" not in spec.needs
]
SMALL = {"encoder": SCRATCH, "dimension": 8, "steps": 2, "batch_size": 3, "evaluations": 1}


def plan(**chosen):
    return TrainingPlan(**{**SMALL, **chosen})


def distinct(count, seed=2):
    draw, found = random.Random(seed), {}
    while len(found) < count:
        found[sentence(draw)] = None
    return list(found)


def graded(count=14, seed=2):
    """Lists of two to four graded candidates, and a query with one alone; each with a teacher."""
    draw, texts = random.Random(seed), distinct(5 * count + 2, seed)
    pairs = []
    for query in texts[:count]:
        size = draw.randrange(2, 5)
        labels = [3.0, 0.0, *(float(draw.randrange(4)) for _ in range(size - 2))]
        pairs += [(query, texts[count + len(pairs) + n], label) for n, label in enumerate(labels)]
    pairs.insert(1, (texts[-2], texts[-1], 2.0))  # between the candidates of another query
    return tuple(pairs), tuple(round(draw.gauss(0, 3), 2) for _ in pairs)


def taught_by(whole, held_out=False):
    """What the teacher gave the pairs of a side."""
    given = whole.held_out_teacher if held_out else whole.teacher
    assert given is not None
    return given


def corpus(count=14):
    pairs, teacher = graded(count)
    held = [
        place for place, (first, *_) in enumerate(pairs) if first in {pairs[-1][0], pairs[-5][0]}
    ]
    kept = [place for place in range(len(pairs)) if place not in held]
    return Corpus(
        tuple(pairs[p] for p in kept),
        tuple(pairs[p] for p in held),
        teacher=tuple(teacher[p] for p in kept),
        held_out_teacher=tuple(teacher[p] for p in held),
    )


def triplets(negatives, count=16, seed=4):
    """Anchor, positive and so many negatives, the negatives of one row each with a teacher."""
    texts, draw = distinct(count * (2 + max(negatives))), random.Random(seed)
    pairs = []
    for row in range(count):
        anchor, positive, *others = (
            texts.pop() for _ in range(2 + negatives[row % len(negatives)])
        )
        pairs += [(anchor, positive, 1.0), *((anchor, other, 0.0) for other in others)]
    cut = next(p for p in range(len(pairs)) if pairs[p][2] == 1 and p > 3 * len(pairs) // 4)
    teacher = tuple(draw.gauss(0, 2) for _ in pairs)
    return Corpus(
        tuple(pairs[:cut]),
        tuple(pairs[cut:]),
        teacher=teacher[:cut],
        held_out_teacher=teacher[cut:],
        triplets=True,
    )
