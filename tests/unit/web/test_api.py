"""The endpoints and MCP tools answer with explore()'s numbers, or with a sentence."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import doctest
import json
import math
from typing import get_args, get_type_hints

import httpx
import pytest
import torch
from gradio_client import Client
from gradio_client.exceptions import AppError
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

from explorer.core.explore import explore
from explorer.core.scenario import Data, Scenario
from explorer.export.figure.bars import bars_figure
from explorer.export.figure.matrix import matrix_figure
from explorer.export.figure.pixels import rasterised
from explorer.lab.compare.sides import Side, compare
from explorer.runtime.limits import TRACED_PAIRS
from explorer.runtime.problem import Problem
from explorer.sources.encoders import EMBEDDED
from explorer.sources.random_batch import RandomBatch
from explorer.web.api import endpoints as api
from explorer.web.programs import Refusal, endpoint
from losses import LOSSES
from tests.loops import in_loop

KEYS = {
    "loss",
    "scores",
    "labels",
    "label_range",
    "threshold",
    "positive_pairs",
    "score_gradient",
    "projected_gradient",
    "ordered_pairs",
    "violated_pairs",
    "active_terms",
    "effective_terms",
    "spearman",
    "gradient_norm",
    "collapse_value",
    "floor",
    "floor_is_bound",
    "heaviest_terms",
    "device",
    "milliseconds",
}
NAMES = {
    "compute_loss",
    "loss_from_scores",
    "trace_loss",
    "compare_losses",
    "explain_loss_value",
    "doctor_data",
    "doctor_run",
    "figure",
    "list_losses",
    "start_training",
    "training_status",
    "stop_training",
    "unshare_training",
}

FIRST = ["A man eats pasta.", "A girl plays the violin.", "Two dogs run.", "It rains in Rome."]
SECOND = ["Someone has a meal.", "A child makes music.", "A cat sleeps.", "The stock market fell."]
LABELS = [1.0, 0.8, 0.2, 0.0]
PAIRS = {"loss": "cosent", "sentences1": FIRST, "sentences2": SECOND, "scores": LABELS}

# S0's batch, and what S0 prints of it.
S0_SCORES, S0_LABELS = [0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]
S0_LOSS = 7.919774e-06
S0_SCALED = [2, 4, 16, 18]
S0_DIFFERENCES = [[0, -2, -14, -16], [2, 0, -12, -14], [14, 12, 0, -2], [16, 14, 2, 0]]
S0_ORDERED = [
    [False, False, True, True],
    [False, False, True, True],
    [False, False, False, False],
    [False, False, False, False],
]
S0_PAIRS = (["a1", "a2", "a3", "a4"], ["b1", "b2", "b3", "b4"])


@pytest.fixture(scope="module")
def client(address):
    return Client(address, verbose=False, analytics_enabled=False)


def same_as_explored(answer, found):
    """Every number of the answer is the one that explore() found."""
    assert set(answer) - {"steps"} == KEYS
    weights = found.weights
    assert answer["loss"] == found.loss
    assert answer["scores"] == found.batch.scores.tolist()
    assert answer["labels"] == found.batch.labels.tolist()
    assert answer["label_range"] == list(found.batch.label_range)
    assert answer["threshold"] == found.batch.threshold
    assert answer["positive_pairs"] == int(found.batch.positive.sum())
    by_score = found.score_gradient
    assert (answer["score_gradient"] is None) == (by_score is None)
    if by_score is not None:
        told = [float(value) for value in answer["score_gradient"]]
        assert told == pytest.approx(by_score.tolist(), nan_ok=True)
    projected = found.pair_gradient.tolist() if found.is_projected else None
    assert answer["projected_gradient"] == projected
    assert answer["ordered_pairs"] == found.order.ordered
    assert answer["violated_pairs"] == found.order.violated
    assert answer["spearman"] == found.order.spearman
    assert answer["active_terms"] == weights.active
    assert answer["effective_terms"] == weights.effective
    assert answer["gradient_norm"] == found.gradient_norm
    assert answer["collapse_value"] == found.collapse
    assert answer["floor"] == found.floor
    assert answer["floor_is_bound"] == found.floor_is_bound
    said = [(term["value"], term["weight"]) for term in answer["heaviest_terms"]]
    assert said == [(term.value, term.share) for term in found.heaviest]
    assert answer["device"] == found.device
    assert answer["milliseconds"] > 0


def typed(loss="cosent", **parameters):
    """The scene as a person would type it into the page's table."""
    rows = tuple(zip(FIRST, SECOND, map(str, LABELS), strict=True))
    data = Data(source="table", rows=rows)
    return Scenario(data=data, loss=loss, parameters=tuple(parameters.items()))


