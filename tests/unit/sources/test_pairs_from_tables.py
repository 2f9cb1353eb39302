"""Typed tables and files of every kind, the good rows kept and every bad one accounted for."""

import json
import random
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS, FILE_BYTES
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import is_score, read_score
from lossprism.explorer.sources.pairs_from_tables import from_rows, read_file

SHARED = Path(__file__).parents[4] / "shared" / "data"
ROWS = [
    ("The tea is hot.", "The tea is warm.", 4.0),
    ('He said "no", then left.', "He refused; then he left.", 3.5),
    ("今天天气很好，我们去公园。", "天气不错", 2.0),
]


def triples(table):
    pairs = table.pairs
    return list(zip(pairs.first, pairs.second, pairs.labels, strict=True))


def reasons(table):
    return [(bad.row, bad.problem.key.removeprefix("problem.")) for bad in table.skipped]


def write(folder, name, text, encoding="utf-8"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def csv_text(rows, delimiter=",", header="sentence1,sentence2,score", end="\n"):
    def cell(value):
        text = str(value)
        needs = any(mark in text for mark in (delimiter, '"', "\n"))
        return '"' + text.replace('"', '""') + '"' if needs else text

    lines = [delimiter.join(map(cell, row)) for row in rows]
    head = [header.replace(",", delimiter)] if header else []
    return end.join(head + lines) + end


def problem_key(call, *arguments, **options):
    with pytest.raises(Problem) as caught:
        call(*arguments, **options)
    for language in LANGUAGES:
        sentence = catalogue(language)[caught.value.key]
        for name in caught.value.values:
            assert name.isidentifier()
        placeholders = {part.split("}")[0] for part in sentence.split("{")[1:]}
        named = {name for name in placeholders if name.isidentifier()}
        assert named <= set(caught.value.values), sentence
    return caught.value.key.removeprefix("problem.")


# Typed tables


def test_typed_table_keeps_good_rows_and_says_why_others_are_skipped():
    table = from_rows(
        [
            ["a", "b", 1],
            ["", None, float("nan")],
            ["a", "  ", 1],
            [None, "b", 1],
            ["a", "b", ""],
            ["a", "b", "many"],
            ["a", "b", "nan"],
            ["a", "b", float("inf")],
            ["a", "b", "1e999"],
            ["a"],
            ["c", "d", " 0,8 "],
        ]
    )
    assert triples(table) == [("a", "b", 1.0), ("c", "d", 0.8)]
    assert reasons(table) == [
        (3, "sentence_missing"),
        (4, "sentence_missing"),
        (5, "score_missing"),
        (6, "score_not_a_number"),
        (7, "score_not_finite"),
        (8, "score_not_finite"),
        (9, "score_not_finite"),
        (10, "sentence_missing"),
    ]
    assert table.total == 10
    assert table.chosen == {"first": "sentence1", "second": "sentence2", "score": "score"}


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("0.8", 0.8),
        ("0,8", 0.8),
        ("４．５", 4.5),
        ("０，５", 0.5),
        (" -1 ", -1.0),
        ("−2", -2.0),
        ("+3", 3.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e-3", 0.001),
        ("TRUE", 1.0),
        ("false", 0.0),
        ("Entailment", 1.0),
        ("neutral", 0.5),
        ("contradiction", 0.0),
        (True, 1.0),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3.0),
        (Decimal("2.5"), 2.5),
        ("80%", 0.8),
        ("12,5 %", 0.125),
    ],
)
def test_scores_are_read_as_people_write_them(text, score):
    assert read_score(text, "score") == score


@pytest.mark.parametrize(
    "text",
    [
        "maybe",
        "y",
        "n",
        "4/5",
        "80%%",
        "%",
        "1.2.3",
        "1,2,3",
        "1_000",
        "0x10",
        "--1",
        "e5",
        "1 2",
        [1],
    ],
)
def test_what_is_no_number_is_no_score(text):
    assert not is_score(text)


def test_empty_typed_table_has_no_pairs_and_no_complaints():
    table = from_rows([["", "", ""], [None, None, None]])
    assert (len(table.pairs), table.skipped, table.total) == (0, (), 0)


def test_typed_table_is_limited_and_says_so():
    table = from_rows([[f"a{i}", f"b{i}", i] for i in range(EXPLORED_PAIRS + 1)])
    assert len(table.pairs) == EXPLORED_PAIRS
    assert table.limited
    assert not from_rows([["a", "b", 1]] * EXPLORED_PAIRS).limited


