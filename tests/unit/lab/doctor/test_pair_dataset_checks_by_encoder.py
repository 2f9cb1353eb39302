"""What an encoder tells of a dataset: what was planted is counted, and nothing else."""

from __future__ import annotations

import dataclasses
import math
import zlib
from pathlib import Path

import numpy as np
import pytest

from lossprism.explorer.core.label_disagreement import contradictions, disagreement, disagrees
from lossprism.explorer.core.rank_correlation import spearman
from lossprism.explorer.lab.doctor import hard_negatives_mined_to_file
from lossprism.explorer.lab.doctor import pair_dataset_checks_by_encoder as under_test
from lossprism.explorer.lab.doctor.data_report import encoded_lines
from lossprism.explorer.lab.doctor.dataset_reader import Read
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import (
    counted,
    encode_pairs,
    examine_encoded,
    ranked,
    sharpness,
)
from lossprism.explorer.lab.doctor.pair_table_profile import profiled
from lossprism.explorer.lab.large.encoder_pair_scores import EncodedScores
from lossprism.explorer.runtime.jobs import Cancelled
from lossprism.explorer.runtime.number_format import percent
from lossprism.explorer.sources.encoders import EMBEDDED, locate
from lossprism.explorer.sources.encoders.encoder_interface import TokenLengths
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES
from tests.added_encoder import MadeEncoder, added
from tests.sentences import raises_problem

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
        return EncodedScores(
            cosines, cosines, (queries.astype(np.float32), keys.astype(np.float32))
        )

    monkeypatch.setattr(under_test, "encoded", encode)

    def words(texts):
        return TokenLengths(np.array([len(text.split()) + 2 for text in texts]), 11)

    with added(MadeEncoder(EMBEDDED, "made", vectors=vectors_of, lengths=words)):
        yield


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
    seen = encode_pairs(profile, "minilm", most, quiet)
    faults, checks = examine_encoded(profile, seen, LOSSES[loss], batch)
    return {fault.name: fault for fault in faults}, checks, seen


def test_nothing_is_invented(encoder):
    faults, checks, _ = found(clean())
    assert faults == {}
    assert [check.made for check in checks] == [True, True, False, True]
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
    assert [check.name for check in checks if check.made] == ["tokens"]


def test_labels_of_two_kinds_are_ranked_and_not_judged(encoder):
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
    assert len(seen.contradicted.strong)
    assert "disagreement" not in faults
    assert [one.pair for one in ranked(seen)] == (seen.contradicted.suspects + 1).tolist()
    low, high = seen.bands
    assert (low.low, high.low) == (0.0, 1.0)
    assert low.mean < high.mean


