"""The second door of Doctor: a dataset is read once, and examined for any loss and batch size."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.doctor import dataset_reader
from lossprism.explorer.locale import say
from lossprism.explorer.runtime import downloads, uploads
from lossprism.explorer.runtime.jobs import Jobs
from lossprism.explorer.web import page_requests
from lossprism.explorer.web.pages.doctor import data_source, dataset_requests
from lossprism.explorer.web.pages.doctor.data_source import SETS
from lossprism.explorer.web.pages.doctor.dataset_requests import SERVED
from lossprism.explorer.web.pages.doctor.state_entries import doctor_table
from lossprism.losses import LOSSES
from tests.downloads import file_of
from tests.wire import by_name

ASK = by_name(SERVED)
ROWS = "how tall,8848 m,5\nhow tall,8848 m,0\nhow old,ten,4\nHOW old,ten,4\nwhy,so,3\n,nothing,1\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path))
    monkeypatch.setattr(downloads, "PACKED_FOLDER", tmp_path / "taken")
    monkeypatch.setattr(page_requests, "ANSWER_S", 600)


def handed_in(text=f"a,b,label\n{ROWS}", name="t.csv"):
    content = base64.b64encode(text.encode()).decode()
    file = ASK["hand_in"]({"name": name, "content": content})["file"]
    return {"kind": "file", "file": file, "name": name}


def examined(source, **more):
    return ASK["examine"]({"source": source, "batch": 4, "tokens": 256, **more})


def opened(answer, fitting):
    """The scenario behind a loss, as the page makes its link."""
    return Scenario.from_link(f"{answer['scenes'][fitting['scene']]}.{fitting['loss']}")


def named(answer):
    return {one["name"]: one for one in answer["findings"]}


@pytest.mark.parametrize("name", SETS)
def test_a_set_to_begin_with_is_examined_without_an_encoder(name):
    answer = examined({"kind": "example", "example": name}, batch=16)
    assert answer["file"] is None
    assert answer["looked"]
    assert answer["suited"]
    links = [one["scene"] for one in answer["findings"] if one["scene"]]
    scenarios = [
        *map(Scenario.from_link, links),
        *(opened(answer, one) for one in answer["suited"]),
    ]
    for scenario in scenarios:
        assert scenario.data.source == "table"
        assert len(scenario.data.rows) > 1
    if name == "twins":
        found = named(answer)["twins"]
        assert found["severity"] == "severe"
        texts = [row["first"] for row in found["rows"]] + [row["second"] for row in found["rows"]]
        assert len(set(texts)) < len(texts)


def test_a_file_is_read_once_and_examined_for_any_loss(monkeypatch):
    source = handed_in()
    read = []
    whole = data_source.read_table
    monkeypatch.setattr(data_source, "read_table", lambda *a, **b: read.append(1) or whole(*a, **b))
    first = examined(source, loss="cosent")
    assert set(named(first)) == {"conflicting_labels", "copies"}
    assert [row["row"] for row in named(first)["conflicting_labels"]["rows"]] == [1, 2]
    assert first["pairs"] == 5
    assert (first["kept"], first["file"]["skipped"]) == (2, 1)
    assert first["file"]["chosen"]["teacher"] == "none"
    second = examined(source, loss="cosine_mse", batch=2, language="zh")
    do, paste = named(second)["labels_out_of_reach"]["advice"]
    assert do == say("zh", "doctor.data.do.labels_out_of_reach")
    assert paste == 'dataset = dataset.map(lambda row: {"label": row["label"] / 5})'
    assert "标签" in named(second)["labels_out_of_reach"]["said"]
    assert read == [1]


def test_each_finding_and_loss_opens_on_the_rows():
    answer = examined(handed_in(), loss="cosine_mse")
    for finding in answer["findings"]:
        rows = {(row["first"], row["second"]) for row in finding["rows"]}
        shown = {row[:2] for row in Scenario.from_link(finding["scene"]).data.rows}
        assert rows <= shown
    for one in answer["suited"]:
        scenario = opened(answer, one)
        assert scenario.loss == one["loss"]
        assert scenario.rules.label_range == (0.0, 5.0)
    for one in answer["suited"][:2]:
        assert explore(opened(answer, one)).loss is not None


@pytest.mark.thorough
@pytest.mark.parametrize("words", [12, 90, 5_000])
def test_an_answer_stays_small_however_long_the_texts_are(words):
    """All losses share one text of the rows, and evidence is shown from its beginning."""
    draw = np.random.default_rng(0)

    def text():
        return " ".join(f"{word:x}" for word in draw.integers(2**40, size=words))

    rows = [f"{text()}\t{text()}\t{place % 5}" for place in range(40)]
    rows += [rows[0], f"{rows[0].partition(chr(9))[0]}\t{text()}\t4"]
    answer = examined(handed_in("\n".join(["a\tb\tscore", *rows]), "long.tsv"), batch=16)
    assert {"copies", "degrees_lost"} <= set(named(answer))
    assert len(answer["suited"]) > 40
    assert len(answer["scenes"]) == 2  # one keeps lists
    assert max(map(len, answer["scenes"])) <= 6000
    assert len(json.dumps(answer)) < 64 * 1024
    shown = named(answer)["copies"]["rows"][0]["first"]
    assert rows[0].startswith(shown.removesuffix(" …"))
    scenarios = [*map(opened, [answer] * 2, answer["suited"])]
    scenarios += [Scenario.from_link(one["scene"]) for one in answer["findings"] if one["scene"]]
    for scenario in scenarios:
        assert len(scenario.data.rows) >= 4
        for first, *_ in scenario.data.rows:
            begins = first.removesuffix(" …")
            assert any(row.startswith(begins) for row in rows)
    # Texts that begin alike are no twins, and would be some in such a scenario.
    begins = text()
    alike = ["\t".join(f"{begins}{cell}" for cell in row.split("\t")[:2]) for row in rows]
    if words == 5_000:
        answer = examined(handed_in("\n".join(["a\tb", *alike]), "same.tsv"), batch=16)
        assert {one["scene"] for one in answer["suited"]} == {None}
        assert not answer["scenes"]


def test_an_encoder_is_called_once_for_all_losses(monkeypatch):
    """Of the textbook's twins the embedded one says which answers would do for another question."""
    source = {"kind": "example", "example": "twins"}
    looked = []
    whole = dataset_requests.encode_pairs
    monkeypatch.setattr(dataset_requests, "encode_pairs", lambda *a: looked.append(1) or whole(*a))
    monkeypatch.setattr(dataset_requests, "_seen", Jobs())
    request = {"source": source, "batch": 8, "encoder": "all-MiniLM-L6-v2", "most": 16}
    found = named(ASK["encode"]({**request, "loss": "info_nce"}))
    cells = found["false_negatives"]["cells"]
    assert all(cell["cosine"] > cell["own"] for cell in cells)
    shown = Scenario.from_link(found["false_negatives"]["scene"]).data.rows
    assert cells[0]["first"] in {first for first, *_ in shown}
    assert cells[0]["second"] in {second for _, second, _ in shown}
    assert named(ASK["encode"]({**request, "loss": "cosent", "language": "zh"})) == {}
    assert looked == [1]
    elsewhere = {**request, "encoder": "/no/such/folder"}
    assert ASK["encode"](elsewhere)["error"]["about"] == "leave"
    agreed = {"leave": {"/no/such/folder": 1}}
    assert ASK["encode"]({**elsewhere, **agreed})["error"]["about"] == "encoder"