def test_hostile_sentences_arrive_unchanged():
    hostile = ["<img src=x onerror=alert(1)>", "${alert(1)}", "{{ 7*7 }}", "=cmd|' /C calc'!A0"]
    hostile += [
        "\u202eevil",
        "a\x00b",
        "👩‍👩‍👧",
        "e\u0301",
        "a\u2028b",
        "x" * 200_000,
        "'; DROP TABLE--",
    ]
    table = from_rows([[sentence, "b", 1] for sentence in hostile])
    assert table.pairs.first == tuple(hostile)


def test_half_characters_and_foreign_objects_are_skipped():
    table = from_rows([["a\ud800", "b", 1], [["a"], "b", 1], [True, "b", 1], [42, "b", 1]])
    assert triples(table) == [("42", "b", 1.0)]
    assert reasons(table) == [
        (1, "sentence_broken_character"),
        (2, "sentence_not_text"),
        (3, "sentence_not_text"),
    ]


# Files: each kind, each encoding


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_with_any_separator_and_line_end(tmp_path, delimiter, end):
    table = read_file(write(tmp_path, "x.csv", csv_text(ROWS, delimiter, end=end)))
    assert triples(table) == ROWS
    assert table.header
    assert not table.skipped


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16"),
        ("gb18030", "GB18030"),
    ],
)
@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl"])
def test_encodings_are_detected_and_reported(tmp_path, name, encoding, message):
    if name == "x.jsonl":
        objects = [dict(zip(("text1", "text2", "label"), row, strict=True)) for row in ROWS]
        text = "\n".join(json.dumps(entry, ensure_ascii=False) for entry in objects)
    else:
        text = csv_text(ROWS, "\t" if name == "x.tsv" else ",")
    table = read_file(write(tmp_path, name, text, encoding))
    assert triples(table) == ROWS
    assert table.encoding == message


def test_western_text_is_not_taken_for_chinese(tmp_path):
    rows = [("Le café est fermé cet été.", "Où est la clé ?", 1.0)]
    table = read_file(write(tmp_path, "x.csv", csv_text(rows), "cp1252"))
    assert (triples(table), table.encoding) == (rows, "Windows-1252")


def test_damaged_utf8_names_the_line(tmp_path):
    good = csv_text([("今天天气很好我们去公园散步", "天气不错适合出门走一走", 1)] * 3)
    data = good.encode() + b"\xff,b,1\n"
    with pytest.raises(Problem) as caught:
        read_file(write(tmp_path, "x.csv", data))
    assert caught.value.key == "problem.file_damaged_utf8"
    assert caught.value.values["line"] == 5


def test_bare_quotes_in_tsv_survive(tmp_path):
    rows = [
        ('"Stop!" he cried', 'He cried "stop"', "1"),
        ('5" screen', '"', "0"),
        ('"a"', "b", "1"),
    ]
    text = "sentence1\tsentence2\tscore\n" + "\n".join("\t".join(row) for row in rows)
    table = read_file(write(tmp_path, "x.tsv", text))
    assert triples(table) == [(a, b, float(score)) for a, b, score in rows]


@pytest.mark.parametrize(
    "rows",
    [
        [('a "quoted" word', "b", 1.0), ("plain", "text", 0.0)],
        [("with a\ttab", "b", 1.0), ("plain", "text", 0.0)],
        [("two\nlines", "b", 1.0), ("plain", "text", 0.0)],
    ],
)
def test_properly_quoted_tsv_is_unquoted(tmp_path, rows):
    assert triples(read_file(write(tmp_path, "x.tsv", csv_text(rows, "\t")))) == rows


def test_fully_quoted_tsv_is_unquoted(tmp_path):
    text = '"sentence1"\t"sentence2"\t"score"\n"a"\t"b"\t"1"\n"c"\t"d"\t0\n'
    assert triples(read_file(write(tmp_path, "x.tsv", text))) == [("a", "b", 1), ("c", "d", 0)]


def test_csv_cells_with_line_breaks_commas_and_giant_text(tmp_path):
    rows = [("one\ntwo, three", 'a ""double""', 1.0), ("x" * 1_000_000, "b", 0.0)]
    assert triples(read_file(write(tmp_path, "x.csv", csv_text(rows)))) == rows


