"""On a hosted page nobody reaches what belongs to another visitor, by whatever function."""

from __future__ import annotations

import base64
import gzip
import inspect
import json
import os
import time
import zipfile
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from fastapi import FastAPI, Request
from fastapi.middleware import Middleware
from fastapi.responses import HTMLResponse, PlainTextResponse
from fastapi.testclient import TestClient

from lossprism.explorer.core.scenario import Data, Reading, Scenario
from lossprism.explorer.lab.training.plan import SCRATCH
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.training_run import train
from lossprism.explorer.runtime import downloads, fair_queue, jobs, uploads
from lossprism.explorer.runtime.current_visitor import as_visitor, own_key, visitor
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.limits import PACES
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.sources import table_file_reader
from lossprism.explorer.sources.drawn_batches import Draw
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.web import hosted_server_setup_and_cleanup, page_requests
from lossprism.explorer.web.api import endpoint_functions, health_check
from lossprism.explorer.web.api.gradio_endpoint_wrapper import Refusal, endpoint
from lossprism.explorer.web.api.request_parsing import for_visitor
from lossprism.explorer.web.middleware.public_address import PublicAddressMiddleware
from lossprism.explorer.web.middleware.visitor_key import (
    COOKIE,
    HEADER,
    HOST_COOKIE,
    NEW,
    VisitorKeyMiddleware,
    with_headers,
)
from lossprism.explorer.web.page_requests import served
from lossprism.explorer.web.pages.claims import request_handlers as claims_requests
from lossprism.explorer.web.pages.explore import uploaded_file_batches as explore_files
from lossprism.explorer.web.pages.finetune import plan_check as finetune_check
from lossprism.explorer.web.pages.finetune import request_handlers as finetune_requests
from lossprism.explorer.web.pages.finetune import request_plan, time_estimate
from lossprism.explorer.web.pages.finetune import state_entries as finetune_state
from lossprism.explorer.web.pages.page_data_types import Hosted
from lossprism.explorer.web.pages.sentence_map import request_handlers as map_requests
from tests import wire
from tests.downloads import file_of
from tests.sentences import pattern_of, raises_problem
from tests.unit.lab.training.conftest import corpus

MINE, OTHER = new_key(), new_key()
STEERED = ("pause", "resume", "stop", "unshare", "delete")
# What no answer to the other visitor holds.
SECRET = "zanzibar"
ROWS = "".join(f"{SECRET} {i},{SECRET} other {i},{i % 3}\n" for i in range(12))
FILE = f"sentence1,sentence2,score\n{ROWS}".encode()
PLAN = {
    **finetune_state.first_plan(),
    **{"encoder": SCRATCH, "dimension": 8, "steps": 4, "batch_size": 8, "evaluations": 1},
}


# Functions that know only what stands in the request itself, or what is of whoever asks.
OWN_ONLY = {
    "explore": "explore slider_preview chart link open_link statistics sweep trials second_opinion "
    "own own_text own_write newer_batch loss forget look cancel",
    "compare": "compare chart formula parity sweep mechanics precision what_if collapse landscape "
    "link scene_link open_link loss forget look cancel",
    "doctor": "explain read_pasted fetch kept hand_in stop forget look cancel",
    "large": "hand_in stop forget",
    "finetune": "chart hand_in loss forget look cancel",
    "learn": "measured cards on_my_batch take chart forget",
    "sphere": "film chart forget",
    "landscape": "landscapes cuts chart forget",
    "sentence_map": "runs on_explore chart forget look cancel",
    "claims": "row verdicts train chart forget look cancel",
}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A hosted page, whose runs never find a process; all that it keeps is in the test's folder."""
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path / "cache"))
    made = Runs(tmp_path / "runs", device="cpu")
    for module, name in (
        (finetune_requests, "runs"),
        (finetune_check, "runs"),
        (time_estimate, "runs"),
        (claims_requests, "default_runs"),
        (map_requests, "default_runs"),
        (hosted_server_setup_and_cleanup, "default_runs"),
        (health_check, "default_runs"),
    ):
        monkeypatch.setattr(module, name, lambda: made)
    monkeypatch.setattr(endpoint_functions, "Runs", lambda **_: made)
    monkeypatch.setattr(downloads, "FOLDER", tmp_path / "downloads")
    monkeypatch.setattr(downloads, "PACKED_FOLDER", tmp_path / "downloads" / "taken")
    monkeypatch.setattr(page_requests, "ANSWER_S", 600)
    monkeypatch.setattr(made, "_spawn", lambda run, *_: run.take_ticket(os.getpid()))
    return made


