"""Computation of the matrix of a loss, by the form that its `LossSpec` declares.

`losses` alone knows the losses: a new loss of one of these forms (`losses.loss_term_structures`) is
offered as soon as it declares it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.core.rank_correlation import TIE_LIMIT
from lossprism.explorer.lab.large.batch import LargeBatch, LossInput
from lossprism.explorer.lab.large.duplicate_negatives import DuplicateSearch
from lossprism.explorer.lab.large.hinge import HingeTerms
from lossprism.explorer.lab.large.ordered_pair_logistic_on_grid import MAX_SPREAD, LogisticTerms
from lossprism.explorer.lab.large.pair_order_terms_by_row_and_column import SeparableTerms
from lossprism.explorer.lab.large.streamed_term_matrix import Streamed
from lossprism.explorer.lab.large.sums_over_tile_strips import Tiles, tiles_of
from lossprism.explorer.lab.large.tile_survey import Survey
from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.runtime.device import device, precision
from lossprism.explorer.runtime.limits import (
    LARGE_IN_BATCH_PAIRS,
    LARGE_PAIRS,
    LARGE_STREAMED_PAIRS,
)
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from lossprism.losses.duplicate_text_masks import same_text
from lossprism.losses.kernels.cell_terms import (
    log_logistic_weights,
    logistic_terms,
    logistic_weights_,
    mistaken_,
    only_others_,
    share_of_others,
)
from lossprism.losses.kernels.ordered_hinge_and_logistic_sums import hinge_terms, sum_of_gaps
from lossprism.losses.loss_term_structures import (
    AgainstOthers,
    Decisions,
    HingeSum,
    LogisticSum,
    Separable,
)
from lossprism.losses.spec import Parameter

# A cosine in float32 is off by some 1e-7, and a term by as many times more as the loss is steep.
FLOAT32_STEEPNESS = 25.0

# ---- Terms that split ----------------------------------------------------------------------------


def split(form: Separable, batch: LargeBatch, parameters: Mapping[str, object]) -> SeparableTerms:
    """The row and column parts of all terms, with their slopes."""
    scores = torch.from_numpy(batch.scores).requires_grad_()
    lower, higher = form.parts(scores, **parameters)

    def slope(part: Tensor) -> Tensor:
        return torch.autograd.grad(part.sum(), scores, retain_graph=True)[0]

    return SeparableTerms(
        batch.labels,
        np.array(lower.detach()),
        np.array(higher.detach()),
        np.array(slope(lower)),
        np.array(slope(higher)),
        form.by_gap,
    )


# ---- Matrices that are streamed ------------------------------------------------------------------


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


def _logistic(form: LogisticSum, batch: LargeBatch, parameters: Mapping[str, object]) -> Streamed:
    scale = form.scale(**parameters)

    def terms(differences: Tensor, gaps: Tensor) -> tuple[Tensor, Tensor]:
        scaled = scale * differences
        values = logistic_terms(scaled)
        return log_logistic_weights(scaled, values), values

    count = np.searchsorted(batch.labels, batch.labels, "left").sum()
    return _ordered_pairs(batch, terms, max(count, 1) if form.mean(**parameters) else 1.0, scale)


def _hinge(form: HingeSum, batch: LargeBatch, parameters: Mapping[str, object]) -> Streamed:
    margin, eps = form.margin(**parameters), form.eps(**parameters)

    def terms(differences: Tensor, gaps: Tensor) -> tuple[Tensor, Tensor]:
        values = hinge_terms(differences, gaps, margin)
        return gaps.clamp_min(0).log().masked_fill_(values == 0, -torch.inf), values

    total = float(sum_of_gaps(torch.from_numpy(batch.labels - batch.labels.mean())))
    return _ordered_pairs(batch, terms, max(total + eps, 1e-300), 1.0)


def _positives(batch: LargeBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places of the positive pairs, and the vectors of the first and of the second sentences
    of all pairs."""
    if batch.first_vectors is None or batch.second_vectors is None:
        raise Problem("no_vectors")
    places = np.flatnonzero(batch.positive)
    if len(places) < 2:
        raise Problem("no_positives", threshold=display_number(batch.rules.threshold))
    return places, batch.first_vectors, batch.second_vectors


def _vectors(rows: np.ndarray, steepness: float) -> Tensor:
    """The rows on the device, in a precision that leaves `steepness` · cosine its digits."""
    return torch.from_numpy(rows).to(
        device(), precision() if steepness > FLOAT32_STEEPNESS else torch.float32
    )


# What stands behind rows or columns: sides (0: first sentences, 1: second) and places of the batch.
Behind = tuple[tuple[int, np.ndarray], ...]


def _numbered(batch: LargeBatch, behind: Behind) -> np.ndarray:
    """The numbers of the texts behind rows or columns."""
    sides = batch.numbered
    return np.concatenate([sides[side][places] for side, places in behind])