def test_a_figure_is_the_pages_and_leads_back(client):
    """Of pairs, then of the link that it answers, and of one that explain_loss_value answers."""
    given = {"sentences1": FIRST, "sentences2": SECOND, "scores": LABELS, "encoder": "all alike"}
    asked = {"loss": "info_nce", **given, "step": "logits", "facet": "gradient", "language": "zh"}
    drawn = client.predict(**asked, api_name="/figure")
    scene = Scenario.from_link(drawn["scene"])
    assert (drawn["kind"], drawn["step"], drawn["facet"]) == ("matrix", "logits", "gradient")
    assert drawn["svg"] == matrix_figure(explore(scene), language="zh")
    again = api.figure(f"http://127.0.0.1:7860/#{drawn['scene']}", language="zh")
    assert again == drawn
    bars = api.figure(drawn["scene"], kind="bars", dark=True)
    assert bars["svg"] == bars_figure(explore(scene), dark=True)
    of_a_number = api.explain_loss_value(5.545, "siglip")["findings"][0]["losses"][0]["scene"]
    assert "5.545" in api.figure(of_a_number, step="loss")["svg"]
    pixels = client.predict(drawn["scene"], language="zh", format="png", api_name="/figure")
    raster = rasterised(drawn["svg"])
    assert base64.b64decode(pixels["png"]) == raster.png
    assert (pixels["remark"] or "") == raster.said("zh")
    assert pixels == {**drawn, "svg": None, "png": pixels["png"], "remark": pixels["remark"]}


# ---- The numbers -------------------------------------------------------------------------------


@pytest.mark.encoder
@pytest.mark.parametrize("loss", ["cosent", "info_nce", "triplet"])
def test_compute_loss_is_the_pages_table(client, loss):
    answer = client.predict(loss, FIRST, SECOND, LABELS, api_name="/compute_loss")
    same_as_explored(answer, explore(typed(loss)))


@pytest.mark.encoder
def test_parameters_and_encoder_are_passed_on(client):
    asked = PAIRS | {"parameters": {"scale": 5}, "encoder": "sentence-transformers/" + EMBEDDED}
    answer = client.predict(**asked, api_name="/compute_loss")
    same_as_explored(answer, explore(typed("cosent", scale=5.0)))
    elsewhere = asked | {"encoder": "/no/such/folder"}
    with pytest.raises(AppError, match=r"There is no folder “/no/such/folder”"):
        client.predict(**elsewhere, api_name="/compute_loss")


@pytest.mark.encoder
def test_trace_loss_adds_the_steps_of_explores_trace(client):
    answer = client.predict("angle", FIRST, SECOND, LABELS, api_name="/trace_loss")
    found = explore(typed("angle"))
    same_as_explored(answer, found)
    traced = [*found.trace.inputs, *found.trace.steps]
    assert len(answer["steps"]) == len(traced)
    for said, step in zip(answer["steps"], traced, strict=True):
        keys = {"name", "line", "source", "latex", "axes", "shape", "value", "gradient"}
        assert set(said) == keys
        assert (said["name"], said["line"], said["source"]) == (step.name, step.line, step.source)
        assert said["shape"] == list(step.value.shape)
        assert len(said["axes"]) == len(said["shape"])
        # float("-inf") reads the word that stands for a masked cell.
        assert torch.equal(read(said["value"]), step.value.double())
        assert (said["gradient"] is None) == (step.gradient is None)
        if step.gradient is not None:
            assert torch.equal(read(said["gradient"]), step.gradient.double())


