"""Remedies to paste, each tried on the rows of the table before it is advised: samplers, batch
sizes and a mask for texts that share a batch."""

import functools
import itertools
import json
from collections.abc import Callable

import numpy as np
import torch

from lossprism.explorer.lab.doctor.duplicate_collisions import partners
from lossprism.explorer.lab.doctor.pair_table_profile import Profile
from lossprism.explorer.lab.doctor.remedy_trial_result import (
    ALONE,
    MINIMUM,
    SHARED,
    WITHOUT_POSITIVE,
    Trial,
    Tried,
    helpful,
)
from lossprism.explorer.lab.doctor.text_ids import pair_ids
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.samplers import (
    Batches,
    Epoch,
    group_by_label,
    largest_without_duplicates,
    no_duplicates,
    shuffled,
)
from lossprism.losses import LOSSES, LossSpec

# Code to paste, after `from sentence_transformers.sentence_transformer import losses`.
NO_DUPLICATES = "batch_sampler=BatchSamplers.NO_DUPLICATES"
BY_CLASS = "batch_sampler=BatchSamplers.GROUP_BY_LABEL"
BATCH_SIZE = "per_device_train_batch_size={size}"
# Code to paste, after `from losses.sentence_transformers import training_loss`.
MASKED = 'loss = training_loss("{loss}")(model, {convention}twins="leave_out")'
# A larger batch size is advised if it brings the share of rows alone, or of batches without a
# positive pair, below these.
MAX_ALONE_SHARE, MAX_WITHOUT_SHARE = 0.1, 0.001
MAX_ROWS = 200_000  # on which a remedy is tried: all, or a random sample
# Batches over which a share is measured, in several epochs if one has fewer.
MEASURED_BATCHES = 1000


class SharedTexts:
    """The rows of a table on which remedies for shared texts are tried: all of them, or a random
    sample of `MAX_ROWS`."""

    def __init__(self, profile: Profile) -> None:
        self.rows = len(profile.heads)
        sample = _sample(self.rows)
        heads = profile.heads[sample]
        self._positive = profile.positive[heads]
        self._first, self._second = profile.first[heads], profile.second[heads]
        self.texts = _texts(profile, sample)

    def __len__(self) -> int:
        return len(self.texts)

    def partners(self, batches: Batches, *, masked: bool = False) -> np.ndarray:
        """Return, for each positive row, how many positive rows of its batch are its negatives but
        share a text with it; `masked`, without keys that equal its query or key."""
        row, batch = _rows_with_batches(batches)
        positive = self._positive[row]
        row, batch = row[positive], batch[positive]
        sides = pair_ids(
            np.concatenate([batch, batch]), np.concatenate([self._first[row], self._second[row]])
        )
        first, second = sides[: len(row)], sides[len(row) :]
        pair = pair_ids(first, second)
        if not masked:
            return partners(first, second, pair)
        count = int(sides.max(initial=-1)) + 1
        on_both = np.bincount(first[first == second], minlength=count)
        others = np.bincount(first)[first] - np.bincount(pair)[pair]
        return np.where(first == second, others, others - on_both[first])

    def try_one(
        self, batches: Batches, size: int, before: float, measure: str, **how: bool
    ) -> Trial:
        """Measure these batches of `size` rows."""
        met = self.partners(batches, **how)
        values = np.log1p(met) if measure == MINIMUM else met > 0
        after = float(values.mean()) if len(met) else before
        epoch = Epoch.of(batches, len(self), size)
        return Trial(self.rows, len(self), epoch, measure, before, after)


def against_shared_texts(
    profile: Profile, spec: LossSpec, batch: int, is_softmax: bool
) -> tuple[Trial, Tried]:
    """Try remedies against duplicate texts of a batch as each other's negatives.

    Returns the trial of sentence-transformers' sampler at this batch size, and the remedies that
    help.
    """
    shared, met = SharedTexts(profile), profile.meetings_in(batch)
    measure, before = (MINIMUM, met.floor) if is_softmax else (SHARED, met.rows / batch)
    size = min(batch, len(shared))
    trial = functools.partial(shared.try_one, before=before, measure=measure)
    separate = trial(no_duplicates(shared.texts, size, _generator()), size)
    trials = {NO_DUPLICATES: separate}
    if spec.reads_texts:
        batches = shuffled(len(shared), size, _generator())
        trials[masked_call(spec)] = trial(batches, size, masked=True)
    if not separate.epoch.works and (fits := largest_without_duplicates(shared.texts, size)):
        batches = no_duplicates(shared.texts, fits, _generator())
        trials[f"{BATCH_SIZE.format(size=fits)}, {NO_DUPLICATES}"] = trial(batches, fits)
    return separate, helpful(trials)


