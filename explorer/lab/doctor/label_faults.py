"""Findings about labels that cannot teach a loss: all alike, without degrees, beyond its ends."""

from collections.abc import Iterator

import numpy as np

from lossprism.explorer.lab.doctor.finding import NOTE, SEVERE, Fault, Value, evidence
from lossprism.explorer.lab.doctor.pair_table_profile import Profile
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.losses import LossSpec
from lossprism.losses.labels import COSINES

# What a loss reads of labels beside whether they reach the threshold.
WHOLE_LABELS = {"labels", "unit_labels", "cosine_labels", "list_labels"}


def only_compares(spec: LossSpec) -> bool:
    """True if a loss compares labelled pairs, and uses none by itself."""
    return spec.compares_pairs and "pair_logits" not in spec.reads.values()


def on_levels(profile: Profile, spec: LossSpec) -> Iterator[Fault]:
    """Find labels that are all equal, and degrees that a loss reads as two."""
    levels = profile.levels
    if len(levels) == 1 and "order" in spec.needs:
        more = "one_label_still" if only_compares(spec) else "one_label_drawn"
        value: dict[str, Value] = {"value": display_number(float(levels[0]))}
        yield Fault("one_label", SEVERE, value, more="" if "lists" in spec.needs else more)
    reads_degrees = WHOLE_LABELS & set(spec.reads.values())
    if spec.by_threshold and len(levels) > 2 and not reads_degrees:
        threshold = display_number(profile.threshold)
        yield Fault("degrees_lost", NOTE, {"count": len(levels), "threshold": threshold})


def on_label_ends(profile: Profile, spec: LossSpec) -> Iterator[Fault]:
    """Find labels outside the ends that a loss is made for, which its trainer does not check."""
    if spec.label_ends is None:
        return
    labels, (lowest, highest) = profile.labels, spec.label_ends
    beyond = np.flatnonzero((labels < lowest) | (labels > highest))
    if not len(beyond):
        return
    values: dict[str, Value] = {
        "share": percent(len(beyond) / len(labels)),
        "low": display_number(float(profile.levels[0])),
        "high": display_number(float(profile.levels[-1])),
    }
    paste = (_rescaled(profile),)
    if spec.label_ends == COSINES:
        yield Fault("labels_out_of_reach", SEVERE, values, evidence(beyond), paste)
        return
    ends: dict[str, Value] = {"least": display_number(lowest), "most": display_number(highest)}
    yield Fault("labels_outside", SEVERE, {**values, **ends}, evidence(beyond), paste)


def _rescaled(profile: Profile) -> str:
    """Code to paste that brings the column of labels to 0…1."""
    lowest, highest = profile.label_range
    cell = f'row["{profile.label_column}"]'
    from_zero = f"({cell} - {lowest:g})" if lowest else cell
    rescaled = f'{{"{profile.label_column}": {from_zero} / {highest - lowest:g}}}'
    return f"dataset = dataset.map(lambda row: {rescaled})"
