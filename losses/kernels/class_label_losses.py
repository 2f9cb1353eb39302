"""Losses on the cosines of all pairs of a batch, grouped by class, without the N×N matrix.

Similarities are symmetric: one block is formed for each pair of row blocks, and read from both
sides. Every loss passes over the blocks once or twice for its row sums, and once more for the
gradient. Sums over positives only are sums over each class.

The losses are those of `value_with_gradient.with_gradient`: given which inputs need a gradient,
they return their value and a gradient for each input.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from lossprism.losses.geometry import dot_matrix, unit_and_pull
from lossprism.losses.input_checks import may_ask
from lossprism.losses.kernels.stable_functions import exp_, flush_, softplus
from lossprism.losses.kernels.tile_sizes import max_matrix_rows

Exact = tuple[Tensor, Sequence[Tensor | None]]


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
    units, pull = unit_and_pull(embeddings)
    queued, pull_queue = unit_and_pull(units[:0] if queue is None else queue)
    keys = torch.cat((units, queued))
    numbers = class_numbers(
        classes if queue_classes is None else torch.cat((classes, queue_classes))
    )
    own = numbers[: len(units)]
    sizes = class_sums(numbers, torch.ones_like(keys[:, 0]))
    positives = sizes[own] - int(not include_self)
    valid = positives > 0
    share = valid.to(units.dtype)  # of each anchor in the mean
    share /= len(units) if zeros else share.sum().clamp_min(1)
    attracting = class_sums(numbers, keys)[own]
    if not include_self:
        attracting -= units
    attracting /= positives.clamp_min(1)[:, None]
    attraction = (units * attracting).sum(dim=1) / temperature

    def logits_of(rows: slice, columns: slice, similarities: Tensor) -> Tensor:
        logits = similarities / temperature
        return logits if include_self else without_self(rows, columns, logits)

    pairs = PairBlocks(units)
    partition = RunningSum(units)
    for rows, columns, similarities in pairs.blocks():
        partition.add(rows, columns, logits_of(rows, columns, similarities))
    for rows, _, similarities in blocks_against(units, queued):
        partition.add_rows(rows, similarities / temperature)
    per_anchor = (partition.log() - attraction).masked_fill(~valid, 0)
    loss = (share * per_anchor).sum()
    if not any(needs_grad):
        return loss, ()

    level = (partition.log() - share.log()).masked_fill(~valid, torch.inf)

    def weights_of(rows: slice, columns: slice, similarities: Tensor) -> Tensor:
        logits = logits_of(rows, columns, similarities)
        return exp_(logits - level[rows, None]) + exp_(logits - level[columns])

    to_units = pairs.pulled(weights_of)
    to_queue = torch.zeros_like(queued)
    for rows, columns, similarities in blocks_against(units, queued):
        weights = exp_(similarities / temperature - level[rows, None])
        to_units[rows].addmm_(weights, queued[columns])
        to_queue[columns].addmm_(weights.T, units[rows])
    per_positive = share / positives.clamp_min(1)
    attracted = class_sums(own, units * per_positive[:, None], len(keys))
    to_units -= share[:, None] * attracting + attracted[own]
    if not include_self:
        to_units += units * per_positive[:, None]
    to_queue -= attracted[numbers[len(units) :]]
    to_units /= temperature
    to_queue /= temperature
    by_temperature = temperature_gradient(temperature, (units, to_units), (queued, to_queue))
    by_queue = None if queue is None else pull_queue(to_queue)
    return loss, (pull(to_units), None, by_queue, None, by_temperature, None, None)


def several_positives(
    needs_grad: Sequence[bool], embeddings: Tensor, classes: Tensor, temperature: float | Tensor
) -> Exact:
    """NT-Xent with a softmax for each positive pair, against the negatives of its anchor."""
    units, pull = unit_and_pull(embeddings)
    pairs = ClassBlocks(units, classes)
    sizes = class_sums(pairs.numbers, torch.ones_like(units[:, 0]))
    count = (sizes * (sizes - 1)).sum().clamp_min(1)

    negatives = RunningSum(units)
    for rows, columns, similarities in pairs.blocks():
        logits = similarities / temperature
        if pairs.may_meet(rows, columns):
            logits.masked_fill_(pairs.alike(rows, columns), -torch.inf)
        negatives.add(rows, columns, logits)
    level = negatives.log()
    total = units.new_zeros(())
    missed = torch.zeros_like(level)  # how much of its positives an anchor gives to negatives
    for rows, columns, similarities in pairs.blocks():
        if pairs.may_meet(rows, columns):
            strangers = ~pairs.alike(rows, columns)
            positive = (similarities / temperature).masked_fill_(strangers, torch.inf)
            positive = without_self(rows, columns, positive, torch.inf)
            for here, there in both_ways(rows, columns, positive):
                excess = level[here, None] - there
                total += softplus(excess).sum()
                missed[here] += excess.sigmoid_().sum(dim=1)
    loss = total / count
    if not any(needs_grad):
        return loss, ()

    spread = (level - missed.log()).masked_fill(missed == 0, torch.inf)

    def weights_of(rows: slice, columns: slice, similarities: Tensor) -> Tensor:
        logits = similarities / temperature
        weights = exp_(logits - spread[rows, None]) + exp_(logits - spread[columns])
        if pairs.may_meet(rows, columns):
            pull = (level[rows, None] - logits).sigmoid_() + (level[columns] - logits).sigmoid_()
            pull = without_self(rows, columns, pull.neg_(), 0)
            weights = torch.where(pairs.alike(rows, columns), pull, weights)
        return weights

    to_units = pairs.pulled(weights_of) / (count * temperature)
    by_temperature = temperature_gradient(temperature, (units, to_units))
    return loss, (pull(to_units), None, by_temperature)


def paced_circle(
    needs_grad: Sequence[bool], embeddings: Tensor, classes: Tensor, scale: float, margin: float
) -> Exact:
    """Self-paced Circle: a softplus for each anchor, the mean over those that are not 0."""
    units, pull = unit_and_pull(embeddings)
    pairs = ClassBlocks(units, classes)

    def paced(mirrored: Tensor) -> tuple[Tensor, Tensor]:
        slope = (mirrored + margin).relu_().mul_(scale)
        return slope, (mirrored - margin).mul_(slope)

    positives, negatives = RunningSum(units), RunningSum(units)
    for rows, columns, similarities in pairs.blocks():
        _, logits = paced(similarities)
        if pairs.may_meet(rows, columns):
            alike = pairs.alike(rows, columns)
            logits.masked_fill_(alike, -torch.inf)
            # A positive at s has the logit of a negative at 1 − s.
            attracted = paced(1 - similarities)[1].masked_fill_(~alike, -torch.inf)
            positives.add(rows, columns, without_self(rows, columns, attracted))
        negatives.add(rows, columns, logits)
    sums = positives.log() + negatives.log()
    per_anchor = softplus(sums)
    anchors = (per_anchor > 0).sum().clamp_min(1)
    loss = per_anchor.sum() / anchors
    if not any(needs_grad):
        return loss, ()

    weight = (sums.sigmoid() / anchors).log()
    absent = weight.isneginf()
    positive_level = (positives.log() - weight).masked_fill(absent, torch.inf)
    negative_level = (negatives.log() - weight).masked_fill(absent, torch.inf)

    def weights_of(rows: slice, columns: slice, similarities: Tensor) -> Tensor:
        weights = slopes(*paced(similarities), negative_level[rows, None], negative_level[columns])
        if pairs.may_meet(rows, columns):
            towards = paced(1 - similarities)
            pull = slopes(*towards, positive_level[rows, None], positive_level[columns])
            pull = without_self(rows, columns, pull.neg_(), 0)
            weights = torch.where(pairs.alike(rows, columns), pull, weights)
        return weights

    def slopes(slope: Tensor, logits: Tensor, by_row: Tensor, by_column: Tensor) -> Tensor:
        shares = exp_(logits - by_row)
        return shares.add_(exp_(logits.sub_(by_column))).mul_(slope)

    return loss, (pull(pairs.pulled(weights_of)), None, None, None)


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
    units, pull = unit_and_pull(embeddings)
    pairs = ClassBlocks(units, classes)
    count = len(units)
    beyond = units.new_full((2, count), torch.inf)
    nearest, farthest = -beyond[0], beyond[1]  # negative, positive of each anchor
    if hard_only:
        for rows, columns, similarities in pairs.blocks():
            away = similarities
            if pairs.may_meet(rows, columns):
                alike = pairs.alike(rows, columns)
                within = without_self(
                    rows, columns, similarities.masked_fill(~alike, torch.inf), torch.inf
                )
                for here, there in both_ways(rows, columns, within):
                    farthest[here] = torch.minimum(farthest[here], there.amin(dim=1))
                away = similarities.masked_fill(alike, -torch.inf)
            for here, there in both_ways(rows, columns, away):
                nearest[here] = torch.maximum(nearest[here], there.amax(dim=1))

    def positive_of(here: slice, itself: bool, similarities: Tensor, strangers: Tensor) -> Tensor:
        """Return the logits of the positives of some anchors, −inf without any."""
        logits = (similarities - threshold).mul_(-positive_scale)
        logits.masked_fill_(strangers, -torch.inf)
        if hard_only:
            logits.masked_fill_(similarities >= nearest[here, None] + margin, -torch.inf)
        return logits.fill_diagonal_(-torch.inf) if itself else logits

    def negative_of(here: slice, similarities: Tensor, alike: Tensor | None) -> Tensor:
        logits = (similarities - threshold).mul_(negative_scale)
        if alike is not None:
            logits.masked_fill_(alike, -torch.inf)
        if hard_only:
            logits.masked_fill_(similarities <= farthest[here, None] - margin, -torch.inf)
        return logits

    def views(rows: slice, columns: slice, similarities: Tensor):
        """Yield the anchors of a block with its logits, from both sides."""
        alike = pairs.alike(rows, columns) if pairs.may_meet(rows, columns) else None
        for here, there in both_ways(rows, columns, similarities):
            same = alike if alike is None or here == rows else alike.T
            near = None if same is None else positive_of(here, rows == columns, there, ~same)
            yield here, near, negative_of(here, there, same)

    positives, negatives = RunningSum(units), RunningSum(units)
    for block in pairs.blocks():
        for here, near, away in views(*block):
            negatives.add_rows(here, away)
            if near is not None:
                positives.add_rows(here, near)
    positive, negative = softplus(positives.log()), softplus(negatives.log())
    loss = (positive / positive_scale + negative / negative_scale).mean()
    if not any(needs_grad):
        return loss, ()

    def weights_of(rows: slice, columns: slice, similarities: Tensor) -> Tensor:
        both = torch.zeros_like(similarities)
        for here, near, away in views(rows, columns, similarities):
            weights = exp_(away.sub_(negative[here, None]))
            if near is not None:
                weights.sub_(exp_(near.sub_(positive[here, None])))
            both += weights if here == rows else weights.T
            if rows == columns:
                both += weights.T
        return both

    gradient = pull(pairs.pulled(weights_of).div_(count))
    return loss, (gradient, *[None] * 6)


def uniform(needs_grad: Sequence[bool], embeddings: Tensor, t: float) -> Exact:
    """log of the mean of e^{−t d²} over all pairs of directions, whatever their class."""
    units, pull = unit_and_pull(embeddings)
    pairs, sums = PairBlocks(units), RunningSum(units)

    def logits_of(rows: slice, columns: slice, similarities: Tensor) -> Tensor:
        return without_self(rows, columns, similarities * (2 * t))

    for rows, columns, similarities in pairs.blocks():
        sums.add(rows, columns, logits_of(rows, columns, similarities))
    total = sums.log().logsumexp(dim=0)
    loss = total - 2 * t - math.log(len(units) * (len(units) - 1))
    if not any(needs_grad):
        return loss, ()

    def weights_of(rows: slice, columns: slice, similarities: Tensor) -> Tensor:
        return logits_of(rows, columns, similarities).sub_(total).exp_()

    return loss, (pull(pairs.pulled(weights_of).mul_(4 * t)), None)


class PairBlocks:
    """The pairs of a batch as blocks of its matrix of similarities, the diagonal and above.

    Blocks are recomputed for every pass, or stored for all passes if they are few.
    """

    most_held = 2**26  # bytes

    def __init__(self, units: Tensor) -> None:
        self.units = units
        parts = parts_of(units)
        self.places = [(rows, columns) for i, rows in enumerate(parts) for columns in parts[i:]]
        count = len(units)
        self.holds = count * count // 2 * units.element_size() <= self.most_held
        self.stored: list[Tensor] = []

    def blocks(self) -> Iterator[tuple[slice, slice, Tensor]]:
        for place, (rows, columns) in enumerate(self.places):
            if place < len(self.stored):
                block = self.stored[place]
            else:
                block = dot_matrix(self.units[rows], self.units[columns])
                if self.holds:
                    self.stored.append(block)
            yield rows, columns, block

    def pulled(self, weights_of: Callable[[slice, slice, Tensor], Tensor]) -> Tensor:
        """Return Σ_k (G_ik + G_ki) u_k, the gradient of row i; `weights_of` returns a block of G +
        Gᵀ."""
        gradient = torch.zeros_like(self.units)
        for rows, columns, similarities in self.blocks():
            weights = flush_(weights_of(rows, columns, similarities))
            gradient[rows].addmm_(weights, self.units[columns])
            if rows != columns:
                gradient[columns].addmm_(weights.T, self.units[rows])
        return gradient


class ClassBlocks(PairBlocks):
    """Pair blocks in the order of classes, so that only those near the diagonal hold
    positives."""

    def __init__(self, units: Tensor, classes: Tensor) -> None:
        numbers = class_numbers(classes)
        self.numbers, self.order = numbers.sort()
        super().__init__(units[self.order])
        ends = None
        if may_ask(classes):  # elsewhere the answer would stop the queue
            ends = {(p.start, p.stop): self.numbers[p][[0, -1]].tolist() for p in parts_of(units)}
        self.ends = ends

    def may_meet(self, rows: slice, columns: slice) -> bool:
        """Return whether the block may hold two sentences of one class."""
        if self.ends is None:
            return True
        return self.ends[rows.start, rows.stop][1] >= self.ends[columns.start, columns.stop][0]

    def alike(self, rows: slice, columns: slice) -> Tensor:
        return self.numbers[rows, None] == self.numbers[columns]

    def pulled(self, weights_of: Callable[[slice, slice, Tensor], Tensor]) -> Tensor:
        sorted_gradient = super().pulled(weights_of)
        return torch.empty_like(sorted_gradient).index_copy_(0, self.order, sorted_gradient)


class RunningSum:
    """Accumulator of log Σ exp of the terms of each row, block by block; −inf for a row without
    any."""

    def __init__(self, like: Tensor) -> None:
        self.largest = like.new_full((len(like),), torch.finfo(like.dtype).min)
        self.total = like.new_zeros(len(like))

    def add(self, rows: slice, columns: slice, terms: Tensor) -> None:
        for here, there in both_ways(rows, columns, terms):
            self.add_rows(here, there)

    def add_rows(self, rows: slice, terms: Tensor) -> None:
        before = self.largest[rows]
        largest = torch.maximum(before, terms.amax(dim=1))
        added = (terms - largest[:, None]).exp_().sum(dim=1)
        self.total[rows] = self.total[rows] * (before - largest).exp_() + added
        self.largest[rows] = largest

    def log(self) -> Tensor:
        return self.largest + self.total.log()


def both_ways(rows: slice, columns: slice, block: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Yield a block for its rows, and, off the diagonal, its transpose for its columns."""
    yield rows, block
    if rows != columns:
        yield columns, block.T


