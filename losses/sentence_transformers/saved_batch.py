"""A file with one batch of a training, which ``python app.py --open FOLDER`` opens.

One file a batch, ``step-00001200.safetensors``: the vectors of each column, or a cross-encoder's
scores, the label of each pair, and as JSON in its head the step, the loss and what was found.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

VERSION = 1
FILE_NAME = "step-{:08d}.safetensors"
HEAD = "prism"


@dataclass(frozen=True)
class SavedBatch:
    """A batch as it was trained on.

    `columns` has the vectors [N, D] of each text column, none for a cross-encoder, which gives
    `scores` [P]. `labels` [P] belong to the pairs of the first column with each other one, column
    by column, or, of one column, are its classes. `texts` are those of the columns, as the model
    reads them; None where they were not to be kept. `called` is the class of the loss in the
    training, `loss`, `convention` and `parameters` what it is here, "" where that is not known.
    Of the `rows` of the batch the first ones are here. `found` are the figures of its step.
    """

    step: int
    columns: tuple[Tensor, ...]
    scores: Tensor | None
    labels: Tensor
    texts: tuple[tuple[str, ...], ...] | None
    called: str
    value: float
    rows: int
    loss: str = ""
    convention: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    rules: Mapping[str, object] = field(default_factory=dict)
    found: Mapping[str, float] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return self.count == self.rows

    @property
    def count(self) -> int:
        """The rows that are here."""
        if self.columns:
            return len(self.columns[0])
        return len(self.texts[0]) if self.texts else len(self.labels)


def write(folder: Path, batch: SavedBatch) -> Path:
    """Put the batch into the folder, whole or not at all. Raises OSError where that fails."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"column_{place}": column for place, column in enumerate(batch.columns)}
    tensors |= {"labels": batch.labels}
    if batch.scores is not None:
        tensors["scores"] = batch.scores
    made = {name: tensor.detach().float().cpu().contiguous() for name, tensor in tensors.items()}
    told = {
        name: value
        for name, value in asdict(_without_tensors(batch)).items()
        if name not in ("columns", "scores", "labels")
    }
    head = json.dumps({"version": VERSION, "columns": len(batch.columns), **told})
    path = folder / FILE_NAME.format(batch.step)
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        save_file(made, beside, metadata={HEAD: head})
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return path


def _without_tensors(batch: SavedBatch) -> SavedBatch:
    """`asdict` copies what it is given."""
    return replace(batch, columns=(), scores=None, labels=torch.empty(0))


def saved_batch_paths(folder: Path) -> list[Path]:
    """The files of kept batches, by their step."""
    return sorted(folder.glob("step-*.safetensors"))


def step_of(path: Path) -> int:
    return int(path.stem.removeprefix("step-"))


def read(path: Path) -> SavedBatch:
    """Raises ValueError for a file that is none of these, naming what is wrong; OSError where it
    cannot be read."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is no file")
    try:
        with safe_open(path, framework="pt") as file:
            head = json.loads((file.metadata() or {}).get(HEAD, "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except Exception as damage:  # whatever a damaged file causes in its reader
        raise ValueError(f"{path.name} is no kept batch: {damage}") from None
    if not isinstance(head, dict) or head.get("version") != VERSION:
        raise ValueError(f"{path.name} is no batch that PrismCallback kept")
    try:
        return _read(head, tensors)
    except (KeyError, TypeError, ValueError) as damage:
        raise ValueError(f"{path.name} is a damaged batch: {damage!r}") from None


def _read(head: Mapping[str, object], tensors: Mapping[str, Tensor]) -> SavedBatch:
    told = {name: value for name, value in head.items() if name not in ("version", "columns")}
    count = head["columns"]
    if not isinstance(count, int):
        raise ValueError("the number of columns is no number")
    texts = told.pop("texts")
    if texts is not None:
        texts = tuple(tuple(map(str, column)) for column in _list(texts))
    return SavedBatch(
        columns=tuple(tensors[f"column_{place}"] for place in range(count)),
        scores=tensors.get("scores"),
        labels=tensors["labels"],
        texts=texts,
        **told,  # pyright: ignore[reportArgumentType]
    )


def _list(value: object) -> Sequence:
    if not isinstance(value, list):
        raise ValueError("texts are no list")
    return value
