"""Which losses can learn from a table of pairs, or of texts with classes, with what speaks for and
against each."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.lab.doctor.classes import ClassTable, alone
from explorer.lab.doctor.data import MANY_MET
from explorer.lab.doctor.landmarks import COLLAPSE, FLOOR, landmark, sides_of
from explorer.lab.doctor.layouts import Layout
from explorer.lab.doctor.profile import Profile
from explorer.locale import say
from losses import LOSSES, LossSpec

MOSTLY, NEARLY_ALL = 0.5, 0.9
WHOLE_LABELS = {"labels", "unit_labels", "cosine_labels", "list_labels"}
BINARY_LABELS = WHOLE_LABELS | {"binary_labels", "pair_classes"}
TEXT_CLASSES = {"classes", "paired_classes"}
# The losses that are made for columns of a kind, in the order in which they are to be tried.
MADE_FOR = {
    "taught": ("margin_mse", "distill_kl"),
    "triplets": ("info_nce", "triplet", "focal_info_nce", "decoupled", "gist", "supcon"),
    "positives": ("info_nce", "nt_xent", "siglip", "decoupled", "mega_batch_margin"),
    "lists": ("list_net", "softmax_rank", "list_mle", "lambda_loss", "approx_ndcg", "info_nce"),
    "inference": ("info_nce",),
    "degrees": ("cosent", "cosine_mse", "angle", "pairwise_logistic"),
    "yes_or_no": ("contrastive", "online_contrastive", "binary_cross_entropy", "cosent"),
    "classes": ("supcon", "triplet", "multi_similarity"),
    "classes_alone": ("softmax", "arcface", "cosface", "proxy_nca", "proxy_anchor"),
}


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
    """The losses of the registry whose needs these columns meet: those of `MADE_FOR`, then all
    others, the best reasons first.

    Read off what each `LossSpec` reads and needs; of equal reasons those that sentence-transformers
    trains a sentence encoder with come first, then those that more libraries have. None where there
    is no positive pair and no two labels differ: what asks for neither is given beside another.
    """
    met = [spec for spec in LOSSES.values() if spec.needs <= profile.has]
    if not any(spec.needs for spec in met):
        return ()
    return _ranked([_weighed(spec, profile, batch) for spec in met], _kinds(profile))


def suited_to_classes(table: ClassTable, batch: int) -> tuple[Suited, ...]:
    """The losses on classes that can learn from texts and their classes, in the same order; none
    where there is one class, or no class has two texts."""
    if len(table.names) < 2 or table.sizes.max() < 2:
        return ()
    is_alone = alone(table.sizes, batch) >= MANY_MET
    found = []
    for spec in LOSSES.values():
        reads = set(spec.reads.values())
        if reads & TEXT_CLASSES:
            by_prototype = "prototypes" in reads
            against = {
                "alone": is_alone and not by_prototype,
                "one_negative": "paired_classes" in reads,
                "prototypes_of_these": by_prototype,
            }
            reasons = ("prototypes",) if by_prototype else ("classes",)
            found.append(Suited(spec.name, reasons, _held(against)))
    return _ranked(found, ("classes_alone" if is_alone else "classes",))


def _ranked(found: list[Suited], kinds: tuple[str, ...]) -> tuple[Suited, ...]:
    def order(one: Suited) -> tuple[int, int, int, bool, int]:
        spec = LOSSES[one.loss]
        made = next((at for at, kind in enumerate(kinds) if one.loss in MADE_FOR[kind]), len(kinds))
        place = MADE_FOR[kinds[made]].index(one.loss) if made < len(kinds) else 0
        weight = len(one.against) - len(one.reasons)
        return made, place, weight, spec.equivalent is None, -len(spec.conventions)

    return tuple(sorted(found, key=order))


def _kinds(profile: Profile) -> tuple[str, ...]:
    """What the columns are, in the words of `MADE_FOR`, the most telling first."""
    levels = len(profile.levels) if profile.labelled else 0
    of_lists = profile.in_order >= MOSTLY and not _by_twos(profile)
    kinds = {
        "taught": profile.has_teacher,
        "triplets": profile.of_triplets,
        "positives": levels < 2 or _mostly_positive(profile),
        "lists": of_lists,
        "inference": profile.of_inference,
        "degrees": levels > 2 and not profile.of_inference,
        "yes_or_no": levels == 2 and not profile.of_triplets,
    }
    return _held(kinds)


def _mostly_positive(profile: Profile) -> bool:
    of_two = profile.labelled and len(profile.levels) == 2
    return of_two and profile.positives >= NEARLY_ALL * len(profile)


def _by_twos(profile: Profile) -> bool:
    """Whether most lists are two candidates."""
    sizes = np.bincount(profile.first)
    several = sizes[sizes > 1]
    return len(several) > 0 and float((several == 2).mean()) >= MOSTLY


@functools.cache
def _only_pulls(loss: str) -> bool:
    """Whether all texts alike is the best that it can ask of positive pairs."""
    own = next(side for side in sides_of(LOSSES[loss]) if not side.convention)
    collapse, floor = (landmark(own, kind, Layout(4)) for kind in (COLLAPSE, FLOOR))
    return collapse is not None and collapse == floor


def _weighed(spec: LossSpec, profile: Profile, batch: int) -> Suited:
    levels = len(profile.levels) if profile.labelled else 0
    kinds, triplets, reads = profile.of_inference, profile.of_triplets, set(spec.reads.values())
    met = profile.met(batch).rows / batch if spec.negatives_of_batch else 0.0
    taught, of_lists = "teacher" in spec.needs, "lists" in spec.needs
    by_order = bool(spec.needs & {"order", "sides"})
    listed = profile.in_order if by_order else 1 - len(profile.alone) / len(profile)
    alike = profile.labelled and profile.commonest >= NEARLY_ALL
    mostly_positive = _mostly_positive(profile)
    in_order = profile.in_order >= MOSTLY
    beside = (levels == 2 or kinds) and in_order
    by_prototype, reads_negatives = "prototypes" in reads, "negatives" in reads
    given = triplets and any(one.given_triplets for one in spec.conventions)
    of_batch = spec.negatives_of_batch
    yes_or_no = levels == 2 and not kinds and not triplets
    whole = bool(reads & WHOLE_LABELS)
    reasons = {
        "degrees": levels > 2 and whole and not kinds,
        "entailed": kinds and spec.by_threshold and not taught,
        "kinds_in_order": kinds and whole,
        "yes_or_no": yes_or_no and bool(reads & BINARY_LABELS),
        "triplet_labels": triplets and spec.reads_labels and not of_lists,
        "positives": levels < 2 and of_batch,
        "positives_alone": levels < 2 and spec.of_positives and not of_batch,
        "mostly_positive": mostly_positive and not triplets and of_batch,
        "positives_of_labels": yes_or_no
        and spec.of_positives
        and not (mostly_positive and of_batch),
        "above_threshold": levels > 2
        and spec.by_threshold
        and not (kinds or whole or by_prototype or taught),
        "hard_negatives": beside and reads_negatives,
        "given_triplets": given,
        "positives_of_triplets": triplets
        and spec.of_positives
        and not given
        and not reads_negatives,
        "joined": by_prototype,
        "teacher": taught,
        "guide": spec.reads_guide and met >= MANY_MET,
        "lists": of_lists and listed >= MOSTLY,
        "spreads": not spec.needs,
    }
    others = levels == 2 and profile.positives < len(profile)
    against = {
        "degrees_lost": levels > 2 and spec.by_threshold and not kinds,
        "kinds_as_degrees": kinds and whole,
        "labels_unread": levels > 1
        and not triplets
        and not spec.reads_labels
        and not spec.by_threshold,
        "alike": alike and by_order,
        "few_lists": of_lists and not by_order and listed < MOSTLY,
        "few_in_order": of_lists and by_order and listed < MOSTLY,
        "lists_of_two": of_lists and listed >= MOSTLY and not taught and _by_twos(profile),
        "queries_unread": spec.reads_labels and not of_lists and in_order,
        "negatives_unread": others
        and not kinds
        and spec.of_positives
        and not reads & {"negatives", *TEXT_CLASSES},
        "negatives_halved": others and not kinds and not in_order and reads_negatives,
        "one_negative": "paired_classes" in reads,
        "classes_of_pairs": by_prototype,
        "only_pulls": spec.of_positives and not of_batch and _only_pulls(spec.name),
        "second_encoder": spec.reads_guide,
        "as_cosines": levels > 1 and not triplets and not kinds and "cosine_labels" in reads,
        "two_outputs": "pair_logits" in reads,
        "teacher_unread": profile.has_teacher and not taught,
        "twins": met >= MANY_MET,
        "nothing_to_learn": not spec.needs,
    }
    return Suited(spec.name, _held(reasons), _held(against))


def _held(names: dict[str, bool]) -> tuple[str, ...]:
    return tuple(name for name, holds in names.items() if holds)
