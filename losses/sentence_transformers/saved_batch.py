"""Files with one batch of a training, which ``python app.py --open FOLDER`` opens.

One file a batch, ``step-00001200.safetensors``: the vectors of each column, or a cross-encoder's
scores, the label of each pair, and as JSON in its header the step, the loss and measurements.
"""

import json
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

VERSION = 1
FILE_NAME = "step-{:08d}.safetensors"
HEAD = "prism"
LENGTH_BYTES = 8  # of the header's length, which a file begins with
MAX_HEADER_BYTES = 100_000_000  # that safetensors reads


@dataclass(frozen=True)
class SavedBatch:
    """A batch as it was trained on.

    `columns` has the vectors [N, D] of each text column, none for a cross-encoder, which has
    `scores` [P]. `labels` [P] belong to the pairs of the first column with each other one, column
    by column, or, for one column, are its classes. `texts` are those of the columns, as the model
    reads them; None if not saved. `called` is the class of the loss in the training, `loss`,
    `convention` and `parameters` its name here, "" if unknown. The first of the batch's `rows` are
    saved. `found` are the measurements of its step.
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
        """The number of saved rows."""
        if self.columns:
            return len(self.columns[0])
        return len(self.texts[0]) if self.texts else len(self.labels)


def write(folder: Path, batch: SavedBatch) -> Path:
    """Write the batch into the folder atomically. Raises OSError if that fails."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"column_{place}": column for place, column in enumerate(batch.columns)}
    tensors |= {"labels": batch.labels}
    if batch.scores is not None:
        tensors["scores"] = batch.scores
    arrays = {name: tensor.detach().float().cpu().contiguous() for name, tensor in tensors.items()}
    header = {
        name: value
        for name, value in vars(batch).items()
        if name not in ("columns", "scores", "labels")
    }
    head = json.dumps({"version": VERSION, "columns": len(batch.columns), **header})
    path = folder / FILE_NAME.format(batch.step)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        save_file(arrays, temporary, metadata={HEAD: head})
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def saved_batch_paths(folder: Path) -> list[Path]:
    """Return the files of saved batches, in step order."""
    return sorted(folder.glob("step-*.safetensors"))


def is_complete(path: Path) -> bool:
    """Return whether a file is as long as its header says: a folder that is synced from another
    machine has files that are still being written. Raises OSError if unreadable."""
    size = path.stat().st_size
    with path.open("rb") as file:
        header = int.from_bytes(file.read(LENGTH_BYTES), "little")
        if header > MAX_HEADER_BYTES:
            return True  # it is no file of tensors: reading says so
        text = file.read(header)
    if not header or len(text) < header:
        return False
    try:
        tensors = json.loads(text)
        ends = [one["data_offsets"][1] for name, one in tensors.items() if name != "__metadata__"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return True  # it is damaged: reading says how
    return size >= LENGTH_BYTES + header + max(ends, default=0)


def step_of(path: Path) -> int:
    return int(path.stem.removeprefix("step-"))


def read(path: Path) -> SavedBatch:
    """Read a file. Raises ValueError, naming the reason, if it holds no batch; OSError if
    unreadable."""
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
    fields = {name: value for name, value in head.items() if name not in ("version", "columns")}
    count = head["columns"]
    if not isinstance(count, int):
        raise ValueError("the number of columns is no number")
    texts = fields.pop("texts")
    if texts is not None:
        texts = tuple(tuple(map(str, column)) for column in _list(texts))
    return SavedBatch(
        columns=tuple(tensors[f"column_{place}"] for place in range(count)),
        scores=tensors.get("scores"),
        labels=tensors["labels"],
        texts=texts,
        **fields,  # pyright: ignore[reportArgumentType]
    )


def _list(value: object) -> Sequence:
    if not isinstance(value, list):
        raise ValueError("texts are no list")
    return value
