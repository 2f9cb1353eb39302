"""What the Fine-tune page asks the server: plans from strangers, files by token, answers."""

from __future__ import annotations

import base64
import dataclasses
import os
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.training import data
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.runtime import downloads
from lossprism.explorer.runtime.cache_folder import cache_folder
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import textbook
from lossprism.explorer.sources.practice_sentences import PRACTICE, practice_pairs
from lossprism.explorer.web.pages.finetune import (
    initial_page_data,
    request_handlers,
    request_plan,
    state_entries,
    uploaded_file_description,
)
from lossprism.losses import LOSSES
from tests.downloads import file_of
from tests.unit.web.pages.finetune_plans import FIRST, check, describe, hand, request_for
from tests.wire import by_name


@pytest.fixture
def uploads(tmp_path, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path))
    return cache_folder("files")


def hand_in(text: str) -> dict[str, object]:
    content = base64.b64encode(text.encode()).decode()
    return hand({"name": "pairs.csv", "content": content})


def test_the_first_plan_is_one_that_can_start():
    plan = request_plan.read_plan(FIRST)
    assert plan == dataclasses.replace(
        TrainingPlan(), steps=state_entries.FIRST_STEPS, data=plan.data
    )
    found = check({"plan": FIRST})
    assert found["refused"] is None
    assert found["train"] + found["held_out"] == len(practice_pairs(plan.data.name))
    assert found["steps"] == state_entries.FIRST_STEPS


def test_the_quick_plan_fits_into_the_first():
    plan = request_plan.read_plan({**FIRST, **vars(initial_page_data.page_data().quick)})
    assert plan.encoder == SCRATCH
    assert plan.loss == FIRST["loss"]


@pytest.mark.parametrize("name", PRACTICE)
def test_practice_becomes_rows(name):
    data = request_plan.read_plan(request_for(source="practice", practice=name)).data
    assert (data.source, data.name) == ("rows", name)
    first, second, label = practice_pairs(name)[0]
    assert data.rows[0][:2] == (first, second)
    assert float(data.rows[0][2]) == label


def test_a_link_of_explore_becomes_its_rows():
    rows = (("A cat.", "A dog.", "0.25"), ("A bird.", "Some bird.", "1"))
    link = Scenario(data=Data(source="table", rows=rows, file="mine.csv")).to_link()
    data = request_plan.read_plan(
        request_for(source="link", link=f"http://127.0.0.1:7860/#{link}")
    ).data
    assert (data.rows, data.name) == (rows, "mine.csv")
    example = Scenario(data=Data(example="nli_triplets")).to_link()
    data = request_plan.read_plan(request_for(source="link", link=example)).data
    assert len(data.rows) == len(textbook.load_example("nli_triplets"))


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ({"source": "link", "link": ""}, "training_no_link"),
        ({"source": "link", "link": "1.@@"}, "link_damaged"),
        ({"source": "file"}, "training_no_file"),
        ({"source": "file", "file": "../../etc/passwd"}, "scenario_entry"),
        ({"source": "file", "file": "0" * 32}, "training_file_gone"),
        ({"source": "hub", "hub": " "}, "training_no_hub_id"),
        ({"source": "rows"}, "scenario_entry"),
        ({"source": "practice", "practice": "no such"}, "scenario_entry"),
    ],
)
def test_data_that_is_not_there_is_named(uploads, data, key):
    with pytest.raises(Problem) as raised:
        request_plan.read_plan(request_for(**data))
    assert raised.value.key == f"problem.{key}"


def test_no_code_of_a_strangers_is_run():
    plan = request_plan.read_plan({**FIRST, "own_loss": "/tmp/evil.py:evil"})
    assert plan.own_loss == ""


def test_a_loss_of_ones_own_goes_along(tmp_path):
    from lossprism.explorer.core.own_loss_from_python_file import add_own_loss

    path = tmp_path / "mine.py"
    path.write_text(
        "def gap(scores, labels):\n    loss = ((scores - labels) ** 2).mean()\n    return loss\n"
    )
    spec = add_own_loss(f"{path}:gap")
    try:
        assert request_plan.read_plan({**FIRST, "loss": spec.name}).own_loss == f"{path}:gap"
    finally:
        del LOSSES[spec.name]


