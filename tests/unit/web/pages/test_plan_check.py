"""What the server finds in a plan of the Fine-tune page, and how long it would take."""

from __future__ import annotations

import base64
import dataclasses
import json

import pytest

from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.practice_sentences import practice_pairs
from lossprism.explorer.web.pages.finetune import request_plan
from lossprism.losses import LOSSES
from lossprism.losses.combined.combined_loss_names import RECIPES
from tests.unit.web.pages.finetune_plans import FIRST, check, hand, request_for


def test_which_losses_can_learn_and_why_the_others_cannot():
    found = check({"plan": {**FIRST, "kind": "cross", "loss": "info_nce"}})
    assert found["refused"]["key"] == "problem.training_needs_vectors"
    assert found["losses"]["info_nce"] == found["refused"]
    assert found["losses"]["cosent"] is None
    assert set(found["losses"]) == {*LOSSES, *RECIPES}


def test_a_space_says_its_bounds_before_the_start(monkeypatch):
    long = {**FIRST, "steps": 100_000}
    assert check({"plan": long})["refused"] is None
    assert check({"plan": long})["minutes"] is None
    monkeypatch.setenv("SPACE_ID", "somebody/lossprism")
    with as_visitor(new_key()):
        found = check({"plan": FIRST})
        refused = check({"plan": long})["refused"]
    assert (found["refused"], found["minutes"]) == (None, 10)
    assert refused["key"] == "problem.training_shared_length"


def test_the_reason_against_repeating_the_experiment_is_shown_before():
    alike = tuple((f"a {i}", f"b {i}", "1") for i in range(20))
    link = Scenario(data=Data(source="table", rows=alike)).to_link()
    found = check({"plan": {**request_for(source="link", link=link), "loss": "info_nce"}})
    assert found["refused"] is None
    assert found["repetition"]["refused"]["key"] == "problem.training_one_label"


def test_a_link_says_the_loss_and_the_rules_that_were_chosen_there():
    rules = Rules(threshold=3.0, label_range=(1.0, 5.0), extra_negatives=False)
    scenario = Scenario(loss="circle", parameters=(("scale", 30.0),), rules=rules)
    found = check({"plan": request_for(source="link", link=scenario.to_link())})["of_scene"]
    plan = {**request_for(source="link", link=scenario.to_link()), **found}
    taken = request_plan.read_plan(plan)
    assert (taken.loss, dict(taken.parameters)) == ("circle", {"scale": 30.0})
    assert (taken.threshold, taken.extra_negatives) == (3.0, False)
    assert taken.label_range == (1, 5)
    assert taken.twins == "apart"
    leaving = dataclasses.replace(scenario, rules=Rules(twins="leave_out"))
    found = check({"plan": request_for(source="link", link=leaving.to_link())})["of_scene"]
    assert found["twins"] == "leave_out"
    assert check({"plan": plan})["refused"] is None
    assert check({"plan": FIRST})["of_scene"] is None


def test_a_link_says_which_guide_and_teacher_were_named_there(monkeypatch):
    listed = tuple((f"query {i // 4}", f"text {i}", str(i % 3)) for i in range(48))
    named = {"guide": EMBEDDED, "teacher_model": EMBEDDED}
    scenario = Scenario(data=Data(source="table", rows=listed, **named), loss="distill_kl")
    chosen = request_for(source="link", link=scenario.to_link())
    found = check({"plan": chosen})["of_scene"]
    taken = {**chosen, **found}
    plan = request_plan.read_plan(taken)
    assert (plan.guide, plan.teacher_model) == (EMBEDDED, EMBEDDED)
    checked = check({"plan": taken})
    assert (checked["refused"], checked["losses"]["margin_mse"]) == (None, None)
    assert (checked["taught"], checked["asked"]) == (False, checked["train"])  # each in a list
    assert check({"plan": {**taken, "loss": "gist"}})["asked"] == 0
    unnamed = check({"plan": {**taken, "teacher_model": ""}})
    assert unnamed["refused"]["key"] == "problem.training_needs_teacher"
    # Strangers name no folder of the machine.
    monkeypatch.setenv("SPACE_ID", "somebody/space")
    for loss, name in (("distill_kl", "teacher_model"), ("gist", "guide")):
        with pytest.raises(Problem) as refused:
            check({"plan": {**taken, "loss": loss, name: "/etc"}})
        assert refused.value.key == "problem.encoder_local_refused"
        assert refused.value.about == name.removesuffix("_model")


def test_unread_vectors_of_a_guide_are_reported():
    rows = [
        {"question": f"why {k}?", "answer": f"so {k}", "guide_question": [k, 1]}
        | {"guide_answer": [k, 2]}
        for k in range(24)
    ]
    content = "\n".join(map(json.dumps, rows)).encode()
    packed = base64.b64encode(content).decode()
    result = hand({"name": "x.jsonl", "content": packed})
    assert list(result["chosen"]) == ["first", "second", "score", "teacher"]
    plan = request_for(source="file", file=result["file"], name="x.jsonl")
    assert check({"plan": {**plan, "loss": "gist"}})["guide_unread"] is True
    typed = tuple((row["question"], row["answer"], "") for row in rows)
    for guided in ((), (("why 0?", "AACAPw=="),)):
        scenario = Scenario(data=Data(source="table", rows=typed, guided=guided), loss="gist")
        linked = check({"plan": request_for(source="link", link=scenario.to_link())})
        assert linked["guide_unread"] is bool(guided)


def test_the_sample_goes_from_the_highest_label_to_the_lowest():
    sample = check({"plan": FIRST})["sample"]
    labels = [label for *_, label in sample]
    assert labels == [5, labels[1], 0]
    known = {(a, b): label for a, b, label in practice_pairs(FIRST["data"]["practice"])}
    assert all(known[a, b] == label for a, b, label in sample)
