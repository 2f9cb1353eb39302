"""`python app.py explain`: what it reads, and what it prints."""

from __future__ import annotations

import argparse
import json

import pytest

from explorer.lab.doctor.commands import add_to, explain_value


def typed(*words):
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers(dest="command"))
    return parser.parse_args(["explain", *words])


def test_a_number_is_explained(capsys):
    assert explain_value(typed("5.545", "--loss", "siglip")) == 0
    said = capsys.readouterr().out
    assert said.startswith("5.54518 is SigLIP when all vectors are alike (batch 8)")
    assert "At its start, any two vectors at right angles, it would be 10.0004." in said


def test_as_json(capsys):
    words = ("3.17", "--loss", "MultipleNegativesRankingLoss", "--scale", "1", "--batch", "64")
    assert explain_value(typed(*words, "--json")) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["standing"]["place"] == "floor"
    assert answer["known"] == {"loss": words[2], "scale": 1, "batch": 64}


@pytest.mark.parametrize(
    ("words", "said"),
    [(["much"], "The value is much; a finite number"), (["5", "--loss", "nowhere"], "nowhere")],
)
def test_what_is_no_number_or_loss_is_refused(words, said, capsys):
    assert explain_value(typed(*words)) == 1
    assert said in capsys.readouterr().err