def test_what_is_unknown_must_be_chosen():
    source = handed_in("id,x,y,z\n1,one,two,three\n2,four,five,six\n")
    answer = examined(source)
    assert answer["undecided"]
    assert answer["problem"]["about"] == "columns"
    assert answer["columns"] == ["id", "x", "y", "z"]
    chosen = {"first": "x", "second": "z", "score": "none"}
    found = examined({**source, "columns": chosen})
    assert not found["file"]["labelled"]
    assert "copies" not in named(found)


def test_rows_are_taken_away():
    source = handed_in()
    kept = ASK["take"]({"source": source, "what": "kept"})
    assert kept["name"] == "t-clean.tsv"
    with open(file_of(kept)) as file:
        assert file.read().splitlines() == [
            "sentence1\tsentence2\tscore",
            "how old\tten\t4",
            "why\tso\t3",
        ]
    left = ASK["take"]({"source": source, "what": "left_out"})
    with open(file_of(left)) as file:
        assert file.read().splitlines()[-1] == "4\tcopies\tHOW old\tten\t4"


def test_a_long_reading_reports_progress_and_can_be_stopped(monkeypatch):
    monkeypatch.setattr(page_requests, "ANSWER_S", 0.0)
    rows = "".join(f"first text {place},second text {place}\n" for place in range(60_000))
    source = handed_in(f"a,b\n{rows}")
    assert examined(source)["working"]["what"] in ("start", "parsing", "reading", "numbering")
    ASK["stop"]({"source": source})
    job = data_source.sets._jobs[data_source.read_source(source)]
    assert job.cancelled
    assert job.wait(60)