def test_unclosed_quote_costs_one_row_only(tmp_path):
    text = 'sentence1,sentence2,score\n"oh, no,b,1\nc,d,0\n"e, e",f,1\n"bare,g,1\nh,i,0\n'
    table = read_file(write(tmp_path, "x.csv", text))
    assert triples(table) == [("c", "d", 0), ("e, e", "f", 1), ("h", "i", 0)]
    assert reasons(table) == [(1, "row_unclosed_quote"), (4, "row_unclosed_quote")]


def test_rows_of_the_wrong_width_are_skipped_with_their_number(tmp_path):
    text = "sentence1,sentence2,score\na,b,1\nc,d\n\ne,f,g,0\nh,i,0,,\n"
    table = read_file(write(tmp_path, "x.csv", text))
    assert triples(table) == [("a", "b", 1), ("h", "i", 0)]
    assert reasons(table) == [(2, "row_fields"), (4, "row_fields")]
    assert table.skipped[0].problem.values == {"found": 2, "expected": 3}


def test_jsonl_skips_broken_lines_by_number(tmp_path):
    lines = ['{"s1": "a", "s2": "b", "label": 1}', '{"s1": "a", ', "", "[1]", '{"s1": "c"}']
    lines += ['{"s1": "a", "s2": "b", "label": NaN}', '{"s1": "e", "s2": "f", "label": "0,5"}']
    table = read_file(write(tmp_path, "x.jsonl", "\n".join(lines)))
    assert triples(table) == [("a", "b", 1.0), ("e", "f", 0.5)]
    assert reasons(table) == [
        (2, "row_not_json"),
        (4, "row_not_object"),
        (5, "sentence_missing"),
        (6, "score_not_finite"),
    ]


def test_json_array_of_objects(tmp_path):
    objects = [{"query": "a", "passage": "b", "score": 1}, 7]
    table = read_file(write(tmp_path, "x.json", json.dumps(objects, indent=2)))
    assert triples(table) == [("a", "b", 1.0)]
    assert reasons(table) == [(2, "row_not_object")]


def test_parquet(tmp_path):
    path = tmp_path / "x.parquet"
    columns = {
        "id": [7, 8, 9],
        "sentence1": ["a", None, "c"],
        "sentence2": ["b", "b", "d"],
        "score": [1.0, 1.0, 0.25],
    }
    pa.parquet.write_table(pa.table(columns), path)
    table = read_file(path)
    assert triples(table) == [("a", "b", 1.0), ("c", "d", 0.25)]
    assert reasons(table) == [(2, "sentence_missing")]
    assert problem_key(read_file, write(tmp_path, "cut.parquet", path.read_bytes()[:60])) == (
        "file_broken"
    )


# Columns


@pytest.mark.parametrize(
    "header",
    [
        "Sentence1,Sentence2,Score",
        "text_a,text_b,labels",
        "question1,question2,is_duplicate",
        "premise,hypothesis,gold",
        "query,passage,Similarity Score",
        "a,b,label",
        "句子1,句子2,相似度",
        "文本一,文本二,标签",
        "foo,bar,baz",
        "sentence1,sentence2,how_close",
    ],
)
def test_usual_column_names_are_recognised(tmp_path, header):
    table = read_file(write(tmp_path, "x.csv", csv_text(ROWS, header=header)))
    assert triples(table) == ROWS
    assert list(table.chosen.values()) == header.split(",")


@pytest.mark.parametrize(
    "header", ["text,intent", "Utterance,Category", "text,label", "sentence,topic", "文本,类别"]
)
def test_texts_with_classes_are_no_pairs(tmp_path, header):
    rows = "".join(f"where is my card no. {at},{'abc'[at % 3]}\n" for at in range(30))
    path = write(tmp_path, "x.csv", f"{header}\n{rows}")
    assert problem_key(read_file, path) == "columns_name_classes"
    first, second = header.split(",")
    chosen = {"first": first, "second": second, "score": "none"}
    table = read_file(path, columns=chosen)
    assert table.header
    assert table.total == len(table.pairs) == 30


def test_two_sentences_above_which_stands_no_header_are_no_classes(tmp_path):
    table = read_file(write(tmp_path, "x.tsv", "aim\ttarget\n" + "go\twalk\n" * 20))
    assert not table.header
    assert table.pairs.second[0] == "target"


def test_columns_in_another_order_among_others(tmp_path):
    text = "id,score,genre,sentence2,sentence1\n1,0.5,news,b,a\n2,0.7,news,d,c\n"
    assert triples(read_file(write(tmp_path, "x.csv", text))) == [("a", "b", 0.5), ("c", "d", 0.7)]


