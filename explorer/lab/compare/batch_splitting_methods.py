"""A batch cut into pieces: gradient accumulation, GradCache, several devices, a queue, copies.

The inputs of a loss are cut along their axes (`losses.batch_inputs.READABLE`): a part has some
of the pairs, or of the queries with their own keys and its share of the further negatives, or the
sentences of its pairs. Prototypes are the same for all. The vectors pass through an encoder of one
layer, the identity W, whose gradient is compared: what accumulates in a trainer's weights.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.lab.compare.batch_parts import ABSENT, WAYS, BatchParts, Way
from lossprism.explorer.runtime.problem import Problem

EQUAL = 1e-10
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
    cut = BatchParts(e)
    if way not in WAYS:
        raise Problem("mechanics_way", about="loss", name=str(way)[:60], known=", ".join(WAYS))
    limit = cut.rows if way != "copies" else max_copies(cut.rows)
    if not 1 <= size <= limit:
        raise Problem("mechanics_size", about="loss", size=size, most=limit)
    whole, of_whole = cut.loss_and_gradient(cut.inputs)
    devices = way in ("devices", "gathered")
    parts = cut.on(size) if devices else cut.of_size(size if way != "copies" else cut.rows)
    inputs: Iterable[dict[str, Tensor | None]]
    if way in ("micro", "devices"):
        inputs = (cut.part(places) for places in parts)
    elif way == "queue":
        inputs = cut.queued(parts)
    else:
        inputs = [cut.copied(size) if way == "copies" else cut.inputs]
    if way == "cached":
        losses, gradient = cut.cached(parts)
    elif way == "gathered":
        losses, gradient = cut.gathered(parts)
    else:
        losses, gradient = cut.in_parts(inputs)
    loss = sum(losses) / len(losses)
    cells, axes = cut.cells(way, parts)
    there = cut.present(axes)
    if way == "copies":
        cells, there = cells.repeat(size, size), there.repeat(size, size)
    ratio, cosine = _compared(gradient, of_whole)
    alike = bool((gradient - of_whole).norm() <= EQUAL * of_whole.norm())
    return Mechanics(
        way=way,
        size=size,
        parts=1 if way in ("cached", "copies") else len(parts),
        whole=whole,
        loss=loss,
        losses=tuple(losses),
        equal=alike and math.isclose(loss, whole, rel_tol=EQUAL, abs_tol=EQUAL),
        gradient_ratio=ratio,
        gradient_cosine=cosine,
        cells=cells.masked_fill(~there, ABSENT),
        row_axis=axes[0],
        column_axis=axes[1],
        comparisons=int(((cells != ABSENT) & there).sum()),
        whole_comparisons=int(cut.present(axes).sum()),
    )


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
    """The mean loss of a part of `size` rows: over every such part of the batch, or over some that
    are drawn where there are too many.

    It is what a trainer logs on average that shuffles the rows before it cuts them.

    Raises:
        Problem: if the batch has no parts of this size.
    """
    cut = BatchParts(e)
    if not 1 <= size <= cut.rows:
        raise Problem("mechanics_size", about="loss", size=size, most=cut.rows)
    count = math.comb(cut.rows, size)
    if count <= MAX_PARTS:
        parts = torch.tensor(list(combinations(range(cut.rows), size)))
    else:
        drawn = torch.rand(DRAWN_PARTS, cut.rows, generator=torch.Generator().manual_seed(0))
        parts = drawn.argsort(dim=1)[:, :size]
    with torch.no_grad():
        loss = cut.mean_loss(parts)
    return Expected(size, loss, cut.expected_comparisons(size), len(parts), count <= MAX_PARTS)


def _compared(one: Tensor, other: Tensor) -> tuple[float | None, float | None]:
    lengths = float(one.norm()), float(other.norm())
    if lengths[1] == 0:
        return None, None
    cosine = float((one * other).sum()) / (lengths[0] * lengths[1]) if lengths[0] else None
    return lengths[0] / lengths[1], cosine
