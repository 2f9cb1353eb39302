"""Bad input to the endpoints and MCP tools is answered with a sentence."""

from __future__ import annotations

import inspect

import httpx
import pytest
from gradio_client.exceptions import AppError

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.api import endpoint_functions as api
from lossprism.explorer.web.api.gradio_endpoint_wrapper import Refusal, endpoint
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
LENGTHS, TEXT = "api_lengths", "api_text"
BAD = {
    "lengths": (
        ("compute_loss", PAIRS | {"sentences2": SECOND[:3]}, LENGTHS),
        {"lengths": "sentences1: 4, sentences2: 3, scores: 4"},
    ),
    "too many": (
        ("compute_loss", PAIRS | MANY, "api_too_many"),
        {"count": 513, "name": "compute_loss"},
    ),
    "score": (
        ("compute_loss", PAIRS | {"scores": [1, "high", 0, 0]}, "api_number"),
        {"name": "scores", "place": 1, "value": "'high'"},
    ),
    "missing score": (
        ("compute_loss", PAIRS | {"scores": [1, 0, 0, None]}, "api_number"),
        {"name": "scores", "place": 3, "value": None},
    ),
    "endless score": (
        ("compute_loss", PAIRS | {"scores": [1, 0, 10**400, 0]}, "api_number"),
        {"name": "scores", "place": 2},
    ),
    "sentence": (
        ("compute_loss", PAIRS | {"sentences1": [*FIRST[:3], "  "]}, "api_sentence"),
        {"name": "sentences1", "place": 3, "value": "'  '"},
    ),
    "number": (
        ("compute_loss", PAIRS | {"sentences2": [1, *SECOND[1:]]}, "api_sentence"),
        {"name": "sentences2", "place": 0, "value": 1},
    ),
    "no list": (
        ("compute_loss", PAIRS | {"sentences1": "A cat."}, "api_list"),
        {"name": "sentences1", "value": "'A cat.'"},
    ),
    "nothing": (
        (
            "compute_loss",
            {"loss": "cosent", "sentences1": [], "sentences2": [], "scores": []},
            "api_empty",
        ),
        {},
    ),
    "loss": (
        ("compute_loss", PAIRS | {"loss": "cosnet"}, "unknown_loss_close"),
        {"name": "cosnet", "close": "cosent"},
    ),
    "no loss": (
        ("compute_loss", PAIRS | {"loss": None}, TEXT),
        {"name": "loss", "value": None},
    ),
    "parameter": (
        ("compute_loss", PAIRS | {"parameters": {"scael": 20}}, "unknown_parameter"),
        {"loss": "CoSENT", "name": "scael", "known": "scale"},
    ),
    "value": (
        ("compute_loss", PAIRS | {"parameters": {"scale": -1}}, "parameter_range"),
        {"name": "scale", "value": -1, "low": "0.1", "high": "1000"},
    ),
    "no object": (
        ("compute_loss", PAIRS | {"parameters": [20]}, "api_object"),
        {"name": "parameters", "value": "[20]"},
    ),
    "encoder": (
        ("compute_loss", PAIRS | {"encoder": 5}, TEXT),
        {"name": "encoder", "value": 5},
    ),
    "given": (
        ("loss_from_scores", GIVEN | {"labels": [0, 1]}, LENGTHS),
        {"lengths": "scores: 4, labels: 2"},
    ),
    "no vectors": (
        (
            "loss_from_scores",
            GIVEN | {"loss": "triplet", "scores": [0.1, 0.2, 0.8, 1.5]},
            "no_vectors",
        ),
        {},
    ),
    "traced": (
        ("trace_loss", PAIRS | MORE_THAN_TRACED, "api_too_many"),
        {"count": 65, "name": "trace_loss", "most": 64},
    ),
    "no log": (("doctor_run", {}, "run_nothing_given"), {}),
    "no values": (("doctor_run", {"values": []}, "run_nothing_given"), {}),
    "no tokens": (
        ("doctor_data", {"table": "a\tb\n1\t2\n", "tokens": -4}, "explain_count"),
        {"name": "tokens", "value": -4, "least": 1},
    ),
    "two logs": (("doctor_run", {"log": "step,loss", "values": [1]}, "run_given_twice"), {}),
    "no number": (
        ("doctor_run", {"values": [1, "much"]}, "api_number"),
        {"name": "values", "place": 1, "value": "'much'"},
    ),
    "no other run": (
        ("doctor_run", {"values": [1], "beside_batch": 8}, "beside_no_run"),
        {"name": "beside_batch"},
    ),
    "no header": (
        ("doctor_data", {"table": "a\tb\n1\t2\n", "header": "yes"}, "scenario_entry"),
        {"where": "header", "value": "yes"},
    ),
    "no steps": (
        ("doctor_run", {"values": [1, 2], "steps": [1]}, LENGTHS),
        {"lengths": "values: 2, steps: 1"},
    ),
    "no value": (("explain_loss_value", {"value": "much"}, "explain_value"), {"value": "much"}),
    "no batch": (
        ("explain_loss_value", {"value": 5.545, "batch": 0}, "explain_count"),
        {"name": "batch", "value": 0, "least": 1, "most": 2**20},
    ),
    "two temperatures": (
        ("explain_loss_value", {"value": 5.545, "temperature": 0.05, "scale": 20}, "explain_both"),
        {"temperature": 0.05, "scale": 20},
    ),
    "no data": (("doctor_data", {"loss": "cosent"}, "api_table_or_lists"), {}),
    "no column": (
        ("doctor_data", {"table": "a\tb\n1\t2\n", "columns": {"first": 5}}, TEXT),
        {"name": "columns.first", "value": 5},
    ),
    "too many encoded": (
        (
            "doctor_data",
            PAIRS | {"encoder": "all-MiniLM-L6-v2", "encoded": 10**6},
            "doctor_encoded",
        ),
        {"value": 10**6, "least": 10, "most": 2**14},
    ),
    "too few rows": (
        ("doctor_data", {"hub": "sentence-transformers/stsb", "rows": 1}, "hub_set_count"),
        {"value": 1, "least": 10, "most": 2**20},
    ),
    "no such language": (
        ("doctor_data", PAIRS | {"language": "fr"}, "parameter_choice"),
        {"name": "language"},
    ),
    "no figure": (
        ("figure", PAIRS | {"kind": "pie"}, "parameter_choice"),
        {"name": "kind", "value": "pie", "known": "matrix, bars"},
    ),
    "no step": (
        ("figure", PAIRS | {"step": "logits"}, "no_such_step"),
        {"name": "logits", "known": "scores, labels, scaled, differences, ordered, terms, loss"},
    ),
    "no format": (
        ("figure", PAIRS | {"format": "gif"}, "parameter_choice"),
        {"name": "format", "value": "gif", "known": "svg, png, pdf, html"},
    ),
    "no scene": (("figure", {"scene": "#1.not-a-link"}, "link_damaged"), {}),
    "another door's link": (
        ("figure", {"scene": "http://127.0.0.1:7860/doctor#value=5.5&loss=siglip"}, "link_damaged"),
        {},
    ),
    "no losses": (
        ("compare_losses", COMPARED | {"losses": "cosent"}, "api_list"),
        {"name": "losses", "value": "'cosent'"},
    ),
    "one loss": (
        ("compare_losses", COMPARED | {"losses": [{"loss": "cosent"}]}, "compare_sides"),
        {"count": 1, "least": 2, "most": 6},
    ),
    "seven losses": (
        ("compare_losses", COMPARED | {"losses": [{"loss": "cosent"}] * 7}, "compare_sides"),
        {"count": 7, "least": 2, "most": 6},
    ),
    "no name": (
        ("compare_losses", COMPARED | {"losses": [{"loss": "cosent"}, {"scale": 5}]}, "api_loss"),
        {"name": "losses[1]", "value": "{'scale': 5}"},
    ),
    "bad name": (
        ("compare_losses", COMPARED | {"losses": [{"loss": 5}, {"loss": "cosent"}]}, TEXT),
        {"name": "losses[0].loss", "value": 5},
    ),
    "bad parameters": (
        (
            "compare_losses",
            COMPARED | {"losses": [{"loss": "cosent", "parameters": [5]}, {"loss": "cosent"}]},
            "api_object",
        ),
        {"name": "losses[0].parameters", "value": "[5]"},
    ),
    "compared similarities": (
        ("compare_losses", COMPARED | {"similarities": [0.5]}, LENGTHS),
        {"lengths": "sentences1: 4, similarities: 1"},
    ),
    "similarities": (
        ("trace_loss", PAIRS | {"similarities": [0.5]}, LENGTHS),
        {"lengths": "scores: 4, similarities: 1"},
    ),
}


