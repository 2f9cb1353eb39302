"""Sentences on a large batch that say less than those on a small one."""

from __future__ import annotations

import functools

import numpy as np

from lossprism.explorer.lab.large.batch import in_order
from lossprism.explorer.lab.large.large_batch_remarks import judged, remarks_of
from lossprism.explorer.lab.large.large_batch_session import open_batch
from tests.judgements import SentencesOf, Source
from tests.judgements.batches import graded, hold, names


@functools.cache
def turned_in_a_large_batch(wrong: float) -> SentencesOf:
    """So large a share of the scores turned round, of a loss whose terms do not split."""

    def sentences_of(draw: Source) -> set[str]:
        labels = graded(draw)
        scores = np.linspace(-0.8, 0.8, 24)[labels.argsort(kind="stable").argsort()]
        some = draw.permutation(24)[: int(wrong * 24)]
        scores[some] = -scores[some]
        batch = in_order(labels, scores, *names(24))
        loss, parameters = "pairwise_logistic", {"scale": 20.0, "reduction": "sum"}
        opened = open_batch(batch, loss, parameters, unheard)
        return {one.key for one in remarks_of(opened, loss, parameters, judged(batch, unheard))}

    return sentences_of


def unheard(done: int, total: int) -> None:
    """Nobody waits for it."""


hold(
    "above_collapse_at",
    ("RankNet in a large batch, all turned round", turned_in_a_large_batch(1.0)),
    ("RankNet in a large batch, none turned round", turned_in_a_large_batch(0.0)),
)
