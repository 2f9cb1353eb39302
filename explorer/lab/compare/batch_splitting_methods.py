"""A batch cut into pieces: gradient accumulation, GradCache, several devices, a queue, copies.

The vectors pass through an encoder of one layer, the identity W, whose gradient is compared: what
accumulates in a trainer's weights.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import torch
from torch import Tensor

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.lab.compare.losses_of_micro_batches import BatchParts
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.inputs_that_losses_may_read import READABLE

Way = Literal["micro", "cached", "devices", "gathered", "queue", "copies"]
WAYS: tuple[Way, ...] = ("micro", "cached", "devices", "gathered", "queue", "copies")
# The kinds of a cell: no such comparison; one with a gradient on both sides; one whose other
# side is a constant, because it belongs to another device or to an earlier batch.
ABSENT, TWO_SIDED, ONE_SIDED = 0, 1, 2
EQUALITY_TOLERANCE = 1e-10
# Cells of the parts that run at once; each step of a definition has as many.
MAX_CELLS_AT_ONCE = 2**21
# Limit up to which all parts of one size are run; beyond it as many are drawn.
MAX_PARTS, DRAWN_PARTS = 12_000, 2_000


@dataclass(frozen=True, eq=False)
class Mechanics:
    """A batch in `parts`, `whole` its loss in one piece and `loss` what a trainer logs: the mean
    of `losses`, the loss of each part.

    `equal`: whether loss and gradient are those of the whole, to 1e-10 of it. `gradient_ratio` is
    the length of the gradient by the encoder's weights over that of the whole,
    `gradient_cosine` how far they point the same way, None where one of them is 0. `cells`
    [rows, columns], uint8, says of each comparison of the whole batch what becomes of it (ABSENT,
    TWO_SIDED, ONE_SIDED), `row_axis` and `column_axis` what it compares (as `Symbol.axes`); of
    several devices it is what the first one sees. `comparisons` of the `whole_comparisons` are
    there.
    """

    way: Way
    size: int
    parts: int
    whole: float
    loss: float
    losses: tuple[float, ...]
    equal: bool
    gradient_ratio: float | None
    gradient_cosine: float | None
    cells: Tensor
    row_axis: str
    column_axis: str
    comparisons: int
    whole_comparisons: int

    @property
    def difference(self) -> float:
        return self.loss - self.whole


@dataclass(frozen=True)
class Expected:
    """Means over all ways to cut a batch into parts of `size`, or over `drawn` parts.

    `loss` is the mean loss, and `comparisons` the mean number of comparisons of all parts of one
    cut; None for a loss over sentences, which may stand in several parts.
    """

    size: int
    loss: float
    comparisons: float | None
    drawn: int
    exact: bool


def mechanics(e: Exploration, way: Way, size: int) -> Mechanics:
    """Compute the loss of an explored batch by another way than in one piece.

    Args:
        way: "micro", gradients of parts of `size` rows are averaged; "cached", GradCache: the loss
            of the whole by cached embeddings, these embedded again in parts of `size`; "devices",
            `size` devices each with its own part; "gathered", the same, but each sees the rows of
            all, those of the others without gradient, and the gradients are averaged; "queue",
            parts of `size` one after the other, each with the keys of all earlier ones as
            negatives without gradient; "copies", the batch `size` times over.

    Raises:
        Problem: if there is no such way, the batch has no parts of this size, or the loss cannot
            take a queue.
    """
    divided = BatchParts(e)
    if way not in WAYS:
        raise Problem("mechanics_way", about="loss", name=str(way)[:60], known=", ".join(WAYS))
    limit = divided.rows if way != "copies" else max_copies(divided.rows)
    if not 1 <= size <= limit:
        raise Problem("mechanics_size", about="loss", size=size, most=limit)
    whole, of_whole = divided.loss_and_gradient(divided.inputs)
    if way in ("devices", "gathered"):
        parts = divided.on(size)
    else:
        parts = divided.of_size(divided.rows if way == "copies" else size)
    if way == "cached":
        losses, gradient = _by_cached_gradients(divided, parts)
    elif way == "gathered":
        losses, gradient = _gathered(divided, parts)
    elif way == "queue":
        losses, gradient = _in_parts(divided, _queued(divided, parts))
    elif way == "copies":
        losses, gradient = _in_parts(divided, [_copied(divided, size)])
    else:
        losses, gradient = _in_parts(divided, map(divided.part, parts))
    loss = sum(losses) / len(losses)
    axes = divided.axes()
    cells = _comparison_kinds(divided, way, parts)
    there = divided.present(axes)
    if way == "copies":
        cells, there = cells.repeat(size, size), there.repeat(size, size)
    ratio, cosine = _compared(gradient, of_whole)
    alike = bool((gradient - of_whole).norm() <= EQUALITY_TOLERANCE * of_whole.norm())
    return Mechanics(
        way=way,
        size=size,
        parts=1 if way in ("cached", "copies") else len(parts),
        whole=whole,
        loss=loss,
        losses=tuple(losses),
        equal=alike
        and math.isclose(loss, whole, rel_tol=EQUALITY_TOLERANCE, abs_tol=EQUALITY_TOLERANCE),
        gradient_ratio=ratio,
        gradient_cosine=cosine,
        cells=cells.masked_fill(~there, ABSENT),
        row_axis=axes[0],
        column_axis=axes[1],
        comparisons=int(((cells != ABSENT) & there).sum()),
        whole_comparisons=int(divided.present(axes).sum()),
    )


def _in_parts(
    divided: BatchParts, inputs: Iterable[dict[str, Tensor | None]]
) -> tuple[list[float], Tensor]:
    """Return the loss of each of `inputs`, and the mean of their gradients; only one is in
    memory at a time."""
    losses, total = [], torch.zeros_like(divided.weights)
    for one in inputs:
        jobs.check()
        loss, gradient = divided.loss_and_gradient(one)
        losses.append(loss)
        total = total + gradient
    return losses, total / len(losses)


def _by_cached_gradients(
    divided: BatchParts, parts: Sequence[Sequence[int]]
) -> tuple[list[float], Tensor]:
    """Compute embeddings without a graph, then the loss and its gradient by them, then each part
    embedded again, times the gradient that is kept for it (Gao et al. 2021)."""
    with torch.no_grad():
        kept = divided.encoded(divided.raw)
    kept = kept.requires_grad_()
    loss = divided.loss_of(divided.read(kept))
    slopes = torch.zeros_like(kept)
    if loss.requires_grad:
        (gradient,) = torch.autograd.grad(loss, kept, allow_unused=True)
        slopes = slopes if gradient is None else gradient
    total = torch.zeros_like(divided.weights)
    for places in torch.arange(len(divided.raw)).tensor_split(len(parts)):
        again = divided.encoded(divided.raw[places])
        total = total + divided.gradient((again * slopes[places]).sum())
    return [float(loss.detach())], total


def _gathered(divided: BatchParts, parts: Sequence[Sequence[int]]) -> tuple[list[float], Tensor]:
    """Return the loss of each device, which sees all rows and has gradient through its own."""
    losses, total = [], torch.zeros_like(divided.weights)
    taken = divided.members("sentence", parts) if divided.reads_axis("sentence") else None
    for n, own in enumerate(parts):
        jobs.check()
        # A sentence of several parts belongs to the first.
        mine = None if taken is None else taken[:, n] & ~taken[:, :n].any(dim=1)
        rows = torch.as_tensor(list(own), device=divided.raw.device)
        loss = divided.loss_of(
            {
                name: value
                if value is None
                else _with_gradient_in(divided, value, what, rows, mine)
                for (name, what), value in zip(
                    divided.spec.reads.items(), divided.inputs.values(), strict=True
                )
            }
        )
        losses.append(float(loss.detach()))
        total = total + divided.gradient(loss, retain_graph=True)
    return losses, total / len(parts)


def _with_gradient_in(
    divided: BatchParts, value: Tensor, what: str, rows: Tensor, mine: Tensor | None
) -> Tensor:
    """Return an input with gradient only where it belongs to these rows."""
    axes = READABLE[what].axes
    if not value.requires_grad:
        return value
    dim = 1 if axes[0] == "level" else 0
    felt = torch.zeros(value.shape[dim], dtype=torch.bool, device=value.device)
    if axes[0] == "sentence" and mine is not None:
        felt = mine.to(value.device)
    elif axes[0] == "key" and "negative" in what:
        felt[divided.negatives_of(rows)] = True
    else:
        felt[rows] = True
    shape = (1, -1) if dim else (-1, *(1,) * (value.ndim - 1))
    return torch.where(felt.reshape(shape), value, value.detach())


def _queued(divided: BatchParts, parts: Sequence[range]) -> Iterator[dict[str, Tensor | None]]:
    """Yield each part with the keys of all earlier ones as further negatives, as constants."""
    readings = [
        what for name, what in divided.spec.reads.items() if divided.inputs[name] is not None
    ]
    beside = [what for what in readings if READABLE[what].made_of in ("texts", "groups")]
    takes = {"keys", "negatives"} <= divided.spec.reads.keys()
    if not takes or beside or "guide_keys" in readings:
        raise Problem("mechanics_no_queue", about="loss")
    queue: list[Tensor] = []
    for places in parts:
        inputs = divided.part(places)
        mine = inputs["negatives"]
        later = [key.detach() for key in (inputs["keys"], mine) if key is not None]
        extra = [*([] if mine is None else [mine]), *queue]
        yield {**inputs, "negatives": torch.cat(extra) if extra else None}
        queue += later


def _copied(divided: BatchParts, count: int) -> dict[str, Tensor | None]:
    """Return the inputs of the loss for the batch `count` times over."""

    def again(value: Tensor, what: str) -> Tensor:
        axes = READABLE[what].axes
        if axes[0] == "class":
            return value
        if axes == ("query", "key"):
            return value.repeat(count, count)
        if what == "negative_owners":
            steps = torch.arange(count, device=value.device)[:, None] * divided.rows
            return torch.where(value >= 0, value + steps, -1).flatten()
        times = (1, count) if axes[0] == "level" else (count, *(1,) * (value.ndim - 1))
        return value.repeat(*times)

    inputs = divided.inputs.items()
    return {
        name: None if value is None else again(value, divided.spec.reads[name])
        for name, value in inputs
    }


def _comparison_kinds(divided: BatchParts, way: Way, parts: Sequence[Sequence[int]]) -> Tensor:
    """Return what becomes of each comparison of the whole batch, uint8 [rows, columns]."""
    rows, columns = (divided.members(axis, parts) for axis in divided.axes())
    together = rows.float() @ columns.float().T > 0
    cells = together.to(torch.uint8) * TWO_SIDED
    if way in ("cached", "copies"):
        cells = torch.full_like(cells, TWO_SIDED)
    elif way == "gathered":
        own = rows[:, None, 0] | columns[None, :, 0]
        cells = torch.where(own, TWO_SIDED, ONE_SIDED).to(torch.uint8)
    elif way == "queue":
        order = torch.arange(len(parts))
        latest = torch.where(rows, order, -1).amax(dim=1)
        earliest = torch.where(columns, order, len(parts)).amin(dim=1)
        earlier = earliest < latest[:, None]
        cells = torch.where(together, TWO_SIDED, torch.where(earlier, ONE_SIDED, ABSENT))
        cells = cells.to(torch.uint8)
    return cells


def times(way: Way, size: int, rows: int, average: bool = False) -> float:
    """Passes over the cells of a batch of `rows` rows, approximately."""
    if average and way == "micro":
        return 1 + DRAWN_PARTS * (size / max(rows, 1)) ** 2
    if way == "copies":
        return 1 + size**2
    return 1 + (size if way == "gathered" else 1)


# So many rows at most come of copies, but for the first of them; and so many copies: of mined
# triplets there are as many as the third power of them.
MAX_COPIED, MAX_COPIES = 256, 16


def max_copies(rows: int) -> int:
    return max(2, min(MAX_COPIES, MAX_COPIED // max(rows, 1)))


def expected_of_parts(e: Exploration, size: int) -> Expected:
    """Return the mean loss of a part of `size` rows: over every such part of the batch, or over
    some that are drawn where there are too many.

    A trainer that shuffles the rows before it cuts them logs it on average.

    Raises:
        Problem: if the batch has no parts of this size.
    """
    divided = BatchParts(e)
    if not 1 <= size <= divided.rows:
        raise Problem("mechanics_size", about="loss", size=size, most=divided.rows)
    count = math.comb(divided.rows, size)
    if count <= MAX_PARTS:
        parts = torch.tensor(list(combinations(range(divided.rows), size)))
    else:
        drawn = torch.rand(DRAWN_PARTS, divided.rows, generator=torch.Generator().manual_seed(0))
        parts = drawn.argsort(dim=1)[:, :size]
    with torch.no_grad():
        loss = _mean_loss(divided, parts)
    comparisons = _expected_comparisons(divided, size)
    return Expected(size, loss, comparisons, len(parts), exact=count <= MAX_PARTS)


def _mean_loss(divided: BatchParts, parts: Tensor) -> float:
    """Return the mean loss of parts [M, size], all at once where the definition allows it."""

    def of(places: Tensor) -> Tensor:
        return divided.loss_of(divided.part(places))

    places = parts.to(divided.raw.device)
    # Which negatives and sentences a part has differs in number.
    alike = divided.inputs.get("negatives") is None and not divided.reads_axis("sentence")
    some = max(1, MAX_CELLS_AT_ONCE // places.shape[1] ** 2)
    with contextlib.suppress(RuntimeError, TypeError, ValueError):  # then one by one
        if alike:
            run = torch.vmap(of)
            losses = [_after_check(run, one) for one in places.split(some)]
            return float(torch.cat(losses).double().mean())
    return sum(float(_after_check(of, one)) for one in places) / len(places)


def _after_check(work: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    jobs.check()
    return work(rows)


def _expected_comparisons(divided: BatchParts, size: int) -> float | None:
    """Expected number of comparisons of all parts of `size` together.

    Comparisons within a row stay; those of two rows stay with the chance that one part has
    both.
    """
    axes = divided.axes()
    if "sentence" in axes:
        return None
    within = _comparison_kinds(divided, "micro", divided.of_size(1))
    there = divided.present(axes)
    own = int((there & (within == TWO_SIDED)).sum())
    chance = (size - 1) / (divided.rows - 1) if divided.rows > 1 else 0.0
    return own + (int(there.sum()) - own) * chance


def _compared(one: Tensor, other: Tensor) -> tuple[float | None, float | None]:
    lengths = float(one.norm()), float(other.norm())
    if lengths[1] == 0:
        return None, None
    cosine = float((one * other).sum()) / (lengths[0] * lengths[1]) if lengths[0] else None
    return lengths[0] / lengths[1], cosine
