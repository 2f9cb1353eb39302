"""The endpoints and MCP tools answer with explore()'s numbers, or with a sentence."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import math

import pytest
import torch
from gradio_client.exceptions import AppError

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.pair_gradient_bars import bars_figure
from lossprism.explorer.export.figure.png import as_png
from lossprism.explorer.export.interactive_figure import interactive_figure
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_comparison import compare
from lossprism.explorer.runtime.limits import TRACED_PAIRS
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.api import endpoint_functions as api
from lossprism.losses import LOSSES
from tests.sentences import pattern_of, raises_problem
from tests.unit.web.programs import (
    FIRST,
    LABELS,
    PAIRS,
    S0_LABELS,
    S0_LOSS,
    S0_SCORES,
    SECOND,
    same_as_explored,
)

S0_SCALED = [2, 4, 16, 18]
S0_DIFFERENCES = [[0, -2, -14, -16], [2, 0, -12, -14], [14, 12, 0, -2], [16, 14, 2, 0]]
S0_ORDERED = [
    [False, False, True, True],
    [False, False, True, True],
    [False, False, False, False],
    [False, False, False, False],
]
S0_PAIRS = (["a1", "a2", "a3", "a4"], ["b1", "b2", "b3", "b4"])


def typed(loss="cosent", **parameters):
    """The scenario as a person would type it into the page's table."""
    rows = tuple(zip(FIRST, SECOND, map(str, LABELS), strict=True))
    data = Data(source="table", rows=rows)
    return Scenario(data=data, loss=loss, parameters=tuple(parameters.items()))


def test_a_figure_is_the_pages_and_leads_back(client):
    """Of pairs, then of the link that it answers, and of one that explain_loss_value answers."""
    given = {"sentences1": FIRST, "sentences2": SECOND, "scores": LABELS, "encoder": "all alike"}
    request = {"loss": "info_nce", **given, "step": "logits", "facet": "gradient", "language": "zh"}
    drawn = client.predict(**request, api_name="/figure")
    scenario = Scenario.from_link(drawn["scene"])
    assert (drawn["kind"], drawn["step"], drawn["facet"]) == ("matrix", "logits", "gradient")
    assert drawn["svg"] == matrix_figure(explore(scenario), language="zh")
    again = api.figure(f"http://127.0.0.1:7860/#{drawn['scene']}", language="zh")
    assert again == drawn
    page = api.figure(drawn["scene"], language="zh", format="html")
    assert page["html"] == interactive_figure(explore(scenario), language="zh")
    assert page["svg"] is page["png"] is page["pdf"] is None
    light = api.figure(drawn["scene"], dark=True, palette="light", format="html")
    assert light["html"] == interactive_figure(explore(scenario))
    of_bars = api.figure(drawn["scene"], kind="bars", format="html")["html"]
    assert of_bars.startswith("<!doctype html>")
    assert 'class="bar"' in of_bars
    bars = api.figure(drawn["scene"], kind="bars", dark=True)
    assert bars["svg"] == bars_figure(explore(scenario), dark=True)
    of_a_number = api.explain_loss_value(5.545, "siglip")["findings"][0]["losses"][0]["scene"]
    assert "5.545" in api.figure(of_a_number, step="loss")["svg"]
    pixels = client.predict(drawn["scene"], language="zh", format="png", api_name="/figure")
    raster = as_png(drawn["svg"])
    assert base64.b64decode(pixels["png"]) == raster.content
    assert (pixels["remark"] or "") == raster.remark("zh")
    assert pixels == {**drawn, "svg": None, "png": pixels["png"], "remark": pixels["remark"]}


# ---- The numbers -------------------------------------------------------------------------------


@pytest.mark.encoder
@pytest.mark.parametrize("loss", ["cosent", "info_nce", "triplet"])
def test_compute_loss_is_the_pages_table(client, loss):
    answer = client.predict(loss, FIRST, SECOND, LABELS, api_name="/compute_loss")
    same_as_explored(answer, explore(typed(loss)))


