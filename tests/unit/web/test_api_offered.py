"""What the server offers to programs, over HTTP and as MCP tools."""

from __future__ import annotations

import base64
import doctest
import inspect
import json
import re
from typing import get_args, get_type_hints

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from openapi_spec_validator import OpenAPIV31SpecValidator

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.locale import say
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web import site
from lossprism.explorer.web.api import (
    dataset_diagnosis,
    descriptions_from_docstrings,
    run_diagnosis,
)
from lossprism.explorer.web.api import endpoint_functions as api
from lossprism.losses import LOSSES
from lossprism.losses.combined.combined_loss_names import RECIPES
from lossprism.version import VERSION
from tests.code_blocks import code_blocks
from tests.loops import in_loop
from tests.sentences import pattern_of, raises_problem
from tests.unit.web.programs import S0_LABELS, S0_LOSS, S0_SCORES, same_as_explored

NAMES = {
    "compute_loss",
    "loss_from_scores",
    "trace_loss",
    "compare_losses",
    "explain_loss_value",
    "doctor_data",
    "doctor_run",
    "doctor_pasted",
    "figure",
    "list_losses",
    "start_training",
    "training_status",
    "stop_training",
    "unshare_training",
}


def test_the_api_shows_the_four_and_nothing_of_the_page(client):
    offered = client.view_api(return_format="dict", print_info=False)
    assert set(offered["named_endpoints"]) == {f"/{name}" for name in NAMES}
    assert offered["unnamed_endpoints"] == {}
    for name in NAMES:
        served = offered["named_endpoints"][f"/{name}"]
        function = getattr(api, name)
        assert function.__doc__.strip().partition("\n")[0] in served["description"]
        names = [parameter["parameter_name"] for parameter in served["parameters"]]
        assert names == [n for n in function.__annotations__ if n != "return"]
        assert all(parameter["type"] for parameter in served["parameters"])
        result = served["returns"][0]["type"]
        promised = get_type_hints(function)["return"]
        kinds = get_args(promised) or (promised,)  # one of several
        shown = result["anyOf"] if len(kinds) > 1 else [result]
        for one, kind in zip(shown, kinds, strict=True):
            if one["type"] == "array":
                one, kind = one["items"], *get_args(kind)
            if "properties" in one:
                assert one["properties"].keys() == get_type_hints(kind).keys()
            else:
                assert get_args(kind) == (str, dict[str, str])


@pytest.mark.parametrize("path", [path for path, *_ in site.PAGES])
def test_a_browser_is_sent_none_of_it(address, path):
    page = httpx.get(f"{address}/{path}").text
    assert len(page) < 100_000
    assert "explain_loss_value" not in page


def test_the_endpoints_have_no_page_that_could_be_opened(address):
    answer = httpx.get(f"{address}/endpoints", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert say("en", "missing.title") in answer.text


def test_the_client_of_the_documentation_is_answered(address):
    blocks = code_blocks("docs/how-to/programs.md")
    (code,) = (text for _, text in blocks if text.startswith("from gradio_client"))
    assert "http://127.0.0.1:7860" in code
    exec(code.replace("http://127.0.0.1:7860", address), {})


def test_its_description_for_programs_names_the_same_calls(address):
    described = httpx.get(f"{address}/gradio_api/openapi.json").json()["paths"]
    assert {f"/gradio_api/call/v2/{name}" for name in NAMES} <= set(described)


def test_the_description_for_programs_is_openapi_with_what_is_required_and_refused(address):
    document = httpx.get(f"{address}/gradio_api/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()
    assert document["info"]["version"] == VERSION
    for name in NAMES:
        post = document["paths"][f"/gradio_api/call/v2/{name}"]["post"]
        taken = inspect.signature(getattr(api, name)).parameters.values()
        schema = post["requestBody"]["content"]["application/json"]["schema"]
        assert list(schema["properties"]) == [one.name for one in taken]
        assert schema["required"] == [one.name for one in taken if one.default is one.empty]
        assert all(one["description"] for one in schema["properties"].values())
        assert {"200", "404", "422", "503"} == set(post["responses"])


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "value"),
        (
            {"value": 4.85, "a_name_that_is_no_argument_of_it": 1},
            "a_name_that_is_no_argument_of_it",
        ),
    ],
)
def test_a_call_that_does_not_fit_names_the_argument_in_full(address, given, named):
    answer = httpx.post(f"{address}/gradio_api/call/v2/explain_loss_value", json=given)
    assert answer.status_code == 422
    assert re.search(rf"\b{named}\b", answer.json()["detail"])


