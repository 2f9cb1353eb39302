"""Triplets that bring a teacher: scores of the candidates, or margins."""

from __future__ import annotations

import json
import math

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.sources.column_roles import NO_SCORE
from lossprism.explorer.sources.pairs_from_tables import read_file


def lines(tmp_path, *rows):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


ROW = {"query": "q", "positive": "p", "negative": "n", "negative_2": "m"}


@pytest.mark.parametrize(
    ("column", "given", "teacher"),
    [
        ("teacher_scores", [9.5, 2.0, -1.0], (9.5, 2.0, -1.0)),
        ("teacher", "[9.5, 2.0, -1.0]", (9.5, 2.0, -1.0)),
        ("margin", [7.5, 10.5], (0.0, -7.5, -10.5)),
        ("label", [7.5, 10.5], (0.0, -7.5, -10.5)),  # as sentence-transformers has it
        ("教师分数", [9.5, 2.0, -1.0], (9.5, 2.0, -1.0)),
    ],
)
def test_a_column_of_a_teachers_name_is_read(tmp_path, column, given, teacher):
    table = read_file(lines(tmp_path, {**ROW, column: given}))
    assert table.pairs.teacher == teacher
    assert table.chosen["teacher"] == column
    assert table.pairs.labels == (1, 0, 0)


def test_one_negative_has_one_margin(tmp_path):
    row = {"anchor": "q", "positive": "p", "negative": "n", "margin": 3.25}
    assert read_file(lines(tmp_path, row)).pairs.teacher == (0, -3.25)


def test_scores_of_positives_and_of_negatives_are_separate(tmp_path):
    row = {"query": "q", "pos": ["p"], "neg": ["n", "m"], "pos_scores": [5.0]}
    table = read_file(lines(tmp_path, {**row, "neg_scores": [1.0, 2.0]}))
    assert table.pairs.teacher == (5, 1, 2)
    assert table.chosen["teacher"] == "pos_scores"


def test_the_decimal_mark_of_a_teacher_is_found_from_its_column(tmp_path):
    path = tmp_path / "x.tsv"
    scores = (("4.000", "-4.100"), ("6.883", "0.291"))  # as %.3f writes them
    rows = [f"q{at}\tp{at}\tn{at}\t{one}\t{other}" for at, (one, other) in enumerate(scores)]
    path.write_text("\n".join(["query\tpositive\tnegative\tpos_score\tneg_score", *rows]))
    table = read_file(path)
    assert not table.skipped
    assert table.pairs.teacher == (4, -4.1, 6.883, 0.291)


def test_a_teachers_column_is_chosen_or_left(tmp_path):
    path = lines(tmp_path, {**ROW, "teacher": [1, 2, 3], "other": [4, 5, 6]})
    chosen = read_file(path, columns={"teacher": "other"})
    assert chosen.pairs.teacher == (4, 5, 6)
    left = read_file(path, columns={"teacher": NO_SCORE})
    assert left.pairs.teacher is None
    assert "teacher" not in left.chosen


def test_too_few_numbers_are_reported_with_their_row(tmp_path):
    fine = {**ROW, "teacher": [1, 2, 3]}
    table = read_file(lines(tmp_path, fine, {**ROW, "teacher": [1]}, {**ROW, "teacher": None}))
    (skipped,) = table.skipped
    assert (skipped.row, skipped.problem.key) == (2, "problem.teacher_count")
    assert table.pairs.teacher[:3] == (1, 2, 3)
    assert all(map(math.isnan, table.pairs.teacher[3:]))


@pytest.mark.encoder
@pytest.mark.parametrize("loss", ["margin_mse", "distill_kl"])
def test_margins_and_scores_give_the_losses_on_explore_the_same(tmp_path, loss):
    """Both learn from differences of a teacher's scores alone."""
    rows = [
        {"query": "a cat", "positive": "a kitten", "negative": "a car", "negative_2": "the sun"},
        {"query": "rain", "positive": "a shower", "negative": "a desert", "negative_2": "bread"},
    ]
    scores, values = [[4.0, 1.0, -2.0], [3.0, 2.0, 0.0]], []
    result = {
        "teacher": scores,
        "margins": [[positive - one for one in others] for positive, *others in scores],
    }
    for name, given in result.items():
        table = read_file(
            lines(tmp_path, *({**row, name: one} for row, one in zip(rows, given, strict=True)))
        )
        data = Data(
            source="table",
            rows=table.pairs.rows,
            teacher=tuple(
                (a, b, repr(t))
                for a, b, t in zip(
                    table.pairs.first, table.pairs.second, table.pairs.teacher, strict=True
                )
            ),
        )
        values.append(explore(Scenario(data=data, loss=loss)).loss)
    assert values[0] == pytest.approx(values[1], rel=1e-6)
    assert values[0] > 0
