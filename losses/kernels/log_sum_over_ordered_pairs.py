"""log(1 + Σ exp(a_j − b_i)) over all pairs of pairs with y_i > y_j, without the N×N matrix.

Every term is a product e^(a_j) · e^(−b_i), so the sum over i is e^(a_j) times the sum of e^(−b)
over the labels *above* j, and the gradient at a_j is that product over the total. With the sum
of e^a over the labels *below* each i, value and gradient are complete.

The sums are taken in float64. Exponents too far apart for it, accelerators, and compiled graphs
take the same path in logarithms, which has no limits and asks the device nothing; of few labels
they take the terms themselves.
"""

from functools import partial

import torch
from torch import Tensor

from lossprism.losses.input_checks import may_ask
from lossprism.losses.kernels.stable_functions import log1p_sum_exp, softplus
from lossprism.losses.kernels.value_with_gradient import with_gradient

MAX_MATRIX_ROWS = 192  # rows; up to here the N×N comparison is faster than anything clever
# Rows, up to which all terms are faster than sums of logarithms: a GPU takes as long for a million
# terms as for ten, and each step of a sum of logarithms waits for the one before.
MAX_TERM_ROWS, MAX_TERM_ROWS_ON_GPU = 48, 1024
MIN_CELLS, MAX_CELLS = 1024, 2**20  # to put labels of few values into
SAMPLE_SIZE = 4096  # labels to look at before all
FIRST_LABELS = 16  # and before asking whether there are but two
# Exponentials up to it and down to 1/MAX_EXPONENTIAL have sums and products that float64 can hold.
MAX_EXPONENTIAL = 1e130


def log1p_ordered_sum_exp(
    lower: Tensor,
    higher: Tensor,
    labels: Tensor,
    *,
    scale: float | Tensor = 1.0,
    shift: float | Tensor = 0.0,
    weighted: bool = False,
) -> Tensor:
    """Compute log(1 + Σ_{y_i > y_j} w_ji exp(scale · (lower_j − higher_i) + shift)), 0-d.

    Args:
        lower, higher: [N] each, of one type; the same tensor if they are equal.
        labels: [N], compared and, if `weighted`, subtracted.
        weighted: w_ji is y_i − y_j instead of 1.
    """
    if isinstance(scale, Tensor) or isinstance(shift, Tensor):  # they may want a gradient too
        lower, higher, scale, shift = lower * scale + shift, higher * scale, 1.0, 0.0
    moving = (lower,) if lower is higher else (lower, higher)
    settings = {"scale": scale, "shift": shift, "weighted": weighted}
    if weighted and labels.requires_grad:
        return _dense(labels, *moving, **settings)
    compute, dense = partial(ordered_sum, **settings), partial(_dense, **settings)
    return with_gradient(compute, dense, labels, *moving)


def _dense(labels: Tensor, *moving: Tensor, scale: float, shift: float, weighted: bool) -> Tensor:
    lower, higher = moving[0], moving[-1]
    terms = scale * (lower[:, None] - higher[None, :]) + shift
    return log1p_sum_exp(_where_ordered(terms, labels, weighted))


def _where_ordered(terms: Tensor, labels: Tensor, weighted: bool) -> Tensor:
    """Return the terms [N, N] with the logarithms of their weights; −∞ for pairs without an
    order."""
    gaps = labels[None, :] - labels[:, None]
    if weighted:
        terms = terms + gaps.to(terms.dtype).relu().log()
    return terms.masked_fill(gaps <= 0, -torch.inf)


def ordered_sum(
    _: list[bool],
    labels: Tensor,
    *moving: Tensor,
    scale: float = 1.0,
    shift: float = 0.0,
    weighted: bool = False,
) -> tuple[Tensor, tuple[None, *tuple[Tensor, ...]]]:
    """Return the value and its gradient at each input."""
    kind = moving[0].dtype
    rows, *others = [one.to(accurate(labels)) * scale for one in moving]
    columns = others[0] if others else rows
    if shift:
        rows = rows + shift
    counted = _in_numbers(labels, rows, columns, weighted) if may_ask(labels) else None
    if not counted:
        few = MAX_TERM_ROWS_ON_GPU if labels.is_cuda else MAX_TERM_ROWS
        of_any_size = _in_terms if len(labels) <= few else _in_logarithms
        counted = of_any_size(labels, rows, columns, weighted)
    value, share, falling, rising = counted
    if others:
        gradients = (falling.mul_(scale * share).to(kind), rising.mul_(-scale * share).to(kind))
    else:
        gradients = (falling.sub_(rising).mul_(scale * share).to(kind),)
    return value.to(kind), (None, *gradients)


