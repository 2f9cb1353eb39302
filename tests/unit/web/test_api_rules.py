"""Programs choose the rules of the page, and receive those in force."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import torch
from gradio_client.exceptions import AppError

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.training import data
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.api import endpoint_functions as api
from lossprism.explorer.web.api.request_parsing import rules_of, scenario_of
from lossprism.losses import circle, cosine_mse, info_nce
from tests.sentences import pattern_of, raises_problem

SCORES = [0.9, 0.6, 0.3, 0.1, -0.2]
GRADES = [5, 4, 3, 2, 1]
FIRST = ["A man eats pasta.", "A girl plays.", "Two dogs run.", "It rains.", "A cat sleeps."]
SECOND = ["Someone eats.", "A child plays.", "A dog runs.", "It is dry.", "The market fell."]
# How a run stands that waits for nobody.
AT_ONCE = SimpleNamespace(queue_position=0, queue_seconds=None)
COMPUTES = ("compute_loss", "loss_from_scores", "trace_loss", "compare_losses")


def given(loss, **rules):
    return api.loss_from_scores(loss, SCORES, GRADES, **rules)


def test_grades_are_read_as_on_the_page_and_reported():
    answer = given("circle")
    assert (answer["label_range"], answer["threshold"], answer["positive_pairs"]) == ([1, 5], 3, 3)
    expected = circle(torch.tensor(SCORES).double(), torch.tensor([1, 1, 1, 0, 0]))
    assert answer["loss"] == pytest.approx(float(expected))


def test_the_threshold_is_taken():
    answer = given("circle", threshold=4)
    assert (answer["threshold"], answer["positive_pairs"]) == (4, 2)
    expected = circle(torch.tensor(SCORES).double(), torch.tensor([1, 1, 0, 0, 0]))
    assert answer["loss"] == pytest.approx(float(expected))


def test_the_scale_is_taken():
    answer = given("cosine_mse", label_range=[0, 10])
    assert (answer["label_range"], answer["threshold"]) == ([0, 10], 5)
    targets = torch.tensor(GRADES).double() / 10
    expected = cosine_mse(torch.tensor(SCORES).double(), targets)
    assert answer["loss"] == pytest.approx(float(expected))
    usual = cosine_mse(torch.tensor(SCORES).double(), (torch.tensor(GRADES).double() - 1) / 4)
    assert given("cosine_mse")["loss"] == pytest.approx(float(usual))


def test_whether_other_pairs_are_negatives_is_taken():
    """Each pair has a plane of its own: across pairs all cosines are 0."""
    for extra in (True, False):
        answer = given("info_nce", extra_negatives=extra)
        queries = torch.eye(6, dtype=torch.float64)[:3]
        keys = torch.diag(torch.tensor(SCORES[:3]).double())
        keys = torch.cat([keys, (1 - keys.square().sum(1)).sqrt().diag()], dim=1)
        others = torch.zeros(2, 6).double()
        others[:, 5] = 1
        queries[:, 5] = 0
        expected = info_nce(queries, keys, negatives=others if extra else None)
        assert answer["loss"] == pytest.approx(float(expected))


def test_prototypes_are_taken():
    plain = given("softmax")
    zeros = [[0.0] * 10 for _ in range(7)]  # three positive pairs, four sentences of their own
    answer = given("softmax", prototypes=zeros)
    assert answer["loss"] == pytest.approx(torch.tensor(7.0).log().item())
    assert plain["loss"] != answer["loss"]
    with raises_problem("prototypes_shape", count=7, width=10):
        given("softmax", prototypes=[[1.0, 2.0]])


TRIPLETS = [
    {"anchor": FIRST[0], "positive": SECOND[0], "negative": [SECOND[1], SECOND[2]]},
    {"anchor": FIRST[1], "positive": SECOND[1], "negative": [SECOND[4]]},
]
OF_TRIPLETS = (
    [FIRST[0]] * 3 + [FIRST[1]] * 2,
    [SECOND[0], SECOND[1], SECOND[2], SECOND[1], SECOND[4]],
    [1, 0, 0, 1, 0],
)
LISTED = [{"query": FIRST[0], "documents": SECOND[:3], "labels": [2, 1, 0]}]


@pytest.mark.parametrize("as_text", [False, True])
def test_triplets_and_lists_are_sent_as_a_table(as_text):
    """They are the pairs that the page makes of such rows, by each function."""
    tables = [json.dumps(table) if as_text else table for table in (TRIPLETS, LISTED)]
    one = api.compute_loss("info_nce", table=tables[0], encoder="all apart")
    other = api.compute_loss("info_nce", *OF_TRIPLETS, encoder="all apart")
    assert one["loss"] == other["loss"]
    assert one["labels"] == other["labels"] == OF_TRIPLETS[2]
    given = {"similarities": [0.9, 0.5, 0.1], "table": tables[1]}
    traced = api.trace_loss("cosent", **given)
    assert (traced["labels"], traced["ordered_pairs"]) == ([2, 1, 0], 3)
    found = api.compare_losses([{"loss": "cosent"}, {"loss": "list_net"}], **given)
    assert [side["problem"] for side in found["losses"]] == [None, None]
    drawn = api.figure(loss="info_nce", table=tables[0], encoder="all apart", twins="leave_out")
    scenario = Scenario.from_link(drawn["scene"])
    assert [row[:2] for row in scenario.data.rows] == list(zip(*OF_TRIPLETS[:2], strict=True))
    assert scenario.rules.twins == "leave_out"


def test_triplets_are_trained_on_as_such(monkeypatch):
    """And with what a teacher gave each of their candidates."""
    begun = []
    monkeypatch.setattr(Runs, "start", lambda self, plan: begun.append(plan) or "run")
    monkeypatch.setattr(Runs, "status", lambda *_: AT_ONCE)
    row = {"anchor": "a{n}", "positive": "b{n}", "negative": ["c{n}", "d{n}"]}
    row = json.dumps({**row, "teacher": [1.0, 0.5, 0.25]})
    table = [json.loads(row.replace("{n}", str(n))) for n in range(20)]
    api.start_training("info_nce", table=table)
    (plan,) = begun
    assert plan.data.rows[:3] == (("a0", "b0", "1"), ("a0", "c0", "0"), ("a0", "d0", "0"))
    found = data.read(plan)
    assert found.triplets
    assert set(found.teacher) == {1.0, 0.5, 0.25}


def test_a_table_brings_a_guide():
    """Each function takes its vectors; a guide that is named takes their place."""
    near = [{"question": f"q{n}", "answer": f"a{n}", "u": [1, n], "v": [1, n]} for n in range(6)]
    alike = [{**row, "v": [1, 0], "u": [1, 0]} for row in near]
    columns = {"first": "question", "second": "answer", "score": "none"}
    columns |= {"guide_first": "u", "guide_second": "v"}
    request = {"encoder": "all apart", "columns": columns}
    kept = api.compute_loss("gist", table=near, **request)["loss"]
    result = api.compute_loss("gist", table=alike, **request, parameters={"margin": 0.5})
    assert result["loss"] == 0 < kept  # all are as near to one another as the own pair
    named = api.compute_loss("gist", table=alike, guide="all apart", **request)["loss"]
    assert named == api.compute_loss("gist", table=near, guide="all apart", **request)["loss"]
    assert api.trace_loss("gist", table=near, **request)["loss"] == kept
    compared = api.compare_losses([{"loss": "gist"}, {"loss": "info_nce"}], table=near, **request)
    assert compared["losses"][0]["loss"] == kept
    drawn = Scenario.from_link(api.figure(loss="gist", table=near, **request)["scene"])
    assert len(drawn.data.guided) == 12
    columns = {**columns, "guide_first": "none", "guide_second": "none"}
    own = api.compute_loss("gist", table=near, encoder="all apart", columns=columns)["loss"]
    assert own == named
    known = [{{"u": "guide1", "v": "guide2"}.get(n, n): row[n] for n in row} for row in near]
    assert api.compute_loss("gist", table=known, encoder="all apart")["loss"] == kept
    for bad, key, values in (
        ([1], "vector_width", {"column": "v", "width": 1}),
        ("x", "vector_not_a_vector", {"column": "v", "value": "x"}),
    ):
        with raises_problem("api_table_row", row=2) as refused:
            api.compute_loss("gist", table=[near[0], {**near[1], "v": bad}], **request)
        reason = pattern_of("problem.api_table_row").fullmatch(str(refused.value))["reason"]
        assert pattern_of(f"problem.{key}", **values).fullmatch(reason)


def test_what_is_no_table_is_refused():
    many = [{"anchor": f"a{n}", "positive": "b", "negative": "c"} for n in range(300)]
    for table, key, values in (
        ([1], "api_table", {"value": "[1]"}),
        ([{**TRIPLETS[0], "positive": ""}, *TRIPLETS], "api_table_row", {"row": 1}),
        (many, "api_too_many", {"count": 600}),
    ):
        with raises_problem(key, **values):
            api.compute_loss("info_nce", table=table)
    with raises_problem("api_table_and_lists"):
        api.compute_loss("info_nce", FIRST, SECOND, table=TRIPLETS)


RULES = {
    "threshold": 2.5,
    "label_range": [0.0, 10.0],
    "extra_negatives": False,
    "prototypes": [[1.0, -0.5], [0.25, 1e-9]],
    "twins": "leave_out",
}


def test_every_rule_of_the_page_has_its_argument():
    made = rules_of(**RULES)
    assert made == Rules(2.5, (0.0, 10.0), False, "1.0 -0.5\n0.25 1e-09", "leave_out")
    assert set(RULES) == set(Rules.__dataclass_fields__)
    for name in COMPUTES:
        assert set(RULES) <= set(getattr(api, name).__annotations__), name
    assert scenario_of("cosent", FIRST, SECOND, GRADES, rules=made)[0].scenario.rules == made
    assert rules_of() == Rules()


@pytest.mark.encoder
def test_over_http_the_scenario_is_the_one_with_these_rules(client):
    chosen = {name: RULES[name] for name in ("threshold", "label_range", "extra_negatives")}
    rows = tuple(zip(FIRST, SECOND, map(str, GRADES), strict=True))
    scenario = Scenario(Data(source="table", rows=rows), rules_of(**chosen), loss="info_nce")
    request = {"loss": "info_nce", "sentences1": FIRST, "sentences2": SECOND, "scores": GRADES}
    found = explore(scenario)
    assert found.loss != explore(Scenario(scenario.data, loss="info_nce")).loss
    for name in ("compute_loss", "trace_loss"):
        answer = client.predict(**request, **chosen, api_name=f"/{name}")
        assert answer["loss"] == found.loss
        assert (answer["threshold"], answer["label_range"]) == (2.5, [0, 10])


@pytest.mark.encoder
def test_over_http_further_models_score_as_on_the_page(client):
    rows = tuple(zip(FIRST, SECOND, map(str, GRADES), strict=True))
    data, chosen = Data(source="table", rows=rows), (("margin", 0.4), ("temperature", 1.0))
    own = explore(Scenario(data, loss="gist", parameters=chosen)).loss
    assert own > 0
    request = {"sentences1": FIRST, "sentences2": SECOND, "scores": GRADES}
    gist = {"loss": "gist", "parameters": dict(chosen)}
    for name in ("compute_loss", "trace_loss"):
        for guide, expected in (("all alike", 0), ("", own)):  # nothing is far from anything
            answer = client.predict(**gist, **request, guide=guide, api_name=f"/{name}")
            assert answer["loss"] == expected
    both = {**request, "similarities": [0.5] * len(FIRST), "losses": [gist, {"loss": "info_nce"}]}
    guided, plain = (api.compare_losses(**both, guide=guide) for guide in ("all alike", ""))
    assert guided["losses"][0]["loss"] == 0 < plain["losses"][0]["loss"]
    assert guided["losses"][1]["loss"] == plain["losses"][1]["loss"]
    with raises_problem("api_text", AppError, name="guide", value=5):
        client.predict(**gist, **request, guide=5, api_name="/compute_loss")


BAD = (
    ({"threshold": "high"}, "api_one_number", {"name": "threshold", "value": "'high'"}),
    ({"threshold": True}, "api_one_number", {"name": "threshold", "value": True}),
    ({"threshold": float("inf")}, "api_one_number", {"name": "threshold", "value": "inf"}),
    ({"label_range": [1]}, "api_ends", {"name": "label_range", "value": "[1]"}),
    ({"label_range": 5}, "api_list", {"name": "label_range", "value": 5}),
    ({"label_range": [1, "five"]}, "api_number",
     {"name": "label_range", "place": 1, "value": "'five'"}),
    ({"label_range": [5, 1]}, "label_range", {"low": 5, "high": 1}),
    ({"label_range": [1, 4]}, "labels_beyond", {"label": 5, "low": 1, "high": 4}),
    ({"extra_negatives": "yes"}, "parameter_switch", {"name": "extra_negatives", "value": "'yes'"}),
    ({"prototypes": 3}, "api_list", {"name": "prototypes", "value": 3}),
    ({"prototypes": [[1], 2]}, "api_list", {"name": "prototypes[1]", "value": 2}),
    ({"prototypes": [[1, None]]}, "api_number",
     {"name": "prototypes[0]", "place": 1, "value": None}),
)  # fmt: skip


def test_what_does_not_fit_is_named(client):
    for rules, key, values in BAD:
        with raises_problem(key, **values):
            given("cosine_mse", **rules)
        if key in ("label_range", "labels_beyond"):
            request = {"loss": "cosine_mse", "scores": SCORES, "labels": GRADES, **rules}
            with raises_problem(key, AppError, **values):
                client.predict(**request, api_name="/loss_from_scores")


def test_a_training_takes_them_as_options(monkeypatch):
    requests = []
    monkeypatch.setattr(api.Runs, "start", lambda _, plan: requests.append(plan) or "run")
    monkeypatch.setattr(api.Runs, "status", lambda *_: AT_ONCE)
    options = {"threshold": 2.5, "label_range": [0, 10], "extra_negatives": False}
    api.start_training("cosine_mse", FIRST, SECOND, GRADES, options=options)
    (plan,) = requests
    assert (plan.threshold, plan.label_range, plan.extra_negatives) == (2.5, (0, 10), False)
    with raises_problem("label_range", low=5, high=1):
        api.start_training("cosine_mse", FIRST, SECOND, GRADES, options={"label_range": [5, 1]})


TAUGHT = (["a", "a"], ["b", "c"], [1, 0])


def test_a_teachers_scores_come_with_the_pairs():
    data = scenario_of("margin_mse", *TAUGHT, teacher_scores=[3, 1.5])[0].scenario.data
    assert data.teacher == (("a", "b", "3"), ("a", "c", "1.5"))
    request = {"similarities": [0.5, 0.25], "teacher_scores": [3, 1.5]}
    answer = api.trace_loss("margin_mse", *TAUGHT, **request)
    assert answer["loss"] == pytest.approx((0.25 - 1.5) ** 2)
    sides = [{"loss": "margin_mse"}, {"loss": "distill_kl"}]
    compared = api.compare_losses(sides, *TAUGHT, **request)
    assert compared["losses"][0]["loss"] == pytest.approx((0.25 - 1.5) ** 2)
    assert compared["losses"][1]["loss"] > 0


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"teacher_scores": [3]}, "api_lengths"),
        ({"teacher_scores": [3, "x"]}, "api_number"),
        ({"teacher_scores": [3, 1], "teacher": "org/model"}, "api_teacher_twice"),
    ],
)
def test_a_teacher_scores_once_and_for_every_pair(given, key):
    with pytest.raises(Problem) as caught:
        scenario_of("margin_mse", *TAUGHT, **given)
    assert caught.value.key == f"problem.{key}"
