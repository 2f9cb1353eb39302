"""Files that bring the vectors that a guide gave their texts."""

from __future__ import annotations

import dataclasses
import io
import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.export.caption import caption
from lossprism.explorer.export.drawing_data_of_exploration import describe_batch
from lossprism.explorer.lab.doctor.dataset_reader import read_content
from lossprism.explorer.lab.large.large_pair_table_reader import read_pairs
from lossprism.explorer.lab.training import data as training_data
from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import encoders
from lossprism.explorer.sources.guide_vectors_in_base64 import encoded_vectors, guide_vectors_of
from lossprism.explorer.sources.pairs_from_tables import read_file, read_table
from lossprism.explorer.sources.textbook import load_example
from lossprism.explorer.sources.vector_column_of_each_text_column import GUIDES
from tests.sentences import pattern_of, raises_problem

PAIR = {"sentence1": "a cat", "sentence2": "a kitten", "score": 1}
OTHER = {"sentence1": "rain", "sentence2": "bread", "score": 0}


def written(*rows) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def guided(*rows, columns=None):
    return read_table(written(*rows), "x.jsonl", columns=columns, with_vectors=True)


def of_sentence(table, sentence):
    return table.pairs.guide[table.pairs.sentences.index(sentence)].tolist()


# Which columns


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("guide1", "guide2"),
        ("Guide_A", "guide-b"),
        ("guide_sentence1", "guide_sentence2"),
        ("sentence1_guide", "sentence2 guide"),
        ("guide_vector_1", "guide_vector_2"),
        ("guide_embedding1", "guide_embedding2"),
        ("sentence1_guide_embedding", "sentence2_guide_embedding"),
        ("guide_first", "guide_second"),
        ("引导1", "引导2"),
        ("引导向量1", "引导向量2"),
        ("引导向量一", "引导向量二"),
    ],
)
def test_a_guides_columns_are_known_by_their_names(one, other):
    table = guided({**PAIR, one: [1, 2], other: [3, 4.5]})
    assert (table.chosen["guide_first"], table.chosen["guide_second"]) == (one, other)
    assert of_sentence(table, "a kitten") == [3, 4.5]
    assert (table.brings_guide, table.vectors) == (True, ())


@pytest.mark.parametrize("name", ["guide1", "vector"])
def test_one_column_guides_nobody_but_may_be_chosen(name):
    table = guided({**PAIR, name: [1, 2]})
    assert not set(GUIDES.roles.values()) & set(table.chosen)
    assert (table.pairs.guide, table.vectors, table.brings_guide) == (None, (name,), False)
    chosen = guided({**PAIR, name: [1, 2]}, columns={"guide_first": name})
    assert of_sentence(chosen, "a cat") == [1, 2]
    assert np.isnan(of_sentence(chosen, "a kitten")).all()


def test_columns_of_other_names_are_chosen_and_known_ones_are_left():
    row = {**PAIR, "guide1": [1, 2], "guide2": [3, 4], "e": [5, 6, 7], "f": [8, 9, 10]}
    chosen = guided(row, columns={"guide_first": "e", "guide_second": "f"})
    assert of_sentence(chosen, "a cat") == [5, 6, 7]
    assert chosen.vectors == ("guide1", "guide2")
    none = {"guide_first": "none", "guide_second": "none"}
    assert guided(row, columns=none).pairs.guide is None


@pytest.mark.parametrize(
    ("wanted", "column"),
    [
        ({"guide_first": "guide1", "guide_second": "guide1"}, "guide1"),
        ({"guide_first": "sentence2"}, "sentence2"),
    ],
)
def test_a_column_serves_one_role(wanted, column):
    columns = {"first": "sentence1", "second": "sentence2", "score": "score", **wanted}
    with raises_problem("column_chosen_twice", column=column):
        guided({**PAIR, "guide1": [1, 2]}, columns=columns)


def test_each_column_of_negatives_has_its_own():
    row = {"query": "q", "positive": "p", "negative": "n", "negative_2": ["m", "l"]}
    given = {"guide_query": [1, 0], "guide_positive": [2, 0], "guide_negative": [3, 0]}
    table = guided({**row, **given, "guide_negative_2": [[4, 0], [5, 0]]})
    assert [of_sentence(table, text)[0] for text in "qpnml"] == [1, 2, 3, 4, 5]
    assert table.chosen["guide_anchor"] == "guide_query"
    assert table.chosen["guide_negative"] == "guide_negative"


