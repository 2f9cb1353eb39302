"""Variation of the figures of a loss over many batches of the same data."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence

from lossprism.explorer.core.batch import batch_of
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.models_of_scenario import Models, scores_of, vectors_of
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import drawn_batches, random_batch
from lossprism.explorer.sources.drawn_batches import Draw
from lossprism.explorer.sources.pairs import Pairs, corrected

BATCH_COUNT = 200

Figures = dict[str, list[float | None]]


def over_batches(scenario: Scenario, pairs: Iterable[Pairs]) -> Figures:
    """The figures of the strip, as `explore` has them for each of these batches.

    Of each figure a list, a value for each batch; None where that batch has none: of a loss over
    positives, a batch without one has no figure at all. Raises Problem as `explore` does, also
    where that goes for all of them.
    """
    data, resolved = scenario.data, resolve(scenario)
    every = [corrected(one, data.corrections) if data.corrections else one for one in pairs]
    _encode(every, resolved.models)
    reads = resolved.spec.reads.values()
    figures: Figures = {name: [] for name in FIGURES}
    lacking = None
    for done, one in enumerate(every):
        jobs.step("batches", done, len(every))
        if not len(one):
            continue
        batch = batch_of(one, data, scenario.rules, resolved.models)
        explored = None
        if batch.lacks_positives(reads) or batch.lacking(reads):
            lacking = batch
        else:
            explored = explore(resolved, batch)
        for name, read in FIGURES.items():
            figures[name].append(None if explored is None else read(explored))
    if lacking is not None and all(value is None for value in figures["loss"]):
        explore(resolved, lacking)  # which says what is lacking
    return figures


def _encode(every: Sequence[Pairs], models: Models) -> None:
    """Encode everything that is not cached in one go, so that the job reports the progress of all
    of it."""
    if models.cross_encoder is not None:
        both = dict.fromkeys(
            itertools.chain.from_iterable(zip(one.first, one.second, strict=True) for one in every)
        )
        first, second = zip(*both, strict=True) if both else ((), ())
        scores_of(first, second, models.cross_encoder)
    sentences = dict.fromkeys(itertools.chain.from_iterable(one.sentences for one in every))
    for encoder in filter(None, (models.encoder, models.guide)):
        if not encoder.reads_whole_batch:
            vectors_of(list(sentences), encoder)


def batches_of_file(pairs: Pairs, draw: Draw, count: int = BATCH_COUNT) -> list[Pairs]:
    """The first `count` batches that this way of drawing finds in a whole file; in its order no
    more than those of one epoch, which every other one repeats."""
    first = dataclasses.replace(draw, number=0)
    if draw.sampler == "in_order":
        count = min(count, drawn_batches.epoch_of(pairs, draw))
    places = itertools.islice(drawn_batches.successive(pairs, first), count)
    return [pairs.at(batch) for batch in places]


def random_batches(data: Data, count: int = BATCH_COUNT) -> list[Pairs]:
    """Random batches that differ from the scenario's in their seed alone, which counts on from
    it."""
    if data.source != "random":
        raise Problem("no_batches")
    chosen = data.random
    seeds = range(chosen.seed, chosen.seed + count)
    return [random_batch.draw(dataclasses.replace(chosen, seed=seed)) for seed in seeds]


def _ranked(e: Exploration) -> float | None:
    """The share of comparisons that are violated, or of anchors that have the right one first."""
    places, order = e.places, e.order
    part, every = (places.first, places.anchors) if places else (order.violated, order.ordered)
    return part / every if every else None


def _correlation(e: Exploration) -> float | None:
    if e.places:
        return e.places.reciprocal if e.places.anchors else None
    return e.order.spearman


FIGURES: dict[str, Callable[[Exploration], float | None]] = {
    "loss": lambda e: e.loss,
    "collapse": lambda e: e.collapse,
    "violated": _ranked,
    "active": lambda e: e.weights and float(e.weights.active),
    "effective": lambda e: e.weights and e.weights.effective,
    "spearman": _correlation,
    "gradient": lambda e: e.gradient_norm,
}
