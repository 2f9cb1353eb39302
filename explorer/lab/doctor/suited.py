"""Which losses can learn from a table of pairs, or of texts with classes, with what speaks for and
against each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.lab.doctor.classes import ClassTable, alone
from explorer.lab.doctor.data import MANY_MET
from explorer.lab.doctor.profile import Profile
from explorer.locale import say
from losses import LOSSES, LossSpec

MOSTLY, NEARLY_ALL = 0.5, 0.9
WHOLE_LABELS = {"labels", "unit_labels", "cosine_labels", "list_labels"}
BINARY_LABELS = WHOLE_LABELS | {"binary_labels"}


@dataclass(frozen=True)
class Suited:
    """A loss that can learn from the data: names of the reasons for it, and against it."""

    loss: str
    reasons: tuple[str, ...]
    against: tuple[str, ...]

    def to_json(self, language: str) -> dict[str, Any]:
        return {
            "loss": self.loss,
            "reasons": list(self.reasons),
            "against": list(self.against),
            "said": list(self.said(language)),
        }

    def said(self, language: str = "en") -> tuple[str, ...]:
        names = (*self.reasons, *self.against)
        return tuple(say(language, f"doctor.suited.{name}") for name in names)


def suited(profile: Profile, batch: int) -> tuple[Suited, ...]:
    """The losses of the registry whose needs these columns meet, the best reasons first.

    Read off what each `LossSpec` reads and needs; of equal reasons those that sentence-transformers
    trains a sentence encoder with come first, then those that more libraries have.
    """
    found = [
        _weighed(spec, profile, batch) for spec in LOSSES.values() if spec.needs <= profile.has
    ]

    return tuple(sorted(found, key=_order))


def suited_to_classes(table: ClassTable, batch: int) -> tuple[Suited, ...]:
    """The losses on classes that can learn from texts and their classes, the best reasons first;
    none where there is one class, or no class has two texts."""
    if len(table.names) < 2 or table.sizes.max() < 2:
        return ()
    is_alone = alone(table.sizes, batch) >= MANY_MET
    found = []
    for spec in LOSSES.values():
        reads = set(spec.reads.values())
        if "classes" in reads:
            by_prototype = "prototypes" in reads
            reasons = ("prototypes",) if by_prototype else ("classes",)
            against = ("alone",) if is_alone and not by_prototype else ()
            found.append(Suited(spec.name, reasons, against))
    return tuple(sorted(found, key=_order))


def _order(one: Suited) -> tuple[int, bool, int]:
    spec = LOSSES[one.loss]
    return len(one.against) - len(one.reasons), spec.equivalent is None, -len(spec.conventions)


def _weighed(spec: LossSpec, profile: Profile, batch: int) -> Suited:
    levels = len(profile.levels) if profile.labelled else 0
    kinds, reads = profile.of_inference, set(spec.reads.values())
    met = profile.met(batch).rows / batch if spec.negatives_of_batch else 0.0
    of_lists = "lists" in spec.needs
    by_order = bool(spec.needs & {"order", "sides"})
    listed = profile.in_order if by_order else 1 - len(profile.alone) / len(profile)
    alike = profile.labelled and profile.commonest >= NEARLY_ALL
    mostly_positive = levels == 2 and profile.positives >= NEARLY_ALL * len(profile)
    reasons = {
        "degrees": levels > 2 and bool(reads & WHOLE_LABELS) and not kinds,
        "entailed": kinds and spec.by_threshold,
        "yes_or_no": levels == 2 and (bool(reads & BINARY_LABELS) or spec.by_threshold),
        "positives": levels == 0 and spec.negatives_of_batch,
        "positives_alone": levels == 0 and spec.of_positives and not spec.negatives_of_batch,
        "mostly_positive": mostly_positive and spec.negatives_of_batch,
        "hard_negatives": (
            (levels == 2 or kinds) and "negatives" in reads and profile.in_order >= MOSTLY
        ),
        "teacher": "teacher" in spec.needs,
        "guide": spec.reads_guide and met >= MANY_MET,
        "lists": of_lists and listed >= MOSTLY,
    }
    against = {
        "degrees_lost": levels > 2 and spec.by_threshold and not kinds,
        "kinds_as_degrees": kinds and bool(reads & WHOLE_LABELS),
        "labels_unread": levels > 0 and not spec.reads_labels and not spec.by_threshold,
        "alike": alike and by_order,
        "few_lists": of_lists and not by_order and listed < MOSTLY,
        "few_in_order": of_lists and by_order and listed < MOSTLY,
        "twins": met >= MANY_MET,
        "nothing_to_learn": not spec.needs,
    }
    kept = [tuple(name for name, holds in one.items() if holds) for one in (reasons, against)]
    return Suited(spec.name, *kept)