def test_a_list_of_candidates_has_a_list_of_vectors():
    row = {"query": "q", "docs": ["x", "y"], "labels": [1, 0], "guide_query": [1, 2]}
    table = guided({**row, "guide_docs": [[3, 4], [5, 6]]})
    assert [of_sentence(table, text) for text in "qxy"] == [[1, 2], [3, 4], [5, 6]]
    (skipped,) = guided({**row, "guide_docs": [[3, 4]]}).skipped
    assert skipped.problem.key == "problem.candidates_values"


@pytest.mark.parametrize("end", ["csv", "tsv"])
def test_vectors_are_written_as_text(end):
    mark = {"csv": ",", "tsv": "\t"}[end]
    rows = [["question", "answer", "question_guide", "answer_guide"]]
    rows += [[f"why {k}?", f"so, {k}", f"[0.5, {k}]", f"[{k}, -1e-3]"] for k in range(9)]
    text = "\n".join(mark.join(f'"{cell}"' for cell in row) for row in rows)
    table = read_table(text.encode(), f"x.{end}", with_vectors=True)
    assert not table.pairs.labelled
    assert of_sentence(table, "why 3?") == [0.5, 3]
    np.testing.assert_allclose(of_sentence(table, "so, 3"), [3, -1e-3])


@pytest.mark.parametrize(
    "kind",
    [
        pyarrow.list_(pyarrow.float32()),
        pyarrow.list_(pyarrow.float32(), 2),
        pyarrow.large_list(pyarrow.float64()),
        pyarrow.list_(pyarrow.int8()),
    ],
)
def test_vectors_of_parquet(kind):
    columns = {"sentence1": ["a", "b"], "sentence2": ["c", "d"], "score": [0.0, 1.0]}
    given = {"guide1": [[1, 2], [3, 4]], "guide2": [[5, 6], None]}
    vectors = {name: pyarrow.array(rows, kind) for name, rows in given.items()}
    held = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns | vectors), held)
    table = read_table(held.getvalue(), "x.parquet", with_vectors=True)
    assert [of_sentence(table, text) for text in "abc"] == [[1, 2], [3, 4], [5, 6]]
    assert np.isnan(of_sentence(table, "d")).all()


def test_lists_of_vectors_of_parquet():
    columns = {"query": ["q"], "docs": [["x", "y"]], "labels": [[1, 0]]}
    given = {"guide_query": [[1.0, 2.0]], "guide_docs": [[[3.0, 4.0], [5.0, 6.0]]]}
    held = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns | given), held)
    table = read_table(held.getvalue(), "x.parquet", with_vectors=True)
    assert [of_sentence(table, text) for text in "qxy"] == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize("labelled", [True, False])
def test_without_a_guide_its_columns_have_no_other_role(labelled, tmp_path):
    rows = [
        {"question": f"why {k}?", "answer": f"so {k}", "guide_question": [k, 1], "score": k % 2}
        | {"guide_answer": f"[{k}, 2]"}
        for k in range(12)
    ]
    if not labelled:
        rows = [{name: row[name] for name in row if name != "score"} for row in rows]
    path = tmp_path / "x.jsonl"
    path.write_bytes(written(*rows))
    expected = {"first": "question", "second": "answer", "score": "score" if labelled else "none"}
    plain = read_file(path)
    assert plain.chosen == expected
    assert (plain.pairs.guide, plain.brings_guide) == (None, True)
    assert read_content(path.read_bytes(), "x.jsonl", lambda *_: None).file.chosen == expected
    large = read_pairs(path.read_bytes(), "x.jsonl", None, None, lambda *_: None)
    assert (large.chosen, large.scores) == (expected, None)
    plan = TrainingPlan(data=TrainingData(source="file", file=str(path)))
    assert training_data.read(plan).brings_guide


# What cannot be used


