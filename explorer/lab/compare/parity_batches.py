"""Batches on which losses are compared with libraries."""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch, batch_of_vectors
from lossprism.explorer.core.scenario import Rules
from lossprism.explorer.lab.compare.batch_change_effects import of_rows
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses.labels import UNJUDGED
from lossprism.losses.query_groups import lists_of

# The seeded batch: numbers of first sentences, of second sentences for each, of dimensions.
ANCHORS, CANDIDATES, DIMENSION, SEED = 8, 3, 16, 14
# How far `moved` moves a vector, as a share of its length: no two distances stay equal or 0.
MOVED_SHARE = 0.1


def seeded_batch(
    seed: int = SEED, count: int = ANCHORS, candidates: int = CANDIDATES, dimension: int = DIMENSION
) -> Batch:
    """Draw pairs on which every loss has something to do: first sentences that share several
    seconds, labels 0 to 5 partly correlated with the cosine, a teacher, vectors of all lengths."""
    random = np.random.RandomState(seed)
    anchors = random.standard_normal((count, dimension))
    places = np.repeat(np.arange(count), candidates)
    labels = np.concatenate([random.permutation([0, 1, 2, 3, 4, 5])[:candidates] for _ in anchors])
    labels[::candidates] = np.maximum(labels[::candidates], 3)  # each has a positive
    noise = random.standard_normal((len(places), dimension))
    seconds = anchors[places] * labels[:, None] / 4 + noise
    names = [f"b{place}" for place in range(len(places))]
    pairs = Pairs(
        tuple(f"a{place}" for place in places),
        tuple(names),
        tuple(map(float, labels)),
        label_range=(0.0, 5.0),
        teacher=tuple((labels + random.standard_normal(len(labels))).tolist()),
    )
    vectors = {f"a{place}": anchor for place, anchor in enumerate(anchors)}
    vectors |= dict(zip(names, seconds, strict=True))
    batch = batch_of_vectors(pairs, np.array([vectors[one] for one in pairs.sentences]), Rules())
    assert batch.vectors is not None
    taught = batch.vectors.new_tensor(random.standard_normal(batch.vectors.shape))
    # Not the means of the classes: a vector that is its prototype has no arccos to differentiate.
    prototypes = random.standard_normal((int(batch.classes.max()) + 1, dimension))
    return dataclasses.replace(batch, rules=_at(prototypes), teacher_vectors=taught)


def _at(prototypes: np.ndarray, rules: Rules | None = None) -> Rules:
    """The rules with these vectors [C, D] as the prototypes."""
    rows = "\n".join(" ".join(map(repr, row)) for row in prototypes.tolist())
    return dataclasses.replace(rules or Rules(), prototypes=rows)


# Some libraries compare every three vectors: measured at up to 243 bytes for each three of N pairs,
# 195 of which are alive (`tests/process/test_request_memory.py`).
TRIPLE_BYTES, MAX_PAIRS = 320, 128


def shown_of(batch: Batch) -> Batch:
    """Return the first pairs of a larger batch, as many as libraries that compare every three have
    memory for: `MAX_PAIRS`, on a hosted page fewer where a request may take less memory."""
    limit = budget("request_mib") * MIB
    count = (
        MAX_PAIRS if limit == math.inf else min(MAX_PAIRS, int((limit / TRIPLE_BYTES) ** (1 / 3)))
    )
    return batch if len(batch) <= count else _pairs_at(range(count), batch)


def _pairs_at(places: Iterable[int], batch: Batch) -> Batch:
    labels = batch.pairs.labels
    return of_rows(batch, [(place, place, labels[place]) for place in places])


# ---- Batches that a library can take


def batch_for(reads: Iterable[str], needed: Iterable[str], batch: Batch) -> tuple[Batch, str]:
    """Return the batch for a library that reads `reads`, for a loss that reads `needed`, and the
    key of the sentence about what was left out of it; "" for nothing."""
    reads = set(reads)
    if not reads:
        return batch, ""
    if "negative_owners" in reads:
        places = _own_negatives(batch)
        if places:
            return _pairs_at(places, batch), "parity.fed.own_negatives"
    lacks_negatives = "negatives" in set(needed) - reads
    if ("negative_owners" in reads or lacks_negatives) and len(batch.others):
        rules = dataclasses.replace(batch.rules, extra_negatives=False)
        return dataclasses.replace(batch, rules=rules), "parity.fed.positives"
    if "list_places" in reads and bool((batch.lists < 0).any()):
        shortest = int((batch.lists >= 0).sum(dim=1).min())
        places = sorted(batch.lists[:, :shortest].flatten().tolist())
        return _pairs_at(places, batch), "parity.fed.lists"
    return batch, ""


