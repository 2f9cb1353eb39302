"""`python app.py explain`: what it reads, and what it prints."""

from __future__ import annotations

import argparse
import json
import re

import pytest

from lossprism.explorer.lab.doctor.explain_and_doctor_command_line_options import add_to
from lossprism.explorer.lab.doctor.terminal_commands import doctor, explain_value
from lossprism.explorer.locale import LANGUAGES, say
from tests.sentences import pattern_of


def typed(*words):
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers(dest="command"))
    return parser.parse_args(["explain", *words])


def test_a_number_is_explained(capsys):
    assert explain_value(typed("5.545", "--loss", "siglip")) == 0
    output = capsys.readouterr().out
    counted = say("en", "doctor.count.batch_of_positives", count=8)
    alike = {"loss": say("en", "loss.siglip.title"), "value": "5.54518"}
    where = say("en", "doctor.where", what=counted)
    assert pattern_of("doctor.collapse", **alike, where=where).match(output)
    assert say("en", "doctor.starts", value="10.0004") in output


def test_as_json(capsys):
    words = ("3.17", "--loss", "MultipleNegativesRankingLoss", "--scale", "1", "--batch", "64")
    assert explain_value(typed(*words, "--json")) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["standing"]["place"] == "floor"
    assert answer["known"] == {"loss": words[2], "scale": 1, "batch": 64}


@pytest.mark.parametrize(
    ("words", "key", "values"),
    [
        (["much"], "explain_value", {"value": "much"}),
        (["5", "--loss", "nowhere"], "unknown_loss", {"name": "nowhere"}),
    ],
)
def test_what_is_no_number_or_loss_is_refused(words, key, values, capsys):
    assert explain_value(typed(*words)) == 2
    assert pattern_of(f"problem.{key}", **values).search(capsys.readouterr().err)


def row_lines(*shown):
    """Rows of a table as the terminal shows them: the number and the cells of each."""
    lines = (say("en", "doctor.row", row=row, cells=" · ".join(cells)) for row, *cells in shown)
    return "".join(f"   {line}\n" for line in lines)


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
def test_a_class_that_reads_no_labels_is_reported(loss, scores, unread, tmp_path, capsys):
    path = tmp_path / "pairs.tsv"
    rows = "".join(f"first {n}\tsecond {n}\t{one}\n" for n, one in enumerate(scores.split()))
    path.write_text(f"first\tsecond\tscore\n{rows}", encoding="utf-8")
    doctor(typed_doctor(str(path), "--loss", loss, "--batch", "2"))
    output = capsys.readouterr().out
    values = {"loss": loss, "count": 2, "share": "40%", "threshold": "0.5"}
    assert (say("en", "doctor.labels_unread", **values) in output) == unread
    assert bool(pattern_of("doctor.labels_unread").search(output)) == unread
    doctor(typed_doctor(str(path), "--loss", loss, "--batch", "2", "--json"))
    assert bool(json.loads(capsys.readouterr().out)["labels_unread"]) == unread


def test_header_and_encoding_of_a_table_can_be_chosen(tmp_path, capsys):
    path = tmp_path / "pairs.csv"
    path.write_bytes("句子,答案\n天气很好,阳光明媚\n我饿了,想吃饭\n".encode("gbk"))
    for header, pairs in (("yes", 2), ("no", 3)):
        words = ("--header", header, "--encoding", "gbk")
        doctor(typed_doctor(str(path), "--batch", "2", "--json", *words))
        assert json.loads(capsys.readouterr().out)["pairs"] == pairs
    assert doctor(typed_doctor(str(path), "--encoding", "nonsense")) == 2
    refused = pattern_of("problem.encoding_unknown", encoding="nonsense")
    assert refused.search(capsys.readouterr().err)


def test_an_empty_file_belongs_to_no_tab(tmp_path, capsys):
    (tmp_path / "nothing.csv").write_bytes(b"")
    assert doctor(typed_doctor(str(tmp_path / "nothing.csv"))) == 2
    assert say("en", "problem.doctor_empty", name="nothing.csv") in capsys.readouterr().err