def ordered_sum_of_levels(
    needs_grad: list[bool], labels: Tensor, levels: Tensor, weights: Tensor, *, scale: float
) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    """Return Σ_l weights[l] · `ordered_sum` of the scores levels[l], and its gradients."""
    counted = None
    if may_ask(labels) and len(labels) <= MAX_MATRIX_ROWS:
        rows = (levels.to(accurate(labels)) * scale).exp_()
        if _within_reach(rows):
            columns = rows.reciprocal()
            below, above = _sums_by_matrix(labels, rows, columns, weighted=False)
            total = below.mul_(columns).sum(1)
            shares = scale / (1 + total)
            counted = total.log1p_(), rows.mul_(above).sub_(below).mul_(shares[:, None])
    if not counted:
        each = [ordered_sum(needs_grad, labels, level, scale=scale) for level in levels]
        values, slopes = zip(*each, strict=True)
        counted = torch.stack(values), torch.stack([slope for _, slope in slopes])
    values, slopes = (one.to(levels.dtype) for one in counted)
    return weights.dot(values), (None, slopes.mul_(weights[:, None]), values)


def _in_numbers(
    labels: Tensor, rows: Tensor, columns: Tensor, weighted: bool
) -> tuple[Tensor, float | Tensor, Tensor, Tensor] | None:
    """Return the value; the weight of e^0 in it; the total of each row, of each column, over that
    weight.

    None if float64 cannot hold the exponentials.
    """
    alike = rows is columns
    rows = rows.exp()
    columns = rows.reciprocal() if alike else columns.neg().exp()
    if not _within_reach(rows) or not (alike or _within_reach(columns)):
        return None
    below, above = _sums(labels, rows, columns, weighted)
    total = columns.dot(below)
    share = 1 / (1 + total.item())
    if share == 0:  # gaps between labels beyond measure
        return None
    return total.log1p_(), share, rows.mul_(above), columns.mul_(below)


def _within_reach(exponentials: Tensor) -> bool:
    least, most = exponentials.aminmax()
    return least.item() > 1 / MAX_EXPONENTIAL and most.item() < MAX_EXPONENTIAL


def _sums(labels: Tensor, rows: Tensor, columns: Tensor, weighted: bool) -> tuple[Tensor, Tensor]:
    """Return for each label the sum of `rows` over lower labels, of `columns` over higher
    ones."""
    if len(labels) <= MAX_MATRIX_ROWS:
        return _sums_by_matrix(labels, rows, columns, weighted)
    if not weighted and (sides := two_sides(labels, rows.dtype)):
        lower, higher = sides
        return higher * rows.dot(lower), lower * columns.dot(higher)
    gaps = None
    if weighted:
        cells, count = levels_in_order(labels)
        gaps = labels.new_empty(count).scatter_(0, cells, labels).to(rows.dtype).diff()
    else:
        cells, count = distinct_levels(labels) or levels_in_order(labels)
    below = _sums_below(cells, count, rows, gaps)
    # What is above is summed from above: nothing is subtracted anywhere.
    upside_down = cells.neg_().add_(count - 1)
    above = _sums_below(upside_down, count, columns, gaps if gaps is None else gaps.flip(0))
    return below, above


def _sums_below(cells: Tensor, count: int, numbers: Tensor, gaps: Tensor | None) -> Tensor:
    """Return for each cell [N] of `count` the sum of the `numbers` in the cells below it.

    With `gaps` [count − 1] between cells, each number counts in proportion to its distance.
    """
    sums = numbers.new_zeros(count + 1)
    sums[1:].scatter_add_(0, cells, numbers)
    sums = sums.cumsum(0)
    if gaps is not None:
        # Σ_j (y_i − y_j) e_j is the running sum of (gap to the next label) · (Σ e up to here).
        sums[1:-1].mul_(gaps)
        sums = sums[:-1].cumsum(0)
    return sums.index_select(0, cells)


def _sums_by_matrix(
    labels: Tensor, rows: Tensor, columns: Tensor, weighted: bool
) -> tuple[Tensor, Tensor]:
    if weighted:
        labels = labels.to(rows.dtype)
        weights = (labels[None, :] - labels[:, None]).clamp_min_(0)
    else:
        weights = (labels.unsqueeze(1) < labels).to(rows.dtype)
    return rows @ weights, columns @ weights.t()


