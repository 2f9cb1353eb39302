"""How much is done at one time: on an accelerator a step costs more than the cells in it."""

from __future__ import annotations

from torch import Tensor

MORE_ROWS = 4  # in one matrix of an accelerator than in one of a processor
MORE_CELLS = MORE_ROWS**2


def most_rows(on_processor: int, like: Tensor) -> int:
    """Up to how many rows one matrix is as fast as anything clever, where `like` is."""
    return on_processor if like.is_cpu else MORE_ROWS * on_processor


def most_cells(on_processor: int, like: Tensor) -> int:
    """How many cells a tile has: on a processor what its caches hold, on an accelerator what keeps
    it busy."""
    return on_processor if like.is_cpu else MORE_CELLS * on_processor


def rows_at_once(on_processor: int, width: int, like: Tensor) -> int:
    """How many rows of `width` cells make a tile, one at least."""
    return max(1, most_cells(on_processor, like) // max(width, 1))