@pytest.fixture(scope="module")
def pages():
    return wire.served_functions()


def ask(key, function, *given, new=False):
    """What Gradio does with a request of this visitor, who came with the key or, `new`, without."""
    headers = {HEADER: key, **({NEW: "1"} if new else {})}
    if "gradio_request" in inspect.signature(function).parameters:
        given = (*given, SimpleNamespace(headers=headers))
    with with_headers(headers):
        return plain(function(*given))


def handed_in(pages) -> str:
    content = base64.b64encode(FILE).decode()
    answer = ask(MINE, pages["explore"]["read_file"], {"name": "a.csv", "content": content})
    assert SECRET in json.dumps(answer)
    return answer["file"]


def trained(runs) -> str:
    with as_visitor(MINE):
        run = runs.prepare(request_plan.read_plan(PLAN), corpus())
        run.take_ticket(os.getpid())
    train(run)
    return run.name


def foreign(file: str, run: str) -> dict[str, dict[str, list]]:
    """By page and function, what asks for another's upload or run."""
    draw = {"sampler": "in_order", "size": 4, "seed": 0, "number": 0}
    read = Reading(draw=Draw("in_order", 4))
    scenario = Scenario(data=Data(source="table", file="a.csv", reading=read)).to_json()
    scenario["data"]["rows"] = [["a", "b", "1"]]
    held = {"scenario": scenario, "file": file}
    large = {"source": {"kind": "file", "file": file, "name": "a.csv"}, "loss": "cosent"}
    plan = {**PLAN, "data": {**PLAN["data"], "source": "file", "file": file}}
    request = {
        "explore": {
            "read_file": [{"name": "a.csv", "file": file, "draw": draw}],
            "spread": [held],
            "take": [{**held, "what": what} for what in ("corrected_csv", "changes_csv")],
        },
        "compare": {
            "take": [{**held, "what": what} for what in ("corrected_csv", "changes_csv")],
        },
        "doctor": {
            "examine": [{"source": large["source"]}],
            "encode": [{"source": large["source"], "encoder": EMBEDDED}],
            "mine": [{"source": large["source"], "encoder": EMBEDDED, "margin": 0}],
            "take": [{"source": large["source"], "what": what} for what in ("kept", "left_out")],
            "examine_run": [{"source": large["source"]}],
        },
        "large": {
            **{name: [large] for name in ("blocks", "details", "pairs", "judge")},
            "take": [
                {**large, "what": what}
                for what in ("pairs_csv", "suspects_csv", "corrected_csv", "figures_csv")
            ],
            "describe_file": [{"source": large["source"]}],
        },
        "finetune": {
            **{name: [{"plan": plan}] for name in ("check", "estimate", "repeat")},
            "trials": [{"plan": plan, "parameter": "scale"}],
            "start": [{"plans": [plan]}],
            "watch": [{"offsets": {run: 0}}],
            "steer": [{"run": run, "what": what} for what in STEERED],
            "probe": [{"run": run, "step": 4, "scenario": {}}],
            "figure": [{"run": run, "step": 4, "scenario": {}, "language": "en"}],
            "remark": [{"run": run}],
            "compare": [{"runs": [run]}, {"runs": [], "on": {"file": file, "name": "a.csv"}}],
            "take": [
                {"run": run, "what": what}
                for what in (*finetune_requests.TEXTS, *finetune_requests.PACKED)
            ],
            "share": [{"runs": [run]}],
            "describe": [{"file": file, "name": "a.csv"}],
        },
    }
    request["claims"] = {
        "follow": [{"claim": "S1-33", "runs": [run]}],
        "stop": [{"runs": [run]}],
    }
    request["sentence_map"] = {"map": [{"run": run, "method": "pca"}]}
    for page, names in OWN_ONLY.items():
        request.setdefault(page, {}).update({name: [] for name in names.split()})
    return request


