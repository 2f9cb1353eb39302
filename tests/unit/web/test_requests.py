"""What comes over HTTP and is no question is answered by a sentence, and a number from 400 on."""

from __future__ import annotations

import json

import httpx
import pytest

from lossprism.explorer.core import own_loss_from_python_file
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from tests.hostile import DEEP, HALF, ODD
from tests.sentences import pattern_of

EXPLORE = "/requests/explore/explore"


def sent(address, path, body, **headers):
    """Post a body as it is, or an object as JSON."""
    content = body if isinstance(body, str | bytes) else json.dumps(body)
    kind = {"content-type": "application/json"}
    return httpx.post(f"{address}{path}", content=content, headers=kind | headers, timeout=60)


def requested(address, name, data, **headers):
    """The answer of a function, "page.function", as its page asks for it."""
    body = json.dumps(data)
    answer = sent(address, f"/requests/{name.replace('.', '/')}", body, **headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


NO_JSON = ["", "{", "\x00", b"\xff\xfe", "[" * 10**5, '{"data":' * 9999]
NO_OBJECT = ["null", "[]", "7", '"text"', "{}"]


def name_of(body):
    return repr(body[:8])


@pytest.mark.parametrize("body", [*NO_JSON, *NO_OBJECT], ids=name_of)
def test_what_is_no_call_of_an_endpoint(address, capfd, body):
    for path in ("/gradio_api/run/list_losses", "/gradio_api/call/list_losses"):
        answer = sent(address, path, body)
        assert 400 <= answer.status_code < 500
        assert answer.json()["detail"]
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("body", NO_JSON, ids=name_of)
def test_what_is_no_json_is_no_request_of_a_page(address, capfd, body):
    answer = sent(address, EXPLORE, body)
    assert answer.status_code == 422
    assert answer.json() == {"detail": str(Problem("call_unfit"))}
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("body", NO_OBJECT, ids=name_of)
def test_a_request_of_another_kind_is_answered_by_a_sentence(address, capfd, body):
    answer = sent(address, EXPLORE, body)
    assert answer.status_code == 200
    assert answer.json()["error"]["key"]
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "name",
    ["explore", "explore/nothing", "explore/__class__", "nothing/explore", "explore/%00", "/"],
)
def test_a_function_that_no_page_has_is_not_found(address, capfd, name):
    answer = sent(address, f"/requests/{name}", "{}")
    assert answer.status_code == 404
    assert answer.json()["detail"]
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["nothing", "%00", "%ed%a0%bd"])
def test_calls_of_no_endpoint(address, capfd, name):
    for body in ({"data": []}, {"data": [], "fn_index": 10**9}):
        answer = sent(address, f"/gradio_api/run/{name}", body)
        assert answer.status_code == 404
        assert answer.json() == {"detail": str(Problem("call_unknown"))}
    assert "Traceback" not in capfd.readouterr().err


def test_a_call_with_too_few_arguments_says_so(address):
    answer = sent(address, "/gradio_api/run/loss_from_scores", {"data": ["cosent"]}).json()["error"]
    found = pattern_of("problem.call_values", count=10, given=1).fullmatch(answer)
    assert found["names"].startswith("loss, scores, ")


def test_values_left_out_at_the_end_of_a_call_have_their_defaults(address):
    """So that a call stays valid when its function takes more."""
    path, given = "/gradio_api/run/loss_from_scores", ["cosent", [0.5, 0.1], [0, 1]]
    every = [*given, None, "", None, None, True, None, "keep"]
    answers = [sent(address, path, {"data": data}).json()["data"][0] for data in (given, every)]
    short, full = ({**answer, "milliseconds": 0} for answer in answers)
    assert short == full
    refused = sent(address, path, {"data": [*every, 1]})
    assert pattern_of("problem.call_values", count=10, given=11).fullmatch(refused.json()["error"])


@pytest.mark.parametrize("values", ["a text", {"a": float("nan")}, {HALF: 1}, {"a": 10**400}])
def test_a_call_whose_values_are_no_list_is_answered_by_a_sentence(address, capfd, values):
    answer = sent(address, "/gradio_api/run/list_losses", {"data": values})
    assert answer.status_code == 422
    assert answer.json() == {"detail": str(Problem("call_unfit"))}
    assert "Error" not in capfd.readouterr().err


def test_no_file_of_this_computer_is_handed_out(address):
    file = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
    rest = [[0, 1], {}, "", None, None, True, None, "keep"]
    answer = sent(address, "/gradio_api/run/loss_from_scores", {"data": ["cosent", file, *rest]})
    value = pattern_of("problem.api_list", name="scores").fullmatch(answer.json()["error"])["value"]
    assert value.startswith("{'path'")
    assert "root:" not in answer.text


