"""Faults that only an encoder tells, among vectors of which it is known what they mean.

The encoder is made up, so that it is known which texts mean the same: two random texts lie at a
cosine of 0 ± 0.06, as those of 256 dimensions do, and a query at 0.65 ± 0.15 to its own key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np

from lossprism.explorer.core.label_disagreement import disagrees
from lossprism.explorer.lab.doctor import pair_dataset_checks_by_encoder
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import (
    EncodedPairs,
    encode_pairs,
    examine_encoded,
)
from lossprism.explorer.lab.doctor.pair_table_profile import profiled
from lossprism.explorer.lab.large.encoder_pair_scores import EncodedScores
from lossprism.explorer.sources.encoders import EMBEDDED, locate
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES
from tests.added_encoder import MadeEncoder, added

DRAWS, COUNT, DIMENSION, BATCH = 20, 200, 256, 32


@dataclass(frozen=True)
class Meant:
    """Pairs, the vectors of their texts, and the places of those with a fault; `beside` are places
    at which another finding is right as well. The lengths of `tokenized` texts are told by the
    tokenizer that comes along."""

    pairs: Pairs
    queries: np.ndarray
    keys: np.ndarray
    has: dict[str, set[int]]
    beside: frozenset[int] = frozenset()
    tokenized: bool = False


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def at(draw: np.random.Generator, rows: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """Random directions at these cosines to the rows."""
    other = draw.normal(size=rows.shape)
    other = unit(other - (other * rows).sum(axis=1, keepdims=True) * rows)
    return cosines[:, None] * rows + np.sqrt(1 - cosines[:, None] ** 2) * other


def own(draw: np.random.Generator, count: int) -> np.ndarray:
    return np.clip(0.65 + 0.15 * draw.normal(size=count), 0.05, 0.95)


def texts(side: str) -> tuple[str, ...]:
    return tuple(f"{side} {place}" for place in range(COUNT))


def positives() -> Pairs:
    return Pairs(texts("query"), texts("key"), (1.0,) * COUNT, labelled=False)


def with_near(draw: np.random.Generator) -> Meant:
    """Repeat some keys in other words, at a cosine of 0.97 ± 0.01."""
    keys = unit(draw.normal(size=(COUNT, DIMENSION)))
    some, again = draw.permutation(COUNT)[: 2 * int(draw.integers(3, 9))].reshape(2, -1)
    keys[again] = at(draw, keys[some], np.clip(0.97 + 0.01 * draw.normal(size=len(some)), 0, 0.999))
    both = {*some.tolist(), *again.tolist()}
    queries = at(draw, keys, own(draw, COUNT))
    # The key that says the same is right for the other's query, too.
    return Meant(positives(), queries, keys, {"near_duplicates": both}, frozenset(both))


def with_answers(draw: np.random.Generator) -> Meant:
    """Some queries ask for what another pair's key says, and their own fits less."""
    keys = unit(draw.normal(size=(COUNT, DIMENSION)))
    queries = at(draw, keys, own(draw, COUNT))
    asking, others = draw.permutation(COUNT)[: 2 * int(draw.integers(3, 9))].reshape(2, -1)
    right = at(draw, keys[others], np.minimum(own(draw, len(asking)) + 0.1, 0.95))
    queries[asking] = unit(right + 0.3 * keys[asking])
    return Meant(positives(), queries, keys, {"false_negatives": {*asking.tolist()}})


def with_wrong_labels(draw: np.random.Generator) -> Meant:
    """Grades of 0 to 5 that cosines follow with a correlation of 0.9, 5 to 20% of them turned to
    the other end; every fourth set has none."""
    truth = draw.normal(size=COUNT)
    follows = 0.9 * truth + np.sqrt(1 - 0.9**2) * draw.normal(size=COUNT)
    keys = unit(draw.normal(size=(COUNT, DIMENSION)))
    queries = at(draw, keys, np.clip(0.5 + 0.2 * follows, -0.3, 0.99))
    labels = np.round(np.clip(2.5 + 1.2 * truth, 0, 5))
    share = draw.uniform(0.05, 0.2) if draw.integers(4) else 0.0
    ends = np.flatnonzero(np.abs(labels - 2.5) > 1)  # a grade of 2 or 3 has no other end
    wrong = draw.permutation(ends)[: int(share * COUNT)]
    labels[wrong] = 5 - labels[wrong]
    pairs = Pairs(texts("one"), texts("other"), tuple(labels.tolist()))
    return Meant(pairs, queries, keys, {"disagreement": {*wrong.tolist()}})


