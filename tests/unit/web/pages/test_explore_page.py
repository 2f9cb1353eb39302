"""What the Explore page asks its server, asked directly."""

from __future__ import annotations

import base64
import io
import json
from collections import Counter

import numpy as np
import pytest

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.variation_over_batches import BATCH_COUNT
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS, NAMED_ROWS
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.web.pages.explore import request_handlers, scenario_and_rows_of_request
from lossprism.explorer.web.pages.explore.request_handlers import SERVED
from tests.wire import by_name

SERVER = by_name(SERVED)


def read(name: str, content: bytes, **options: object) -> dict:
    packed = base64.b64encode(content).decode()
    answer = SERVER["read_file"]({"name": name, "content": packed, **options})
    json.dumps(answer).encode()  # fits into an answer
    json.dumps(answer, ensure_ascii=False).encode()
    return answer


def lines(count: int, bad: tuple[int, ...] = ()) -> bytes:
    rows = [f"a {i},b {i},{'high' if i in bad else i % 5}" for i in range(1, count + 1)]
    return "\n".join(["sentence1,sentence2,score", *rows]).encode()


def test_left_out_rows_of_a_file_are_in_its_scenario():
    answer = read("bad.csv", lines(5, bad=(2, 4)))
    assert [row[0] for row in answer["rows"]] == ["a 1", "a 3", "a 5"]
    data = {"source": "table", "rows": answer["rows"], "file": answer["name"]}
    scenario = Scenario.from_json({"data": {**data, "reading": answer["reading"]}})
    again = Scenario.from_link(scenario.to_link()).data.reading
    assert (again.total, again.left_out, again.limited, again.drawn) == (5, 2, False, False)
    assert [row for row, _, _ in again.reasons] == [2, 4]
    assert {key for _, key, _ in again.reasons} == {"problem.score_not_a_number"}
    assert dict(again.reasons[0][2])["value"] == "high"


RUSSIAN = "sentence1,sentence2,score\nЧай ещё горячий.,Чай уже остыл.,1\nИдёт дождь.,Дождя нет.,0\n"


def test_the_encoding_of_a_file_is_reported_and_can_be_chosen():
    answer = read("tea.csv", RUSSIAN.encode("koi8-r"))
    assert answer["rows"][0][0] == "Чай ещё горячий."
    assert answer["reading"]["encoding"] == answer["encoding"] == "KOI8-R"
    words = dict(answer["encodings"])
    assert words["KOI8-R"].startswith("Чай ещё")
    assert not words["Windows-1251"].startswith("Чай")
    about = {"name": "tea.csv", "file": answer["file"], "encoding": "Windows-1251"}
    other = SERVER["read_file"](about)
    assert other["encoding"] == "Windows-1251"
    assert other["rows"][0][0].startswith(words["Windows-1251"].partition(".")[0])
    spread = {"scenario": {"data": {"source": "table", "rows": [], "file": "tea.csv"}}, **about}
    assert request_handlers.whole_file(spread, Data(file="tea.csv")).first[0] == other["rows"][0][0]
    assert read("tea.csv", RUSSIAN.encode())["encodings"] == []


def test_an_unknown_encoding_can_be_chosen():
    content = "sentence1,sentence2,score\nВАЙ,b,1\n".encode("koi8-r")
    answer = read("tea.csv", content)
    assert answer["error"]["key"] == "problem.file_encoding"
    assert (answer["encoding"], list(answer["columns"])) == ("", [])
    assert "ВАЙ" in dict(answer["encodings"])["KOI8-R"]
    chosen = SERVER["read_file"]({"name": "t", "file": answer["file"], "encoding": "KOI8-R"})
    assert chosen["rows"] == [["ВАЙ", "b", "1"]]
    unclear = SERVER["read_file"]({"name": "t", "file": answer["file"], "encoding": "Morse"})
    assert unclear["error"]["key"] == "problem.encoding_unknown"


def test_half_a_character_in_a_name_fits_into_every_answer():
    answer = read("\ud800.csv", lines(3))
    again = SERVER["read_file"]({"name": "\ud800.csv", "file": answer["file"]})
    assert json.dumps(again, ensure_ascii=False).encode()
    keys = [f'{{"sentence1": "a", "sentence2": "b", "{key}": 1}}' for key in ("\\ud800", "\\udfff")]
    assert list(read("keys.jsonl", keys[0].encode())["columns"])[2] == "\ufffd"
    assert len(set(read("keys.jsonl", "\n".join(keys).encode())["columns"])) == 4


