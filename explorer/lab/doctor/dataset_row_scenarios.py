"""Rows of a dataset as a scenario of Explore, under the examined loss."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable

import numpy as np

from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.doctor.pair_table_profile import Profile
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS, TRAINED_PAIRS
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.encoders.uploaded_vectors import is_own
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES
from lossprism.losses.labels import UNIT

# A longer link is unwieldy in an issue. With long texts fewer rows are shown; if too few fit, texts
# are cut to these lengths in turn.
LINK_LETTERS = 6000
MIN_ROWS, TEXT_LETTERS = 4, (None, 1000, 250)
FINDING_PAIRS = 8  # of a scenario for a finding: its evidence, and others
SAMPLE_PAIRS = 24  # of a scenario for the data; or texts with classes
TEXTS_PER_CLASS, CANDIDATES_PER_LIST = 4, 8  # in such a scenario, at most
MOSTLY_LISTS = 0.5  # share of pairs in lists above which lists stay whole for every loss


def rows_link(profile: Profile, places: Iterable[int], loss: str) -> str:
    """Return the link of a scenario with the first of these places that fit, in the order of the
    data, with long texts cut; "" if not even two fit."""
    return _fitting(places, lambda kept: _scenario(profile, sorted(kept), loss))


def _fitting(places: Iterable[int], scenario_of: Callable[[list[int]], Scenario]) -> str:
    distinct = list(dict.fromkeys(places))[:EXPLORED_PAIRS]
    for letters in TEXT_LETTERS:
        kept = distinct
        while len(kept) >= max(2, min(MIN_ROWS, len(distinct))):
            shown = _begun(scenario_of(kept), letters)
            if shown is not None and len(link := shown.to_link()) <= LINK_LETTERS:
                return link
            kept = kept[: len(kept) * 2 // 3]
    return ""


def _begun(scenario: Scenario, letters: int | None) -> Scenario | None:
    """Shorten each text of the scenario to `letters`, None for all; None where different texts
    begin alike and would become duplicates."""
    if letters is None:
        return scenario
    data = scenario.data
    if is_own(data.encoder):  # vectors from a file belong to whole texts
        return None
    texts = {text for row in data.rows for text in row[:2]}
    cut = {one: one if len(one) <= letters else f"{one[:letters].rstrip()} …" for one in texts}
    if len(set(cut.values())) < len(texts):
        return None
    rows = tuple((cut[a], cut[b], label) for a, b, label in data.rows)
    teacher = tuple((cut[a], cut[b], score) for a, b, score in data.teacher)
    return dataclasses.replace(scenario, data=dataclasses.replace(data, rows=rows, teacher=teacher))


def class_rows_link(table: ClassTable, places: Iterable[int], loss: str) -> str:
    """Return the link of a scenario with the texts at these places, paired by class; "" if not even
    two fit."""

    def scenario(kept: list[int]) -> Scenario:
        data = Data(source="table", rows=class_rows(table, kept))
        return Scenario(data=data, rules=Rules(label_range=UNIT), loss=loss)

    return _fitting(places, scenario)


def class_rows(table: ClassTable, places: Iterable[int]) -> tuple[tuple[str, str, str], ...]:
    """Return texts with classes as pairs: each with the next of its class, labelled 1; the single
    text of a class with one of another, labelled 0."""
    by_class: dict[int, list[str]] = {}
    for place in places:
        by_class.setdefault(int(table.of[place]), []).append(table.texts[place])
    groups = list(by_class.values())
    rows = []
    for at, texts in enumerate(groups):
        rows += [(one, other, "1") for one, other in itertools.pairwise(texts)]
        if len(texts) == 1 and len(groups) > 1:
            rows.append((texts[0], groups[at - 1][0], "0"))
    return tuple(rows)


def paired(table: ClassTable) -> bytes:
    """Return texts with classes, as many as a training takes, as a table of pairs (TSV)."""
    places = np.argsort(table.of[:TRAINED_PAIRS], kind="stable").tolist()
    lines = ("\t".join(" ".join(cell.split()) for cell in row) for row in class_rows(table, places))
    return "\n".join(("sentence1\tsentence2\tscore", *lines, "")).encode("utf-8")


def class_finding_places(table: ClassTable, rows: Iterable[int]) -> list[int]:
    """Return the places of a finding's texts (`rows`, counted from 1), of others of their classes,
    and of texts of other classes to compare with."""
    shown = [row - 1 for row in rows]
    beside = [at for place in shown for at in table.members(int(table.of[place]), 3)]
    return [*shown, *beside, *class_sample(table, FINDING_PAIRS)][: 2 * FINDING_PAIRS]


def class_sample(table: ClassTable, count: int = SAMPLE_PAIRS) -> list[int]:
    """Return the places of `count` texts, at most four of each class, in classes drawn with a fixed
    seed; those of a single text come last."""
    order = np.random.RandomState(0).permutation(len(table.names))
    order = order[np.argsort(table.sizes[order] < 2, kind="stable")]
    sample: list[int] = []
    for kind in order.tolist():
        if len(sample) >= count:
            break
        sample += table.members(kind, TEXTS_PER_CLASS)
    return sample[:count]


def finding_places(profile: Profile, rows: Iterable[int], loss: str) -> list[int]:
    """Return the places of a finding's rows (counted from 1), and of pairs to compare with."""
    return [*(row - 1 for row in rows), *sample_places(profile, loss, FINDING_PAIRS)][
        :FINDING_PAIRS
    ]


