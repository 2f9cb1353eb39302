"""The encoder of a saved batch (`losses.sentence_transformers.PrismCallback`): its file has the
vector of each sentence and the score of each pair as they were in training.

So a link to it is short, and opens only on the computer that has the file.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.owner_consent import agreed_path
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders.encoder_interface import Backend, Encoder
from lossprism.losses.sentence_transformers.saved_batch import SavedBatch, read

ENDING = ".safetensors"
# A cell of the batch: column and row.
Cell = tuple[int, int]


@dataclass(frozen=True)
class SavedBatchEncoder(Encoder):
    """The vectors of the sentences in a saved batch, or the scores that its pairs had."""

    batch: SavedBatch = field(compare=False)

    @property
    def scores_pairs(self) -> bool:
        return self.batch.scores is not None

    def encode(self, sentences: Sequence[str], device: str | None = None) -> np.ndarray:
        """Return the vectors of sentences of the batch, float32 (S, D).

        Raises Problem for any other sentence, and for a cross-encoder's batch.
        """
        batch = self.batch
        if not batch.columns:
            return super().encode(sentences, device)
        where = {text: cell for cell, text in texts_of_cells(batch).items()}
        places = [where.get(sentence) for sentence in sentences]
        vectors = np.zeros((len(sentences), batch.columns[0].shape[1]), dtype=np.float32)
        for place, (sentence, cell) in enumerate(zip(sentences, places, strict=True)):
            if cell is None:
                raise Problem("kept_sentence", about="encoder", sentence=shortened(sentence))
            column, row = cell
            vectors[place] = batch.columns[column][row].numpy()
        return vectors

    def score(
        self, first: Sequence[str], second: Sequence[str], device: str | None = None
    ) -> np.ndarray:
        """Return the scores that pairs of the batch had, float32 (N,). Raises Problem for any other
        pair."""
        batch = self.batch
        if batch.scores is None:
            return super().score(first, second, device)
        texts = texts_of_cells(batch)
        known = {
            (texts[one], texts[other]): float(score)
            for (one, other), score in zip(
                cells_of_pairs(batch), batch.scores.tolist(), strict=True
            )
        }
        scores = [known.get(pair) for pair in zip(first, second, strict=True)]
        for sentence, score in zip(second, scores, strict=True):
            if score is None:
                raise Problem("kept_sentence", about="encoder", sentence=shortened(sentence))
        return np.array(scores, dtype=np.float32)


def find_saved_batch(name: str) -> SavedBatchEncoder:
    """Return the batch in this file.

    Raises Problem where there is none, where nobody agreed to read it, and on a hosted page, which
    reads no file of its computer.
    """
    if not deployment_policy().reads_local_paths:
        raise Problem("encoder_local_refused", about="encoder", encoder=shortened(name))
    path = agreed_path(name)
    try:
        about = path.stat()
        state = about.st_mtime_ns, about.st_size
        return SavedBatchEncoder(name, f"{path} {state}", _read(path, *state))
    except OSError:
        raise Problem("kept_missing", about="encoder", name=shortened(name)) from None
    except ValueError as error:
        raise Problem("kept_damaged", about="encoder", reason=str(error)) from None


@functools.lru_cache(maxsize=8)
def _read(path: Path, _written: int, _size: int) -> SavedBatch:
    return read(path)


def texts_of_cells(batch: SavedBatch) -> dict[Cell, str]:
    """Name each cell of the batch: its text, where that was kept.

    A text that stood before is distinguished from it by its row: a model that drops out units gives
    it another vector. Only the first texts of a cross-encoder, which make lists, stay as they are.
    """
    count = len(batch.columns) or len(batch.texts or ()) or 2
    taken: set[str] = set()
    names: dict[Cell, str] = {}
    for column in range(count):
        for row in range(batch.count):
            text = batch.texts[column][row] if batch.texts else _numbered(column, row)
            text = " ".join(text.split()) or _numbered(column, row)
            lists = batch.scores is not None and column == 0
            if text in taken and not lists:
                text = f"{text} · {row + 1}"
                while text in taken:
                    text += "′"
            taken.add(text)
            names[column, row] = text
    return names


def _numbered(column: int, row: int) -> str:
    return f"{'abcdefghijklmnopqrstuvwxyz'[column % 26]}{row + 1}"


def cells_of_pairs(batch: SavedBatch) -> list[tuple[Cell, Cell]]:
    """The two cells of each pair: the first column's with each other one's, column by column."""
    others = max(len(batch.columns) or len(batch.texts or ()), 2) - 1
    return [((0, row), (other + 1, row)) for other in range(others) for row in range(batch.count)]


BACKEND = Backend(takes=lambda name: name.endswith(ENDING), find=find_saved_batch)
