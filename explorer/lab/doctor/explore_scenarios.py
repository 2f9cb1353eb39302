"""Rows of a dataset as a scenario of Explore, under the examined loss."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable

import numpy as np

from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.doctor.class_dataset_checks import ClassTable
from lossprism.explorer.lab.doctor.pair_table_profile import Profile
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS, TRAINED_PAIRS
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.sources.cells import INFERENCE_WORDS
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.encoders.own_vectors import is_own
from lossprism.losses import LOSSES
from lossprism.losses.labels import UNIT

# A longer link is unhandy in an issue. With long texts fewer rows are shown, and if too few fit,
# only the beginning of each text.
LINK_LETTERS = 6000
FEWEST, BEGINNINGS = 4, (None, 1000, 250)
BESIDE = 8  # pairs of a scenario for a finding: those of its evidence, and others
SAMPLE = 24  # pairs, or texts with classes, of a scenario for the data
A_CLASS = 4  # texts of a class in such a scenario
A_LIST = 8  # candidates of a first text in such a scenario
MOSTLY_LISTS = 0.5  # of the pairs from which on lists stay whole, whatever the loss


def scene_of(profile: Profile, places: Iterable[int], loss: str) -> str:
    """The link of a scene with the pairs at these places, as many of the first as fit, in the order
    of the data, long texts from their beginning; "" where two do not fit."""
    return _fitting(places, lambda kept: _scenario(profile, sorted(kept), loss))


def _fitting(places: Iterable[int], scenario_of: Callable[[list[int]], Scenario]) -> str:
    found = list(dict.fromkeys(places))[:EXPLORED_PAIRS]
    for letters in BEGINNINGS:
        kept = found
        while len(kept) >= max(2, min(FEWEST, len(found))):
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
    if is_own(data.encoder):  # which knows whole texts only
        return None
    texts = {text for row in data.rows for text in row[:2]}
    cut = {one: one if len(one) <= letters else f"{one[:letters].rstrip()} …" for one in texts}
    if len(set(cut.values())) < len(texts):
        return None
    rows = tuple((cut[a], cut[b], label) for a, b, label in data.rows)
    teacher = tuple((cut[a], cut[b], score) for a, b, score in data.teacher)
    return dataclasses.replace(scenario, data=dataclasses.replace(data, rows=rows, teacher=teacher))


def class_scene_of(table: ClassTable, places: Iterable[int], loss: str) -> str:
    """The link of a scene with the texts at these places, paired so that those of one class are one
    there too; "" where two do not fit."""

    def scene(kept: list[int]) -> Scenario:
        data = Data(source="table", rows=class_rows(table, kept))
        return Scenario(data=data, rules=Rules(label_range=UNIT), loss=loss)

    return _fitting(places, scene)


def class_rows(table: ClassTable, places: Iterable[int]) -> tuple[tuple[str, str, str], ...]:
    """Texts with their classes as pairs: each with the next of its class, labelled 1; the only one
    of its class with one of another, labelled 0."""
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
    """The first texts with their classes as a table of pairs (TSV), as many as a training takes."""
    places = np.argsort(table.of[:TRAINED_PAIRS], kind="stable").tolist()
    lines = ("\t".join(" ".join(cell.split()) for cell in row) for row in class_rows(table, places))
    return "\n".join(("sentence1\tsentence2\tscore", *lines, "")).encode("utf-8")


def class_finding_places(table: ClassTable, rows: Iterable[int]) -> list[int]:
    """The places of a finding's texts, counted from 1, each with others of its class, and texts of
    other classes for them to be compared with."""
    shown = [row - 1 for row in rows]
    beside = [at for place in shown for at in table.members(int(table.of[place]), 3)]
    return [*shown, *beside, *class_sample(table, BESIDE)][: 2 * BESIDE]


def class_sample(table: ClassTable, count: int = SAMPLE) -> list[int]:
    """The places of so many texts: up to four of each class that a frozen random stream picks, of
    classes of one last."""
    order = np.random.RandomState(0).permutation(len(table.names))
    order = order[np.argsort(table.sizes[order] < 2, kind="stable")]
    found: list[int] = []
    for kind in order.tolist():
        if len(found) >= count:
            break
        found += table.members(kind, A_CLASS)
    return found[:count]


def finding_places(profile: Profile, rows: Iterable[int], loss: str) -> list[int]:
    """The places of a finding's rows, counted from 1, and of some other pairs for them to be
    compared with under this loss."""
    return [*(row - 1 for row in rows), *sample_places(profile, loss, BESIDE)][:BESIDE]


def keeps_lists(profile: Profile, loss: str) -> bool:
    """True if candidates of one first text stay together in a scenario: for a loss that compares
    them, or where most pairs are such."""
    compares = "lists" in LOSSES[loss].needs
    return bool(profile.in_list.any() and (compares or profile.in_list.mean() >= MOSTLY_LISTS))


def sample_places(profile: Profile, loss: str, count: int = SAMPLE) -> list[int]:
    """The places of so many pairs that a frozen random stream picks, the same for all losses that
    keep lists (`keeps_lists`), and for all others; half of them are positive, if there are as
    many."""
    if keeps_lists(profile, loss):
        return _whole_lists(profile, count)
    draw = np.random.RandomState(0)
    order = draw.permutation(len(profile))[: 64 * count]
    positive = profile.positive[order]
    found = [*order[positive][: -(-count // 2)], *order[~positive][: count // 2]]
    rest = [place for place in order[: 2 * count] if place not in set(found)]
    return [int(place) for place in (*found, *rest)][:count]


def _whole_lists(profile: Profile, count: int) -> list[int]:
    """The places of the candidates of some first texts, those first that stand with several
    labels."""
    order = np.random.RandomState(0).permutation(np.flatnonzero(profile.in_list))
    order = order[np.argsort(~profile.has_other_label[order], kind="stable")]
    found: dict[int, None] = {}
    for place in order.tolist():
        if len(found) + 2 > count:
            break
        if place not in found:
            candidates = np.flatnonzero(profile.first == profile.first[place])
            # Of each label one, then the others as they stand.
            ones = np.unique(profile.labels[candidates], return_index=True)[1]
            kept = [*candidates[ones[::-1]].tolist(), *candidates.tolist()]
            found |= dict.fromkeys(list(dict.fromkeys(kept))[:A_LIST])
    return list(found)[:count]


def _scenario(profile: Profile, places: list[int], loss: str) -> Scenario:
    columns, kinds = profile.columns, INFERENCE_WORDS if profile.of_inference else {}
    labels = (float(profile.labels[at]) for at in places)
    label_texts = (kinds.get(label) or typed(label) if profile.labelled else "" for label in labels)
    rows = tuple(
        (columns.first[at], columns.second[at], label)
        for at, label in zip(places, label_texts, strict=True)
    )
    data = Data(source="table", rows=rows, encoder=profile.own_vectors or EMBEDDED)
    if columns.teacher is not None:
        scores = ((rows[i], columns.teacher[at]) for i, at in enumerate(places))
        teacher = tuple(
            (a, b, typed(score)) for (a, b, _), score in scores if not math.isnan(score)
        )
        data = dataclasses.replace(data, teacher=teacher)
    # The labels of a few rows need not reach the ends of their scale.
    rules = Rules(label_range=profile.label_range if profile.labelled else None)
    return Scenario(data=data, rules=rules, loss=loss)