def keeps_lists(profile: Profile, loss: str) -> bool:
    """True if lists of candidates stay whole in a scenario: for a loss that compares them, or if
    most pairs are in lists."""
    compares = "lists" in LOSSES[loss].needs
    return bool(profile.in_list.any() and (compares or profile.in_list.mean() >= MOSTLY_LISTS))


def sample_places(profile: Profile, loss: str, count: int = SAMPLE_PAIRS) -> list[int]:
    """Return the places of `count` pairs, drawn with a fixed seed, half of them positive if there
    are enough; for a loss that `keeps_lists`, of whole lists."""
    if keeps_lists(profile, loss):
        return _whole_lists(profile, count)
    draw = np.random.RandomState(0)
    order = draw.permutation(len(profile))[: 64 * count]
    positive = profile.positive[order]
    sample = [*order[positive][: -(-count // 2)], *order[~positive][: count // 2]]
    rest = [place for place in order[: 2 * count] if place not in set(sample)]
    return [int(place) for place in (*sample, *rest)][:count]


def _whole_lists(profile: Profile, count: int) -> list[int]:
    """Return the places of candidates of sampled lists, those with several labels first."""
    order = np.random.RandomState(0).permutation(np.flatnonzero(profile.in_list))
    order = order[np.argsort(~profile.has_other_label[order], kind="stable")]
    sample: dict[int, None] = {}
    for place in order.tolist():
        if len(sample) + 2 > count:
            break
        if place not in sample:
            candidates = np.flatnonzero(profile.first == profile.first[place])
            # One of each label, then the others in their order.
            ones = np.unique(profile.labels[candidates], return_index=True)[1]
            kept = [*candidates[ones[::-1]].tolist(), *candidates.tolist()]
            sample |= dict.fromkeys(list(dict.fromkeys(kept))[:CANDIDATES_PER_LIST])
    return list(sample)[:count]


def _scenario(profile: Profile, places: list[int], loss: str) -> Scenario:
    columns, teacher = profile.columns, profile.columns.teacher
    pairs = Pairs(
        tuple(columns.first[at] for at in places),
        tuple(columns.second[at] for at in places),
        tuple(profile.labels[places].tolist()),
        labelled=profile.labelled,
        teacher=None if teacher is None else tuple(float(teacher[at]) for at in places),
        inference=profile.of_inference,
    )
    encoder = profile.own_vectors or EMBEDDED
    data = Data(source="table", rows=pairs.rows, teacher=pairs.taught_rows, encoder=encoder)
    # The labels of a few rows need not reach the ends of their scale.
    rules = Rules(label_range=profile.label_range if profile.labelled else None)
    return Scenario(data=data, rules=rules, loss=loss)