DATA = Path(__file__).resolve().parents[5] / "shared" / "data"


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the sentence pairs of {DATA} are not there")
@pytest.mark.parametrize(("part", "share"), [("train", 0.03), ("dev", 0.02), ("test", 0.02)])
def test_few_wrong_labels_of_real_pairs_are_found(part, share):
    """None of STS Benchmark as it is, and most of the labels that are turned to the other end."""
    lines = (DATA / f"stsb_en_ccbysa_{part}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    first, second, labels = zip(*(line.split("\t") for line in lines), strict=True)
    as_it_is, message = np.array(labels, dtype=float), 0
    seen = encode_pairs(
        profiled(Pairs(first, second, tuple(as_it_is))), "minilm", len(lines), quiet
    )
    assert not [*_sentences_of(as_it_is, seen.cosines)]
    assert ranked(seen), "the list is there without a verdict, too"
    for seed in range(5):
        draw, turned = np.random.default_rng(seed), as_it_is.copy()
        ends = np.flatnonzero(np.abs(turned - 2.5) > 1)
        wrong = draw.permutation(ends)[: round(share * len(turned))]
        turned[wrong] = 5 - turned[wrong]
        found = [*_sentences_of(turned, seen.cosines)]
        message += bool(found)
        assert set(found) <= set(wrong.tolist())
    assert message >= 4


def _sentences_of(labels, cosines):
    found = contradictions(labels, cosines)
    if disagrees(len(found.strong), disagreement(found, spearman(labels, cosines))):
        yield from found.strong.tolist()


def test_a_sample_of_many_pairs_is_encoded_and_reported(encoder):
    _, _, seen = found(clean(), most=20)
    assert len(seen) == 20
    read = Read(profiled(clean()))
    for language in ("en", "zh"):
        lines = encoded_lines(read, seen, LOSSES["info_nce"], 8, language)
        assert "20" in "\n".join(lines)


def test_a_temperature_has_the_requested_sharpness(encoder):
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
        encode_pairs(profiled(clean()), "minilm", 100, stop)


def test_texts_beyond_the_encoders_limit_are_counted_in_its_own_tokens(encoder):
    plain = clean()
    long = tuple(f"{text} and on and on and on and on" if place in (3, 7) else text
                 for place, text in enumerate(plain.second))  # fmt: skip
    profile = profiled(Pairs(plain.first, long, plain.labels, labelled=False))
    seen = encode_pairs(profile, "minilm", 100, quiet)
    result, checks = examine_encoded(profile, seen, LOSSES["cosent"], 8)
    (fault,) = [one for one in result if one.name == "tokens_cut_off"]
    assert (fault.values["count"], fault.values["most"], fault.rows) == (2, 11, (4, 8))
    assert any(check.name == "tokens" and check.made for check in checks)


def test_the_embedded_encoder_counts_as_its_tokenizer_does():
    found = locate(EMBEDDED).token_lengths(["a dog", "word " * 300, ""])
    assert (found.most, found.counts.tolist()) == (256, [4, 302, 2])


def test_hard_negatives_are_the_nearest_keys_of_others(encoder, capfd):
    """A twin's key is none, whatever its case; neither is what stays within the margin."""
    first = [f"query {place} of key {place}" for place in range(40)]
    second = [f"key {place}" for place in range(40)]
    second[1] = f"{second[0]}~"  # near the key of the first
    first[2], second[2] = first[0].upper().replace("OF KEY", "of key"), "key 2"  # its twin
    profile = profiled(Pairs(tuple(first), tuple(second), (1.0,) * 40, labelled=False))
    reports = []
    found = hard_negatives_mined_to_file.mine(
        profile, "minilm", 100, 2, 0.05, lambda *far: reports.append(far)
    )
    mined = {}
    for anchor, positive, negative in found.triplets:
        mined.setdefault((anchor, positive), []).append(negative)
    assert all(len(near) <= 2 for near in mined.values())
    assert "key 2" not in mined.get((first[0], "key 0"), [])
    assert {what for what, *_ in reports} == {"encoding", "comparing"}
    assert capfd.readouterr() == ("", "")  # how far it is stands on the page alone
    vectors = dict(zip(second, vectors_of(second), strict=True))
    for (anchor, positive), near in mined.items():
        query = vectors_of([anchor])[0] + 2 * vectors_of([anchor.split(" of ")[1]])[0]
        own = query @ vectors[positive]
        assert all(query @ vectors[text] <= 0.95 * own + 1e-6 for text in near)
    # The near key of another pair stays out by the margin, and comes in without one.
    close = hard_negatives_mined_to_file.mine(profile, "minilm", 100, 1, 0.0, quiet)
    assert any(negative == second[1] for _, positive, negative in close.triplets)
    assert close.without == 0


def test_mining_can_be_stopped_and_says_what_it_cannot_do(encoder, tmp_path):
    def stop(what, done, total):
        if what == "comparing":
            raise Cancelled

    with pytest.raises(Cancelled):
        hard_negatives_mined_to_file.mine(profiled(clean()), "minilm", 100, 1, 0.05, stop)
    one = profiled(Pairs(("a of b",), ("b",), (1.0,), labelled=False))
    for each, margin, key in (
        (1, 0.05, "mine_too_few"),
        (11, 0.0, "mine_each"),
        (1, 0.95, "mine_margin"),
    ):
        with raises_problem(key):
            hard_negatives_mined_to_file.mine(one, "minilm", 100, each, margin, quiet)
    found = hard_negatives_mined_to_file.mine(profiled(clean()), "minilm", 100, 3, 0.05, quiet)
    rows = (
        hard_negatives_mined_to_file.write_mined(found, tmp_path / "mined.tsv")
        .read_text()
        .splitlines()
    )
    assert rows[0] == "anchor\tpositive\tnegative"
    assert len(rows) == len(found.triplets) + 1
    with raises_problem("mine_none", pairs=5):
        hard_negatives_mined_to_file.write_mined(
            hard_negatives_mined_to_file.Mined((), 5, 5), tmp_path / "none.tsv"
        )


@pytest.mark.parametrize("ties", [1, 2, 5, 20])
def test_a_temperature_that_no_search_finds_is_not_reported(encoder, ties):
    """So many negatives are equally close to their query: at no temperature fewer of them count."""
    _, _, seen = found(clean(), batch=32)
    cosines = np.full((8, 31), 0.1) + 0.01 * np.arange(31)
    cosines[:, -ties:] = 0.9
    result = sharpness(dataclasses.replace(seen, negatives=cosines), 32)
    assert [one.negatives for one in result] == [one for one in (1.5, 4.0, 16.0) if one > ties]
    for one in result:
        assert counted(cosines, one.temperature) == pytest.approx(one.negatives)