def _in_terms(
    labels: Tensor, rows: Tensor, columns: Tensor, weighted: bool
) -> tuple[Tensor, float | Tensor, Tensor, Tensor]:
    """Compute the same as `_in_numbers`, from all terms, whatever their size."""
    terms = _where_ordered(rows[:, None] - columns, labels, weighted)
    value = log1p_sum_exp(terms)
    largest = terms.amax().clamp_min_(0)  # the value of large terms is rounded; they are not
    weights = terms.sub_(largest).exp_()
    share = (weights.sum() + largest.neg().exp()).reciprocal()
    return value, share, weights.sum(1), weights.sum(0)


def _in_logarithms(
    labels: Tensor, rows: Tensor, columns: Tensor, weighted: bool
) -> tuple[Tensor, float | Tensor, Tensor, Tensor]:
    """Compute the same as `_in_numbers`, for exponents of any size, without reading the
    device."""
    ordered, order = labels.sort()
    rows, columns = rows[order], -columns[order]
    up_to = rows.logcumsumexp(0)
    from_here = columns.flip(0).logcumsumexp(0).flip(0)
    nothing = rows.new_full((1,), -torch.inf)
    if weighted:
        gaps = ordered.to(rows.dtype).diff().log()
        below = torch.cat((nothing, (up_to[:-1] + gaps).logcumsumexp(0)))
        above = torch.cat(((from_here[1:] + gaps).flip(0).logcumsumexp(0).flip(0), nothing))
    else:
        below = torch.cat((nothing, up_to))[torch.searchsorted(ordered, ordered)]
        above = torch.cat((from_here, nothing))[torch.searchsorted(ordered, ordered, right=True)]
    value = softplus((columns + below).logsumexp(0))
    falling, rising = (
        _of_sum(part.exp(), -torch.expm1(-value))
        for part in (rows + above - value, columns + below - value)
    )
    return (
        value,
        1.0,
        torch.empty_like(falling).scatter(0, order, falling),
        torch.empty_like(rising).scatter(0, order, rising),
    )


def _of_sum(shares: Tensor, total: Tensor) -> Tensor:
    """Normalise shares to `total`: rounding of large exponents has changed their sum."""
    return shares * (total / shares.sum().clamp_min(torch.finfo(shares.dtype).tiny))


def accurate(like: Tensor) -> torch.dtype:
    """Return the type to sum in: float64 on devices that have it."""
    return torch.float32 if like.device.type == "mps" else torch.float64


def two_sides(labels: Tensor, dtype: torch.dtype) -> list[Tensor] | None:
    """Return indicators [N] of the lower and of the higher of two label values, as 1 and 0; None
    for other labels, or if a first sample has one value only."""
    seen = set(labels[:: len(labels) // FIRST_LABELS + 1].tolist())
    if len(seen) != 2:
        return None
    sides = [labels.eq(value).to(dtype) for value in sorted(seen)]
    return sides if sum(side.sum().item() for side in sides) == len(labels) else None


def distinct_levels(labels: Tensor, count: int = 0) -> tuple[Tensor, int] | None:
    """Return cells [N] in label order, one for each value, and their count; without a sort.

    None if two values fall into one of `count` cells of equal width.
    """
    count = count or min(max(MIN_CELLS, len(labels) // 16), MAX_CELLS)
    if len(labels) >= 8 * SAMPLE_SIZE and not distinct_levels(
        labels[:: len(labels) // SAMPLE_SIZE], count
    ):
        return None
    lowest, highest = labels.aminmax()
    lowest, highest = lowest.item(), highest.item()
    width = highest - lowest
    if not labels.is_floating_point():
        return (labels - lowest, int(width) + 1) if width < count else None
    if width > 1e38 or 0 < width < 1e-30:  # a step below would leave the range of float32
        return None
    cells = (labels - lowest).mul_((count - 1) / width if width else 0.0).long()
    values = labels.new_empty(count).scatter_(0, cells, labels)
    return (cells, count) if torch.equal(values.index_select(0, cells), labels) else None


def levels_in_order(labels: Tensor) -> tuple[Tensor, int]:
    """Return cells and count, as `distinct_levels`, for labels of any kind."""
    keys, order = sort_keys(labels).sort()
    levels, cells = keys.unique_consecutive(return_inverse=True)
    return torch.empty_like(cells).scatter_(0, order, cells), len(levels)


def sort_keys(labels: Tensor) -> Tensor:
    """Return integers in the order of the labels: torch sorts them up to three times as fast."""
    if not labels.is_floating_point():
        return labels
    whole, bits = (torch.int32, 31) if labels.dtype == torch.float32 else (torch.int64, 63)
    keys = (labels + 0.0).view(whole)  # −0.0 becomes 0.0
    # Below zero a float grows as its bits fall.
    return keys ^ ((keys >> bits) & torch.iinfo(whole).max)
