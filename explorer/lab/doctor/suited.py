"""Which losses can learn from a table of pairs, with what speaks for and against each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.lab.doctor.data import MANY_MET, Profile, met_in_batch
from explorer.locale import say
from losses import LOSSES, LossSpec

MOSTLY = 0.5
WHOLE_LABELS = {"labels", "unit_labels", "cosine_labels", "list_labels"}


@dataclass(frozen=True)
class Suited:
    """A loss that can learn from the data: names of the reasons for it, and against it."""

    loss: str
    reasons: tuple[str, ...]
    against: tuple[str, ...]

    def said(self, language: str = "en") -> tuple[str, ...]:
        names = (*self.reasons, *self.against)
        return tuple(say(language, f"doctor.suited.{name}") for name in names)


def suited(profile: Profile, batch: int) -> tuple[Suited, ...]:
    """The losses of the registry whose needs these columns meet, the best reasons first.

    Read off what each `LossSpec` reads and needs; of equal reasons the one that more libraries have
    comes first.
    """
    there = _there(profile)
    found = [_weighed(spec, profile, batch) for spec in LOSSES.values() if spec.needs <= there]

    def order(one: Suited) -> tuple[int, int]:
        return len(one.against) - len(one.reasons), -len(LOSSES[one.loss].conventions)

    return tuple(sorted(found, key=order))


def _there(profile: Profile) -> set[str]:
    """What of `Readable.needs` the columns have."""
    pairs, labels = profile.pairs, profile.labels
    positives = int(profile.positive.sum())
    several = len(np.unique(profile.first)) < len(profile)
    has = {
        "positives": positives > 0,
        "order": pairs.labelled and len(np.unique(labels)) > 1,
        "sides": pairs.labelled and 0 < positives < len(labels),
        "lists": several,
        "teacher": pairs.teacher is not None,
    }
    return {need for need, met in has.items() if met}


def _weighed(spec: LossSpec, profile: Profile, batch: int) -> Suited:
    levels = len(np.unique(profile.labels)) if profile.pairs.labelled else 0
    reads = set(spec.reads.values())
    met, _ = met_in_batch(profile, spec, batch)
    of_lists = "lists" in spec.needs
    listed = float((np.bincount(profile.first)[profile.first] > 1).mean())
    reasons = {
        "degrees": levels > 2 and bool(reads & WHOLE_LABELS),
        "yes_or_no": levels == 2 and bool(reads & (WHOLE_LABELS | {"binary_labels"})),
        "positives": levels == 0 and spec.negatives_of_batch,
        "teacher": "teacher" in spec.needs,
        "lists": of_lists and listed >= MOSTLY,
    }
    against = {
        "degrees_lost": levels > 2 and spec.by_threshold,
        "labels_unread": levels > 0 and not spec.reads_labels and not spec.by_threshold,
        "few_lists": of_lists and listed < MOSTLY,
        "twins": met.rows / batch >= MANY_MET,
        "nothing_to_learn": not spec.needs,
    }
    kept = [tuple(name for name, holds in one.items() if holds) for one in (reasons, against)]
    return Suited(spec.name, *kept)