def read(value):
    """Nested lists back to a tensor."""
    if isinstance(value, list):
        return torch.stack([read(inner) for inner in value])
    return torch.tensor(float(value), dtype=torch.float64)


def test_the_sources_batch_gives_the_sources_loss(client):
    answer = client.predict(
        "cosent", S0_SCORES, S0_LABELS, {"scale": 20}, api_name="/loss_from_scores"
    )
    assert answer["loss"] == pytest.approx(S0_LOSS, rel=1e-6)
    assert answer["collapse_value"] == pytest.approx(math.log(5))
    assert (answer["ordered_pairs"], answer["violated_pairs"]) == (4, 0)
    found = explore(Scenario(data=Data(example="cosent_batch"), parameters=(("scale", 20.0),)))
    same_as_explored(answer, found)


def test_the_sources_intermediates_are_traced(client):
    answer = client.predict(
        "cosent",
        *S0_PAIRS,
        S0_LABELS,
        {"scale": 20},
        similarities=S0_SCORES,
        api_name="/trace_loss",
    )
    assert answer["loss"] == pytest.approx(S0_LOSS, rel=1e-6)
    steps = {step["name"]: step for step in answer["steps"]}
    assert list(steps) == ["scores", "labels", "scaled", "differences", "ordered", "terms", "loss"]
    assert steps["scores"]["value"] == S0_SCORES
    assert steps["scaled"]["value"] == S0_SCALED
    assert steps["differences"]["value"] == S0_DIFFERENCES
    assert steps["ordered"]["value"] == S0_ORDERED
    assert steps["terms"]["value"] == [
        [d if kept else "-inf" for d, kept in zip(*rows, strict=True)]
        for rows in zip(S0_DIFFERENCES, S0_ORDERED, strict=True)
    ]
    assert steps["terms"]["axes"] == ["pair", "pair"]
    assert steps["loss"]["value"] == answer["loss"]
    assert steps["loss"]["gradient"] == 1
    # e^(−14) / (1 + e^(−14) + …), the weight of one exponential in the gradient
    total = 1 + sum(math.exp(20 * (low - high)) for low in (0.1, 0.2) for high in (0.8, 0.9))
    assert steps["terms"]["gradient"][0][2] == pytest.approx(math.exp(-14) / total)


ON_LISTS = [name for name, spec in LOSSES.items() if "lists" in spec.needs]


@pytest.mark.parametrize("loss", [name for name in LOSSES if name not in ON_LISTS])
def test_every_loss_takes_scores(loss):
    settings = RandomBatch(pairs=12, dimension=8, seed=3)
    batch = explore(Scenario(data=Data(source="random", random=settings))).batch
    given = batch.scores.tolist(), batch.labels.tolist()
    answer = api.loss_from_scores(loss, *given, label_range=[*batch.label_range])
    text = json.dumps(answer, allow_nan=False)
    assert math.isfinite(json.loads(text)["loss"])
    if all(what in ("scores", "labels", "binary_labels") for what in LOSSES[loss].reads.values()):
        same = explore(Scenario(data=Data(source="random", random=settings), loss=loss))
        assert answer["loss"] == pytest.approx(same.loss)


@pytest.mark.parametrize("loss", ON_LISTS)
def test_scores_alone_are_no_lists(loss):
    with pytest.raises(Problem, match="compares the second sentences of one first sentence"):
        api.loss_from_scores(loss, S0_SCORES, S0_LABELS)


