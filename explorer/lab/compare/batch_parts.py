"""Parts of a batch (micro-batches, devices, a queue): the inputs of a loss cut along axes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.batch_inputs import READABLE

# Cells of the parts that run at once; each step of a definition has as many.
MAX_CELLS_AT_ONCE = 2**21


class BatchParts:
    """The inputs of a loss on a batch, behind an encoder, and their division into parts."""

    def __init__(self, e: Exploration) -> None:
        self.e, self.batch, self.spec = e, e.batch, e.spec
        self.by_positives = any(one.positives_only for one in self.spec.readings)
        batch = self.batch
        axes = [reading.axes[0] for reading in self.spec.readings]
        # The unit that is cut: a list of candidates, a row of margins, a given triplet, a positive
        # pair, a pair.
        cut_axes = ("list", "row", "given_triplet")
        self.unit = next((axis for axis in cut_axes if axis in axes), "pair")
        self.rows = len(batch.positives) if self.by_positives else len(batch)
        if self.unit == "list":
            self.rows = len(batch.lists)
        elif self.unit == "row":
            self.rows = len(batch.margins[0])
        elif self.unit == "given_triplet":
            self.rows = len(batch.triplets[0])
        vectors = batch.vectors
        if vectors is None or (batch.given is not None and not self.spec.reads_vectors):
            self.raw, self.weights = batch.scores.detach(), batch.scores.detach().new_ones(())
        else:
            self.raw = vectors.detach()
            self.weights = torch.eye(self.raw.shape[1]).to(self.raw)
        self.weights.requires_grad_()
        self.inputs = self.read(self.encoded(self.raw))

    def encoded(self, raw: Tensor) -> Tensor:
        return raw @ self.weights if raw.ndim == 2 else raw * self.weights

    def read(self, encoded: Tensor) -> dict[str, Tensor | None]:
        batch = self.batch
        vectors = encoded if encoded.ndim == 2 else batch.vectors
        if batch.given is not None:
            scores = encoded if encoded.ndim == 1 else batch.given
        else:
            scores = batch.scores_from(batch.needed_vectors if vectors is None else vectors)
        reads = self.spec.reads.items()
        return {name: batch.read(what, vectors, scores) for name, what in reads}

    # ---- Losses and gradients

    def loss_of(self, inputs: dict[str, Tensor | None]) -> Tensor:
        called: dict[str, Any] = {**inputs, **self.e.parameters}
        return self.spec.definition(**called)

    def gradient(self, loss: Tensor, **more: Any) -> Tensor:
        if not loss.requires_grad:
            return torch.zeros_like(self.weights)
        (gradient,) = torch.autograd.grad(loss, self.weights, allow_unused=True, **more)
        return torch.zeros_like(self.weights) if gradient is None else gradient

    def in_parts(self, inputs: Iterable[dict[str, Tensor | None]]) -> tuple[list[float], Tensor]:
        """Return the loss of each of `inputs`, and the mean of their gradients; only one is in
        memory at a time."""
        losses, total = [], torch.zeros_like(self.weights)
        for one in inputs:
            jobs.check()
            loss, gradient = self.loss_and_gradient(one)
            losses.append(loss)
            total = total + gradient
        return losses, total / len(losses)

    def loss_and_gradient(self, inputs: dict[str, Tensor | None]) -> tuple[float, Tensor]:
        loss = self.loss_of(inputs)
        return float(loss.detach()), self.gradient(loss, retain_graph=True)

    def cached(self, parts: Sequence[Sequence[int]]) -> tuple[list[float], Tensor]:
        """Embeddings without a graph, the loss and its gradient by them, then each part embedded
        again, times the gradient that is kept for it (Gao et al. 2021)."""
        with torch.no_grad():
            kept = self.encoded(self.raw)
        kept = kept.requires_grad_()
        loss = self.loss_of(self.read(kept))
        slopes = torch.zeros_like(kept)
        if loss.requires_grad:
            (gradient,) = torch.autograd.grad(loss, kept, allow_unused=True)
            slopes = slopes if gradient is None else gradient
        total = torch.zeros_like(self.weights)
        for places in torch.arange(len(self.raw)).tensor_split(len(parts)):
            again = self.encoded(self.raw[places])
            total = total + self.gradient((again * slopes[places]).sum())
        return [float(loss.detach())], total

    def gathered(self, parts: Sequence[Sequence[int]]) -> tuple[list[float], Tensor]:
        """Return the loss of each device, which sees all rows and has gradient through its own."""
        losses, total = [], torch.zeros_like(self.weights)
        taken = self.members("sentence", parts) if self._reads("sentence") else None
        for n, own in enumerate(parts):
            jobs.check()
            # A sentence of several parts belongs to the first.
            mine = None if taken is None else taken[:, n] & ~taken[:, :n].any(dim=1)
            rows = torch.as_tensor(list(own), device=self.raw.device)
            loss = self.loss_of(
                {
                    name: value
                    if value is None
                    else self._with_gradient_in(value, what, rows, mine)
                    for (name, what), value in zip(
                        self.spec.reads.items(), self.inputs.values(), strict=True
                    )
                }
            )
            losses.append(float(loss.detach()))
            total = total + self.gradient(loss, retain_graph=True)
        return losses, total / len(parts)

    def _with_gradient_in(
        self, value: Tensor, what: str, rows: Tensor, mine: Tensor | None
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
            felt[self._negatives_of(rows)] = True
        else:
            felt[rows] = True
        shape = (1, -1) if dim else (-1, *(1,) * (value.ndim - 1))
        return torch.where(felt.reshape(shape), value, value.detach())

    def mean_loss(self, parts: Tensor) -> float:
        """Return the mean loss of parts [M, size], all at once where the definition allows it."""

        def of(places: Tensor) -> Tensor:
            return self.loss_of(self.part(places))

        places = parts.to(self.raw.device)
        # Which negatives and sentences a part has differs in number.
        alike = self.inputs.get("negatives") is None and not self._reads("sentence")
        some = max(1, MAX_CELLS_AT_ONCE // places.shape[1] ** 2)
        with contextlib.suppress(RuntimeError, TypeError, ValueError):  # then one by one
            if alike:
                run = torch.vmap(of)
                losses = [_after_check(run, one) for one in places.split(some)]
                return float(torch.cat(losses).double().mean())
        return sum(float(_after_check(of, one)) for one in places) / len(places)

    def expected_comparisons(self, size: int) -> float | None:
        """Expected number of comparisons of all parts of `size` together.

        Comparisons within a row stay; those of two rows stay with the chance that one part has
        both.
        """
        axes = self.axes()
        if "sentence" in axes:
            return None
        within, _ = self.cells("micro", self.of_size(1))
        there = self.present(axes)
        own = int((there & (within == TWO_SIDED)).sum())
        chance = (size - 1) / (self.rows - 1) if self.rows > 1 else 0.0
        return own + (int(there.sum()) - own) * chance

    # ---- Parts

    def of_size(self, size: int) -> list[range]:
        """Divide the rows in their order into parts of `size`; the last may have fewer."""
        return [range(at, min(at + size, self.rows)) for at in range(0, self.rows, size)]

    def on(self, devices: int) -> list[range]:
        """Divide the rows in their order as evenly as possible between devices."""
        ends = [self.rows * n // devices for n in range(devices + 1)]
        return [range(*pair) for pair in pairwise(ends)]

    def _reads(self, axis: str) -> bool:
        return any(axis in reading.axes for reading in self.spec.readings)

    def part(self, rows: Sequence[int] | Tensor) -> dict[str, Tensor | None]:
        """Return the inputs of the loss for these rows alone."""
        places = torch.as_tensor(list(rows) if isinstance(rows, range) else rows)
        places = places.to(self.raw.device)
        inputs: dict[str, Tensor | None] = {}
        for name, what in self.spec.reads.items():
            value = self.inputs[name]
            if value is not None:
                value = self._taken(value, what, places)
            inputs[name] = value
        return inputs

    def _taken(self, value: Tensor, what: str, rows: Tensor) -> Tensor:
        axes = READABLE[what].axes
        if what == "negative_owners":  # row of this part of each negative
            owners = value[self._negatives_of(rows)]
            hits = owners[:, None] == rows
            return torch.where(hits.any(dim=1), hits.int().argmax(dim=1), -1)
        if axes == ("query", "key"):
            return value[rows][:, rows]
        if axes[0] == "key" and "negative" in what:
            return value[self._negatives_of(rows)]
        if axes[0] in ("pair", "query", "key", self.unit):
            return value[rows]
        if axes[0] == "sentence":
            return value[self._sentences_of(rows)]
        if axes[0] == "level":
            return value[:, rows]
        return value  # prototypes belong to all

    def _negatives_of(self, rows: Tensor) -> Tensor:
        """Positions of these rows' share of the further negatives, in their order."""
        count = len(self.batch.others)
        owner = torch.arange(count, device=rows.device) * self.rows // max(count, 1)
        return torch.isin(owner, rows).nonzero().flatten()

    def _sentences_of(self, rows: Tensor) -> Tensor:
        both = torch.cat((self.batch.first[rows], self.batch.second[rows]))
        return both.unique()

    def queued(self, parts: Sequence[range]) -> Iterator[dict[str, Tensor | None]]:
        """Yield each part with the keys of all earlier ones as further negatives, as constants."""
        readings = [what for name, what in self.spec.reads.items() if self.inputs[name] is not None]
        beside = [what for what in readings if READABLE[what].made_of in ("texts", "groups")]
        takes = {"keys", "negatives"} <= self.spec.reads.keys()
        if not takes or beside or "guide_keys" in readings:
            raise Problem("mechanics_no_queue", about="loss")
        queue: list[Tensor] = []
        for places in parts:
            inputs = self.part(places)
            mine = inputs["negatives"]
            later = [key.detach() for key in (inputs["keys"], mine) if key is not None]
            extra = [*([] if mine is None else [mine]), *queue]
            yield {**inputs, "negatives": torch.cat(extra) if extra else None}
            queue += later

    def copied(self, count: int) -> dict[str, Tensor | None]:
        """Return the inputs of the loss for the batch `count` times over."""

        def again(value: Tensor, what: str) -> Tensor:
            axes = READABLE[what].axes
            if axes[0] == "class":
                return value
            if axes == ("query", "key"):
                return value.repeat(count, count)
            if what == "negative_owners":
                steps = torch.arange(count, device=value.device)[:, None] * self.rows
                return torch.where(value >= 0, value + steps, -1).flatten()
            times = (1, count) if axes[0] == "level" else (count, *(1,) * (value.ndim - 1))
            return value.repeat(*times)

        inputs = self.inputs.items()
        return {
            name: None if value is None else again(value, self.spec.reads[name])
            for name, value in inputs
        }

    # ---- Which comparisons there are

    def axes(self) -> tuple[str, str]:
        """Name the rows and the columns of the comparisons of the loss."""
        symbol = self.spec.symbols.get(self.spec.terms)
        named = symbol.axes if symbol is not None else ()
        if len(named) >= 2 and set(named[-2:]) <= KNOWN_AXES:
            return named[-2], named[-1]
        if self._reads("sentence"):
            return "sentence", "sentence"
        each_by_itself = self.unit in ("pair", "given_triplet")
        return (self.unit, self.unit if each_by_itself else "candidate")

    def present(self, axes: tuple[str, str]) -> Tensor:
        """Mask of the comparisons of the loss in one piece, bool [rows, columns]."""
        step = self.e.trace.last(self.spec.terms)
        shape = tuple(len(self.members(axis, [range(self.rows)])) for axis in axes)
        if step is not None and step.value.shape[-2:] == shape and step.value.ndim >= 2:
            mask = self.e.trace.mask_of(step)
            if mask is None:
                return torch.ones(shape, dtype=torch.bool)
            return mask.cpu().reshape(-1, *shape).any(dim=0)
        if step is not None and step.value.ndim == 1 and axes == (self.unit, self.unit):
            return torch.eye(*shape, dtype=torch.bool)  # each by itself
        return torch.ones(shape, dtype=torch.bool)

    def members(self, axis: str, parts: Sequence[Sequence[int]]) -> Tensor:
        """Membership of the items of an axis in the parts, bool [items, parts]."""
        batch: Batch = self.batch
        if axis == "candidate":  # of the rows they stand in
            table = self.batch.lists if self.unit == "list" else self.batch.margins[1]
            return torch.ones(table.shape[1], len(parts), dtype=torch.bool)
        if axis == "class":
            count = int(batch.classes.max()) + 1
            prototypes = self.inputs.get("prototypes")
            count = count if prototypes is None else len(prototypes)
            return torch.ones(count, len(parts), dtype=torch.bool)
        if axis == "sentence":
            members = torch.zeros(len(batch.classes), len(parts), dtype=torch.bool)
            for n, places in enumerate(parts):
                rows = torch.as_tensor(list(places), device=batch.first.device)
                members[self._sentences_of(rows).cpu(), n] = True
            return members
        own = torch.zeros(self.rows, len(parts), dtype=torch.bool)
        for n, places in enumerate(parts):
            own[list(places), n] = True
        if axis == "view":
            return own.repeat(2, 1)
        if axis == "key" and self.inputs.get("negatives") is not None:
            count = len(batch.others)
            more = torch.zeros(count, len(parts), dtype=torch.bool)
            for n, places in enumerate(parts):
                rows = torch.as_tensor(list(places), device=self.raw.device)
                more[self._negatives_of(rows).cpu(), n] = True
            return torch.cat((own, more))
        return own

    def cells(self, way: Way, parts: Sequence[Sequence[int]]) -> tuple[Tensor, tuple[str, str]]:
        axes = self.axes()
        rows, columns = (self.members(axis, parts) for axis in axes)
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
        return cells, axes


def _after_check(work: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    jobs.check()
    return work(rows)


Way = Literal["micro", "cached", "devices", "gathered", "queue", "copies"]
WAYS: tuple[Way, ...] = ("micro", "cached", "devices", "gathered", "queue", "copies")
# The kinds of a cell: no such comparison; one with a gradient on both sides; one whose other
# side is a constant, because it belongs to another device or to an earlier batch.
ABSENT, TWO_SIDED, ONE_SIDED = 0, 1, 2
KNOWN_AXES = {
    "pair", "query", "key", "view", "sentence", "class",
    "list", "row", "candidate", "given_triplet",
}  # fmt: skip
