"""A loss on what another encoder makes of the same texts, whole vectors in place of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from losses.distillation.embedding_mse import embedding_mse
from losses.sentence_transformers.examples import at_least_single


class EmbeddingMseLoss(nn.Module):
    """`losses.embedding_mse` for a trainer: a bi-encoder learns a teacher's vectors.

    The label of a row is the teacher's vector [D], which all of its texts learn, such as a
    sentence and its translation; or one for each column of text [columns, D].

    Args:
        model: the SentenceTransformer to be trained, with vectors of the teacher's dimension D.

    Raises:
        ValueError: where the labels are no such vectors.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, columns: Sequence[Mapping[str, Tensor]], labels: Tensor | None) -> Tensor:
        outputs = [self.model(column)["sentence_embedding"] for column in columns]
        vectors = torch.stack([at_least_single(output) for output in outputs], dim=1)
        rows, texts, dimension = vectors.shape
        if labels is None:
            raise ValueError("EmbeddingMseLoss learns a teacher's vectors; give them as labels")
        teacher = labels.to(vectors)
        if teacher.ndim == 2:
            teacher = teacher[:, None].expand(-1, texts, -1)
        if teacher.shape != vectors.shape:
            raise ValueError(
                f"labels have the shape {list(labels.shape)}; with {texts} columns of text and "
                f"vectors of {dimension} numbers [{rows}, {dimension}] or [{rows}, {texts}, "
                f"{dimension}] is needed"
            )
        return embedding_mse(vectors.flatten(0, 1), teacher.flatten(0, 1))

    def get_config_dict(self) -> dict[str, object]:
        """For the model card."""
        return {}
