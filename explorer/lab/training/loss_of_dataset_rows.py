"""The loss of some rows of the dataset that a run trains on."""

from __future__ import annotations

import torch

from lossprism.explorer.lab.training.record_of_training_run_objects import RunParts
from lossprism.explorer.lab.training.trainer_rows import LISTS
from lossprism.losses.sentence_transformers.teacher_vector_loss import VECTOR_KEY


def batch_loss(session: RunParts, rows: list[dict]) -> torch.Tensor:
    """Compute the loss of these rows of the dataset."""
    from sentence_transformers.util import batch_to_device

    at = session.model.device
    labels = _labels_of(rows, at)
    prompts = session.plan.prompts_for(rows[0])
    names = [name for name in rows[0] if name != "label"]
    texts = [[row[name] for row in rows] for name in names]
    if session.plan.kind == "cross":
        return session.loss(texts, labels)
    if session.form == LISTS:
        texts[1] = [text for candidates in texts[1] for text in candidates]
    columns = [
        session.model.preprocess(column, prompt=prompts.get(name))
        for name, column in zip(names, texts, strict=True)
    ]
    if session.vectors_of:
        for column, own_texts in zip(columns, texts, strict=True):
            column[VECTOR_KEY] = session.vectors_of(own_texts)
    return session.loss([batch_to_device(one, at) for one in columns], labels)


def _labels_of(rows: list[dict], at: torch.device) -> torch.Tensor | list[torch.Tensor] | None:
    """Return the labels as the trainer's collator does."""
    if "label" not in rows[0]:
        return None
    if isinstance(rows[0]["label"], list):
        return [torch.tensor(row["label"], device=at) for row in rows]
    return torch.tensor([row["label"] for row in rows], device=at)