@pytest.mark.parametrize("loss", [n for n, s in LOSSES.items() if "teacher" not in s.needs])
def test_every_trace_is_json_and_small_enough_to_send(loss):
    count = TRACED_PAIRS
    scores = torch.linspace(-0.9, 0.9, count).tolist()
    labels = [place % 4 for place in range(count)]
    each = 4 if loss in ON_LISTS else 1
    names = ([f"a{place // each}" for place in range(count)], [f"b{n}" for n in range(count)])
    answer = api.trace_loss(loss, *names, labels, similarities=scores)
    text = json.dumps(answer, allow_nan=False)
    assert len(text) < 10_000_000
    assert [len(step["axes"]) for step in answer["steps"]] == [
        len(step["shape"]) for step in answer["steps"]
    ]


def test_i_and_j_are_those_of_the_formula():
    """In cosent pair i should stand above pair j; in info_nce i is a query and j a key."""
    scores, labels = [0.9, 0.1, 0.5], [0, 1, 1]
    heaviest = api.loss_from_scores("cosent", scores, labels)["heaviest_terms"]
    assert [(term["i"], term["j"]) for term in heaviest] == [(1, 0), (2, 0)]
    for term in heaviest:
        expected = 20 * (scores[term["j"]] - scores[term["i"]])
        assert term["value"] == pytest.approx(expected)
    heaviest = api.loss_from_scores("info_nce", scores, labels)["heaviest_terms"]
    # The positives are the pairs 1 and 2: only they have queries.
    assert {term["i"] for term in heaviest} == {1, 2}
    assert {term["j"] for term in heaviest} == {0, 1, 2}
    alone = api.loss_from_scores("cosine_mse", scores, labels)["heaviest_terms"]
    assert [(term["i"], term["j"]) for term in alone][:2] == [(0, None), (1, None)]


def test_what_does_not_exist_is_null():
    answer = api.loss_from_scores("cosent", [0.5, 0.5], [1, 1])
    assert answer["loss"] == 0
    assert answer["spearman"] is None
    assert (answer["active_terms"], answer["heaviest_terms"]) == (0, [])
    multitask = api.loss_from_scores("multitask_cosent", S0_SCORES, S0_LABELS)
    assert multitask["collapse_value"] is None


CLIP = "CLIP (initial temperature)"
NAMED = [
    {"loss": "cosent", "parameters": {"scale": 5}},
    {"loss": "info_nce", "convention": CLIP},
    {"loss": "triplet", "parameters": {"margin": "wide"}},
]


@pytest.mark.encoder
def test_compared_losses_are_those_of_explore(client):
    pairs = {"sentences1": FIRST, "sentences2": SECOND, "scores": LABELS}
    answer = client.predict(NAMED, **pairs, api_name="/compare_losses")
    scenes = [typed("cosent", scale=5.0), typed("info_nce")]
    scenes[1] = dataclasses.replace(scenes[1], convention=CLIP)
    for told, scene in zip(answer["losses"], scenes, strict=False):
        found = explore(scene)
        assert told["of"]["parameters"] == found.parameters
        assert told["problem"] is None
        assert (told["loss"], told["floor"]) == (found.loss, found.floor)
        assert told["collapse_value"] == found.collapse
        assert told["gradient_norm"] == found.gradient_norm
        assert told["effective_terms"] == found.weights.effective
        assert (told["looks_for"] == "key") == (found.places is not None)
    refused = answer["losses"][2]
    assert refused["problem"].startswith("margin is wide; accepted are numbers")
    assert (refused["loss"], refused["score_gradient"], refused["of"]["parameters"]) == (
        None,
        None,
        {},
    )
    (two,) = answer["two"]
    expected = compare(typed(), [Side("cosent", "", (("scale", 5.0),)), Side("info_nce", CLIP)])
    between = expected.between[0]
    assert (two["first"], two["second"], two["comparable"]) == (0, 1, False)
    assert (two["tau"], two["cosine"], two["factor"]) == (between.tau, between.cosine, None)
    assert two["disagreement"]["pair"] == between.apart.pair
    assert [one["said"] for one in two["reasons"]] == [one.said() for one in between.reasons]


