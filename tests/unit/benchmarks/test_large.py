"""The benchmark of the Large batch page asks its session for what that has."""

from __future__ import annotations

import pytest

from benchmarks.large import in_batch, overview


@pytest.mark.parametrize("loss", ["cosent", "pairwise_hinge"])
def test_an_overview_is_measured(loss: str) -> None:
    rows = overview(128, "graded", loss)
    assert [what.rpartition(": ")[2] for what, *_ in rows] == [
        *("overview", "blocks of nine tenths", "heaviest 100", "gradient of every pair"),
    ]


def test_a_loss_among_sentences_is_measured() -> None:
    rows = in_batch(64, "info_nce")
    assert all(what.startswith("info_nce") for what, *_ in rows)
    assert rows