def _texts(batch: LargeBatch, *sides: Behind) -> list[Tensor] | None:
    """Numbers of the texts of both on the device; None where nothing is left out."""
    if batch.texts is None:
        return None
    return [torch.from_numpy(_numbered(batch, behind)).to(device()) for behind in sides]


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
    scale: float,
    axes: tuple[str, str],
    symmetric: bool,
    behind: tuple[Behind, Behind],
) -> Streamed:
    """Compare each row with all columns but its own, `own`.

    `masked` are the diagonals, counted from the main one, that are left out. If `symmetric`, each
    of those columns is also compared with all rows but its own. Where the same text is left out, no
    row is compared with a column of its own text or of that of its own column, and no column with
    such a row; `behind` says which texts stand behind rows and columns.
    """
    texts = _texts(batch, *behind)
    queries, keys = (_vectors(side, scale) for side in (rows, columns))
    queries, own_columns = queries * scale, torch.from_numpy(own).to(device())
    positive, count = (queries * keys[own_columns]).sum(dim=1), len(rows)

    def cells(part: Window) -> tuple[Tensor, None, Tensor | None]:
        terms, left_out = _products(queries, keys, part), None
        other = back(terms.clone(), part) if symmetric else None
        seen, some = slice(part.top, part.bottom), slice(part.left, part.right)
        if texts is not None:
            of_rows, of_columns = texts
            left_out = same_text(of_rows[seen], of_columns[own_columns[seen]], of_columns[some])
        offsets = [part.top - part.left + beyond for beyond in masked]
        only_others_(terms.T, offsets, left_out, positive[seen])
        return terms, None, other

    def back(terms: Tensor, part: Window) -> Tensor:
        # Further keys, which belong to no query, look for none: their terms are −∞.
        compared = torch.nn.functional.pad(positive, (0, len(keys) - count), value=torch.inf)
        some, left_out = slice(part.left, part.right), None
        if texts is not None:
            of_rows, of_columns = texts
            # What further keys look for is −∞ already, so that any text does for them.
            positives = torch.nn.functional.pad(of_rows, (0, len(keys) - count))
            seen = of_rows[part.top : part.bottom]
            left_out = same_text(of_columns[some], positives[some], seen)
        return only_others_(terms, [part.left - part.top], left_out, compared[some])

    def loss(survey: Survey) -> float:
        forward = float(survey.added.mean())
        return (forward + float(survey.column_norms[:count].mean())) / 2 if symmetric else forward

    def gradient(survey: Survey) -> np.ndarray:
        """∂L/∂s by pair: each row takes from its own cell what its weights add to the others."""
        norms = [survey.norms, survey.column_norms[:count]] if symmetric else [survey.norms]
        taken = share_of_others(torch.from_numpy(np.stack(norms))).mean(dim=0).numpy()
        felt = np.full(len(batch), np.nan)
        felt[places[0]] = 0.0
        np.subtract.at(felt, places[0], taken * (scale / count))
        return felt

    def looking(survey: Survey) -> DuplicateSearch:
        norms = torch.from_numpy(survey.norms).to(queries)
        return DuplicateSearch(
            queries,
            keys,
            own,
            _numbered(batch, behind[0]),
            _numbered(batch, behind[1]),
            lambda products, at: products - positive[at] - norms[at],
            total=float(-np.expm1(-survey.norms).sum()),
            itself=axes[0] == "view",
            left_out=texts is not None,
        )

    return Streamed(
        Tiles(count, len(columns), True, cells, by_column=symmetric, tied=TIE_LIMIT * scale),
        *places,
        axes,
        loss,
        gradient,
        lambda found: found.nearest,
        looking,
    )


def _against_others(
    form: AgainstOthers, batch: LargeBatch, parameters: Mapping[str, object]
) -> Streamed:
    scale, (own, first, second) = form.scale(**parameters), _positives(batch)
    if form.views:
        views = np.concatenate([first[own], second[own]])
        partner = np.roll(np.arange(len(views)), len(own))
        places, masked = np.concatenate([own, own]), (0, len(own), -len(own))
        of_views: Behind = ((0, own), (1, own))
        arguments = (views, views, partner, (places, places), masked, scale, ("view", "view"))
        return _in_batch(batch, *arguments, symmetric=False, behind=(of_views, of_views))
    others = np.setdiff1d(np.arange(len(batch)), own)
    shown = np.concatenate([own, others])
    return _in_batch(
        batch,
        first[own],
        second[shown],
        np.arange(len(own)),
        (own, shown),
        (0,),
        scale,
        ("query", "key"),
        form.symmetric(**parameters),
        (((0, own),), ((1, shown),)),
    )


