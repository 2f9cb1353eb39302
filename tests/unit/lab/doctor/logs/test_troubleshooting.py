"""docs/troubleshooting.md is what the registry of findings says."""

from __future__ import annotations

import base64
import zlib
from urllib.parse import parse_qsl

import pytest

from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.runtime import uploads
from lossprism.explorer.web import page_requests
from lossprism.explorer.web.pages.doctor import dataset_requests, run_requests
from lossprism.explorer.web.pages.doctor.state_entries import doctor_table
from tests.judgements.troubleshooting import DOCUMENT, RATES, SUBJECTS, document, findings, link
from tests.planted import HEAD
from tests.wire import by_name


def test_the_document_is_what_is_written():
    written = DOCUMENT.read_text(encoding="utf-8")
    assert written.partition(f"\n{RATES}")[0] == document(), (
        "run python -m tests.judgements.troubleshooting"
    )


def test_it_reports_how_often_each_planted_kind_was_found():
    """`test_planted` measures the figures; here stands that none is left out."""
    text = DOCUMENT.read_text(encoding="utf-8").partition(RATES)[2].splitlines()
    assert HEAD in text
    kinds = {tuple(part.strip() for part in line.split("|")[1:3]) for line in text if "`" in line}
    for subject, of in {"run": ("run", "two runs"), "data": ("data", "encoder")}.items():
        planted = {kind for kind, where in kinds if where in of}
        assert {f"`{name}`" for name in findings(subject)} <= planted


def test_every_finding_has_a_symptom_and_advice_in_every_language():
    assert min(len(findings(subject)) for subject in SUBJECTS) > 15
    for language in LANGUAGES:
        words = catalogue(language)
        for subject in SUBJECTS:
            for name in findings(subject):
                parts = ("", "do.", "symptom.")
                assert all(words[f"doctor.{subject}.{part}{name}"] for part in parts)


def test_its_links_lead_to_the_judgements():
    judgements = DOCUMENT.with_name("judgements.md").read_text(encoding="utf-8")
    for subject in SUBJECTS:
        for name in findings(subject):
            assert f"### `doctor.{subject}.{name}`\n" in judgements


RUNS, SETS = by_name(run_requests.SERVED), by_name(dataset_requests.SERVED)


def answer_at(address):
    """What its address has the page ask for: of each entry what stands there, or its default."""
    values = dict(parse_qsl(address.partition("#")[2]))
    table = {one.link: one for one in doctor_table() if one.link}
    assert set(values) - {"t"} <= set(table)
    return values


def findings_of_run(address):
    message = answer_at(address)
    question = {"source": {"kind": "example", "example": message["log"]}}
    if other := message.get("beside"):
        known = {
            name: message.get(f"beside_{name}", "") for name in run_requests.KNOWN_OF_OTHER_RUN
        }
        question["beside"] = {"source": {"kind": "example", "example": other}, **known}
    answer = RUNS["examine_run"](question)
    return [one["name"] for one in (answer["beside"] or answer)["findings"]]


@pytest.mark.parametrize("name", findings("run"))
def test_a_link_opens_the_run_that_it_names(name):
    assert name in findings_of_run(link("run", name))


def findings_of_data(address, monkeypatch):
    monkeypatch.setattr(page_requests, "ANSWER_S", 600)
    message = answer_at(address)
    source = {"kind": "example", "example": message.get("set")}
    if "t" in message:
        table = zlib.decompress(base64.urlsafe_b64decode(message["t"] + "=="), -15)
        source = {"kind": "file", "file": uploads.put(table, "pasted.txt"), "name": "pasted.txt"}
    question = {"source": source, "loss": message["for"], "batch": int(message["n"])}
    question["margin"] = float(message["for_margin"]) if "for_margin" in message else None
    answer = SETS["examine"](question)
    if encoder := message.get("encoder"):
        answer = SETS["encode"]({**question, "encoder": encoder})
    return [one["name"] for one in answer["findings"]]


@pytest.mark.parametrize("name", findings("data"))
def test_a_link_opens_the_data_that_it_names(name, monkeypatch):
    address = link("data", name)
    assert len(address) < 1000
    assert name in findings_of_data(address, monkeypatch)
