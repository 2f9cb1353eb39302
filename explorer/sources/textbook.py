"""Textbook examples: small batches that come with the program and need no encoder.

The data are the `.tsv` files in the folder `textbook`, written for this project; their embeddings
by the embedded encoder lie beside them in `embeddings.npz`. After a change of the data, run

    python -m explorer.sources.textbook
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from explorer.runtime.problem import Problem
from explorer.sources.pairs import Pairs
from explorer.sources.tables import read_file

FOLDER = Path(__file__).parent / "textbook"
EMBEDDINGS = FOLDER / "embeddings.npz"


@dataclass(frozen=True)
class Example:
    """One example. `mislabelled` are the positions of the pairs whose label is wrong on purpose,
    `twins` of those that hold a text of another pair, `hidden` of those whose second sentence
    would also be right for another pair's first, of which the labels know nothing;
    `note` is the locale key of something the user has to know, if there is such a thing. Where
    the sentences only name numbers that are given, there is nothing to encode: `encodable`."""

    name: str
    load: Callable[[], Pairs]
    mislabelled: tuple[int, ...] = ()
    twins: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()
    note: str | None = None
    encodable: bool = True

    @property
    def title(self) -> str:
        """The locale key of its name."""
        return f"example.{self.name}.title"

    @property
    def about(self) -> str:
        """The locale key of one line about it."""
        return f"example.{self.name}.about"


def load_example(name: str) -> Pairs:
    """The pairs of the example, with scores or vectors.

    Raises Problem, naming the known ones, if there is no such example.
    """
    if name not in EXAMPLES:
        raise Problem("example_unknown", name=name, known=", ".join(EXAMPLES))
    return EXAMPLES[name].load()


def _cosent_batch() -> Pairs:
    """S0's batch: four scores given directly, two negative and two positive pairs."""
    return Pairs(
        first=("a₁", "a₂", "a₃", "a₄"),
        second=("b₁", "b₂", "b₃", "b₄"),
        labels=(0.0, 0.0, 1.0, 1.0),
        scores=(0.1, 0.2, 0.8, 0.9),
    )


def _worked_example() -> Pairs:
    """S1's section 12 (eq. 46): four vectors as printed, and four labelled pairs of them."""
    vectors = [[0.577, 0.577, 0.577], [0.707, 0.707, 0], [0, 0, 1], [0.5, 0.5, 0.707]]
    return Pairs(
        first=("u₁", "u₁", "u₂", "u₁"),
        second=("u₂", "u₃", "u₃", "u₄"),
        labels=(0.9, 0.2, 0.1, 0.5),
        vectors=np.array(vectors, dtype=np.float32),
    )


def _from_file(name: str) -> Callable[[], Pairs]:
    """What loads `name`.tsv and the embeddings made for it."""

    @cache
    def load() -> Pairs:
        pairs = _pairs_of(name)
        with np.load(EMBEDDINGS) as stored:
            belongs = str(stored[f"{name}.sentences"]) == _fingerprint(pairs)
            vectors = stored[name]
        if not belongs:
            raise RuntimeError(f"{name}.tsv changed: run python -m explorer.sources.textbook")
        vectors.setflags(write=False)
        return dataclasses.replace(pairs, vectors=vectors)

    return load


def _pairs_of(name: str) -> Pairs:
    return read_file(FOLDER / f"{name}.tsv", header=True).pairs


def _of_kind(name: str, kind: str = "mislabelled") -> tuple[int, ...]:
    """The positions of the rows whose kind, the last column, is this."""
    rows = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return tuple(i for i, row in enumerate(rows) if row.endswith(f"\t{kind}"))


def _fingerprint(pairs: Pairs) -> str:
    """Of the distinct sentences in their order, which is the order of the embeddings."""
    return hashlib.sha256("\n".join(pairs.sentences).encode()).hexdigest()


EXAMPLES: dict[str, Example] = {
    "graded_english": Example(
        "graded_english", _from_file("graded_english"), _of_kind("graded_english")
    ),
    "graded_chinese": Example(
        "graded_chinese",
        _from_file("graded_chinese"),
        _of_kind("graded_chinese"),
        note="example.graded_chinese.note",
    ),
    "cosent_batch": Example("cosent_batch", _cosent_batch, encodable=False),
    "worked_example": Example("worked_example", _worked_example, encodable=False),
    "nli_triplets": Example("nli_triplets", _from_file("nli_triplets")),
    "hard_negatives": Example("hard_negatives", _from_file("hard_negatives")),
    "graded_lists": Example("graded_lists", _from_file("graded_lists")),
    "twins": Example(
        "twins",
        _from_file("twins"),
        _of_kind("twins"),
        twins=_of_kind("twins", "twin"),
        hidden=_of_kind("twins", "hidden positive"),
    ),
}


def embed_examples() -> dict[str, np.ndarray]:
    """Fresh embeddings of every example that has a file: name → float32 (S, 384), and under
    name.sentences the fingerprint of the sentences they belong to."""
    from explorer.sources.encoders import encode

    stored = {}
    for path in sorted(FOLDER.glob("*.tsv")):
        pairs = _pairs_of(path.stem)
        stored[path.stem] = encode(pairs.sentences)
        stored[f"{path.stem}.sentences"] = np.array(_fingerprint(pairs))
    return stored


if __name__ == "__main__":
    np.savez_compressed(EMBEDDINGS, allow_pickle=False, **embed_examples())
    print(f"wrote {EMBEDDINGS}")
