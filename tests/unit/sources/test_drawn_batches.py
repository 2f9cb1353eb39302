"""Batches drawn from a whole set of pairs: what each way of drawing promises."""

from __future__ import annotations

import itertools
import time
from collections import Counter

import numpy as np
import pytest
import torch
from torch.utils.data import BatchSampler, RandomSampler

from lossprism.explorer.runtime.limits import EXPLORED_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.drawn_batches import (
    SAMPLERS,
    Draw,
    batch_rows,
    drawn,
    epoch_of,
    successive,
)
from lossprism.explorer.sources.pairs import Pairs
from tests.sentences import raises_problem

SIZE = 8


def pairs(count: int = 100, sentences: int = 60) -> Pairs:
    """Pairs in which sentences come back, with labels 0 to 4."""
    first = tuple(f"a {i % sentences}" for i in range(count))
    second = tuple(f"b {i * 7 % sentences}" for i in range(count))
    return Pairs(first, second, tuple(float(i % 5) for i in range(count)))


def epoch(whole: Pairs, draw: Draw, number: int = 0) -> list[tuple[int, ...]]:
    length = epoch_of(whole, draw)
    return list(itertools.islice(successive(whole, draw), number * length, (number + 1) * length))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("count", [SIZE, 61, 100])
def test_every_batch_has_its_size_and_no_pair_twice(sampler, count):
    whole = pairs(count, sentences=2 * count)
    for batch in epoch(whole, Draw(sampler, SIZE)):
        assert len(set(batch)) == SIZE
        assert all(0 <= place < count for place in batch)


@pytest.mark.parametrize("sampler", ["in_order", "shuffled"])
def test_an_epoch_has_every_pair_once_but_for_the_rest(sampler):
    found = [place for batch in epoch(pairs(), Draw(sampler, SIZE)) for place in batch]
    assert len(found) == len(set(found)) == 100 // SIZE * SIZE


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_numbers_count_on_through_the_epochs(sampler):
    whole = pairs()
    first = list(itertools.islice(successive(whole, Draw(sampler, SIZE, seed=3)), 40))
    for number in (0, 5, 13, 39):
        assert drawn(whole, Draw(sampler, SIZE, seed=3, number=number)) == first[number]
    later = successive(whole, Draw(sampler, SIZE, seed=3, number=20))
    assert list(itertools.islice(later, 20)) == first[20:]


@pytest.mark.parametrize("sampler", [name for name in SAMPLERS if name != "in_order"])
def test_another_seed_or_epoch_is_another_order(sampler):
    whole = pairs()
    here, other = (epoch(whole, Draw(sampler, SIZE, seed=seed)) for seed in (0, 5))
    assert here == epoch(whole, Draw(sampler, SIZE, seed=0))
    assert here != other
    assert here != epoch(whole, Draw(sampler, SIZE, seed=0), number=1)


def test_shuffled_is_as_torch_shuffles():
    order = RandomSampler(range(100), generator=torch.Generator().manual_seed(7))
    theirs = [tuple(batch) for batch in BatchSampler(order, SIZE, drop_last=True)]
    assert epoch(pairs(), Draw("shuffled", SIZE, seed=7)) == theirs


def test_no_sentence_stands_twice():
    whole = pairs()
    for batch in epoch(whole, Draw("no_duplicates", SIZE, seed=2)):
        part = whole.at(batch)
        assert len({*part.first, *part.second}) == 2 * SIZE


def returning(seed: int) -> Pairs:
    """Some or most texts come back, on either side, and labels are many or few."""
    source = np.random.default_rng(seed)
    count, texts = int(source.integers(8, 300)), int(source.integers(2, 400))
    first, second = source.zipf(1.3, count) % texts, source.integers(0, texts, count)
    labels = source.integers(0, source.integers(2, 9), count)
    sides = (tuple(f"text {number}" for number in side) for side in (first, second))
    return Pairs(*sides, tuple(map(float, labels)))


@pytest.mark.parametrize("seed", range(4))
def test_batches_are_those_of_the_samplers_that_train(seed):
    from datasets import Dataset
    from sentence_transformers.base import sampler as library

    whole = returning(seed)
    rows = Dataset.from_dict({"first": whole.first, "second": whole.second, "label": whole.labels})
    for name, kind in (
        ("no_duplicates", library.NoDuplicatesBatchSampler),
        ("group_by_label", library.GroupByLabelBatchSampler),
    ):
        for number in (0, 1):
            theirs = kind(rows, SIZE, True, ["label"], torch.Generator(), seed)
            theirs.set_epoch(number)
            try:
                found = epoch(whole, Draw(name, SIZE, seed), number)
            except Problem:
                found = []
            assert found == [tuple(map(int, batch)) for batch in theirs]