def _decisions(form: Decisions, batch: LargeBatch, parameters: Mapping[str, object]) -> Streamed:
    scale, bias = form.scale(**parameters), form.bias(**parameters)
    own, *sides = _positives(batch)
    queries, keys = (_vectors(side[own], scale) for side in sides)
    behind: tuple[Behind, Behind] = (((0, own),), ((1, own),))
    texts = _texts(batch, *behind)

    def left_out(part: Window) -> Tensor | None:
        if texts is None:
            return None
        (of_queries, of_keys), seen = texts, slice(part.top, part.bottom)
        return same_text(of_queries[seen], of_keys[seen], of_keys[part.left : part.right])

    def cells(part: Window) -> tuple[Tensor, Tensor, None]:
        logits = (scale * _products(queries, keys, part)).add_(bias)
        mistaken = mistaken_(logits.T, part.top - part.left, left_out(part)).T
        values = logistic_terms(mistaken)
        return log_logistic_weights(mistaken, values), values, None

    def nearest(survey: Survey) -> int:
        mine = (queries * keys).sum(dim=1)
        is_nearest = torch.ones_like(mine, dtype=torch.bool)
        for part in tiles_of(Window(0, len(own), 0, len(own))):
            seen = slice(part.top, part.bottom)
            cosines = _products(queries, keys, part).T
            others = only_others_(cosines, [part.top - part.left], left_out(part))
            is_nearest[seen] &= others.amax(dim=1) < mine[seen] - TIE_LIMIT * scale
        return int(is_nearest.sum())

    def gradient(survey: Survey) -> np.ndarray:
        logits = scale * (queries * keys).sum(dim=1).cpu().double() + bias
        felt = np.full(len(batch), np.nan)
        felt[own] = logistic_weights_(logits.neg_()).mul_(-scale / len(own)).numpy()
        return felt

    def looking(survey: Survey) -> DuplicateSearch:
        mine = (queries * keys).sum(dim=1).double() * scale + bias
        return DuplicateSearch(
            queries,
            keys,
            np.arange(len(own)),
            _numbered(batch, behind[0]),
            _numbered(batch, behind[1]),
            lambda products, _: torch.nn.functional.logsigmoid(scale * products + bias),
            total=float(survey.row_weights.sum() - torch.sigmoid(-mine).sum()),
            itself=False,
            left_out=texts is not None,
        )

    return Streamed(
        Tiles(len(own), len(own), False, cells),
        own,
        own,
        ("query", "key"),
        lambda found: float(found.added.sum()) / len(own),
        gradient,
        nearest,
        looking,
    )


def smooth(
    form: LogisticSum, batch: LargeBatch, parameters: Mapping[str, object]
) -> LogisticTerms | None:
    """The logistic loss without its cells; None where the scale makes it too steep for that.

    Raises Problem if it is, and there are too many pairs to go through the cells.
    """
    scale, spread = form.scale(**parameters), float(np.ptp(batch.scores))
    if scale * spread > MAX_SPREAD:
        if len(batch) <= LARGE_STREAMED_PAIRS:
            return None
        raise Problem(
            "large_too_steep",
            scale=display_number(scale, 6),
            most=display_number(MAX_SPREAD / spread, 3),
            count=LARGE_STREAMED_PAIRS,
        )
    return LogisticTerms(batch.labels, scale * batch.scores, scale, form.mean(**parameters))


def hinge(form: HingeSum, batch: LargeBatch, parameters: Mapping[str, object]) -> HingeTerms:
    """The hinge without its cells."""
    margin, eps = form.margin(**parameters), form.eps(**parameters)
    return HingeTerms(batch.labels, batch.scores, margin, eps)


@dataclass(frozen=True)
class Method:
    """The ways to compute a form; each is called with it, the batch and the parameters.

    `family` is the name on the page, `pair_limit` the largest number of pairs. A matrix that does
    not `split` is `streamed`, cell by cell, or `summed` without its cells where there are too many
    and it can be.
    """

    family: str
    pair_limit: int
    split: Callable[..., SeparableTerms] | None = None
    streamed: Callable[..., Streamed] | None = None
    summed: Callable[..., LogisticTerms | HingeTerms | None] | None = None


METHODS: Mapping[type, Method] = {
    Separable: Method("split", LARGE_PAIRS, split=split),
    LogisticSum: Method("smooth", LARGE_PAIRS, streamed=_logistic, summed=smooth),
    HingeSum: Method("linear", LARGE_PAIRS, streamed=_hinge, summed=hinge),
    AgainstOthers: Method("in_batch", LARGE_IN_BATCH_PAIRS, streamed=_against_others),
    Decisions: Method("in_batch", LARGE_IN_BATCH_PAIRS, streamed=_decisions),
}


def offered(*families: str) -> list[str]:
    """The losses that declare a form with a method, of these families or of all."""
    able = [name for name, spec in LOSSES.items() if type(spec.form) in METHODS]
    return [name for name in able if not families or method_of(name).family in families]


def method_of(loss: str) -> Method:
    """Return the way to compute the matrix of the loss."""
    return METHODS[type(LOSSES[loss].form)]


def parameters_of(loss: str) -> tuple[Parameter, ...]:
    """Parameters that the loss's form follows; all others of the loss keep their defaults."""
    follows = getattr(LOSSES[loss].form, "follows", ())
    every = LOSSES[loss].parameters
    return tuple(one for one in every if one.name in follows) if follows else every


def loss_input_of(loss: str) -> LossInput:
    """Return what the loss compares."""
    form = LOSSES[loss].form
    if method_of(loss).family == "in_batch":
        return "vectors"
    return form.scores if isinstance(form, Separable) else "cosines"
