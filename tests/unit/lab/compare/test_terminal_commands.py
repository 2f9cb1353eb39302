"""`python app.py compare-losses`: what it reads, and what it prints."""

from __future__ import annotations

import argparse
import json

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.compare.compared_loss_from_text import read, written
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.terminal_commands import add_to, compare_losses
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from tests.sentences import pattern_of, raises_problem

CLIP = "CLIP (initial temperature), open_clip 3.3.0 ClipLoss"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cosent", Side("cosent")),
        (" cosent ", Side("cosent")),
        ("cosent:scale=5", Side("cosent", "", (("scale", 5),))),
        (
            "info_nce:temperature=0.1,symmetric=true",
            Side("info_nce", "", (("temperature", 0.1), ("symmetric", True))),
        ),
        ("triplet:mining=hard", Side("triplet", "", (("mining", "hard"),))),
        (
            "hierarchical_cosent:weights=[1,0.5,2],scale=5",
            Side("hierarchical_cosent", "", (("weights", (1, 0.5, 2)), ("scale", 5))),
        ),
        (f"info_nce@{CLIP}", Side("info_nce", CLIP)),
        (f'info_nce@"{CLIP}"', Side("info_nce", CLIP)),
        ("info_nce@CLIP:temperature=1", Side("info_nce", CLIP, (("temperature", 1),))),
        ("info_nce@sentence", Side("info_nce", "sentence")),  # two begin so: what is meant is open
        ("nowhere@x", Side("nowhere", "x")),
        ("circle_self_paced@paper", Side("circle_self_paced", "paper (γ = 256)")),
    ],
    ids=str,
)
def test_a_side_as_it_is_typed(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_written_reads_back(loss):
    spec = LOSSES[loss]
    for convention in ("", *(one.name for one in spec.conventions)):
        chosen = tuple(spec.under(convention).defaults.items())
        for side in (Side(loss, convention), Side(loss, convention, chosen)):
            assert read(written(side)) == side


def test_what_is_no_side_is_refused():
    for text in ("", "@", ":", "@CLIP", "cosent:scale", "cosent:", ":scale=5"):
        with raises_problem("side_form", text=text):
            read(text)


@pytest.fixture
def scene_file(tmp_path):
    """A scenario file of a few random pairs, and its scenario."""
    data = Data(source="random", random=RandomBatch(pairs=8, dimension=4))
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(Scenario(data=data, loss="arcface").to_json()))
    return str(path), Scenario(data=data)


def typed(*words):
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers(dest="command"))
    return parser.parse_args(["compare-losses", *words])


def test_the_table_has_the_numbers_of_explore(scene_file, capsys):
    path, scenario = scene_file
    words = ("cosent:scale=5", "info_nce@CLIP", "--scenario", path)
    assert compare_losses(typed(*words)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["1  CoSENT · scale=5", f"2  InfoNCE · {CLIP}", ""]
    cells = {line.rpartition("  ")[0].strip() or line: line.split() for line in lines[3:]}
    rows = {name.partition("  ")[0]: words[-2:] for name, words in cells.items()}
    found = [explore(read(text).applied_to(scenario)) for text in words[:2]]
    for name, value in (
        ("Loss", lambda one: one.loss),
        ("collapse", lambda one: one.collapse),
        ("Gradient norm", lambda one: one.gradient_norm),
        ("Effective terms", lambda one: one.weights.effective),
    ):
        assert rows[name] == [display_number(value(one)) for one in found]
    assert any(map(pattern_of("compare.two", first=1, second=2).fullmatch, lines))
    assert f"   {say('en', 'compare.not_comparable')}" in lines


def test_the_columns_stand_below_each_other_in_chinese(scene_file, capsys):
    words = ("cosent", "triplet", "softmax", "--scenario", scene_file[0], "--language", "zh")
    assert compare_losses(typed(*words)) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("") + 1
    table = lines[start : lines.index("", start)]

    def columns(line):
        return sum(2 if ord(letter) > 0x2E80 else 1 for letter in line)

    assert len({columns(line) for line in table}) == 1
    assert say("zh", "figure.loss") in table[1]
    assert not any("{" in line for line in lines)


def test_a_side_that_cannot_be_computed_is_reported_with_its_status(scene_file, capsys):
    assert compare_losses(typed("cosent", "nowhere", "circle", "--scenario", scene_file[0])) == 1
    out = capsys.readouterr().out
    (line,) = (line for line in out.splitlines() if line.startswith("2  nowhere: "))
    assert pattern_of("problem.unknown_loss", name="nowhere").search(line)
    assert pattern_of("compare.two", first=1, second=3).search(out)


@pytest.mark.parametrize(
    ("words", "key", "values"),
    [
        (("cosent",), "compare_sides", {"count": 1}),
        (("cosent", ":"), "side_form", {"text": ":"}),
        (("cosent", "circle", "--scenario", "1.x"), "link_damaged", {}),
        (("cosent", "circle", "--scenario", "nowhere.json"), "file_unreadable",
         {"name": "nowhere.json"}),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_read_is_reported_in_a_sentence(words, key, values, capsys):
    assert compare_losses(typed(*words)) == 1
    output = capsys.readouterr()
    problem = output.err.strip().partition(": ")[2]
    assert pattern_of(f"problem.{key}", **values).fullmatch(problem)
    assert output.out == ""
