"""A loss on another encoder's vectors of the same texts, instead of scores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from lossprism.losses.sentence_transformers.candidate_lists import by_pair, rows_in, sizes_of
from lossprism.losses.sentence_transformers.guide_encoder import Guide
from lossprism.losses.sentence_transformers.trainer_batch import Examples
from lossprism.losses.sentence_transformers.training_loss_base import TrainingLoss

# What a column of text holds beside its tokens: the teacher's vector of each text [N, D].
VECTOR_KEY = "teacher_embedding"


def with_vectors(
    collate: Callable[[list[dict]], dict], vectors_of: Callable[[Sequence[str]], Tensor]
) -> Callable[[list[dict]], dict]:
    """Return a collator for a bi-encoder's trainer, with a teacher's vectors beside the texts.

    `vectors_of` returns those of any texts [N, D]; a teacher that ran once, before the training,
    answers from a table. Labels have the same meaning as for other losses::

        place = {text: row for row, text in enumerate(texts)}
        vectors = teacher.encode(texts, convert_to_tensor=True).cpu()
        trainer.data_collator = with_vectors(
            trainer.data_collator, lambda some: vectors[[place[text] for text in some]]
        )
    """

    def beside_texts(rows: list[dict]) -> dict:
        batch = collate(rows)
        for name in rows[0]:
            if f"{name}_input_ids" in batch:
                batch[f"{name}_{VECTOR_KEY}"] = vectors_of([row[name] for row in rows])
        return batch

    # The library's trainers ask their collator which columns are labels.
    beside_texts.__dict__.update(vars(collate))
    return beside_texts


class VectorTrainingLoss(TrainingLoss):
    """A loss with which a bi-encoder learns a teacher's vectors.

    The label of a row is the teacher's vector [D], which all of its texts learn, such as a sentence
    and its translation; or one for each column of text [columns, D]. If vectors come with the texts
    (`with_vectors`), or the loss has a `teacher`, a second encoder that it runs itself, labels have
    the same meaning as for other losses.

    Args:
        model: the SentenceTransformer to be trained, with vectors of the teacher's dimension D.
        teacher: a SentenceTransformer, which is frozen.

    Raises:
        ValueError: if labels are no such vectors, or the teacher's are of another dimension.
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
        taught = self._teacher_vectors(columns)
        columns = [{k: v for k, v in column.items() if k != VECTOR_KEY} for column in columns]
        plain = labels if taught else None
        sizes = sizes_of(plain, columns)
        if plain is None and len(columns) == 1:  # each text for itself
            plain = torch.zeros(rows_in(columns[0]))
        examples = super().examples(columns, plain, prompt, task)
        vectors = (
            torch.cat(by_pair(taught, sizes)) if taught else _of_labels(labels, examples.columns)
        )
        if vectors.shape != examples.embeddings.shape:
            raise ValueError(
                f"the teacher's vectors have {vectors.shape[1]} numbers and the model's "
                f"{examples.embeddings.shape[1]}; choose a teacher of the model's dimension"
            )
        return replace(examples, teacher_embeddings=vectors.to(examples.embeddings))

    def _teacher_vectors(self, columns: Sequence[Mapping[str, Tensor]]) -> tuple[Tensor, ...]:
        """Return the teacher's vectors of each column of text; none if labels must hold them."""
        if all(VECTOR_KEY in column for column in columns):
            return tuple(column[VECTOR_KEY] for column in columns)
        return self.teacher.vectors(columns) if self.teacher else ()

    def get_config_dict(self) -> dict[str, object]:
        """Return the settings for the model card."""
        named = {"teacher": self.teacher.name} if self.teacher else {}
        return super().get_config_dict() | named


def _of_labels(labels: Tensor | Sequence[Tensor] | None, columns: tuple[Tensor, ...]) -> Tensor:
    """Return the teacher's vectors, one column after the other."""
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