def test_rows_are_those_of_the_file_and_print_nothing_but_letters(tmp_path, capsys):
    """A row that could not be read counts, and a text is no command to the terminal."""
    path = tmp_path / "t.tsv"
    path.write_text(f"anchor\tpositive\n\tx\na\x1b[31m\t{'long ' * 40}\nA\x1b[31m\tb\nc\td\n")
    assert doctor(typed_doctor(str(path), "--batch", "2")) == 1
    output = capsys.readouterr().out
    assert row_lines([2, "a [31m", "long " * 11 + "long…"], [3, "A [31m", "b"]) in output
    assert "\x1b" not in output
    path.write_text("text,class\n,x\none,a\none,b\ntwo,a\n".replace(",", "\t"))
    assert doctor(typed_doctor(str(path), "--batch", "2")) == 1
    assert row_lines([2, "one", "a"], [3, "one", "b"]) in capsys.readouterr().out


def test_severe_findings_end_with_1(table, capsys):
    assert doctor(typed_doctor(table, "--loss", "cosent")) == 1
    output = capsys.readouterr().out
    title = say("en", "loss.cosent.title")
    columns = {"first": "sentence1", "second": "sentence2", "score": "score"}
    read = [
        say("en", "doctor.examined", count=5, loss=title, batch=64),
        *(say("en", f"reading.{role}", columns=f"“{name}”") for role, name in columns.items()),
        "",
        f"{say('en', 'doctor.severity.severe')} · conflicting_labels",
    ]
    assert output.splitlines()[: len(read)] == read
    assert row_lines([1, "a cat", "a dog", "0.5"], [2, "a cat", "a dog", "1"]) in output
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
    assert say("en", "doctor.none_found") in capsys.readouterr().out


def test_mining_without_an_encoder_is_refused_before_anything_is_written(table, tmp_path, capsys):
    clean, mined = tmp_path / "clean.tsv", tmp_path / "mined.tsv"
    assert doctor(typed_doctor(table, "--clean", str(clean), "--mine", str(mined))) == 2
    assert say("en", "problem.mine_no_encoder") in capsys.readouterr().err
    assert not clean.exists()


def test_columns_are_named_where_no_header_was_known(tmp_path, capsys):
    path = tmp_path / "odd.csv"
    path.write_text("how?;that!\nhow tall;deep\nhow old;ten\n", encoding="utf-8")
    words = ("--column", "first=that!", "--column", "second=how?", "--loss", "info_nce")
    assert doctor(typed_doctor(str(path), *words)) == 0
    examined = pattern_of("doctor.examined", count=2, loss=say("en", "loss.info_nce.title"))
    assert examined.match(capsys.readouterr().out)


def test_unrecognised_columns_are_reported_with_how_to_choose_them(tmp_path, capsys):
    path = tmp_path / "odd.tsv"
    path.write_text("uno\tdue\ttre\nhow tall\tdeep\tx\nhow old\tten\ty\n", encoding="utf-8")
    for language in LANGUAGES:
        assert doctor(typed_doctor(str(path), "--language", language)) == 2
        output = capsys.readouterr().err
        assert pattern_of("problem.columns_three_texts", language).search(output)
        assert output.rstrip().endswith(say(language, "doctor.how_to_choose"))
        for roles in (("first", "second", "score"), ("text", "class")):
            assert re.search(" ".join(f"--column {role}=[A-Z名列]+" for role in roles), output)


def test_a_terminal_shows_progress(table, capsys, monkeypatch):
    doctor(typed_doctor(table, "--loss", "cosent"))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    doctor(typed_doctor(table, "--loss", "cosent", "--language", "zh"))
    output = capsys.readouterr().err
    assert pattern_of("progress.numbering", "zh").search(output)
    assert output.endswith("\033[K")


def test_what_cannot_be_examined_is_reported(table, tmp_path, capsys):
    assert doctor(typed_doctor(table, "--tokens", "-4")) == 2
    count = pattern_of("problem.explain_count", name="tokens", value=-4)
    assert count.search(capsys.readouterr().err)
    assert doctor(typed_doctor(str(tmp_path / "nowhere.tsv"))) == 2
    assert pattern_of("problem.file_unreadable").search(capsys.readouterr().err)


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
    output = capsys.readouterr()
    assert output.out == ""
    assert pattern_of("doctor.not_examined").fullmatch(output.err.removesuffix("\n"))


@pytest.mark.parametrize(
    "words", [(), ("pairs.tsv", "--hub", "some/set"), ("--hub", "a/b", "--rows", "1")]
)
def test_a_peer_that_cannot_be_called_is_no_severe_finding(words, capsys):
    assert doctor(typed_doctor(*words)) == 2
    assert pattern_of("doctor.not_examined").match(capsys.readouterr().err)


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
    output = capsys.readouterr().out.partition(name)[2].partition("\n\n")[0]
    assert output.count("\n   row ") == 5
