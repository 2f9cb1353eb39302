"""Reasons for and against a loss on the columns of a table, as a table of rules."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lossprism.explorer.lab.doctor.label_faults import WHOLE_LABELS, only_compares
from lossprism.explorer.lab.doctor.pair_dataset_checks import MANY_ROWS_SHARE
from lossprism.explorer.lab.doctor.pair_table_profile import Profile
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    FLOOR,
    configured_losses,
    reference_value,
)
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout
from lossprism.losses import LOSSES, LossSpec

MOST, NEARLY_ALL = 0.5, 0.9  # shares of the pairs of a table
BINARY_LABELS = WHOLE_LABELS | {"binary_labels", "pair_classes"}
TEXT_CLASSES = {"classes", "paired_classes"}
FOR, AGAINST = "for", "against"


@dataclass(frozen=True)
class TableFacts:
    """Facts of a table of pairs on which reasons depend.

    `levels` counts the distinct labels, 0 without labels. `in_lists`: most first texts have several
    labels. `in_lists_of_two`: most lists have two candidates.
    """

    profile: Profile
    batch: int

    @cached_property
    def levels(self) -> int:
        return len(self.profile.levels) if self.profile.labelled else 0

    @property
    def triplets(self) -> bool:
        return self.profile.of_triplets

    @property
    def inference(self) -> bool:
        return self.profile.of_inference

    @cached_property
    def in_lists(self) -> bool:
        return bool(self.profile.has_other_label.mean() >= MOST)

    @cached_property
    def in_lists_of_two(self) -> bool:
        sizes = np.bincount(self.profile.first)
        several = sizes[sizes > 1]
        return len(several) > 0 and float((several == 2).mean()) >= MOST

    @cached_property
    def one_label(self) -> bool:
        """True if nearly all labels are the same."""
        return self.profile.labelled and self.profile.commonest_label_share >= NEARLY_ALL

    @cached_property
    def mostly_positive(self) -> bool:
        """True if nearly all pairs have the higher one of two labels."""
        return self.levels == 2 and self.profile.positives >= NEARLY_ALL * len(self.profile)

    @property
    def yes_or_no(self) -> bool:
        return self.levels == 2 and not self.inference and not self.triplets

    @property
    def degrees(self) -> bool:
        return self.levels > 2 and not self.inference

    @property
    def some_negative(self) -> bool:
        """True if labels are of two values, not kinds of inference, and some pairs are negative."""
        below = self.profile.positives < len(self.profile)
        return self.levels == 2 and below and not self.inference

    @property
    def has_hard_negatives(self) -> bool:
        return self.in_lists and (self.levels == 2 or self.inference)

    @cached_property
    def shares_texts(self) -> bool:
        """True if many rows of a batch share a text with another one."""
        return self.profile.meetings_in(self.batch).rows / self.batch >= MANY_ROWS_SHARE


@dataclass(frozen=True)
class LossOnTable:
    """A loss on the columns of a table."""

    spec: LossSpec
    table: TableFacts

    @cached_property
    def reads(self) -> set[str]:
        return set(self.spec.reads.values())

    @property
    def whole_labels(self) -> bool:
        return bool(self.reads & WHOLE_LABELS)

    @property
    def prototypes(self) -> bool:
        return "prototypes" in self.reads

    @property
    def negatives(self) -> bool:
        return "negatives" in self.reads

    @property
    def teacher(self) -> bool:
        return "teacher" in self.spec.needs

    @property
    def lists(self) -> bool:
        return "lists" in self.spec.needs

    @property
    def by_order(self) -> bool:
        return bool(self.spec.needs & {"order", "sides"})

    @cached_property
    def listed(self) -> bool:
        """True if most pairs have other candidates of their first text; for a loss on order, with
        other labels."""
        profile = self.table.profile
        return self.table.in_lists if self.by_order else bool(profile.in_list.mean() >= MOST)

    @property
    def few_lists(self) -> bool:
        """True if a loss on lists finds few in the table."""
        return self.lists and not self.listed

    @property
    def given_triplets(self) -> bool:
        return self.table.triplets and any(one.given_triplets for one in self.spec.conventions)

    @property
    def meets_shared_texts(self) -> bool:
        return self.spec.negatives_of_batch and self.table.shares_texts


class Rule(NamedTuple):
    """A sentence of `doctor.suited` that speaks for or against a loss where its condition holds."""

    sentence: str
    verdict: str
    holds: Callable[[LossOnTable], bool]


@functools.cache
def only_pulls(loss: str) -> bool:
    """True if equal embeddings of all texts are the loss's optimum on positive pairs."""
    own = next(one for one in configured_losses(LOSSES[loss]) if not one.convention)
    collapse, floor = (reference_value(own, kind, Layout(4)) for kind in (COLLAPSE, FLOOR))
    return collapse is not None and collapse == floor


