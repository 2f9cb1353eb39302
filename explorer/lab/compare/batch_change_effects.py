"""Effect of a change of the batch on every loss.

A change makes another batch of the same pairs, and the losses are run on both. Nothing is encoded:
a row that is doubled, or becomes a positive, keeps its vectors.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from lossprism.explorer.core.batch import Batch, batch_of_scores, batch_of_vectors
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.single_pass_sweep import Point, point_of
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LossSpec

Kind = Literal["flip", "drop", "duplicate", "false_negative", "shift", "spread"]
KINDS: tuple[Kind, ...] = ("flip", "drop", "duplicate", "false_negative", "shift", "spread")
PAIR_KINDS = ("flip", "drop", "duplicate", "false_negative")


@dataclass(frozen=True)
class Change:
    """A change of a batch.

    "flip": pair `pair` gets the label at the other end of its scale, as far from it as it was from
    this one; "drop" leaves the pair out; "duplicate" puts it in once more; "false_negative" puts
    its second sentence in once more, as that of the pair `by`, under the lowest label: a right
    answer that counts as a wrong one. "shift" adds `by` to all scores, "spread" multiplies their
    distances from their mean by it; both replace the scores of losses that read scores.
    """

    kind: Kind
    pair: int = 0
    by: float = 0.0


@dataclass(frozen=True)
class Effect:
    """A loss before and after a change; `refused` says why there is no after: nothing is left to
    learn from, or the loss compares vectors and not the scores that were moved. Both gradients are
    those of the scores where scores were moved, else of what `Exploration.gradient_of` says."""

    loss: str
    convention: str
    before: Point
    after: Point | None
    collapse_before: float | None
    collapse_after: float | None
    floor_before: float | None
    floor_after: float | None
    refused: Problem | None = None

    @property
    def ratio(self) -> float | None:
        """Ratio of the loss to the one before; None where that was 0, or one is not there."""
        if self.after is None or self.before.loss == 0:
            return None
        return self.after.loss / self.before.loss

    @property
    def notices(self) -> bool:
        """True if the loss changes by more than rounding."""
        if self.after is None:
            return False
        size = max(abs(self.before.loss), abs(self.after.loss), 1e-12)
        return abs(self.after.loss - self.before.loss) > 1e-9 * size


def what_if(scenarios: Sequence[Scenario], batch: Batch, change: Change) -> list[Effect]:
    """Run each loss on the batch as it is and as it would be.

    Raises:
        Problem: if there is no such change or no such pair, or a loss cannot be run on the batch as
            it is.
    """
    changed = changed_batch(batch, change)
    return [effect_of(scenario, batch, changed, change.kind) for scenario in scenarios]


def effect_of(scenario: Scenario, batch: Batch, changed: Batch, kind: Kind) -> Effect:
    """Return one loss on the batch and on the changed one.

    Raises Problem where it cannot be run on the batch as it is.
    """
    resolved = resolve(scenario)
    before = explore(resolved, batch)
    refused, after = None, None
    if kind not in PAIR_KINDS and not reads_only_scores(before.spec):
        refused = Problem("no_scores_to_move", about="loss")
    else:
        try:
            after = explore(resolved, changed)
        except Problem as problem:
            refused = problem
    start = point_of(before)
    # Scores that were moved are still of the kind that they were, with its minimum.
    references = before if after is not None and kind not in PAIR_KINDS else after
    if after is not None and after.gradient_of != before.gradient_of:
        start = dataclasses.replace(start, gradient=_by_scores(before))
    return Effect(
        loss=before.spec.name,
        convention=scenario.convention,
        before=start,
        after=after and point_of(after),
        collapse_before=before.collapse,
        collapse_after=references and references.collapse,
        floor_before=before.floor,
        floor_after=references and references.floor,
        refused=refused,
    )


def _by_scores(e: Exploration) -> float:
    slopes = e.score_gradient
    return 0.0 if slopes is None else float(slopes.nan_to_num(0.0).norm())


def reads_only_scores(spec: LossSpec) -> bool:
    """True if the scores of the pairs are all that the loss compares."""
    return spec.reads_scores and not spec.reads_vectors


def changed_batch(batch: Batch, change: Change) -> Batch:
    """Return the batch after the change.

    Raises:
        Problem: if there is no such change or no such pair, or nothing is left.
    """
    if change.kind not in KINDS:
        raise Problem("what_if_kind", name=str(change.kind)[:60], known=", ".join(KINDS))
    if change.kind in PAIR_KINDS and not 0 <= change.pair < len(batch):
        raise Problem("what_if_pair", pair=change.pair, most=len(batch) - 1)
    if change.kind == "shift":
        return _with_scores(batch, batch.scores.detach() + change.by)
    if change.kind == "spread":
        scores = batch.scores.detach()
        return _with_scores(batch, scores.mean() + change.by * (scores - scores.mean()))
    # Each row of the new batch: the pairs whose first and second sentence it has, and its label.
    labels = batch.pairs.labels
    rows = [(place, place, label) for place, label in enumerate(labels)]
    if change.kind == "flip":
        low, high = batch.label_range
        rows[change.pair] = (change.pair, change.pair, low + high - labels[change.pair])
    elif change.kind == "drop":
        del rows[change.pair]
    elif change.kind == "duplicate":
        rows.append(rows[change.pair])
    else:
        query = int(change.by)
        if query != change.by or not 0 <= query < len(batch):
            raise Problem("what_if_pair", pair=f"{change.by:g}", most=len(batch) - 1)
        rows.append((query, change.pair, min(labels)))
    if not rows:
        raise Problem("no_pairs")
    return of_rows(batch, rows)


def of_rows(batch: Batch, rows: Sequence[tuple[int, int, float]]) -> Batch:
    """The batch of these rows, under the rules and with the vectors or scores that it has."""
    pairs = Pairs(
        tuple(batch.pairs.first[first] for first, _, _ in rows),
        tuple(batch.pairs.second[second] for _, second, _ in rows),
        tuple(label for _, _, label in rows),
    )
    low, high = batch.label_range
    rules = dataclasses.replace(batch.rules, threshold=batch.threshold, label_range=(low, high))
    if batch.given is not None:
        if any(first != second for first, second, _ in rows):
            raise Problem("what_if_given")
        scores = tuple(float(batch.given[first]) for first, _, _ in rows)
        return _taught(
            batch_of_scores(dataclasses.replace(pairs, scores=scores), rules), batch, rows
        )
    known = {text: place for place, text in enumerate(batch.pairs.sentences)}
    places = [known[text] for text in pairs.sentences]
    rows_batch = batch_of_vectors(pairs, batch.needed_vectors[places].cpu().numpy(), rules)
    guide, teacher = (
        None if every is None else every[places] for every in (batch.guide, batch.teacher_vectors)
    )
    rows_batch = dataclasses.replace(rows_batch, guide=guide, teacher_vectors=teacher)
    return _taught(rows_batch, batch, rows)


def _taught(batch_of_rows: Batch, batch: Batch, rows: Sequence[tuple[int, int, float]]) -> Batch:
    """Return the batch with the teacher's scores of these pairs; without them if there is a new
    pair."""
    if batch.teacher is None or any(first != second for first, second, _ in rows):
        return batch_of_rows
    return dataclasses.replace(
        batch_of_rows, teacher=batch.teacher[[first for first, _, _ in rows]]
    )


def _with_scores(batch: Batch, scores: Tensor) -> Batch:
    """The same pairs with these scores in place of their cosines."""
    return dataclasses.replace(batch, given=scores)
