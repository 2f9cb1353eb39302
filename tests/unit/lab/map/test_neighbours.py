"""Nearest neighbours, and how many of them changed."""

from __future__ import annotations

import numpy as np

from lossprism.explorer.lab.map import neighbours
from lossprism.explorer.lab.map.neighbours import nearest, neighbours_changed


def on_a_circle(*degrees: float) -> np.ndarray:
    turned = np.radians(degrees)
    return np.stack([np.cos(turned), np.sin(turned)], axis=1)


def test_a_made_case_is_counted() -> None:
    before = on_a_circle(0, 10, 25, 90, 100, 116)
    after = on_a_circle(0, 95, 25, 90, 100, 116)  # the second one goes over to the others
    assert nearest(before, 2).tolist() == [[1, 2], [0, 2], [1, 0], [4, 5], [3, 5], [4, 3]]
    # The first loses it for 90°, the third as well; it loses both, and takes one place of each.
    assert nearest(after, 2).tolist() == [[2, 3], [3, 4], [0, 3], [1, 4], [1, 3], [4, 1]]
    assert neighbours_changed(before, after, 2).tolist() == [1, 2, 1, 1, 1, 1]


def test_nothing_changes_by_a_turn_and_all_by_a_swap() -> None:
    before = on_a_circle(*range(0, 40, 4))
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert neighbours_changed(before, before @ turn, 3).tolist() == [0] * 10
    halves = np.concatenate([on_a_circle(0, 3, 7), on_a_circle(180, 184, 189)])
    swapped = halves[[0, 3, 4, 1, 2, 5]]
    assert neighbours_changed(halves, swapped, 2).tolist() == [2, 1, 1, 1, 1, 2]


def test_blocks_find_what_the_whole_finds(monkeypatch) -> None:
    rows = np.random.default_rng(1).normal(size=(50, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    whole = nearest(rows, 5)
    monkeypatch.setattr(neighbours, "BLOCK_ROWS", 7)
    assert np.array_equal(nearest(rows, 5), whole)
    assert not (whole == np.arange(50)[:, None]).any()
