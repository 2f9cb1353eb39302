"""Bad input to the endpoints and MCP tools is answered with a sentence."""

from __future__ import annotations

import inspect

import httpx
import pytest
from gradio_client.exceptions import AppError

from explorer.runtime.problem import Problem
from explorer.web.api import endpoints as api
from explorer.web.gradio_endpoints import Refusal, endpoint
from tests.sentences import pattern_of
from tests.unit.web.programs import FIRST, PAIRS, REQUEST, S0_LABELS, S0_SCORES, SECOND

MANY = {
    "sentences1": [f"a{place}" for place in range(513)],
    "sentences2": [f"b{place}" for place in range(513)],
    "scores": [0.5] * 513,
}
MORE_THAN_TRACED = {name: values[:65] for name, values in MANY.items()}
GIVEN = {"loss": "cosent", "scores": S0_SCORES, "labels": S0_LABELS}
COMPARED = {
    "losses": [{"loss": "cosent"}, {"loss": "info_nce"}],
    **{name: value for name, value in PAIRS.items() if name != "loss"},
}
BAD = {
    "lengths": (
        "compute_loss",
        PAIRS | {"sentences2": SECOND[:3]},
        "The lists have different lengths (sentences1: 4, sentences2: 3, scores: 4); "
        "each pair needs an entry in every list.",
    ),
    "too many": ("compute_loss", PAIRS | MANY, "513 pairs were sent; compute_loss accepts"),
    "score": (
        "compute_loss",
        PAIRS | {"scores": [1, "high", 0, 0]},
        "scores[1] is 'high'; a finite number is needed, such as 0.8. Places count from 0.",
    ),
    "missing score": ("compute_loss", PAIRS | {"scores": [1, 0, 0, None]}, "scores[3] is None;"),
    "endless score": ("compute_loss", PAIRS | {"scores": [1, 0, 10**400, 0]}, "scores[2] is 1000"),
    "sentence": (
        "compute_loss",
        PAIRS | {"sentences1": [*FIRST[:3], "  "]},
        "sentences1[3] is '  '; a sentence is needed",
    ),
    "number": (
        "compute_loss",
        PAIRS | {"sentences2": [1, *SECOND[1:]]},
        "sentences2[0] is 1; a sentence is needed",
    ),
    "no list": ("compute_loss", PAIRS | {"sentences1": "A cat."}, "sentences1 is 'A cat.'; a list"),
    "nothing": (
        "compute_loss",
        {"loss": "cosent", "sentences1": [], "sentences2": [], "scores": []},
        "The lists are empty; at least one pair is needed.",
    ),
    "loss": ("compute_loss", PAIRS | {"loss": "cosnet"}, "There is no loss called cosnet. Did"),
    "no loss": ("compute_loss", PAIRS | {"loss": None}, "loss is None; text is needed."),
    "parameter": (
        "compute_loss",
        PAIRS | {"parameters": {"scael": 20}},
        "CoSENT has no parameter scael. It has: scale.",
    ),
    "value": (
        "compute_loss",
        PAIRS | {"parameters": {"scale": -1}},
        "scale is -1; accepted are numbers from 0.1 to 1000.",
    ),
    "no object": (
        "compute_loss",
        PAIRS | {"parameters": [20]},
        "parameters is [20]; an object of names and values is needed",
    ),
    "encoder": ("compute_loss", PAIRS | {"encoder": 5}, "encoder is 5; text is needed."),
    "given": (
        "loss_from_scores",
        GIVEN | {"labels": [0, 1]},
        "The lists have different lengths (scores: 4, labels: 2);",
    ),
    "no vectors": (
        "loss_from_scores",
        GIVEN | {"loss": "triplet", "scores": [0.1, 0.2, 0.8, 1.5]},
        "This loss reads sentence vectors, but the data gives scores only",
    ),
    "traced": (
        "trace_loss",
        PAIRS | MORE_THAN_TRACED,
        "65 pairs were sent; trace_loss accepts at most 64.",
    ),
    "no log": ("doctor_run", {}, "Nothing was given: give the text of a log"),
    "no values": ("doctor_run", {"values": []}, "Nothing was given: give the text of a log"),
    "no tokens": (
        "doctor_data",
        {"table": "a\tb\n1\t2\n", "tokens": -4},
        "tokens is -4; a whole number from 1 to",
    ),
    "two logs": (
        "doctor_run",
        {"log": "step,loss", "values": [1]},
        "Give either the text of a log or the values of a loss, not both.",
    ),
    "no number": (
        "doctor_run",
        {"values": [1, "much"]},
        "values[1] is 'much'; a finite number is needed",
    ),
    "no other run": (
        "doctor_run",
        {"values": [1], "beside_batch": 8},
        "beside_batch is known of another run",
    ),
    "no header": (
        "doctor_data",
        {"table": "a\tb\n1\t2\n", "header": "yes"},
        "header",
    ),
    "no steps": (
        "doctor_run",
        {"values": [1, 2], "steps": [1]},
        "The lists have different lengths (values: 2, steps: 1);",
    ),
    "no value": (
        "explain_loss_value",
        {"value": "much"},
        "The value is much; a finite number is needed, such as 5.545.",
    ),
    "no batch": (
        "explain_loss_value",
        {"value": 5.545, "batch": 0},
        "batch is 0; a whole number from 1 to 1\u202f048\u202f576 is needed.",
    ),
    "two temperatures": (
        "explain_loss_value",
        {"value": 5.545, "temperature": 0.05, "scale": 20},
        "Both a temperature (0.05) and a scale (20) are given",
    ),
    "no data": (
        "doctor_data",
        {"loss": "cosent"},
        "Either a table, as text, or the lists sentences1 and sentences2, or a data set of the hub",
    ),
    "no column": (
        "doctor_data",
        {"table": "a\tb\n1\t2\n", "columns": {"first": 5}},
        "columns.first is 5; text is needed.",
    ),
    "too many encoded": (
        "doctor_data",
        PAIRS | {"encoder": "all-MiniLM-L6-v2", "encoded": 10**6},
        "encoded is 1000000; from 10 to 16\u202f384 pairs can be read by an encoder.",
    ),
    "too few rows": (
        "doctor_data",
        {"hub": "sentence-transformers/stsb", "rows": 1},
        "1 rows are too many or too few: choose 10 to 1\u202f048\u202f576 rows",
    ),
    "no such language": (
        "doctor_data",
        PAIRS | {"language": "fr"},
        "language",
    ),
    "no figure": (
        "figure",
        PAIRS | {"kind": "pie"},
        "kind is “'pie'”; choose one of matrix, bars.",
    ),
    "no step": (
        "figure",
        PAIRS | {"step": "logits"},
        "This loss has no step called logits. There are: scores, labels, scaled, differences,",
    ),
    "no format": (
        "figure",
        PAIRS | {"format": "gif"},
        "format is “'gif'”; choose one of svg, png, pdf.",
    ),
    "no scene": ("figure", {"scene": "#1.not-a-link"}, "This link is incomplete or damaged"),
    "another door's link": (
        "figure",
        {"scene": "http://127.0.0.1:7860/doctor#value=5.545&loss=siglip"},
        "This link is incomplete or damaged",
    ),
    "no losses": (
        "compare_losses",
        COMPARED | {"losses": "cosent"},
        "losses is 'cosent'; a list is needed.",
    ),
    "one loss": (
        "compare_losses",
        COMPARED | {"losses": [{"loss": "cosent"}]},
        "1 loss was named to compare; from 2 to 6 are compared on one batch.",
    ),
    "seven losses": (
        "compare_losses",
        COMPARED | {"losses": [{"loss": "cosent"}] * 7},
        "7 losses were named to compare; from 2 to 6",
    ),
    "no name": (
        "compare_losses",
        COMPARED | {"losses": [{"loss": "cosent"}, {"scale": 5}]},
        "losses[1] is {'scale': 5}; an object is needed that names a loss, such as",
    ),
    "bad name": (
        "compare_losses",
        COMPARED | {"losses": [{"loss": 5}, {"loss": "cosent"}]},
        "losses[0].loss is 5; text is needed.",
    ),
    "bad parameters": (
        "compare_losses",
        COMPARED | {"losses": [{"loss": "cosent", "parameters": [5]}, {"loss": "cosent"}]},
        "losses[0].parameters is [5]; an object of names and values is needed",
    ),
    "compared similarities": (
        "compare_losses",
        COMPARED | {"similarities": [0.5]},
        "The lists have different lengths (sentences1: 4, similarities: 1);",
    ),
    "similarities": (
        "trace_loss",
        PAIRS | {"similarities": [0.5]},
        "The lists have different lengths (scores: 4, similarities: 1);",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_answered_with_a_sentence(client, capfd, name):
    function, asked, sentence = BAD[name]
    with pytest.raises(Problem) as problem:
        getattr(api, function)(**asked)
    assert str(problem.value).startswith(sentence)
    with pytest.raises(AppError) as refused:
        client.predict(**asked, api_name=f"/{function}")
    assert str(refused.value) == str(problem.value)
    assert "Traceback" not in capfd.readouterr().err


def test_what_json_cannot_hold_is_refused_too(address):
    """NaN, and half of a surrogate pair, as only a hand-made request can send them."""

    def sent(body):
        headers = {"content-type": "application/json"}
        url = f"{address}/gradio_api/run/loss_from_scores"
        return httpx.post(url, content=body, headers=headers).json()["error"]

    rules = 'null, null, true, null, "keep"'  # by position, all of them are sent
    said = sent('{"data": ["cosent", [0.5, NaN], [0, 1], {}, "", ' + rules + "]}")
    number = {"name": "scores", "place": 1, "value": "nan"}
    assert pattern_of("problem.api_number", **number).match(said)
    said = sent(r'{"data": ["\ud800", [0.5, 0.1], [0, 1], {}, "", ' + rules + "]}")
    assert pattern_of("problem.unknown_loss", name="\ufffd").match(said)


def test_a_defect_of_ours_is_told_apart(monkeypatch, capsys):
    def broken():
        raise KeyError("secret")

    with pytest.raises(Refusal) as refused:
        endpoint(broken)(REQUEST)
    assert str(refused.value) == str(Problem("internal"))
    assert "secret" in capsys.readouterr().err


def is_chinese(sentence):
    return any("一" <= letter <= "鿿" for letter in sentence)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "function", [one for one in api.ENDPOINTS if "language" in inspect.signature(one).parameters]
)
def test_a_refusal_is_in_the_language_of_the_argument(function, language):
    signature = inspect.signature(function)
    known = {name: one.default for name, one in signature.parameters.items()}
    known |= {name: "no such" for name, default in known.items() if default is signature.empty}
    given = known | {"loss": "no such", "language": language}
    with pytest.raises(Refusal) as refused:
        endpoint(function)(*given.values(), REQUEST)
    assert is_chinese(str(refused.value)) == (language == "zh")


@pytest.mark.parametrize("accepted", ["", "en", "zh-CN,zh;q=0.9,en;q=0.8", "de,zh;q=0.1"])
def test_without_such_an_argument_it_is_in_the_language_that_the_request_accepts(address, accepted):
    url = f"{address}/gradio_api/run/loss_from_scores"
    data = ["no such", [0.5, 0.25], [0, 1], {}, "", None, None, True, None, "keep"]
    headers = {"accept-language": accepted}
    said = httpx.post(url, json={"data": data}, headers=headers).json()["error"]
    assert is_chinese(said) == ("zh" in accepted)