def ask(address, *calls):
    """The tools of the MCP server, and its answers to these calls."""

    async def talk():
        async with (
            streamablehttp_client(f"{address}/gradio_api/mcp/") as (reading, writing, _),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            tools = (await session.list_tools()).tools
            return tools, [await session.call_tool(name, given) for name, given in calls]

    return in_loop(talk())


def test_mcp_offers_them_as_tools(address):
    tools, _ = ask(address)
    assert {tool.name for tool in tools} == NAMES
    for tool in tools:  # and of each all arguments, and nothing that Gradio adds
        taken = [name for name in getattr(api, tool.name).__annotations__ if name != "return"]
        assert list(tool.inputSchema["properties"]) == taken, tool.name
    compute = next(tool for tool in tools if tool.name == "compute_loss")
    assert compute.inputSchema["required"] == ["loss"]
    fields = compute.inputSchema["properties"]
    numbers = {"type": ["array", "null"], "items": {"type": "number"}}
    assert fields["scores"] == {**numbers, "description": fields["scores"]["description"]}
    assert "scores, labels, label_range" in compute.description


def test_tools_are_described_in_short_whole_and_by_their_effect(address):
    tools, _ = ask(address)
    sent = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in tools]
    size = len(json.dumps(sent, ensure_ascii=False, separators=(",", ":")).encode())
    assert size <= 25_000, size
    known: dict[str, dict[str, str]] = {}
    for tool in tools:
        by_name = {name: f["description"] for name, f in tool.inputSchema["properties"].items()}
        known[tool.name] = by_name
        whole = descriptions_from_docstrings.arguments(getattr(api, tool.name))
        for name, text in by_name.items():
            referred = re.fullmatch(r"see (\w+)", text)
            found = known[referred[1]][name] if referred else text
            assert not found.startswith("see "), (tool.name, name)
            assert whole[name] in (text, found), (tool.name, name)
        changes = {"start_training", "stop_training", "unshare_training"}
        assert tool.annotations.readOnlyHint == (tool.name not in changes)


def test_every_argument_is_described_under_its_name():
    for function in api.ENDPOINTS:
        result = descriptions_from_docstrings.arguments(function)
        assert list(result) == [name for name in function.__annotations__ if name != "return"]
        assert all(result.values())


def test_arguments_over_several_lines_and_of_several_names_are_read_whole():
    def function() -> None:
        """Do something.

        With care.

        Args:
            first, second: a text that
                goes on: with a colon
            third: another

        Returns:
            none: at all
        """

    assert descriptions_from_docstrings.summary(function) == "Do something.\n\nWith care."
    assert descriptions_from_docstrings.arguments(function) == {
        "first": "a text that goes on: with a colon",
        "second": "a text that goes on: with a colon",
        "third": "another",
    }


def test_the_server_introduces_itself_to_agents(address):
    async def talk():
        async with (
            streamablehttp_client(f"{address}/gradio_api/mcp/") as (reading, writing, _),
            ClientSession(reading, writing) as session,
        ):
            return await session.initialize()

    result = in_loop(talk())
    assert (result.serverInfo.name, result.serverInfo.version) == ("LossPrism", VERSION)
    assert "explain_loss_value" in result.instructions


def test_agents_read_all_calls_at_the_root(address):
    answer = httpx.get(f"{address}/agents.md")
    assert answer.headers["content-type"].startswith("text/markdown")
    for name in NAMES:
        assert f"## {name}\n" in answer.text
        assert inspect.getdoc(getattr(api, name)) in answer.text


def test_an_agent_learns_why_a_loss_is_stuck_in_one_call(address):
    """At 4.85 with a batch of 128, which is ln 128."""
    _, (answered,) = ask(address, ("explain_loss_value", {"value": 4.85, "batch": 128}))
    (finding, *_) = json.loads(answered.content[0].text)["findings"]
    assert "collapse" in finding["kinds"]
    assert "info_nce" in {one["loss"] for one in finding["losses"]}


OF_NUMBERS = Scenario(data=Data(source="random", random=RandomBatch(pairs=4, dimension=4)))


def test_mcp_tools_answer_in_json_and_refuse_in_sentences(address):
    given = {"loss": "cosent", "scores": S0_SCORES, "labels": S0_LABELS}
    _, (answered, listed, refused, drawn) = ask(
        address,
        ("loss_from_scores", given),
        ("list_losses", {"detail": "full"}),
        ("loss_from_scores", given | {"loss": "cosnet"}),
        ("figure", {"scene": OF_NUMBERS.to_link(), "format": "png"}),
    )
    assert not answered.isError
    answer = json.loads(answered.content[0].text)
    assert answered.structuredContent == answer
    assert listed.structuredContent == {"result": json.loads(listed.content[0].text)}
    assert refused.structuredContent is None
    same_as_explored(answer, explore(Scenario(data=Data(example="cosent_batch"))))
    assert answer["loss"] == pytest.approx(S0_LOSS, rel=1e-6)
    assert [loss["name"] for loss in json.loads(listed.content[0].text)] == [*LOSSES, *RECIPES]
    assert refused.isError
    close = say("en", "problem.unknown_loss_close", name="cosnet", close="cosent")
    assert refused.content[0].text.startswith(close)
    result, image = drawn.content  # a model looks at an image, and reads no base64
    assert (image.type, image.mimeType) == ("image", "image/png")
    assert base64.b64decode(image.data)[:8] == b"\x89PNG\r\n\x1a\n"
    assert json.loads(result.text)["png"] is None
    assert drawn.structuredContent == json.loads(result.text)


