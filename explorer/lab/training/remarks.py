"""What is striking about a run, in sentences: first whether it was worth it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.core.remarks import Remark, short
from explorer.lab.training.compare import moved_pairs
from explorer.lab.training.measure import correlations
from explorer.lab.training.runs import Runs

SHARE, LEAST_RESAMPLES, MOST_RESAMPLES, NUMBERS = 0.95, 200, 1000, 2_000_000
# A mean cosine that moved by less than this is no news.
MOVED = 0.1
# Fewer steps than these show no trend; a movement of so many standard errors is one.
FEW_STEPS, SURE = 20, 3.0


@dataclass(frozen=True)
class Gain:
    """Held-out Spearman before and after, and where 95% of the resampled changes lie."""

    before: float
    after: float
    low: float
    high: float
    pairs: int


def gain(before: np.ndarray, after: np.ndarray, labels: np.ndarray) -> Gain | None:
    """What the scores of the same pairs gained; None where one side has no order.

    The pairs are drawn anew, with repetition, and both sides measured on the same draw.
    """
    ranked = (correlations(scores, labels)["spearman"] for scores in (before, after))
    started, ended = ranked
    if started is None or ended is None:
        return None
    draw, count = np.random.default_rng(0), len(labels)
    times = min(max(NUMBERS // count, LEAST_RESAMPLES), MOST_RESAMPLES)
    changes = np.array([_change(before, after, labels, draw) for _ in range(times)])
    # A draw of equal labels or scores says nothing.
    changes = changes[np.isfinite(changes)]
    low, high = np.quantile(changes, ((1 - SHARE) / 2, (1 + SHARE) / 2)).tolist()
    return Gain(started, ended, low, high, count)


def _change(before: np.ndarray, after: np.ndarray, labels: np.ndarray, draw) -> float:
    chosen = draw.integers(0, len(labels), len(labels))
    ranks = _ranks(np.stack([before[chosen], after[chosen], labels[chosen]]))
    with np.errstate(invalid="ignore"):
        found = np.corrcoef(ranks)
    return float(found[1, 2] - found[0, 2])


def _ranks(rows: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    return rankdata(rows, axis=1)


def gain_of(runs: Runs, name: str) -> Gain | None:
    """The gain of a run that has ended; None of one that has not."""
    run = runs.folder(name)
    after = run.path / "after.npz"
    return _gain_in(run.path, after.stat().st_mtime_ns) if after.exists() else None


@functools.lru_cache(maxsize=64)
def _gain_in(path: Path, _written: int) -> Gain | None:
    from explorer.lab.training.folder import RunFolder

    scores = {}
    for when in ("before", "after"):
        with np.load(path / f"{when}.npz") as held:
            scores[when] = held["scores"]
    labels = [label for *_, label in RunFolder(path).read_pairs("held_out.jsonl")]
    return gain(scores["before"], scores["after"], np.array(labels))


def remarks(runs: Runs, name: str, most: int = 5) -> list[Remark]:
    """At most `most` remarks on a run, whether it still trains or has ended."""
    history = runs.history(name)
    steps = [record for record in history if record["kind"] == "step"]
    measured = [record for record in history if record["kind"] == "evaluation"]
    ended = (runs.folder(name).path / "after.npz").exists()
    found = [
        *(_on_gain(runs, name) if ended else ()),
        *(_on_pairs(runs, name) if ended else ()),
        *_on_loss(steps),
        *_on_space(measured),
    ]
    return found[:most]


def _on_gain(runs: Runs, name: str) -> list[Remark]:
    found = gain_of(runs, name)
    if found is None:
        return [Remark("run_no_order")]
    key = "run_rose" if found.low > 0 else "run_fell" if found.high < 0 else "run_chance"
    ends = (found.low, found.high) if key != "run_fell" else (-found.high, -found.low)
    values = {"before": short(found.before), "after": short(found.after)}
    low, high = (f"{end:.2f}".replace("-", "−") for end in ends)
    values |= {"low": low, "high": high, "count": found.pairs}
    return [Remark(key, values)]


def _on_pairs(runs: Runs, name: str) -> list[Remark]:
    """The pair that came nearest to where its label belongs."""

    def nearer(pair: dict) -> float:
        before, after = (abs(pair[f"rank_{w}"] - pair["label_rank"]) for w in ("before", "after"))
        return before - after

    best = max(moved_pairs(runs, name), key=nearer, default=None)
    if best is None or nearer(best) <= 0:
        return []
    values = {key: f"{best[key]:g}" for key in ("label", "rank_before", "rank_after")}
    values |= {side: _clipped(best[side]) for side in ("first", "second")}
    count = len(runs.folder(name).read_pairs("held_out.jsonl"))
    return [Remark("run_pair", {**values, "count": count})]


def _on_loss(steps: list[dict]) -> list[Remark]:
    """Whether the loss moved further between the first and the last tenth of the steps than the
    noise of the batches carries it."""
    if len(steps) < FEW_STEPS:
        return []
    losses = np.array([record["loss"] for record in steps])
    window = max(len(losses) // 10, 2)
    first, last = losses[:window].mean(), losses[-window:].mean()
    # From one step to the next a trend moves little, and two draws of the noise differ.
    noise = np.sqrt(np.square(np.diff(losses)).mean() / 2) * np.sqrt(2 / window)
    key = "flat" if abs(last - first) <= SURE * noise else "fell" if last < first else "rose"
    values = {"first": short(first), "last": short(last), "window": str(window)}
    return [Remark(f"run_loss_{key}", {**values, "noise": short(SURE * noise)})]


def _on_space(measured: list[dict]) -> list[Remark]:
    known = [r for r in measured if r["mean_cosine"] is not None]
    if not known or abs(known[-1]["mean_cosine"] - known[0]["mean_cosine"]) < MOVED:
        return []
    first, last = known[0], known[-1]
    key = "run_closer" if last["mean_cosine"] > first["mean_cosine"] else "run_apart"
    values = {"before": short(first["mean_cosine"]), "after": short(last["mean_cosine"])}
    return [Remark(key, values)]


def _clipped(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