def test_columns_can_be_chosen(tmp_path):
    path = write(tmp_path, "x.csv", "w,x,y,z\na,b,1,9\nc,d,2,8\n")
    assert problem_key(read_file, path) == "columns_not_recognised"
    table = read_file(path, columns={"first": "x", "second": "w", "score": "z"})
    assert triples(table) == [("b", "a", 9.0), ("d", "c", 8.0)]
    assert triples(read_file(path, columns={"score": "y"})) == [("a", "b", 1), ("c", "d", 2)]
    assert problem_key(read_file, path, columns={"score": "q"}) == "column_unknown"
    assert problem_key(read_file, path, columns={"third": "w"}) == "column_role_unknown"
    twice = {"first": "w", "second": "w"}
    assert problem_key(read_file, path, columns=twice) == "column_chosen_twice"


def test_unrecognised_columns_are_listed(tmp_path):
    path = write(tmp_path, "x.csv", "left side,right side,why\na,b,c\nd,e,f\n")
    with pytest.raises(Problem, match=r"left side.*right side"):
        read_file(path, header=True)


def test_without_header_columns_are_numbered(tmp_path):
    text = csv_text(ROWS, header=None)
    table = read_file(write(tmp_path, "x.csv", text))
    assert triples(table) == ROWS
    assert (table.header, table.columns) == (False, ("1", "2", "3"))
    swapped = {"first": "2", "second": "1"}
    table = read_file(write(tmp_path, "x.csv", text), columns=swapped)
    assert table.pairs.first == tuple(row[1] for row in ROWS)


def test_decimal_commas_between_semicolons(tmp_path):
    table = read_file(write(tmp_path, "x.csv", "a, a;b;0,5\nc;d, d;4,25\n"))
    assert triples(table) == [("a, a", "b", 0.5), ("c", "d, d", 4.25)]


def test_a_single_row_that_could_be_names_is_a_row(tmp_path):
    assert triples(read_file(write(tmp_path, "x.csv", "a,b,1\n"))) == [("a", "b", 1.0)]


def test_words_of_inference_data_are_scores(tmp_path):
    text = "premise,hypothesis,gold_label\na,b,entailment\na,c,neutral\na,d,-\n"
    table = read_file(write(tmp_path, "x.csv", text))
    assert triples(table) == [("a", "b", 1.0), ("a", "c", 0.5)]
    assert reasons(table) == [(3, "inference_label")]


INFERENCE = "premise,hypothesis,label\n" + "".join(f"a {n},b {n},{n % 3}\n" for n in range(9))


@pytest.mark.parametrize(
    ("text", "inference"),
    [
        (INFERENCE, True),
        (INFERENCE.replace("premise,hypothesis", "前提,假设"), True),
        ("premise,hypothesis,label\n" + INFERENCE.partition("\n")[2] + "c,d,-1\n", True),
        (INFERENCE.replace(",2\n", ",contradiction\n"), True),
        (INFERENCE.replace("premise,hypothesis", "sentence1,sentence2"), False),
        (INFERENCE + "c,d,5\n", False),
        (INFERENCE + "c,d,0.5\n", False),
    ],
)
def test_numbers_beside_premise_and_hypothesis_are_kinds(tmp_path, text, inference):
    """As SNLI and MNLI number them: 0 is entailment, and 2 no degree above it."""
    table = read_file(write(tmp_path, "x.csv", text))
    assert table.inference is inference
    if inference:
        assert table.pairs.labels == (1.0, 0.5, 0.0) * 3
        assert reasons(table) == ([(10, "inference_label")] if "-1" in text else [])
    elif "sentence1" in text:
        assert table.pairs.labels == (0.0, 1.0, 2.0) * 3


def test_numbers_in_order_of_their_kind_are_kinds(tmp_path):
    """The first rows, from which columns are recognised, then have only one of them."""
    rows = "".join(f"a {n},b {n},{n // 4000}\n" for n in range(12_000))
    table = read_file(write(tmp_path, "x.csv", f"premise,hypothesis,label\n{rows}"), most=12_000)
    assert table.inference
    assert table.pairs.labels[0::4000] == (1.0, 0.5, 0.0)


def test_header_can_be_forced_either_way(tmp_path):
    path = write(tmp_path, "x.csv", "a,b,1\nc,d,2\n")
    assert triples(read_file(path, header=False)) == [("a", "b", 1), ("c", "d", 2)]
    assert triples(read_file(path, header=True)) == [("c", "d", 2)]


