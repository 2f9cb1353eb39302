"""`python app.py explain`: what it reads, and what it prints."""

from __future__ import annotations

import argparse
import json

import pytest

from explorer.lab.doctor.command_options import add_to
from explorer.lab.doctor.commands import doctor, explain_value


def typed(*words):
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers(dest="command"))
    return parser.parse_args(["explain", *words])


def test_a_number_is_explained(capsys):
    assert explain_value(typed("5.545", "--loss", "siglip")) == 0
    said = capsys.readouterr().out
    begins = "SigLIP is 5.54518 when all vectors are alike (batch 8, all of positive pairs): "
    assert said.startswith(begins)
    assert "At its start, any two vectors at right angles, it would be 10.0004." in said


def test_as_json(capsys):
    words = ("3.17", "--loss", "MultipleNegativesRankingLoss", "--scale", "1", "--batch", "64")
    assert explain_value(typed(*words, "--json")) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["standing"]["place"] == "floor"
    assert answer["known"] == {"loss": words[2], "scale": 1, "batch": 64}


@pytest.mark.parametrize(
    ("words", "said"),
    [(["much"], "The value is much; a finite number"), (["5", "--loss", "nowhere"], "nowhere")],
)
def test_what_is_no_number_or_loss_is_refused(words, said, capsys):
    assert explain_value(typed(*words)) == 2
    assert said in capsys.readouterr().err


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pairs.tsv"
    rows = [("sentence1", "sentence2", "score"), ("a cat", "a dog", "0.5"), ("a cat", "a dog", "1"),
            ("one", "two", "0"), ("One", "two", "0"), ("three", "four", "1")]  # fmt: skip
    path.write_text("\n".join("\t".join(row) for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("loss", "scores", "unread"),
    [
        ("MultipleNegativesRankingLoss", "0 1 0.5 1 0.2", True),
        ("info_nce", "0 1 0.5 1 0.2", False),  # LossPrism's own reads them
        ("MultipleNegativesRankingLoss", "1 1 1 1 1", False),
        ("CoSENTLoss", "0 1 0.5 1 0.2", False),
    ],
)
def test_a_class_that_reads_no_labels_is_told_as_one(loss, scores, unread, tmp_path, capsys):
    path = tmp_path / "pairs.tsv"
    rows = "".join(f"first {n}\tsecond {n}\t{one}\n" for n, one in enumerate(scores.split()))
    path.write_text(f"first\tsecond\tscore\n{rows}", encoding="utf-8")
    doctor(typed_doctor(str(path), "--loss", loss, "--batch", "2"))
    said = capsys.readouterr().out
    assert (f"{loss} reads no labels" in said) == unread
    if unread:
        assert "2 of these pairs (40%) count as positive although their label is below 0.5" in said
    doctor(typed_doctor(str(path), "--loss", loss, "--batch", "2", "--json"))
    assert bool(json.loads(capsys.readouterr().out)["labels_unread"]) == unread


def test_header_and_encoding_of_a_table_can_be_said(tmp_path, capsys):
    path = tmp_path / "pairs.csv"
    path.write_bytes("句子,答案\n天气很好,阳光明媚\n我饿了,想吃饭\n".encode("gbk"))
    for header, pairs in (("yes", 2), ("no", 3)):
        words = ("--header", header, "--encoding", "gbk")
        doctor(typed_doctor(str(path), "--batch", "2", "--json", *words))
        assert json.loads(capsys.readouterr().out)["pairs"] == pairs
    assert doctor(typed_doctor(str(path), "--encoding", "nonsense")) == 2
    assert "no encoding that is read here" in capsys.readouterr().err


def test_of_an_empty_file_nobody_can_tell_which_door_is_meant(tmp_path, capsys):
    (tmp_path / "nothing.csv").write_bytes(b"")
    assert doctor(typed_doctor(str(tmp_path / "nothing.csv"))) == 2
    assert "neither a table of pairs in it nor the log of a run" in capsys.readouterr().err


def test_rows_are_those_of_the_file_and_print_nothing_but_letters(tmp_path, capsys):
    """A row that could not be read counts, and a text is no command to the terminal."""
    path = tmp_path / "t.tsv"
    path.write_text(f"anchor\tpositive\n\tx\na\x1b[31m\t{'long ' * 40}\nA\x1b[31m\tb\nc\td\n")
    assert doctor(typed_doctor(str(path), "--batch", "2")) == 1
    said = capsys.readouterr().out
    assert f"   row 2: a [31m · {'long ' * 11}long…\n   row 3: A [31m · b\n" in said
    assert "\x1b" not in said
    path.write_text("text,class\n,x\none,a\none,b\ntwo,a\n".replace(",", "\t"))
    assert doctor(typed_doctor(str(path), "--batch", "2")) == 1
    assert "   row 2: one · a\n   row 3: one · b\n" in capsys.readouterr().out


def test_severe_findings_end_with_1(table, capsys):
    assert doctor(typed_doctor(table, "--loss", "cosent")) == 1
    said = capsys.readouterr().out
    read = "First text: “sentence1”.\nSecond text: “sentence2”.\nLabel: “score”.\n"
    assert said.startswith(f"5 pairs for CoSENT in batches of 64:\n{read}\nsevere · conflicting")
    assert "   row 1: a cat · a dog · 0.5\n   row 2: a cat · a dog · 1\n" in said
    assert doctor(typed_doctor(table, "--loss", "cosent", "--json")) == 1
    answer = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in answer["findings"]] == ["conflicting_labels", "copies"]
    assert answer["kept"] == 2


