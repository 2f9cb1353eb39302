"""What an encoder tells of a data set: what was planted is counted, and nothing else."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest

from explorer.lab.doctor import encoded as under_test
from explorer.lab.doctor.encoded import counted, examine_encoded, look, sharpness
from explorer.lab.doctor.encoded_told import encoded_lines, encoded_to_json
from explorer.lab.doctor.profile import profiled
from explorer.lab.large.encoding import Encoded
from explorer.runtime.jobs import Cancelled
from explorer.runtime.numbers import percent
from explorer.sources.pairs import Pairs
from losses import LOSSES

COUNT, DIMENSION = 60, 256


def quiet(what, done, total):
    """Nobody listens."""


def vectors_of(texts):
    """A direction for each word; a text that ends in ~ stands near the one without."""
    found = []
    for text in texts:
        draw = np.random.default_rng(zlib.crc32(text.rstrip("~").encode()))
        vector = draw.normal(size=DIMENSION)
        found.append(vector + (0.05 * np.ones(DIMENSION) if text.endswith("~") else 0))
    rows = np.array(found)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def encoder(monkeypatch):
    """Queries stand near their keys by the word that they share."""

    def encode(first, second, name, progress, *, with_vectors):
        assert with_vectors
        progress(0, len(first))
        keys = vectors_of(second)
        queries = vectors_of(first) + 2 * vectors_of([one.split(" of ")[1] for one in first])
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
        cosines = (queries * keys).sum(axis=1)
        return Encoded(cosines, cosines, (queries.astype(np.float32), keys.astype(np.float32)))

    monkeypatch.setattr(under_test, "encoded", encode)


def clean(count=COUNT, labels=None):
    first = tuple(f"query {place} of key {place}" for place in range(count))
    second = tuple(f"key {place}" for place in range(count))
    return Pairs(first, second, labels or (1.0,) * count, labelled=labels is not None)


def planted():
    """Pair 60's key is near key 3; pair 61's query asks for key 5, which is another pair's."""
    pairs = clean()
    first = (*pairs.first, "query x of key 3~", "query y of key 5")
    return Pairs(first, (*pairs.second, "key 3~", "nothing"), (1.0,) * (COUNT + 2), labelled=False)


def found(pairs, loss="info_nce", batch=16, most=1000):
    profile = profiled(pairs)
    seen = look(profile, "minilm", most, quiet)
    faults, checks = examine_encoded(profile, seen, LOSSES[loss], batch)
    return {fault.name: fault for fault in faults}, checks, seen


def test_nothing_is_invented(encoder):
    faults, checks, _ = found(clean())
    assert faults == {}
    assert [check.made for check in checks] == [True, True, False]
    graded = tuple(place % 2 / 1.0 for place in range(COUNT))
    assert found(clean(labels=graded), "cosent")[0] == {}


def test_what_was_planted_is_counted(encoder):
    faults, _, seen = found(planted())
    near = faults["near_duplicates"]
    assert near.values["count"] == 2
    assert [(cell.first, cell.second) for cell in near.cells] == [("key 3", "key 3~")]
    above = faults["false_negatives"]
    assert (above.values["count"], above.values["positives"]) == (1, COUNT + 2)
    cell = above.cells[0]
    assert (cell.first, cell.second) == ("query y of key 5", "key 5")
    assert cell.cosine > cell.own
    assert set(above.rows) == {6, COUNT + 2}
    # One of 62 rows has such keys: it meets one unless none of them is drawn beside it.
    others = int(seen.above[-1])
    none = math.comb(61 - others, 15) / math.comb(61, 15)
    assert above.values["met"] == percent((1 - none) / 62)
    faults, checks, _ = found(planted(), "cosent")
    assert faults == {}
    assert not any(check.made for check in checks)


def test_labels_are_judged_as_everywhere(encoder):
    """A tenth of the labels turned round, where the others follow the encoder."""
    draw = np.random.default_rng(0)
    first, second, labels = [], [], []
    for place in range(200):
        grade = place % 2
        first.append(f"query {place} of key {place}")
        second.append(f"key {place if grade else 1000 + place}")
        labels.append(float(1 - grade if draw.random() < 0.1 else grade))
    pairs = Pairs(tuple(first), tuple(second), tuple(labels))
    faults, _, seen = found(pairs, "cosent")
    turned = {place for place in range(200) if labels[place] != place % 2}
    suspects = set(seen.contradicted.suspects.tolist())
    assert suspects <= turned
    assert len(suspects) > 0.8 * len(turned)
    # It is said where they are more than even noise would have.
    assert ("disagreement" in faults) == (len(suspects) > seen.usual.high)
    low, high = seen.bands
    assert (low.low, high.low) == (0.0, 1.0)
    assert low.mean < high.mean


def test_of_many_pairs_some_are_encoded_and_that_is_told(encoder):
    _, _, seen = found(clean(), most=20)
    assert len(seen) == 20
    told = encoded_to_json(profiled(clean()), seen, LOSSES["info_nce"], 8)
    for language in ("en", "zh"):
        assert "20" in "\n".join(encoded_lines(told, COUNT, 8, language))


def test_a_temperature_is_as_sharp_as_was_asked(encoder):
    _, _, seen = found(clean(), batch=32)
    everything = counted(seen.negatives[:, :31], 1e6)
    assert everything == pytest.approx(30.5, abs=0.6)  # its own key is now and then among them
    assert counted(np.array([[1.0, 0.0, np.nan]]), 1 / math.log(3)) == pytest.approx(
        math.exp(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))
    )
    for one in sharpness(seen, 32):
        assert counted(seen.negatives[:, :31], one.temperature) == pytest.approx(one.negatives)
    assert [one.negatives for one in sharpness(seen, 32)] == [1.5, 4.0, 16.0]
    assert sharpness(seen, 2) == ()


def test_it_can_be_stopped(encoder):
    def stop(what, done, total):
        if what == "comparing":
            raise Cancelled

    with pytest.raises(Cancelled):
        look(profiled(clean()), "minilm", 100, stop)
