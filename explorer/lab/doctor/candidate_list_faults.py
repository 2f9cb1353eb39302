"""Faults of candidate lists, and of queries that teach nothing."""

from collections.abc import Iterator

import numpy as np

from lossprism.explorer.lab.doctor.finding import SEVERE, WARNING, Fault, Value, evidence
from lossprism.explorer.lab.doctor.pair_table_profile import Profile
from lossprism.explorer.runtime.number_format import percent
from lossprism.losses import LossSpec
from lossprism.losses.sentence_transformers.candidate_lists import compares_each_list_alone

# Findings on queries that mined negatives would help.
MINING_HELPS = {"groups_without_negative", "lists_of_one", "lists_of_one_label"}


def compares_in_lists(profile: Profile, spec: LossSpec) -> bool:
    """True if a loss compares the candidates of each list of the dataset alone."""
    rows_are_lists = profile.labelled and profile.in_lists and not profile.of_triplets
    return compares_each_list_alone(spec, rows_are_lists)


def on_lists(profile: Profile, spec: LossSpec) -> Iterator[Fault]:
    """Find lists that teach nothing: of one candidate, without a positive, or with equal labels.
    It is severe if no list teaches anything."""
    sizes, there = _sizes(profile)
    several = sizes > 1
    positives = np.bincount(profile.first, weights=profile.positive)
    varied = np.zeros(len(sizes), dtype=bool)
    varied[profile.first] = profile.has_other_label
    by_sides = "sides" in spec.needs
    by_order = "order" in spec.needs and profile.labelled and not by_sides
    none = np.zeros_like(there)
    lost = {
        "lists_of_one": there & ~several,
        "lists_without_positive": several & (positives == 0) if by_sides else none,
        "lists_of_one_label": several & ~varied if by_order else none,
    }
    teaches = there & ~np.logical_or.reduce(list(lost.values()))
    severity = WARNING if teaches.any() else SEVERE
    for name, lists in lost.items():
        if lists.any():
            yield _of_lists(name, severity, profile, lists)


def on_groups(profile: Profile, spec: LossSpec) -> Iterator[Fault]:
    """Find queries with a positive but no negative of their own, for a loss that takes none of the
    batch. For a loss on lists, `on_lists` reports those of one candidate."""
    sizes, there = _sizes(profile)
    positives = np.bincount(profile.first, weights=profile.positive)
    alone = there & (positives == sizes)
    if "lists" in spec.needs:
        alone &= sizes > 1
    if alone.any():
        yield _of_lists("groups_without_negative", SEVERE, profile, alone)


def takes_own_negatives(spec: LossSpec) -> bool:
    """True if the loss compares each query with its own negatives alone."""
    own = spec.of_positives and "negatives" in spec.reads.values() and not spec.negatives_of_batch
    return own or {"sides", "lists"} <= spec.needs


def _sizes(profile: Profile) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of candidates by the number of their first text [T], and the mask of
    numbers that are first texts [T]."""
    sizes = np.bincount(profile.first)
    return sizes, sizes > 0


def _of_lists(name: str, severity: str, profile: Profile, lists: np.ndarray) -> Fault:
    count, total = int(lists.sum()), int((np.bincount(profile.first) > 0).sum())
    values: dict[str, Value] = {"count": count, "lists": total, "share": percent(count / total)}
    rows = evidence(np.flatnonzero(lists[profile.first]))
    if name not in MINING_HELPS:
        return Fault(name, severity, values, rows)
    able = int((lists & _can_be_mined(profile)).sum())
    values |= {"able": able, "texts": len(np.unique(profile.second))}
    return Fault(name, severity, values, rows, more="mining", tried=None if able else {})


def _can_be_mined(profile: Profile) -> np.ndarray:
    """Return the mask of the first texts [T] that could be mined a negative: a second text of the
    table that is neither paired with it nor equal to it."""
    texts = np.unique(profile.second)
    pairs = np.unique(np.stack([profile.first, profile.second]), axis=1)
    own = np.bincount(pairs[0])
    itself = np.zeros(len(own), dtype=bool)
    itself[texts[texts < len(own)]] = True
    both = pairs[0] == pairs[1]
    itself[pairs[0][both]] = False  # it is counted among its own
    return len(texts) - own - itself > 0