# Each is one token of it; beside those of a text it reads one at its beginning and one at its end.
SHORT_WORDS = ("river", "lamp", "seven", "green", "walk", "quiet", "paper", "under", "storm")
READS = 256


def with_long(draw: np.random.Generator) -> Meant:
    """Some texts have more tokens than it reads, by one or many, others as many as it reads."""
    pairs = positives()
    over, full = draw.permutation(COUNT)[: 2 * int(draw.integers(3, 9))].reshape(2, -1)
    sizes = draw.integers(1, 60, (2, COUNT))
    sides = draw.integers(2, size=len(over))
    sizes[sides, over] = READS - 2 + draw.choice([1, 2, 40, 300], len(over))
    sizes[:, full] = READS - 2
    first, second = (
        tuple(" ".join(draw.choice(SHORT_WORDS, size)) for size in side) for side in sizes
    )
    keys = unit(draw.normal(size=(COUNT, DIMENSION)))
    made = Pairs(first, second, pairs.labels, labelled=False)
    queries = at(draw, keys, own(draw, COUNT))
    return Meant(made, queries, keys, {"tokens_cut_off": {*over.tolist()}}, tokenized=True)


def seen_of(meant: Meant, loss: str) -> tuple[EncodedPairs, set[str]]:
    """What the encoder tells of it, and the names of the findings."""
    vectors = meant.queries.astype(np.float32), meant.keys.astype(np.float32)
    cosines = (meant.queries * meant.keys).sum(axis=1)
    made = EncodedScores(cosines, cosines, vectors)
    profile = profiled(meant.pairs)
    lengths = locate(EMBEDDED).token_lengths if meant.tokenized else lambda texts: None
    with (
        patch.object(pair_dataset_checks_by_encoder, "encoded", lambda *_, **__: made),
        added(MadeEncoder("made up", "made up", vectors=np.asarray, lengths=lengths)),
    ):
        seen = encode_pairs(profile, "made up", COUNT, lambda *far: None)
    faults, _ = examine_encoded(profile, seen, LOSSES[loss], BATCH)
    return seen, {fault.name for fault in faults}


def findings_of(seen: EncodedPairs, names: set[str]) -> dict[str, set[int]]:
    """The places that each finding counts."""
    found = {
        "near_duplicates": set(np.flatnonzero(seen.near).tolist()),
        "false_negatives": set(np.flatnonzero(seen.above).tolist()),
        "disagreement": set(),
        "tokens_cut_off": set(),
    }
    if seen.tokens is not None and seen.most_tokens is not None:
        found["tokens_cut_off"] = set(np.flatnonzero(seen.tokens > seen.most_tokens).tolist())
    if seen.contradicted is not None and disagrees(len(seen.contradicted.strong), seen.usual):
        found["disagreement"] = set(seen.contradicted.strong.tolist())
    return {name: found[name] for name in names}


def measured(draws: int = DRAWS) -> Iterator[tuple[str, set, set]]:
    """Yield kind, the places where it was planted, and those where it is reported."""
    for number in range(draws):
        for make, loss in (
            (with_near, "info_nce"),
            (with_answers, "info_nce"),
            (with_wrong_labels, "cosent"),
            (with_long, "cosent"),
        ):
            meant = make(np.random.default_rng(number))
            reported = findings_of(*seen_of(meant, loss))
            for name in {*meant.has, *reported}:
                planted, found = meant.has.get(name, set()), reported.get(name, set())
                yield name, planted, found if name in meant.has else found - meant.beside
