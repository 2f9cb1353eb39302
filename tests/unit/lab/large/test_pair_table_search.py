"""The table of all pairs and the histogram."""

from __future__ import annotations

import dataclasses
import io

import numpy as np
import pytest
from PIL import Image

from lossprism.explorer.lab.large.large_batch_response import pairs_page
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.lab.large.pair_table_search import ROWS_PER_PAGE, page
from lossprism.explorer.lab.large.score_histogram_by_label import histogram
from lossprism.explorer.sources.encoders.uploaded_vectors import store
from tests.sentences import raises_problem
from tests.unit.lab.large.made import batch_of


@pytest.fixture(scope="module")
def opened():
    batch = batch_of(300, "grades", width=8)
    return open_batch(batch, "info_nce", checked("info_nce", {}), lambda done, total: None)


@pytest.mark.parametrize("falling", [True, False])
@pytest.mark.parametrize("column", ["entry", "label", "score", "gradient"])
def test_pages_in_turn_are_the_whole_table_in_order(opened, column, falling):
    pages = [
        page(opened, "", column, falling, number) for number in range(-(-300 // ROWS_PER_PAGE))
    ]
    places = np.concatenate([one.places for one in pages])
    assert sorted(places) == list(range(300))
    values = {
        "entry": opened.batch.entry,
        "label": opened.batch.labels,
        "score": opened.batch.scores,
        "gradient": opened.gradient,
    }[column][places]
    known = values[~np.isnan(values)]
    assert np.array_equal(known, np.sort(known)[::-1] if falling else np.sort(known))
    assert not np.isnan(values[: len(known)]).any()  # what has no gradient comes last


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("sentence 17", lambda b: [str(e).startswith("17") for e in b.entry]),
        ("OTHER 29", lambda b: [str(e).startswith("29") for e in b.entry]),
        ("#17", lambda b: b.entry == 16),
        ("17", lambda b: b.entry == 16),
        ("#1\u202f7", lambda b: b.entry == 16),
        ("label = 3", lambda b: b.labels == 3),
        ("similarity>=0.4", lambda b: b.scores >= 0.4),
        ("label = 3, similarity < 0.5", lambda b: (b.labels == 3) & (b.scores < 0.5)),
        ("label=3 similarity<0.5", lambda b: (b.labels == 3) & (b.scores < 0.5)),
        ("标签 = 3，相似度 < .5", lambda b: (b.labels == 3) & (b.scores < 0.5)),
        ("similarity > −0.1 and similarity ≤ 0.1", lambda b: (b.scores > -0.1) & (b.scores <= 0.1)),
        ("#1,000", lambda b: b.labels > 99),
        ("相似度 < 0.1", lambda b: b.scores < 0.1),
        ("similarity > 1e-1", lambda b: b.scores > 0.1),
        ("nowhere to be found", lambda b: b.labels > 99),
        ('"label = 3"', lambda b: b.labels > 99),  # the words
        ("a < b", lambda b: b.labels > 99),
    ],
)
def test_search_by_words_numbers_and_comparisons(opened, search, expected):
    wanted = set(np.flatnonzero(expected(opened.batch)))
    first = page(opened, search, "score", True, 0)
    assert first.found == len(wanted)
    assert set(first.places) <= wanted
    assert len(first.places) == min(ROWS_PER_PAGE, len(wanted))


@pytest.mark.parametrize(
    ("search", "named"),
    [
        ("gradient <", "gradient <"),
        ("label > 1.2.3", "label > 1.2.3"),
        ("label = 3, gradient <", "gradient <"),
        ("label = 3 of 5", "of 5"),
        ("score > 0.9", "score > 0.9"),
        ("label = three", "label = three"),
    ],
)
def test_a_condition_that_cannot_be_read_is_named(opened, search, named):
    with raises_problem("large_search") as refused:
        page(opened, search, "score", True, 0)
    assert refused.value.values["text"] == named


@pytest.mark.parametrize(("labels", "groups"), [("grades", 6), ("continuous", 5), ("single", 1)])
def test_the_histogram_counts_every_pair_once(labels, groups):
    batch = batch_of(1000, labels)
    seen = histogram(batch)
    assert seen.counts.sum() == 1000
    assert len(seen.groups) == groups
    for (low, high), counts in zip(seen.groups, seen.counts, strict=True):
        assert counts.sum() == ((batch.labels >= low) & (batch.labels <= high)).sum()


def test_a_pair_has_the_pictures_that_its_texts_name():
    held = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(held, "PNG")
    vectors = np.eye(2, dtype=np.float32)
    own = store("x.npz", ["sentence 1", "other 1"], vectors, {"sentence 1": held.getvalue()})
    batch = dataclasses.replace(batch_of(4, "grades", width=8), encoder=own)
    opened = open_batch(batch, "info_nce", checked("info_nce", {}), lambda done, total: None)
    rows = pairs_page(opened, "", "entry", False, 0).rows
    assert {one.entry: [*one.pictures] for one in rows} == {0: [], 1: ["sentence 1"], 2: [], 3: []}
    assert rows[1].pictures["sentence 1"].startswith("data:image/webp;base64,")
