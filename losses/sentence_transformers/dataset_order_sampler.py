"""A sampler of a trainer that keeps the order of the dataset."""

from collections.abc import Sized

from torch.utils.data import BatchSampler, SequentialSampler


def in_order(dataset: Sized, batch_size: int, drop_last: bool, **_: object) -> BatchSampler:
    """Return a sampler of the rows in dataset order in every epoch, for a trainer of
    sentence-transformers: ``batch_sampler=in_order``.

    Its other arguments (a generator, the columns of labels) are not needed.
    """
    return BatchSampler(SequentialSampler(dataset), batch_size, drop_last)
