"""What is known of a run of LossPrism beside its curves, and which of these are figures."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.log import Log, curves_of
from lossprism.explorer.lab.doctor.logs.run_reader import read_run
from lossprism.explorer.lab.doctor.logs.run_reference_values import run_reference_values
from lossprism.explorer.lab.doctor.logs.run_report import about
from lossprism.explorer.lab.training.teacher_scores import VECTORS_FILE
from lossprism.explorer.runtime.saved_arrays import save_array
from lossprism.losses import LOSSES, SHIPPED


def test_negatives_that_came_as_triplets_stand_among_the_candidates(tmp_path):
    """Sixteen triplets with two negatives each are 48 candidates of every query."""
    plan = {"loss": "info_nce", "batch_size": 16, "parameters": {"temperature": 0.05}}
    config = {"plan": plan, "created": 0, "triplets": True}
    (tmp_path / "config.json").write_text(json.dumps(config))
    steps = [{"kind": "step", "step": n, "loss": math.log(48) + n % 2 / 99} for n in range(40)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in steps))
    rows = [(f"q{n}", f"{side}{n}", float(side == "p")) for n in range(20) for side in "pab"]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    log = read_run(str(tmp_path))
    assert (log.known.batch, log.known.negatives) == (16, 2)
    marks = run_reference_values(log, log.known)
    assert marks.collapse == pytest.approx(math.log(48))
    assert marks.assumed == ""


def test_the_threshold_of_a_figure_is_no_figure(tmp_path):
    """Where pairs are parted best may lie anywhere, as sentence-transformers' evaluators log it."""
    names = ("eval_cosine_accuracy", "eval_cosine_f1", "eval_spearman")
    beside = (
        "eval_cosine_accuracy_threshold",
        "eval_cosine_f1_threshold",
        "eval_accuracy_Threshold",
    )
    points = [(name, step, 1.0 / step) for name in (*names, *beside, "loss") for step in (1, 2)]
    assert Log("numbers", curves_of(points)).figures == list(names)


def our_run(folder, loss, rows, batch=16, steps=40, **plan):
    """A folder as a training writes it, whose loss stays where it is at 5."""
    rules = {"threshold": 2.5, "label_range": [0, 5]}
    chosen = {"loss": loss, "batch_size": batch, **plan}
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"plan": chosen, "rules": rules, "created": 0}))
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "held_out.jsonl").write_text(json.dumps(["held", "out", 1.0]) + "\n")
    record = [{"kind": "step", "step": n, "loss": 5 + n % 3 / 99} for n in range(1, steps + 1)]
    (folder / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in record))
    return read_run(str(folder))


GRADED = [(f"a{n}", f"b{n}", float(n % 6)) for n in range(200)]
LISTED = [(f"query {n // 4}", f"text {n}", float(n % 4)) for n in range(200)]


@pytest.mark.parametrize("loss", [spec.name for spec in SHIPPED])
def test_a_run_of_ours_knows_its_value_at_collapse(tmp_path, loss):
    """Where counts of a batch do not tell it, batches of its rows do; but for a loss that has
    none."""
    spec, folder = LOSSES[loss], tmp_path / "run"
    rows = LISTED if "lists" in spec.needs else GRADED
    if "teacher" in spec.needs:
        rows = [(*row, float(place % 5)) for place, row in enumerate(rows)]
    if "teacher_vectors" in spec.needs:
        folder.mkdir()
        save_array(
            folder / VECTORS_FILE, np.random.default_rng(0).normal(size=(2 * len(rows) + 2, 6))
        )
    log = our_run(folder, loss, rows)
    marks = run_reference_values(log, log.known)
    assert (marks.collapse is None) == (spec.collapse is None)


def test_a_run_against_prototypes_has_one_for_each_class_of_its_data(tmp_path):
    rows = [(f"a{n}", f"b{n}", 5.0) for n in range(30)]  # thirty classes of two sentences
    moved = 64 * (1 - math.cos(0.5))  # s (1 − cos m), by which an own logit is lower
    for loss, expected in (
        ("softmax", math.log(30)),
        ("arcface", math.log1p(29 * math.exp(moved))),
    ):
        log = our_run(tmp_path / loss, loss, rows, batch=8)
        assert run_reference_values(log, log.known).collapse == pytest.approx(expected, abs=1e-6)


def test_a_teachers_scores_are_those_of_the_run(tmp_path):
    """Margin-MSE without a margin: the mean of the teacher's squared margins, all of 2 here."""
    rows = [(f"q{n // 2}", f"t{n}", 5.0 * (n % 2), 2.0 * (n % 2)) for n in range(100)]
    log = our_run(tmp_path / "run", "margin_mse", rows)
    assert run_reference_values(log, log.known).collapse == pytest.approx(4)


def test_a_teachers_vectors_are_those_of_the_run(tmp_path):
    """Of vectors at ±1 in every place, half of each sign, the mean is near 0 and the rest 1."""
    (tmp_path / "run").mkdir()
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(402, 6))
    save_array(tmp_path / "run" / VECTORS_FILE, signs)
    log = our_run(tmp_path / "run", "embedding_mse", GRADED, batch=100)
    assert run_reference_values(log, log.known).collapse == pytest.approx(1, abs=0.02)


def test_the_value_at_collapse_is_that_of_batches_of_its_rows(tmp_path):
    """Of CoSENT on labels that all differ: ln(1 + n (n − 1) / 2); of twice as many rows half of the
    epochs; and nothing is invented where the rows are not there."""
    rows = [(f"a{n}", f"b{n}", n / 40) for n in range(200)]
    log = our_run(tmp_path / "run", "cosent", rows, batch=20, steps=30)
    marks = run_reference_values(log, log.known)
    assert (marks.drawn, marks.collapse) == (True, pytest.approx(math.log1p(190)))
    assert "at_collapse" not in {fault.name for fault in examine_run(log).faults}
    assert "5.25" in "\n".join(about(examine_run(log)))
    assert log.epochs == 3
    assert our_run(tmp_path / "twice", "cosent", rows * 2, batch=20, steps=30).epochs == 1.5
    (tmp_path / "run" / "train.jsonl").unlink()
    bare = read_run(str(tmp_path / "run"))
    assert (bare.epochs, run_reference_values(bare, bare.known).collapse) == (None, None)