@pytest.mark.parametrize(
    "header",
    [
        "question,answer,negative_1,negative_2",  # as mine_hard_negatives leaves the names
        "query,document,negative,negative_2",
        "title,abstract,hard_negative_1,hard_negative_2",
        "sent0,sent1,hard_neg,hard_neg_2",
        "query,passage,neg,neg2,words",  # a number of some kind is no label beside negatives
    ],
)
def test_negatives_beside_a_pair_of_any_known_names_are_read(tmp_path, header):
    rows = "q one,a one,n one,m one,3\nq two,a two,n two,,7\n"
    if "words" not in header:
        rows = rows.replace(",3\n", "\n").replace(",7\n", "\n")
    table = read_file(write(tmp_path, "x.csv", f"{header}\n{rows}"))
    assert set(table.chosen) == {"anchor", "positive", "negative"}
    assert triples(table) == [
        ("q one", "a one", 1),
        ("q one", "n one", 0),
        ("q one", "m one", 0),
        ("q two", "a two", 1),
        ("q two", "n two", 0),
    ]


def test_a_named_score_of_pairs_comes_before_a_column_called_like_negatives(tmp_path):
    text = "sentence1,sentence2,score,negative\na,b,0.5,c\nd,e,1,f\n"
    table = read_file(write(tmp_path, "x.csv", text))
    assert triples(table) == [("a", "b", 0.5), ("d", "e", 1)]
    flags = "question,answer,negative\na,b,0\nd,e,1\n"
    assert triples(read_file(write(tmp_path, "y.csv", flags))) == [("a", "b", 0), ("d", "e", 1)]


def test_triplets_give_two_pairs_a_row(tmp_path):
    path = write(tmp_path, "x.tsv", "anchor\tpositive\tnegative\na\tp\tn\nb\t\tm\n")
    table = read_file(path)
    assert triples(table) == [("a", "p", 1.0), ("a", "n", 0.0)]
    assert reasons(table) == [(2, "sentence_missing")]
    assert table.chosen == {name: name for name in ("anchor", "positive", "negative")}
    table = read_file(path, most=1)
    assert (len(table.pairs), table.limited) == (0, True)


# What is no table


@pytest.mark.parametrize(
    ("name", "data", "key"),
    [
        ("x.csv", b"", "file_empty"),
        ("x.csv", b"\xef\xbb\xbf \r\n \n", "file_empty"),
        ("x.csv", b"sentence1,sentence2,score\n", "file_only_header"),
        ("x.csv", b"foo\tbar\tbaz\n\n", "file_only_header"),
        ("x.csv", b"PK\x03\x04....", "file_not_its_name"),
        ("x.xlsx", b"PK\x03\x04....", "file_is_spreadsheet"),
        ("x.csv", b"PAR1....PAR1", "file_not_its_name"),
        ("x.parquet", b"sentence1,sentence2,score\na,b,1\n", "file_not_packed"),
        ("x.csv", b'{"s1": "a", "s2": "b", "score": 1}\n', "file_not_its_name"),
        ("x.jsonl", b"sentence1,sentence2,score\na,b,1\n", "file_not_json"),
        ("x.json", b'[{"s1": "a"', "file_broken"),
        ("x.json", b"[[1, 2]]", "file_not_json"),
        ("x.json", b"[" * 100_000, "file_not_json"),
        ("x.json", b'[{"a":' + b"[" * 100_000, "file_broken"),
        ("x.csv", bytes(range(256)) * 20, "file_binary"),
        ("x.csv", b"\xff\xfe\x00\xd8\x00", "file_not_in_encoding"),
        ("x.csv", b"\x81\x20\x8d,b,1", "file_encoding"),
        ("x.pdf", b"%PDF-1.7", "file_not_its_name"),
        ("x.csv", b"just one column\nof text\n", "table_one_column"),
    ],
)
def test_what_is_no_table_is_refused_with_a_reason(tmp_path, name, data, key):
    assert problem_key(read_file, write(tmp_path, name, data)) == key


def test_random_bytes_never_crash(tmp_path):
    stream = random.Random(3)
    alphabet = [
        b'"',
        b",",
        b"\t",
        b"\n",
        b";",
        b"a",
        b"1",
        b"{",
        b"[",
        b"\xe4\xbd\xa0",
        b"\xe9",
        b"\r",
    ]
    outcomes = set()
    for trial in range(400):
        data = b"".join(stream.choices(alphabet, k=stream.randint(1, 60)))
        name = ("x.csv", "x.tsv", "x.jsonl", "x.json", "x")[trial % 5]
        try:
            table = read_file(write(tmp_path, name, data))
            assert len(table.pairs) + len(table.skipped) == table.total
            assert len(table.skipped) == table.left_out
            outcomes.add("table")
        except Problem as problem:
            outcomes.add(problem.key)
    assert len(outcomes) > 3


