"""The batches that libraries are asked on: what they cannot take, odd labels, and kinks."""

import dataclasses

import pytest
import torch

from lossprism.explorer.core.batch import batch_of_vectors
from lossprism.explorer.core.scenario import Rules
from lossprism.explorer.lab.compare.batch_change_effects import of_rows
from lossprism.explorer.lab.compare.callable_library_peers import CALLED, CallablePeer, peers_of
from lossprism.explorer.lab.compare.library_parity import EQUALITY_TOLERANCE, parity
from lossprism.explorer.lab.compare.parity_batches import (
    ODD_LABELS,
    batch_for,
    moved,
    odd_for,
    seeded_batch,
)
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES

CALLABLE = {"tensorflow-ranking", "keras-rs", "open-clip-torch", "rax", "allRank", "lightly"}


def with_duplicates(seed=3):
    """The seeded batch with second sentences that are their first ones, and vectors that are their
    prototypes: distances of 0, and cosines of 1."""
    batch = seeded_batch(seed)
    vectors = batch.vectors.clone()
    for place in (0, 4, 7, 8, 13):
        vectors[batch.second[place]] = vectors[batch.first[place]]
    return dataclasses.replace(batch, vectors=vectors, rules=Rules())


def without_shared_sentences(count=12):
    made = torch.Generator().manual_seed(0)
    sides = (tuple(f"{side}{place}" for place in range(count)) for side in "ab")
    vectors = torch.randn(2 * count, 16, generator=made, dtype=torch.float64)
    pairs = Pairs(*sides, tuple(float(place % 2) for place in range(count)))
    return batch_of_vectors(pairs, vectors.numpy(), Rules())


@pytest.fixture(scope="module")
def libraries():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("pytorch_metric_learning")


def test_where_there_is_no_slope_nothing_differs(libraries):
    """Contrastive at its shift, ArcFace at its prototype, hinges and hardest pairs that tie."""
    rows = parity(with_duplicates())
    assert [row for row in rows if row.status == "differs"] == []
    keys = {one.key for row in rows for one in row.because}
    assert {"parity.because.kink", "parity.because.shifted"} <= keys


@pytest.mark.parametrize("name", ["contrastive", "triplet", "lifted", "arcface", "cosent", "angle"])
def test_a_step_aside_every_function_is_its_definition(name):
    batch = moved(with_duplicates(), LOSSES[name].reads.values())
    for row in parity(batch, {name: LOSSES[name]}):
        for precision, found in row.kernel.items():
            assert found.worst <= EQUALITY_TOLERANCE[precision]


def test_a_wrong_gradient_is_not_excused_by_a_kink(monkeypatch):
    def wrong(first, second, labels):
        loss = LOSSES["contrastive"].definition(first, second, labels)
        return 1.01 * loss - 0.01 * loss.detach()

    reads = LOSSES["contrastive"].reads
    peer = CallablePeer("torch", "", reads, {}, lambda: wrong, shift=1e-6)
    monkeypatch.setattr(
        "lossprism.explorer.lab.compare.library_parity.peers_of", lambda *_: (peer,)
    )
    spec = dataclasses.replace(LOSSES["contrastive"], conventions=())
    (row,) = parity(with_duplicates(), {"contrastive": spec})
    assert row.status == "differs"


def test_in_batch_losses_are_called_with_the_positive_pairs_alone(libraries):
    rows = parity(without_shared_sentences(), {n: LOSSES[n] for n in ("info_nce", "gist")})
    called = [row for row in rows if row.peer["float64"]]
    assert called
    for row in called:
        assert row.status in ("equal", "explained")
    alone = [row for row in called if row.left_out]
    assert {row.left_out.key for row in alone} == {"parity.fed.positives"}
    assert all("negatives" not in row.fed for row in alone)


def test_a_library_of_lists_of_one_length_gets_these():
    longer = seeded_batch()
    cut, about = batch_for(["list_places"], [], longer)
    assert (cut, about) == (longer, "")
    pairs = [place for place in range(len(longer)) if place != 2]
    uneven = of_rows(longer, [(one, one, longer.pairs.labels[one]) for one in pairs])
    cut, about = batch_for(["list_places"], [], uneven)
    assert about == "parity.fed.lists"
    assert bool((cut.lists >= 0).all())


def test_odd_labels_are_what_they_are_called():
    labels = {name: made(seeded_batch()).labels for name, made in ODD_LABELS.items()}
    assert bool((labels["graded"] % 1 != 0).any())
    assert bool((labels["unjudged"] == -1).any())
    assert labels["large"].max() > 128
    assert len(labels["tied"].unique()) == 1
    sizes = (ODD_LABELS["single"](seeded_batch()).lists >= 0).sum(dim=1)
    assert sizes.min() == 1 < sizes.max()


def test_every_library_that_reads_labels_is_called_on_odd_ones(libraries):
    names = ("cosent", "list_mle", "lambda_loss", "contrastive")
    for row in parity(seeded_batch(), {name: LOSSES[name] for name in names}):
        if row.peer["float64"] is None:
            continue
        reads = next(
            peer.reads
            for peer in peers_of(LOSSES[row.loss].under(row.convention), row.convention)
            if (peer.library, peer.called) == (row.library, row.called)
        )
        assert [one.name for one in row.odd] == odd_for(reads.values())
        assert all(one.status in ("equal", "explained") for one in row.odd)
        assert all(one.fed for one in row.odd)


@pytest.mark.parametrize("library", sorted(CALLABLE))
def test_installable_libraries_can_be_called(library):
    """Each row of these is "not installed", or there is a way to ask."""
    assert any(library == key[0] for key in CALLED)
    for spec in LOSSES.values():
        for convention in spec.conventions:
            for peer in peers_of(spec.under(convention.name), convention.name):
                assert peer.library != library or peer.load is not None
