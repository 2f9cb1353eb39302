"""Sums over all ordered pairs of pairs in which no logarithm joins the terms.

The hinge is linear where it is not 0, so each pair needs only the number and the label sum of the
pairs it violates: `hinge_sum` finds them in O(N log N). A logistic term has no such form;
`logistic_sum` computes the N² terms in tiles and stores none. The largest violation needs only the
best score below each label.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from lossprism.losses.input_checks import may_ask
from lossprism.losses.kernels.cell_terms import logistic_terms, logistic_weights_
from lossprism.losses.kernels.log_sum_over_ordered_pairs import accurate, levels_in_order
from lossprism.losses.kernels.tile_sizes import max_matrix_rows, max_tile_cells, rows_at_once
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.torch_internals import in_torch_func

# Rows, up to which one matrix is fastest.
LOGISTIC_ROWS, LARGEST_ROWS = 512, 288
HINGE_ROWS = 1024  # rows; up to here the hinge is faster in a matrix than in a tree
TILE_ROWS, TILE_TERMS = 128, 2**18  # at most so many rows, and terms, at a time

Summed = tuple[Tensor, tuple[Tensor | None, ...]]


def hinge_sum(
    scores: Tensor,
    labels: Tensor,
    *,
    margin: float | Tensor,
    eps: float | Tensor = 0.0,
    by_gap: bool = True,
) -> Tensor:
    """Compute Σ w_ji [s_j − s_i + m]₊ / (Σ w_ji + ε) over y_i > y_j; w_ji = y_i − y_j if `by_gap`,
    else 1."""
    if isinstance(margin, Tensor) or isinstance(eps, Tensor):
        return _dense_hinge(labels, scores, margin, eps, by_gap)
    # Where labels cannot be compared with each other first, equal ones have ranks of their own.
    if labels.requires_grad or in_torch_func() or not (by_gap or may_ask(labels)):
        return _dense_hinge(labels, scores, margin, eps, by_gap)
    still = scores.detach()
    loss, slopes = _hinge(labels, still, margin, eps, by_gap)
    # Linear where it is not 0: 0 is added, which has the slopes.
    return loss + (scores - still).dot(slopes)


def _dense_hinge(
    labels: Tensor, scores: Tensor, margin: float | Tensor, eps: float | Tensor, by_gap: bool
) -> Tensor:
    gaps = _weights(labels, scores, by_gap)
    terms = hinge_terms(scores[:, None] - scores[None, :], gaps, margin)
    return terms.sum() / _above_zero(gaps.sum() + eps)


def _weights(labels: Tensor, scores: Tensor, by_gap: bool) -> Tensor:
    """Return the weight of each pair of pairs [N, N], 0 if not ordered."""
    gaps = labels - labels.unsqueeze(1)
    return gaps.to(scores.dtype).relu() if by_gap else (gaps > 0).to(scores.dtype)


def hinge_terms(differences: Tensor, gaps: Tensor, margin: float | Tensor) -> Tensor:
    """Return (y_i − y_j) [s_j − s_i + m]₊ of each difference of scores and gap of labels, 0 or
    more."""
    return gaps * (differences + margin).relu()


def _above_zero(weight: Tensor) -> Tensor:
    """Return a divisor above 0, for a mean whose terms are all 0 if the divisor is."""
    return weight.clamp_min(torch.finfo(weight.dtype).tiny)


def _hinge(
    labels: Tensor, scores: Tensor, margin: float, eps: float, by_gap: bool
) -> tuple[Tensor, Tensor]:
    """Return the loss and its gradient."""
    if len(scores) <= max_matrix_rows(HINGE_ROWS, scores):
        gaps = _weights(labels, scores, by_gap)
        violations = (scores.unsqueeze(1) - scores).add_(margin).clamp_min_(0)
        total = _above_zero(gaps.sum() + eps)
        loss = (gaps * violations).sum() / total  # a dot product would add up less exactly
        gaps.mul_(violations.sign_())
        return loss, (gaps.sum(1) - gaps.sum(0)) / total
    scores_exactly, heights = scores.to(accurate(scores)), labels.to(accurate(scores))
    exact, heights = scores_exactly - scores_exactly.mean(), heights - heights.mean()  # small sums
    ranked = _ranks(labels)
    ordered = sum_of_gaps(heights) if by_gap else _ordered(ranked[0]).to(heights)
    total = _above_zero(ordered + eps)
    pull, weight = _violations(scores_exactly, heights if by_gap else None, ranked, margin)
    loss = (exact.dot(pull) + margin * weight) / total
    return loss.to(scores.dtype), (pull / total).to(scores.dtype)


def sum_of_gaps(heights: Tensor) -> Tensor:
    """Return Σ (y_i − y_j) over y_i > y_j: each gap between neighbours times the pairs that span
    it."""
    gaps = heights.sort().values.diff()
    below = torch.arange(1, len(heights), dtype=gaps.dtype, device=gaps.device)
    return (gaps * below * (len(heights) - below)).sum()


def _ordered(ranks: Tensor) -> Tensor:
    """Count the pairs of pairs with different ranks."""
    return (len(ranks) ** 2 - ranks.bincount().square().sum()) // 2


def _ranks(labels: Tensor) -> tuple[Tensor, int]:
    """Return integers in label order, and the number of bits of the largest."""
    if may_ask(labels):
        ranks, count = levels_in_order(labels)
    else:  # equal labels may differ in rank, for the gap between them has no weight
        order, count = labels.argsort(), len(labels)
        ranks = torch.empty_like(order).scatter(0, order, torch.arange(count, device=order.device))
    return ranks, (count - 1).bit_length()


def _violations(
    scores: Tensor, heights: Tensor | None, ranked: tuple[Tensor, int], margin: float
) -> tuple[Tensor, Tensor]:
    """Return for each pair Σ ± w over the violated pairs of pairs it is in; and Σ w.

    The weight w is the gap between the heights, or 1 without any. A wavelet tree: the pairs in
    score order are split by the highest bit of their rank, both halves by the next bit, and so on.
    Two pairs separate at the bit in which their ranks differ. Those that i violates are then a
    range of the other half, from the first score above s_i − m on (or, from the lower pair, up to
    it), and two running sums hold their number and their labels.
    """
    scores, by_score = scores.sort()
    (ranks, bits), count = ranked, len(scores)
    ranks, heights = ranks[by_score], None if heights is None else heights[by_score]
    thresholds = scores - margin
    places = torch.stack(
        (
            torch.zeros_like(by_score),  # the node starts,
            torch.full_like(by_score, count),  # the node ends,
            torch.searchsorted(scores, thresholds, right=True),  # lower pairs are violated from,
            torch.searchsorted(thresholds, scores),  # higher pairs are violated up to
        )
    )
    inside, inside_heights = ranks, heights  # in the order of the tree, level by level
    pull, weight = torch.zeros_like(scores), scores.new_zeros(())
    for bit in reversed(range(bits)):
        upper = inside >> bit & 1
        split = torch.argsort(upper, stable=True)
        inside = inside[split]
        to_left = _before(1 - upper)[places]
        to_right = places - to_left + (count - upper.sum())
        mine = (ranks >> bit & 1).bool()
        start, end, first, last = torch.where(mine, to_left, to_right)  # in the other half
        first, last = torch.where(mine, first, start), torch.where(mine, end, last)
        number = last - first
        if heights is None or inside_heights is None:
            gaps = torch.where(mine, -number, number).to(scores.dtype)
        else:
            inside_heights = inside_heights[split]
            sums = _before(inside_heights)
            gaps = sums[last] - sums[first] - heights * number
        pull, weight = pull + gaps, weight + gaps.masked_fill(mine, 0).sum()
        places = torch.where(mine, to_right, to_left)
    return torch.empty_like(pull).scatter(0, by_score, pull), weight


def ties_by_label(scores: Tensor, labels: Tensor) -> Tensor:
    """Count for each pair [N] those of equal score with a higher label, less those with a lower
    one."""
    if not len(scores):
        return scores
    (_, score), (_, level) = (one.unique(return_inverse=True) for one in (scores, labels))
    levels = level.max() + 1
    key = score * levels + level
    ordered = key.sort().values
    lower = torch.searchsorted(ordered, key) - torch.searchsorted(ordered, score * levels)
    higher = torch.searchsorted(ordered, (score + 1) * levels) - torch.searchsorted(
        ordered, key, right=True
    )
    return (higher - lower).to(scores.dtype)


def logistic_sum(
    scores: Tensor,
    labels: Tensor,
    *,
    scale: float | Tensor,
    mean: bool = False,
    by_gap: bool = False,
) -> Tensor:
    """Compute Σ w_ji log(1 + exp(λ(s_j − s_i))) over y_i > y_j, or its mean over these; w_ji = y_i
    − y_j if `by_gap`, else 1."""
    compute = (
        _small_logistic if len(scores) <= max_matrix_rows(LOGISTIC_ROWS, scores) else _logistic
    )
    chosen = {"mean": mean, "by_gap": by_gap}
    compute, dense = partial(compute, **chosen), partial(_dense_logistic, **chosen)
    return with_gradient(compute, dense, labels, scores, scale)


def _dense_logistic(
    labels: Tensor, scores: Tensor, scale: float | Tensor, *, mean: bool, by_gap: bool
) -> Tensor:
    unordered = labels.unsqueeze(1) >= labels
    terms = logistic_terms(scale * (scores.unsqueeze(1) - scores)).masked_fill(unordered, 0)
    total = (_gaps(labels, labels, scores) * terms if by_gap else terms).sum()
    return total / (~unordered).sum().clamp_min(1) if mean else total


def _small_logistic(
    needs_grad: list[bool],
    labels: Tensor,
    scores: Tensor,
    scale: float | Tensor,
    *,
    mean: bool,
    by_gap: bool,
) -> Summed:
    unordered = labels.unsqueeze(1) >= labels
    gaps = _gaps(labels, labels, scores) if by_gap else None
    total, slopes = _tile(scores, scores, scale, unordered, gaps, any(needs_grad))
    pull = None if slopes is None else slopes[0].sub_(slopes[1])
    if mean:
        count = (len(labels) ** 2 - unordered.sum()).clamp_min_(1)
        total = total / count
        pull = None if pull is None else pull.div_(count)
    if pull is None:
        return total, ()
    return total, (None, *_by_scores_and_scale(needs_grad, pull, scores, scale))


def _logistic(
    needs_grad: list[bool],
    labels: Tensor,
    scores: Tensor,
    scale: float | Tensor,
    *,
    mean: bool,
    by_gap: bool,
) -> Summed:
    total, pull, count = _tiles(labels, scores, scale, by_gap, any(needs_grad))
    over = count.clamp_min(1) if mean else 1
    loss = (total / over).to(scores.dtype)
    if pull is None:
        return loss, ()
    return loss, (None, *_by_scores_and_scale(needs_grad, pull.div_(over), scores, scale))


def _by_scores_and_scale(
    needs_grad: list[bool], pull: Tensor, scores: Tensor, scale: float | Tensor
) -> tuple[Tensor, Tensor | None]:
    """Return the gradients by s and by λ of a loss with the gradient `pull` by λs."""
    by_scale = None
    if needs_grad[2] and isinstance(scale, Tensor):
        exact = accurate(scores)
        by_scale = pull.to(exact).dot(scores.to(exact)).to(scale).reshape(scale.shape)
    return (pull * scale).to(scores.dtype), by_scale


def _gaps(lower: Tensor, higher: Tensor, like: Tensor) -> Tensor:
    """Return max(0, y_i − y_j) of each label of the lower rows and of the higher columns."""
    return (higher - lower.unsqueeze(1)).to(like.dtype).relu()


def _tiles(
    labels: Tensor, scores: Tensor, scale: float | Tensor, by_gap: bool, needs_grad: bool
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Return Σ w_ji softplus(λ(s_j − s_i)), its gradient by λs, and the number of terms."""
    labels, order = labels.sort()
    scores, size = scores[order], len(scores)
    above = torch.searchsorted(labels, labels, right=True)  # where the higher labels start
    total = scores.new_zeros((), dtype=accurate(scores))
    pull = torch.zeros_like(scores, dtype=total.dtype)
    rows = min(max_tile_cells(TILE_ROWS, scores), rows_at_once(TILE_TERMS, size, scores))
    for start in range(0, size, rows):
        end = min(start + rows, size)
        # Columns above some of the rows, then columns above all of them.
        some, every = (int(above[start]), int(above[end - 1])) if may_ask(labels) else (start, size)
        for low, high in ((some, every), (every, size)):
            if low == high:
                continue
            masked = low < every
            lower, higher = labels[start:end], labels[low:high]
            unordered = lower[:, None] >= higher if masked else None
            gaps = _gaps(lower, higher, scores) if by_gap else None
            part, slopes = _tile(
                scores[start:end], scores[low:high], scale, unordered, gaps, needs_grad
            )
            total += part
            if slopes is not None:
                falling, rising = slopes
                pull[start:end] += falling
                pull[low:high] -= rising
    pull = torch.empty_like(pull).scatter_(0, order, pull) if needs_grad else None
    return total, pull, (size - above).sum()


