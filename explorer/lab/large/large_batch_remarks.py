"""Remarks on a large batch: disagreement of labels and scores, and other striking facts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.core.collapse_crossing import Compared, Crossing, crossing_along
from lossprism.explorer.core.cosine_error_of_approximate_encoders import (
    MAX_SENTENCES,
    CosineError,
    largest_error,
)
from lossprism.explorer.core.duplicate_negatives import SameText
from lossprism.explorer.core.label_disagreement import Disagreement, disagreement
from lossprism.explorer.core.rank_correlation import spearman
from lossprism.explorer.core.ranks_and_term_weights import ACTIVE_SHARE
from lossprism.explorer.core.remarks import (
    MAX_COLLAPSED_SPREAD,
    Remark,
    RemarkFacts,
    mostly_foreign,
    remarks_on,
)
from lossprism.explorer.lab.large.batch import LargeBatch
from lossprism.explorer.lab.large.large_batch_session import LargeSession
from lossprism.explorer.lab.large.loss_matrix_methods import method_of
from lossprism.explorer.lab.large.tile_survey import Progress
from lossprism.explorer.sources.encoders.bundled_encoder import has_embedded_weights
from lossprism.losses import LOSSES, LossSpec

# The target of a row of the map, by its kind.
SOUGHT_AXIS = {"query": "key", "view": "class"}
# Rows of vectors that are compared with all others at once.
ROWS_AT_ONCE = 2**9


@dataclass(frozen=True)
class LabelJudgement:
    """Findings about a batch whatever the loss.

    Its rank correlation, the usual number of suspects, whether the scores come from an encoder that
    does not know the language, and the error of one that rounds another.
    """

    spearman: float | None
    usual: Disagreement | None
    doubtful: bool
    encoder_error: CosineError | None


def judged(batch: LargeBatch, progress: Progress) -> LabelJudgement:
    """Judge the whole batch. `progress` hears of draws done and may raise to stop."""
    correlation = spearman(batch.labels, batch.scores)
    foreign = has_embedded_weights(batch.encoder) and mostly_foreign(batch.first, batch.second)
    listed = len(batch.contradictions.suspects) > 0
    usual = disagreement(batch.contradictions, correlation, progress) if listed else None
    half = MAX_SENTENCES // 2
    error = largest_error([*batch.first[:half], *batch.second[:half]], batch.encoder)
    return LabelJudgement(correlation, usual, foreign, error)


def remarks_of(
    session: LargeSession, loss: str, parameters: Mapping[str, Any], by: LabelJudgement
) -> list[Remark]:
    """Return the remarks of Explore on this batch, as far as its figures are known here."""
    spec, batch = LOSSES[loss], session.batch
    contradicted = batch.contradictions
    felt = np.abs(np.nan_to_num(session.gradient))
    total = float(felt.sum())
    shares = np.cumsum(session.heaviest.shares)
    enough = np.flatnonzero(shares >= ACTIVE_SHARE - 1e-12)
    looks_for = SOUGHT_AXIS.get(session.matrix.axes[0], "")
    level = _collapse(session, loss, parameters)
    seen = RemarkFacts(
        spec=spec,
        parameters=parameters,
        loss=session.loss,
        collapse=level,
        pairs=len(batch),
        ordered=contradicted.ordered,
        violated=contradicted.violated,
        spread=_spread(batch, bool(looks_for)),
        together=batch.first_vectors is not None and _spread(batch, True) <= MAX_COLLAPSED_SPREAD,
        gradient_norm=session.gradient_norm,
        crossing=lambda: _crossing(session, loss, parameters),
        looks_for=looks_for,
        anchors=session.shape[0] if looks_for else 0,
        found=session.nearest or 0,
        doubtful=by.doubtful,
        strong=len(contradicted.strong),
        felt=float(felt[contradicted.strong].sum()) / total if total > 0 else None,
        usual=by.usual,
        terms=session.present,
        active=int(enough[0]) + 1 if len(enough) else None,
        carried=float(shares[enough[0]]) if len(enough) else 0.0,
        broken="" if np.isfinite(session.loss) else spec.terms,
        same_text=_same_text(session, spec),
        encoder_error=by.encoder_error,
    )
    return remarks_on(seen)


def _same_text(session: LargeSession, spec: LossSpec) -> Mapping[str, SameText]:
    by_step = session.same_text if spec.reads_texts else None
    return {} if by_step is None else {spec.name: by_step}


def _collapse(session: LargeSession, loss: str, parameters: Mapping[str, Any]) -> float | None:
    """Value of the loss here if all embeddings were equal."""
    of = LOSSES[loss].collapse
    return None if of is None else of(_collapse_inputs(session, loss), **parameters)


def _collapse_inputs(session: LargeSession, loss: str) -> dict[str, Tensor]:
    """Inputs of the value at collapse, by the names that the loss has for them: the labels, or the
    vectors of the rows and columns that are compared."""
    batch, axis = session.batch, session.matrix.axes[0]
    own = np.asarray(session.matrix.row_pairs)
    if axis == "view":
        own = own[: len(own) // 2]
    others = np.asarray(session.matrix.column_pairs)[len(own) :] if axis == "query" else own[:0]
    sides = {
        "labels": batch.labels,
        "binary_labels": batch.labels,
        "queries": batch.first_vectors,
        "keys": batch.second_vectors,
        "negatives": batch.second_vectors,
    }
    places = {"queries": own, "keys": own, "negatives": others}
    inputs = {}
    for name, what in LOSSES[loss].reads.items():
        values = sides.get(what)
        if values is None or (what == "negatives" and not len(others)):
            continue
        inputs[name] = torch.from_numpy(values[places[what]] if what in places else values)
    return inputs


def _crossing(session: LargeSession, loss: str, parameters: Mapping[str, Any]) -> Crossing | None:
    """Find where the loss ceases to be above its value at collapse.

    None also for a loss whose terms do not split: it would need a survey for every value of its
    scale.
    """
    spec, split = LOSSES[loss], method_of(loss).split
    of = spec.collapse
    if split is None or of is None:
        return None
    inputs = _collapse_inputs(session, loss)

    def at(chosen: Mapping[str, Any]) -> Compared:
        return split(spec.form, session.batch, chosen).loss, of(inputs, **chosen)

    return crossing_along(spec, parameters, at)


def _spread(batch: LargeBatch, among_all: bool) -> float:
    """Range of the similarities that the loss compares: those of the pairs, or `among_all`
    sentences.

    Beyond MAX_COLLAPSED_SPREAD the range of all sentences is not exact: only a collapse matters.
    """
    spread = float(np.ptp(batch.scores))
    if not among_all or spread > MAX_COLLAPSED_SPREAD or batch.first_vectors is None:
        return spread
    assert batch.second_vectors is not None, "both sides have vectors, or neither"
    vectors = np.concatenate([batch.first_vectors, batch.second_vectors])
    least, largest = np.inf, -np.inf
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        cosines = vectors[start : start + ROWS_AT_ONCE] @ vectors.T
        itself = np.arange(len(cosines))
        cosines[itself, start + itself] = cosines[itself, start + itself - 1]
        least, largest = min(least, cosines.min()), max(largest, cosines.max())
        if largest - least > MAX_COLLAPSED_SPREAD:
            break
    return float(largest - least)
