"""Held-out pairs and sentences before and after a run: changes of rank, and nearest neighbours."""

from dataclasses import dataclass

import numpy as np

from lossprism.explorer.core.rank_correlation import mid_ranks
from lossprism.explorer.lab.training.ended_run_scores import HeldOutScores, measured
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.vector_normalisation import directions


@dataclass(frozen=True)
class Neighbour:
    """A sentence nearby."""

    sentence: str
    cosine: float


@dataclass(frozen=True)
class Neighbours:
    """Nearest sentences before and after the training; `kept` of them are the same."""

    sentence: str
    before: list[Neighbour]
    after: list[Neighbour]
    kept: int


@dataclass(frozen=True)
class MovedPair:
    """A held-out pair and its ranks: 1 is the highest score, and equal scores share their mean."""

    first: str
    second: str
    label: float
    rank_before: float
    rank_after: float
    label_rank: float


def neighbours(runs: Runs, name: str, count: int = 5) -> list[Neighbours]:
    """Return the `count` nearest held-out sentences before and after, those that changed most
    first. A cross-encoder has none."""
    before, after = (measured(runs.folder(name), when) for when in ("before", "after"))
    if "vectors" not in before:
        return []
    sentences = [str(text) for text in before["sentences"]]
    sides = []
    for side in (before, after):
        unit = directions(side["vectors"])
        cosines = unit @ unit.T
        np.fill_diagonal(cosines, -np.inf)
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
        sides.append((order, cosines))
    found = []
    for place, text in enumerate(sentences):
        lists = [
            [Neighbour(sentences[k], float(cosines[place, k])) for k in order[place]]
            for order, cosines in sides
        ]
        common = len(set(sides[0][0][place]) & set(sides[1][0][place]))
        found.append(Neighbours(text, lists[0], lists[1], common))
    return sorted(found, key=lambda entry: entry.kept)


def rank_changes(held_out_scores: HeldOutScores, count: int = 20) -> list[MovedPair]:
    """Return the `count` pairs whose rank by score changed most, for a run that has ended; for
    positives, the place of the own key among all keys."""
    before, after = (held_out_scores.scores[when] for when in ("before", "after"))
    ranks = [mid_ranks(-side) for side in (before, after)]
    by_label = mid_ranks(-held_out_scores.labels)
    if held_out_scores.places:
        ranks = [held_out_scores.places[when] for when in ("before", "after")]
        by_label = np.ones(len(before))
    order = np.argsort(-np.abs(ranks[1] - ranks[0]), kind="stable")[:count]
    return [
        MovedPair(
            first=held_out_scores.pairs[place][0],
            second=held_out_scores.pairs[place][1],
            label=float(held_out_scores.labels[place]),
            rank_before=float(ranks[0][place]),
            rank_after=float(ranks[1][place]),
            label_rank=float(by_label[place]),
        )
        for place in order.tolist()
    ]