RULES = (
    Rule("degrees", FOR, lambda m: m.table.degrees and m.whole_labels),
    Rule("entailed", FOR, lambda m: m.table.inference and m.spec.by_threshold and not m.teacher),
    Rule("kinds_in_order", FOR, lambda m: m.table.inference and m.whole_labels),
    Rule(
        "yes_or_no",
        FOR,
        lambda m: m.table.yes_or_no and bool(m.reads & BINARY_LABELS) and not m.few_lists,
    ),
    Rule("triplet_labels", FOR, lambda m: m.table.triplets and m.spec.reads_labels and not m.lists),
    Rule("positives", FOR, lambda m: m.table.levels < 2 and m.spec.negatives_of_batch),
    Rule(
        "positives_alone",
        FOR,
        lambda m: m.table.levels < 2 and m.spec.of_positives and not m.spec.negatives_of_batch,
    ),
    Rule(
        "mostly_positive",
        FOR,
        lambda m: m.table.mostly_positive and not m.table.triplets and m.spec.negatives_of_batch,
    ),
    Rule(
        "positives_of_labels",
        FOR,
        lambda m: (
            m.table.yes_or_no
            and m.spec.of_positives
            and not (m.table.mostly_positive and m.spec.negatives_of_batch)
        ),
    ),
    Rule(
        "above_threshold",
        FOR,
        lambda m: (
            m.table.degrees
            and m.spec.by_threshold
            and not (m.whole_labels or m.prototypes or m.teacher)
        ),
    ),
    Rule("hard_negatives", FOR, lambda m: m.table.has_hard_negatives and m.negatives),
    Rule("given_triplets", FOR, lambda m: m.given_triplets),
    Rule(
        "positives_of_triplets",
        FOR,
        lambda m: (
            m.table.triplets and m.spec.of_positives and not m.given_triplets and not m.negatives
        ),
    ),
    Rule("joined", FOR, lambda m: m.prototypes),
    Rule("teacher", FOR, lambda m: m.teacher),
    Rule("guide", FOR, lambda m: m.spec.reads_guide and m.meets_shared_texts),
    Rule("lists", FOR, lambda m: m.lists and m.listed),
    Rule("spreads", FOR, lambda m: not m.spec.needs),
    Rule(
        "degrees_lost",
        AGAINST,
        lambda m: m.table.degrees and m.spec.by_threshold and not m.whole_labels,
    ),
    Rule("kinds_as_degrees", AGAINST, lambda m: m.table.inference and m.whole_labels),
    Rule(
        "labels_unread",
        AGAINST,
        lambda m: (
            m.table.levels > 1
            and not m.table.triplets
            and not m.spec.reads_labels
            and not m.spec.by_threshold
        ),
    ),
    Rule("alike", AGAINST, lambda m: m.table.one_label and only_compares(m.spec)),
    Rule(
        "drawn_alike",
        AGAINST,
        lambda m: m.table.one_label and m.by_order and not only_compares(m.spec) and not m.lists,
    ),
    Rule("few_lists", AGAINST, lambda m: m.few_lists and not m.by_order),
    Rule("few_in_order", AGAINST, lambda m: m.few_lists and m.by_order),
    Rule(
        "lists_of_two",
        AGAINST,
        lambda m: m.lists and m.listed and not m.teacher and m.table.in_lists_of_two,
    ),
    Rule(
        "queries_unread",
        AGAINST,
        lambda m: m.spec.reads_labels and not m.lists and m.table.in_lists,
    ),
    Rule(
        "negatives_unread",
        AGAINST,
        lambda m: (
            m.table.some_negative
            and m.spec.of_positives
            and not m.reads & {"negatives", *TEXT_CLASSES}
        ),
    ),
    Rule(
        "negatives_halved",
        AGAINST,
        lambda m: m.table.some_negative and not m.table.in_lists and m.negatives,
    ),
    Rule("one_negative", AGAINST, lambda m: "paired_classes" in m.reads),
    Rule("classes_of_pairs", AGAINST, lambda m: m.prototypes),
    Rule(
        "only_pulls",
        AGAINST,
        lambda m: m.spec.of_positives and not m.spec.negatives_of_batch and only_pulls(m.spec.name),
    ),
    Rule("second_encoder", AGAINST, lambda m: m.spec.reads_guide),
    Rule(
        "as_cosines",
        AGAINST,
        lambda m: (
            m.table.levels > 1
            and not m.table.triplets
            and not m.table.inference
            and "cosine_labels" in m.reads
        ),
    ),
    Rule("two_outputs", AGAINST, lambda m: "pair_logits" in m.reads),
    Rule("teacher_unread", AGAINST, lambda m: m.table.profile.has_teacher and not m.teacher),
    Rule("twins", AGAINST, lambda m: m.meets_shared_texts),
    Rule("nothing_to_learn", AGAINST, lambda m: not m.spec.needs),
)


def reasons_of(match: LossOnTable, verdict: str) -> tuple[str, ...]:
    """Return the sentences of the rules of this verdict that hold, in the order of `RULES`."""
    return tuple(one.sentence for one in RULES if one.verdict == verdict and one.holds(match))
