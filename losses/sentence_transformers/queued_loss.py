"""A trainer's loss with the vectors of earlier batches as further keys."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lossprism.losses.combined.vector_queue import Queues
from lossprism.losses.sentence_transformers.trainer_batch import Examples
from lossprism.losses.sentence_transformers.training_loss_base import TrainingLoss

# Rows of one batch have classes below it, which are others in each batch.
CLASSES = 1 << 32


class QueuedTrainingLoss(TrainingLoss):
    """A loss that stores the last keys of its batches, up to its parameter `length_of_…`, of all
    processes if `gather` joins them.

    Classes named by the data are the same in all batches; those of rows of pairs are not.
    """

    batches: Tensor

    def __init__(self, model: nn.Module, **settings: Any) -> None:
        super().__init__(model, **settings)
        self.queues = Queues(self.spec.parts)
        self.register_buffer("batches", torch.zeros((), dtype=torch.int64))

    def arguments(self, examples: Examples) -> dict[str, Tensor]:
        read = super().arguments(examples)
        if "classes" in read and len(examples.columns) > 1:
            self.batches += 1
            read["classes"] = read["classes"] + self.batches * CLASSES
        return read

    def called_with(
        self, read: Mapping[str, Tensor], settings: Mapping[str, object]
    ) -> tuple[Mapping[str, Tensor], Mapping[str, object]]:
        return self.queues.met(read, settings)

    def value(
        self,
        function: Callable[..., Tensor],
        read: Mapping[str, Tensor],
        settings: Mapping[str, object],
    ) -> Tensor:
        return self.queues.value(function, read, settings)
