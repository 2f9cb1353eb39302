"""Conventions on random batches agree with the installed libraries; a gap shows."""

from __future__ import annotations

import pytest

from benchmarks.conventions import comparisons, random_batch
from lossprism.explorer.lab.compare.callable_library_peers import CallablePeer
from lossprism.explorer.lab.compare.parity_batches import ODD_LABELS
from lossprism.losses import LOSSES
from lossprism.losses.library_peer_record import CLASSED, METRIC_LEARNING, SENTENCE_TRANSFORMERS

INSTALLED = ("torch", SENTENCE_TRANSFORMERS, METRIC_LEARNING)


@pytest.mark.filterwarnings("ignore")
def test_installed_libraries_agree_on_random_batches():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("pytorch_metric_learning")
    found = list(comparisons(2, lambda peer: peer.library in INSTALLED, LOSSES.values()))
    assert {one.peer.library for one in found} == set(INSTALLED)
    assert [one.cells() for one in found if one.differs] == []
    assert max(max(one.by_value, one.by_gradient) for one in found) < 1e-5


def test_a_library_that_computes_something_else_differs(monkeypatch):
    def other(embeddings, classes):
        loss = LOSSES["supcon"].definition(embeddings=embeddings, classes=classes)
        return 1.001 * loss

    peer = CallablePeer("torch", "", CLASSED, {}, lambda: other)
    monkeypatch.setattr("benchmarks.conventions.peers_of", lambda *_: (peer,))
    (found, *_) = comparisons(3, lambda _: True, [LOSSES["supcon"]])
    assert found.differs == [0, 1, 2]


def test_batches_are_of_several_sizes_and_kinds():
    drawn = [random_batch(seed, ODD_LABELS) for seed in range(40)]
    assert {kind for kind, _ in drawn} == {"", *ODD_LABELS}
    assert len({len(batch) for _, batch in drawn}) > 5
