"""Sizes of single steps: on an accelerator a step costs more than its cells."""

from torch import Tensor

ROWS_FACTOR = 4  # in one matrix of an accelerator than in one of a processor
CELLS_FACTOR = ROWS_FACTOR**2


def max_matrix_rows(on_processor: int, like: Tensor) -> int:
    """Return the rows up to which one matrix is as fast as any other form, on the device of
    `like`."""
    return on_processor if like.is_cpu else ROWS_FACTOR * on_processor


def max_tile_cells(on_processor: int, like: Tensor) -> int:
    """Return the cells of a tile: on a processor those that fit its caches, on an accelerator
    enough to fill it."""
    return on_processor if like.is_cpu else CELLS_FACTOR * on_processor


def rows_at_once(on_processor: int, width: int, like: Tensor) -> int:
    """Return the rows of `width` cells that make a tile, at least one."""
    return max(1, max_tile_cells(on_processor, like) // max(width, 1))