def test_many_comparisons_wait_their_turn_on_a_hosted_page(monkeypatch):
    """Heavy work by the pairs of all losses together; a few go on at once."""
    begun = []
    monkeypatch.setattr(api.jobs, "in_turn", lambda: begun.append(1) or contextlib.nullcontext())
    names = [f"a{i}" for i in range(64)], [f"b{i}" for i in range(64)]
    given = {"scores": [i % 3 for i in range(64)], "similarities": [i / 64 for i in range(64)]}
    for losses, expected in ((["cosent"] * 4, 0), (["cosent"] * 5, 1)):
        api.compare_losses([{"loss": one} for one in losses], *names, **given)
        assert len(begun) == expected


def test_list_losses_is_the_registry(client):
    listed = {loss["name"]: loss for loss in client.predict(api_name="/list_losses")}
    assert list(listed) == list(LOSSES)
    for name, spec in LOSSES.items():
        said = listed[name]
        assert (said["title"], said["group"], said["formula"]) == (
            spec.title,
            spec.group,
            spec.formula,
        )
        assert said["reads"] == dict(spec.reads)
        assert said["references"] == list(spec.references)
        assert said["aliases"] == list(spec.aliases)
        assert [c["name"] for c in said["conventions"]] == [c.name for c in spec.conventions]
        assert said["collapse_formula"] == (spec.collapse_formula or None)
        assert said["floor_formula"] == (spec.floor_formula or None)
        for parameter in said["parameters"]:
            default = parameter["default"]
            if parameter["kind"] == "choice":
                assert default in parameter["choices"]
            elif parameter["kind"] == "number":
                assert parameter["minimum"] <= default <= parameter["maximum"]
    assert listed["cosent"]["parameters"][0] == {
        "name": "scale",
        "symbol": r"\lambda",
        "kind": "number",
        "default": 20.0,
        "minimum": 0.1,
        "maximum": 1000.0,
        "choices": [],
    }


def test_the_defaults_that_are_listed_are_the_ones_that_are_used():
    for loss in api.list_losses():
        if loss["name"] in ON_LISTS:
            continue
        defaults = {p["name"]: p["default"] for p in loss["parameters"]}
        said = api.loss_from_scores(loss["name"], S0_SCORES, S0_LABELS, defaults)
        left_out = api.loss_from_scores(loss["name"], S0_SCORES, S0_LABELS)
        assert said["loss"] == left_out["loss"], loss["name"]


# ---- The sentences -----------------------------------------------------------------------------

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
    "loss": ("compute_loss", PAIRS | {"loss": "cosnet"}, "There is no loss called cosnet. Known:"),
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
    "two logs": (
        "doctor_run",
        {"log": "step,loss", "values": [1]},
        "Give either the text of a log or the values of a loss, not both.",
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
        "batch is 0; a whole number from 1 to 1048576 is needed.",
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
        "encoded is 1000000; from 10 to 16384 pairs can be read by an encoder.",
    ),
    "too few rows": (
        "doctor_data",
        {"hub": "sentence-transformers/stsb", "rows": 1},
        "1 rows were asked for; from 10 to 1048576",
    ),
    "classes for an encoder": (
        "doctor_data",
        {"table": "text,class\na,x\nb,y\n", "encoder": "all-MiniLM-L6-v2"},
        "This is a table of texts with classes.",
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
        "format is “'gif'”; choose one of svg, png.",
    ),
    "no scene": ("figure", {"scene": "#1.not-a-link"}, "This link is incomplete or damaged"),
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
    assert said.startswith("scores[1] is nan;")
    said = sent(r'{"data": ["\ud800", [0.5, 0.1], [0, 1], {}, "", ' + rules + "]}")
    assert said.startswith("There is no loss called \ufffd.")


