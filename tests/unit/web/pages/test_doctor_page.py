"""The Doctor page: what is typed is read, and what cannot be is named."""

from __future__ import annotations

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.locale import say
from lossprism.explorer.web.pages.doctor.number_requests import SERVED
from lossprism.explorer.web.pages.doctor.state_entries import EXAMPLES, doctor_table
from tests.sentences import pattern_of
from tests.wire import by_name

ASK = by_name(SERVED)["explain"]


@pytest.mark.parametrize("known", EXAMPLES, ids=lambda known: known["value"])
def test_an_example_number_is_found_and_is_in_its_scenario(known):
    found = ASK(known)
    assert found["fits"]
    entries = {entry.name for entry in doctor_table()}
    assert known.keys() <= entries
    for finding in found["findings"]:
        first = finding["losses"][0]
        assert finding["said"]
        if first["scene"] is None:
            continue
        seen = explore(Scenario.from_link(first["scene"]))
        shown = seen.floor if first["shows"] == "floor" else seen.loss
        assert shown == pytest.approx(finding["value"], rel=1e-5, abs=1e-6), finding["said"]


def test_the_sentences_are_in_the_requested_language():
    english, chinese = (ASK({"value": "5.545", "language": one}) for one in ("en", "zh"))
    sentences = [one["findings"][0]["said"] for one in (english, chinese)]
    assert "collapsed" in sentences[0]
    assert "坍缩" in sentences[1]
    assert ASK({"value": "5.545", "language": "?"}) == english


def test_the_digits_that_were_typed_count():
    """5.5 may be more than 5.545 may."""
    few, many = (len(ASK({"value": value})["findings"]) for value in ("5.5", "5.5452"))
    assert few >= many


def test_whose_loss_it_is_stands_in_the_sentence():
    """2.302585 is ln 10; ms-swift's InfoNCE has it at 4, and that is another loss."""
    first = ASK({"value": "2.302585", "loss": "info_nce"})["findings"][0]
    assert "batch 10" in first["said"]
    assert first["losses"][0]["convention"] == ""
    found = ASK({"value": "0.693147", "loss": "info_nce", "batch": "32"})
    for one in found["findings"]:
        convention = one["losses"][0]["convention"]
        assert convention in one["said"]


def test_where_an_encoder_starts_is_no_fault():
    """SigLIP at 9 is above its collapse, 5.545, and below its start, 10.0004."""
    standing = ASK({"value": "9", "loss": "siglip", "batch": "8"})["standing"]
    assert standing["place"] == "starting"
    assert standing["start"] == pytest.approx(10.0004, abs=1e-4)
    # 11 would be twice the value at collapse, as of two steps that are added up.
    assert ASK({"value": "12.34", "loss": "siglip", "batch": "8"})["standing"]["place"] == "above"


def test_a_loss_that_cannot_be_negative_is_distinguished_from_one_that_can():
    for known in ({}, {"batch": "32"}):
        found = ASK({"value": "-0.5", "loss": "info_nce", **known})
        fault = say("en", "doctor.below_zero_fault", loss=say("en", "loss.info_nce.title"))
        assert fault in found["signs"]
    fault = pattern_of("doctor.below_zero_fault")
    assert not any(map(fault.fullmatch, ASK({"value": "-0.5", "loss": "decoupled"})["signs"]))


def test_a_tiny_minimum_grows_with_the_batch():
    found = ASK({"value": "-0.5", "loss": "cosent"})
    for one in found["findings"]:
        grown = one["losses"][0]["doubled"]
        if grown and abs(grown) > 1.5 * abs(one["value"]):
            assert say("en", "doctor.stays") not in one["beside"]


def test_a_decimal_comma_is_one():
    assert ASK({"value": "5,545", "loss": "siglip"}) == ASK({"value": "5.545", "loss": "siglip"})


@pytest.mark.parametrize(
    ("known", "key", "words"),
    [
        ({"value": "five"}, "problem.explain_value", {"value": "five"}),
        ({"value": "5", "batch": "8.5"}, "problem.doctor_count", {"name": "batch"}),
        ({"value": "5", "batch": "0"}, "problem.explain_count", {"name": "batch"}),
        ({"value": "5", "scale": "x"}, "problem.doctor_number", {"name": "scale", "value": "x"}),
        ({"value": "5", "scale": "-1"}, "problem.explain_setting", {"name": "scale"}),
        ({"value": "5", "loss": "no such"}, "problem.unknown_loss", {}),
        ({"value": "5", "scale": "2", "temperature": "1"}, "problem.explain_both", {}),
        ({"value": 5}, "problem.scenario_entry", {"where": "value"}),
    ],
)
def test_what_cannot_be_is_named(known, key, words):
    problem = ASK(known)["error"]
    assert problem["key"] == key
    assert words.items() <= problem["values"].items()
