"""Texts with classes under an encoder: a text that stands in the wrong class comes first."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pytest

from lossprism.explorer.lab.doctor.class_dataset_checks_by_encoder import (
    MixedClasses,
    encode_class_table,
    encoded_classes,
)
from lossprism.explorer.lab.doctor.explain_and_doctor_command_line_options import add_to
from lossprism.explorer.lab.doctor.terminal_commands import doctor
from lossprism.explorer.lab.doctor.texts_with_classes_reader import read_classes
from lossprism.explorer.web.api.dataset_diagnosis import doctor_data
from tests.sentences import pattern_of, raises_problem

WRONG = "how warm will it be"
TEXTS = {
    "lights": ("turn on the lights please", "switch the lamp on", "lights off now", "dim the lamp"),
    "weather": ("what is the weather today", "will it rain tomorrow", "is it sunny outside"),
    "music": ("play some jazz music", "put on a song", "start the music playlist", WRONG),
}
TABLE = "text,intent\n" + "".join(
    f"{text},{intent}\n" for intent, texts in TEXTS.items() for text in texts
)


def seen(text: str, most: int = 100):
    return encode_class_table(
        read_classes(text.encode(), "intents.csv", lambda *_: None), "minilm", most, lambda *_: None
    )


def run(path, capsys, *options):
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())
    status = doctor(parser.parse_args(["doctor", str(path), *options]))
    return status, capsys.readouterr()


def test_a_text_in_the_wrong_class_is_the_first_to_look_at():
    found = encoded_classes(seen(TABLE))
    first = found.ranked[0]
    assert TABLE.splitlines()[first.row].startswith(WRONG)
    assert (first.own, first.other) == ("music", "weather")
    assert first.own_cosine < first.other_cosine
    assert MixedClasses("music", "weather", 1) in found.mixed
    assert found.agreeing == pytest.approx(1 - len(found.ranked) / found.texts)


def test_the_order_of_rows_and_texts_that_stand_twice_change_nothing():
    lines = TABLE.splitlines()
    turned = "\n".join([lines[0], *reversed(lines[1:]), *lines[1:]])
    first, again = seen(TABLE), seen(turned, 1000)
    cosines = {one.table.texts[int(at)]: own for one in (first,)
               for at, own in zip(one.places, one.own, strict=True)}  # fmt: skip
    for at, own in zip(again.places, again.own, strict=True):
        assert own == pytest.approx(cosines[again.table.texts[int(at)]], abs=1e-5)
    assert encoded_classes(again).agreeing == encoded_classes(first).agreeing


def test_classes_of_one_text_compare_nothing():
    alone = seen("text,intent\none thing,a\nanother thing,b\n")
    found = encoded_classes(alone)
    assert (found.agreeing, found.ranked, found.mixed) == (None, [], [])
    assert not np.isnan(alone.own).any()


def test_command_and_call_give_the_same_report(tmp_path, capsys):
    path = tmp_path / "intents.csv"
    path.write_text(TABLE)
    status, printed = run(path, capsys, "--encoder", "minilm")
    assert status == 0, printed.err
    assert WRONG in printed.out
    assert "music → weather: 1 text is" in printed.out
    _, printed = run(path, capsys, "--encoder", "minilm", "--json")
    answer = doctor_data("info_nce", table=TABLE, encoder="minilm", batch=64)
    assert json.loads(printed.out)["encoded"] == answer["encoded"]
    assert doctor_data("info_nce", table=TABLE)["encoded"] is None


def test_negatives_are_mined_of_pairs_alone(tmp_path, capsys):
    path = tmp_path / "intents.csv"
    path.write_text(TABLE)
    status, printed = run(path, capsys, "--encoder", "minilm", "--mine", str(tmp_path / "x.tsv"))
    assert status == 2
    assert pattern_of("problem.classes_no_pairs").search(printed.err)
    with raises_problem("classes_no_pairs"):
        doctor_data("info_nce", table=TABLE, encoder="minilm", negatives=1)
