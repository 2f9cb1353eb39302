"""What is the matter with a table of classes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.doctor.class_dataset_checks import alone, examine_classes
from lossprism.explorer.lab.doctor.dataset_reader import Read, read_table
from lossprism.explorer.lab.doctor.dataset_row_scenarios import (
    class_finding_places,
    class_rows_link,
    class_sample,
    paired,
)
from lossprism.explorer.lab.doctor.suitable_losses import suited_to_classes
from lossprism.explorer.lab.doctor.terminal_commands import doctor
from lossprism.explorer.lab.doctor.texts_with_classes_reader import (
    ClassTable,
    names_classes,
    read_classes,
)
from lossprism.explorer.lab.training.trainer_rows import classes_of
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import pairs_from_tables
from lossprism.losses import LOSSES
from tests.sentences import pattern_of
from tests.unit.lab.doctor.test_terminal_commands import typed_doctor
from tests.unit.sources.test_pairs_without_labels import as_file


def quiet(what, done, total):
    """Nobody listens."""


def table(*rows, head="text,label"):
    lines = "\n".join(f"{text},{name}" for text, name in rows)
    return read_classes(f"{head}\n{lines}\n".encode(), "t.csv", quiet)


def clean(classes=4, each=25):
    return [(f"the text {n} of {name}", f"c{name}") for n in range(each) for name in range(classes)]


def found(*rows, batch=16):
    return {fault.name: fault for fault in examine_classes(table(*rows), batch).faults}


def test_nothing_is_invented():
    assert set(found(*clean())) <= {"rows_alone"}
    assert found(*clean(), batch=64) == {}


@pytest.mark.parametrize(
    ("planted", "name", "rows"),
    [
        ([("The TEXT 0 of 1", "c2")], "texts_in_classes", (2, 101)),
        ([("the text 0  of 1", "c1")], "texts_again", (101,)),
        ([("something else", "c9")], "classes_of_one", (101,)),
        ([("something else", "C1"), ("and more", "C1")], "class_spellings", (101, 102)),
        ([("the text 0 of 1", " ｃ1"), ("and more", "ｃ1")], "texts_again", (101,)),
    ],
)
def test_what_was_planted_is_found_and_nothing_else(planted, name, rows):
    faults = found(*clean(), *planted, batch=64)
    assert set(faults) - {"rows_alone", "class_spellings"} == {name} - {"class_spellings"}
    assert faults[name].rows == rows
    for language in ("en", "zh"):
        assert "{" not in faults[name].written(language)


def test_rows_without_another_of_their_class_are_what_batches_have():
    draw = np.random.default_rng(0)
    of = np.repeat(np.arange(6), [1, 2, 3, 10, 20, 64])
    shares = []
    for _ in range(4000):
        batch = of[draw.permutation(100)[:12]]
        shares.append((np.bincount(batch, minlength=6)[batch] == 1).mean())
    error = np.std(shares) / len(shares) ** 0.5
    assert abs(np.mean(shares) - alone(np.bincount(of), 12)) < 4 * error
    assert alone(np.array([1] * 50), 8) == pytest.approx(1)
    assert alone(np.array([50]), 8) == 0
    assert alone(np.array([2, 3]), 1000) == 0


def test_how_bad_it_is():
    assert found(*clean(classes=60, each=2), batch=16)["rows_alone"].severity == "severe"
    assert found(*clean(classes=1))["one_class"].severity == "severe"
    faults = found(*clean(classes=30, each=1))
    assert faults["classes_of_one"].severity == "severe"


def test_columns_are_recognised():
    assert table(("a b", "x"), ("c d", "y"), head="utterance,intent").columns == {
        "text": "utterance", "class": "intent"
    }  # fmt: skip
    with pytest.raises(Problem) as refused:
        read_classes(b"a,b,c\nx y,u v,w z\n", "t.csv", quiet)
    assert refused.value.key == "problem.class_columns"


THREE = b"id,utterance,intent,source\n1,a b,x,web\n2,c d,x,mail\n3,e f,y,web\n"


def test_columns_are_chosen():
    read = read_classes(THREE, "t.csv", quiet, columns={"class": "source", "text": "utterance"})
    assert (read.columns["class"], read.names, read.sizes.tolist()) == (
        "source", ("web", "mail"), [2, 1]
    )  # fmt: skip
    alone = read_table(THREE, "t.csv", quiet, columns={"class": "intent", "text": "utterance"})
    assert isinstance(alone, ClassTable)
    assert alone.names == ("x", "y")
    by_number = read_classes(THREE, "t.csv", quiet, columns={"class": "3", "text": "2"})
    assert by_number.columns == {"text": "utterance", "class": "intent"}


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        ({"class": "nowhere"}, "column_unknown"),
        ({"class": "intent", "text": "intent"}, "column_chosen_twice"),
        ({"class": "intent", "first": "utterance"}, "column_role_unknown"),
        ({"class": "id"}, "class_columns"),  # three columns of texts are left
    ],
)
def test_columns_that_cannot_be_chosen(columns, key):
    with pytest.raises(Problem) as caught:
        read_table(THREE, "t.csv", quiet, columns=columns)
    assert caught.value.key == f"problem.{key}"


def test_a_scenario_has_the_classes_of_the_table():
    """Whatever texts are picked: those of one class are one there, all others apart."""
    read = table(*clean(classes=9, each=5), ("lonely", "z"), ("as lonely", "y"))
    for places in (class_sample(read), [0, 45, 46], [45, 46], [3, 4, 12, 13, 45]):
        link = class_rows_link(read, places, "supcon")
        batch = explore(Scenario.from_link(link)).batch
        texts = [*batch.pairs.first, *batch.pairs.second]
        numbers = [*batch.classes[batch.first].tolist(), *batch.classes[batch.second].tolist()]
        of = {read.texts[place]: int(read.of[place]) for place in places}
        assert set(texts) == set(of)
        found = {(of[text], number) for text, number in zip(texts, numbers, strict=True)}
        assert len(found) == len({kind for kind, _ in found}) == len(set(of.values()))
    assert class_rows_link(read, [0], "supcon") == ""
    assert 46 in class_finding_places(read, [47])


def test_every_loss_on_classes_that_is_named_opens_a_scenario():
    read = table(*clean())
    for batch, is_met in ((64, True), (2, False)):
        fitting = suited_to_classes(read, batch)
        assert {one.loss for one in fitting} == {
            spec.name
            for spec in LOSSES.values()
            if {"classes", "paired_classes"} & set(spec.reads.values())
        }
        first = [one.loss for one in fitting[:2]]
        assert first == (["supcon", "triplet"] if is_met else ["softmax", "arcface"])
        for one in fitting:
            link = class_rows_link(read, class_sample(read), one.loss)
            assert explore(Scenario.from_link(link)).loss > 0
            by_prototype = "prototypes" in LOSSES[one.loss].reads.values()
            assert ("alone" in one.against) == (not is_met and not by_prototype)
            assert ("prototypes_of_these" in one.against) == by_prototype
            assert all("doctor.suited" not in sentence for sentence in one.written("zh"))
    assert suited_to_classes(table(*clean(classes=1)), 16) == ()
    assert suited_to_classes(table(*clean(each=1)), 16) == ()


def test_its_pairs_join_to_its_classes_again(tmp_path):
    """As Fine-tune takes them."""
    read = table(*clean(classes=9, each=5), ("lonely", "z"))
    rows = [line.split("\t") for line in paired(read).decode().splitlines()]
    assert rows[0] == ["sentence1", "sentence2", "score"]
    numbers = classes_of([(one, other, float(label)) for one, other, label in rows[1:]], 0.5)
    assert len(set(numbers.values())) == 10
    of = dict(zip(read.texts, read.of.tolist(), strict=True))
    assert len({(of[text], number) for text, number in numbers.items()}) == 10
    assert len(numbers) == 46


def test_the_cleaned_table_has_each_text_once_in_one_class(tmp_path, capsys):
    """What the advice promises: conflicting texts left out, of repeated ones the first kept."""
    path, kept = tmp_path / "t.csv", tmp_path / "kept.tsv"
    rows = [
        "text,class",
        "a cat,x",
        ",x",
        "A  cat,x",
        "a dog,x",
        "ａ dog,y",
        "a bird,y",
        "a fish,y",
    ]
    path.write_text("\n".join(rows) + "\n")
    result = doctor(typed_doctor(str(path), "--clean", str(kept)))
    output = capsys.readouterr().out
    assert result == 1  # texts in several classes
    assert say("en", "doctor.class.cleaned", kept=3, total=6) in output
    assert pattern_of("doctor.wrote", name=kept).search(output)
    assert kept.read_text() == "text\tclass\na cat\tx\na bird\ty\na fish\ty\n"
    left = kept.with_suffix(".left-out.tsv").read_text().splitlines()
    assert left == [
        "row\tbecause\ttext\tclass",
        "3\ttexts_again\tA cat\tx",
        "4\ttexts_in_classes\ta dog\tx",
        "5\ttexts_in_classes\tａ dog\ty",
    ]
    again = read_table(kept.read_bytes(), "kept.tsv", quiet)
    assert isinstance(again, ClassTable)
    assert not {"texts_again", "texts_in_classes"} & {
        fault.name for fault in examine_classes(again, 4).faults
    }
    assert doctor(typed_doctor(str(path), "--json")) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["kept"] == 3
    assert answer["left_out"][0] == {"row": 3, "because": "texts_again"}  # as in the table


def test_the_cleaned_table_has_one_spelling_of_each_class(tmp_path, capsys):
    """That of most rows; of a text that stands under two spellings, the first row."""
    path, kept = tmp_path / "t.csv", tmp_path / "kept.tsv"
    spelled = ["refund", "Refund", "Refund", "ｒefund", "card arrival", "Card  Arrival", "cancel"]
    rows = [f"text {n},{name}" for n, name in enumerate(spelled)] + ["text 0,REFUND"]
    path.write_text("\n".join(["text,class", *rows]) + "\n", encoding="utf-8")
    doctor(typed_doctor(str(path), "--json", "--clean", str(kept)))
    answer = json.loads(capsys.readouterr().out)
    (fault,) = (one for one in answer["findings"] if one["name"] == "class_spellings")
    assert fault["rows"] == [1, 4, 6, 8]
    assert (fault["values"]["count"], fault["values"]["rows"]) == (2, 4)
    assert (answer["kept"], answer["respelled"]) == (7, 4)
    again = read_table(kept.read_bytes(), "kept.tsv", quiet)
    assert isinstance(again, ClassTable)
    assert again.by_size == [("Refund", 4), ("card arrival", 2), ("cancel", 1)]
    assert again.spellings == []


@pytest.mark.parametrize(
    ("head", "named"),
    [("text\tclass", True), ('"intent","utterance"', True),
     ("sentence1,sentence2,label", False), ("query,answer", False), ("label", False),
     ("source,target", False), ('{"text": "a", "label": "b"}', False)],
)  # fmt: skip
def test_a_table_of_classes_is_distinguished_from_pairs_by_its_head(head, named):
    assert names_classes(f"{head}\nx,y\n".encode()) == named


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({"text": "a b", "label": "x"}, ClassTable),
        ({"texts": ["a b", "c d"], "label": 0.5}, Read),
        ({"text": {"query": "a b", "pos": "c d"}, "label": 1}, Read),
    ],
)
def test_rows_of_json_are_pairs_or_classes_by_what_they_hold(row, kind):
    content = "\n".join(json.dumps(row) for _ in range(4)).encode()
    assert isinstance(read_table(content, "t.jsonl", quiet), kind)


def read(texts, classes, column):
    """How the report of a table of classes begins, in batches of 64."""
    whole = {"count": texts, "classes": classes, "batch": 64}
    of_column = say("en", "reading.text", columns=f"“{column}”")
    return [say("en", "doctor.class.examined", **whole), of_column]


def test_the_command_reads_it(tmp_path, capsys):
    path = tmp_path / "intents.csv"
    rows = "".join(f"{text},{name}\n" for text, name in clean())
    path.write_text(f"text,intent\n{rows}")
    assert doctor(typed_doctor(str(path), "--batch", "64")) == 0
    output = capsys.readouterr().out
    assert output.splitlines()[:2] == read(texts=100, classes=4, column="text")
    assert pattern_of("doctor.class.largest").search(output)["classes"].startswith("c0 (25)")
    assert doctor(typed_doctor(str(path), "--batch", "2", "--json")) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["alone"] == pytest.approx(1 - 24 / 99)
    chosen = ("--column", "text=utterance", "--column", "class=intent")
    path.write_bytes(THREE)
    assert doctor(typed_doctor(str(path), *chosen, "--losses")) == 0
    output = capsys.readouterr().out
    assert output.splitlines()[:2] == read(texts=3, classes=2, column="utterance")
    assert "ArcFace (arcface)" in output
    assert doctor(typed_doctor(str(path), "--column", "text")) == 2
    assert say("en", "problem.doctor_column", value="text") in capsys.readouterr().err
    path.write_text(f"text,intent\n{rows}")
    assert doctor(typed_doctor(str(path), "--batch", "2", "--json")) == 1
    answer = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in answer["findings"]] == ["rows_alone"]


KINDS = ("cancel", "weather", "booking", "refund")
BESIDE = {
    "SetFit": ("text", "label", "label_text"),
    "ids": ("id", "text", "label"),
    "a split": ("text", "intent", "split"),
    "a channel": ("id", "utterance", "intent", "channel"),
    "class_name": ("sentence", "class_name"),
    "sentiment": ("review", "sentiment"),
    "fine_label": ("text", "coarse_label", "fine_label"),
    "Chinese": ("编号", "问题", "类别"),
}


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("names", BESIDE.values(), ids=BESIDE)
def test_texts_with_classes_are_no_pairs_whatever_stands_beside_them(names, kind):
    values = {"id": str, "编号": str, "label": lambda n: n % 4, "split": lambda n: "train",
              "channel": lambda n: "web", "coarse_label": lambda n: n % 2}  # fmt: skip
    texts = {"text", "utterance", "sentence", "review", "问题"}

    def cell(name, n):
        if name in texts:
            return f"please tell me more about {n}"
        return values.get(name, lambda n: KINDS[n % 4])(n)

    rows = [tuple(cell(name, n) for name in names) for n in range(24)]
    read = read_table(as_file(rows, names, kind), f"x.{kind}", lambda *_: None)
    assert isinstance(read, ClassTable)
    (text,) = texts & set(names)
    assert read.columns["text"] == text
    assert len(read.names) in (2, 4)
    if "label_text" in names:
        assert set(read.names) == set(KINDS)  # in words, not in numbers


@pytest.mark.parametrize("swapped", [False, True])
def test_short_words_beside_texts_need_an_answer(swapped):
    """They may be classes; the same few long answers are second texts."""
    rows = [(f"please tell me more about {n}", KINDS[n % 4]) for n in range(24)]
    rows = [row[::-1] for row in rows] if swapped else rows
    with pytest.raises(Problem) as caught:
        pairs_from_tables.read_table(as_file(rows, None, "tsv"), "x.tsv", header=False)
    assert caught.value.key == "problem.columns_not_recognised"
    long = [tuple(f"{cell} " * 10 for cell in row) for row in rows]
    assert (
        len(pairs_from_tables.read_table(as_file(long, None, "tsv"), "x.tsv", header=False).pairs)
        == 24
    )