def test_a_defect_of_ours_is_told_apart(monkeypatch, capsys):
    def broken():
        raise KeyError("secret")

    with pytest.raises(Refusal) as refused:
        endpoint(broken)()
    assert str(refused.value) == str(Problem("internal"))
    assert "secret" in capsys.readouterr().err


# ---- What the server offers --------------------------------------------------------------------


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
        told = served["returns"][0]["type"]
        if name == "list_losses":
            assert told["type"] == "array"
            told = told["items"]
        promised = get_type_hints(function)["return"]
        kinds = get_args(promised) or (promised,)  # the entries of a list, or one of several
        shown = told["anyOf"] if len(kinds) > 1 else [told]
        for one, kind in zip(shown, kinds, strict=True):
            assert one["properties"].keys() == get_type_hints(kind).keys()


def test_its_description_for_programs_names_the_same_calls(address):
    described = httpx.get(f"{address}/gradio_api/openapi.json").json()["paths"]
    assert {f"/gradio_api/call/v2/{name}" for name in NAMES} <= set(described)


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
    compute = next(tool for tool in tools if tool.name == "compute_loss")
    assert compute.inputSchema["required"] == ["loss", "sentences1", "sentences2"]
    fields = compute.inputSchema["properties"]
    numbers = {"type": "array", "items": {"type": "number"}}
    assert fields["scores"]["oneOf"] == [{"type": "null"}, numbers]
    assert all(field["description"] for field in fields.values())
    assert ">>> answer = compute_loss(" in compute.description


OF_NUMBERS = Scenario(data=Data(source="random", random=RandomBatch(pairs=4, dimension=4)))


def test_mcp_tools_answer_in_json_and_refuse_in_sentences(address):
    given = {"loss": "cosent", "scores": S0_SCORES, "labels": S0_LABELS}
    _, (answered, listed, refused, drawn) = ask(
        address,
        ("loss_from_scores", given),
        ("list_losses", {}),
        ("loss_from_scores", given | {"loss": "cosnet"}),
        ("figure", {"scene": OF_NUMBERS.to_link(), "format": "png"}),
    )
    assert not answered.isError
    answer = json.loads(answered.content[0].text)
    same_as_explored(answer, explore(Scenario(data=Data(example="cosent_batch"))))
    assert answer["loss"] == pytest.approx(S0_LOSS, rel=1e-6)
    assert [loss["name"] for loss in json.loads(listed.content[0].text)] == list(LOSSES)
    assert refused.isError
    assert refused.content[0].text.startswith("There is no loss called cosnet. Known: cosent,")
    told, image = drawn.content  # a model looks at an image, and reads no base64
    assert (image.type, image.mimeType) == ("image", "image/png")
    assert base64.b64decode(image.data)[:8] == b"\x89PNG\r\n\x1a\n"
    assert json.loads(told.text)["png"] is None


@pytest.mark.encoder
def test_the_examples_in_the_documentation_are_true():
    done = doctest.testmod(api)
    assert done.attempted >= 10
    assert done.failed == 0


# ---- Training ----------------------------------------------------------------------------------


def training_pairs(count=24):
    first = [f"A man eats dish number {i}." for i in range(count)]
    second = [f"Somebody has meal number {i}." for i in range(count)]
    return {"sentences1": first, "sentences2": second, "scores": [i % 3 for i in range(count)]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"own_loss": "/etc/passwd:x"}, "options.own_loss is not an entry"),
        ({"data": {"file": "/etc/passwd"}}, "options.data is not an entry"),
        ({"steps": -1}, "steps is -1"),
        ({"stepps": 1}, "plan.stepps"),
        ([], "options"),
    ],
    ids=str,
)
def test_options_that_do_not_fit(options, said, kept):
    with pytest.raises(Problem, match=said):
        api.start_training("cosent", **training_pairs(), options=options)
    assert not kept.exists()


def test_no_such_training(kept):
    with pytest.raises(Problem, match="no run called"):
        api.training_status("../../etc")
    with pytest.raises(Problem, match="no run called"):
        api.stop_training("nobody")
    with pytest.raises(Problem, match="no run called"):
        api.unshare_training("nobody")