def test_of_many_bad_rows_a_few_are_named_and_all_are_counted():
    bad = tuple(range(1, 400, 2))
    reading = read("bad.csv", lines(500, bad))["reading"]
    assert reading["left_out"] == 200
    assert [reason[0] for reason in reading["reasons"]] == list(bad[:NAMED_ROWS])


def test_of_ten_thousand_rows_a_batch_is_drawn():
    many = lines(10_000, bad=(7,))
    first = read("many.csv", many)
    assert len(first["rows"]) == first["reading"]["draw"]["size"] == 64
    assert (first["reading"]["total"], first["reading"]["whole"]) == (10_000, 9_999)
    assert first["reading"]["batches"] == 9_999 // 64
    # From then on the file goes by its digest.
    about = {"name": "many.csv", "file": first["file"]}
    draw = first["reading"]["draw"]
    assert SERVER["read_file"]({**about, "draw": draw}) == first
    second, other = (
        SERVER["read_file"]({**about, "draw": {**draw, **change}})["rows"]
        for change in ({"number": 1}, {"seed": 1})
    )
    of = [{row[0] for row in rows} for rows in (first["rows"], second, other)]
    assert not of[0] & of[1]
    assert of[0] != of[2]
    assert max(int(name.split()[1]) for name in of[0]) > 5000
    whole = {"sampler": "in_order", "size": EXPLORED_PAIRS}
    rows = SERVER["read_file"]({**about, "draw": whole})["rows"]
    usable = [i for i in range(1, EXPLORED_PAIRS + 2) if i != 7]
    assert rows == [[f"a {i}", f"b {i}", str(i % 5)] for i in usable]


