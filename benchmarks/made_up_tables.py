"""Tables of made-up texts, from one seed: scored pairs, triplets, passages, lists, classes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

GROUP_ROWS = 100_000  # of a Parquet file
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]
CHARACTERS = "天地人山水火木金土日月星风云雨雪花草树鸟鱼马牛羊春夏秋冬东西南北上下大小多少"


class Writer:
    """Texts of made-up words, from one seed."""

    def __init__(self) -> None:
        self.chance = random.Random(0)
        self.words = ["".join(self.chance.choices(SYLLABLES, k=3)) for _ in range(20_000)]

    def text(self, words: int = 9) -> str:
        return " ".join(self.chance.choices(self.words, k=words))

    def chinese(self, characters: int = 18) -> str:
        return "".join(self.chance.choices(CHARACTERS, k=characters))


def scored(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    yield "sentence1", "sentence2", "score"
    for _ in range(rows):
        yield written.text(), written.text(), written.chance.randint(0, 5)


def repeated(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    """Half of the rows repeat one of a thousand questions, and some disagree of their label."""
    yield "sentence1", "sentence2", "score"
    few = [written.text() for _ in range(1_000)]
    for row in range(rows):
        question = few[row % 1_000] if row % 2 else written.text()
        answer = few[(row + 7) % 1_000] if row % 4 == 1 else written.text()
        yield question, answer, written.chance.randint(0, 5)


def chinese(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    yield "sentence1", "sentence2", "label"
    for _ in range(rows):
        yield written.chinese(), written.chinese(), written.chance.randint(0, 1)


def triplets(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    yield "anchor", "positive", "negative"
    for _ in range(rows):
        yield written.text(), written.text(), written.text()


def passages(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    """Questions with passages of 20 words."""
    yield "question", "answer"
    for _ in range(rows):
        yield written.text(), written.text(20)


def lists(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    """Ten candidates of each query."""
    yield "query", "passage", "score"
    query = ""
    for row in range(rows):
        query = written.text() if row % 10 == 0 else query
        yield query, written.text(), written.chance.randint(0, 3)


def classes(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    yield "sentence", "label"
    for _ in range(rows):
        yield written.text(), f"kind {written.chance.randint(0, 300)}"


def write_parquet(file: Path, rows: int) -> None:
    """Write scored pairs with a column of notes, in small groups of rows."""
    words, draw = pa.array(Writer().words), np.random.default_rng(0)

    def texts(count: int) -> pa.Array:
        drawn = [words.take(pa.array(draw.integers(0, len(words), count))) for _ in range(9)]
        return pc.binary_join_element_wise(*drawn, " ")

    kinds = {"sentence1": pa.string(), "sentence2": pa.string(), "score": pa.float64()}
    with pq.ParquetWriter(file, pa.schema({**kinds, "note": pa.string()})) as out:
        for start in range(0, rows, GROUP_ROWS):
            count = min(GROUP_ROWS, rows - start)
            scores = pa.array(draw.integers(0, 6, count).astype(float))
            columns = [texts(count), texts(count), scores, texts(count)]
            out.write_table(pa.table(columns, schema=out.schema))
