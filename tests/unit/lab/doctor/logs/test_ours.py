"""What is known of a run of LossPrism beside its curves, and which of these are figures."""

from __future__ import annotations

import json
import math

import pytest

from explorer.lab.doctor.logs.log import Log, curves_of
from explorer.lab.doctor.logs.marks import marks_of
from explorer.lab.doctor.logs.read import read_run


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
    marks = marks_of(log, log.known)
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