def test_of_triplets_whole_rows_are_drawn():
    header = "query,positive,negative_1,negative_2,negative_3,negative_4"
    rows = [f"query {i},answer {i},a {i},b {i},c {i},d {i}" for i in range(200)]
    found = read("triplets.csv", "\n".join([header, *rows]).encode())
    assert (found["reading"]["batch_rows"], found["reading"]["batches"]) == (64, 200 // 64)
    assert len(found["rows"]) == 64 * 5
    assert set(Counter(row[0] for row in found["rows"]).values()) == {5}
    about = {"name": "triplets.csv", "file": found["file"]}
    most = SERVER["read_file"]({**about, "draw": {"sampler": "shuffled", "size": EXPLORED_PAIRS}})
    assert most["reading"]["batch_rows"] == len(most["rows"]) / 5 == EXPLORED_PAIRS // 5
    labels = SERVER["read_file"]({**about, "draw": {"sampler": "group_by_label", "size": 8}})
    assert labels["error"]["key"] == "problem.sampler_rows"


def test_a_file_that_fits_is_shown_whole():
    answer = read("few.csv", lines(EXPLORED_PAIRS))
    assert len(answer["rows"]) == EXPLORED_PAIRS
    assert answer["reading"]["batches"] == 1


@pytest.mark.parametrize(
    "draw",
    [{"size": 1}, {"size": EXPLORED_PAIRS + 1}, {"size": 8, "number": -1}, {"sampler": "best"}, 3],
)
def test_a_draw_that_there_is_not_is_refused(draw):
    about = {"name": "few.csv", "file": read("few.csv", lines(20))["file"]}
    answer = SERVER["read_file"]({**about, "draw": draw})
    assert answer["error"]["key"] == "problem.scenario_entry"


def test_a_file_that_has_left_is_requested_again():
    for digest in ("0" * 32, "../../etc/passwd", None):
        answer = SERVER["read_file"]({"name": "a.csv", "file": digest})
        assert answer == {"send_file": True}


@pytest.mark.thorough
def test_the_figures_over_many_batches_of_a_file():
    answer = read("many.csv", lines(40))
    about = {"name": "many.csv", "file": answer["file"]}
    drawn = SERVER["read_file"]({**about, "draw": {"sampler": "shuffled", "size": 8}})
    data = {"source": "table", "file": "many.csv", "reading": drawn["reading"]}
    spread = SERVER["spread"]
    asked_ = {"scenario": {"data": data}, "file": answer["file"]}
    figures = spread(asked_)["figures"]
    assert {len(values) for values in figures.values()} == {BATCH_COUNT}
    # This batch is the first of them.
    rows = {**data, "rows": drawn["rows"]}
    here = requested(rows)["picture"]["figures"]
    for name in ("loss", "collapse", "effective", "active", "spearman"):
        assert figures[name][0] == pytest.approx(here[name], rel=1e-6)
    assert figures["gradient"][0] == pytest.approx(here["gradient_norm"], rel=1e-5)
    gone = spread({**asked_, "file": "0" * 32})
    assert gone["error"]["key"] == "problem.large_file_gone"
    assert spread({"scenario": {}})["error"]["key"] == "problem.no_batches"


def test_the_corrected_pairs_are_those_of_the_whole_file():
    answer = read("many.csv", lines(40))
    drawn = {"sampler": "in_order", "size": 8, "number": 1}
    batch = SERVER["read_file"]({"name": "many.csv", "file": answer["file"], "draw": drawn})
    data = {"source": "table", "file": "many.csv", "rows": batch["rows"]}
    data |= {"reading": batch["reading"], "corrections": [["a 1", "b 1", "4"], ["a 9", "b 9", ""]]}
    take = SERVER["take"]
    asked_ = {"scenario": {"data": data}, "file": answer["file"]}
    whole = take({**asked_, "what": "corrected_csv"})["text"].splitlines()
    assert len(whole) == 1 + 40 - 1
    assert whole[1] == "a 1,b 1,4.0"
    assert not [line for line in whole if line.startswith("a 9,")]
    changes = take({**asked_, "what": "changes_csv"})["text"].splitlines()
    assert changes[1:] == ["a 1,b 1,1.0,4", "a 9,b 9,4.0,"]


@pytest.mark.parametrize(
    "name",
    [
        "half \ud83d name.csv",
        "n" * 100_000 + ".csv",
        "../../etc/passwd",
        "<img src=x onerror=alert(1)>.csv",
        "\u202egnp.vsc",
        "a\x00b.csv",
        "",
        "。",
    ],
)
def test_a_file_may_be_called_anything(name):
    answer = read(name, lines(3))
    assert len(answer["rows"]) == 3
    assert len(answer["name"]) <= 200
    assert "/" not in answer["name"]
    assert "error" in read(name, b"")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "half.jsonl",
            b'{"sentence1": "a", "sentence2": "b", "score": 1}\n'
            b'{"sentence1": "half \\ud83d here", "sentence2": "b", "score": 1}\n',
        ),
        ("half.csv", b"sentence1,sentence2,score\na,b,1\nhalf \xed\xa0\xbd here,b,1\n"),
        ("bom.csv", b"\xef\xbb\xbfsentence1,sentence2,score\na,b,1\n\xed\xb0\x80,b,1\n"),
    ],
)
def test_half_a_character_in_a_file_costs_its_row(name, content):
    answer = read(name, content)
    assert answer["rows"] == [["a", "b", "1"]]
    assert answer["reading"]["reasons"][0][:2] == [2, "problem.sentence_broken_character"]


def test_a_hundred_thousand_characters_in_a_cell_of_a_file():
    long = "very long " * 10_000
    answer = read("long.csv", f"sentence1,sentence2,score\n{long},b,1\nc,d,{long}\n".encode())
    assert answer["rows"] == [[long.strip(), "b", "1"]]
    (_, key, values) = answer["reading"]["reasons"][0]
    assert key == "problem.score_not_a_number"
    assert max(len(text) for _, text in values) < 100


@pytest.mark.parametrize("request_", [None, [], {}, {"content": 7}, {"name": "x", "content": "%"}])
def test_no_file_at_all_is_refused_in_a_sentence(request_):
    assert SERVER["read_file"](request_)["error"]["key"] == "problem.scenario_entry"


def requested(scenario: dict, **also: object) -> dict:
    return SERVER["explore"]({"scenario": {"data": scenario}, **also})


def typed(count: int) -> dict:
    return {"source": "table", "rows": [[f"a {i}", f"b {i}", str(i % 5)] for i in range(count)]}


def test_rows_are_sent_once_and_then_named():
    table = typed(4)
    first = requested(table)
    named = requested({**table, "rows": []}, rows=first["rows"], known=first["batch"]["key"])
    assert named["picture"]["figures"]["loss"] == first["picture"]["figures"]["loss"]
    assert "batch" not in named  # it is the one that the page has
    assert "rows" not in named
    # Other rows have another name; the same rows the same.
    assert requested(typed(3))["rows"] != first["rows"] == requested(table)["rows"]
    # A question that cannot be answered has sent the rows all the same.
    empty = requested({**table, "rows": [["", "", ""]]})
    assert empty["error"]["key"] == "problem.no_pairs"
    again = requested({**table, "rows": []}, rows=empty["rows"])
    assert again["error"] == empty["error"]