def test_every_function_refuses_what_is_anothers(pages, runs):
    file, run = handed_in(pages), trained(runs)
    calls = foreign(file, run)
    assert {page: set(known) for page, known in calls.items()} == {
        page: set(functions) for page, functions in pages.items()
    }
    for page, functions in calls.items():
        for name, requests in functions.items():
            for request in requests:
                answer = ask(OTHER, pages[page][name], request)
                result = answer["runs"][run] if name == "watch" else answer
                assert "error" in result or result == {"send_file": True}, (page, name, answer)
                assert SECRET not in json.dumps(answer), (page, name)
                assert result.get("error", {}).get("key") != "problem.internal", (page, name)


def test_the_owner_is_answered(pages, runs, monkeypatch):
    """So that a refusal above is not one of a request that nobody could make."""
    timed = dict.fromkeys(time_estimate.PACE_FIELDS, 0.5)
    monkeypatch.setattr(time_estimate, "_paces", Cache(PACES))
    monkeypatch.setattr(time_estimate, "estimate", lambda *_, **__: timed)
    monkeypatch.setenv("LOSSPRISM_RUNS_OF_ONE", "24")
    file, run = handed_in(pages), trained(runs)
    refused = {
        ("finetune", "steer"): {"pause", "resume", "stop"},  # it has ended
    }
    for page, functions in foreign(file, run).items():
        for name, requests in functions.items():
            for request in requests:
                if request.get("what") in refused.get((page, name), ()):
                    continue
                if request.get("what") == "delete":
                    continue
                answer = ask(MINE, pages[page][name], request)
                result = answer["runs"][run] if name == "watch" else answer
                if (page, name) == ("doctor", "examine_run"):  # it was read, and is no log
                    assert result["error"]["key"] == "problem.run_no_steps"
                    continue
                assert "error" not in result, (page, name, request, answer)


def test_what_was_made_of_a_file_is_kept_for_its_visitor_alone(pages, runs):
    """Also where it is still in memory, and the other one knows all that was asked for."""
    file = handed_in(pages)
    calls = foreign(file, "")["large"]["pairs"][0]
    assert SECRET in json.dumps(ask(MINE, pages["large"]["pairs"], calls))
    answer = ask(OTHER, pages["large"]["pairs"], calls)
    assert answer["error"]["key"] == "problem.large_file_gone"


@pytest.mark.parametrize("form", ["small", "large", "packed"])
def test_a_large_file_is_read_when_it_is_its_visitors_turn(pages, runs, monkeypatch, form):
    """Also where it is only described, or its columns are offered; and every file of gzip, which
    may unpack to more than it says."""
    explore_files._whole.cache_clear()  # what was read already is read no more
    monkeypatch.setattr(table_file_reader, "HEAVY_FILE_BYTES", 100 if form == "large" else 10**6)
    taken = []

    class Heard(fair_queue.FairQueue):
        def taken(self, whose, waiting):
            taken.append(whose)
            return super().taken(whose, waiting)

    monkeypatch.setattr(fair_queue, "HEAVY", Heard(lambda: 2))

    def sent(content: bytes) -> str:
        packed = gzip.compress(content) if form == "packed" else content
        return base64.b64encode(packed).decode()

    unclear = sent(b"w,x,y,z\n" + b"some text,2,3,4\n" * 40)
    # Each is read for once: what was read is kept.
    clear = {page: sent(FILE + f"{form},{page},1\n".encode()) for page in ("explore", "finetune")}
    plan = {**PLAN, "data": {"source": "file", "name": "a.csv"}}
    with as_visitor(MINE):
        mine = visitor()
    for page, function, content in (
        ("explore", "read_file", clear["explore"]),
        ("explore", "read_file", unclear),
        ("finetune", "hand_in", clear["finetune"]),
        ("finetune", "hand_in", unclear),
    ):
        taken.clear()
        file = ask(MINE, pages[page][function], {"name": "a.csv", "content": content})["file"]
        assert set(taken) == (set() if form == "small" else {mine}), (page, content)
        if content != unclear:
            taken.clear()
            finetune_check._corpus.cache_clear()
            plan["data"]["file"] = file
            result = ask(MINE, pages["finetune"]["check"], {"plan": plan})
            assert "error" not in result, result
            assert set(taken) == (set() if form == "small" else {mine})


