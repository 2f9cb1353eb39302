"""One definition of labels that conflict, for the finding and for the cleaned table."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from lossprism.explorer.lab.doctor.cleaned_dataset_writer import write_kept, write_left_out
from lossprism.explorer.lab.doctor.dataset_reader import read_content
from lossprism.explorer.lab.doctor.finding import NOTE, SEVERE
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.losses import LOSSES

# Second labels of the first ten pairs, as differences in tenths of the scale.
STEPS = (0.5, 1, 1, 2, 3, 4, 5)
PAIR_LOSSES = [
    name for name, spec in LOSSES.items() if spec.needs <= {"order", "sides", "positives"}
]


def table(low, high, seed=0):
    """Sixty graded pairs, of which some stand twice with other labels."""
    labels = low + (high - low) * np.round(np.random.default_rng(seed).random(60), 2)
    labels[:2] = low, high
    tenth = (high - low) / 10
    again = [
        (at, label - step * tenth if label - step * tenth >= low else label + step * tenth)
        for at, (label, step) in enumerate(zip(labels[2:], STEPS, strict=False), 2)
    ]
    pairs = [*enumerate(labels), *again]
    lines = [f"text {at} a\ttext {at} b\t{label:.6f}" for at, label in pairs]
    return "\n".join(("sentence1\tsentence2\tscore", *lines))


def read(text):
    return read_content(text.encode(), "pairs.tsv", lambda *far: None)


@pytest.mark.parametrize("loss", PAIR_LOSSES)
@pytest.mark.parametrize("scale", [(0, 1), (1, 5)])
def test_the_cleaned_table_leaves_out_the_conflicts_that_the_finding_counts(tmp_path, loss, scale):
    found, spec = read(table(*scale)), LOSSES[loss]
    examined = examine(found.profile, spec, 8)
    faults = {fault.name: fault for fault in examined.faults}
    named = faults["conflicting_labels"].values["rows"] if "conflicting_labels" in faults else 0
    reasons = [reason for _, reason in examined.cleaned.left_out]
    assert reasons.count("conflicting_labels") == named == len(reasons)
    left = tmp_path / "left.tsv"
    write_left_out(found, left, by_threshold=spec.by_threshold)
    assert len(left.read_text().splitlines()) == 1 + named
    kept = write_kept(found, tmp_path / "kept.tsv", by_threshold=spec.by_threshold)
    again = examine(read(kept.read_text()).profile, spec, 8)
    assert "conflicting_labels" not in {fault.name for fault in again.faults}


@pytest.mark.parametrize("scale", [(0, 1), (0, 5), (1, 5), (0, 100)])
def test_labels_within_a_tenth_of_the_scale_are_noise(scale):
    examined = examine(read(table(*scale)).profile, LOSSES["cosent"], 8)
    faults = {fault.name: fault for fault in examined.faults}
    conflict, noise = faults["conflicting_labels"], faults["rater_noise"]
    assert (conflict.severity, noise.severity) == (SEVERE, NOTE)
    assert conflict.values == {"count": 4, "rows": 8}
    assert noise.values == {"count": 3, "rows": 6}


@pytest.mark.parametrize("header", ["sentence1\tsentence2", "question\tanswer"])
def test_the_mean_that_is_offered_leaves_no_noise_and_every_conflict(header):
    """Also of pairs written in another case, or, where both columns are of one kind, swapped."""
    from datasets import Dataset

    swap = header.startswith("sentence")
    text = table(0, 5).replace("sentence1\tsentence2", header)
    lines = text.splitlines()
    first, second, label = lines[-len(STEPS)].split("\t")  # the first pair that stands again
    sides = (second.upper(), first) if swap else (first.upper(), second)
    lines[-len(STEPS)] = "\t".join((*sides, label))
    found = read("\n".join(lines))
    before = {one.name: one for one in examine(found.profile, LOSSES["cosent"], 8).faults}
    rows = [*csv.DictReader(lines, delimiter="\t")]
    data = Dataset.from_list([row | {"score": float(row["score"])} for row in rows])
    names = {"dataset": data}
    exec(before["rater_noise"].advice[0], names)
    after = names["dataset"]
    assert len(after) == len(data) - 3
    written = [header + "\tscore", *("\t".join(map(str, row.values())) for row in after)]
    faults = {
        one.name: one
        for one in examine(read("\n".join(written)).profile, LOSSES["cosent"], 8).faults
    }
    assert "rater_noise" not in faults
    assert faults["conflicting_labels"].values == before["conflicting_labels"].values
    labels = [float(row["score"]) for row in rows]
    assert after["score"][2] == pytest.approx((labels[2] + labels[-len(STEPS)]) / 2)