@pytest.mark.parametrize("name", ["", "0" * 64, 3, None, ["a"]])
def test_rows_that_are_not_cached_are_requested(name):
    assert requested({"source": "table", "rows": []}, rows=name) == {"send_rows": True}


def test_what_is_marked_at_its_pairs_comes_with_the_batch():
    batch = requested({"source": "example", "example": "twins"})["batch"]
    assert {one["pair"] for one in batch["same_texts"]} == {0, 1, 2, 3, 5, 8, 9}
    assert batch["planted"][0] == {"pair": 4, "kind": "hidden", "other": 3}
    rows = [["a cat", "a dog", "1"], ["", "", ""], ["a bird", "a  dog", "1"]]
    batch = requested({"source": "table", "rows": rows})["batch"]
    assert [(one["pair"], one["other"]) for one in batch["same_texts"]] == [(0, 1), (1, 0)]
    assert batch["planted"] == []
    assert batch["teacher"] is None
    batch = requested({"source": "table", "rows": rows, "teacher": [["a cat", "a dog", "0.5"]]})[
        "batch"
    ]
    assert batch["teacher"] == [0.5, None]


def guided(count: int, *, named: bool = True, lacking: int = -1) -> bytes:
    """Pairs with a guide's vectors, in columns whose names say so or do not."""
    names = ("guide1", "guide2") if named else ("u", "v")
    rows = [
        {"sentence1": f"a {i}", "sentence2": f"b {i}", "score": i % 2, names[0]: [i + 1, 1.0]}
        | {names[1]: None if i == lacking else [i + 1, 1.0]}
        for i in range(count)
    ]
    return "\n".join(map(json.dumps, rows)).encode()


def test_a_guides_vectors_of_a_file_travel_once_with_its_rows():
    answer = read("guided.jsonl", guided(6))
    assert [sentence for sentence, _ in answer["guided"]][:3] == ["a 0", "b 0", "a 1"]
    chosen = answer["chosen"]
    assert (chosen["guide_first"], chosen["guide_second"]) == ("guide1", "guide2")
    names = ("rows", "guided", "reading")
    data = {"source": "table", "encoder": "all apart", **{name: answer[name] for name in names}}
    whole = {"data": data, "loss": "gist"}
    first = SERVER["explore"]({"scenario": whole})
    assert first["batch"]["guided"] is True
    named = {**whole, "data": {**data, "rows": [], "guided": []}}
    again = SERVER["explore"]({"scenario": named, "rows": first["rows"]})
    assert again["picture"]["figures"]["loss"] == first["picture"]["figures"]["loss"]
    own = SERVER["explore"]({"scenario": {**whole, "data": {**data, "guided": []}}})
    assert own["batch"]["guided"] is False
    assert own["rows"] != first["rows"]
    file = {"file": answer["file"]}
    for kept, held in ((data["guided"][:1], True), ([], False)):
        pairs = request_handlers.whole_file(file, Data(file="guided.jsonl", guided=tuple(kept)))
        assert (pairs.guide is not None) is held


def test_columns_that_may_hold_a_guides_vectors_are_offered():
    content = guided(4, named=False)
    answer = read("vectors.jsonl", content)
    assert answer["guided"] == []
    guides, own = ([f"{kind}_first", f"{kind}_second"] for kind in ("guide", "vectors"))
    assert list(answer["chosen"])[3:] == ["teacher", *guides, *own]
    assert set(list(answer["chosen"].values())[3:]) == {"none"}
    chosen = {**answer["chosen"], "guide_first": "u", "guide_second": "v"}
    other = read("vectors.jsonl", content, columns=chosen)
    taken = {role: name for role, name in chosen.items() if role not in own}  # none are left
    assert (len(other["guided"]), other["chosen"]) == (8, taken)
    none = {**chosen, "guide_first": "none", "guide_second": "none"}
    left = read("vectors.jsonl", content, columns=none)
    assert (left["guided"], left["chosen"]) == ([], none)
    assert "guide_first" not in read("plain.csv", lines(4))["chosen"]