def test_what_is_no_vector_is_reported_with_its_row_and_column():
    fine = {**PAIR, "guide1": [1, 2], "guide2": [3, 4]}
    for cell, key, values in (
        ("x", "not_a_vector", {"value": "x"}),
        (0.5, "not_a_vector", {"value": 0.5}),
        ([1, "x"], "not_a_vector", {"value": "x"}),
        ([1, None], "not_a_vector", {"value": None}),
        ([1, True], "not_a_vector", {"value": True}),
        ([[1, 2]], "not_a_vector", {"value": "[1, 2]"}),
        ("[1, 2", "not_a_vector", {"value": "[1, 2"}),
        ({"a": 1}, "not_a_vector", {}),
        ("[1, NaN]", "not_finite", {"value": "nan"}),
        ([1, 1e39], "not_finite", {"value": "1e+39"}),
        ([1, 10**400], "not_finite", {}),
        ([], "empty", {}),
        ([1], "width", {"width": 1, "first": 2}),
        ([0, 0.0], "zero", {}),
        ([1e-9, 0], "zero", {}),
    ):
        table = guided(fine, {**OTHER, "guide1": [5, 6], "guide2": cell}, {**fine, "score": 0.5})
        (skipped,) = table.skipped
        assert skipped.row == 2
        pattern = pattern_of(f"problem.vector_{key}", column="guide2", **values)
        assert pattern.fullmatch(str(skipped.problem)), str(skipped.problem)
        assert len(table.pairs) == 2
        assert table.pairs.sentences == ("a cat", "a kitten")  # nothing is left of the row
        assert not np.isnan(table.pairs.guide).any()


def test_a_sentence_has_one_vector():
    near = {**OTHER, "sentence1": "a cat", "guide1": [1.001, 2], "guide2": [7, 8]}
    far = {**near, "sentence2": "toast", "guide1": [2, 2]}
    table = guided({**PAIR, "guide1": [1, 2], "guide2": [3, 4]}, near, far)
    (skipped,) = table.skipped
    assert (skipped.row, skipped.problem.key) == (3, "problem.vector_differs")
    assert "“a cat”" in str(skipped.problem)
    assert of_sentence(table, "a cat") == [1, 2]
    twice = {**PAIR, "sentence2": "a cat", "guide1": [1, 2], "guide2": [3, 4]}
    assert guided(twice, PAIR).skipped[0].problem.key == "problem.vector_differs"


def test_what_lies_in_rows_beyond_the_first_pairs_is_not_kept():
    rows = [
        {"sentence1": f"a {k}", "sentence2": f"b {k}", "score": 0, "guide1": [k + 1], "guide2": [1]}
        for k in range(9)
    ]
    table = read_table(written(*rows), "x.jsonl", most=2, with_vectors=True)
    assert table.limited
    assert table.pairs.guide.tolist() == [[1], [1], [2], [1]]


# The loss


def scenario(pairs, guide, loss="gist", **more):
    data = Data(
        source="table", rows=pairs.rows, guided=encoded_vectors(pairs.sentences, guide), **more
    )
    return Scenario(data=data, loss=loss)


@pytest.mark.parametrize("name", ["twins", "hard_negatives"])
def test_the_vectors_of_an_encoder_guide_as_the_encoder_named_does(name):
    """Of a file that has them; the scenario's own encoder holds all sentences apart."""
    pairs = load_example(name)
    rows = [
        {"sentence1": a, "sentence2": b, "score": label}
        | {f"guide{k}": pairs.vectors[at].tolist() for k, at in enumerate(places, 1)}
        for a, b, label, *places in zip(
            pairs.first, pairs.second, pairs.labels, *pairs.positions, strict=True
        )
    ]
    table = guided(*rows)
    brought = scenario(table.pairs, table.pairs.guide, encoder="all apart")
    own = explore(scenario(table.pairs, None, encoder="all apart"))
    by_name = Data(example=name, encoder="all apart", guide=encoders.EMBEDDED)
    named = Scenario(data=by_name, loss="gist")
    found, expected = explore(brought), explore(named)
    assert found.loss == expected.loss
    assert found.loss != own.loss
    np.testing.assert_array_equal(found.pair_gradient, expected.pair_gradient)
    assert describe_batch(found.batch)["guided"]
    assert say("en", "ui.guide_given") in " ".join(caption(found))
    assert explore(Scenario.from_link(brought.to_link())).loss == found.loss


