"""Check that the sampler of a trainer's batches fills its epoch."""

import warnings
from typing import Any

import torch

# A sampler that shows less than this share of the rows in an epoch repeats or leaves out others.
MIN_SEEN_SHARE = 0.75


def check_epoch(trainer: Any) -> None:
    """Draw the batches of one epoch of a trainer of sentence-transformers, without training.

    Raises ValueError if the sampler fills fewer batches than it promises, so that the training
    would end before its last step, or its first; warns if the batches contain few of the rows.
    """
    arguments, rows = trainer.args, trainer.train_dataset
    size = arguments.train_batch_size
    sampler = trainer.get_batch_sampler(
        rows,
        batch_size=size,
        drop_last=arguments.dataloader_drop_last,
        valid_label_columns=trainer.data_collator.valid_label_columns,
        generator=torch.Generator(),
        seed=arguments.seed,
    )
    batches = list(sampler)
    seen = len({row for batch in batches for row in batch})
    finding = (
        f"the sampler fills {len(batches)} of {len(sampler)} batches of {size} rows, "
        f"with {seen} of {len(rows)} different rows"
    )
    if not batches or len(batches) < len(sampler):
        raise ValueError(f"{finding}; take smaller batches, or batch_sampler='batch_sampler'")
    if seen < MIN_SEEN_SHARE * (len(rows) // size * size):
        warnings.warn(f"{finding} in an epoch", stacklevel=2)
