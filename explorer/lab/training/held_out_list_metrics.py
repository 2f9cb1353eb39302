"""Figures of held-out lists: how well a model orders the candidates of one query.

A list is the held-out pairs with the same first sentence, two at least. `data.split` keeps pairs
that share a sentence on one side, so none of it was learnt from; a held-out file of the user's may
hold lists of the training file too, and then `Corpus.shared` counts their sentences.

NDCG@10 (Järvelin & Kekäläinen 2002): the gain of a candidate is its label above `floor`, the low
end of the labels' scale, so that the least label is worth nothing; on a scale from 0 on this is
what scikit-learn and sentence-transformers compute. Candidates of equal scores share their places,
so that a collapsed model gets the value of a random order.

MRR@10: 1/place of the first relevant candidate, 0 beyond the tenth. Relevant is a label that
reaches the run's threshold. An irrelevant candidate of an equal score stands before it, as with the
places of keys.
"""

from collections.abc import Sequence

import numpy as np

from lossprism.explorer.core.rank_correlation import TIE_LIMIT
from lossprism.explorer.lab.training.data import Pair
from lossprism.explorer.lab.training.held_out_metrics import MAX_PLACES, reciprocal
from lossprism.explorer.lab.training.run_json_types import ListFigures
from lossprism.explorer.lab.training.trainer_rows import LEAST_CANDIDATES, by_first
from lossprism.losses.labels import LabelRules


def list_figures(
    pairs: Sequence[Pair], scores: np.ndarray, rules: LabelRules
) -> ListFigures | None:
    """Return the figures of the lists among pairs with these scores [n]: means over `count` lists,
    None where that is 0.

    Lists in which all labels are equal (`alike`) are left out, and of the others those `without` a
    relevant candidate. None where there is no list, or a score is no number.
    """
    lists = lists_among(pairs)
    if not lists or not np.isfinite(scores).all():
        return None
    labels = np.array([label for *_, label in pairs], dtype=np.float64)
    floor = min(rules.label_range[0], float(labels.min()))
    figures: list[tuple[float, float]] = []
    alike = without = 0
    for places in lists:
        own, own_scores = labels[places], np.asarray(scores, dtype=np.float64)[places]
        if own.min() == own.max():
            alike += 1
        elif own.max() < rules.threshold:
            without += 1
        else:
            figures.append((ndcg(own_scores, own - floor), mrr(own_scores, own >= rules.threshold)))
    means = np.mean(figures, axis=0).tolist() if figures else (None, None)
    return ListFigures(
        ndcg_at_10=means[0],
        mrr_at_10=means[1],
        count=len(figures),
        alike=alike,
        without=without,
        floor=floor,
    )


def lists_among(pairs: Sequence[Pair]) -> list[np.ndarray]:
    """The places of the pairs of each list, in order of appearance."""
    return [np.array(places) for places in by_first(pairs) if len(places) >= LEAST_CANDIDATES]


def ndcg(scores: np.ndarray, gains: np.ndarray) -> float:
    """NDCG@10 of one list of K candidates; the gains [K] are not below 0, nor all 0."""
    worth = 1 / np.log2(np.arange(len(scores)) + 2)
    worth[MAX_PLACES:] = 0
    order = np.argsort(-scores, kind="stable")
    tied = np.concatenate([[0], np.cumsum(-np.diff(scores[order]) > TIE_LIMIT)])
    shared = np.bincount(tied, worth) / np.bincount(tied)
    reached = float((gains[order] * shared[tied]).sum())
    return reached / float((np.sort(gains)[::-1] * worth).sum())


def mrr(scores: np.ndarray, relevant: np.ndarray) -> float:
    """The reciprocal place of the first relevant candidate of one list, 0 beyond the tenth."""
    best = scores[relevant].max()
    place = 1 + (scores[~relevant] >= best - TIE_LIMIT).sum(keepdims=True)
    return float(reciprocal(place)[0])


# Said of a run that has ended


TITLES = {"ndcg_at_10": "NDCG@10 of lists", "mrr_at_10": "MRR@10 of lists"}


def described(figures: ListFigures, threshold: str, floor: str) -> str:
    """Describe which lists were measured and how, in a sentence or two of Markdown or plain
    text."""
    count, left_out = figures.count, []
    if figures.alike:
        left_out.append(f"{figures.alike} with equal labels throughout")
    if figures.without:
        left_out.append(f"{figures.without} without a label of {threshold} or more")
    lists = "list" if count == 1 else "lists"
    among = f"Measured on {count} held-out {lists} (pairs with the same first sentence)"
    left = f"; left out: {', '.join(left_out)}" if left_out else ""
    rule = f"A candidate gains its label above {floor}, and is relevant from {threshold} on."
    return f"{among}{left}. {rule}"
