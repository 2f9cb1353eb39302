"""InfoNCE of any options without the matrices that it compares: value and gradient by blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lossprism.losses.contrastive.info_nce_directions_and_negatives import BOTH_WAYS, copies_of
from lossprism.losses.duplicate_text_masks import Absent, absent_by
from lossprism.losses.geometry import unit_and_pull
from lossprism.losses.kernels.block_softmax import Block, Cells, Vectors, over_blocks
from lossprism.losses.kernels.query_key_losses_by_tiles import Directions
from lossprism.losses.masks import ceiling


@dataclass(frozen=True)
class Plan:
    """The computation of `by_blocks`, by the keywords of `info_nce`."""

    ways: tuple[str, ...]
    joint: bool
    similarity: str = "cosine"
    in_batch: bool = True
    mask_above: float | None = None
    hardness: float = 0.0
    hardness_on: str = "in_batch"
    log_weight: float = 0.0
    negatives_seen: str = "by_all"
    unmasked: tuple[str, ...] = ()  # directions that `mask_above` says nothing of

    @property
    def reads_owners(self) -> bool:
        """Return whether the loss depends on whose hard negative each is."""
        seen_by_own = self.negatives_seen == "by_own"
        return bool(self.hardness or self.log_weight or seen_by_own or "key_to_key" in self.ways)

    @property
    def copies(self) -> int:
        """Return the number of own pairs in one softmax."""
        return copies_of(self.ways) if self.joint else 1

    def largest(self, scale: float | Tensor) -> float:
        """Return an upper bound of the logits."""
        if isinstance(scale, Tensor) or self.similarity != "cosine":
            return math.inf
        return abs(scale) + self.hardness + max(self.log_weight, 0.0)

    @property
    def is_plain(self) -> bool:
        """Return whether `query_key_losses_by_tiles` supports it, without hard negatives."""
        rest = (self.similarity, self.in_batch, self.mask_above, self.hardness, self.log_weight)
        both = self.ways == BOTH_WAYS and not self.joint
        return rest == ("cosine", True, None, 0.0, 0.0) and (both or self.ways == ("query_to_key",))


class InBatch(NamedTuple):
    """Inputs of InfoNCE, checked and gathered, in the order in which autograd gets them."""

    queries: Tensor  # [N, D]
    keys: Tensor  # [N, D]
    negatives: Tensor | None = None  # [Q, D], seen by every query
    own_negatives: Tensor | None = None  # [N, K, D], each seen by one query alone
    scale: float | Tensor = 1.0  # 1 / temperature
    query_texts: Tensor | None = None  # [N], equal numbers for equal texts, as the next two
    key_texts: Tensor | None = None  # [N]
    negative_texts: Tensor | None = None  # [Q]
    same_text: Tensor | None = None  # [N]
    owners: Tensor | None = None  # [Q], the row of the query that each is hard for, or −1
    plan: Plan = Plan(("query_to_key",), joint=True)

    @property
    def vectors(self) -> list[Tensor]:
        """Return queries, keys and the negatives that all see, where there are any."""
        return [part for part in self[:3] if part is not None]


def gradients(
    batch: InBatch, of_vectors: Tensor, own_negatives: Tensor | None, scale: Tensor | None
) -> tuple[Tensor | None, ...]:
    """Return the gradient of each input, from that of `batch.vectors` in one matrix."""
    parts = of_vectors.split([len(part) for part in batch.vectors])
    queries, keys, negatives = parts if len(parts) == 3 else (*parts, None)
    without = (None,) * (len(batch) - 5)
    return (queries, keys, negatives, own_negatives, scale, *without)


def by_blocks(
    needs_grad: Sequence[bool], *inputs: *tuple[Any, ...]
) -> tuple[Tensor, Sequence[Tensor | None]]:
    """Compute InfoNCE of an `InBatch` by tiles, as `with_gradient` calls it."""
    batch = InBatch(*inputs)
    queries, own_negatives, scale = batch.queries, batch.own_negatives, batch.scale
    owners, plan = batch.owners, batch.plan
    kind = Directions if plan.similarity == "cosine" else Vectors
    points = kind(torch.cat(batch.vectors), needs_grad=any(needs_grad))
    count, exact = len(queries), torch.promote_types(queries.dtype, torch.float32)
    of_queries, of_keys = slice(0, count), slice(count, 2 * count)
    looking, looked_for = points.units[of_queries], points.units[of_keys]
    similarity = (looking.to(exact) * looked_for).sum(dim=1)
    limit = None if plan.mask_above is None else ceiling(similarity, plan.mask_above)
    harden = plan.hardness_on if plan.hardness else ""
    further, of_own, pull_own, compared = None, None, None, None
    if own_negatives is not None and "query_to_key" in plan.ways:
        of_own = own_negatives
        if plan.similarity == "cosine":
            of_own, pull_own = unit_and_pull(own_negatives)
        compared = (of_own @ looking[:, :, None]).squeeze(2)
        further = compared * scale + plan.log_weight
        if harden in ("hard", "all"):
            further.add_(compared, alpha=plan.hardness)
        if limit is not None:
            further.masked_fill_(compared > limit[:, None], -torch.inf)
    place = torch.arange(count, device=queries.device)
    foreign = None if plan.negatives_seen == "by_all" else owners
    masks = _Masks(
        batch.query_texts, batch.key_texts, batch.negative_texts, batch.same_text, place, foreign
    )
    its_own = _own_cells(points.units, owners, scale, plan, limit, masks)
    blocks = [
        Block(
            of_queries if way.startswith("query") else of_keys,
            columns,
            diagonal=columns.start in (0, count),
            absent=masks.absent(way, columns),
            harder=1 + plan.hardness / scale if hardened else 1.0,
            capped=way not in plan.unmasked,
            softmax=0 if plan.joint else number,
            cells=its_own.get(way) if columns.stop > 2 * count else None,
        )
        for number, way in enumerate(plan.ways)
        for columns, hardened in _columns(way, count, len(points.units), owners, plan)
    ]
    value, pulls, by_further = over_blocks(
        points,
        blocks,
        (similarity * scale).add_(math.log(plan.copies)),
        scale,
        largest=plan.largest(scale),
        ceiling=None if limit is None else limit * scale,
        further=further,
        needs_grad=any(needs_grad),
    )
    share = 1 / (count * (1 if plan.joint else len(plan.ways)))
    loss = value * share + math.log(plan.copies)
    if not any(needs_grad):
        return loss, ()
    assert points.gradient is not None
    pulls = pulls.neg_()[:, None]
    points.gradient[of_queries].addcmul_(looked_for, pulls)
    points.gradient[of_keys].addcmul_(looking, pulls)
    by_own = None if own_negatives is None else torch.zeros_like(own_negatives)
    by_scale_of_own = 0.0
    if of_own is not None and by_further is not None and compared is not None:
        points.gradient[of_queries] += (by_further[:, None] @ of_own).squeeze(1)
        by_own = by_further[:, :, None] * looking[:, None] * (share * scale)
        by_own = by_own if pull_own is None else pull_own(by_own)
        by_scale_of_own = share / 2 * (by_further * compared).sum()
    of_vectors, by_scale = points.pull_back(share, scale)
    by_scale = None if by_scale is None else by_scale + by_scale_of_own
    return loss, gradients(batch, of_vectors, by_own, by_scale)


def _columns(
    way: str, count: int, points: int, owners: Tensor | None, plan: Plan
) -> list[tuple[slice, bool]]:
    """Return the points that a direction compares, and whether they are hardened: queries; or keys
    with the further negatives."""
    if way.endswith("query"):
        return [(slice(0, count), False)]
    found = [(slice(count, 2 * count), "in_batch")] if plan.in_batch else []
    if points > 2 * count:
        found.append((slice(2 * count, points), "hard" if owners is None else "in_batch"))
    on = ("in_batch", "hard") if plan.hardness_on == "all" else (plan.hardness_on,)
    weighed = plan.hardness > 0 and way == "query_to_key"
    if len(found) > 1 and not (weighed and len({kind in on for _, kind in found}) > 1):
        found = [(slice(count, points), found[0][1])]
    return [(columns, weighed and kind in on) for columns, kind in found]


def _own_cells(
    units: Tensor,
    owners: Tensor | None,
    scale: float | Tensor,
    plan: Plan,
    limit: Tensor | None,
    masks: _Masks,
) -> dict[str, Cells]:
    """Return the cells of queries with their own hard negatives among all visible ones: weighted in
    the sum of queries at keys, absent in that of keys at keys."""
    if owners is None:
        return {}
    owned = (owners >= 0).nonzero()[:, 0]
    rows, count = owners[owned], (len(units) - len(owners)) // 2
    negatives = units[2 * count :][owned]
    similarity = (units[rows] * negatives).sum(dim=1)
    logits = similarity * scale + plan.log_weight
    if plan.hardness_on != "in_batch":
        logits = logits + plan.hardness * similarity
    if limit is not None:
        logits = logits.masked_fill(similarity > limit[rows], -torch.inf)
    texts = masks.query_texts, masks.key_texts, masks.negative_texts
    if texts[0] is not None and texts[1] is not None and texts[2] is not None:
        of_query, of_key, seen = texts[0][rows], texts[1][rows], texts[2][owned]
        logits = logits.masked_fill((seen == of_query) | (seen == of_key), -torch.inf)
    at = owned + 2 * count
    absent = torch.full_like(logits, -torch.inf)
    return {"query_to_key": (rows, at, logits), "key_to_key": (rows, at, absent)}


@dataclass
class _Masks:
    """Cells excluded by texts, row numbers or owners, a span of rows at a time."""

    query_texts: Tensor | None
    key_texts: Tensor | None
    negative_texts: Tensor | None
    same_text: Tensor | None
    place: Tensor
    owners: Tensor | None  # of further negatives that each is seen by its own query alone
    last: tuple[int, Tensor] | None = None

    def absent(self, way: str, columns: slice) -> Absent | None:
        """Return the excluded cells of a direction at these points, of which the first N are
        queries."""
        count, width = len(self.place), columns.stop - columns.start
        looked_at, with_keys = slice(0, width), columns.start <= count
        absent: list[tuple[slice, Absent]] = []
        if self.query_texts is not None and self.key_texts is not None:
            looks, partner, seen = self.query_texts, self.key_texts, self.query_texts
            if way.startswith("key"):
                looks, partner = partner, looks
            if way.endswith("key"):
                seen = self.key_texts
                if self.negative_texts is not None:
                    seen = torch.cat((seen, self.negative_texts))
                seen = seen[columns.start - count : columns.stop - count]
            absent.append((looked_at, absent_by(looks, partner, seen)))
        if self.same_text is not None and with_keys:
            absent.append((slice(0, count), self._alike))
        if self.owners is not None and columns.stop > 2 * count:
            absent.append((slice(width - len(self.owners), width), self._foreign))
        if len(absent) == 1 and absent[0][0] == looked_at:
            return absent[0][1]
        return partial(self._joined, absent, width) if absent else None

    def _joined(self, found: list[tuple[slice, Absent]], width: int, span: slice) -> Tensor:
        cells = self.place.new_zeros(span.stop - span.start, width, dtype=torch.bool)
        for columns, absent in found:
            cells[:, columns] |= absent(span)
        return cells

    def _foreign(self, span: slice) -> Tensor:
        assert self.owners is not None
        return (self.owners >= 0) & (self.owners != self.place[span, None])

    def _alike(self, span: slice) -> Tensor:
        """Compute once, for all directions of a span."""
        assert self.same_text is not None
        if self.last is None or self.last[0] != span.start:
            self.last = span.start, self.same_text[span, None] == self.same_text
        return self.last[1]
