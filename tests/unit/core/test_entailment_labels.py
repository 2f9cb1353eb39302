"""Entailment, neutral and contradiction are kinds: entailment alone is positive, wherever read."""

from __future__ import annotations

from dataclasses import replace

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.export.drawing_data_of_exploration import describe_batch
from lossprism.explorer.lab.large.large_pair_table_reader import read_pairs
from lossprism.explorer.lab.training import data
from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.sources import pairs_from_tables

TEXT = "premise\thypothesis\tlabel\n" + "".join(
    f"a {n}\tb {n}\t{n % 3}\n" for n in range(30)
)  # as SNLI numbers them


def test_in_explore_its_rows_are_words_and_entailment_alone_is_positive():
    pairs = pairs_from_tables.read_table(TEXT.encode(), "t.tsv").pairs
    assert [row[2] for row in pairs.rows[:3]] == ["entailment", "neutral", "contradiction"]
    assert pairs.at([1, 2]).inference
    scenario = Scenario(data=Data(source="table", rows=pairs.rows), loss="info_nce")
    batch = explore(Scenario.from_link(scenario.to_link())).batch
    assert (batch.threshold, len(batch.positives)) == (1, 10)
    assert describe_batch(batch)["inference"]
    lower = replace(scenario, rules=Rules(threshold=0.5))
    assert len(explore(lower).batch.positives) == 20
    degrees = Scenario(data=Data(source="table", rows=(("a", "b", "1"), ("c", "d", "0.5"))))
    batch = explore(degrees).batch
    assert (batch.threshold, describe_batch(batch)["inference"]) == (0.5, False)


def test_in_fine_tune_and_large_too(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text(TEXT)
    of_file = TrainingData(source="file", file=str(path), name=path.name)
    pairs = pairs_from_tables.read_table(TEXT.encode(), "t.tsv").pairs
    for source in (of_file, TrainingData(source="rows", name="r", rows=pairs.rows)):
        plan = TrainingPlan(data=source, loss="info_nce")
        corpus = data.read(plan)
        assert data.rules_for(plan, corpus).threshold == 1
        assert data.rules_for(replace(plan, threshold=0.5), corpus).threshold == 0.5
    read = read_pairs(TEXT.encode(), "t.tsv", None, None, lambda *far: None)
    assert read.threshold == 1