@pytest.mark.encoder
def test_parameters_and_encoder_are_passed_on(client):
    requested = PAIRS | {"parameters": {"scale": 5}, "encoder": "sentence-transformers/" + EMBEDDED}
    answer = client.predict(**requested, api_name="/compute_loss")
    same_as_explored(answer, explore(typed("cosent", scale=5.0)))
    elsewhere = requested | {"encoder": "/no/such/folder"}
    with raises_problem("encoder_folder_missing", AppError, encoder="/no/such/folder"):
        client.predict(**elsewhere, api_name="/compute_loss")


@pytest.mark.encoder
def test_trace_loss_adds_the_steps_of_explores_trace(client):
    answer = client.predict("angle", FIRST, SECOND, LABELS, api_name="/trace_loss")
    found = explore(typed("angle"))
    same_as_explored(answer, found)
    traced = [*found.trace.inputs, *found.trace.steps]
    assert len(answer["steps"]) == len(traced)
    for sent, step in zip(answer["steps"], traced, strict=True):
        keys = {"name", "line", "source", "latex", "axes", "shape", "value", "gradient"}
        assert set(sent) == keys
        assert (sent["name"], sent["line"], sent["source"]) == (step.name, step.line, step.source)
        assert sent["shape"] == list(step.value.shape)
        assert len(sent["axes"]) == len(sent["shape"])
        # float("-inf") reads the word that stands for a masked cell.
        assert torch.equal(read(sent["value"]), step.value.double())
        assert (sent["gradient"] is None) == (step.gradient is None)
        if step.gradient is not None:
            assert torch.equal(read(sent["gradient"]), step.gradient.double())


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
# They learn an encoder's vectors, and scores have none.
ON_VECTORS = [name for name, spec in LOSSES.items() if "teacher_vectors" in spec.needs]


@pytest.mark.parametrize("loss", [name for name in LOSSES if name not in (*ON_LISTS, *ON_VECTORS)])
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
    with raises_problem("no_lists"):
        api.loss_from_scores(loss, S0_SCORES, S0_LABELS)


@pytest.mark.parametrize(
    "loss", [n for n, s in LOSSES.items() if not {"teacher", "teacher_vectors"} & s.needs]
)
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


CLIP = "CLIP (initial temperature), open_clip 3.3.0 ClipLoss"
NAMED = [
    {"loss": "cosent", "parameters": {"scale": 5}},
    {"loss": "info_nce", "convention": CLIP},
    {"loss": "triplet", "parameters": {"margin": "wide"}},
]


@pytest.mark.encoder
def test_compared_losses_are_those_of_explore(client):
    pairs = {"sentences1": FIRST, "sentences2": SECOND, "scores": LABELS}
    answer = client.predict(NAMED, **pairs, api_name="/compare_losses")
    scenarios = [typed("cosent", scale=5.0), typed("info_nce")]
    scenarios[1] = dataclasses.replace(scenarios[1], convention=CLIP)
    for result, scenario in zip(answer["losses"], scenarios, strict=False):
        found = explore(scenario)
        assert result["of"]["parameters"] == found.parameters
        assert result["problem"] is None
        assert (result["loss"], result["floor"]) == (found.loss, found.floor)
        assert result["collapse_value"] == found.collapse
        assert result["gradient_norm"] == found.gradient_norm
        assert result["effective_terms"] == found.weights.effective
        assert (result["looks_for"] == "key") == (found.places is not None)
    refused = answer["losses"][2]
    beyond = pattern_of("problem.parameter_range", name="margin", value="wide")
    assert beyond.fullmatch(refused["problem"])
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
    disagreement = two["disagreement"]
    assert disagreement["pair"] == between.apart.pair
    written = [one.written() for one in between.apart.sentences]
    assert [one["said"] for one in disagreement["sentences"]] == written
    assert disagreement["told"] == disagreement["sentences"]  # the former name
    assert [one["said"] for one in two["reasons"]] == [one.written() for one in between.reasons]


def test_many_comparisons_wait_their_turn_on_a_hosted_page(monkeypatch):
    """Heavy work by the pairs of all losses together; a few go on at once."""
    begun = []
    monkeypatch.setattr(
        api.jobs, "heavy_work_turn", lambda: begun.append(1) or contextlib.nullcontext()
    )
    names = [f"a{i}" for i in range(64)], [f"b{i}" for i in range(64)]
    given = {"scores": [i % 3 for i in range(64)], "similarities": [i / 64 for i in range(64)]}
    for losses, expected in ((["cosent"] * 4, 0), (["cosent"] * 5, 1)):
        api.compare_losses([{"loss": one} for one in losses], *names, **given)
        assert len(begun) == expected


