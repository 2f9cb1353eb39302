"""What the numbers of a trace mean: figures, heaviest terms, labels that look wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.core.batch import Batch
from explorer.core.trace import Trace
from losses import LossSpec
from losses.geometry import cosine_matrix, unit

# The fewest terms that together carry this share of all weight are the active ones.
ACTIVE_SHARE = 0.9
# A pair is suspect if it contradicts at least this share of the pairs it is ordered against,
# and this many times the share that an average pair contradicts.
SUSPECT_RATE = 0.2
SUSPECT_FACTOR = 2.0
# Where this share of the batches without a wrong label lie.
CLEAN_SHARE = 0.98
# Cells of several batches that are compared at once.
CELLS = 2**20


@dataclass(frozen=True)
class Order:
    """How far the scores follow the labels: counts over all pairs of pairs."""

    ordered: int
    violated: int
    spearman: float | None


@dataclass(frozen=True)
class Places:
    """Where the right one stands among all that an anchor is compared with.

    `kind` says what it looks for: its own "key", another of its "class", its "prototype".
    `first` of the `anchors` have it nearer than every wrong one; `reciprocal` is the mean of
    1/rank.
    """

    kind: str
    anchors: int
    first: int
    reciprocal: float


@dataclass(frozen=True)
class Weights:
    """How ∂loss/∂terms is spread over the terms. `shares` has their shape and sums to 1.

    `active` is how many terms carry ACTIVE_SHARE at least, `carried` what they carry.
    """

    shares: Tensor
    terms: int
    active: int
    carried: float
    effective: float


@dataclass(frozen=True)
class Term:
    """One heavy term: its cell, its share of the weight, and the share up to and with it."""

    cell: tuple[int, ...]
    value: float
    share: float
    so_far: float


@dataclass(frozen=True)
class Suspect:
    """A pair whose label its score contradicts: how often, and which label its score would fit."""

    pair: int
    rate: float
    fitting: float


def order_of(batch: Batch) -> Order:
    """Ordered and violated pairs of pairs, and the rank correlation, of a batch's scores."""
    lower, higher = _ordered(batch)
    return Order(ordered=int(lower.sum()), violated=int(higher.sum()), spearman=_spearman(batch))


def _ordered(batch: Batch) -> tuple[Tensor, Tensor]:
    """[N, N] row j, column i: y_j < y_i, and of those the cells where s_j > s_i all the same."""
    ordered = batch.labels[:, None] < batch.labels[None, :]
    return ordered, ordered & (batch.scores[:, None] > batch.scores[None, :])


def _spearman(batch: Batch) -> float | None:
    from scipy.stats import spearmanr  # after the page is up: scipy.stats takes its time

    scores, labels = batch.scores.cpu().numpy(), batch.labels.cpu().numpy()
    if len(scores) < 2 or scores.min() == scores.max() or labels.min() == labels.max():
        return None  # nothing to rank
    return float(spearmanr(scores, labels)[0])


def places_of(given: dict[str, Tensor | None], logits: Tensor | None = None) -> Places | None:
    """Where the right key, class or prototype stands, for a loss that looks for one; else None.

    `given` is what the loss reads, by its names in `losses.spec.READABLE`. Nearness is the
    cosine; for prototypes it is what the loss itself compares, `logits`.
    """
    classes = given.get("classes", given.get("paired_classes"))
    queries, keys, negatives = given.get("queries"), given.get("keys"), given.get("negatives")
    embeddings, prototypes = given.get("embeddings"), given.get("prototypes")
    if queries is not None and keys is not None:
        keys = keys if negatives is None else torch.cat((keys, negatives))
        near = cosine_matrix(queries, keys)
        right = torch.eye(*near.shape, dtype=torch.bool, device=near.device)
        return _places("key", near, right)
    if classes is None or embeddings is None:
        return None
    if prototypes is not None:
        near = cosine_matrix(embeddings, prototypes) if logits is None else logits
        numbers = torch.arange(near.shape[1], device=near.device)
        return _places("prototype", near, classes[:, None] == numbers)
    near = cosine_matrix(embeddings, embeddings)
    itself = torch.eye(len(near), dtype=torch.bool, device=near.device)
    right = (classes[:, None] == classes) & ~itself
    return _places("class", near.masked_fill(itself, -torch.inf), right)


def _places(kind: str, near: Tensor, right: Tensor) -> Places:
    """A wrong one that is just as near stands before the right one: collapse is no success."""
    found = right.any(dim=1)
    best = near.masked_fill(~right, -torch.inf).amax(dim=1)
    rank = 1 + ((near >= best[:, None]) & ~right).sum(dim=1)[found]
    mean = float((1 / rank.double()).mean()) if len(rank) else math.nan
    return Places(kind, int(found.sum()), int((rank == 1).sum()), mean)


