"""Batches of a trainer that follow one another as their rows stand."""

from __future__ import annotations

from typing import Any


def in_order(dataset: Any, **chosen: Any) -> Any:
    """The rows of a data set as they stand, in every epoch: what a trainer of sentence-transformers
    is told as ``batch_sampler=in_order``.

    `chosen` is what the trainer gives every sampler of batches: its size, and whether what does not
    fill one is left out.
    """
    from sentence_transformers.base.sampler import DefaultBatchSampler
    from torch.utils.data import SequentialSampler

    return DefaultBatchSampler(SequentialSampler(dataset), **chosen)