def against_rows_alone(
    classes: np.ndarray, batch: int, before: float
) -> tuple[Trial | None, Tried]:
    """Try remedies that bring texts of one class [N] together in a batch; `before` is the share of
    rows without another of their class.

    Returns the trial of sentence-transformers' sampler, None where it refuses these rows, and the
    remedies that help.
    """

    def alone(batches: Batches) -> float:
        row, batch_of = _rows_with_batches(batches)
        both = pair_ids(batch_of, classes[row])
        return float((np.bincount(both)[both] == 1).mean())

    grouped = _grouped(classes, batch, alone, ALONE, before)
    larger = _larger(len(classes), batch, alone, ALONE, before, enough=MAX_ALONE_SHARE)
    return next(iter(grouped.values()), None), helpful(grouped | larger)


def against_batches_without_positive(profile: Profile, batch: int, before: float) -> Tried:
    """Try remedies that put a positive pair into each batch; `before` is the share without one."""
    positive = profile.positive[profile.heads]

    def without(batches: Batches) -> float:
        return float((~positive[np.array(batches)].any(axis=1)).mean())

    grouped: Tried = {}
    if profile.rows is None and profile.labelled:
        grouped = _grouped(profile.labels, batch, without, WITHOUT_POSITIVE, before)
    larger = _larger(
        len(positive), batch, without, WITHOUT_POSITIVE, before, enough=MAX_WITHOUT_SHARE
    )
    return helpful(grouped | larger)


def _grouped(
    labels: np.ndarray,
    batch: int,
    measured: Callable[[Batches], float],
    measure: str,
    before: float,
) -> Tried:
    """Try sentence-transformers' sampler by label at the nearest batch size that it accepts; empty
    if it refuses these rows."""
    size = max(batch // 2 * 2, 4)
    try:
        batches = group_by_label(labels.tolist(), size, _generator())
    except Problem:  # no two labels have two rows each
        return {}
    epoch = Epoch.by_label(batches, len(labels), size)
    after = measured(batches) if batches else before
    paste = BY_CLASS if size == batch else f"{BATCH_SIZE.format(size=size)}, {BY_CLASS}"
    return {paste: Trial(len(labels), len(labels), epoch, measure, before, after)}


def _larger(
    rows: int,
    batch: int,
    measured: Callable[[Batches], float],
    measure: str,
    before: float,
    enough: float,
) -> Tried:
    """Try 2, 4, 8 … times the batch size, while two such batches can be drawn; return the first
    that measures below `enough` and below half of `before`."""
    size = 2 * batch
    while 2 * size <= rows:
        generator = _generator()
        epochs = min(MEASURED_BATCHES // (rows // size), MAX_ROWS // rows)
        batches = shuffled(rows, size, generator)
        more = (shuffled(rows, size, generator) for _ in range(epochs - 1))
        after = measured(tuple(itertools.chain(batches, *more)))
        if after < min(enough, before / 2):
            epoch = Epoch.of(batches, rows, size)
            trial = Trial(rows, rows, epoch, measure, before, after)
            return {BATCH_SIZE.format(size=size): trial}
        size *= 2
    return {}


def _rows_with_batches(batches: Batches) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of these batches [N], and the number of the batch of each [N]."""
    rows = np.fromiter(itertools.chain.from_iterable(batches), np.int64)
    return rows, np.repeat(np.arange(len(batches)), [len(one) for one in batches])


def _generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def _sample(rows: int) -> np.ndarray:
    """Return the indices of the rows on which a remedy is tried."""
    if rows <= MAX_ROWS:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, MAX_ROWS, replace=False))


def _texts(profile: Profile, sample: np.ndarray) -> list[tuple[int, ...]]:
    """Return the numbers of the distinct texts of each of these rows."""
    place = np.full(len(profile.heads), -1)
    place[sample] = np.arange(len(sample))
    of = place[profile.row_of]
    rows: list[dict[int, None]] = [{} for _ in sample]
    for side in (profile.first, profile.second):
        for row, text in zip(of[of >= 0].tolist(), side[of >= 0].tolist(), strict=True):
            rows[row][text] = None
    return [tuple(texts) for texts in rows]


def masked_call(spec: LossSpec) -> str:
    """Return code to paste: this library's loss, which leaves out keys of equal texts."""
    own = LOSSES[spec.name]
    alike = spec.defaults == own.defaults and spec.definition is own.definition
    convention = "" if alike else f"convention={json.dumps(spec.convention)}, "
    return MASKED.format(loss=spec.name, convention=convention)
