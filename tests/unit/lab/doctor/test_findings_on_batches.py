"""What a finding says that a loss makes of its labels holds of its gradient on such a batch."""

from __future__ import annotations

import math

import numpy as np

from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.lab.doctor.pair_table_profile import profiled
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES
from tests.unit.lab.doctor.test_reasons_on_batches import (
    STILL,
    OnPairs,
    draws_pairs_alike,
    is_best_when_alike,
    permuted_in_lists,
    reads_degrees,
    unit,
)
from tests.unit.lab.doctor.test_suitable_losses import COUNT


def draws_nothing_together(case):
    """No pair that comes nearer by itself lowers the loss."""
    return all(case.pull(np.array([place])) >= -STILL for place in range(COUNT))


def with_positives(case):
    labels = (*(1.0,) * 5, *case.pairs.labels[5:])
    return case.having(labels=labels, label_range=(0.0, 1.0))


def is_refused(case):
    return math.isnan(case.value)


def is_still(case):
    return case.felt(slice(None)) < STILL


def still_at(case, lists):
    """Whether the second sentences of the lists of which this holds feel nothing."""
    first, second, positive = case.places
    there = [bool(lists(positive[first == own])) for own in first]
    return case.felt(second[np.array(there)]) < STILL


LABELS = {
    "one": lambda n: (f"a{n}", f"b{n}", 1.0),
    "one in lists": lambda n: (f"a{n // 4}", f"b{n}", 1.0),
    "none": lambda n: (f"a{n}", f"b{n}", n % 2 / 5),
    "graded": lambda n: (f"a{n}", f"b{n}", n % 6 / 5),
    "high": lambda n: (f"a{n}", f"b{n}", 0.8 + n % 3 / 10),
    "of one candidate": lambda n: (f"a{n // 3 if n < 30 else n}", f"b{n}", float(n % 3 == 0)),
    "without a positive": lambda n: (f"a{n // 4}", f"b{n}", float(n < 24 and n % 4 == 0)),
    "of positives": lambda n: (f"a{n // 4}", f"b{n}", float(n >= 24 or n % 4 == 0)),
    "rare": lambda n: (f"a{n}", f"b{n}", float(n < 2)),
}
# Of each finding that says what a loss makes of a table: what holds of the loss there.
OF_FINDINGS = {
    "one_label_still": is_still,
    "one_label_drawn": lambda c: draws_pairs_alike(c) and not is_still(c),
    "degrees_lost": lambda c: not reads_degrees(c),
    "no_positive": lambda c: c.moves(with_positives(c)) or is_refused(with_positives(c)),
    "no_negative": lambda c: is_refused(c) or is_best_when_alike(c),
    "lists_of_one": lambda c: still_at(c, lambda positive: len(positive) < 2),
    "lists_of_one_label": lambda c: not c.moves(permuted_in_lists(c)),
    "lists_without_positive": lambda c: still_at(c, lambda positive: not positive.any()),
    "groups_without_negative": lambda c: still_at(c, lambda positive: positive.all()),
    "batches_without_positive": lambda c: draws_nothing_together(
        c.having(labels=(0.0,) * COUNT, label_range=(0.0, 1.0))
    ),
}


def test_every_finding_on_labels_holds_for_the_losses_that_have_it():
    false, met = [], set()
    for name, row in LABELS.items():
        first, second, labels = zip(*map(row, range(COUNT)), strict=True)
        pairs = Pairs(first, second, labels, label_range=(0.0, 1.0))
        profile = profiled(pairs)
        for loss, spec in LOSSES.items():
            case = OnPairs(loss, pairs, unit(len(pairs.sentences)))
            for fault in examine(profile, spec, 16).faults:
                sentence = fault.more if fault.name == "one_label" else fault.name
                if sentence in OF_FINDINGS:
                    met.add(sentence)
                    if not OF_FINDINGS[sentence](case):
                        false.append((sentence, loss, name))
    assert false == []
    assert met == OF_FINDINGS.keys()
