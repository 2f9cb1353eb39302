"""Files in the forms of training frameworks: nested, numbered, by ids; and their notes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lossprism.explorer.locale import say
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs_from_tables import Table, read_file, read_table
from lossprism.explorer.sources.reading_notes import reading_notes
from lossprism.explorer.sources.table_file_reader import read_grid
from tests.sentences import pattern_of, raises_problem
from tests.unit.sources.test_pairs_without_labels import as_file

INPUTS = Path(__file__).resolve().parents[4] / "shared" / "inputs"
# By the name of a file of people's own: how many pairs, and which of them are positive.
EXPECTED = {
    "bge-pos-neg.jsonl": (30, 12),
    "bge-graded-pos.jsonl": (24, 18),
    "captions-repeated.csv": (64, 64),
    "faq-zh.csv": (6, 6),
    "nested-set.jsonl": (18, 6),
    "swift-rejected-response.jsonl": (18, 6),
    "tevatron-hn1-hn3.csv": (24, 6),
    "llamaindex-queries-corpus.json": (6, 6),
    "labels-yes-no.jsonl": (12, 6),
    "labels-shi-fou.tsv": (6, 3),
    "snli.jsonl": (9, 3),
    "quora.csv": (8, 4),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_files_as_people_bring_them(name):
    if not (INPUTS / name).exists():
        pytest.skip(f"{INPUTS / name} is not here")
    table = read_file(INPUTS / name)
    assert (len(table.pairs), table.pairs.labels.count(1)) == EXPECTED[name]


def rows_of(*objects: dict) -> Table:
    return read_table("\n".join(map(json.dumps, objects)).encode(), "x.jsonl")


def read_triplets(table: Table) -> list[tuple[str, str, float]]:
    return list(zip(table.pairs.first, table.pairs.second, table.pairs.labels, strict=True))


ONE = [("q", "p", 1), ("q", "n", 0), ("q", "m", 0)]
FORMS = {
    "numbered": {"query": "q", "positive": "p", "HN1": "n", "HN2": "m"},
    "neg_k": {"anchor": "q", "positive": "p", "neg_1": "n", "neg_2": "m"},
    "Chinese": {"查询": "q", "正例": "p", "困难负例1": "n", "困难负例2": "m"},
    "set": {"set": {"query": "q", "pos": ["p"], "neg": ["n", "m"]}},
    "nested otherwise": {"data": {"query": "q", "positive": "p", "negatives": ["n", "m"]}},
    "rejected": {"query": "q", "response": "p", "rejected_response": ["n", "m"]},
    "preference": {"prompt": "q", "chosen": "p", "rejected": ["n", "m"]},
    "Tevatron": {
        "query_id": "1",
        "query": "q",
        "positive_passages": [{"docid": "7", "text": "p"}],
        "negative_passages": [{"docid": "8", "text": "n"}, {"docid": "9", "text": "m"}],
    },
    "DPR": {
        "question": "q",
        "positive_ctxs": [{"title": "", "text": "p"}],
        "hard_negative_ctxs": [{"text": "n"}, {"text": "m"}],
    },
    "chats": {
        "messages": [{"role": "user", "content": "q"}],
        "positive_messages": [[{"role": "user", "content": "p"}]],
        "negative_messages": [
            [{"role": "user", "content": "n"}],
            [{"role": "user", "content": "m"}],
        ],
    },
    "a turn for what was chosen, and one for what was rejected": {
        "conversations": [{"from": "human", "value": "q"}],
        "chosen": {"from": "gpt", "value": "p"},
        "rejected": [{"from": "gpt", "value": "n"}],
        "negative_2": {"from": "gpt", "value": "m"},
    },
    "an InputExample": {"guid": "", "texts": ["q", "p", "n", "m"]},
    "right and wrong answers": {"question": "q", "right_answer": "p", "wrong_answers": ["n", "m"]},
    "distractors": {"question": "q", "correct_answer": "p", "distractor1": "n", "distractor2": "m"},
    "after the passage": {"query": "q", "document_pos": "p", "document_neg": ["n", "m"]},
    "how they were found": {"query": "q", "pos": "p", "hard_negs": ["n"], "random_negatives": "m"},
    "a chat with what was rejected": {
        "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "p"}],
        "rejected_response": ["n", "m"],
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_negatives_are_read_in_every_form(form):
    table = rows_of(FORMS[form], FORMS[form])
    assert read_triplets(table) == ONE * 2
    assert table.left_out == 0


@pytest.mark.parametrize("form", FORMS)
def test_one_row_of_every_form_is_a_row_and_no_table(form):
    assert read_triplets(rows_of(FORMS[form])) == ONE


PAIRS = [{"anchor": f"question {n}", "positive": f"answer {n}"} for n in range(3)]
COLUMNS = {name: [row[name] for row in PAIRS] for name in ("anchor", "positive")}
OBJECTS = {
    "rows under a name": {"version": "1.0", "data": PAIRS},
    "a split": {"train": PAIRS},
    "Dataset.to_dict": COLUMNS,
    "pandas": {name: dict(enumerate(cells)) for name, cells in COLUMNS.items()},
    "pandas, split": {
        "columns": [*COLUMNS],
        "index": [0, 1, 2],
        "data": [[*row.values()] for row in PAIRS],
    },
}


@pytest.mark.parametrize("form", OBJECTS)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_table_may_be_one_object(form, indent):
    table = read_table(json.dumps(OBJECTS[form], indent=indent).encode(), "x.json")
    assert read_triplets(table) == [(*row.values(), 1) for row in PAIRS]
    assert table.left_out == 0


@pytest.mark.parametrize(
    "odd",
    [
        {"columns": 5, "data": [[1]]},
        {"columns": ["anchor", "positive"], "data": [1, 2]},
        {"columns": ["anchor", "positive"], "data": {"0": 1}},
        {"columns": [{}], "index": [], "data": []},
        {"queries": [], "corpus": {}, "qrels": {}},
    ],
)
def test_an_object_that_is_no_table_gets_a_sentence(odd):
    with pytest.raises(Problem):
        read_table(json.dumps(odd).encode(), "x.json")


def test_of_several_tables_in_one_object_none_is_chosen():
    with raises_problem("file_several_tables") as caught:
        read_table(json.dumps({"train": PAIRS, "test": PAIRS[:1]}).encode(), "x.json")
    assert "train, test" in str(caught.value)


def test_the_whole_conversation_before_an_answer_is_in_the_query():
    sentences = [
        ("system", "s"),
        ("user", "a"),
        ("assistant", "b"),
        ("user", "c"),
        ("assistant", "d"),
    ]
    chat = [{"role": role, "content": content} for role, content in sentences]
    table = rows_of({"messages": chat}, {"messages": chat})
    assert read_triplets(table)[0] == ("a\nb\nc", "d", 1)


def test_a_title_stands_before_the_words_of_its_passage():
    passage = [{"title": "Hats", "text": "A hat."}]
    one = {"query": "q", "positive_passages": passage, "negative_passages": passage}
    assert rows_of(one, one).pairs.second[0] == "Hats A hat."


def test_queries_are_joined_with_their_documents():
    maps = {
        "queries": {"q1": "one", "q2": "two"},
        "corpus": {"d1": "first", "d2": {"title": "The", "text": "second"}},
        "relevant_docs": {"q1": ["d1", "d2"], "q2": ["d9"]},
    }
    table = read_table(json.dumps(maps, indent=1).encode(), "x.json")
    assert read_triplets(table) == [("one", "first", 1), ("one", "The second", 1)]
    assert [skip.problem.key for skip in table.skipped] == ["problem.id_without_text"]
    del maps["relevant_docs"]
    maps["qrels"] = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
    graded = read_table(json.dumps(maps).encode(), "x.json")
    assert graded.pairs.labels == (2, 0, 1)


@pytest.mark.parametrize("empty", [[], "", None])
def test_a_row_without_negatives_says_so(empty):
    rows = [{"query": "q", "pos": ["p"], "neg": ["n"]}, {"query": "r", "pos": ["o"], "neg": empty}]
    table = rows_of(*rows)
    (skip,) = table.skipped
    assert skip.row == 2
    assert skip.problem.key == f"problem.{'list_empty' if empty == [] else 'sentence_missing'}"
    assert "sentence as text" not in str(skip.problem)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("names", [("query", "pos", "neg"), ("question", "answer", "HN1")])
def test_negatives_that_are_empty_in_every_row_are_reported_and_the_pairs_read(names, kind):
    rows = [(f"a query {n}", f"its text {n}", "") for n in range(6)]
    table = read_table(as_file(rows, names, kind), f"x.{kind}")
    assert (table.pairs.labelled, len(table.pairs), table.left_out) == (False, 6, 0)
    sentences = [note.written() for note in reading_notes(table)]
    assert say("en", "reading.without_texts", columns=f"“{names[2]}”") in sentences
    assert not any(map(pattern_of("reading.unread").fullmatch, sentences))


def test_lists_of_negatives_that_are_empty_in_every_row_are_reported():
    table = rows_of(*({"query": f"q {n}", "pos": [f"p {n}"], "neg": []} for n in range(3)))
    assert table.without_texts == ("neg",)
    assert table.pairs.labels == (1, 1, 1)


def test_an_example_of_two_texts_is_a_pair_with_its_label():
    table = rows_of({"texts": ["a b", "c d"], "label": 0.7}, {"texts": ["e f", "g h"], "label": 0})
    assert (table.pairs.second, table.pairs.labels) == (("c d", "g h"), (0.7, 0.0))


IDS = [
    (("query-id", "corpus-id", "score"), [("q1", "d7", 1), ("q2", "d9", 0)]),
    (("query_id", "pos_id", "neg_id"), [(1, 70001, 80001), (2, 70002, 80002)]),
    (("qid", "docid", "rel"), [("Q17", "doc_000123", 2), ("Q18", "doc_000124", 0)]),
]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize(("names", "rows"), IDS)
def test_a_table_of_ids_is_refused_with_what_to_join(names, rows, kind):
    with pytest.raises(Problem) as caught:
        read_table(as_file([*rows] * 4, names, kind), f"x.{kind}")
    assert caught.value.key == "problem.table_of_ids"
    assert names[0] in str(caught.value)


def test_judgements_without_names_of_columns_are_refused():
    rows = [("q1", 0, "d3", 1), ("q2", 0, "d4", 2)] * 4
    for kind in ("csv", "tsv"):
        with pytest.raises(Problem) as caught:
            read_table(as_file(rows, None, kind), f"x.{kind}", header=False)
        assert caught.value.key == "problem.table_of_ids"


@pytest.mark.parametrize(
    "whole",
    [
        {"q1": {"d1": 3.5, "d2": 1.0}, "q2": {"d7": 2.5}},
        {"101": {"D33": 1}, "102": {"D34": 0, "D35": 2}},
    ],
)
def test_a_run_or_judgements_as_one_object_are_ids(whole):
    with raises_problem("table_of_ids"):
        read_table(json.dumps(whole).encode(), "run.json")


def test_columns_of_an_object_have_the_same_rows():
    whole = {"query": {"0": "a b", "1": "c d"}, "positive": {"0": "e f", "1": "g h"}}
    assert read_table(json.dumps(whole).encode(), "x.json").pairs.second == ("e f", "g h")


def test_the_text_of_a_candidate_may_be_in_an_object_of_its_own():
    documents = [{"contents": "p"}, {"title": "t", "body": "n"}]
    candidates = [
        {"docid": f"d{at}", "score": 9.5 - at, "doc": one} for at, one in enumerate(documents)
    ]
    rows = [{"query": {"qid": 7, "text": "q"}, "candidates": candidates}] * 2
    with raises_problem("column_of_search_scores", column="candidates.score", none="none"):
        rows_of(*rows)
    content = "\n".join(map(json.dumps, rows)).encode()
    table = read_table(content, "x.jsonl", columns={"score": "candidates.score"})
    assert table.pairs.first[:2] == ("q", "q")
    assert table.pairs.second[:2] == ("p", "t n")
    assert table.pairs.labels[:2] == (9.5, 8.5)


def test_ids_beside_texts_are_no_obstacle():
    names = ("qid", "docid", "query", "passage", "score")
    rows = [("q1", "d1", "a query", "a passage", 1), ("q2", "d2", "another", "of it", 0)]
    table = read_table(as_file(rows * 3, names, "csv"), "x.csv")
    assert (table.chosen["first"], table.unread) == ("query", ("qid", "docid"))


def test_ranks_are_no_degrees():
    rows = [("q", "a", 1), ("q", "b", 2), ("r", "c", 1), ("r", "d", 2)]
    names = (
        "rank",
        "position",
        "排名",
        "result_rank",
        "Rank_Position",
        "rank_no",
        "order",
        "检索排序",
    )
    for name in names:
        with pytest.raises(Problem) as caught:
            read_table(as_file(rows, ("query", "passage", name), "csv"), "x.csv")
        assert caught.value.key == "problem.column_of_ranks"
    scored = read_table(as_file(rows, ("query", "passage", "rank_score"), "csv"), "x.csv")
    assert scored.pairs.labels == (1, 2, 1, 2)


def test_a_number_that_counts_letters_or_days_is_no_label():
    rows = [("a b", "c d", 12), ("e f", "g h", 31)]
    for name in ("question_text_bytes", "answer length", "year", "token_offset", "答案长度"):
        table = read_table(as_file(rows, ("question", "answer", name), "csv"), "x.csv")
        assert (table.pairs.labelled, table.unread) == (False, (name,))


def test_a_column_of_ids_is_no_text_beside_one():
    """The answers of a row that holds no other text are not guessed."""
    rows = [{"q_id": "ax", "title": "Why so", "answers": {"text": ["a"], "score": [3]}}] * 3
    with pytest.raises(Problem) as caught:
        rows_of(*rows)
    assert caught.value.key == "problem.columns_not_recognised"


def test_a_score_in_unknown_words_needs_an_answer():
    rows = [("a hat", "Red hat of wool", "Exact"), ("a cap", "Blue hat", "Substitute")]
    for name in ("esci_label", "human judgment", "Relevance (0-3)"):
        with pytest.raises(Problem) as caught:
            read_table(as_file(rows, ("query", "product", name), "csv"), "x.csv")
        assert caught.value.key == "problem.columns_not_recognised"
        assert f"“{name}”" in str(caught.value)


@pytest.mark.parametrize(
    "names", [("query", "product_title", "esci_label"), ("claim", "evidence", "gold label")]
)
def test_names_above_few_rows_are_a_header(names):
    rows = [("Who wrote Hamlet", "Shakespeare wrote it", "E"), ("How tall", "It is 8 m tall", "S")]
    grid = read_grid(as_file(rows, names, "csv"), "x.csv", None)
    assert (grid.header, grid.columns) == (True, names)
    rows = [("a query of mine", "what it finds", "E"), ("label", "a tag", "S")]
    grid = read_grid(as_file(rows, None, "csv"), "x.csv", None)
    assert not grid.header


def test_a_pair_that_nobody_judged_is_left_out():
    rows = [("q", "a", 2), ("q", "b", -1), ("q", "c", 0), ("r", "d", 1)]
    table = read_table(as_file(rows, ("query", "passage", "relevance"), "csv"), "x.csv")
    assert table.pairs.labels == (2, 0, 1)
    assert [skip.problem.key for skip in table.skipped] == ["problem.label_not_judged"]
    binary = [("q", "a", 1), ("q", "b", -1), ("q", "c", 0)]
    table = read_table(as_file(binary, ("query", "passage", "relevance"), "csv"), "x.csv")
    assert table.pairs.labels == (1, 0)
    table = read_table(as_file(binary, ("sentence1", "sentence2", "score"), "csv"), "x.csv")
    assert table.pairs.labels == (1, -1, 0)  # may be a scale from −1 to 1
    poles = [("q", "a", 1), ("q", "b", -1), ("q", "c", 1)]  # the two ends of a scale
    table = read_table(as_file(poles, ("sentence1", "sentence2", "score"), "csv"), "x.csv")
    assert table.pairs.labels == (1, -1, 1)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json"])
@pytest.mark.parametrize(
    ("first", "second"), [("pos_1", "pos_2"), ("positive1", "positive_2"), ("HP1", "HP2")]
)
def test_numbered_positives_are_all_read(first, second, kind):
    rows = [("q one", "p", "r", "n", 3, 2, 1), ("q two", "o", "", "k", 2, "", 1)]
    names = ("query", first, second, "neg_1", "pos_1_score", "pos_2_score", "neg_1_score")
    table = read_table(as_file(rows, names, kind), f"x.{kind}")
    two = [("q two", "o", 1), ("q two", "k", 0)]
    assert read_triplets(table) == [("q one", "p", 1), ("q one", "r", 1), ("q one", "n", 0), *two]
    assert table.pairs.teacher == (3, 2, 1, 2, 1)
    assert (table.positives, table.unread) == ((first, second), ())
    assert keys(table)["reading.positive"] == {"columns": f"“{first}”, “{second}”"}
    alone = read_table(as_file([row[:3] for row in rows], names[:3], kind), f"x.{kind}")
    assert read_triplets(alone) == [("q one", "p", 1), ("q one", "r", 1), ("q two", "o", 1)]


@pytest.mark.parametrize(
    ("row", "several"),
    [
        ({"query": "q", "pos": ["p", "r"], "neg": ["n"]}, True),
        ({"query": "q", "pos": ["p"], "neg": ["n", "m"]}, False),
        ({"query": "q", "pos": ["p", "r"]}, True),
        ({"query": "q", "pos": ["p"]}, False),
        ({"query": "q", "pos_1": "p", "pos_2": "r", "neg": "n"}, True),
        ({"query": "q", "documents": ["p", "r"], "labels": [2, 1]}, False),  # degrees
    ],
)
def test_the_order_of_positives_is_no_degree(row, several):
    assert ("reading.unordered_positives" in keys(rows_of(row, row))) == several


REFERENCES = {
    "path": "img_{}.jpg",
    "folder": "train/images/a cat {}.png",
    "address": "https://example.com/page/{}",
    "id": "doc-{}",
}


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json"])
@pytest.mark.parametrize("reference", REFERENCES.values(), ids=REFERENCES)
def test_paths_addresses_and_ids_are_no_sentences(reference, kind):
    rows = [(reference.format(at), f"a caption of {at}", f"and another {at}") for at in range(6)]
    table = read_table(as_file(rows, ("ref", "one", "other"), kind), f"x.{kind}")
    assert (table.chosen["first"], table.chosen["second"]) == ("one", "other")
    assert (table.unread, table.references) == (("ref",), ())
    # Without a second text they are read as rewordings, which is reported.
    table = read_table(as_file([row[:2] for row in rows], ("ref", "title"), kind), f"x.{kind}")
    assert (table.chosen["first"], table.references) == ("ref", ("ref",))
    assert keys(table)["reading.references"] == {"columns": "“ref”"}


@pytest.mark.parametrize(
    ("names", "row"),
    [
        (("image_of_the_cat", "caption"), ("img/{}.jpg", "a cat {}")),
        (("documents_of_it", "what_was_asked"), ('["a {}", "b"]', "x {}")),
    ],
)
def test_names_above_paths_and_lists_are_a_header(names, row):
    rows = [[cell.format(at) for cell in row] for at in range(6)]
    grid = read_grid(as_file(rows, names, "csv"), "x.csv", None)
    assert (grid.header, grid.columns) == (True, names)


def keys(table: Table) -> dict[str, dict[str, str]]:
    return {note.key: dict(note.values) for note in reading_notes(table)}


def test_roles_of_columns_are_reported():
    rows = [("7", "q", "p", "n", "m"), ("8", "r", "o", "l", "k")]
    names = ("docid", "query", "positive", "HN1", "HN2")
    notes = keys(read_table(as_file(rows, names, "csv"), "x.csv"))
    assert notes["reading.anchor"] == {"columns": "“query”"}
    assert notes["reading.negative"] == {"columns": "“HN1”, “HN2”"}
    assert notes["reading.unread"] == {"columns": "“docid”"}
    assert notes["reading.by_position"]["first"] == "docid"


@pytest.mark.parametrize(
    ("names", "differs"),
    [
        (("question", "answer"), False),
        (("answer", "question"), True),
        (("score", "sentence1", "sentence2"), False),  # a label wherever it stands
        (("relevance", "sentence1", "sentence2"), True),  # a text, by that library's names
    ],
)
def test_an_order_unlike_that_of_sentence_transformers_is_reported(names, differs):
    rows = [("0.5", "one text", "a text"), ("1", "two", "texts")]
    rows = [row[-len(names) :] for row in rows]
    notes = keys(read_table(as_file(rows, names, "csv"), "x.csv"))
    assert ("reading.by_position" in notes) == differs


@pytest.mark.parametrize(
    ("highest", "message"), [(4, False), (127, False), (128, True), (300, True)]
)
def test_labels_too_high_for_exponential_gains_are_reported(highest, message):
    rows = [("q", "a", highest), ("q", "b", 0), ("r", "c", 1)]
    notes = keys(read_table(as_file(rows, ("query", "passage", "relevance"), "csv"), "x.csv"))
    assert ("reading.steep_gains" in notes) == message
    with np.errstate(over="ignore"):
        assert np.isinf(np.exp2(np.float32(highest))) == message
