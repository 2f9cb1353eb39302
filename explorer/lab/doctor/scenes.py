"""Rows of a data set as a scene of Explore, under the loss that was asked about."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from explorer.core.scenario import Data, Rules, Scenario
from explorer.lab.doctor.profile import Profile
from explorer.runtime.limits import EXPLORED_PAIRS
from explorer.runtime.numbers import typed

# A link of more is unhandy in an issue; of long texts fewer rows are shown.
SCENE_LETTERS = 6000
BESIDE = 8  # pairs of a scene that shows a finding: those of its evidence, and others
SAMPLE = 24  # pairs of a scene that shows the data


def scene_of(profile: Profile, places: Iterable[int], loss: str) -> str:
    """The link of a scene with the pairs at these places, as many of the first as fit, in the order
    of the data; "" where two do not."""
    kept = list(dict.fromkeys(places))[:EXPLORED_PAIRS]
    while len(kept) > 1:
        link = _scene(profile, sorted(kept), loss).to_link()
        if len(link) <= SCENE_LETTERS:
            return link
        kept = kept[: len(kept) * 2 // 3]
    return ""


def finding_places(profile: Profile, rows: Iterable[int]) -> list[int]:
    """The places of a finding's rows, counted from 1, and of some other pairs for them to be
    compared with."""
    return [*(row - 1 for row in rows), *sample_places(profile, BESIDE)][:BESIDE]


def sample_places(profile: Profile, count: int = SAMPLE) -> list[int]:
    """The places of so many pairs that a frozen random stream picks; half of them are positive, if
    there are as many."""
    draw = np.random.RandomState(0)
    order = draw.permutation(len(profile))[: 64 * count]
    positive = profile.positive[order]
    found = [*order[positive][: -(-count // 2)], *order[~positive][: count // 2]]
    rest = [place for place in order[: 2 * count] if place not in set(found)]
    return [int(place) for place in (*found, *rest)][:count]


def _scene(profile: Profile, places: list[int], loss: str) -> Scenario:
    columns, labels = profile.columns, profile.labels
    rows = tuple(
        (columns.first[at], columns.second[at], typed(labels[at]) if profile.labelled else "")
        for at in places
    )
    data = Data(source="table", rows=rows)
    if columns.teacher is not None:
        scores = ((rows[i], columns.teacher[at]) for i, at in enumerate(places))
        teacher = tuple(
            (a, b, typed(score)) for (a, b, _), score in scores if not math.isnan(score)
        )
        data = dataclasses.replace(data, teacher=teacher)
    # The labels of a few rows need not reach the ends of their scale.
    rules = Rules(label_range=profile.label_range if profile.labelled else None)
    return Scenario(data=data, rules=rules, loss=loss)