def test_a_text_in_half_of_the_rows_takes_no_longer():
    count = 40_000
    often = tuple("often" if place % 2 else f"a {place}" for place in range(count))
    whole = Pairs(often, tuple(f"b {place}" for place in range(count)), (1.0,) * count)
    started = time.process_time()
    assert epoch_of(whole, Draw("no_duplicates", 64)) == count // 64
    assert time.process_time() - started < 2  # 0.15 s of them


def test_grouped_by_label_every_label_stands_twice():
    whole = pairs()
    for batch in epoch(whole, Draw("group_by_label", SIZE)):
        assert min(Counter(whole.at(batch).labels).values()) >= 2


def test_more_than_there_are_is_all_there_are():
    assert sorted(drawn(pairs(5), Draw("shuffled", 64))) == list(range(5))


@pytest.mark.parametrize("size", [2, 7])
def test_a_size_that_labels_cannot_fill_is_named(size):
    with raises_problem("sampler_labels"):
        drawn(pairs(), Draw("group_by_label", size))


def test_one_label_cannot_be_grouped():
    alike = Pairs(("a", "b", "c", "d"), ("e", "f", "g", "h"), (1.0,) * 4)
    with raises_problem("sampler_labels"):
        drawn(alike, Draw("group_by_label", 4))


def test_a_batch_that_cannot_be_filled_is_reported():
    same = Pairs(("a",) * 9, tuple(f"b {i}" for i in range(9)), (1.0,) * 9)
    with raises_problem("no_batch", size=4):
        drawn(same, Draw("no_duplicates", 4))
    with raises_problem("no_batch", size=9):  # all that there are
        drawn(same, Draw("no_duplicates", 512))


# ---- Rows of several pairs ---------------------------------------------------------------------


def triplets(seed: int, least: int = 1, most: int = 4) -> tuple[Pairs, list[tuple[str, ...]]]:
    """Anchors with a positive and negatives, of which many come back, and the texts of each row."""
    source = np.random.default_rng(seed)
    texts = int(source.integers(8, 400))
    rows = []
    for _ in range(int(source.integers(8, 200))):
        count = 2 + int(source.integers(least, most + 1))
        rows.append(tuple(f"text {number}" for number in source.zipf(1.3, count) % texts))
    every = [(row, anchor, other) for row, (anchor, *others) in enumerate(rows) for other in others]
    in_rows, first, second = zip(*every, strict=True)
    return Pairs(first, second, (1.0,) * len(first), in_rows=in_rows), rows


@pytest.mark.parametrize("sampler", ["in_order", "shuffled", "no_duplicates"])
def test_rows_of_several_pairs_are_drawn_whole(sampler):
    whole, rows = triplets(0)
    for batch in epoch(whole, Draw(sampler, SIZE, seed=2)):
        part = whole.at(batch)
        assert len(dict.fromkeys(part.in_rows)) == SIZE
        for row in set(part.in_rows):
            found = [b for at, b in zip(part.in_rows, part.second, strict=True) if at == row]
            assert found == list(rows[row][1:])


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_drawn_as_by_the_sampler_that_trains(seed):
    from datasets import Dataset
    from sentence_transformers.base import sampler as library

    whole, rows = triplets(seed, 2, 2)
    columns = zip(*rows, strict=True)
    names = ("anchor", "positive", "negative_1", "negative_2")
    theirs = library.NoDuplicatesBatchSampler(
        Dataset.from_dict(dict(zip(names, columns, strict=True))),
        SIZE,
        True,
        [],
        torch.Generator(),
        seed,
    )
    try:
        found = epoch(whole, Draw("no_duplicates", SIZE, seed))
    except Problem:
        found = []
    drawn_rows = [tuple(dict.fromkeys(whole.in_rows[place] for place in b)) for b in found]
    assert drawn_rows == [tuple(map(int, batch)) for batch in theirs]


def test_a_batch_of_rows_has_no_more_pairs_than_can_be_shown():
    first = tuple(f"query {row}" for row in range(200) for _ in range(5))
    second = tuple(f"text {place}" for place in range(1000))
    whole = Pairs(first, second, (1.0,) * 1000, in_rows=tuple(at // 5 for at in range(1000)))
    assert batch_rows(whole, 64) == 64
    assert batch_rows(whole, 512) == EXPLORED_PAIRS // 5
    assert len(drawn(whole, Draw("shuffled", 512))) == EXPLORED_PAIRS // 5 * 5
    few = whole.at(range(EXPLORED_PAIRS))
    assert sorted(drawn(few, Draw("shuffled", 512))) == list(range(EXPLORED_PAIRS))


def test_an_unusable_order_of_rows_is_reported():
    whole, _ = triplets(0)
    with raises_problem("sampler_rows"):
        drawn(whole, Draw("group_by_label", 4))
    alike = Pairs(("a",) * 8, tuple("bcdefghi"), (1.0,) * 8, in_rows=(0, 0, 1, 1, 2, 2, 3, 3))
    with raises_problem("no_batch_of_rows", size=2):
        drawn(alike, Draw("no_duplicates", 2))
