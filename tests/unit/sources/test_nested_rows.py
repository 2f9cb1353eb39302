"""Texts that lie deeper than a column, numbered negatives, and the maps of LlamaIndex."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

import pyarrow
import pyarrow.parquet
import pytest

from lossprism.explorer.lab.large.large_pair_table_reader import read_pairs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs_from_tables import Table, read_table
from lossprism.explorer.sources.reading_notes import reading_notes
from tests.sentences import raises_problem

QUERIES = ("red hat", "green tea", "garden hose")
TRIPLETS = [
    ("red hat", "Hats", 1.0),
    ("red hat", "Tools", 0.0),
    ("red hat", "Shoes", 0.0),
    ("green tea", "Teas", 1.0),
    ("green tea", "Tools", 0.0),
    ("green tea", "Hats", 0.0),
]
ROWS = [("red hat", "Hats", ["Tools", "Shoes"]), ("green tea", "Teas", ["Tools", "Hats"])]


def lines(rows: list[dict]) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def parquet(rows: list[dict]) -> bytes:
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def written(rows: list[dict], write: Callable[[object], str] = json.dumps) -> bytes:
    """A CSV with lists and objects as text, as pandas writes it."""
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(rows[0])
    nested = (list, dict)
    for row in rows:
        table.writerow(write(one) if isinstance(one, nested) else one for one in row.values())
    return out.getvalue().encode()


def pairs_of(table: Table) -> list[tuple[str, str, float]]:
    pairs = table.pairs
    return list(zip(pairs.first, pairs.second, pairs.labels, strict=True))


def passage(text: str) -> dict:
    return {"docid": "d1", "title": "", "text": text}


def chat(text: str, role: str = "user") -> list[dict]:
    return [{"role": role, "content": text}]


FORMS = {
    "set": lambda q, p, n: {"set": {"query": q, "pos": [p], "neg": n}},
    "set beside an id": lambda q, p, n: {"id": 1, "set": {"query": q, "pos": [p], "neg": n}},
    "rejected_response": lambda q, p, n: {"query": q, "response": p, "rejected_response": n},
    "preference": lambda q, p, n: {"prompt": q, "chosen": p, "rejected": n},
    "Tevatron": lambda q, p, n: {
        "query_id": "1",
        "query": q,
        "positive_passages": [passage(p)],
        "negative_passages": [*map(passage, n)],
    },
    "DPR": lambda q, p, n: {
        "question": q,
        "positive_ctxs": [{"title": "", "text": p, "score": 1, "passage_id": "3"}],
        "hard_negative_ctxs": [{"title": "", "text": one} for one in n],
    },
    "one passage": lambda q, p, n: {
        "query": passage(q),
        "positive": passage(p),
        "negative": [*map(passage, n)],
    },
    "ms-swift": lambda q, p, n: {
        "messages": chat(q),
        "positive_messages": [chat(p, "assistant")],
        "negative_messages": [chat(one, "assistant") for one in n],
    },
    "chat with an answer": lambda q, p, n: {
        "messages": [*chat(q), *chat(p, "assistant")],
        "rejected_response": n,
    },
    "ShareGPT": lambda q, p, n: {
        "conversations": [{"from": "human", "value": q}, {"from": "gpt", "value": p}],
        "rejected": n,
    },
    "numbered": lambda q, p, n: {"question": q, "neg_1": n[0], "positive": p, "neg_2": n[1]},
    "numbered positives": lambda q, p, n: {"query": q, "HP1": p, "HN1": n[0], "HN2": n[1]},
    "lists of each key": lambda q, p, n: {
        "query": q,
        "positive_passages": {"docid": ["1"], "text": [p]},
        "negative_passages": {"docid": ["2", "3"], "text": n},
    },
    "row of a viewer": lambda q, p, n: {"row_idx": 0, "row": {"query": q, "pos": [p], "neg": n}},
    "chats of both": lambda q, p, n: {
        "messages": [*chat(q), *chat(p, "assistant")],
        "rejected_messages": [*chat(q), *chat(n[0], "assistant")],
        "negatives": n[1:],
    },
    "chosen and rejected chats": lambda q, p, n: {
        "chosen": [*chat(q), *chat(p, "assistant")],
        "rejected": [*chat(q), *chat(n[0], "assistant")],
        "negative": n[1],
    },
    "HN": lambda q, p, n: {"query": q, "positive": p, "HN1": n[0], "HN2": n[1]},
    "hard negatives": lambda q, p, n: {"anchor": q, "positive": p, "hard_negatives": n},
    "Chinese": lambda q, p, n: {"查询": q, "正样本": p, "负样本1": n[0], "负样本2": n[1]},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_negatives_is_read_whole(form):
    content = lines([FORMS[form](*row) for row in ROWS])
    assert pairs_of(read_table(content, "rows.jsonl")) == TRIPLETS
    whole = json.dumps([FORMS[form](*row) for row in ROWS]).encode()
    assert pairs_of(read_table(whole, "rows.json")) == TRIPLETS
    table = written([{"id": 7, **FORMS[form](*row)} for row in ROWS])
    assert pairs_of(read_table(table, "rows.csv")) == TRIPLETS
    table = written([{"id": 7, **FORMS[form](*row)} for row in ROWS], repr)
    assert pairs_of(read_table(table, "rows.csv")) == TRIPLETS
    packed = parquet([FORMS[form](*row) for row in ROWS])
    assert pairs_of(read_table(packed, "rows.parquet")) == TRIPLETS
    for kind in (content, packed):
        large = read_pairs(kind, "rows", {"similarity": ""}, None, lambda *_: None)
        assert list(large.second) == [second for _, second, _ in TRIPLETS]


def test_lists_as_numpy_writes_them_are_read():
    rows = [{"query": q, "pos": f"['{p}']", "neg": f"['{n[0]}'\n \"{n[1]}\"]"} for q, p, n in ROWS]
    assert pairs_of(read_table(written(rows), "rows.csv")) == TRIPLETS


def test_a_list_that_cannot_be_read_is_no_text():
    rows = [{"query": f"{q} {at}", "pos": [p], "neg": n} for q, p, n in ROWS for at in range(8)]
    rows[3]["neg"] = '["Tools", '
    table = read_table(written(rows), "rows.csv")
    (skipped,) = table.skipped
    assert (skipped.row, skipped.problem.key) == (4, "problem.cell_not_written")
    assert "“neg”" in str(skipped.problem)


@pytest.mark.parametrize("text", ["[1] A note.", "[CLS] a b [SEP]", "{x} is a set", "[sic] yes"])
def test_a_text_that_begins_with_a_bracket_stays_a_text(text):
    rows = [{"question": f"{text} {at}", "answer": text} for at in range(6)]
    table = read_table(written(rows), "rows.csv")
    assert pairs_of(table)[0] == (f"{text} 0", text, 1.0)


@pytest.mark.parametrize("write", [lines, parquet, written])
def test_texts_that_belong_together_are_pairs(write):
    pairs = [("a b", "c d", 1.0), ("e f", "g h", 1.0)]
    two = read_table(write([{"set": ["a b", "c d"]}, {"set": ["e f", "g h"]}]), "x")
    assert pairs_of(two) == pairs
    three = read_table(write([{"set": ["a b", "c d", "i j"]}, {"set": ["e f", "g h"]}]), "x")
    assert pairs_of(three) == [pairs[0], ("a b", "i j", 1.0), pairs[1]]


def test_numbered_negatives_of_a_csv_are_read_in_upper_and_lower_case():
    for names in ("query,positive,HN1,HN2", "Query,Positive,hn1,hn2", "query,pos,neg_1,neg_2"):
        rows = [names, "red hat,Hats,Tools,Shoes", "green tea,Teas,Tools,Hats"]
        assert pairs_of(read_table("\n".join(rows).encode(), "rows.csv")) == TRIPLETS


def test_a_title_stands_before_the_text_of_a_passage():
    row = {"query": "q", "positive_passages": [{"docid": "1", "title": "T", "text": "p"}]}
    assert pairs_of(read_table(lines([row]), "x.jsonl")) == [("q", "T p", 1.0)]


@pytest.mark.parametrize("empty", ["neg", "pos"])
def test_a_row_whose_list_is_empty_says_which(empty):
    rows = [{"query": "a b", "pos": ["p"], "neg": ["n"]} for _ in range(3)]
    rows[1][empty] = []
    table = read_table(lines(rows), "x.jsonl")
    (skipped,) = table.skipped
    assert (skipped.row, skipped.problem.key) == (2, "problem.list_empty")
    assert f"“{empty}”" in str(skipped.problem)


def test_a_row_without_any_candidate_is_not_dropped_without_a_word():
    rows = [{"query": "a b", "pos": ["p", "r"]}, {"query": "c d", "pos": []}]
    table = read_table(lines(rows), "x.jsonl")
    assert [(one.row, one.problem.key) for one in table.skipped] == [(2, "problem.list_empty")]


def maps(**changed: object) -> dict:
    queries = {f"q{at}": text for at, text in enumerate(QUERIES)}
    corpus = {"d0": "Hats", "d1": "Teas", "d2": "Hoses", "d3": "Tools"}
    relevant = {"q0": ["d0"], "q1": ["d1", "d3"], "q2": ["d2"]}
    return {"queries": queries, "corpus": corpus, "relevant_docs": relevant, **changed}


@pytest.mark.parametrize("indent", [None, 1])
def test_three_maps_are_joined(indent):
    content = json.dumps({"mode": "text", **maps()}, indent=indent).encode()
    found = [("red hat", "Hats", 1), ("green tea", "Teas", 1), ("green tea", "Tools", 1)]
    assert pairs_of(read_table(content, "x.json")) == [*found, ("garden hose", "Hoses", 1)]


def test_maps_with_degrees_have_labels():
    relevant = {"q0": {"d0": 2, "d3": 0}, "q1": {"d1": 1}}
    table = read_table(json.dumps(maps(relevant_docs=relevant)).encode(), "x.json")
    assert table.pairs.labels == (2, 0, 1)


@pytest.mark.parametrize(("relevant", "message"), [({"q9": ["d0"]}, "q9"), ({"q1": ["d9"]}, "d9")])
def test_an_id_without_a_text_is_named(relevant, message):
    content = json.dumps(maps(relevant_docs={"q0": ["d0"], **relevant})).encode()
    (skipped,) = read_table(content, "x.json").skipped
    assert message in str(skipped.problem)


def test_an_object_that_hides_a_column_stays_as_it_is():
    row = {"query": "a", "document": "b", "label": 1, "extra": {"query": "other"}}
    assert read_table(lines([row]), "x.jsonl").unread == ("extra",)


ID_TABLES = {
    "qrels.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t0",
    "names.csv": "query_id,corpus_id,relevance\nA,Animalia,1\nB,Bird,2",
    "trec.txt": "1 0 d1 1\n1 0 d2 0",
    "trec.tsv": "1\t0\td1\t1\n1\t0\td2\t0",
    "run.txt": "1 Q0 d1 1 14.2 bm25\n1 Q0 d2 2 12.2 bm25",
    "triples.tsv": "400296\t1540783\t3518497\n662731\t193249\t2975302",
    "triples.csv": "qid,pos_id,neg_id\n400296,1540783,3518497\n662731,193249,2975302",
    "numbers.csv": "query,positive,negative\n12,13,14\n15,16,17",
    "arrays.jsonl": "[400296, 1540783, 3518497]\n[662731, 193249, 2975302]",
    "hashes.csv": "query,document,label\n8f14e45f-ceea-467a-9575-6d6a1f3b0001,c9f0f895fb98ab91,1\n"
    "45c48cce-2e2d-4fbd-aa1a-fc51c7c6ad26,d3d9446802a44259,0",
    "lists.jsonl": '{"qid": 1, "pos": [7], "neg": [8, 9]}\n{"qid": 2, "pos": [3], "neg": [4, 5]}',
    "rows.jsonl": '{"qid": 1, "docid": 2, "rel": 1}\n{"qid": 2, "docid": 3, "rel": 0}',
}


@pytest.mark.parametrize("name", ID_TABLES)
def test_a_table_of_ids_is_refused_with_what_to_join(name):
    content = ID_TABLES[name].encode()
    with raises_problem("table_of_ids") as caught:
        read_table(content, name)
    assert caught.value.about == ""  # no other choice of columns puts it right
    with raises_problem("table_of_ids"):
        read_pairs(content, name, None, None, lambda *_: None)


@pytest.mark.parametrize(
    "text",
    [
        "query,document,score\nq1,d1,1\nq2,d2,0",
        "id,question1,question2,is_duplicate\n1,a b,c d,1\n2,e f,g h,0",
        "qid,docid,query,passage,score\n1,2,a b,c d,1\n3,4,e f,g h,0",
    ],
)
def test_texts_beside_ids_are_read(text):
    assert len(read_table(text.encode(), "x.csv").pairs) == 2


def test_the_text_of_a_turn_may_come_in_parts():
    parts = [{"type": "text", "text": "red"}, {"type": "text", "text": "hat"}]
    row = {"messages": [{"role": "user", "content": parts}, *chat("Hats", "assistant")]}
    assert pairs_of(read_table(lines([row]), "x.jsonl")) == [("red\nhat", "Hats", 1.0)]


@pytest.mark.parametrize("content", [None, 5, [{"type": "image", "image": "x.png"}], []])
def test_a_turn_without_text_is_no_text(content):
    turns = [{"role": "user", "content": content}, *chat("Hats", "assistant")]
    with pytest.raises(Problem, match="“messages”"):
        read_table(lines([{"messages": turns}] * 2), "x.jsonl")


def test_a_chat_hides_no_column_of_the_row():
    row = {"query": "a b", "response": "c d", "label": 1, "messages": chat("other")}
    table = read_table(lines([row]), "x.jsonl")
    assert (pairs_of(table), table.unread) == ([("a b", "c d", 1.0)], ("messages",))


SYSTEMS = [
    (
        {"messages": [*chat("s", "system"), *chat("q")], "positive_messages": [chat("p")]},
        "messages",
    ),
    ({"messages": [*chat("s", "developer"), *chat("q"), *chat("p", "assistant")]}, "messages"),
    (
        {"messages": chat("q"), "positive_messages": [[*chat("s", "system"), *chat("p")]]},
        "positive",
    ),
    (
        {
            "conversations": [
                {"from": "system", "value": "s"},
                {"from": "human", "value": "q"},
                {"from": "gpt", "value": "p"},
            ]
        },
        "conversations",
    ),
]


@pytest.mark.parametrize("write", [lines, parquet])
@pytest.mark.parametrize(("row", "name"), SYSTEMS)
def test_the_turn_of_the_system_is_an_instruction(row, name, write):
    table = read_table(write([row, row]), "x")
    assert pairs_of(table) == [("q", "p", 1.0)] * 2
    notes = {note.key: note.values["columns"] for note in reading_notes(table)}
    assert notes["reading.instruction"] == f"“{name}.system”"
    assert "reading.unread" not in notes
    assert "reading.by_position" not in notes  # the file has no such column


@pytest.mark.parametrize("write", [lines, parquet])
def test_scores_in_passages_are_a_teachers(write):
    row = {
        "query": "q",
        "positive_passages": [{"text": "p", "score": 3.5, "docid": "1"}],
        "negative_passages": [{"text": "n", "score": -1.0}, {"text": "m", "score": 0.5}],
    }
    table = read_table(write([row, row]), "x")
    assert table.pairs.teacher == (3.5, -1.0, 0.5) * 2
    assert table.taught == ("positive_passages.score", "negative_passages.score")
    assert table.unread[:1] == ("positive_passages.docid",)
    del row["negative_passages"][0]["score"], row["negative_passages"][1]["score"]
    table = read_table(write([row, row]), "x")  # of the positive alone they teach nothing
    assert (table.left_out, table.pairs.teacher) == (0, None)
    assert "positive_passages.score" in table.unread


@pytest.mark.parametrize("write", [lines, parquet])
@pytest.mark.parametrize("label", ["label", "relevance", "is_selected"])
def test_labels_in_passages_are_labels(label, write):
    passages = [{"text": "a b", label: 1}, {"text": "c d", label: 0}]
    row = {"query": "q r", "passages": passages, "query_id": 7}
    table = read_table(write([row, row]), "x")
    assert pairs_of(table) == [("q r", "a b", 1.0), ("q r", "c d", 0.0)] * 2
    assert (table.chosen["score"], table.unread) == (f"passages.{label}", ("query_id",))


def test_an_entry_that_is_no_chat_is_read_or_named_and_not_dropped():
    row = {"messages": chat("q r"), "positive_messages": [chat("p")]}
    rows = [{**row, "negative_messages": [chat("n"), other]} for other in ("plain", {"a": 1})]
    table = read_table(lines(rows), "x.jsonl")
    assert pairs_of(table) == [("q r", "p", 1.0), ("q r", "n", 0.0), ("q r", "plain", 0.0)]
    assert [skipped.row for skipped in table.skipped] == [2]


@pytest.mark.parametrize("documents", [[3], ["3"], "3", {"3": 1}])
def test_documents_of_a_map_are_found_by_number_text_or_alone(documents):
    found = {"queries": {"1": "q"}, "corpus": {"3": "d"}, "relevant_docs": {"1": documents}}
    assert pairs_of(read_table(json.dumps(found).encode(), "x.json")) == [("q", "d", 1.0)]
