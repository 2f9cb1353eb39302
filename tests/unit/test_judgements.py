"""Every sentence that judges is listed, is said where it is true, and is not where it is false."""

from __future__ import annotations

import re

import pytest

from explorer.core.judgements import BY_KEY, JUDGEMENTS, OF
from explorer.locale import LANGUAGES, catalogue
from tests.judgements import (
    LEAST_TRUE,
    MOST_FALSE,
    SIMULATIONS,
    Simulation,
    load,
    said_where_true,
    silent_where_false,
)
from tests.judgements.__main__ import DOCUMENT

load()
TEXT = DOCUMENT.read_text(encoding="utf-8")

# What only repeats what was counted or quotes a rule has nothing to be drawn; these tests hold it.
ELSEWHERE = {
    "doctor.data.near_duplicates": "test_encoded.py::test_what_was_planted_is_counted",
    "doctor.data.false_negatives": "test_encoded.py::test_what_was_planted_is_counted",
    "remark.same_text": "test_same_text.py::test_the_shares_are_those_of_the_softmax",
    "remark.same_text_left_out": "test_same_text.py::test_left_out_they_are_counted",
    "remark.run_pair": "test_remarks.py::test_the_pair_that_came_home",
    "remark.verdict_other_pairs": "test_compare.py::test_other_held_out_pairs_do_not_compare",
    "sweep.within": "test_sweep.py",
    "ui.heaviest_note": "test_diagnostics.py::test_nine_of_ten_equal_terms_are_active",
    "large.heaviest_note": "test_heaviest.py",
    "large.concentrated": "test_drawing.py",
    "large.concentrated_all": "test_drawing.py",
    "finetune.verdict_best": "test_compare.py",
    "finetune.few_queries": "test_finetune.py",
    "ui.suspects_equal": "corrections.test.js",
    "ui.suspects_against": "corrections.test.js",
    "remark.run_unmoved": "test_remarks.py::test_pairs_that_kept_their_places",
    "sweep.agree": "test_sweep.py",
    "sweep.contradict": "test_sweep.py",
    "sweep.never": "test_sweep.py",
    "ui.suggested_scale": "test_remarks.py",
    "finetune.alarm_at": "test_recorder.py",
    "compare.because.none_lower": "test_sides.py::test_what_the_lowest_label_cannot_do_is_told",
    "compare.because.none_higher": "test_sides.py::test_what_the_highest_label_cannot_do_is_told",
    "compare.because.no_weight": "test_sides.py::test_terms_without_weight_are_counted",
    "compare.because.not_positive": "test_sides.py::test_a_pair_that_is_no_positive",
    **{
        f"doctor.run.{name}": f"test_findings.py::{test}"
        for test, names in {
            "test_where_a_curve_stands": ("between", "effective_candidates"),
            "test_values_that_are_none": ("not_finite", "zero"),
            "test_what_two_runs_can_say": (
                "other_scale",
                "other_loss",
                "other_batch",
                "comparable",
                "untold",
            ),
        }.items()
        for name in names
    },
}


def test_every_remark_is_listed_once():
    keys = [one.key for one in JUDGEMENTS]
    assert len(keys) == len(set(keys))
    remarks = {key for key in catalogue("en") if key.startswith("remark.")}
    assert remarks == {key for key in keys if key.startswith("remark.")}
    findings = {key for key in catalogue("en") if key.startswith("doctor.run.do.")}
    of_runs = {key for key in keys if key.startswith("doctor.run.")}
    assert {key.replace(".do.", ".") for key in findings} == of_runs


@pytest.mark.parametrize("key", BY_KEY)
def test_a_judgement_is_whole(key):
    one = BY_KEY[key]
    assert all((one.where, one.claims, one.evidence, one.test))
    assert one.of in OF
    for language in LANGUAGES:
        assert catalogue(language)[key]
        assert not one.otherwise or catalogue(language)[one.otherwise]
    assert (key in SIMULATIONS) != (key in ELSEWHERE)


@pytest.mark.draws
@pytest.mark.parametrize("key", SIMULATIONS)
def test_it_is_said_where_it_is_true_and_not_where_it_is_false(key):
    assert said_where_true(key)
    assert silent_where_false(key)


@pytest.mark.parametrize("key", SIMULATIONS)
def test_the_rates_of_the_document_are_within_bounds(key):
    """Those of all draws, as they were when it was written."""
    told = re.search(
        rf"### `{re.escape(key)}`\n.*?: ([\d.]+)%\. \*\*Where false.*?: ([\d.]+)%\.", TEXT, re.S
    )
    true, false = (float(one) / 100 for one in told.groups())
    assert true >= LEAST_TRUE
    assert false <= MOST_FALSE


def test_a_sentence_that_is_said_as_it_falls_is_found_out(monkeypatch):
    """All draws are asked where a few of the first differ."""
    for true, false, holds in ((0.7, 0.2, (False, False)), (0.97, 0.02, (True, True))):
        made = Simulation(
            lambda d, p=true: d.random() < p, lambda d, p=false: d.random() < p, "", ""
        )
        monkeypatch.setitem(SIMULATIONS, "made", made)
        assert (said_where_true("made"), silent_where_false("made")) == holds


@pytest.mark.parametrize("key", BY_KEY)
def test_the_document_tells_of_it(key):
    part = TEXT.partition(f"### `{key}`\n")[2].partition("\n### ")[0]
    assert f"> {catalogue('en')[key]}\n" in part, "run python -m tests.judgements"
    assert BY_KEY[key].evidence in part
    assert ("**Said where true**" in part) == (key in SIMULATIONS)
