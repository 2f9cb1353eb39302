"""Sentences on training runs: what a model gained, how runs compare, whether a loss fell."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import torch
from scipy.signal import lfilter

from lossprism.explorer.lab.training.held_out_metrics import own_places
from lossprism.explorer.lab.training.metric_uncertainty import Measured, accuracy_at_1, spearman
from lossprism.explorer.lab.training.run_comparison import (
    held_out_pairs,
    of_difference,
    on_gain,
    on_repeats,
)
from lossprism.explorer.lab.training.run_difference_verdict import (
    by_chance,
    difference,
    gain,
    judged,
)
from lossprism.explorer.lab.training.run_remarks import on_loss
from tests.judgements import Among, SentencesOf, Source, simulated

PAIRS = 400
THESE = held_out_pairs(PAIRS)


class HeldOut:
    """Held-out pairs of graded labels that share sentences, and models that score them.

    A score is the truth, what a way of training gets wrong about a sentence in every pair of it,
    what all models get wrong about a pair, and what this run gets wrong about it.
    """

    def __init__(self, draw: Source, count: int = PAIRS) -> None:
        self.draw, self.count = draw, count
        first = draw.integers(0, count, count)
        second = (first + draw.integers(1, count, count)) % count
        self.ends = first, second
        self.pairs = [(f"s{a}", f"s{b}") for a, b in zip(first, second, strict=True)]
        self.truth = draw.normal(size=count)
        self.labels = np.round(np.clip(2.5 + 1.2 * self.truth, 0, 5))
        self.common = draw.normal(size=count)

    def way(self) -> np.ndarray:
        of_sentence = self.draw.normal(size=self.count)
        return (of_sentence[self.ends[0]] + of_sentence[self.ends[1]]) / np.sqrt(2)

    def run(self, quality: float, way: np.ndarray) -> Measured:
        own = 0.3 * self.draw.normal(size=self.count)
        scores = quality * self.truth + 0.5 * self.common + 0.3 * way + own
        found = spearman(scores, self.labels)
        assert found is not None
        return found

    def seeds(self, quality: float, seeds: int, by_seed: float = 0.03) -> dict[int, Measured]:
        way = self.way()
        return {
            seed: self.run(quality + by_seed * self.draw.normal(), way) for seed in range(seeds)
        }


@functools.cache
def compared(qualities: tuple[float, ...], seeds: int, by_seed: float = 0.03) -> SentencesOf:
    """Draw what is said of ways of training of these qualities; who is said to be ahead is part of
    the claim, so the wrong one ahead is another sentence."""

    def sentences_of(draw: Source) -> set[str]:
        held_out = HeldOut(draw)
        ways = [held_out.seeds(quality, seeds, by_seed) for quality in qualities]
        found = judged(ways, held_out.pairs)
        best, *others = found.order
        right = qualities[best] == max(qualities)
        beside = zip(others, found.beside, strict=True)
        keys = {of_difference(str(best), str(other), gap, THESE).key for other, gap in beside}
        return keys if right else {f"{key} of the wrong one" for key in keys}

    return sentences_of


def says(key: str, sentences_of: SentencesOf) -> Among:
    return Among(sentences_of, lambda keys: any(one.startswith(key) for one in keys))


def exactly(key: str, sentences_of: SentencesOf) -> Among:
    return Among(sentences_of, lambda keys: key in keys)


FAR, SAME = (1.0, 0.6), (1.0, 1.0)
FAR_ABOUT = "two ways of training of Spearman 0.86 and 0.72, 400 pairs"
SAME_ABOUT = "equally good ways, 400 pairs that share sentences"

simulated(
    "remark.verdict_ahead",
    true=(f"{FAR_ABOUT}, three seeds", exactly("verdict_ahead", compared(FAR, 3))),
    false=(
        f"four {SAME_ABOUT}, three seeds",
        says("verdict_ahead", compared((1.0,) * 4, 3)),
    ),
)
simulated(
    "remark.verdict_untold_needed",
    true=(
        "two ways that differ by 0.02, five seeds that hardly differ, 400 pairs",
        exactly("verdict_untold_needed", lambda draw: slightly(draw, 0.02)),
    ),
    false=(f"{FAR_ABOUT}, five seeds", says("verdict_untold_needed", compared(FAR, 5))),
)
simulated(
    "remark.verdict_untold",
    true=(
        "two ways that differ by 0.000001, five seeds that hardly differ, 400 pairs",
        exactly("verdict_untold", lambda draw: slightly(draw, 1e-6)),
    ),
    false=(f"{FAR_ABOUT}, five seeds", exactly("verdict_untold", compared(FAR, 5))),
)
simulated(
    "remark.verdict_models_ahead",
    true=(f"{FAR_ABOUT}, one seed", exactly("verdict_models_ahead", compared(FAR, 1, 0))),
    false=(
        f"four models: {SAME_ABOUT}",
        says("verdict_models_ahead", compared((1.0,) * 4, 1, 0)),
    ),
)
simulated(
    "remark.verdict_models_untold",
    true=(f"two models: {SAME_ABOUT}", says("verdict_models_untold", compared(SAME, 1, 0))),
    false=(f"{FAR_ABOUT}, one seed", says("verdict_models_untold", compared(FAR, 1, 0))),
)


def slightly(draw: Source, apart: float) -> set[str]:
    """What is said of two ways whose seeds differ far less than their pairs."""
    pairs = [(f"a{i}", f"b{i}") for i in range(PAIRS)]
    sides = []
    for way in range(2):
        influence = draw.normal(size=PAIRS)
        values = 0.7 + way * apart + 1e-7 * draw.normal(size=5)
        sides.append({seed: Measured(value, influence) for seed, value in enumerate(values)})
    return {of_difference("a", "b", difference(*sides, pairs), THESE).key}


def seeds_of(draw: Source, shared: bool) -> set[str]:
    held_out = HeldOut(draw, 50)
    one, other = held_out.seeds(1.0, 2), held_out.seeds(1.0, 4)
    kept = {seed: run for seed, run in other.items() if shared or seed not in one}
    return {of_difference("a", "b", difference(one, kept, held_out.pairs), THESE).key}


simulated(
    "remark.verdict_no_seed",
    true=("seeds 0, 1 and 2, 3", exactly("verdict_no_seed", lambda draw: seeds_of(draw, False))),
    false=("seeds 0, 1 and 0 to 3", says("verdict_no_seed", lambda draw: seeds_of(draw, True))),
)


# What a model gained


@functools.cache
def gained(before: float, after: float) -> SentencesOf:
    """What is said of held-out pairs with labels, and as often of positives without."""

    def sentences_of(draw: Source) -> set[str]:
        if before == after and not draw.integers(3):
            return {on_gain(gain(*few_lists(draw)), THESE).key}
        if draw.integers(2):
            queries = Queries(draw)
            sides = [{0: queries.run(quality)} for quality in (before, after)]
            return {on_gain(gain(*sides, queries.pairs), THESE, "accuracy_at_1").key}
        held_out = HeldOut(draw, 200)
        way = held_out.way()
        sides = [{0: held_out.run(quality, way)} for quality in (before, after)]
        return {on_gain(gain(*sides, held_out.pairs), THESE).key}

    return sentences_of


def few_lists(draw: Source) -> tuple[dict[int, Measured], dict[int, Measured], list]:
    """Two models that order the candidates of a few queries equally well on the whole, each some
    queries better than others, and their pairs."""
    queries, candidates = int(draw.integers(2, 11)), int(draw.integers(20, 61))
    of = np.repeat(np.arange(queries), candidates)
    labels = draw.normal(size=len(of))
    sides = []
    for _ in range(2):
        slope, height = 1 + 0.6 * draw.normal(size=queries), 0.6 * draw.normal(size=queries)
        scores = slope[of] * labels + height[of] + draw.normal(size=len(of))
        found = spearman(scores, labels)
        assert found is not None
        sides.append({0: found})
    return *sides, [(f"q{query}", f"d{place}") for place, query in enumerate(of)]


class Queries:
    """Held-out positives, and models that bring each query near its key: so far as their quality
    goes, beside what all models get wrong of a pair and what this one does."""

    def __init__(self, draw: Source, count: int = 200) -> None:
        self.draw = draw
        self.pairs = [(f"q{i}", f"k{i}") for i in range(count)]
        self.keys = draw.normal(size=(count, 8))
        self.common = draw.normal(size=(count, 8))

    def run(self, quality: float) -> Measured:
        own = self.draw.normal(size=self.keys.shape)
        queries = quality * self.keys + 0.6 * self.common + 0.3 * own
        vectors = torch.from_numpy(np.concatenate([queries, self.keys]))
        unit = torch.nn.functional.normalize(vectors, dim=1)
        places = torch.arange(len(vectors)).chunk(2)
        return accuracy_at_1(own_places(unit, *places))


ROSE, FELL, STAYED = gained(0.5, 1.0), gained(1.0, 0.5), gained(0.8, 0.8)
STAYED_ABOUT = (
    "as good before as after, 200 pairs that share sentences, 200 positives, or 2 to 10 queries "
    "with 20 to 60 candidates each"
)
ROSE_ABOUT = "Spearman 0.66 before, 0.86 after, or accuracy@1 0.15 before, 0.57 after, 200 pairs"
FELL_ABOUT = "Spearman 0.86 before, 0.66 after, or accuracy@1 0.57 before, 0.15 after, 200 pairs"
simulated(
    "remark.run_rose",
    true=(ROSE_ABOUT, exactly("run_rose", ROSE)),
    false=(STAYED_ABOUT, exactly("run_rose", STAYED)),
)
simulated(
    "remark.run_fell",
    true=(FELL_ABOUT, exactly("run_fell", FELL)),
    false=(STAYED_ABOUT, exactly("run_fell", STAYED)),
)
simulated(
    "remark.run_chance",
    true=(STAYED_ABOUT, exactly("run_chance", STAYED)),
    false=(ROSE_ABOUT, exactly("run_chance", ROSE)),
)


def ordered(draw: Source, flat: bool) -> set[str]:
    labels = np.round(draw.uniform(0, 5, 40))
    scores = np.full(40, draw.uniform()) if flat else draw.normal(size=40)
    after = spearman(scores, labels)
    pairs = [(f"a{i}", f"b{i}") for i in range(40)]
    found = gain({0: spearman(draw.normal(size=40), labels)}, {0: after}, pairs) if after else None
    return {on_gain(found, THESE).key}


simulated(
    "remark.run_no_order",
    true=("one score for all", exactly("run_no_order", lambda draw: ordered(draw, True))),
    false=("any scores", exactly("run_no_order", lambda draw: ordered(draw, False))),
)


@functools.cache
def repeated(share: float) -> SentencesOf:
    """What is said of held-out pairs of which one stands there again, in either order: so large a
    share of them are repetitions."""

    def sentences_of(draw: Source) -> set[str]:
        count = int(draw.integers(300, 1200))
        again = round(share * count)
        fresh = [(f"a{i}", f"b{i // 2}") for i in range(count - again)]
        copies = [fresh[0][:: draw.choice([-1, 1])] for _ in range(again)]
        return {one.key for one in on_repeats([*fresh, *copies], THESE)}

    return sentences_of


simulated(
    "remark.run_repeats",
    true=(
        "300 to 1,200 pairs, 6% of them one and the same",
        exactly("run_repeats", repeated(0.06)),
    ),
    false=("two of 300 to 1,200 pairs the same, or none", exactly("run_repeats", repeated(0.001))),
)


def by_itself(relation: float) -> Callable[[Source], bool]:
    """Whether the Spearman of few pairs lies within what chance alone would do."""

    def sentences_of(draw: Source) -> bool:
        # What a pair stands with: alone, among the candidates of its query, or repeatedly.
        count = int(draw.integers(8, 30))
        of = [
            np.arange(count),
            np.repeat(np.arange(count // 2 + 4), 2),
            np.concatenate([np.arange(count), np.zeros(3, dtype=int)]),
        ][draw.integers(3)]
        repeated = len(of) == count + 3
        own = np.zeros(len(of)) if repeated else 0.1 * draw.normal(size=len(of))
        truth = draw.normal(size=of.max() + 1)[of] + own
        noise = draw.normal(size=of.max() + 1)[of]
        scores = relation * truth + np.sqrt(1 - relation**2) * noise
        pairs = [(f"a{q}", f"b{q if repeated else i}") for i, q in enumerate(of)]
        found = spearman(scores, truth if count % 2 else np.digitize(truth, [-0.5, 0.5]))
        reach = by_chance(pairs)
        return found is not None and reach is not None and abs(found.value) <= reach

    return sentences_of


simulated(
    "finetune.few",
    true=(
        "8 to 34 pairs, alone, two of each query, or one of them four times, scores without any "
        "relation to the labels: it holds",
        by_itself(0.0),
    ),
    false=("the same, scores of correlation 0.99 with them: it holds", by_itself(0.99)),
)


# The training loss


@functools.cache
def curve(height: float) -> SentencesOf:
    """A loss that moves steadily by so many standard errors of a line through it, in noise that is
    even, heavy-tailed or skewed, and correlates from step to step by 0 to 0.7."""

    def sentences_of(draw: Source) -> set[str]:
        steps = int(draw.integers(20, 400))
        together = draw.uniform(0, 0.7)
        count = steps + 100  # which it takes to settle
        fresh = [
            lambda: draw.normal(size=count),
            lambda: draw.standard_t(4, size=count) / np.sqrt(2),
            lambda: draw.exponential(size=count) - 1,
        ][draw.integers(3)]()
        noise = lfilter([np.sqrt(1 - together**2)], [1, -together], fresh)[100:]
        slope = height * np.sqrt(12 / steps * (1 + together) / (1 - together))
        return {one.key for one in on_loss(list(slope * np.linspace(0, 1, steps) + noise))}

    return sentences_of


FLAT_ABOUT = (
    "noise alone: even, heavy-tailed or skewed, correlated by 0 to 0.7 from step to step, 20 to "
    "400 steps"
)
for key, height in (("run_loss_fell", -6.0), ("run_loss_rose", 6.0)):
    simulated(
        f"remark.{key}",
        true=("a steady trend of six standard errors", exactly(key, curve(height))),
        false=(FLAT_ABOUT, exactly(key, curve(0.0))),
    )
simulated(
    "remark.run_loss_flat",
    true=(FLAT_ABOUT, exactly("run_loss_flat", curve(0.0))),
    false=("a steady trend of six standard errors", exactly("run_loss_flat", curve(-6.0))),
)
