"""``python app.py train`` and ``compare``, as a user runs them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lossprism.explorer.locale import say
from lossprism.losses import LOSSES
from tests import warm
from tests.sentences import pattern_of
from tests.unit.lab.training.conftest import corpus

PYTHON = sys.executable
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    lines = ["\t".join(map(str, pair)) for pair in (*corpus().train, *corpus().held_out)]
    path.write_text("\n".join(["sentence1\tsentence2\tscore", *lines]), encoding="utf-8")
    return path


def run(*arguments, python=None):
    command = [python or warm.python(), "app.py", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


SMALL = ("--encoder", "scratch", "--dimension", 8, "--batch-size", 8, "--steps", 6)


def test_train(pairs, tmp_path):
    """In processes that are started as a user's are."""
    out = tmp_path / "model"
    chosen = ("--loss", "cosent", "--parameter", "scale=5", "--out", out)
    runs = ("--runs", tmp_path / "runs")
    done = run("train", "--data", pairs, *SMALL, *chosen, *runs, python=PYTHON)
    assert done.returncode == 0, done.stderr
    assert "finished after 6 steps" in done.stdout
    assert "held-out spearman:" in done.stdout
    assert "6/6" in done.stderr  # the progress bar
    assert (out / "modules.json").exists()
    (config,) = (tmp_path / "runs").glob("*/config.json")
    plan = json.loads(config.read_text(encoding="utf-8"))["plan"]
    assert (plan["parameters"], plan["dimension"]) == ({"scale": 5}, 8)
    again = run("train", "--data", pairs, *SMALL, *chosen)
    assert again.returncode == 1
    assert "exists already" in again.stderr


def test_the_time_is_shown_above_the_bar(pairs, tmp_path):
    often = ("--evaluations", 150, "--steps", 150)  # long enough to be seen under way
    done = run("train", "--data", pairs, *SMALL[:-2], *often, "--runs", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^(?:.*\r)?150 steps .* \d+ s, ", done.stderr, re.MULTILINE)


def test_compare(pairs, tmp_path):
    out = tmp_path / "figures.json"
    losses = ("--loss", "cosent", "--loss", "info_nce", "--seeds", 0, 1, 2)
    done = run(
        "--runs", tmp_path / "runs", "compare", "--data", pairs, *SMALL, *losses, "--out", out
    )
    assert done.returncode == 0, done.stderr
    assert "cosent (3 seeds): spearman" in done.stdout
    assert "info_nce − cosent, spearman: " in done.stdout
    verdicts = ("ahead", "untold", "untold_needed")
    assert any(pattern_of(f"remark.verdict_{one}").search(done.stdout) for one in verdicts)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [len(group["runs"]) for group in found["groups"]] == [3, 3]
    assert len(list((tmp_path / "runs").glob("*/summary.json"))) == 6


def test_what_cannot_be_trained_is_reported(tmp_path):
    done = run("train", "--data", tmp_path / "missing.tsv", *SMALL)
    assert done.returncode == 1
    assert pattern_of("problem.file_unreadable", name="missing.tsv").search(done.stderr)
    assert "Traceback" not in done.stderr


def test_positives_without_scores(tmp_path):
    path = tmp_path / "faq.csv"
    rows = [(one, other) for one, other, _ in (*corpus().train, *corpus().held_out)]
    lines = [f"{one} {place},{other} {place}" for place, (one, other) in enumerate(rows)]
    path.write_text("\n".join(["question,answer", *lines]), encoding="utf-8")
    runs = ("--runs", tmp_path / "runs")
    done = run("train", "--data", path, *SMALL, "--loss", "info_nce", *runs)
    assert done.returncode == 0, done.stderr
    assert re.search(r"held-out accuracy@1: \d\.\d{3} → \d\.\d{3}", done.stdout)
    assert "spearman" not in done.stdout
    done = run("train", "--data", path, *SMALL, "--loss", "cosent", *runs)
    assert done.returncode == 1
    titles = {"loss": LOSSES["cosent"].title, "known": LOSSES["info_nce"].title}
    assert say("en", "problem.needs_scores", **titles) in done.stderr
    lines = [f"{line},{place},{place}" for place, line in enumerate(lines)]
    path.write_text("\n".join(["question,answer,one,other", *lines]), encoding="utf-8")
    done = run("train", "--data", path, *SMALL, "--loss", "info_nce", *runs)
    assert pattern_of("problem.columns_not_recognised").search(done.stderr)
    unscored = ("--column", "score=none")
    done = run("train", "--data", path, *SMALL, "--loss", "info_nce", *unscored, *runs)
    assert done.returncode == 0, done.stderr
