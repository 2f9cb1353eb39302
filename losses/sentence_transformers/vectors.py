"""A loss on what another encoder makes of the same texts, whole vectors in place of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from losses.sentence_transformers.examples import Examples
from losses.sentence_transformers.guides import Guide
from losses.sentence_transformers.training import TrainingLoss


class VectorTrainingLoss(TrainingLoss):
    """A bi-encoder learns a teacher's vectors.

    The label of a row is the teacher's vector [D], which all of its texts learn, such as a
    sentence and its translation; or one for each column of text [columns, D]. Given the `teacher`,
    a second encoder, it asks that one itself, and labels are what they are for other losses.

    Args:
        model: the SentenceTransformer to be trained, with vectors of the teacher's dimension D.
        teacher: a SentenceTransformer, which stays as it is.

    Raises:
        ValueError: where labels are no such vectors, or the teacher's are of another dimension.
    """

    def __init__(self, model: nn.Module, *, teacher: nn.Module | None = None, **settings: Any):
        super().__init__(model, **settings)
        self.teacher = None if teacher is None else Guide(teacher, model)

    def examples(
        self,
        columns: list,
        labels: Tensor | Sequence[Tensor] | None,
        prompt: str | None,
        task: str | None,
    ) -> Examples:
        if not isinstance(columns[0], Mapping):  # a cross-encoder, which is refused
            return super().examples(columns, None, prompt, task)
        # The teacher first: the model writes into the columns.
        taught = self.teacher.vectors(columns) if self.teacher else None
        plain = labels if self.teacher else None
        if plain is None and len(columns) == 1:  # each text for itself
            plain = torch.zeros(len(columns[0]["input_ids"]) if taught is None else len(taught[0]))
        found = super().examples(columns, plain, prompt, task)
        vectors = _of_labels(labels, found.columns) if taught is None else torch.cat(taught)
        if vectors.shape != found.embeddings.shape:
            raise ValueError(
                f"the teacher's vectors have {vectors.shape[1]} numbers and the model's "
                f"{found.embeddings.shape[1]}; choose a teacher of the model's dimension"
            )
        return replace(found, teacher_embeddings=vectors.to(found.embeddings))

    def get_config_dict(self) -> dict[str, object]:
        """For the model card."""
        named = {"teacher": self.teacher.name} if self.teacher else {}
        return super().get_config_dict() | named


def _of_labels(labels: Tensor | Sequence[Tensor] | None, columns: tuple[Tensor, ...]) -> Tensor:
    """The teacher's vectors, column below column."""
    if labels is None:
        raise ValueError(
            "the loss learns a teacher's vectors; give them as labels, or the teacher itself: "
            "EmbeddingMseLoss(model, teacher=encoder)"
        )
    taught = torch.as_tensor(labels) if isinstance(labels, Tensor) else torch.stack(list(labels))
    texts, (rows, dimension) = len(columns), columns[0].shape
    shapes = [rows, dimension], [rows, texts, dimension]
    if list(taught.shape) not in shapes:
        raise ValueError(
            f"labels have the shape {list(taught.shape)}; with {texts} columns of text and "
            f"vectors of {dimension} numbers {shapes[0]} or {shapes[1]} is needed"
        )
    if taught.ndim == 2:
        return taught.repeat(texts, 1)
    return taught.transpose(0, 1).flatten(0, 1)