def without_self(rows: slice, columns: slice, block: Tensor, value: float = -torch.inf) -> Tensor:
    """Return the block with `value` on the diagonal of the matrix."""
    return block.fill_diagonal_(value) if rows == columns else block


def temperature_gradient(
    temperature: float | Tensor, *pulls: tuple[Tensor, Tensor]
) -> Tensor | None:
    """Return ∂L/∂τ from (unit vectors, their gradients), if L depends on cosines / τ alone.

    Every product of two vectors is in the sum twice, once for each of them.
    """
    if not isinstance(temperature, Tensor):
        return None
    along = sum((units * gradient).sum() for units, gradient in pulls)
    return (-along / (2 * temperature)).reshape(temperature.shape)


def blocks_against(units: Tensor, queue: Tensor) -> Iterator[tuple[slice, slice, Tensor]]:
    for rows in parts_of(units):
        for columns in parts_of(queue):
            yield rows, columns, dot_matrix(units[rows], queue[columns])


def parts_of(rows: Tensor) -> list[slice]:
    """Split rows into pieces whose block stays in the cache, or fills an accelerator."""
    size = 512 if rows.device.type == "cpu" else 8192
    return [slice(start, start + size) for start in range(0, len(rows), size)]


def is_small(rows: int, like: Tensor, columns: int = 0, *, side: int = 256) -> bool:
    """Return whether one matrix of the batch (`small_batch_losses`) is as fast, and small enough.

    True up to `side` rows on a processor, and up to more on an accelerator.
    """
    side = max_matrix_rows(side, like)
    return rows * (rows + columns) < side * side


def class_numbers(classes: Tensor) -> Tensor:
    """Number the classes [N] from 0 without gaps, so that N bounds them on any device."""
    ordered, order = classes.sort()
    steps = torch.zeros_like(order)
    steps[1:] = ordered[1:] != ordered[:-1]
    return torch.empty_like(order).scatter_(0, order, steps.cumsum(0))


def class_sums(numbers: Tensor, values: Tensor, count: int | None = None) -> Tensor:
    """Return Σ of the values [N, …] of each class."""
    sums = values.new_zeros(len(values) if count is None else count, *values.shape[1:])
    return sums.index_add_(0, numbers, values)