def _tile(
    lower: Tensor,
    higher: Tensor,
    scale: float | Tensor,
    unordered: Tensor | None,
    gaps: Tensor | None,
    needs_grad: bool,
) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
    """Return Σ w_ji softplus(λ(lower_j − higher_i)) where ordered, w the `gaps` or 1, and the
    slopes summed by row and by column, if `needs_grad`.

    The difference comes before λ: it is exact for two scores near each other.
    """
    differences = (lower.unsqueeze(1) - higher).mul_(scale)
    terms = logistic_terms(differences)
    slopes = logistic_weights_(differences) if needs_grad else None
    if unordered is not None:
        terms.masked_fill_(unordered, 0)
        if slopes is not None:
            slopes.masked_fill_(unordered, 0)
    if gaps is not None:
        terms.mul_(gaps)
        if slopes is not None:
            slopes.mul_(gaps)
    return terms.sum(), None if slopes is None else (slopes.sum(1), slopes.sum(0))


def largest_violation(
    scores: Tensor, labels: Tensor, definition: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """Compute max(0, max (s_j − s_i)) over y_i > y_j; ties share the gradient.

    `definition` is the same in plain torch.
    """
    largest = _small_largest if len(scores) <= max_matrix_rows(LARGEST_ROWS, scores) else _largest
    return with_gradient(largest, definition, scores, labels)


def _small_largest(needs_grad: list[bool], scores: Tensor, labels: Tensor) -> Summed:
    differences = scores.unsqueeze(1) - scores
    differences.masked_fill_(labels.unsqueeze(1) >= labels, -torch.inf)
    value = differences.max()
    loss = value.clamp(min=0)
    if not any(needs_grad):
        return loss, ()
    chosen = differences.eq(value).mul_(value >= 0).to(scores.dtype)
    by_row = chosen.sum(1)
    return loss, ((by_row - chosen.sum(0)).div_(by_row.sum().clamp_min_(1)), None)


def _largest(needs_grad: list[bool], scores: Tensor, labels: Tensor) -> Summed:
    labels, order = labels.sort()
    scores = scores[order]
    below = torch.searchsorted(labels, labels)  # how many stand below each
    best = scores.cummax(0).values
    last = (below - 1).clamp_min(0)
    gaps = (best[last] - scores).masked_fill(below == 0, -torch.inf)
    value = gaps.max()
    if not any(needs_grad):
        return value.clamp(min=0), ()
    # The best score so far is constant over a stretch, in which it may be reached several times.
    start = torch.searchsorted(best, best)
    end = torch.searchsorted(best, best, right=True)
    chosen = ((gaps == value) & (value >= 0)).to(scores.dtype)
    reached = (scores == best).to(scores.dtype)
    sums = _before(reached)
    falling = chosen * (sums[below] - sums[start[last]])
    later = _before(torch.zeros_like(chosen).scatter_add_(0, last, chosen))
    rising = reached * (later[end] - later[:-1])
    pull = (rising - falling) / falling.sum().clamp_min(1)
    return value.clamp(min=0), (torch.empty_like(pull).scatter_(0, order, pull), None)


def _before(numbers: Tensor) -> Tensor:
    """Return the sum before each place, and before the end: one more than there are numbers."""
    sums = numbers.new_zeros(len(numbers) + 1)
    torch.cumsum(numbers, 0, out=sums[1:])
    return sums
