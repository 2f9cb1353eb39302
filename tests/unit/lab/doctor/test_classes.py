"""What is the matter with a table of classes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from explorer.lab.doctor.classes import alone, examine_classes, names_classes, read_classes
from explorer.lab.doctor.commands import doctor
from explorer.runtime.problem import Problem
from tests.unit.lab.doctor.test_commands import typed_doctor


def quiet(what, done, total):
    """Nobody listens."""


def table(*rows, head="text,label"):
    lines = "\n".join(f"{text},{name}" for text, name in rows)
    return read_classes(f"{head}\n{lines}\n".encode(), "t.csv", quiet)


def clean(classes=4, each=25):
    return [(f"the text {n} of {name}", f"c{name}") for n in range(each) for name in range(classes)]


def found(*rows, batch=16):
    return {fault.name: fault for fault in examine_classes(table(*rows), batch).faults}


def test_nothing_is_invented():
    assert set(found(*clean())) <= {"rows_alone"}
    assert found(*clean(), batch=64) == {}


@pytest.mark.parametrize(
    ("planted", "name", "rows"),
    [
        ([("The TEXT 0 of 1", "c2")], "texts_in_classes", (2, 101)),
        ([("the text 0  of 1", "c1")], "texts_again", (101,)),
        ([("something else", "c9")], "classes_of_one", (101,)),
    ],
)
def test_what_was_planted_is_found_and_nothing_else(planted, name, rows):
    faults = found(*clean(), *planted, batch=64)
    assert set(faults) - {"rows_alone"} == {name}
    assert faults[name].rows == rows
    for language in ("en", "zh"):
        assert "{" not in faults[name].said(language)


def test_rows_without_another_of_their_class_are_what_batches_have():
    draw = np.random.default_rng(0)
    of = np.repeat(np.arange(6), [1, 2, 3, 10, 20, 64])
    shares = []
    for _ in range(4000):
        batch = of[draw.permutation(100)[:12]]
        shares.append((np.bincount(batch, minlength=6)[batch] == 1).mean())
    error = np.std(shares) / len(shares) ** 0.5
    assert abs(np.mean(shares) - alone(np.bincount(of), 12)) < 4 * error
    assert alone(np.array([1] * 50), 8) == pytest.approx(1)
    assert alone(np.array([50]), 8) == 0
    assert alone(np.array([2, 3]), 1000) == 0


def test_how_bad_it_is():
    assert found(*clean(classes=60, each=2), batch=16)["rows_alone"].severity == "severe"
    assert found(*clean(classes=1))["one_class"].severity == "severe"
    faults = found(*clean(classes=30, each=1))
    assert faults["classes_of_one"].severity == "severe"


def test_columns_are_recognised():
    assert table(("a b", "x"), ("c d", "y"), head="utterance,intent").columns == {
        "text": "utterance", "class": "intent"
    }  # fmt: skip
    with pytest.raises(Problem, match="No column of texts beside one of classes"):
        read_classes(b"a,b,c\nx y,u v,w z\n", "t.csv", quiet)


@pytest.mark.parametrize(
    ("head", "named"),
    [("text\tclass", True), ('"intent","utterance"', True), ('{"text": "a", "label": "b"}', True),
     ("sentence1,sentence2,label", False), ("query,answer", False), ("label", False)],
)  # fmt: skip
def test_a_table_of_classes_is_told_from_pairs_by_its_head(head, named):
    assert names_classes(f"{head}\nx,y\n".encode()) == named


def test_the_command_reads_it(tmp_path, capsys):
    path = tmp_path / "intents.csv"
    rows = "".join(f"{text},{name}\n" for text, name in clean())
    path.write_text(f"text,intent\n{rows}")
    assert doctor(typed_doctor(str(path), "--batch", "64")) == 0
    said = capsys.readouterr().out
    assert said.startswith("100 texts of 4 classes in batches of 64:\nLargest: c0 (25)")
    assert doctor(typed_doctor(str(path), "--batch", "2", "--json")) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["alone"] == pytest.approx(1 - 24 / 99)
    assert [one["name"] for one in answer["findings"]] == ["rows_alone"]
