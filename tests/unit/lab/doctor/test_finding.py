"""A finding that is new needs its check, its sentences in each language, and its judgement: the
terminal, programs and the page render it without another line."""

from __future__ import annotations

import argparse
import json

import pytest

from lossprism.explorer.lab.doctor import pair_dataset_checks
from lossprism.explorer.lab.doctor.explain_and_doctor_command_line_options import add_to
from lossprism.explorer.lab.doctor.finding import WARNING, Fault
from lossprism.explorer.lab.doctor.terminal_commands import doctor
from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.web.api.dataset_diagnosis import doctor_data
from lossprism.explorer.web.pages.doctor.dataset_requests import SERVED
from tests.wire import by_name

ROWS = (["a", "c"], ["b", "d"])
SAID, DO = "{count} rows are new.", "Look at them."


@pytest.fixture
def new_finding(monkeypatch):
    """A check in the table, and two sentences in each catalogue."""
    found = Fault("brand_new", WARNING, {"count": 2}, (1, 2))
    rule = pair_dataset_checks.CheckRule(lambda case: True, lambda case: iter([found]))
    monkeypatch.setitem(pair_dataset_checks.CHECKS, "brand_new", rule)
    for language in LANGUAGES:
        words = catalogue(language)
        monkeypatch.setitem(words, "doctor.data.brand_new", f"{language}: {SAID}")
        monkeypatch.setitem(words, "doctor.data.do.brand_new", DO)
        monkeypatch.setitem(words, "doctor.checked.brand_new", "New rows.")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_finding_is_rendered_everywhere(new_finding, language, tmp_path, capsys):
    measured = f"{language}: 2 rows are new."
    (of_call,) = doctor_data("cosine_mse", *ROWS, [1, 0], language=language)["findings"]
    assert (of_call["name"], of_call["said"], of_call["rows"]) == ("brand_new", measured, [1, 2])
    assert of_call["advice"] == [DO]

    request = {"source": {"example": "twins"}, "loss": "cosent", "language": language}
    of_page = by_name(SERVED)["examine"](request)["findings"]
    (shown,) = [one for one in of_page if one["name"] == "brand_new"]
    assert (shown["said"], [row["row"] for row in shown["rows"]]) == (measured, [1, 2])

    path = tmp_path / "rows.csv"
    path.write_text("sentence1,sentence2,score\na,b,1\nc,d,0\n")
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())
    words = ["doctor", str(path), "--loss", "cosine_mse", "--language", language]
    doctor(parser.parse_args(words))
    printed = capsys.readouterr().out
    assert measured in printed
    assert DO in printed
    doctor(parser.parse_args([*words, "--json"]))
    assert measured in [one["said"] for one in json.loads(capsys.readouterr().out)["findings"]]