def test_nobody_is_listed_the_runs_of_another(pages, runs):
    run = trained(runs)
    lists = {
        key: ask(key, pages["finetune"]["watch"], {"list": True})["listed"] for key in (MINE, OTHER)
    }
    assert [one["id"] for one in lists[MINE]] == [run]
    assert lists[OTHER] == []


def test_the_link_of_a_shared_run_reads_and_does_no_more(pages, runs):
    run = trained(runs)
    finetune = pages["finetune"]
    (link,) = ask(MINE, finetune["share"], {"runs": [run]})["runs"]
    assert ask(MINE, finetune["share"], {"runs": [run]})["runs"] == [link]
    for name, requests in foreign("", link)["finetune"].items():
        for request in requests:
            if not {"run", "runs", "offsets"} & set(request) or "on" in request:
                continue
            answer = ask(OTHER, finetune[name], request)
            result = answer["runs"][link] if name == "watch" else answer
            if name == "steer":
                assert result["error"]["key"] == "problem.training_read_only"
            else:
                assert "error" not in result, (name, result)
    assert ask(OTHER, finetune["share"], {"runs": [link]})["runs"] == [link]
    guessed = f"{run}~{'0' * 32}"
    answer = ask(OTHER, finetune["remark"], {"run": guessed})
    assert answer["error"]["key"] == "problem.training_no_run"
    assert ask(MINE, finetune["remark"], {"run": run}).keys() >= {"remarks"}


@pytest.mark.parametrize("by", ["page", "program"])
def test_a_link_that_was_taken_back_leads_nowhere(pages, runs, by):
    run = trained(runs)
    finetune, unshare = pages["finetune"], endpoint(endpoint_functions.unshare_training)
    (link,) = ask(MINE, finetune["share"], {"runs": [run]})["runs"]
    watch = {"offsets": {run: 0, link: 0}}
    assert ask(MINE, finetune["watch"], watch)["runs"][run]["shared"]
    result = ask(OTHER, finetune["watch"], watch)["runs"]
    assert result[link]["state"] == "finished"
    assert not result[link]["shared"]  # that is the owner's affair
    packed = file_of(ask(OTHER, finetune["take"], {"run": link, "what": "kit"}))
    for name in (run, link):  # whoever reads it cannot take it back
        with pytest.raises(Refusal, match=r"no run called|read"):
            ask(OTHER, unshare, name, "")
        assert "error" in ask(OTHER, finetune["steer"], {"run": name, "what": "unshare"})
    assert packed.exists()
    if by == "page":
        assert ask(MINE, finetune["steer"], {"run": run, "what": "unshare"}) == {}
    else:
        assert ask(OTHER, unshare, run, MINE) == {"id": run}
    assert not packed.exists()
    assert not ask(MINE, finetune["watch"], watch)["runs"][run]["shared"]
    for name, requests in foreign("", link)["finetune"].items():
        for request in requests:
            if {"run", "runs", "offsets"} & set(request) and "on" not in request:
                answer = ask(OTHER, finetune[name], request)
                result = answer["runs"][link] if name == "watch" else answer
                assert result["error"]["key"] == "problem.training_no_run", name
    assert ask(MINE, finetune["steer"], {"run": run, "what": "unshare"}) == {}  # it is still so
    (other_link,) = ask(MINE, finetune["share"], {"runs": [run]})["runs"]
    assert other_link != link
    assert "error" in ask(OTHER, finetune["remark"], {"run": link})
    assert "remarks" in ask(OTHER, finetune["remark"], {"run": other_link})