def _own_negatives(batch: Batch) -> list[int]:
    """Places of one positive pair of each first sentence and of as many others of its own as all
    have; empty where no first sentence stands in pairs of both kinds."""
    own = {int(batch.first[place]): [place] for place in reversed(batch.positives.tolist())}
    for place in batch.others.tolist():
        own.get(int(batch.first[place]), []).append(place)
    full = [places for places in own.values() if len(places) > 1]
    count = min(map(len, full), default=0)
    return sorted(place for places in full for place in places[:count])


# ---- Where a loss has no slope


def moved(batch: Batch, reads: Iterable[str], seed: int = SEED) -> Batch:
    """The batch with each vector, score and, for a loss that reads them, prototype moved a little:
    what was equal is no more."""
    generator = torch.Generator().manual_seed(seed)

    def aside(values: Tensor, lengths: Tensor) -> Tensor:
        noise = torch.randn(values.shape, generator=generator, dtype=torch.float64).to(values)
        return values + MOVED_SHARE * lengths * noise

    changed: dict[str, Tensor] = {}
    if batch.given is not None:
        changed["given"] = aside(batch.given, batch.given.std())
    if batch.vectors is None:
        return dataclasses.replace(batch, **changed)
    vectors = changed["vectors"] = aside(
        batch.vectors, batch.vectors.norm(dim=1, keepdim=True) / batch.vectors.shape[1] ** 0.5
    )
    if "prototypes" not in set(reads):
        return dataclasses.replace(batch, **changed)
    prototypes = batch.read("prototypes", vectors, vectors.new_zeros(len(batch)))
    assert prototypes is not None
    rules = _at(aside(prototypes, prototypes.std()).cpu().numpy(), batch.rules)
    return dataclasses.replace(batch, rules=rules, **changed)


# ---- Odd labels


class _ListsOfAnySize(Batch):
    """A batch in which a first sentence with one second is a list, too."""

    @functools.cached_property
    def lists(self) -> Tensor:
        return lists_of(self.first, least=1)


def _relabelled(batch: Batch, change: Callable[[Sequence[float]], Sequence[float]]) -> Batch:
    labels = tuple(map(float, change(batch.pairs.labels)))
    pairs = dataclasses.replace(batch.pairs, labels=labels, label_range=None)
    relabelled = batch_of_vectors(pairs, batch.needed_vectors.cpu().numpy(), Rules())
    return dataclasses.replace(relabelled, teacher_vectors=batch.teacher_vectors)


def _alone(batch: Batch) -> Batch:
    """Return a seeded batch in which every other first sentence has only its first second
    sentence."""
    candidates = batch.lists.shape[1]
    places = [n for n in range(len(batch)) if n % (2 * candidates) <= candidates]
    alone = _pairs_at(places, batch)
    fields = {one.name: getattr(alone, one.name) for one in dataclasses.fields(alone)}
    return _ListsOfAnySize(**fields)


# What is made of a seeded batch, by its name in `parity.odd.…`: labels of degrees between, with −1,
# over 128, all alike; and lists of a single candidate.
ODD_LABELS: Mapping[str, Callable[[Batch], Batch]] = {
    "graded": lambda batch: _relabelled(batch, lambda labels: [one / 4 + 0.125 for one in labels]),
    "unjudged": lambda batch: _relabelled(
        batch, lambda labels: [UNJUDGED if n % 4 == 1 else one for n, one in enumerate(labels)]
    ),
    "large": lambda batch: _relabelled(batch, lambda labels: [50 * label for label in labels]),
    "tied": lambda batch: _relabelled(batch, lambda labels: [2.0] * len(labels)),
    "single": _alone,
}


def odd_for(reads: Iterable[str]) -> list[str]:
    """Return the names of the `ODD_LABELS` batches that matter to a library that reads this: labels
    as they are, or lists."""
    read = set(reads)
    labels = bool(read & {"labels", "list_labels"})
    return [name for name in ODD_LABELS if ("list_scores" in read if name == "single" else labels)]
