"""Sentences on where the weight is, from the visible blocks."""

from __future__ import annotations

import numpy as np
import pytest

from lossprism.explorer.lab.large.large_batch_response import MIN_BLOCKS, look
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.lab.large.window_blocks import Window
from tests.unit.lab.large.made import batch_of


@pytest.mark.parametrize("scale", [1.0, 20.0, 200.0])
@pytest.mark.parametrize("part", [(0, 300, 0, 300), (0, 90, 200, 300)])
def test_so_many_blocks_hold_nine_tenths_of_the_weight_in_view(scale, part):
    opened = open_batch(batch_of(300), "cosent", checked("cosent", {"scale": scale}), print)
    blocks = opened.matrix.blocks(Window(*part))
    found = look(opened, Window(*part)).concentrated
    falling = np.sort(blocks.share.ravel())[::-1]
    there = int((blocks.present > 0).sum())
    count = round(found.share * there)
    whole = falling.sum()
    assert falling[:count].sum() >= 0.9 * whole * (1 - 1e-9)
    assert falling[: count - 1].sum() < 0.9 * whole
    assert found.part == pytest.approx(whole, rel=1e-9)


def test_few_blocks_have_no_report():
    opened = open_batch(batch_of(4), "cosent", checked("cosent", {}), print)
    assert opened.shape[0] ** 2 < MIN_BLOCKS
    assert look(opened, Window(0, 4, 0, 4)).concentrated is None