def weights_of(trace: Trace, terms: str) -> Weights | None:
    """The weight of each term: the size of the gradient at the step called `terms`."""
    step = trace.last(terms)
    if step is None or step.gradient is None:
        return None
    sizes = step.gradient.abs()
    total = sizes.sum()
    mask = trace.mask_of(step)  # masked terms are absent, not terms of weight 0
    present = sizes.numel() if mask is None else int(mask.sum())
    if not bool(total > 0) or not bool(total.isfinite()):
        return Weights(torch.zeros_like(sizes), present, 0, 0.0, 0.0)
    shares = sizes / total
    # All terms below this together cannot reach what is left out, so none of them is active.
    candidates = shares[shares >= (1 - ACTIVE_SHARE) / shares.numel()]
    ranked = candidates.sort(descending=True).values.cumsum(0)
    # A sum that reaches the share exactly may have been rounded to just below it.
    rounding = shares.numel() * torch.finfo(shares.dtype).eps
    active = min(int((ranked < ACTIVE_SHARE - rounding).sum()) + 1, len(ranked))
    entropy = -torch.special.xlogy(shares, shares).sum()
    return Weights(shares, present, active, float(ranked[active - 1]), float(entropy.exp()))


def heaviest(trace: Trace, terms: str, weights: Weights, most: int = 20) -> list[Term]:
    """The terms that weigh most, heaviest first; of equal weights the largest value first."""
    values, shares = trace.named(terms).value, weights.shares.flatten()
    most = min(most, shares.numel())
    least = shares.topk(most).values[-1:].sum()  # 0 where there are no terms
    tied = values.flatten().masked_fill(shares < least, -torch.inf)
    chosen = tied.masked_fill(shares > least, torch.inf).topk(most).indices
    chosen = chosen[values.flatten()[chosen].argsort(descending=True, stable=True)]
    chosen = chosen[shares[chosen].argsort(descending=True, stable=True)]
    cells = torch.stack(torch.unravel_index(chosen, values.shape), dim=1).tolist()
    so_far = shares[chosen].cumsum(0).tolist()
    return [
        Term(tuple(cell), float(values[tuple(cell)]), share, total)
        for cell, share, total in zip(cells, shares[chosen].tolist(), so_far, strict=True)
        if share > 0
    ]


def suspects(batch: Batch) -> list[Suspect]:
    """Pairs on which the encoder and the label disagree: those that stand on the wrong side of far
    more others than is usual, the worst first. `disagreement` says how many there would be anyway.
    """
    ordered, violated = _ordered(batch)
    rate, least = _contradicted(ordered, violated)
    fitting = fitting_labels(batch)
    worst = rate.argsort(descending=True)
    return [
        Suspect(pair, float(rate[pair]), float(fitting[pair]))
        for pair in worst.tolist()
        if rate[pair] >= least[0] and fitting[pair] != batch.labels[pair]
    ]


def fitting_labels(batch: Batch) -> Tensor:
    """The label that would fit each pair, [N]: the one at its score's own rank among all labels."""
    return batch.labels.sort().values[batch.scores.argsort().argsort()]


def _contradicted(ordered: Tensor, violated: Tensor) -> tuple[Tensor, Tensor]:
    """The share of its comparisons that each pair contradicts, [..., N], and the least remarkable,
    [..., 1]; of one batch or of several."""
    against, wrong = _comparisons(ordered), _comparisons(violated)
    rate = wrong / against.clamp_min(1)
    # Each comparison is one of two pairs.
    usual = wrong.sum(-1) / against.sum().clamp_min(1)
    return rate, (SUSPECT_FACTOR * usual).clamp_min(SUSPECT_RATE)[..., None]


def _comparisons(cells: Tensor) -> Tensor:
    """How many of these cells [..., N, N] a pair stands in, by its row or its column. In 32 bits:
    torch adds bools to 64 several times as slowly."""
    return cells.sum(-2, dtype=torch.int32) + cells.sum(-1, dtype=torch.int32)


@dataclass(frozen=True)
class Disagreement:
    """How many suspects a batch without a wrong label would have, by its correlation alone: the
    mean over draws, and where CLEAN_SHARE of the draws lie."""

    expected: float
    low: int
    high: int


