"""Batches of a trainer that follow one another as their rows stand."""

from __future__ import annotations

from collections.abc import Sized

from torch.utils.data import BatchSampler, SequentialSampler


def in_order(dataset: Sized, batch_size: int, drop_last: bool, **_: object) -> BatchSampler:
    """The rows of a data set as they stand, in every epoch: what a trainer of sentence-transformers
    is told as ``batch_sampler=in_order``.

    What else it gives a sampler of batches (its generator, the columns of labels) is not asked for.
    """
    return BatchSampler(SequentialSampler(dataset), batch_size, drop_last)