# ---- Conventions -------------------------------------------------------------------------------


@pytest.mark.encoder
@pytest.mark.parametrize(
    ("loss", "convention"),
    [
        ("pairwise_logistic", "sentence-transformers (mean / ln 2)"),
        ("pairwise_logistic", "rax"),
        ("contrastive", "pytorch-metric-learning"),
    ],
)
def test_every_endpoint_computes_another_librarys_definition(client, loss, convention):
    asked = PAIRS | {"loss": loss, "convention": convention}
    found = explore(dataclasses.replace(typed(loss), convention=convention))
    answer = client.predict(**asked, api_name="/compute_loss")
    same_as_explored(answer, found)
    traced = client.predict(**asked, api_name="/trace_loss")
    same_as_explored(traced, found)
    assert traced["steps"][-1]["value"] == found.loss
    ours = client.predict(**(asked | {"convention": ""}), api_name="/compute_loss")
    given = {"loss": loss, "scores": answer["scores"], "labels": LABELS}
    from_scores = client.predict(**given, convention=convention, api_name="/loss_from_scores")
    assert from_scores["loss"] == pytest.approx(answer["loss"], rel=1e-9)
    assert ours["loss"] == pytest.approx(explore(typed(loss)).loss)
    assert ours["loss"] != pytest.approx(answer["loss"], rel=1e-3)


def test_a_convention_no_one_knows_is_refused_with_those_there_are(client):
    for unknown in ("rust", 7):
        with pytest.raises(AppError, match=r"rust|is 7; text is needed") as refused:
            client.predict(
                "cosine_mse", S0_SCORES, S0_LABELS, None, unknown, api_name="/loss_from_scores"
            )
        assert unknown == 7 or "Known: sentence-transformers" in str(refused.value)


def test_without_scores_all_pairs_are_positives():
    pairs = {"sentences1": FIRST, "sentences2": SECOND}
    found = api.compute_loss("info_nce", **pairs)
    assert found["labels"] == [1.0] * 4
    assert found["spearman"] is None
    assert found["loss"] == api.compute_loss("info_nce", **pairs, scores=[1, 1, 1, 1])["loss"]
    traced = api.trace_loss("info_nce", **pairs, similarities=[0.1, 0.2, 0.3, 0.4])
    assert traced["scores"] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    for asked in (api.compute_loss, api.trace_loss, api.start_training):
        many = {
            name: [f"{one} {i}" for one in values for i in range(4)]
            for name, values in pairs.items()
        }
        with pytest.raises(Problem, match=r"these pairs have none.*InfoNCE"):
            asked("cosent", **many)


def test_data_are_examined(client):
    """By the names that the command and the page have, from lists and from a table."""
    rows = {"sentences1": ["a", "A ", "c", "c"], "sentences2": ["b", "b", "d", "d"]}
    found = client.predict("cosent", *rows.values(), [1, 0, 0.5, 0.5], api_name="/doctor_data")
    assert [(one["name"], one["pairs"]) for one in found["findings"]] == [
        ("conflicting_labels", [1, 2]), ("copies", [3, 4])
    ]  # fmt: skip
    assert found["severe"]
    assert found["left_out"][-1] == {"pair": 4, "because": "copies"}
    table = "query\tanswer\n" + "".join(f"q {n}\tsame\n" for n in range(8))
    of_table = {"loss": "MultipleNegativesRankingLoss", "table": table, "batch": 4}
    found = client.predict(**of_table, language="zh", api_name="/doctor_data")
    assert [one["name"] for one in found["findings"]] == ["twins"]
    assert "正例" in found["findings"][0]["said"]
    assert found["columns"]["first"] == "query"
    assert found["met"]["pairs"] == 6
    assert {one["loss"] for one in found["suited"]} >= {"info_nce", "siglip"}
