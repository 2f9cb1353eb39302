"""What stays of triplets and lists is triplets and lists, as the file had them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lossprism.explorer.lab.doctor.cleaned_dataset_writer import (
    cleaned_extension,
    left_out_path,
    write_kept,
    write_left_out,
)
from lossprism.explorer.lab.doctor.dataset_reader import read_content
from lossprism.explorer.lab.doctor.finding import SEVERE
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.losses import LOSSES
from tests.sentences import pattern_of
from tests.tiny import WORDS, static_model

HEADS = "query\tpositive\tnegative_1\tnegative_2\tid\n"
# The row after the first could not be read, so that pairs and rows are counted apart.
MINED = (
    f"{HEADS}one\ttwo\tthree\tfour\t7\n\tno query\tx\ty\t7\n"
    "one\ttwo\tfive\tsix\t8\n"  # the same positive, mined again: no copy
    "One\ttwo\tfour\tthree\t9\n"  # the first row again, whatever the order
    "seven\teight\tEight\tnine\t10\n"  # its own positive
    "ten\televen\tnine\tten\t11\n"  # its own anchor
    "twelve\tthirteen\tfourteen\t\t12\n"
    "fifteen\tsixteen\tseventeen\teighteen\t13\n"
    "fifteen\tseventeen\tnine\tone\t14\n"  # what the row before has as a negative
)


def read(text, name):
    return read_content(text.encode(), name, lambda *far: None)


def lines(*records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


def findings(found, loss="info_nce"):
    result = examine(found.profile, LOSSES[loss], 4)
    return {fault.name: fault for fault in result.faults}, result


def rows(found, fault):
    return list(dict.fromkeys(map(found.row, fault.rows)))


def test_a_negative_that_is_its_own_positive_is_named_by_its_row():
    found = read(MINED, "t.tsv")
    faults, result = findings(found)
    own = faults["negative_is_own"]
    assert (own.severity, own.values) == (SEVERE, {"count": 2, "anchors": 1})
    assert rows(found, own) == [5, 6]
    assert pattern_of("doctor.data.negative_is_own", count=2).search(own.written())
    assert faults["copies"].values == {"count": 1}
    assert rows(found, faults["copies"]) == [1, 4]
    # One text is the query's positive in one row, its negative in another.
    assert faults["conflicting_labels"].values == {"count": 1, "rows": 2}
    assert rows(found, faults["conflicting_labels"]) == [8, 9]
    assert "same_on_both_sides" not in faults
    assert (result.rows, result.kept_rows) == (8, 3)


@pytest.mark.parametrize(
    ("loss", "labels", "result"),
    [
        ("cosent", (4.2, 4.8), True),
        ("cosine_mse", (4.2, 4.8), True),
        ("info_nce", (4.2, 4.8), False),  # a positive either way
        ("info_nce", (1.0, 4.8), True),
        ("contrastive", (4.2, 4.8), False),
    ],
)
def test_labels_on_one_side_of_the_threshold_conflict_for_no_loss_that_reads_no_more(
    loss, labels, result
):
    rows = [("a", "b", labels[0]), ("a", "b", labels[1]), ("c", "d", 0), ("e", "f", 5)]
    lines = "".join(f"{first}\t{second}\t{label}\n" for first, second, label in rows)
    faults, _ = findings(read(f"sentence1\tsentence2\tscore\n{lines}", "x.tsv"), loss)
    assert ("conflicting_labels" in faults) is result


def test_mined_triplets_with_nothing_wrong_stay_whole():
    text = HEADS + "".join(f"q {n // 3}\tp {n // 3}\tn {n}\tm {n}\t{n}\n" for n in range(30))
    found = read(text, "t.tsv")
    faults, result = findings(found, "list_net")
    assert not faults
    assert result.kept_rows == 30
    assert "negative_is_own" in {check.name for check in result.checks if check.made}
    pairs = read("a\tb\tscore\none\tOne\t0\none\ttwo\t1\n", "p.tsv")
    result = findings(pairs)[1]
    assert "negative_is_own" not in {check.name for check in result.checks if check.made}


def test_cleaned_triplets_train_as_they_are(tmp_path):
    """With sentence-transformers' own collator and loss, and the columns that the file had."""
    from datasets import load_dataset
    from sentence_transformers import SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer import losses

    found = read(MINED, "t.tsv")
    path = write_kept(found, tmp_path / "kept.tsv")
    assert path.read_text().splitlines() == [
        "query\tpositive\tnegative_1\tnegative_2",
        "one\ttwo\tthree\tfour",
        "one\ttwo\tfive\tsix",
        "twelve\tthirteen\tfourteen\t",
    ]
    left = write_left_out(found, left_out_path(path, found)).read_text().splitlines()
    assert left[0] == "row\tbecause\tquery\tpositive\tnegative_1\tnegative_2"
    assert [line.split("\t")[:2] for line in left[1:]] == [
        ["4", "copies"],
        ["5", "negative_is_own"],
        ["6", "negative_is_own"],
        ["8", "conflicting_labels"],
        ["9", "conflicting_labels"],
    ]
    cut = tmp_path / "whole.tsv"  # a row of fewer negatives trains nowhere, as it came
    cut.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    data = load_dataset("csv", data_files=str(cut), sep="\t", split="train",
                        cache_dir=str(tmp_path))  # fmt: skip
    model = static_model()
    trainer = SentenceTransformerTrainer(model, train_dataset=data)
    model.cpu()  # where the features are; the trainer took it to a GPU
    features, labels = trainer.collect_features(trainer.data_collator([*data]))
    assert (len(features), labels) == (4, None)
    for loss in (losses.MultipleNegativesRankingLoss(model), losses.TripletLoss(model)):
        given = features if "Ranking" in type(loss).__name__ else features[:3]
        assert np.isfinite(loss(given, None).item())
    again = read(path.read_text(), path.name)
    assert findings(again, "list_net")[0] == {}
    assert again.profile.of_triplets


