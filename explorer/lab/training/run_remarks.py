"""Remarks on a run: first whether it was worth it."""

from collections.abc import Sequence

import numpy as np

from lossprism.explorer.core.remarks import Remark, Value, short
from lossprism.explorer.lab.training.ended_run_scores import has_ended, measured, outcome
from lossprism.explorer.lab.training.rank_and_neighbour_changes import MovedPair, rank_changes
from lossprism.explorer.lab.training.run_comparison import held_out_pairs, on_gain, on_repeats
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_difference_verdict import Gain, gain
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.lab.training.run_json_types import StepRecord
from lossprism.explorer.lab.training.trend import trend_of
from lossprism.explorer.lab.vector_normalisation import directions
from lossprism.explorer.locale import grouped
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.sources.cells import shortened

# A mean cosine that moved by less than this is no news.
MIN_COSINE_CHANGE = 0.1
# Fewer steps than these show no trend.
MIN_STEPS = 20
SENTENCE_LETTERS = 60  # that a remark quotes
# With fewer sentences there is no remark.
MIN_SENTENCES = 10


def _gain(run: RunFolder) -> Gain | None:
    """Gain of a run that has ended in its leading figure: the interval covers other held-out pairs
    and this very model. None where one side has no order."""
    held_out_scores = outcome(run)
    before, after = (
        held_out_scores.figure(held_out_scores.leading, when) for when in ("before", "after")
    )
    return gain({0: before}, {0: after}, held_out_scores.pairs) if before and after else None


def remarks(runs: Runs, name: str, limit: int = 5) -> list[Remark]:
    """Return at most `limit` remarks on a run, whether it still trains or has ended."""
    steps = [one for one in runs.history(name) if isinstance(one, StepRecord)]
    run = runs.folder(name)
    ended = has_ended(run)
    remarks = [
        *(_on_held_out(run) if ended else ()),
        *(_on_pairs(runs, name) if ended else ()),
        *on_loss([record.loss for record in steps]),
        *(_on_space(run) if ended else ()),
    ]
    return remarks[:limit]


def gained(run: RunFolder) -> Remark:
    """Remark on the change of the leading figure of a finished run on its held-out pairs, with its
    interval."""
    held_out_scores = outcome(run)
    return on_gain(_gain(run), held_out_pairs(len(held_out_scores.pairs)), held_out_scores.leading)


def _on_held_out(run: RunFolder) -> list[Remark]:
    held_out_scores = outcome(run)
    return [
        gained(run),
        *on_repeats(held_out_scores.pairs, held_out_pairs(len(held_out_scores.pairs))),
    ]


def _on_pairs(runs: Runs, name: str) -> list[Remark]:
    """The pair that came nearest to where its label belongs; of positives all belong together."""
    if outcome(runs.folder(name)).places:
        return []

    def nearer(pair: MovedPair) -> float:
        before, after = pair.rank_before, pair.rank_after
        return abs(before - pair.label_rank) - abs(after - pair.label_rank)

    best = max(rank_changes(outcome(runs.folder(name))), key=nearer, default=None)
    if best is None or nearer(best) <= 0:
        return []
    names = ("label", "rank_before", "rank_after", "label_rank")
    values = {name: display_number(getattr(best, name), 3) for name in names}
    texts = ("first", "second")
    values |= {name: shortened(getattr(best, name), SENTENCE_LETTERS) for name in texts}
    return [Remark("run_pair", {**values, "count": len(outcome(runs.folder(name)).pairs)})]


def on_loss(losses: Sequence[float]) -> list[Remark]:
    """Remark on the loss: a fall or rise counts if a line through all steps moves further than the
    noise of the batches carries it, and the first and the last tenth differ the same way."""
    count = len(losses)
    if count < MIN_STEPS:
        return []
    window = max(count // 10, 2)
    first, last = float(np.mean(losses[:window])), float(np.mean(losses[-window:]))
    trend = trend_of(np.asarray(losses))
    moved = trend.moved
    is_significant = abs(moved) > trend.by_chance and moved * (last - first) > 0
    key = "flat" if not is_significant else "fell" if moved < 0 else "rose"
    values: dict[str, Value] = {"steps": grouped(count), "noise": short(trend.by_chance)}
    values["moved"] = short(abs(moved)) if is_significant else _signed(moved)
    return [Remark(f"run_loss_{key}", values)]


def _signed(value: float) -> str:
    return f"+{short(value)}" if value > 0 else short(value)


def _on_space(run: RunFolder) -> list[Remark]:
    before, after = (measured(run, when).get("vectors") for when in ("before", "after"))
    if before is None or after is None:  # a cross-encoder has none
        return []
    return on_space(before.astype(np.float64), after.astype(np.float64))


def on_space(before: np.ndarray, after: np.ndarray) -> list[Remark]:
    """Remark on held-out sentences that moved together or apart by MIN_COSINE_CHANGE or more, from
    their vectors [S, D].

    The remark does not extend to other sentences: these may be of a few topics, and other topics
    may have moved otherwise.
    """
    if len(before) < MIN_SENTENCES:
        return []
    first, last = (_mean_cosine(side) for side in (before, after))
    if abs(last - first) < MIN_COSINE_CHANGE:
        return []
    key = "run_closer" if last > first else "run_apart"
    values: dict[str, Value] = {"before": short(first), "after": short(last), "count": len(before)}
    return [Remark(key, values)]


def _mean_cosine(vectors: np.ndarray) -> float:
    """Mean cosine of every two of the S vectors [S, D]."""
    unit, count = directions(vectors), len(vectors)
    together = float(np.square(unit.sum(axis=0)).sum() - np.square(unit).sum())
    return together / (count * (count - 1))
