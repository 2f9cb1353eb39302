"""Losses of a batch so small that a step costs more than its cells.

Losses that `query_key_losses_by_tiles`, `class_label_losses` and `mined_triplets` compute in blocks
are one matrix here, in as few steps as possible: the definition under autograd takes about twice as
many.

The losses are those of `value_with_gradient.with_gradient`: given which inputs need a gradient,
they return their value and a gradient for each input.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lossprism.losses.duplicate_text_masks import absent_by
from lossprism.losses.geometry import unit_and_pull
from lossprism.losses.input_checks import may_ask, must_be_finite, must_be_made_of_finite
from lossprism.losses.kernels.class_label_losses import temperature_gradient
from lossprism.losses.kernels.mined_triplets import TERMS, Distances, Rows, number_of_terms
from lossprism.losses.kernels.query_key_losses_by_tiles import MAX_UNSHIFTED, Directions
from lossprism.losses.kernels.stable_functions import exp_, flush_, softplus

Exact = tuple[Tensor, Sequence[Tensor | None]]

ALL_ROWS = slice(None)


def softmax(
    needs_grad: Sequence[bool],
    embeddings: Tensor,
    prototypes: Tensor,
    classes: Tensor,
    *,
    logits: Tensor | None = None,
) -> Exact:
    """Compute each row's softmax over the prototypes; their products are `logits`, if known. Raises
    for NaN and inf of both, unless they are."""
    if logits is None:
        logits = embeddings @ prototypes.T
        must_be_made_of_finite(logits, embeddings=embeddings, prototypes=prototypes)
    own, count = classes[:, None], len(logits)
    slopes = logits.log_softmax(dim=1)
    logarithms = slopes.gather(1, own)
    exp_(slopes, count).scatter_(1, own, 0)
    others = slopes.sum(dim=1, keepdim=True).neg_()
    # The digits of a small loss are in what the others have, those of a large one in its logarithm.
    # Each one's share is summed: the mean may fit where the sum would overflow.
    loss = torch.where(others > -0.5, others.log1p(), logarithms).mul_(-1 / count).sum()
    slopes.scatter_(1, own, others).div_(count)
    by_embeddings = slopes @ prototypes if needs_grad[0] else None
    by_prototypes = slopes.T @ embeddings if needs_grad[1] else None
    return loss, (by_embeddings, by_prototypes, None)


def in_batch(
    needs_grad: Sequence[bool],
    queries: Tensor,
    keys: Tensor,
    scale: float | Tensor,
    of_queries: Tensor | None,
    of_keys: Tensor | None,
) -> Exact:
    """Compute InfoNCE: each query's own key against all keys but those of its text, by scale · cos.
    Raises for NaN and inf of both."""

    def compared(logits: Tensor) -> tuple[Tensor, Tensor]:
        if of_queries is not None and of_keys is not None:
            left_out = absent_by(of_queries, of_keys, of_keys)(ALL_ROWS)
            logits.masked_fill_(left_out.fill_diagonal_(False), -torch.inf)
        slopes = logits.log_softmax(dim=1)
        own = slopes.diagonal()  # a step on a diagonal takes half as long as one on places
        logarithms = own.clone()
        exp_(slopes)
        own.zero_()
        others = slopes.sum(dim=1).neg_()
        # As in `softmax`: the digits of a small loss are in what the others have.
        loss = torch.where(others > -0.5, others.log1p(), logarithms).mean().neg_()
        own.copy_(others)
        return loss, slopes

    loss, gradients = _by_cosines(needs_grad, queries, keys, scale, compared, 1 / len(queries))
    return loss, (*gradients, None, None)


def against_targets(
    needs_grad: Sequence[bool],
    queries: Tensor,
    keys: Tensor,
    targets: Tensor,
    scale: float | Tensor,
) -> Exact:
    """Compute the cross-entropy of each query's softmax over scale · cos with its targets [N, K].
    Raises for NaN and inf of queries and keys."""
    by_targets = None

    def compared(logits: Tensor) -> tuple[Tensor, Tensor]:
        nonlocal by_targets
        shares = logits.log_softmax(dim=1)
        # Each one's share is summed: the mean may fit where the sum would overflow.
        weights = targets.to(logits.dtype) / len(logits)
        loss = -(weights * shares).sum()
        if needs_grad[2]:
            by_targets = shares.div(-len(logits)).to(targets.dtype)
        return loss, flush_(exp_(shares).mul_(weights.sum(dim=1, keepdim=True)).sub_(weights))

    loss, (by_queries, by_keys, by_scale) = _by_cosines(needs_grad, queries, keys, scale, compared)
    return loss, (by_queries, by_keys, by_targets, by_scale)


def _by_cosines(
    needs_grad: Sequence[bool],
    queries: Tensor,
    keys: Tensor,
    scale: float | Tensor,
    compared: Callable[[Tensor], tuple[Tensor, Tensor]],
    share: float = 1.0,
) -> Exact:
    """Compute a loss of scale · cos [N, K], whose value and slopes `compared` returns, times
    `share`; and the gradient by queries, keys and scale."""
    sizes = [len(queries), len(keys)]
    points = Directions(torch.cat((queries, keys)), needs_grad=False)
    largest = points.divisors.largest
    if largest is not None and not math.isfinite(largest):
        must_be_finite("queries", queries)
        must_be_finite("keys", keys)
    rows, columns = points.units.split(sizes)
    loss, slopes = compared((rows @ columns.T).mul_(scale))
    if not any(needs_grad):
        return loss, (None, None, None)
    points.gradient = torch.empty_like(points.units)
    gradients = points.gradient.split(sizes)
    torch.mm(slopes, columns, out=gradients[0])
    torch.mm(slopes.T, rows, out=gradients[1])
    _, by_scale = points.pull_back(share, scale)  # in its place
    return loss, (*gradients, by_scale)


def supervised(
    needs_grad: Sequence[bool],
    embeddings: Tensor,
    classes: Tensor,
    queue: Tensor | None,
    queue_classes: Tensor | None,
    temperature: float | Tensor,
    include_self: bool,
    zeros: bool,
) -> Exact:
    """SupCon. With `zeros`, an anchor without a positive counts as a zero in the mean."""
    count = len(embeddings)
    key_classes = classes if queue_classes is None else torch.cat((classes, queue_classes))
    positive = classes[:, None] == key_classes
    if not include_self:
        positive.fill_diagonal_(False)
    if known_to_be_absent(positive):
        return nothing(
            needs_grad, embeddings, classes, queue, queue_classes, temperature, None, None
        )
    units, pull = unit_and_pull(embeddings)
    of_queue = None if queue is None else unit_and_pull(queue)
    keys = units if of_queue is None else torch.cat((units, of_queue[0]))
    logits = (units @ keys.T).div_(temperature)
    if not include_self:  # below all others, and yet 0 when multiplied by no weight
        logits.fill_diagonal_(torch.finfo(logits.dtype).min)
    logarithms = logits.log_softmax(dim=1)
    weights = positive.to(units.dtype)
    sizes = weights.sum(dim=1, keepdim=True)
    anchors = count if zeros else sizes.count_nonzero().clamp_min(1)
    weights.div_(sizes.clamp_min(1).mul_(anchors))
    loss = -(weights * logarithms).sum()  # a dot product would add up less exactly
    if not any(needs_grad):
        return loss, ()
    slopes = flush_(exp_(logarithms).mul_(weights.sum(dim=1, keepdim=True)).sub_(weights))
    to_keys = slopes.T @ units
    to_units = to_keys[:count].addmm(slopes, keys).div_(temperature)
    by_queue, pulls = None, [(units, to_units)]
    if of_queue is not None:
        queued, pull_queue = of_queue
        to_queue = to_keys[count:].div_(temperature)
        by_queue = pull_queue(to_queue)
        pulls.append((queued, to_queue))
    by_temperature = temperature_gradient(temperature, *pulls)
    return loss, (pull(to_units), None, by_queue, None, by_temperature, None, None)


def several_positives(
    needs_grad: Sequence[bool], embeddings: Tensor, classes: Tensor, temperature: float | Tensor
) -> Exact:
    """NT-Xent with a softmax for each positive pair, against the negatives of its anchor."""
    alike = classes[:, None] == classes
    positive = alike.clone().fill_diagonal_(False)
    if known_to_be_absent(positive):
        return nothing(needs_grad, embeddings, classes, temperature)
    units, pull = unit_and_pull(embeddings)
    logits = (units @ units.T).div_(temperature)
    noise = logits.masked_fill(alike, -torch.inf)
    level = noise.logsumexp(dim=1, keepdim=True).clamp_min_(torch.finfo(noise.dtype).min)
    excess = (level - logits).masked_fill_(~positive, -torch.inf)
    count = positive.sum().clamp_min(1)
    loss = softplus(excess).sum() / count
    if not any(needs_grad):
        return loss, ()
    missed = excess.sigmoid_().div_(count)
    slopes = flush_(exp_(noise.sub_(level)).mul_(missed.sum(dim=1, keepdim=True)).sub_(missed))
    to_units = ((slopes + slopes.T) @ units).div_(temperature)
    by_temperature = temperature_gradient(temperature, (units, to_units))
    return loss, (pull(to_units), None, by_temperature)


def paced_circle(
    needs_grad: Sequence[bool], embeddings: Tensor, classes: Tensor, scale: float, margin: float
) -> Exact:
    """Self-paced Circle: a softplus for each anchor, the mean over those that are not 0."""
    alike = classes[:, None] == classes
    if known_to_be_absent(alike.clone().fill_diagonal_(False)) or known_to_be_absent(~alike):
        return nothing(needs_grad, embeddings, classes, None, None)
    units, pull = unit_and_pull(embeddings)
    similarities = units @ units.T
    # A positive at s has the logit of a negative at 1 − s.
    mirrored = torch.where(alike, 1 - similarities, similarities)
    slopes = (mirrored + margin).relu_().mul_(scale)
    logits = (mirrored - margin).mul_(slopes).fill_diagonal_(-torch.inf)
    positive = logits.masked_fill(~alike, -torch.inf).logsumexp(dim=1, keepdim=True)
    negative = logits.masked_fill(alike, -torch.inf).logsumexp(dim=1, keepdim=True)
    totals = positive + negative
    per_anchor = softplus(totals)
    anchors = per_anchor.count_nonzero().clamp_min(1)
    loss = per_anchor.sum() / anchors
    if not any(needs_grad):
        return loss, ()
    shares = totals.sigmoid_().div_(anchors)
    level = torch.where(alike, positive, negative).clamp_min_(torch.finfo(units.dtype).min)
    slopes.mul_(exp_(logits.sub_(level))).mul_(shares)
    slopes = torch.where(alike, -slopes, slopes)
    return loss, (pull((slopes + slopes.T) @ units), None, None, None)


def two_sided(
    needs_grad: Sequence[bool],
    embeddings: Tensor,
    classes: Tensor,
    hard_only: bool,
    positive_scale: float,
    negative_scale: float,
    threshold: float,
    margin: float,
) -> Exact:
    """Multi-Similarity: a logarithm of each anchor's positives and one of its negatives."""
    count = len(embeddings)
    alike = classes[:, None] == classes
    if hard_only and no_two(alike):
        return nothing(needs_grad, embeddings, classes, *[None] * 5)
    units, pull = unit_and_pull(embeddings)
    similarities = units @ units.T
    signs = torch.full_like(similarities, negative_scale).masked_fill_(alike, -positive_scale)
    logits = (similarities - threshold).mul_(signs).fill_diagonal_(-torch.inf)
    if hard_only:
        nearest = similarities.masked_fill(alike, -torch.inf).amax(dim=1, keepdim=True)
        similarities.fill_diagonal_(torch.inf)
        farthest = similarities.masked_fill(~alike, torch.inf).amin(dim=1, keepdim=True)
        easy = torch.where(
            alike, similarities >= nearest + margin, similarities <= farthest - margin
        )
        logits.masked_fill_(easy, -torch.inf)
    sums = torch.stack(
        (logits.masked_fill(~alike, -torch.inf), logits.masked_fill(alike, -torch.inf))
    )
    sums = softplus(sums.logsumexp(dim=2, keepdim=True))
    positive, negative = sums
    loss = (positive / positive_scale + negative / negative_scale).mean()
    if not any(needs_grad):
        return loss, ()
    slopes = exp_(logits.sub_(torch.where(alike, positive, negative)))
    slopes.mul_(signs.sign_().div_(count))
    gradient = pull((slopes + slopes.T) @ units)
    return loss, (gradient, *[None] * 6)