@pytest.mark.parametrize("odd", ODD)
def test_mcp(address, odd):
    """The deepest and half a character in the name of an entry are refused by the protocol."""
    given = {"loss": "cosent", "scores": ODD[odd], "labels": [0, 1]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "loss_from_scores", "arguments": given}
    answer = sent(address, "/gradio_api/mcp/", call, accept="application/json, text/event-stream")
    assert answer.status_code == 200
    result = json.loads(answer.text.partition("data: ")[2])
    sentence = (
        result["error"]["message"] if "error" in result else result["result"]["content"][0]["text"]
    )
    assert sentence
    assert "Traceback" not in sentence
    assert str(Problem("internal")) not in sentence


def test_a_scenario_from_right_to_left(address):
    """What reads from the right, marks that turn it, and half a character, in every text."""
    text = f"\u05e9\u05dc\u05d5\u05dd \u202e\u2066\u200f \u0645\u0631\u062d\u0628\u0627 {HALF}"
    row = [text, text, "1"]
    data = {"source": "table", "rows": [row], "file": text, "encoder": text}
    scenario = {"data": {**data, "corrections": [row]}, "rules": {"prototypes": text}}
    for ascii_ in (True, False):
        file = json.dumps(scenario, ensure_ascii=ascii_)
        for mark in ("", "\ufeff"):
            opened = requested(address, "explore.open_link", mark + file)["scenario"]
            assert opened["data"]["rows"] == [[text.replace(HALF, "\ufffd")] * 2 + ["1"]]
    link = requested(address, "explore.link", scenario)["link"]
    assert requested(address, "explore.open_link", link)["scenario"] == opened
    refused = requested(address, "explore.explore", {"scenario": scenario})["error"]
    assert refused["key"]


def test_a_scenario_too_deep_to_be_read(address):
    from base64 import urlsafe_b64encode
    from zlib import compress

    for depth in (DEEP, 10**5):
        deep = '{"parameters":' * depth + "1" + "}" * depth
        link = f"1.{urlsafe_b64encode(compress(deep.encode())).decode()}"
        for text in (deep, link):
            answer = requested(address, "explore.open_link", text)
            assert answer["error"]["key"] in (
                "problem.scene_file_damaged",
                "problem.link_damaged",
                "problem.scenario_entry",
            )
        asked_ = {"source": {"kind": "explore", "link": link}}
        assert "error" in requested(address, "large.blocks", asked_)
        plan = {"data": {"source": "link", "link": link}}
        assert "error" in requested(address, "finetune.check", {"plan": plan})


def test_a_scenario_of_a_loss_that_there_is_not(address):
    for scenario in ({"loss": "constructor"}, {"loss": "cosent", "convention": "__proto__"}):
        answer = requested(address, "explore.open_link", json.dumps(scenario))
        assert answer["error"]["key"] in ("problem.unknown_loss", "problem.unknown_convention")


HERE = ("127.0.0.1:7860", "localhost", "LOCALHOST:80", "[::1]:7860")
ELSEWHERE = (
    "evil.example",
    "127.0.0.1.evil.example:7860",
    "192.168.0.7",
    "0.0.0.0:7860",
    "[",
    "a@b",
)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A loss of one's own of which the page may change the file."""
    monkeypatch.delenv("SPACE_ID", raising=False)
    path = tmp_path / "mine.py"
    path.write_text("def guarded(scores, labels):\n    return (scores * labels).sum()\n")
    own_loss_from_python_file.add_own_loss(f"{path}:guarded")
    yield path
    del LOSSES["guarded"], own_loss_from_python_file._OWN_LOSSES["guarded"]


def test_who_asks_by_a_foreign_name_reads_and_writes_no_file(address, mine):
    """As a page does whose name was pointed at this computer; with others in between."""
    held = mine.read_text()
    digest = ""
    for host in (*HERE, *ELSEWHERE, *HERE):
        if host in HERE:
            answer = requested(address, "explore.own_text", "guarded", host=host)
            question = {"name": "guarded", "text": held, "digest": digest}
            written = requested(address, "explore.own_write", question, host=host)
            assert answer["text"] == held, host
            assert ("error" in written) == (digest == "")
            digest = answer["digest"]
        else:
            changed = {"name": "guarded", "text": held + "# theirs\n", "digest": digest}
            for name, data in (("own_text", "guarded"), ("own_write", changed)):
                answer = sent(address, f"/requests/explore/{name}", json.dumps(data), host=host)
                assert answer.status_code == 403, host
            assert mine.read_text() == held
