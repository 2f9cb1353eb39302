"""Losses of a trainer that have weights of their own: prototypes, a classifier.

`**settings` are those of `TrainingLoss`, rules and parameters of the loss alike.
"""

from typing import Any

import torch
from torch import Tensor, nn

from lossprism.losses.sentence_transformers.trainer_batch import Examples, inputs_in
from lossprism.losses.sentence_transformers.training_loss_base import TrainingLoss


def embedding_width(model: nn.Module) -> int | None:
    """Return the dimension of a bi-encoder's vectors; None for a cross-encoder."""
    return getattr(model, "get_embedding_dimension", lambda: None)()


class PrototypeTrainingLoss(TrainingLoss):
    """A loss that learns one prototype for each of `class_count` classes, a required argument."""

    def __init__(
        self, model: nn.Module, *, class_count: int | None = None, **settings: Any
    ) -> None:
        if class_count is None:
            raise TypeError(
                f"{type(self).__name__} learns a vector for each class: pass class_count=…, how "
                "many classes the dataset has"
            )
        super().__init__(model, **settings)
        width = embedding_width(model)
        if width is None:
            raise ValueError(
                f"{type(self).__name__} learns a vector for each class, and the model gives none "
                "for a sentence; train a bi-encoder with it"
            )
        self.prototypes = nn.Parameter(torch.empty(class_count, width))
        nn.init.xavier_uniform_(self.prototypes)

    def arguments(self, examples: Examples) -> dict[str, Tensor]:
        if len(examples.columns) != 1:
            raise ValueError(
                f"{type(self).__name__} knows its classes from one dataset to the next batch: "
                "it needs one column of text and a class for each row, 0 … class_count − 1"
            )
        (head,) = (name for name, what in self.spec.reads.items() if what == "prototypes")
        return {**inputs_in(examples, self.spec.reads, head), head: self.prototypes}


class ClassifierTrainingLoss(TrainingLoss):
    """A loss with its own classifier, for "positive" or not.

    The classifier reads (u, v, |u − v|) of a bi-encoder, as Sentence-BERT does, and the score of a
    cross-encoder.
    """

    def __init__(self, model: nn.Module, **settings: Any) -> None:
        super().__init__(model, **settings)
        width = embedding_width(model)
        self.classifier = nn.Linear(3 * width if width else 1, 2)

    def arguments(self, examples: Examples) -> dict[str, Tensor]:
        (head,) = (name for name, what in self.spec.reads.items() if what == "pair_logits")
        if examples.columns:
            first, second = (
                examples.embeddings[rows] for rows in (examples.first_rows, examples.second_rows)
            )
            seen = torch.cat([first, second, (first - second).abs()], dim=1)
        else:
            seen = examples.scores[:, None]
        return {**inputs_in(examples, self.spec.reads, head), head: self.classifier(seen)}