def uniform(needs_grad: Sequence[bool], embeddings: Tensor, t: float) -> Exact:
    """log of the mean of e^{−t d²} over all pairs of directions."""
    units, pull = unit_and_pull(embeddings)
    logits = (units @ units.T).mul_(2 * t).fill_diagonal_(-torch.inf)
    shift = 0 if abs(2 * t) <= MAX_UNSHIFTED else logits.max()
    weights = (logits.sub_(shift) if isinstance(shift, Tensor) else logits).exp_()
    total = weights.sum()
    pairs = len(units) * (len(units) - 1)
    loss = total.log() + (shift - 2 * t - math.log(pairs))
    if not any(needs_grad):
        return loss, ()
    return loss, (pull((weights @ units).mul_(4 * t / total)), None)


def mined(
    needs_grad: Sequence[bool],
    anchors: Tensor,
    classes: Tensor,
    mining: str,
    margin: float,
    distance: str,
) -> Exact:
    """Compute the same as `mined_triplets.mined`, from the matrix of all distances."""
    alike = classes[:, None] == classes
    sizes = alike.sum(dim=1)
    most = len(anchors)
    if may_ask(anchors):
        least, most = (int(one) for one in sizes.aminmax())
        if most == 1 or least == len(anchors):
            return nothing(needs_grad, anchors, classes, None, None, None)
    measure = Distances(anchors, distance, at_once=True)
    distances = measure(ALL_ROWS, ALL_ROWS)
    within = torch.where(alike, distances, -torch.inf).fill_diagonal_(-torch.inf)
    if mining in ("hard", "soft_hard"):
        to_positive, positives = within.max(dim=1, keepdim=True)  # the first of equals
    else:
        to_positive, positives = within.topk(most - 1, dim=1, sorted=False)
    rows = Rows(distances, alike, positives, to_positive)
    total, active, slopes = TERMS[mining](rows, margin)
    count = number_of_terms(mining, sizes, active).clamp_min(1)
    loss = (total / count).to(anchors.dtype)
    if not any(needs_grad):
        return loss, ()
    return loss, (measure.pulled(distances, slopes.div_(count)), None, None, None, None)


def known_to_be_absent(chosen: Tensor) -> bool:
    """Return whether no cell is chosen; False if reading that would block."""
    return may_ask(chosen) and not chosen.any().item()


def no_two(alike: Tensor) -> bool:
    """Return whether no two are of one class; False if reading that would block."""
    return may_ask(alike) and int(alike.count_nonzero()) == len(alike)


def nothing(needs_grad: Sequence[bool], *given: *tuple[Tensor, *tuple[object, ...]]) -> Exact:
    """Return the loss without a term: 0, with gradients of 0."""
    gradients = [
        torch.zeros_like(one) if needed and isinstance(one, Tensor) else None
        for one, needed in zip(given, needs_grad, strict=True)
    ]
    return given[0].new_zeros(()), gradients
