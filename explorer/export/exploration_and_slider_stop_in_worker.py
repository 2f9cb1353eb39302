"""Explorations for the Explore page: the part that a worker process can compute alone."""

import math
from dataclasses import dataclass

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.duplicate_texts_in_batch import SharedText, same_texts
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.known_faults_of_shipped_examples import KnownFault, known_faults
from lossprism.explorer.core.models_of_scenario import has_words
from lossprism.explorer.core.remarks import remarks, speaks_another_language, suggested_scale
from lossprism.explorer.core.resolved_scenario import Resolved
from lossprism.explorer.export.drawing_data_of_exploration import (
    describe_batch,
    lever_stop,
    picture,
)
from lossprism.explorer.export.drawing_data_types import BatchData, LeverStop, Picture
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.response_parent_classes import Sparse
from lossprism.explorer.runtime.validation import is_number
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.pairs_from_tables import SkippedRow

# By their names: whoever asks again need not send them.
_batches: Cache[Batch] = Cache(KEPT_BATCHES)


@dataclass(frozen=True)
class ExploredBatch(BatchData):
    """The batch of a scenario: `scale` is the recommended λ, `sigma` the spread of its scores;
    `same_texts`, `planted` and a teacher's scores are marked at its pairs."""

    scale: tuple[float, float] | None
    sigma: float
    foreign: bool
    editable: bool
    same_texts: list[SharedText]
    planted: list[KnownFault]
    teacher: list[float | None] | None


@dataclass(frozen=True, kw_only=True)
class Explored(Sparse):
    """A picture with the `batch`, `skipped` rows and `limited` if the page has another batch;
    `rows` names those sent."""

    rows: str | None = None
    picture: Picture
    batch: ExploredBatch | None = None
    skipped: tuple[SkippedRow, ...] | None = None
    limited: bool | None = None


def _described(exploration: Exploration, key: str) -> ExploredBatch:
    data, seen = exploration.scenario.data, exploration.batch
    return ExploredBatch(
        key=key,
        **describe_batch(seen),
        scale=suggested_scale(seen),
        sigma=float(seen.scores.std(correction=0)),
        foreign=speaks_another_language(exploration),
        editable=has_words(data),
        same_texts=same_texts(seen, data),
        planted=known_faults(seen.pairs, data),
        teacher=_teacher_scores(seen.pairs),
    )


def _teacher_scores(pairs: Pairs) -> list[float | None] | None:
    """Return the teacher's score of each pair, None for a missing one; None without a teacher."""
    if pairs.teacher is None:
        return None
    return [None if math.isnan(score) else score for score in pairs.teacher]


def explored_scenario(
    resolved: Resolved, key: str = "", name: str = "", batch: Batch | None = None
) -> Explored | None:
    """Return the picture of a scenario and, with its `key`, the batch, which does not change while
    a slider moves; None if its batch is not cached (`_batch_of`)."""
    seen = _batch_of(resolved, name, batch)
    if seen is None:
        return None
    exploration = explore(resolved, seen)
    of_batch = _described(exploration, key) if key else None
    return Explored(picture=picture(exploration, remarks(exploration)), batch=of_batch)


def stop_of_scenario(
    resolved: Resolved, parameter: str, name: str = "", batch: Batch | None = None
) -> LeverStop | None:
    """Return the scenario's stop on the lever of this parameter; None if its batch is not cached
    (`_batch_of`)."""
    seen = _batch_of(resolved, name, batch)
    if seen is None:
        return None
    exploration, value = explore(resolved, seen), resolved.parameters[parameter]
    assert is_number(value)  # a lever's
    return lever_stop(exploration, value)


def _batch_of(resolved: Resolved, name: str, batch: Batch | None) -> Batch | None:
    """Return the scenario's batch. A random one is drawn here; any other is sent once, and then has
    a `name`: None if there is none of that name."""
    if batch is not None:
        _batches.put(name, batch)
        return batch
    return _batches.get(name) if name else resolved.batch