def test_a_file_is_handed_in_and_read_by_its_token(uploads):
    rows = "".join(f"This is {i},That is {i},{i % 3}\n" for i in range(20))
    found = hand_in(f"sentence1,sentence2,score\n{rows}")
    assert found["used"] == 20
    assert request_plan.read_plan(request_for(source="file", **found_in(found))).data.file == str(
        uploads / found["file"]
    )
    checked = check({"plan": request_for(source="file", **found_in(found))})
    assert checked["labels"] == [0.0, 2.0, 3]


def found_in(answer: dict) -> dict[str, object]:
    return {"file": answer["file"], "name": answer["name"]}


def test_the_encoding_of_a_file_is_reported_and_can_be_chosen(uploads):
    rows = "".join(f"Чай {i} ещё горячий.,Чай {i} уже остыл.,{i % 3}\n" for i in range(20))
    content = base64.b64encode(f"sentence1,sentence2,score\n{rows}".encode("koi8-r")).decode()
    found = hand({"name": "tea.csv", "content": content})
    assert found["encoding"] == "KOI8-R"
    assert dict(found["encodings"])["KOI8-R"].startswith("Чай 0 ещё")
    known = {**found_in(found), "encoding": "Windows-1251"}
    assert describe(known)["encoding"] == "Windows-1251"
    for encoding in ("", "cp1251"):
        plan = request_plan.read_plan(request_for(source="file", **{**known, "encoding": encoding}))
        assert plan.data.encoding == encoding
        sentences = {first for first, _, _ in data.read(plan).train}
        assert any(first.startswith("Чай") for first in sentences) == (encoding == "")
    on = {**known, "columns": {}}
    assert (
        uploaded_file_description.uploaded_pairs({**on, "encoding": ""}).pairs[0][0]
        == "Чай 0 ещё горячий."
    )
    assert uploaded_file_description.uploaded_pairs(on).pairs[0][0] != "Чай 0 ещё горячий."
    few = base64.b64encode("sentence1,sentence2,score\nВАЙ,b,1\n".encode("koi8-r")).decode()
    unclear = hand({"name": "few.csv", "content": few})
    assert unclear["problem"]["key"] == "problem.file_encoding"
    assert "ВАЙ" in dict(unclear["encodings"])["KOI8-R"]


def test_columns_that_are_not_recognised_are_offered(uploads):
    rows = "".join(f"{i},This {i},That {i},{i % 3},{i % 2}\n" for i in range(20))
    found = hand_in(f"a,b,c,d,e\n{rows}")
    assert found["problem"]["key"] == "problem.columns_not_recognised"
    assert list(found["columns"]) == ["a", "b", "c", "d", "e"]
    known = found_in(found)
    # One after the other: what is chosen is kept while the rest is still open.
    partly = describe({**known, "columns": {"first": "b"}})
    assert partly["chosen"] == {"first": "b", "second": "", "score": ""}
    twice = {"first": "b", "second": "b", "score": "d"}
    assert describe({**known, "columns": twice})["chosen"] == twice
    chosen = {"first": "b", "second": "c", "score": "d"}
    assert describe({**known, "columns": chosen})["used"] == 20


def test_a_held_out_file_is_read_by_the_columns_of_the_other_where_it_has_them(uploads):
    rows = [f"{i},This {i},That {i},{i % 3},{i % 2}\n" for i in range(40)]
    learn = hand_in("a,b,c,d,e\n" + "".join(rows[:20]))
    chosen = {"first": "b", "second": "c", "score": "d"}
    plan = request_for(source="file", **found_in(learn), columns=chosen)
    recognised = "".join(f"One {i},Two {i},{i}\n" for i in range(9))
    for text, count in (
        ("a,b,c,d,e\n" + "".join(rows[20:]), 20),
        (f"sentence1,sentence2,score\n{recognised}", 9),
    ):
        file = hand_in(text)["file"]
        held = {"held_out_file": file, "held_out_name": "held.csv"}
        by_name = {"file": file, "name": "held.csv", "columns": chosen, "held_out": True}
        assert describe(by_name)["used"] == count
        found = check({"plan": {**plan, "data": {**plan["data"], **held}}})
        assert (found["train"], found["held_out"]) == (20, count)
        assert 0 < found["by_chance"] < 1
        assert found["level"] == "98%"