def test_the_order_of_the_rows_changes_nothing():
    pairs = load_example("hard_negatives")
    order = np.random.RandomState(0).permutation(len(pairs)).tolist()
    moved = pairs.at(order)
    straight = explore(scenario(pairs, pairs.vectors, encoder="all apart"))
    back = explore(scenario(moved, moved.vectors, encoder="all apart"))
    assert back.loss == pytest.approx(straight.loss, rel=1e-12)
    np.testing.assert_allclose(
        back.pair_gradient, np.array(straight.pair_gradient)[order], atol=1e-12
    )


def test_a_guide_that_lacks_a_sentence_is_reported_and_unused():
    pairs = load_example("hard_negatives")
    guide = pairs.vectors.copy()
    guide[pairs.positions[1][4]] = np.nan
    lacking = scenario(pairs, guide, encoder="all apart")
    missing = [place for place in range(len(pairs)) if pairs.second[place] == pairs.second[4]]
    counted = {"without": len(missing), "count": len(pairs)}
    with raises_problem("guide_incomplete", **counted) as refused:
        explore(lacking)
    assert refused.value.about == "guide"
    assert not describe_batch(make_batch(lacking.data, Rules()))["guided"]
    assert explore(scenario(pairs, guide, "info_nce", encoder="all apart")).loss > 0
    left = tuple((pairs.first[k], pairs.second[k], "") for k in missing)
    others = explore(scenario(pairs, guide, encoder="all apart", corrections=left))
    assert (len(others.batch), describe_batch(others.batch)["guided"]) == (len(pairs) - 1, True)


def test_a_guide_that_is_named_takes_the_place_of_the_files():
    pairs = load_example("hard_negatives")
    guided = scenario(pairs, pairs.vectors, encoder="all apart").data
    named = dataclasses.replace(guided, guide="all alike 5")
    assert make_batch(guided, Rules()).guide.shape[1] == 384
    assert make_batch(named, Rules()).guide.shape[1] == 5


def test_a_scenario_has_the_vectors_to_the_last_digit():
    pairs = load_example("twins")
    held = guide_vectors_of(pairs.sentences, encoded_vectors(pairs.sentences, pairs.vectors))
    np.testing.assert_array_equal(held, pairs.vectors)


# The scenario


def test_a_scenario_that_shows_something_else_passes_no_vectors_on():
    pairs = load_example("twins")
    chosen = scenario(pairs, pairs.vectors)
    assert chosen.shown() == chosen
    hidden = Scenario(data=dataclasses.replace(chosen.data, source="example"))
    assert hidden.shown().data.guided == ()


@pytest.mark.parametrize(
    "guided",
    [
        [["a", "x"]],
        [["a", ""]],
        [["a", "AAAAAA=="]],
        [["a", "AACAfw=="]],  # infinite
        [["a", "AAAAAA=="], ["b", "AACAPw=="]],
        [["a", "AACAPw=="], ["b", "AACAPwAAgD8="]],
        [["a"]],
        "AACAPw==",
    ],
)
def test_what_is_no_vector_in_a_scenario_is_refused(guided):
    with pytest.raises(Problem, match=r"scenario\.data\.guided"):
        Scenario.from_json({"data": {"source": "table", "guided": guided}})


def test_vectors_count_in_the_size_of_a_scenario(monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HOSTED", "1")
    monkeypatch.setenv("LOSSPRISM_SCENE_MIB", "0.01")
    pairs = load_example("twins")
    result = scenario(pairs, pairs.vectors).to_json()
    with pytest.raises(Problem) as refused:
        Scenario.from_json(json.loads(json.dumps(result)))
    assert refused.value.key == "problem.scene_too_large_here"
    result["data"]["guided"] = result["data"]["guided"][:1]
    Scenario.from_json(json.loads(json.dumps(result)))


def test_without_a_request_for_vectors_there_is_no_such_role():
    with raises_problem("column_role_unknown", role="guide_first"):
        read_table(written(PAIR), "x.jsonl", columns={"guide_first": "sentence1"})