def test_programs_know_their_runs_by_their_key(runs):
    start, status, stop = map(
        endpoint,
        (
            endpoint_functions.start_training,
            endpoint_functions.training_status,
            endpoint_functions.stop_training,
        ),
    )
    texts = [f"text {i}" for i in range(20)]
    given = ("cosent", texts, texts[::-1], [float(i % 3) for i in range(20)], None, SCRATCH)
    options = {"steps": 4, "dimension": 8}
    assert ask(OTHER, start, *given, options, "")["key"] == ""  # a browser keeps it by itself
    began = ask(MINE, start, *given, options, "", new=True)
    assert began["key"] == MINE
    # Each call of a program without cookies is that of a new visitor.
    assert ask(OTHER, status, began["id"], 0, began["key"])["state"] == "queued"
    for key in ("", new_key()):
        for call in (lambda k: (status, began["id"], 0, k), lambda k: (stop, began["id"], k)):
            with pytest.raises(Exception, match=pattern_of("problem.training_no_run").pattern):
                ask(OTHER, *call(key))
    with pytest.raises(Exception, match=pattern_of("problem.api_key").pattern):
        ask(OTHER, status, began["id"], 0, "../..")
    assert ask(OTHER, stop, began["id"], began["key"]) == {"id": began["id"]}


def test_nobody_follows_or_stops_the_work_of_another(runs):
    with as_visitor(MINE), jobs.job("work"):
        with as_visitor(OTHER):
            assert jobs.look("work") is None
            assert not jobs.cancel("work")
        assert jobs.look("work") is not None
        jobs.step("going on", 1, 2)  # not cancelled


def test_shared_work_goes_on_for_the_remaining_clients(runs):
    kept = jobs.Jobs()
    seen = []

    def work(report):
        seen.append(visitor())
        while True:
            report("at it", 0, 0)

    started = []
    for key in (MINE, OTHER):
        with as_visitor(key):
            started.append(kept.start("the same", work))
    assert started[0] is started[1]
    with as_visitor(MINE):
        kept.cancel("the same")
    assert not started[0].cancelled
    with as_visitor(OTHER):
        kept.cancel("the same")
    assert started[0].cancelled
    started[0].wait(10)
    with as_visitor(MINE):
        assert seen == [visitor()]  # what is done in the background is done for who asked first


def test_a_browser_without_cookies_gets_a_message(pages, runs):
    """It would find nothing again of what is kept for it."""
    content = base64.b64encode(FILE).decode()
    for page, name, request in (
        ("explore", "read_file", {"name": "a.csv", "content": content}),
        ("large", "hand_in", {"name": "a.csv", "content": content}),
        ("finetune", "start", {"plans": [PLAN]}),
    ):
        answer = ask(MINE, pages[page][name], request, new=True)
        assert answer["error"]["key"] == "problem.no_cookie"
    assert "error" not in ask(MINE, pages["explore"]["explore"], {"scenario": {}}, new=True)


def test_typed_rows_are_known_to_their_sender(pages, runs):
    rows = [[f"{SECRET} {i}", f"b {i}", str(i % 2)] for i in range(4)]
    explore = pages["explore"]["explore"]
    data = {"source": "table", "rows": rows}
    name = ask(MINE, explore, {"scenario": {"data": data}})["rows"]
    again = {"scenario": {"data": {**data, "rows": []}}, "rows": name}
    assert "picture" in ask(MINE, explore, again)
    assert ask(OTHER, explore, again) == {"send_rows": True}


def test_readers_of_a_run_see_neither_paths_nor_tokens(pages, runs):
    run = trained(runs)
    config = runs.root / run / "config.json"
    held = json.loads(config.read_text())
    data = {**held["plan"]["data"], "source": "file", "file": "/some/where"}
    config.write_text(json.dumps({**held, "plan": {**held["plan"], "data": data}}))
    (link,) = ask(MINE, pages["finetune"]["share"], {"runs": [run]})["runs"]
    token = link.partition("~")[2]
    take = pages["finetune"]["take"]
    for what in finetune_requests.TEXTS:
        text = ask(OTHER, take, {"run": link, "what": what})["text"]
        assert token not in text
        assert "/some/where" not in text
    for what in finetune_requests.PACKED:
        with zipfile.ZipFile(file_of(ask(OTHER, take, {"run": link, "what": what}))) as packed:
            assert token not in str(packed.namelist())
            assert not any(token.encode() in packed.read(name) for name in packed.namelist())
    watched = ask(OTHER, pages["finetune"]["watch"], {"offsets": {link: 0}})["runs"][link]
    assert watched["plan"]["data"]["file"] == ""