def test_rows_without_a_vector_of_the_guide_are_reported_where_a_loss_reads_it():
    answer = read("guided.jsonl", guided(6, lacking=3))
    assert len(answer["guided"]) == 11
    data = {"source": "table", "encoder": "all apart"}
    data |= {name: answer[name] for name in ("rows", "guided", "reading")}
    refused = SERVER["explore"]({"scenario": {"data": data, "loss": "gist"}})["error"]
    assert (refused["key"], refused["about"]) == ("problem.guide_incomplete", "guide")
    values = {"without": 1, "count": 6, "first": "a 3", "second": "b 3"}
    assert refused["values"] == values
    assert "error" not in SERVER["explore"]({"scenario": {"data": data, "loss": "info_nce"}})


def test_only_the_last_tables_are_cached(monkeypatch):
    tables = Cache(2)
    monkeypatch.setattr(scenario_and_rows_of_request, "_tables", tables)

    def hold(table):
        scenario = Scenario(data=Data(source="table", rows=table))
        return scenario_and_rows_of_request.held_rows({}, scenario)

    rows = [((str(i), "b", "1"),) for i in range(3)]
    names = [("", hold(table)) for table in rows]  # of nobody in particular
    held = [(table, ()) for table in rows]
    assert [tables.get(name) for name in names] == [None, *held[1:]]
    # What is used stays.
    tables.get(names[1])
    hold(rows[0])
    assert [tables.get(name) for name in names] == [held[0], held[1], None]


def test_positives_are_read_and_explored_and_a_loss_that_cannot_says_so():
    content = b"question,answer\nHow are you?,Fine.\nWhere is it?,Over there.\nWhy?,Because.\n"
    answer = read("faq.csv", content)
    assert [row[2] for row in answer["rows"]] == ["", "", ""]
    assert answer["chosen"] == {
        "first": "question",
        "second": "answer",
        "score": "none",
        "teacher": "none",
    }
    data = {"source": "table", "rows": answer["rows"]}
    found = SERVER["explore"]({"scenario": {"data": data, "loss": "info_nce"}})
    assert found["batch"]["labelled"] is False
    assert found["skipped"] == []
    found = SERVER["explore"]({"scenario": {"data": data, "loss": "cosent"}})
    assert found["error"]["key"] == "problem.needs_scores"


def test_a_column_that_may_be_a_score_is_to_be_chosen_or_passed_over():
    rows = b"How are you?,Fine.,1,7\nWhere is it?,Over there.,2,8\n"
    content = b"question,answer,one,other\n" + rows
    assert read("faq.csv", content)["error"]["about"] == "columns"
    chosen = {"first": "question", "second": "answer", "score": "none"}
    assert [row[2] for row in read("faq.csv", content, columns=chosen)["rows"]] == ["", ""]
    scored = read("faq.csv", content, columns={**chosen, "score": "one"})
    assert [row[2] for row in scored["rows"]] == ["1", "2"]


def test_a_file_with_vectors_brings_them_and_is_drawn_from():
    """Every batch of it has the vectors of its texts, and so do many batches."""
    vectors = np.random.RandomState(0).randn(2, 80, 4).astype(np.float32)
    held = io.BytesIO()
    np.savez(held, image=vectors[0], text=vectors[1])
    answer = read("clip.npz", held.getvalue())
    assert answer["own_vectors"].startswith("clip.npz#")
    draw = {"sampler": "shuffled", "size": 8, "seed": 3, "number": 1}
    asked_again = {"name": "clip.npz", "file": answer["file"], "draw": draw}
    drawn = SERVER["read_file"](asked_again)
    assert drawn["own_vectors"] == answer["own_vectors"]
    data = {"source": "table", "rows": drawn["rows"], "encoder": drawn["own_vectors"]}
    explored = SERVER["explore"]({"scenario": {"data": data, "loss": "info_nce"}})
    assert "error" not in explored
    rows = [int(first.removeprefix("image ")) - 1 for first, _, _ in drawn["rows"]]
    unit = vectors / np.linalg.norm(vectors, axis=2, keepdims=True)
    cosines = (unit[0, rows] * unit[1, rows]).sum(axis=1)
    batch = make_batch(Scenario.from_json({"data": data}).data, Rules())
    np.testing.assert_allclose(batch.plain_scores, cosines, atol=1e-6)
    example = {"source": "example", "encoder": drawn["own_vectors"]}
    assert "error" not in SERVER["explore"]({"scenario": {"data": example}})
