"""A plan goes to JSON and back, and says what does not fit."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from lossprism.explorer.lab.training.plan import SCRATCH, TrainingData, TrainingPlan
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES


def test_there_and_back():
    plan = TrainingPlan(
        data=TrainingData(
            source="rows", rows=(("a", "b", "1"),), columns=(("first", "a"),), augment=("cutoff",)
        ),
        loss="hierarchical_cosent",
        parameters=(("weights", (1.0, 0.5, 0.25)),),
        threshold=2.5,
        label_range=(1.0, 5.0),
        schedule="source",
        layers=2,
    )
    assert TrainingPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
    assert TrainingPlan.from_json({}) == TrainingPlan()


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"steps": 1.5}, "plan.steps is “1.5”"),
        ({"steps": True}, "plan.steps"),
        ({"batch_size": 1}, "batch_size is 1; accepted are numbers from 2 to 4096"),
        ({"warmup": float("nan")}, "plan.warmup"),
        ({"kind": "both"}, "choose one of bi, cross"),
        ({"schedule": 3}, "plan.schedule"),
        ({"twins": "gone"}, "choose one of apart, leave_out, keep"),
        ({"data": {"source": "web"}}, "choose one of rows, file, example, hub"),
        ({"data": {"augment": ["spin"]}}, "cutoff, reorder"),
        ({"data": []}, "plan.data"),
        ({"data": {"rows": 5}}, "plan.data.rows"),
        ({"parameters": 5}, "plan.parameters"),
        ({"loss": "nothing"}, "no loss called nothing"),
        ({"parameters": {"scale": -1}}, "scale is -1"),
        ({"parameters": {"tau": 1}}, "has no parameter tau"),
        ({"colour": "red"}, "plan.colour is not an entry"),
        ({"kind": "cross", "encoder": SCRATCH}, "cannot be a cross-encoder"),
        ({"loss": "matryoshka(info_nce,512)"}, "the first 512 dimensions, and the vectors of this"),
        ({"loss": "matryoshka(cosent,96)", "encoder": SCRATCH, "dimension": 64}, "encoder have 64"),
        ([], "plan is"),
    ],
    ids=str,
)
def test_what_does_not_fit(chosen, message):
    with pytest.raises(Problem) as caught:
        TrainingPlan.from_json(chosen)
    assert message in str(caught.value)


def test_a_file_that_is_called_nothing_else_has_its_own_name():
    data = TrainingData(source="file", file="/data/pairs.tsv", held_out_file="held.csv")
    assert (data.name, data.held_out_name) == ("pairs.tsv", "held.csv")
    assert dataclasses.replace(data, name="Mine").name == "Mine"
    assert TrainingData(source="rows").name == ""


def test_steps_and_epochs():
    assert TrainingPlan(batch_size=16).steps_for(1000) == 62
    assert TrainingPlan(batch_size=16, epochs=2.0).steps_for(1000) == 124
    assert TrainingPlan(batch_size=16, steps=7).steps_for(1000) == 7
    assert TrainingPlan(batch_size=16).steps_for(5) == 1


def test_the_schedule_of_the_source_starts_lower_by_the_root_of_the_warm_up():
    result = TrainingPlan(schedule="source", warmup=0.25, learning_rate=0.1).trainer_arguments(
        64, 99
    )
    assert result["learning_rate"] == pytest.approx(0.1 / math.sqrt(16))
    assert (result["lr_scheduler_type"], result["warmup_steps"]) == ("inverse_sqrt", 16)


SAMPLED = {
    # loss, convention: the sampler and the settings of the loss, at each choice
    ("info_nce", ""): {"apart": (True, False), "leave_out": (False, True), "keep": (False, False)},
    # It reads no texts, so that they are still kept out of the batch.
    ("supcon", ""): {"apart": (True, False), "leave_out": (True, False), "keep": (False, False)},
    ("nt_xent", "pytorch-metric-learning 2.9 (several positives)"): {
        "apart": (True, False),
        "leave_out": (True, False),
        "keep": (False, False),
    },
    # Its negatives are no other rows of the batch.
    ("cosent", ""): dict.fromkeys(("apart", "leave_out", "keep"), (False, False)),
    ("softmax", ""): dict.fromkeys(("apart", "leave_out", "keep"), (False, False)),
}


@pytest.mark.parametrize(("loss", "convention"), SAMPLED)
def test_the_same_text_is_kept_out_of_the_batch_or_left_out_of_the_loss(loss, convention):
    for twins, (apart, left_out) in SAMPLED[loss, convention].items():
        plan = TrainingPlan(loss=loss, convention=convention, twins=twins)
        sampler = plan.trainer_arguments(10, 100)["batch_sampler"]
        assert sampler == ("no_duplicates" if apart else "batch_sampler")
        result = plan.loss_arguments(0.5, (0.0, 1.0), 3)
        assert result.get("twins") == ("leave_out" if left_out else None)


def test_an_earlier_plan_keeps_texts_separate():
    plan = TrainingPlan(loss="info_nce").to_json()
    del plan["twins"]
    assert TrainingPlan.from_json(plan).keeps_texts_apart


DOTS = [
    (name, convention.name)
    for name, spec in LOSSES.items()
    for convention in spec.conventions
    if spec.under(convention.name).similarity == "dot"
    and "similarity" not in spec.under(convention.name).defaults
]


@pytest.mark.parametrize(("loss", "convention"), DOTS)
def test_a_plan_writes_down_that_its_convention_compares_dot_products(loss, convention):
    plan = TrainingPlan(loss=loss, convention=convention)
    assert plan.to_json()["similarity"] == "dot"
    assert plan.loss_arguments(0.5, (0, 1), 0)["similarity"] == "dot"
    assert TrainingPlan.from_run(plan.to_json()) == plan


@pytest.mark.parametrize(("loss", "convention"), DOTS)
def test_a_run_of_before_goes_on_with_cosines(loss, convention):
    stored = TrainingPlan(loss=loss, convention=convention).to_json()
    del stored["similarity"]
    plan = TrainingPlan.from_run(stored)
    assert plan.loss_arguments(0.5, (0, 1), 0)["similarity"] == "cosine"
    assert TrainingPlan.from_run(plan.to_json()) == plan


def test_other_losses_have_no_similarity_in_their_plan():
    for plan in (TrainingPlan(similarity="dot"), TrainingPlan(kind="cross", loss="list_mle")):
        assert plan.similarity == ""
        assert "similarity" not in plan.loss_arguments(0.5, (0, 1), 0)
