"""Files, scores kept on disk, and random batches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lossprism import losses
from lossprism.explorer.lab.large import encoder_pair_scores
from lossprism.explorer.lab.large.batch import drawn, in_order
from lossprism.explorer.lab.large.large_batch_session import open_batch
from lossprism.explorer.lab.large.large_pair_table_reader import read_pairs
from lossprism.explorer.runtime.cache_folder import prune
from lossprism.explorer.runtime.jobs import Cancelled
from lossprism.explorer.sources.random_batch import RandomBatch, draw
from tests.added_encoder import MadeEncoder
from tests.sentences import raises_problem

PATIENCE = 900  # seconds, on a machine that has other things to do


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def quiet(done, total):
    pass


def read(text, columns=None, header=None):
    return read_pairs(text.encode(), "pairs.csv", columns, header, lambda what, done, total: None)


@pytest.mark.parametrize("distinct", [1, 7, 10_000])
def test_pairs_stand_in_the_order_of_their_labels_then_of_their_scores(distinct):
    stream, names = np.random.RandomState(distinct), ("",) * 1000
    labels, scores = np.round(stream.random_sample((2, 1000)) * distinct) / distinct - 0.5
    found, order = in_order(labels, scores, names, names), np.lexsort((scores, labels))
    assert np.array_equal(found.labels, labels[order])
    assert np.array_equal(found.scores, scores[order])
    assert np.array_equal(np.sort(found.entry), np.arange(1000))
    assert np.array_equal(scores[found.entry], found.scores)
    assert len(in_order(labels[:0], scores[:0], (), ())) == 0


# ---- Files ---------------------------------------------------------------------------------------


def test_a_similarity_column_spares_the_encoder():
    found = read("sentence1,sentence2,label,similarity\na,b,1,0.5\nc,d,0,0.25\n")
    assert found.scores.tolist() == [0.5, 0.25]
    assert found.labels.tolist() == [1, 0]
    assert found.chosen["similarity"] == "similarity"


def test_a_similarity_column_needs_no_sentences():
    found = read("gold,cosine\n1,0.5\n0,0.25\n2,0.75\n")
    assert found.labels.tolist() == [1, 0, 2]
    assert found.scores.tolist() == [0.5, 0.25, 0.75]
    assert found.first[2] == "#3 a"


def test_the_only_score_of_a_file_is_its_label():
    found = read("sentence1,sentence2,similarity\na,b,1\nc,d,0\n")
    assert found.scores is None
    assert found.labels.tolist() == [1, 0]


def test_columns_can_be_chosen():
    text = "sentence1,sentence2,score,mine\na,b,1,0.5\nc,d,0,0.25\n"
    assert read(text).scores is None
    assert read(text, {"similarity": "mine"}).scores.tolist() == [0.5, 0.25]
    with raises_problem("column_unknown"):
        read(text, {"similarity": "absent"})


def test_a_similarity_can_be_left_unread():
    text = "sentence1,sentence2,label,cosine\na,b,1,0.5\nc,d,0,0.25\n"
    assert read(text).chosen["similarity"] == "cosine"
    found = read(text, {"similarity": "", "first": "", "score": "label"})
    assert found.scores is None
    assert found.chosen == {"first": "sentence1", "second": "sentence2", "score": "label"}


def test_triplets_give_two_pairs_each():
    found = read("anchor,positive,negative\na,b,c\nd,e,f\n")
    assert tuple(found.first) == ("a", "a", "d", "d")
    assert tuple(found.second) == ("b", "c", "e", "f")
    assert found.labels.tolist() == [1, 0, 1, 0]


def test_rows_that_cannot_be_used_are_reported():
    found = read("sentence1,sentence2,score\na,b,1\nc,d,what\ne,f,0\n")
    count, result = found.skipped
    assert (len(found.labels), count, result[0][0]) == (2, 1, 2)
    assert "what" in str(result[0][1])


def test_no_more_pairs_than_the_page_takes(monkeypatch):
    monkeypatch.setattr("explorer.lab.large.large_pair_table_reader.LARGE_PAIRS", 3)
    found = read("sentence1,sentence2,score\n" + "a,b,1\n" * 5)
    assert (len(found.labels), found.limited, found.total) == (3, True, 5)
    for rows, limited in ((3, False), (4, True)):
        found = read("sentence1,sentence2,score\n" + "a,b,1\n" * rows)
        assert (len(found.labels), found.limited) == (3, limited)


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("pairs.csv", ["reading"]),
        ("pairs.tsv", ["parsing", "reading"]),  # are its marks quotes? all of it tells
        ("quoted.csv", ["reading"]),
        ("pairs.jsonl", ["parsing", "reading"]),  # which keys are there? all of it tells
        ("pairs.json", ["parsing", "reading"]),
    ],
)
def test_a_file_can_be_stopped_while_it_is_read(name, passes):
    rows = 20_000
    entries = ['{"first": "a", "second": "b", "score": 1}'] * rows
    content = {
        "pairs.csv": "\n".join(["first,second,score", *["a,b,1"] * rows]),
        "pairs.tsv": "\n".join(["first\tsecond\tscore", *['"a\tb\t1'] * rows]),
        "quoted.csv": "\n".join(["first,second,score", *['"a, c",b,1'] * rows]),
        "pairs.jsonl": "\n".join(entries),
        "pairs.json": f"[{','.join(entries)}]",
    }[name].encode()
    reports = []

    def listen(what, done, total):
        reports.append((what, done / total))

    found = read_pairs(content, name, None, None, listen)
    assert len(found.labels) == rows
    assert list(dict.fromkeys(what for what, _ in reports)) == passes
    for what in passes:
        listed = [far for which, far in reports if which == what]
        assert listed == sorted(listed)
        assert listed[0] < 0.01
        assert 0.5 < listed[-1] < 1

    for stopped in passes:

        def stop(what, done, total, stopped=stopped):
            if what == stopped and done / total > 0.5:
                raise Cancelled

        with pytest.raises(Cancelled):
            read_pairs(content, name, None, None, stop)


# ---- Encoding ------------------------------------------------------------------------------------


class Vectors:
    """Vectors made of the sentences' letters, and a note of what was asked."""

    def __init__(self, monkeypatch):
        self.asked = []
        monkeypatch.setattr(encoder_pair_scores, "PAIRS_IN_PART", 4)

    def __call__(self, sentences):
        self.asked += sentences
        rows = [
            np.random.RandomState(sum(map(ord, s)) % 2**31).standard_normal(8) for s in sentences
        ]
        return np.array(rows, dtype=np.float32)