def disagreement(batch: Batch, draws: int = 60) -> Disagreement | None:
    """Draw batches with these labels in which nothing but even noise parts score and label, so that
    their rank correlation is this batch's; count their suspects.

    Score and label are jointly normal but for the grades of the label (a Gaussian copula). None
    where the correlation is not above 0.
    """
    spearman = _spearman(batch)
    if spearman is None or spearman <= 0:
        return None
    source = torch.Generator().manual_seed(0)
    labels = batch.labels.cpu().double().sort().values
    count = len(labels)
    # Labels are grades of something continuous: normal scores, in any order within a grade.
    quantiles = (torch.arange(count).double() + 0.5) / count
    truth = math.sqrt(2) * torch.erfinv(2 * quantiles - 1)
    noise = torch.randn(draws, count, generator=source, dtype=torch.float64)
    share = _share_of_truth(truth, labels, noise, spearman)
    scores = share * truth + math.sqrt(1 - share**2) * noise
    ordered = labels[:, None] < labels[None, :]
    some = max(CELLS // count**2, 1)
    counted = [_count_suspects(labels, part, ordered) for part in scores.split(some)]
    found = torch.cat(counted).double()
    edge = (1 - CLEAN_SHARE) / 2
    low, high = found.quantile(torch.tensor([edge, 1 - edge]).double(), interpolation="nearest")
    return Disagreement(float(found.mean()), int(low), int(high))


def _count_suspects(labels: Tensor, scores: Tensor, ordered: Tensor) -> Tensor:
    """As `suspects` counts them, in several batches [D, N] of labels in ascending order."""
    violated = ordered & (scores[:, :, None] > scores[:, None, :])
    rate, least = _contradicted(ordered, violated)
    fitting = labels[scores.argsort(dim=1).argsort(dim=1)]
    return ((rate >= least) & (fitting != labels)).sum(dim=1)


def _share_of_truth(truth: Tensor, labels: Tensor, noise: Tensor, wanted: float) -> float:
    """The part of the truth in a score at which score and label correlate as wanted."""
    below = (labels[:, None] > labels).sum(1) + (labels[:, None] >= labels).sum(1)
    ranks = below.double() - below.double().mean()  # twice the mid-ranks
    few = noise[:16]

    def correlation(share: float) -> float:
        scores = share * truth + math.sqrt(1 - share**2) * few
        own = scores.argsort(dim=1).argsort(dim=1).double()
        own -= own.mean(dim=1, keepdim=True)
        return float((own @ ranks / (own.norm(dim=1) * ranks.norm())).mean())

    low, high = 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if correlation(middle) < wanted else (low, middle)
    return (low + high) / 2


def score_gradient(
    batch: Batch, spec: LossSpec, trace: Trace, scores: Tensor | None
) -> Tensor | None:
    """∂L/∂s of each pair, [N]: by its own similarity, all others held. NaN of a pair that the loss
    does not compare; None of a loss that has no such derivative.

    Of a loss that reads pair scores it is the gradient by them, `scores`. Of one that compares the
    sentences of a batch it is that of its step `similarities`, summed over the cells in which the
    two sentences of the pair stand.
    """
    if spec.reads_scores:
        return torch.zeros_like(batch.labels) if scores is None else scores
    step, symbol = trace.last("similarities"), spec.symbols.get("similarities")
    if step is None or step.gradient is None or symbol is None or step.value.ndim != 2:
        return None
    axes = [batch.axis(*axis) for axis in zip(symbol.axes, step.value.shape, strict=True)]
    if any(axis is None or bool((axis[1] < 0).any()) for axis in axes):
        return None  # its columns are no sentences
    rows, columns = (axis[1] for axis in axes if axis is not None)
    count = len(batch.classes)
    by_row = step.gradient.new_zeros(count, step.value.shape[1]).index_add_(0, rows, step.gradient)
    by_both = by_row.new_zeros(count, count).index_add_(1, columns, by_row)
    among_rows, among_columns = (torch.zeros(count, dtype=torch.bool) for _ in range(2))
    among_rows[rows.cpu()] = among_columns[columns.cpu()] = True
    there = (among_rows[:, None] & among_columns).to(by_both.device)
    first, second = batch.first, batch.second
    felt = by_both[first, second] + torch.where(first == second, 0.0, by_both[second, first])
    return felt.masked_fill(~(there[first, second] | there[second, first]), torch.nan)


def pair_gradient(batch: Batch, vectors: Tensor | None, scores: Tensor | None) -> Tensor:
    """The gradient each pair feels along its own similarity, [N].

    `vectors` and `scores` are ∂L/∂vectors and ∂L/∂scores (None where the loss does not depend
    on them). A loss on vectors is projected: u_i and v_i are turned towards each other along
    the directions in which their cosine grows fastest, and the answer is the change of the
    loss for each unit of cosine. Their similarities to other sentences change with it, so that it
    is ∂L/∂s_i only where the loss sees s_i alone.
    """
    felt = torch.zeros_like(batch.labels)
    if scores is not None:
        felt = felt + scores
    if vectors is not None:
        lengths = batch.needed_vectors.norm(dim=1, keepdim=True).clamp_min(1e-12)
        directions = unit(batch.needed_vectors)
        first, second = directions[batch.first], directions[batch.second]
        cosines = (first * second).sum(dim=1, keepdim=True)
        rise_first = (second - cosines * first) / lengths[batch.first]
        rise_second = (first - cosines * second) / lengths[batch.second]
        change = (vectors[batch.first] * rise_first + vectors[batch.second] * rise_second).sum(1)
        size = rise_first.square().sum(1) + rise_second.square().sum(1)
        # Parallel vectors have no direction in which the cosine grows.
        felt = felt + torch.where(size > 1e-12, change / size.clamp_min(1e-12), 0.0)
    return felt