@pytest.mark.parametrize("name", ["compute_loss", "explain_loss_value"])
def test_the_names_that_the_argument_loss_is_described_with_work(name):
    """Others refer to the first, or say the same as the second."""
    examples = re.findall(
        r'"(\w[^"]*)"', descriptions_from_docstrings.arguments(getattr(api, name))["loss"]
    )
    assert len(examples) > 1
    cats = ["A cat sleeps.", "A dog runs."], ["A cat is asleep.", "The sun is hot."]
    for example in examples:
        if name == "compute_loss":
            assert api.compute_loss(example, *cats, [1, 0])["loss"] >= 0, example
        else:
            assert api.explain_loss_value(0.7, loss=example)["known"]["loss"], example


TABLE = "query\tanswer\n" + "".join(
    f"q {n}\tone answer that stands beside each of these\n" for n in range(8)
)
# Each tool of Doctor asked well, with what it then answers, and asked badly, with what it says.
OF_DOCTOR = [
    ("explain_loss_value", {"value": 5.545, "loss": "siglip", "language": "zh"},
     lambda answer: answer["findings"][0]["losses"][0]["counts"] == {"batch": 8}
     and "坍缩" in answer["findings"][0]["said"]),
    ("explain_loss_value", {"value": 5.545, "loss": "nowhere"},
     pattern_of("problem.unknown_loss", name="nowhere")),
    ("doctor_data", {"loss": "triplet", "table": TABLE, "batch": 4, "margin": 3, "header": False},
     lambda answer: answer["pairs"] == 9
     and "margin_beyond" in {one["name"] for one in answer["findings"]}),
    ("doctor_data", {"table": TABLE, "margin": 1e9},
     pattern_of("problem.explain_setting", name="margin")),
    ("doctor_run", {"values": [2.1, 1.7, None, "NaN"], "loss": "info_nce", "batch": 8},
     lambda answer: answer["findings"][0]["values"]
     == {"count": 2, "kind": "NaN", "step": 3, "last": 4}),
    ("doctor_run", {"log": ""}, pattern_of("problem.run_nothing_given")),
    ("doctor_pasted", {"text": "2.09 2.081", "negatives": 7},
     lambda answer: answer["kind"] == "numbers" and answer["explained"]["count"] == 2
     and answer["explained"]["findings"][0]["kinds"][0] == "collapse"),
    ("doctor_pasted", {"text": "noise\nloss: 0.7\nloss: nan\nloss: nan\n"},
     lambda answer: answer["run"]["findings"][0]["name"] == "not_finite"
     and answer["left_lines"] == [1]),
    ("doctor_pasted", {"text": TABLE}, lambda answer: answer["data"]["pairs"] == 8),
    ("doctor_pasted", {"text": "hello"}, pattern_of("problem.pasted_unknown", text="hello")),
    ("figure", {"scene": OF_NUMBERS.to_link()},
     lambda answer: answer["svg"].startswith("<svg") and answer["kind"] == "matrix"),
    ("figure", {"scene": "#nothing"}, pattern_of("problem.link_damaged")),
]  # fmt: skip


def test_each_tool_of_doctor_answers_and_refuses(address):
    """In one session, as a program has it."""
    _, answers = ask(address, *((name, given) for name, given, _ in OF_DOCTOR))
    for (name, given, expected), answered in zip(OF_DOCTOR, answers, strict=True):
        text = answered.content[0].text
        if isinstance(expected, re.Pattern):
            assert answered.isError, (name, given)
            assert expected.search(text), (name, text)
        else:
            assert not answered.isError, (name, text)
            assert expected(json.loads(text)), (name, text[:2000])


@pytest.mark.encoder
def test_the_examples_in_the_documentation_are_true():
    done = [doctest.testmod(module) for module in (api, dataset_diagnosis, run_diagnosis)]
    assert sum(one.attempted for one in done) >= 14
    assert not any(one.failed for one in done)


def training_pairs(count=24):
    first = [f"A man eats dish number {i}." for i in range(count)]
    second = [f"Somebody has meal number {i}." for i in range(count)]
    return {"sentences1": first, "sentences2": second, "scores": [i % 3 for i in range(count)]}


@pytest.mark.parametrize(
    ("options", "key", "values"),
    [
        ({"own_loss": "/etc/passwd:x"}, "training_entry_unknown", {"where": "options.own_loss"}),
        ({"data": {"file": "/etc/passwd"}}, "training_entry_unknown", {"where": "options.data"}),
        ({"steps": -1}, "parameter_range", {"name": "steps", "value": -1}),
        ({"stepps": 1}, "training_entry_unknown", {"where": "plan.stepps"}),
        ([], "api_object", {"name": "options"}),
    ],
    ids=str,
)
def test_options_that_do_not_fit(options, key, values, kept):
    with raises_problem(key, **values):
        api.start_training("cosent", **training_pairs(), options=options)
    assert not kept.exists()


def test_no_such_training(kept):
    for ask_of, name in (
        (api.training_status, "../../etc"),
        (api.stop_training, "nobody"),
        (api.unshare_training, "nobody"),
    ):
        with raises_problem("training_no_run", name=name):
            ask_of(name)