def test_file_over_the_limit_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "x.csv"
    with path.open("wb") as file:
        file.truncate(FILE_BYTES + 1)
    assert problem_key(read_file, path) == "file_too_large"
    assert problem_key(read_file, tmp_path / "absent.csv") == "file_unreadable"


def test_the_name_of_an_upload_decides_not_the_path(tmp_path):
    path = write(tmp_path, "tmp0", 'a\tb\tscore\n"x\ty\t1\n')
    assert triples(read_file(path, "mine.TSV")) == [('"x', "y", 1.0)]


# Many rows


def test_more_rows_than_the_limit_are_cut_or_sampled_and_reported(tmp_path):
    rows = [(f"a{i}", f"b{i}", float(i)) for i in range(1000)]
    path = write(tmp_path, "x.csv", csv_text(rows))
    table = read_file(path)
    assert (triples(table), table.total, table.limited) == (rows[:EXPLORED_PAIRS], 1000, True)
    sample = read_file(path, most=100, seed=7)
    assert triples(sample) == triples(read_file(path, most=100, seed=7))
    assert triples(sample) != triples(read_file(path, most=100, seed=8))
    assert list(sample.pairs.labels) == sorted(set(sample.pairs.labels))
    assert max(sample.pairs.labels) > 500
    assert sample.limited
    assert not read_file(path, most=1000, seed=7).limited


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl"])
def test_ten_thousand_rows_arrive_exactly(tmp_path, name):
    rows = [(f'sentence {i}, "a"', f"sentence {i} b", i / 10_000) for i in range(10_000)]
    if name == "x.jsonl":
        keys = ("sentence1", "sentence2", "score")
        text = "\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in rows)
    else:
        text = csv_text(rows, "\t" if name == "x.tsv" else ",")
    path = write(tmp_path, name, text)
    assert triples(read_file(path, most=10_000)) == rows


@pytest.mark.parametrize(
    "name",
    [
        "stsb_en_ccbysa_train.tsv",
        "stsb_en_ccbysa_dev.tsv",
        "pawsx_zh_dev.tsv",
        "nli_triplets_snli.tsv",
    ],
)
def test_public_data_sets_arrive_exactly(name):
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is absent: data of other licences are not in the repository")
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[1:] if line]
    if "triplets" in name:
        expected = [pair for a, p, n in rows for pair in ((a, p, 1.0), (a, n, 0.0))]
    else:
        expected = [(a, b, float(score)) for a, b, score in rows]
    table = read_file(path, most=10**6)
    assert triples(table) == expected
    assert not table.skipped


@pytest.mark.parametrize(
    ("header", "row", "unread"),
    [
        ("question,answer,negative_1,negative_2,other", "a,b,c,d,e", ("other",)),
        ("anchor,positive,negative,pos_score,neg_score,note", "a,b,c,0.9,0.1,e", ("note",)),
        ("first,second,score,teacher,id", "a,b,0.5,0.4,7", ("id",)),
        (
            "first,second,guide1,guide2,note",
            'a,b,"[1, 0]","[0, 1]",e',
            ("guide1", "guide2", "note"),
        ),
        ("first,second,third", "a,b,c", ("third",)),
    ],
)
def test_columns_are_unread_beside_all_that_serve(tmp_path, header, row, unread):
    table = read_file(write(tmp_path, "columns.csv", f"{header}\n" + f"{row}\n" * 3))
    assert table.unread == unread


def test_which_pairs_make_a_row_is_known_where_some_hold_several(tmp_path):
    lines = ["query,positive,negative_1,negative_2", "a,b,c,d", "e,f,g,", "a,h,i,j"]
    table = read_file(write(tmp_path, "rows.csv", "\n".join(lines)))
    assert table.pairs.in_rows == (0, 0, 0, 1, 1, 2, 2, 2)
    assert table.pairs.at([3, 4, 5]).in_rows == (1, 1, 2)
    single = read_file(write(tmp_path, "pairs.csv", "first,second\na,b\nc,d"))
    assert single.pairs.in_rows is None