def test_the_clean_table_examines_clean(table, tmp_path, capsys):
    clean = tmp_path / "clean.tsv"
    doctor(typed_doctor(table, "--loss", "cosent", "--clean", str(clean)))
    assert clean.read_text().splitlines()[1:] == ["one\ttwo\t0", "three\tfour\t1"]
    left = (tmp_path / "clean.left-out.tsv").read_text().splitlines()
    assert left[3] == "4\tcopies\tOne\ttwo\t0"
    assert doctor(typed_doctor(str(clean), "--loss", "cosent")) == 0
    assert "None of what was looked for in texts and labels is there." in capsys.readouterr().out


def test_columns_are_named_where_no_header_was_known(tmp_path, capsys):
    path = tmp_path / "odd.csv"
    path.write_text("how?;that!\nhow tall;deep\nhow old;ten\n", encoding="utf-8")
    words = ("--column", "first=that!", "--column", "second=how?", "--loss", "info_nce")
    assert doctor(typed_doctor(str(path), *words)) == 0
    assert capsys.readouterr().out.startswith("2 pairs for InfoNCE")


def test_where_columns_are_not_recognised_it_is_said_how_to_choose_them(tmp_path, capsys):
    path = tmp_path / "odd.tsv"
    path.write_text("uno\tdue\ttre\nhow tall\tdeep\tx\nhow old\tten\ty\n", encoding="utf-8")
    assert doctor(typed_doctor(str(path))) == 2
    said = capsys.readouterr().err
    assert "not clear which columns" in said
    assert "--column first=NAME --column second=NAME" in said
    assert "--column text=NAME --column class=NAME" in said
    assert doctor(typed_doctor(str(path), "--language", "zh")) == 2
    said = capsys.readouterr().err
    assert "--column first=列名 --column second=列名" in said
    assert "Here" not in said


def test_a_terminal_is_told_how_far_it_is(table, capsys, monkeypatch):
    doctor(typed_doctor(table, "--loss", "cosent"))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    doctor(typed_doctor(table, "--loss", "cosent", "--language", "zh"))
    told = capsys.readouterr().err
    assert "正在比较文本" in told
    assert told.endswith("\033[K")


def test_what_cannot_be_examined_is_said(table, tmp_path, capsys):
    assert doctor(typed_doctor(table, "--tokens", "-4")) == 2
    assert "tokens is -4; a whole number" in capsys.readouterr().err
    assert doctor(typed_doctor(str(tmp_path / "nowhere.tsv"))) == 2
    assert "cannot be opened" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("blank.tsv", b"\n\n"),
        ("header.csv", b"sentence1,sentence2,score\n"),
        ("log.csv", b"step,loss\n"),
        ("junk.csv", bytes(range(256))),
        ("trainer_state.json", b'{"log_history": ['),
        ("pairs.jsonl", b'{"sentence1": "a"'),
        ("events.out.tfevents.1", b""),
    ],
)
def test_what_holds_nothing_to_examine_is_no_severe_finding(name, content, tmp_path, capsys):
    """A pipeline can tell bad data from none: one sentence, and a status of its own."""
    (tmp_path / name).write_bytes(content)
    assert doctor(typed_doctor(str(tmp_path / name))) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("Nothing was examined: ")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    "words", [(), ("pairs.tsv", "--hub", "some/set"), ("--hub", "a/b", "--rows", "1")]
)
def test_what_cannot_be_asked_is_no_severe_finding(words, capsys):
    assert doctor(typed_doctor(*words)) == 2
    assert capsys.readouterr().err.startswith("Nothing was examined: ")


def typed_doctor(*words):
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers(dest="command"))
    return parser.parse_args(["doctor", *words])


@pytest.mark.parametrize("kind", ["pairs", "classes"])
def test_json_has_all_rows_of_a_finding_and_the_terminal_a_few(kind, tmp_path, capsys):
    """Forty rows that stand there twice, of pairs and of texts with classes."""
    rows = [f"text {n % 40}\t{f'other {n % 40}' if kind == 'pairs' else f'c{n % 4}'}"
            for n in range(80)]  # fmt: skip
    heads = {"pairs": "sentence1\tsentence2", "classes": "text\tclass"}
    path = tmp_path / "table.tsv"
    path.write_text("\n".join((heads[kind], *rows)), encoding="utf-8")
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers(dest="command"))
    doctor(parser.parse_args(["doctor", str(path), "--json"]))
    found = {one["name"]: one["rows"] for one in json.loads(capsys.readouterr().out)["findings"]}
    name = "copies" if kind == "pairs" else "texts_again"
    assert len(found[name]) == (80 if kind == "pairs" else 40)
    doctor(parser.parse_args(["doctor", str(path)]))
    said = capsys.readouterr().out.partition(name)[2].partition("\n\n")[0]
    assert said.count("\n   row ") == 5