def test_list_losses_is_the_registry(client):
    listed = {loss["name"]: loss for loss in client.predict(detail="full", api_name="/list_losses")}
    assert list(listed)[: len(LOSSES)] == list(LOSSES)
    assert all(name in LOSSES for name in listed)  # the recipes, which are sums, too
    for name, spec in LOSSES.items():
        message = listed[name]
        assert (message["title"], message["group"], message["formula"]) == (
            spec.title,
            spec.group,
            spec.formula,
        )
        assert message["reads"] == dict(spec.reads)
        assert message["references"] == list(spec.references)
        assert message["aliases"] == list(spec.aliases)
        assert [c["name"] for c in message["conventions"]] == [c.name for c in spec.conventions]
        assert message["collapse_formula"] == (spec.collapse_formula or None)
        assert message["floor_formula"] == (spec.floor_formula or None)
        for parameter in message["parameters"]:
            default = parameter["default"]
            if parameter["kind"] == "choice":
                assert default in parameter["choices"]
            elif parameter["kind"] == "number" and default is not None:
                assert parameter["minimum"] <= default <= parameter["maximum"]
            assert default is not None or parameter["can_be_off"]
    assert listed["cosent"]["parameters"][0] == {
        "name": "scale",
        "symbol": r"\lambda",
        "kind": "number",
        "default": 20.0,
        "minimum": 0.1,
        "maximum": 1000.0,
        "can_be_off": False,
        "choices": [],
    }


def test_losses_are_listed_in_a_line_each_until_one_is_named(client):
    short = client.predict(api_name="/list_losses")
    assert len(json.dumps(short)) <= 5000
    lines = {name: line for losses in short.values() for name, line in losses.items()}
    assert set(lines) == {spec.name for spec in LOSSES.known()}
    assert all(lines.values())
    assert all(name in short[LOSSES[name].group] for name in lines)
    full = client.predict(detail="full", api_name="/list_losses")
    for name, loss, convention in (
        ("cosent", "cosent", ""),
        ("InfoNCE", "info_nce", ""),
        ("BatchHardTripletLoss", "triplet", "sentence-transformers 6.2 BatchHard"),
        ("Piccolo", "info_nce+cosent", ""),
        ("matryoshka(CoSENTLoss,64)", "matryoshka(cosent,64)", ""),
    ):
        found = client.predict(name=name, api_name="/list_losses")
        assert (found["name"], found["convention"]) == (loss, convention)
        (whole,) = [one for one in full if one["name"] == loss] or [found]
        assert whole == {key: value for key, value in found.items() if key in whole}
    with raises_problem("loss_ambiguous", name="NTXentLoss", loss="nt_xent"):
        api.list_losses("NTXentLoss")
    with raises_problem("unknown_loss_close", name="cosnet", close="cosent"):
        api.list_losses("cosnet")
    with raises_problem("parameter_choice", name="detail", value="long", known="short, full"):
        api.list_losses(detail="long")


@pytest.mark.encoder
def test_a_parameter_is_off_as_null_as_text_and_by_its_former_number():
    pairs = {
        "sentences1": ["A cat sleeps.", "A dog runs."],
        "sentences2": ["Stocks fell.", "A cat is asleep."],
    }

    def called(**parameters):
        return api.compute_loss("info_nce", **pairs, parameters=parameters)["loss"]

    assert called(mask_above=0.01) < called()
    for off in (None, "off", "none", 1000, 1000.0):
        assert called(mask_above=off) == called()
        sides = [{"loss": "info_nce", "parameters": {"mask_above": off}}, {"loss": "info_nce"}]
        compared = api.compare_losses(sides, **pairs)["losses"]
        assert compared[0]["of"]["parameters"]["mask_above"] is None
        assert compared[0]["loss"] == compared[1]["loss"]
    with raises_problem("parameter_range_or_off", low="0.01", high=999):
        called(mask_above=2000)