def test_lists_stay_lists(tmp_path):
    found = read(
        lines(
            {"query": "q 1", "docs": ["a", "b", "c"], "labels": [1, 0, 0.5]},
            {"query": "q 1", "docs": ["a", "d", "e"], "labels": [1, 0, 0]},  # no copy
            {"query": "q 2", "docs": ["f", "g", "F", "g"], "labels": [1, 0, 0, 0]},
            {"query": "q 3", "docs": ["h", "H"], "labels": [1, 0]},
            {"query": "Q 1", "docs": ["b", "A", "c"], "labels": [0, 1, 0.5]},
        ),
        "l.jsonl",
    )
    faults, result = findings(found, "list_net")
    assert faults["copies"].values == {"count": 2}
    assert rows(found, faults["copies"]) == [1, 5, 3]
    assert faults["conflicting_labels"].values == {"count": 2, "rows": 4}
    path = write_kept(found, tmp_path / f"kept{cleaned_extension(found)}")
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"query": "q 1", "docs": ["a", "b", "c"], "labels": [1, 0, 0.5]},
        {"query": "q 1", "docs": ["a", "d", "e"], "labels": [1, 0, 0]},
    ]
    other = left_out_path(path, found)
    assert other.name == "kept.left-out.jsonl"
    left = [json.loads(line) for line in write_left_out(found, other).read_text().splitlines()]
    # One candidate alone is no list.
    assert left[0] == {"row": 3, "because": "conflicting_labels", "query": "q 2",
                       "docs": ["f", "g", "F", "g"], "labels": [1, 0, 0, 0]}  # fmt: skip
    assert [one["because"] for one in left] == ["conflicting_labels"] * 2 + ["copies"]
    assert result.kept_rows == 2
    # As a table, each list is JSON in its cell, and read again.
    table = write_kept(found, tmp_path / "kept.tsv")
    assert list(read(table.read_text(), table.name).profile.labels) == [1, 0, 0.5, 1, 0, 0]


@pytest.mark.parametrize("negatives", [["n 1", "P 1", "n 2"], ["P 1"]])
def test_of_a_list_of_negatives_only_the_wrong_one_goes(tmp_path, negatives):
    first = {"anchor": "a 1", "positive": "p 1", "negatives": negatives}
    other = {"anchor": "a 2", "positive": "p 2", "negatives": ["n 3"]}
    found = read(lines(first, other), "t.jsonl")
    assert rows(found, findings(found)[0]["negative_is_own"]) == [1]
    path = write_kept(found, tmp_path / "kept")
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    fewer = {**first, "negatives": ["n 1", "n 2"]}
    assert kept == ([fewer, other] if len(negatives) > 1 else [other])


def test_what_a_teacher_gave_stays_as_it_came(tmp_path):
    rows_given = [
        {"query": "q 1", "positive": "p 1", "negative_1": "n 1", "negative_2": "n 2",
         "label": [0.5, 2]},
        {"query": "q 2", "positive": "p 2", "negative_1": "n 3", "negative_2": "n 4",
         "label": [1, 1.5]},
    ]  # fmt: skip
    found = read(lines(*rows_given), "t.jsonl")
    path = write_kept(found, tmp_path / "kept.jsonl")
    assert [json.loads(line) for line in path.read_text().splitlines()] == rows_given
    scores = "query,positive,negative,pos_score,neg_score\nq 1,p 1,n 1,7.5,-2\nq 2,p 2,n 2,6,1\n"
    found = read(scores, "t.csv")
    assert write_kept(found, tmp_path / "kept.csv").read_text() == scores


def test_copies_of_a_thousand_words():
    """Rows of the same words in another order are distinguished from others."""
    draw = np.random.default_rng(0)
    made = [draw.choice(WORDS, 3, replace=False) for _ in range(200)]
    text = "anchor\tpositive\tnegative\n" + "".join("\t".join(one) + "\n" for one in made)
    expected = len(made) - len({tuple(one) for one in made})
    found = read(text, "t.tsv").profile
    assert len(np.unique(found.row_of[found.repeated_pairs])) == expected > 0