def test_of_runs_that_have_ended_the_oldest_leave(pages, runs, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_RUNS_KEPT", "1")
    first, second = trained(runs), trained(runs)
    checkpoint = runs.root / second / "checkpoints" / "checkpoint-4"
    checkpoint.mkdir(parents=True, exist_ok=True)
    hosted_server_setup_and_cleanup.delete_expired()
    assert [path.name for path in runs.root.iterdir()] == [second]
    assert first != second
    assert not checkpoint.exists()  # nothing resumes a run that is finished


def test_what_cannot_be_removed_keeps_nothing_else(pages, runs, monkeypatch, capsys):
    file = handed_in(pages)
    with as_visitor(MINE):
        at = uploads.find(file)
    os.utime(at, (1_000_000.0, 1_000_000.0))

    def broken():
        raise PermissionError(SECRET)

    monkeypatch.setattr(downloads, "delete_expired", broken)
    hosted_server_setup_and_cleanup.delete_expired()
    assert not at.exists()
    output = capsys.readouterr().err
    assert "PermissionError" in output
    assert SECRET not in output


def test_uploads_of_home_stay(pages, runs, monkeypatch):
    """Of whoever tries `--hosted` on their own machine."""
    with monkeypatch.context() as home:
        home.delenv(HOSTED)
        home.delenv("SPACE_ID", raising=False)
        digest, _ = uploads.hand_in({"name": "a.csv", "content": base64.b64encode(FILE).decode()})
        at = uploads.find(digest)
    os.utime(at, (1_000_000.0, 1_000_000.0))
    hosted_server_setup_and_cleanup.delete_expired()
    assert at.exists()


def test_what_is_deleted_at_once_is_gone_and_the_others_is_not(pages, runs):
    file, run = handed_in(pages), trained(runs)
    ask(OTHER, pages["finetune"]["forget"], {})
    assert "error" not in ask(MINE, pages["finetune"]["describe"], {"file": file, "name": "a.csv"})
    ask(MINE, pages["explore"]["forget"], {})
    answer = ask(MINE, pages["finetune"]["describe"], {"file": file, "name": "a.csv"})
    assert answer["error"]["key"] == "problem.training_file_gone"
    assert not (runs.root / run).exists()
    assert list(runs.root.iterdir()) == []


def test_what_is_left_goes_after_its_time(pages, runs, monkeypatch):
    file, run = handed_in(pages), trained(runs)
    with as_visitor(MINE):
        at, download = uploads.find(file), downloads.new_download("a.csv")
    download.write_text("a")
    beside = downloads.folder_of_run(run) / "model.zip"
    beside.write_text("a")
    hosted_server_setup_and_cleanup.delete_expired()
    assert at.exists()
    assert download.exists()
    assert beside.exists()
    assert (runs.root / run).exists()
    long_ago = 1_000_000.0
    for path in (at, download, beside, runs.root / run / "state.json"):
        os.utime(path, (long_ago, long_ago))
    (runs.root / ".deleted-by-a-process-that-was-killed").mkdir()
    hosted_server_setup_and_cleanup.delete_expired()
    assert not at.exists()
    assert not download.parent.exists()
    assert not beside.parent.exists()
    assert list(runs.root.iterdir()) == []


def test_what_a_clock_set_back_has_put_into_the_future_leaves_all_the_same(
    pages, runs, monkeypatch
):
    file, run = handed_in(pages), trained(runs)
    with as_visitor(MINE):
        at, download = uploads.find(file), downloads.new_download("a.csv")
    download.write_text("a")
    dated = (at, download, runs.root / run / "state.json")
    later = time.time() + 10 * 86_400
    for path in dated:
        os.utime(path, (later, later))
    hosted_server_setup_and_cleanup.delete_expired()
    assert all(path.stat().st_mtime < later - 86_400 for path in dated)  # and leaves in its time


def test_at_home_nothing_is_anybodys(pages, runs, monkeypatch):
    monkeypatch.delenv(HOSTED)
    monkeypatch.delenv("SPACE_ID", raising=False)
    assert (own_key(), visitor(), Hosted.read()) == ("", "", None)
    with as_visitor(MINE):
        assert visitor() == ""
    digest, _ = uploads.hand_in({"name": "a.csv", "content": base64.b64encode(FILE).decode()})
    run = runs.prepare(request_plan.read_plan(PLAN), corpus())
    run.take_ticket(os.getpid())
    ask(MINE, pages["explore"]["forget"], {})
    assert len(runs.listed()) == 1
    assert uploads.find(digest)


def test_nothing_is_kept_for_nobody(runs):
    with pytest.raises(RuntimeError, match="nobody asks"):
        visitor()
    with pytest.raises(Problem):
        uploads.read("nothing", "a.csv")


def test_the_log_has_no_word_of_a_visitor(runs, capsys):
    def function(request):
        raise KeyError(request)

    answer = served("broken", function, takes=str)
    assert ask(MINE, answer, SECRET)["error"]["key"] == "problem.internal"
    output = capsys.readouterr().err
    assert "KeyError" in output
    assert "in function" in output
    assert SECRET not in output


# The key


APPLICATION = FastAPI(middleware=[Middleware(VisitorKeyMiddleware)])


@APPLICATION.api_route("/key", methods=["GET", "POST"], response_class=PlainTextResponse)
def received_key(request: Request) -> str:
    return request.headers.get(HEADER, "")


@APPLICATION.get("/", response_class=HTMLResponse)
def page() -> str:
    return "<p>Hello"


@pytest.fixture
def client(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    return TestClient(APPLICATION)


@APPLICATION.get("/gradio_api/mcp/")
def received_as_new(request: Request) -> tuple[str, bool]:
    return request.headers.get(HEADER, ""), NEW in request.headers


def test_a_client_of_mcp_keeps_a_cookie_no_longer_than_it_talks(client):
    """So it receives its key, unless it sends one."""
    key, is_new = client.get("/gradio_api/mcp/").json()
    assert is_new
    assert client.get("/gradio_api/mcp/").json() == [key, True]
    own = new_key()
    assert client.get("/gradio_api/mcp/", headers={HEADER: own}).json() == [own, False]


def test_a_browser_keeps_the_key_that_it_was_given(client):
    first = client.get("/key")
    assert len(first.text) == 64
    assert "HttpOnly" in first.headers["set-cookie"]
    again = client.get("/key")
    assert again.text == first.text
    assert "set-cookie" not in again.headers
    assert "set-cookie" in client.get("/").headers  # a page renews it
    assert TestClient(APPLICATION).get("/key").text != first.text


@pytest.mark.parametrize(
    "sent", ["", "short", "G" * 64, "0" * 63, "é" * 64, f'"{"0" * 64}"', "0" * 64]
)
def test_what_is_no_key_is_not_taken_for_one(client, sent):
    for headers in ({HEADER: sent.encode()}, {"cookie": f"{COOKIE}={sent}".encode()}):
        got = TestClient(APPLICATION).get("/key", headers=headers).text
        assert len(got) == 64
        assert got != sent


@pytest.mark.parametrize("place", [0, 31, 32, 63])
def test_a_key_that_was_changed_is_nobodys(client, place):
    key = new_key()
    changed = key[:place] + ("0" if key[place] != "0" else "1") + key[place + 1 :]
    for sent, taken in ((key, True), (changed, False)):
        for headers in ({HEADER: sent}, {"cookie": f"{COOKIE}={sent}"}):
            got = TestClient(APPLICATION).get("/key", headers=headers).text
            assert (got == sent) == taken
        with raises_problem("api_key") if not taken else nullcontext():
            for_visitor(sent)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://example.org", HOST_COOKIE),
        ("http://example.org", COOKIE),
        ("https://example.org/losses", COOKIE),
    ],
)
def test_an_encrypted_page_without_a_path_has_a_cookie_of_this_host_alone(client, address, name):
    """Another site of the same domain can set the plain name, and not this one."""
    asking = TestClient(
        PublicAddressMiddleware(APPLICATION, address), base_url="https://inside:7860"
    )
    cookie = asking.get("/key").headers["set-cookie"]
    assert cookie.startswith(f"{name}=")
    assert name == COOKIE or {"Secure", "Path=/"} <= {*cookie.split("; ")}
    earlier, newer = new_key(), new_key()
    for sent, kept in {
        f"{COOKIE}={earlier}": earlier,  # of a visitor who came before
        f"{name}={newer}": newer,
        f"{COOKIE}={earlier}; {HOST_COOKIE}={newer}": newer if name == HOST_COOKIE else earlier,
    }.items():
        asking = TestClient(
            PublicAddressMiddleware(APPLICATION, address), base_url="https://inside:7860"
        )
        got = asking.get("/key", headers={"cookie": sent})
        assert got.text == kept