def test_the_defaults_that_are_listed_are_the_ones_that_are_used():
    for loss in api.list_losses(detail="full"):
        if loss["name"] in (*ON_LISTS, *ON_VECTORS) or loss["name"] not in list(LOSSES):
            continue
        defaults = {p["name"]: p["default"] for p in loss["parameters"]}
        message = api.loss_from_scores(loss["name"], S0_SCORES, S0_LABELS, defaults)
        left_out = api.loss_from_scores(loss["name"], S0_SCORES, S0_LABELS)
        assert message["loss"] == left_out["loss"], loss["name"]


# ---- Conventions -------------------------------------------------------------------------------


@pytest.mark.encoder
@pytest.mark.parametrize(
    ("loss", "convention"),
    [
        ("pairwise_logistic", "sentence-transformers 6.2 RankNetLoss (mean / ln 2)"),
        ("pairwise_logistic", "rax 0.4.0 pairwise_logistic_loss"),
        ("contrastive", "pytorch-metric-learning 2.9 ContrastiveLoss"),
    ],
)
def test_every_endpoint_computes_another_librarys_definition(client, loss, convention):
    requested = PAIRS | {"loss": loss, "convention": convention}
    found = explore(dataclasses.replace(typed(loss), convention=convention))
    answer = client.predict(**requested, api_name="/compute_loss")
    same_as_explored(answer, found)
    traced = client.predict(**requested, api_name="/trace_loss")
    same_as_explored(traced, found)
    assert traced["steps"][-1]["value"] == found.loss
    ours = client.predict(**(requested | {"convention": ""}), api_name="/compute_loss")
    given = {"loss": loss, "scores": answer["scores"], "labels": LABELS}
    from_scores = client.predict(**given, convention=convention, api_name="/loss_from_scores")
    assert from_scores["loss"] == pytest.approx(answer["loss"], rel=1e-9)
    assert ours["loss"] == pytest.approx(explore(typed(loss)).loss)
    assert ours["loss"] != pytest.approx(answer["loss"], rel=1e-3)


def test_a_convention_no_one_knows_is_refused_with_those_there_are(client):
    requested = ("cosine_mse", S0_SCORES, S0_LABELS, None)
    with raises_problem("unknown_convention", AppError, name="rust") as refused:
        client.predict(*requested, "rust", api_name="/loss_from_scores")
    assert "sentence-transformers" in str(refused.value)
    with raises_problem("api_text", AppError, name="convention", value=7):
        client.predict(*requested, 7, api_name="/loss_from_scores")


def test_without_scores_all_pairs_are_positives():
    pairs = {"sentences1": FIRST, "sentences2": SECOND}
    found = api.compute_loss("info_nce", **pairs)
    assert found["labels"] == [1.0] * 4
    assert found["spearman"] is None
    assert found["loss"] == api.compute_loss("info_nce", **pairs, scores=[1, 1, 1, 1])["loss"]
    traced = api.trace_loss("info_nce", **pairs, similarities=[0.1, 0.2, 0.3, 0.4])
    assert traced["scores"] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    for requested in (api.compute_loss, api.trace_loss, api.start_training):
        many = {
            name: [f"{one} {i}" for one in values for i in range(4)]
            for name, values in pairs.items()
        }
        with raises_problem("needs_scores", known="InfoNCE"):
            requested("cosent", **many)


def test_data_are_examined(client):
    """By the names that the command and the page have, from lists and from a table."""
    rows = {"sentences1": ["a", "A ", "c", "c"], "sentences2": ["b", "b", "d", "d"]}
    found = client.predict("cosent", *rows.values(), [1, 0, 0.5, 0.5], api_name="/doctor_data")
    assert [(one["name"], one["rows"]) for one in found["findings"]] == [
        ("conflicting_labels", [1, 2]), ("copies", [3, 4])
    ]  # fmt: skip
    assert found["severe"]
    assert found["left_out"][-1] == {"row": 4, "because": "copies"}
    table = "query\tanswer\n" + "".join(f"q {n}\tsame\n" for n in range(8))
    of_table = {"loss": "MultipleNegativesRankingLoss", "table": table, "batch": 4}
    found = client.predict(**of_table, language="zh", api_name="/doctor_data")
    assert [one["name"] for one in found["findings"]] == ["twins"]
    assert "正样本" in found["findings"][0]["said"]
    assert found["columns"]["first"] == "query"
    assert found["met"]["pairs"] == 6
    assert {one["loss"] for one in found["suited"]} >= {"info_nce", "siglip"}