def test_bad_input_is_answered_with_a_sentence(client, capfd):
    wrong = []
    for name, ((function, requested, key), values) in BAD.items():
        with pytest.raises(Problem) as problem:
            getattr(api, function)(**requested)
        message = str(problem.value)
        if not pattern_of(f"problem.{key}", **values).fullmatch(message):
            wrong.append((name, message))
        with pytest.raises(AppError) as refused:
            client.predict(**requested, api_name=f"/{function}")
        if str(refused.value) != message:
            wrong.append((name, str(refused.value)))
    assert wrong == []
    assert "Traceback" not in capfd.readouterr().err


def test_what_json_cannot_hold_is_refused_too(address):
    """NaN, and half of a surrogate pair, as only a hand-made request can send them."""

    def sent(body):
        headers = {"content-type": "application/json"}
        url = f"{address}/gradio_api/run/loss_from_scores"
        return httpx.post(url, content=body, headers=headers).json()["error"]

    rules = 'null, null, true, null, "keep"'  # by position, all of them are sent
    answer = sent('{"data": ["cosent", [0.5, NaN], [0, 1], {}, "", ' + rules + "]}")
    number = {"name": "scores", "place": 1, "value": "nan"}
    assert pattern_of("problem.api_number", **number).match(answer)
    answer = sent(r'{"data": ["\ud800", [0.5, 0.1], [0, 1], {}, "", ' + rules + "]}")
    assert pattern_of("problem.unknown_loss", name="\ufffd").match(answer)


def test_a_defect_of_ours_is_distinguished(monkeypatch, capsys):
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
    answer = httpx.post(url, json={"data": data}, headers=headers).json()["error"]
    assert is_chinese(answer) == ("zh" in accepted)
