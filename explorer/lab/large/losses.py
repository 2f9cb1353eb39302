"""How each loss that the page offers makes its terms.

The parameters and their ranges are those of the loss's own `LossSpec`; what a page of this size
does without (a second direction, further conventions) is left out by name in `KEYWORDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from explorer.device import device, precision
from explorer.lab.large.batch import MOST_STREAMED, LargeBatch, Wanted
from explorer.lab.large.blocks import Window
from explorer.lab.large.hinge import Hinge
from explorer.lab.large.smooth import MOST_SPREAD, Smooth
from explorer.lab.large.split import Split
from explorer.lab.large.tiles import Survey, Tiles, tiles_of
from explorer.problem import Problem

# A cosine in float32 is off by some 1e-7, and a term by as many times more as the loss is steep.
STEEP = 25.0

# ---- Terms that split ----------------------------------------------------------------------------


def _cosent(batch: LargeBatch, scale: float, *, by_gap: bool = False) -> Split:
    scaled, slope = scale * batch.scores, np.full(len(batch), scale)
    return Split(batch.labels, scaled, -scaled, slope, -slope, by_gap)


def _weighted_cosent(batch: LargeBatch, scale: float) -> Split:
    return _cosent(batch, scale, by_gap=True)


def _circle(
    batch: LargeBatch, scale: float, positive_margin: float, negative_margin: float
) -> Split:
    slope = np.full(len(batch), scale)
    negative = scale * (batch.scores - negative_margin)
    positive = -scale * (batch.scores - positive_margin)
    return Split(batch.labels, negative, positive, slope, -slope)


def _circle_self_paced(batch: LargeBatch, scale: float, margin: float) -> Split:
    scores = batch.scores
    rising = scale * np.maximum(scores + margin, 0)
    falling = -scale * np.maximum(1 + margin - scores, 0)
    negative, positive = rising * (scores - margin), falling * (scores - (1 - margin))
    # The pace follows the score but carries no gradient.
    return Split(batch.labels, negative, positive, rising, falling)


SPLIT: dict[str, Callable[..., Split]] = {
    "cosent": _cosent,
    "angle": _cosent,  # the scores of the batch are then the angles
    "weighted_cosent": _weighted_cosent,
    "circle": _circle,
    "circle_self_paced": _circle_self_paced,
}

# ---- Matrices that are streamed ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Streamed:
    """A matrix that is streamed, and what its survey says of the loss.

    `row_pairs` and `column_pairs` are the places of the pairs behind rows and columns. `loss` and
    `gradient` read the value, and the gradient of each pair along its own similarity (NaN where a
    pair has no term of its own), off the survey.
    """

    tiles: Tiles
    row_pairs: np.ndarray
    column_pairs: np.ndarray
    axes: tuple[str, str]
    loss: Callable[[Survey], float]
    gradient: Callable[[Survey], np.ndarray]
    # How many rows are nearer to their own column than to any other, where a row has its own.
    nearest: Callable[[Survey], int] | None = None


def _ordered_pairs(
    batch: LargeBatch,
    terms: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
    divisor: float,
    slope: float,
) -> Streamed:
    """A sum over the ordered pairs; `terms(differences, gaps)` gives log weight and addend."""
    scores = torch.from_numpy(batch.scores).to(precision()).to(device())
    labels = torch.from_numpy(batch.labels).to(precision()).to(device())

    def cells(part: Window) -> tuple[Tensor, Tensor, None]:
        rows, columns = slice(part.top, part.bottom), slice(part.left, part.right)
        differences = scores[None, rows] - scores[columns, None]
        gaps = labels[columns, None] - labels[None, rows]
        logs, values = terms(differences, gaps)
        masked = gaps <= 0
        return logs.masked_fill_(masked, -torch.inf), values.masked_fill_(masked, 0), None

    everyone = np.arange(len(batch))
    return Streamed(
        Tiles(len(batch), len(batch), False, cells),
        everyone,
        everyone,
        ("pair", "pair"),
        lambda found: float(found.added.sum()) / divisor,
        lambda found: slope * (found.row_weights - found.column_weights) / divisor,
    )


def _pairwise_logistic(batch: LargeBatch, scale: float, reduction: str) -> Streamed:
    def terms(differences: Tensor, gaps: Tensor) -> tuple[Tensor, Tensor]:
        scaled = scale * differences
        values = -logsigmoid(-scaled)
        return scaled - values, values  # log σ(x) = x − log(1 + e^x)

    count = np.searchsorted(batch.labels, batch.labels, "left").sum()
    return _ordered_pairs(batch, terms, max(count, 1) if reduction == "mean" else 1.0, scale)


def _pairwise_hinge(batch: LargeBatch, margin: float, eps: float) -> Streamed:
    def terms(differences: Tensor, gaps: Tensor) -> tuple[Tensor, Tensor]:
        violations = (differences + margin).relu_()
        values = gaps * violations
        return gaps.clamp_min(0).log().masked_fill_(violations == 0, -torch.inf), values

    places = np.arange(len(batch))
    total = float(((2 * places - len(batch) + 1) * (batch.labels - batch.labels.mean())).sum())
    return _ordered_pairs(batch, terms, max(total + eps, 1e-300), 1.0)


def _positives(batch: LargeBatch) -> np.ndarray:
    """The places of the pairs at or above half of the largest label, as on the Explore page."""
    if batch.first_vectors is None:
        raise Problem("no_vectors")
    places = np.flatnonzero(batch.labels >= batch.labels.max() / 2)
    if len(places) < 2:
        raise Problem("no_positives", threshold=f"{batch.labels.max() / 2:g}")
    return places


def _vectors(rows: np.ndarray, steepness: float) -> Tensor:
    """The rows on the device, in a precision that leaves `steepness` · cosine its digits."""
    return torch.from_numpy(rows).to(device(), precision() if steepness > STEEP else torch.float32)


def _products(queries: Tensor, keys: Tensor, part: Window) -> Tensor:
    """The product of each key with each query of a part, [keys, queries]."""
    return keys[part.left : part.right] @ queries[part.top : part.bottom].T


def _in_batch(
    batch: LargeBatch,
    rows: np.ndarray,
    columns: np.ndarray,
    own: np.ndarray,
    places: tuple[np.ndarray, np.ndarray],
    masked: tuple[int, ...],
    temperature: float,
    axes: tuple[str, str],
    symmetric: bool = False,
) -> Streamed:
    """Each row against all columns but its own: the column `own`, which it is compared with.

    What a row is not compared with stands so many places beyond the diagonal as `masked` says. If
    it is `symmetric`, each of those columns is also compared with all rows but its own.
    """
    queries, keys = (_vectors(side, 1 / temperature) for side in (rows, columns))
    queries = queries / temperature
    positive, count = (queries * keys[torch.from_numpy(own).to(device())]).sum(dim=1), len(rows)

    def cells(part: Window) -> tuple[Tensor, None, Tensor | None]:
        terms = _products(queries, keys, part)
        other = back(terms, part) if symmetric else None
        terms -= positive[part.top : part.bottom]
        for beyond in masked:
            terms.diagonal(part.left - part.top - beyond).fill_(-torch.inf)
        return terms, None, other

    def back(logits: Tensor, part: Window) -> Tensor:
        # Further keys, which belong to no query, look for none: their terms are −∞.
        compared = torch.nn.functional.pad(positive, (0, len(keys) - count), value=torch.inf)
        terms = logits - compared[part.left : part.right, None]
        terms.diagonal(part.left - part.top).fill_(-torch.inf)
        return terms

    def loss(found: Survey) -> float:
        forward = float(found.added.mean())
        return (forward + float(found.column_norms[:count].mean())) / 2 if symmetric else forward

    def gradient(found: Survey) -> np.ndarray:
        """Each row takes from its own cell what its weights, 1 − e^−norm, give to the others."""
        taken = -np.expm1(-found.norms)
        if symmetric:
            taken = (taken - np.expm1(-found.column_norms[:count])) / 2
        felt = np.full(len(batch), np.nan)
        felt[places[0]] = 0.0
        np.subtract.at(felt, places[0], taken / (count * temperature))
        return felt

    return Streamed(
        Tiles(count, len(columns), True, cells, by_column=symmetric),
        *places,
        axes,
        loss,
        gradient,
        lambda found: found.nearest,
    )


def _info_nce(batch: LargeBatch, temperature: float, symmetric: bool) -> Streamed:
    own = _positives(batch)
    others = np.setdiff1d(np.arange(len(batch)), own)
    shown = np.concatenate([own, others])
    return _in_batch(
        batch,
        batch.first_vectors[own],
        batch.second_vectors[shown],
        np.arange(len(own)),
        (own, shown),
        (0,),
        temperature,
        ("query", "key"),
        symmetric,
    )


def _nt_xent(batch: LargeBatch, temperature: float) -> Streamed:
    own = _positives(batch)
    views = np.concatenate([batch.first_vectors[own], batch.second_vectors[own]])
    partner = np.roll(np.arange(len(views)), len(own))
    places = np.concatenate([own, own])
    masked = 0, len(own), -len(own)
    return _in_batch(
        batch, views, views, partner, (places, places), masked, temperature, ("view", "view")
    )


def _siglip(batch: LargeBatch, scale: float, bias: float) -> Streamed:
    own = _positives(batch)
    sides = batch.first_vectors, batch.second_vectors
    queries, keys = (_vectors(side[own], scale) for side in sides)

    def cells(part: Window) -> tuple[Tensor, Tensor, None]:
        wrong = (scale * _products(queries, keys, part)).add_(bias)
        wrong.diagonal(part.left - part.top).neg_()
        values = logsigmoid(-wrong).neg_()
        return wrong.sub_(values), values, None

    def nearest(found: Survey) -> int:
        mine = (queries * keys).sum(dim=1)
        is_nearest = torch.ones_like(mine, dtype=torch.bool)
        for part in tiles_of(Window(0, len(own), 0, len(own))):
            seen = slice(part.top, part.bottom)
            cosines = _products(queries, keys, part)
            cosines.diagonal(part.left - part.top).fill_(-torch.inf)
            is_nearest[seen] &= cosines.amax(dim=0) < mine[seen]
        return int(is_nearest.sum())

    def gradient(found: Survey) -> np.ndarray:
        logits = scale * (queries * keys).sum(dim=1).cpu().double() + bias
        felt = np.full(len(batch), np.nan)
        felt[own] = -scale * torch.sigmoid(-logits).numpy() / len(own)
        return felt

    return Streamed(
        Tiles(len(own), len(own), False, cells),
        own,
        own,
        ("query", "key"),
        lambda found: float(found.added.sum()) / len(own),
        gradient,
        nearest,
    )


STREAMED: dict[str, Callable[..., Streamed]] = {
    "pairwise_logistic": _pairwise_logistic,
    "pairwise_hinge": _pairwise_hinge,
    "info_nce": _info_nce,
    "nt_xent": _nt_xent,
    "siglip": _siglip,
}


def smooth(batch: LargeBatch, scale: float, reduction: str) -> Smooth | None:
    """The logistic loss without its cells; None where the scale makes it too steep for that.

    Raises Problem if it is, and there are too many pairs to go through the cells.
    """
    spread = float(np.ptp(batch.scores))
    if scale * spread > MOST_SPREAD:
        if len(batch) <= MOST_STREAMED:
            return None
        raise Problem(
            "large_too_steep",
            scale=f"{scale:g}",
            most=f"{MOST_SPREAD / spread:.3g}",
            count=f"{MOST_STREAMED:,}",
        )
    return Smooth(batch.labels, scale * batch.scores, scale, reduction == "mean")


def hinge(batch: LargeBatch, margin: float, eps: float) -> Hinge:
    """The hinge without its cells."""
    return Hinge(batch.labels, batch.scores, margin, eps)


# What sums up without cells where there are too many of them.
SUMMED: dict[str, Callable[..., Smooth | Hinge | None]] = {
    "pairwise_logistic": smooth,
    "pairwise_hinge": hinge,
}
IN_BATCH = ("info_nce", "nt_xent", "siglip")


def family_of(loss: str) -> str:
    """How the matrix of the loss is gone through."""
    if loss in IN_BATCH:
        return "in_batch"
    return {"pairwise_logistic": "smooth", "pairwise_hinge": "linear"}.get(loss, "split")


def wanted_by(loss: str) -> Wanted:
    """What the loss compares."""
    return "vectors" if loss in IN_BATCH else "angles" if loss == "angle" else "cosines"


# The parameters that the page offers for each loss.
KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "cosent": ("scale",),
    "angle": ("scale",),
    "weighted_cosent": ("scale",),
    "circle": ("scale", "positive_margin", "negative_margin"),
    "circle_self_paced": ("scale", "margin"),
    "pairwise_logistic": ("scale", "reduction"),
    "pairwise_hinge": ("margin", "eps"),
    "info_nce": ("temperature", "symmetric"),
    "nt_xent": ("temperature",),
    "siglip": ("scale", "bias"),
}
