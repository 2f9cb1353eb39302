"""Losses that can learn from a table of pairs, or of texts with classes, with reasons for and
against each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lossprism.explorer.lab.doctor.class_dataset_checks import alone
from lossprism.explorer.lab.doctor.loss_suitability_reasons import (
    AGAINST,
    FOR,
    TEXT_CLASSES,
    LossOnTable,
    TableFacts,
    reasons_of,
)
from lossprism.explorer.lab.doctor.pair_dataset_checks import MANY_ROWS_SHARE
from lossprism.explorer.lab.doctor.pair_table_profile import Profile
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.response_parent_classes import Whole
from lossprism.losses import LOSSES

# The losses made for each kind of columns, in the order to try them.
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

    def written(self, language: str = "en") -> tuple[str, ...]:
        names = (*self.reasons, *self.against)
        return tuple(say(language, f"doctor.suited.{name}") for name in names)


@dataclass(frozen=True)
class WeighedLoss(Whole):
    """A loss that can learn from the data: names of reasons for and against it, and sentences."""

    loss: str
    reasons: list[str]
    against: list[str]
    said: list[str]

    @classmethod
    def of(cls, suitable: Iterable[Suited], language: str) -> list[WeighedLoss]:
        """Return these losses with their sentences."""
        return [
            cls(one.loss, [*one.reasons], [*one.against], [*one.written(language)])
            for one in suitable
        ]


def suited(profile: Profile, batch: int) -> tuple[Suited, ...]:
    """Return the losses whose needs these columns meet: those of `MADE_FOR`, then all others, the
    best reasons first.

    Among equal reasons, those that sentence-transformers trains with come first, then those in more
    libraries. Empty without a positive pair or two different labels: the only losses left would be
    regularisers, which are added to another loss.
    """
    met = [spec for spec in LOSSES.values() if spec.needs <= profile.needs_met]
    if not any(spec.needs for spec in met):
        return ()
    table = TableFacts(profile, batch)
    matches = [LossOnTable(spec, table) for spec in met]
    suitable = [
        Suited(m.spec.name, *(reasons_of(m, one) for one in (FOR, AGAINST))) for m in matches
    ]
    return _ranked(suitable, _kinds(table))


def suited_to_classes(table: ClassTable, batch: int) -> tuple[Suited, ...]:
    """Return the losses that can learn from texts with classes, in the same order; empty for a
    single class, or if no class has two texts."""
    if len(table.names) < 2 or table.sizes.max() < 2:
        return ()
    is_alone = alone(table.sizes, batch) >= MANY_ROWS_SHARE
    suitable = []
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
            suitable.append(Suited(spec.name, reasons, _holding(against)))
    return _ranked(suitable, ("classes_alone" if is_alone else "classes",))


def _ranked(suitable: list[Suited], kinds: tuple[str, ...]) -> tuple[Suited, ...]:
    def order(one: Suited) -> tuple[int, int, int, bool, int]:
        spec = LOSSES[one.loss]
        kind_rank = next(
            (at for at, kind in enumerate(kinds) if one.loss in MADE_FOR[kind]), len(kinds)
        )
        place = MADE_FOR[kinds[kind_rank]].index(one.loss) if kind_rank < len(kinds) else 0
        weight = len(one.against) - len(one.reasons)
        return kind_rank, place, weight, spec.equivalent is None, -len(spec.conventions)

    return tuple(sorted(suitable, key=order))


def _kinds(table: TableFacts) -> tuple[str, ...]:
    """Return the kinds of the columns, as in `MADE_FOR`, the most specific first."""
    kinds = {
        "taught": table.profile.has_teacher,
        "triplets": table.triplets,
        "positives": table.levels < 2 or table.mostly_positive,
        "lists": table.in_lists and not table.in_lists_of_two,
        "inference": table.inference,
        "degrees": table.degrees,
        "yes_or_no": table.levels == 2 and not table.triplets,
    }
    return _holding(kinds)


def _holding(names: dict[str, bool]) -> tuple[str, ...]:
    return tuple(name for name, holds in names.items() if holds)
