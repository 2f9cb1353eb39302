"""A scenario is resolved at the door: each loss, parameter and model is looked up once."""

from __future__ import annotations

import base64
import dataclasses
import pickle
from collections import Counter

import numpy as np
import pytest

from lossprism.explorer.core import resolved_scenario as module
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.compare.loss_comparison import Side, compare
from lossprism.explorer.lab.parameter_sweep import sweep
from lossprism.explorer.lab.variation_over_batches import batches_of_file, over_batches
from lossprism.explorer.sources import encoders
from lossprism.explorer.sources.drawn_batches import Draw
from lossprism.explorer.sources.encoders.encoder_interface import Backend
from lossprism.explorer.sources.pairs_from_tables import from_rows
from lossprism.explorer.web.api import endpoint_functions
from lossprism.explorer.web.pages.explore import request_handlers as exploring
from lossprism.explorer.web.pages.large import request_handlers as large
from lossprism.explorer.web.pages.large import uploaded_file_description
from lossprism.losses import LOSSES
from tests.added_encoder import MadeEncoder
from tests.sentences import raises_problem

PATIENCE = 900  # seconds, on a machine that has other things to do
NAMES = ("first model", "second model", "third model")
ROWS = tuple(
    (f"query {n}", f"{kind} {n}", label)
    for n in range(4)
    for kind, label in (("yes", "1"), ("no", "0"))
)
DATA = Data(source="table", rows=ROWS, encoder=NAMES[0], guide=NAMES[1], teacher_model=NAMES[2])
SCENARIO = Scenario(data=DATA, loss="gist", parameters=(("temperature", 0.1),))


def vectors(sentences):
    return np.stack([np.random.RandomState(sum(map(ord, s))).standard_normal(8) for s in sentences])


@pytest.fixture
def looked_up(monkeypatch):
    """How often each loss, each parameter and each model was looked up."""
    found = Counter()

    def counted(kind, function, name_of):
        def call(*given):
            found[kind, name_of(*given)] += 1
            return function(*given)

        return call

    monkeypatch.setattr(
        module, "registered", counted("loss", module.registered, lambda scenario: scenario.loss)
    )
    monkeypatch.setattr(
        module, "checked", counted("parameter", module.checked, lambda one, value: one.name)
    )
    made = {name: MadeEncoder(name, name, vectors=vectors) for name in NAMES}
    find = counted("model", made.__getitem__, lambda name: name)
    ours = Backend(takes=made.__contains__, find=find)
    monkeypatch.setattr(encoders, "BACKENDS", (ours, *encoders.BACKENDS))
    return found


def once(*losses, parameter="", models=NAMES):
    """Each of these looked up once, and nothing else."""
    wanted = [("loss", name) for name in losses] + [("model", name) for name in models]
    return dict.fromkeys([*wanted, ("parameter", parameter)] if parameter else wanted, 1)


def test_exploring_looks_each_name_up_once(looked_up):
    explore(SCENARIO)
    assert looked_up == once("gist", parameter="temperature")


def test_a_batch_of_ones_own_asks_for_no_model(looked_up):
    batch = resolve(SCENARIO).batch
    looked_up.clear()
    explore(SCENARIO, batch)
    assert looked_up == once("gist", parameter="temperature", models=())


def test_the_explore_page_looks_each_name_up_once(looked_up):
    exploring._explore({"scenario": SCENARIO.to_json()})
    assert looked_up == once("gist", parameter="temperature")


@pytest.mark.parametrize("what", ["matrix_svg", "pairs_csv", "code_alone"])
def test_what_is_taken_away_looks_each_name_up_once(what, looked_up):
    exploring._take({"scenario": SCENARIO.to_json(), "what": what})
    assert looked_up == once("gist", parameter="temperature")


def test_a_comparison_looks_each_loss_and_each_model_up_once(looked_up):
    compare(SCENARIO, (Side("gist", parameters=(("temperature", 0.2),)), Side("info_nce")))
    assert looked_up == once("gist", "info_nce", parameter="temperature")


def test_a_sweep_looks_each_name_up_once(looked_up):
    sweep(SCENARIO, "temperature", points=5)
    del looked_up["parameter", "temperature"]  # a value for each point is checked
    assert looked_up == once("gist")


def test_many_batches_look_each_name_up_once(looked_up):
    batches = batches_of_file(from_rows(ROWS).pairs, Draw("in_order", 4))
    assert len(batches) == 2
    over_batches(SCENARIO, batches)
    assert looked_up == once("gist", parameter="temperature")


def test_a_figure_of_a_link_looks_each_name_up_once(looked_up):
    endpoint_functions.figure(scene=SCENARIO.to_link())
    assert looked_up == once("gist", parameter="temperature")


CALL = {
    "loss": "gist",
    "sentences1": [row[0] for row in ROWS],
    "sentences2": [row[1] for row in ROWS],
    "scores": [float(row[2]) for row in ROWS],
    "parameters": {"temperature": 0.1},
    "encoder": NAMES[0],
    "guide": NAMES[1],
    "teacher": NAMES[2],
}


@pytest.mark.parametrize("function", [endpoint_functions.compute_loss, endpoint_functions.figure])
def test_a_call_of_a_program_looks_each_name_up_once(function, looked_up):
    function(**CALL)
    assert looked_up == once("gist", parameter="temperature")


def test_given_similarities_ask_only_the_second_models(looked_up):
    endpoint_functions.trace_loss(
        **{**CALL, "loss": "margin_mse", "parameters": {}}, similarities=[0.5] * len(ROWS)
    )
    assert looked_up == once("margin_mse", models=NAMES[1:])


def test_large_looks_its_encoder_up_once(looked_up, tmp_path, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path))
    text = "".join(f"{a},{b},{c}\n" for a, b, c in (("sentence1", "sentence2", "score"), *ROWS))
    content = base64.b64encode(text.encode()).decode()
    file = uploaded_file_description.hand_in({"name": "rows.csv", "content": content}).file
    source = {"kind": "file", "file": file, "name": "rows.csv", "encoder": NAMES[0]}
    job = large.start_opening(large.read_query({"source": source}))
    assert job.wait(PATIENCE)
    assert job.result()
    assert looked_up["model", NAMES[0]] == 1


def test_a_scenario_without_words_asks_for_no_model(looked_up):
    named = Data(encoder=NAMES[0], guide=NAMES[1], teacher_model=NAMES[2])
    for chosen in ({"source": "random"}, {"example": "cosent_batch"}):
        explore(Scenario(data=dataclasses.replace(named, **chosen)))
    assert {kind for kind, _ in looked_up} == {"loss"}


def test_in_another_process_it_is_resolved_anew():
    found = pickle.loads(pickle.dumps(resolve(SCENARIO)))
    assert (found.scenario, found.parameters) == (SCENARIO, resolve(SCENARIO).parameters)


def test_other_values_are_checked_as_the_first_were():
    found = resolve(SCENARIO).at(temperature=0.3)
    assert found.parameters["temperature"] == 0.3
    assert dict(found.scenario.parameters) == {"temperature": 0.3}
    with raises_problem("parameter_range", name="temperature"):
        found.at(temperature=-1.0)


def test_a_program_gets_a_warning_about_a_parameter_of_another_convention():
    """A link may be of a time when this convention took it; a call is made today."""
    (soft,) = (one.name for one in LOSSES["triplet"].conventions if "SoftMargin" in one.name)
    scenario = Scenario(loss="triplet", convention=soft, parameters=(("margin", 0.5),))
    assert "margin" not in resolve(scenario).parameters
    with raises_problem("unknown_parameter", name="margin"):
        resolve(scenario, strict=True)
