"""Matrices as one byte per shade, small enough to show beside their names."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from lossprism.explorer.export.drawing_data_types import Thumbnail
from lossprism.explorer.runtime.base64_arrays import packed

MAX_SIDE = 56
MAX_STACKED_CELLS = 256 * 256  # cells of a matrix that is drawn together with others
MASKED, NOT_A_NUMBER = 255, 254


def thumbnails(matrices: Sequence[tuple[Tensor, bool]], most: int = MAX_SIDE) -> list[Thumbnail]:
    """Return each matrix, signed or not, as at most `most` × `most` bytes: 0..253 from `low` to
    `high`, 254 NaN, 255 masked. Small ones of one shape are drawn in one go."""
    by_shape: dict[object, list[int]] = {}
    for place, (matrix, _) in enumerate(matrices):
        small = matrix.numel() <= MAX_STACKED_CELLS
        by_shape.setdefault(matrix.shape if small else place, []).append(place)
    drawn: dict[int, Thumbnail] = {}
    for places in by_shape.values():
        stack = torch.stack([matrices[place][0].float() for place in places])
        for place, (shades, low, high) in zip(
            places, _shaded(stack, [matrices[place][1] for place in places], most), strict=True
        ):
            drawn[place] = Thumbnail(
                rows=shades.shape[0],
                columns=shades.shape[1],
                low=low,
                high=high,
                signed=matrices[place][1],
                boolean=matrices[place][0].dtype == torch.bool,
                data=packed(shades, torch.uint8),
            )
    return [drawn[place] for place in range(len(matrices))]


def _shaded(stack: Tensor, signed: list[bool], most: int) -> list[tuple[Tensor, float, float]]:
    """Return the bytes of each of the matrices [M, R, C], and the values of its darkest and
    lightest."""
    rows, columns = stack.shape[1:]
    size = min(rows, most), min(columns, most)
    lows, highs = stack.amin((1, 2)).tolist(), stack.amax((1, 2)).tolist()
    # NaN, which is the least and the largest of all that it stands among, and +∞ are no numbers.
    broken = any(math.isnan(high) or high == math.inf for high in highs)
    masked = [place for place, low in enumerate(lows) if broken or low == -math.inf]
    absent = _absent_of(stack, size, masked, broken) if masked else None
    if absent is not None:
        stack, present, _ = absent
        lows = stack.where(present, math.inf).amin((1, 2)).tolist()
        highs = stack.where(present, -math.inf).amax((1, 2)).tolist()
    elif size != (rows, columns):
        stack = adaptive_avg_pool2d(stack, size)
        lows, highs = stack.amin((1, 2)).tolist(), stack.amax((1, 2)).tolist()
    ranges = [_range(low, high, both) for low, high, both in zip(lows, highs, signed, strict=True)]
    low, span = torch.tensor(
        [(low, (high - low) or 1.0) for low, high in ranges], dtype=stack.dtype, device=stack.device
    ).T[:, :, None, None]
    shades = (stack - low).div_(span).mul_(253).round_().clamp_(0, 253)
    if absent is not None:
        _, present, not_numbers = absent
        shades = shades.where(present, MASKED)
        shades = shades if not_numbers is None else shades.masked_fill_(not_numbers, NOT_A_NUMBER)
    bytes_ = shades.to("cpu", torch.uint8)
    return [(one, *range_) for one, range_ in zip(bytes_, ranges, strict=True)]


def _absent_of(
    stack: Tensor, size: tuple[int, int], masked: list[int], broken: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return matrices, some of them `masked`, at this size with 0 in absent cells; the present
    cells; and, if any is `broken`, those that are no numbers. A cell of several averages the
    present ones; one that is no number makes it broken."""
    present = stack != -math.inf
    not_numbers = stack.isnan() | stack.isposinf() if broken else None
    if not_numbers is not None:
        present &= ~not_numbers
    stack = stack.where(present, 0)
    if size != stack.shape[1:]:
        share = stack.new_ones(len(stack), *size)
        share[masked] = adaptive_avg_pool2d(present[masked].float(), size)
        present = share > 0
        if not_numbers is not None:
            not_numbers = adaptive_avg_pool2d(not_numbers.float(), size) > 0
            present &= ~not_numbers
        stack = adaptive_avg_pool2d(stack, size) / share.clamp_min(1e-9)
        stack = stack.where(present, 0)
    return stack, present, not_numbers


def value_range(values: Tensor, signed: bool) -> tuple[float, float]:
    """Return least and largest, or as far to both sides of 0; `values` are finite."""
    if not values.numel():
        return _range(math.inf, -math.inf, signed)
    return _range(float(values.min()), float(values.max()), signed)


def _range(low: float, high: float, signed: bool) -> tuple[float, float]:
    if low > high:  # of nothing
        low = high = 0.0
    if signed:
        reach = max(-low, high) or 1.0
        return -reach, reach
    return low, high