@pytest.mark.parametrize("other", ['a={"x":1}', "x[1]=2", "a@b=1"])
def test_cookies_of_other_apps_hide_no_key(client, other):
    key = new_key()
    got = client.get("/key", headers={"cookie": f"{other}; {COOKIE}={key}"})
    assert got.text == key


def test_addresses_that_a_client_claims_make_no_visitor(client):
    key = client.get("/key").text
    for address in ("1.2.3.4", "5.6.7.8, 9.10.11.12"):
        assert client.get("/key", headers={"x-forwarded-for": address}).text == key


def test_in_a_frame_of_the_hub_the_cookie_is_of_that_place_alone(client, monkeypatch):
    plain = client.get("/key").headers["set-cookie"]
    assert "SameSite=Lax" in plain
    assert "Secure" not in plain
    monkeypatch.setenv("SPACE_ID", "somebody/lossprism")
    framed = TestClient(APPLICATION).get("/key", headers={"x-forwarded-proto": "https"})
    assert "SameSite=None; Secure; Partitioned" in framed.headers["set-cookie"]


BY_ANOTHER = [
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", "origin": "https://evil.example"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},  # another Space, another port
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},  # a form that is sent
    {"origin": "https://evil.example"},  # a browser that says no more
    {"origin": "null"},
    {"origin": "http://[", "x-forwarded-for": "testserver"},
]
BY_OURS = [
    {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "origin": "http://testserver"},
    {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"},
    {"origin": "http://testserver:8080"},  # a proxy hands on the name alone
    {},
]


@pytest.mark.parametrize("space", ["", "somebody/lossprism"])
@pytest.mark.parametrize("message", BY_ANOTHER)
def test_a_page_of_another_site_acts_for_nobody(client, monkeypatch, message, space):
    """It can make a browser send things, with its cookies; and must not replace the key."""
    monkeypatch.setenv("SPACE_ID", space)
    key = new_key()
    answer = client.post("/key", headers={"cookie": f"{COOKIE}={key}", **message})
    assert answer.text != key
    assert "set-cookie" not in answer.headers
    # A program that received a key keeps it itself.
    assert client.post("/key", headers={HEADER: key, **message}).text == key


@pytest.mark.parametrize("message", BY_OURS)
def test_our_own_page_acts_for_who_looks_at_it(client, message):
    key = new_key()
    assert client.post("/key", headers={"cookie": f"{COOKIE}={key}", **message}).text == key


def test_following_a_link_or_a_frame_keeps_the_key(client):
    key = new_key()
    values = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    answer = client.get("/key", headers={"cookie": f"{COOKIE}={key}", **values})
    assert answer.text == key
    assert "set-cookie" in client.get("/", headers=values).headers


def test_behind_a_proxy_the_page_is_known_by_its_address(monkeypatch):
    """nginx without a header Host requests the configured address."""
    monkeypatch.setenv(HOSTED, "1")
    key, app = new_key(), PublicAddressMiddleware(APPLICATION, "https://example.org:8443/losses")
    for origin, text in (("https://example.org:8443", key), ("https://evil.example", "")):
        headers = {"cookie": f"{COOKIE}={key}", "origin": origin}
        answer = TestClient(app, base_url="http://inside:7860").post("/key", headers=headers)
        assert (answer.text == key) == bool(text)


def test_at_home_no_cookie_is_set(client, monkeypatch):
    monkeypatch.delenv(HOSTED)
    monkeypatch.delenv("SPACE_ID", raising=False)
    answer = client.get("/")
    assert "set-cookie" not in answer.headers
    assert client.get("/key").text == ""