FIRST = tuple(f"first {k}" for k in range(10))
SECOND = tuple(f"second {k % 7}" for k in range(10))


def encode(vectors, progress=quiet, **options):
    encoder = MadeEncoder("made", "made", vectors=vectors)
    return encoder_pair_scores.encoded(FIRST, SECOND, encoder, progress, **options)


def test_an_interrupted_run_goes_on_where_it_was(monkeypatch):
    vectors = Vectors(monkeypatch)

    def stop(done, total):
        if done >= 4:
            raise Cancelled

    with pytest.raises(Cancelled):
        encode(vectors, stop, with_vectors=False)
    before = set(vectors.asked)
    vectors.asked.clear()
    reports = []
    found = encode(vectors, lambda done, total: reports.append(done), with_vectors=False)
    assert not {s for s in before if s.startswith("first")} & set(vectors.asked)
    assert reports == [0, 4, 8, 10]
    vectors.asked.clear()
    again = encode(vectors, with_vectors=False)
    assert vectors.asked == []
    assert np.array_equal(found.cosines, again.cosines)
    assert np.array_equal(found.angles, again.angles)


def test_parts_that_leave_meanwhile_are_encoded_again(monkeypatch):
    vectors = Vectors(monkeypatch)
    whole = encode(vectors, with_vectors=False)

    def clear(done, total):
        prune(most=0)

    again = encode(vectors, clear, with_vectors=False)
    assert np.array_equal(whole.cosines, again.cosines)
    assert np.array_equal(whole.angles, again.angles)