@pytest.mark.parametrize(
    ("request_", "where"),
    [
        ({"loss": 5}, "loss"),
        ({"batch": 1}, "batch"),
        ({"batch": 10**9}, "batch"),
        ({"tokens": -1}, "tokens"),
        ({"source": {"kind": "example", "example": "mine"}}, "source.example"),
        ({"source": {"kind": "scroll"}}, "source.kind"),
        ({"source": []}, "source"),
        ({"source": {"kind": "file", "columns": []}}, None),
    ],
)
def test_what_does_not_fit_is_named(request_, where):
    answer = ASK["examine"](request_)
    if where is None:
        assert answer["error"]["about"] == "gone"
    else:
        assert answer["error"]["values"]["where"] == where


def test_the_loss_may_be_named_as_a_librarys_class():
    by_class = ASK["examine"]({"loss": "MultipleNegativesRankingLoss"})
    by_name = ASK["examine"]({"loss": "info_nce"})
    assert by_class["findings"] == by_name["findings"]
    assert ASK["examine"]({"loss": "nothing like it"})["error"]["about"] == "loss"
    assert "circle_self_paced" in ASK["examine"]({"loss": "CircleLoss"})["error"]["values"]["close"]


def test_the_loss_of_a_link_can_be_requested():
    entries = {entry.name: entry for entry in doctor_table()}
    assert set(entries["data.loss"].choices) <= set(LOSSES)
    assert entries["data.example"].choices == SETS
    links = [entry.link for entry in entries.values() if entry.link is not None]
    assert len(set(links)) == len(links)


def test_rows_of_the_hub_are_a_file_from_then_on(monkeypatch):
    requests = []

    def rows(hub, split, most, report):
        requests.append((hub, split, most))
        report("fetching", 0, most)
        return b"\n".join(b'{"q1": "a %d", "q2": "b", "label": %d}' % (n, n % 2) for n in range(9))

    monkeypatch.setattr(dataset_reader, "first_rows", rows)
    known = {"hub": " someone/set:sub ", "split": "", "rows": 20}
    held = ASK["fetch"](known)
    assert held["name"] == "set-sub-train.jsonl"
    source = {"kind": "hub", **held}
    answer = examined(source)
    assert (answer["pairs"], answer["file"]["chosen"]["first"]) == (9, "q1")
    assert ASK["fetch"](known) == held
    uploads.find(held["file"]).unlink()  # it has left meanwhile, and is fetched again
    assert examined(source, batch=9)["pairs"] == 9  # what was read is known
    assert ASK["fetch"](known) == held
    assert requests == [("someone/set:sub", "train", 20)] * 2
    assert ASK["fetch"]({**known, "hub": " "})["error"]["key"] == "problem.training_no_hub_id"
    assert ASK["fetch"]({**known, "rows": 1})["error"]["key"] == "problem.scenario_entry"


def test_a_table_of_classes_has_a_report_of_its_classes():
    source = handed_in("text,intent\none,a\ntwo,a\ntwo,b\nthree,c\n")
    answer = examined(source, loss="supcon", language="zh")
    assert (answer["rows"], answer["classes"], answer["largest"][0]["count"]) == (4, 3, 2)
    rows = named(answer)["texts_in_classes"]["rows"]
    assert [(row["text"], row["called"]) for row in rows] == [("two", "a"), ("two", "b")]
    scenario = Scenario.from_link(named(answer)["texts_in_classes"]["scene"])
    assert {"one", "two"} <= {text for row in scenario.data.rows for text in row[:2]}
    assert len(answer["scenes"]) == 1
    for one in answer["suited"]:
        assert opened(answer, one).loss == one["loss"]
    kept = answer["pairs_file"]
    assert uploads.read(kept["file"], kept["name"]).startswith(b"sentence1\tsentence2\tscore\n")
    uploads.find(kept["file"]).unlink()  # it has left meanwhile, and is made again
    assert uploads.find(examined(source, loss="supcon")["pairs_file"]["file"]) is not None
    # The same table as pairs, and as classes of another column.
    assert answer["file"]["chosen"] == {"text": "text", "class": "intent"}
    columns = {"first": "text", "second": "intent", "score": "none"}
    as_pairs = examined({**source, "columns": columns, "header": True})
    assert as_pairs["pairs"] == 4
    turned = examined({**source, "columns": {"text": "intent", "class": "text"}})
    assert (turned["classes"], turned["file"]["chosen"]["text"]) == (3, "intent")
    unclear = examined({**source, "columns": {"text": "text", "class": "text"}})
    assert unclear["problem"]["key"] == "problem.column_chosen_twice"
    assert set(unclear["chosen"]) == {"text", "class"}
    refused = ASK["encode"]({"source": source, "encoder": "all-MiniLM-L6-v2"})
    assert refused["error"]["key"] == "problem.classes_no_pairs"
    assert answer["kept"] == 2
    kept = ASK["take"]({"source": source, "what": "kept"})
    with open(file_of(kept)) as file:
        assert file.read() == "text\tclass\none\ta\nthree\tc\n"