def test_the_figures_of_the_source_with_their_means():
    printed = initial_page_data.page_data().source
    for figure in ("spearman", "accuracy"):
        for row in getattr(printed, figure):
            *values, mean = row.values
            assert len(values) == len(printed.sets)
            assert mean == pytest.approx(sum(values) / len(values), abs=0.006)


def test_too_many_runs_at_once_are_refused():
    with pytest.raises(Problem) as raised:
        request_handlers._start({"plans": [FIRST] * (request_handlers.QUEUED_AT_ONCE + 1)})
    assert raised.value.key == "problem.training_many"


@pytest.mark.parametrize("what", ["kill", None, "__init__"])
def test_only_known_words_steer(what):
    with pytest.raises(Problem):
        request_handlers._steer({"run": "any", "what": what})


@pytest.mark.parametrize("wrong", [{"palette": "x"}, {"step": "1"}, {"step": True}])
def test_a_figure_needs_a_valid_request(wrong):
    request = {"run": "r", "step": 1, "language": "en", "scenario": Scenario().to_json(), **wrong}
    with pytest.raises(Problem, match=next(iter(wrong))):
        request_handlers._figure(request)


@pytest.mark.parametrize("deleted", [True, False])
def test_a_run_deleted_while_it_is_read_is_a_run_that_is_not_there(tmp_path, monkeypatch, deleted):
    runs = Runs(tmp_path)
    monkeypatch.setattr(request_handlers, "runs", lambda: runs)
    pairs = [(f"One {i}.", f"Two {i}.", float(i % 2)) for i in range(8)]
    run = runs.prepare(request_plan.read_plan(FIRST), data.Corpus(tuple(pairs), tuple(pairs)))
    run.take_ticket(os.getpid())

    def read(*_):
        if deleted:
            shutil.rmtree(run.path)
        return (run.path / "after.npz").read_bytes()

    monkeypatch.setattr(request_handlers.run_remarks, "remarks", read)
    remark = by_name(request_handlers.SERVED)["remark"]
    expected = "problem.training_no_run" if deleted else "problem.internal"
    assert remark({"run": run.name})["error"]["key"] == expected


def test_downloads_that_are_made_at_once_are_all_there(tmp_path, monkeypatch):
    runs = Runs(tmp_path / "runs")
    monkeypatch.setattr(request_handlers, "runs", lambda: runs)
    monkeypatch.setattr(downloads, "FOLDER", tmp_path / "downloads")
    pairs = [(f"One {i}.", f"Two {i}.", float(i % 2)) for i in range(8)]
    run = runs.prepare(request_plan.read_plan(FIRST), data.Corpus(tuple(pairs), tuple(pairs)))
    run.take_ticket(os.getpid())
    run.model.mkdir()
    (run.model / "modules.json").write_text("[]")
    take = by_name(request_handlers.SERVED)["take"]
    with ThreadPoolExecutor(8) as pool:
        requested = [{"run": run.name, "what": what} for what in ("model", "kit")] * 8
        answers = list(pool.map(take, requested))
    assert not any("error" in answer for answer in answers)
    paths = sorted({file_of(answer) for answer in answers})
    assert [path.name for path in paths] == [f"{run.name}-model.zip", f"{run.name}-train.zip"]
    for path in paths:
        with zipfile.ZipFile(path) as packed:
            assert packed.testzip() is None
    assert sorted(paths[0].parent.iterdir()) == paths


@pytest.mark.parametrize(
    ("name", "requested"),
    [
        ("watch", lambda names: {"offsets": dict.fromkeys(names, 0)}),
        ("compare", lambda names: {"runs": names}),
        ("share", lambda names: {"runs": names}),
    ],
)
def test_one_request_names_so_many_runs(tmp_path, monkeypatch, name, requested):
    monkeypatch.setattr(request_handlers, "runs", lambda: Runs(tmp_path, device="cpu"))
    function = getattr(request_handlers, f"_{name}")
    names = [str(number) for number in range(request_handlers.NAMED_RUNS + 1)]
    with pytest.raises(Problem, match=f"most {request_handlers.NAMED_RUNS} runs"):
        function(requested(names))
    if name == "watch":
        assert len(plain(function(requested(names[1:])))["runs"]) == request_handlers.NAMED_RUNS