def test_scores_are_the_cosines_of_the_vectors(monkeypatch):
    vectors = Vectors(monkeypatch)
    found = encode(vectors, with_vectors=True)
    plain = encode(vectors, with_vectors=False)
    np.testing.assert_allclose(found.cosines, plain.cosines, atol=1e-6)
    np.testing.assert_allclose(found.angles, plain.angles, atol=1e-6)
    first, second = vectors(FIRST), vectors(SECOND)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    np.testing.assert_allclose(plain.cosines, (first * second).sum(axis=1) / lengths, atol=1e-6)


# ---- Random batches ------------------------------------------------------------------------------


def test_a_random_batch_is_the_one_of_the_explore_page():
    settings = RandomBatch(pairs=200)
    pairs = draw(settings)
    cosines = (pairs.vectors[0::2] * pairs.vectors[1::2]).sum(axis=1)
    for wanted in ("cosines", "vectors"):
        batch = drawn(settings, wanted)
        assert np.array_equal(batch.labels, np.array(pairs.labels)[batch.entry])
        np.testing.assert_allclose(batch.scores, cosines[batch.entry], atol=1e-5)
        assert batch.first[batch.entry[7]] == pairs.first[batch.entry[7]]


def test_pairs_stand_by_label_then_by_score():
    batch = drawn(RandomBatch(pairs=500))
    keys = list(zip(batch.labels, batch.scores, strict=True))
    assert keys == sorted(keys)


def test_more_pairs_than_there_may_be_are_refused():
    with raises_problem("random_pairs", highest=1048576):
        drawn(RandomBatch(pairs=2**20 + 1))


@pytest.mark.parametrize("dimension", [32, 7])
def test_angles_are_those_of_the_loss(dimension):
    settings = RandomBatch(pairs=200, dimension=dimension)
    pairs, batch = draw(settings), drawn(settings, "angles")
    first, second = (
        torch.nn.functional.pad(torch.tensor(side, dtype=torch.float64), (0, dimension % 2))
        for side in (pairs.vectors[0::2], pairs.vectors[1::2])
    )
    value = losses.angle(first, second, torch.tensor(pairs.labels), scale=5.0)
    opened = open_batch(batch, "angle", {"scale": 5.0}, quiet)
    assert opened.loss == pytest.approx(float(value), rel=1e-5)


# ---- Positives -----------------------------------------------------------------------------------


def test_two_columns_of_sentences_are_positives():
    found = read("question,answer\nHow are you?,Fine.\nWhere is it?,Over there.\n")
    assert not found.labelled
    assert found.labels.tolist() == [1, 1]
    assert found.chosen == {"first": "question", "second": "answer", "score": "none"}
    assert list(found.second) == ["Fine.", "Over there."]


def test_several_negatives_are_pairs():
    found = read("anchor,positive,negative_1,negative_2\na,b,c,d\n")
    assert found.labelled
    assert found.labels.tolist() == [1, 0, 0]
    assert list(found.second) == ["b", "c", "d"]


def test_a_similarity_beside_positives_is_the_label_unless_there_is_none():
    text = "question,answer,similarity\na b,c d,0.5\ne f,g h,0.25\n"
    found = read(text)
    assert (found.labelled, found.scores, found.labels.tolist()) == (True, None, [0.5, 0.25])
    found = read(text, {"score": "none"})
    assert (found.labelled, found.labels.tolist()) == (False, [1, 1])
    assert found.scores.tolist() == [0.5, 0.25]
