"""A link, a scenario file or a run folder may come from a stranger: no model or dataset that it
names is fetched, no folder read, and the hub not even asked, before the owner agrees."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import datasets
import huggingface_hub
import pytest

from lossprism.explorer import cli
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.runtime.owner_consent import consented_mib, has_consent, with_consent
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders import encode, models_in_local_folders
from lossprism.explorer.web.api.endpoint_functions import figure
from lossprism.explorer.web.pages.doctor import dataset_requests as doctoring
from lossprism.explorer.web.pages.doctor import run_requests as doctoring_run
from lossprism.explorer.web.pages.explore import request_handlers as exploring
from lossprism.explorer.web.pages.finetune import plan_check
from lossprism.explorer.web.pages.finetune import request_handlers as training
from tests.sentences import raises_problem
from tests.unit.lab.training.conftest import corpus
from tests.wire import by_name

NAME, MIB = "stranger/model", 7
DATA_SET = f"datasets/{NAME}"  # a dataset and a model may have the same id
LOSS_OF = {
    "encoder": "cosent",
    "cross_encoder": "cosent",
    "guide": "gist",
    "teacher_model": "margin_mse",
}
EXAMPLE = {"source": "example", "example": "graded_lists"}


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A hub with a model and a dataset of some megabytes; a list of what was asked of it, and of
    downloads."""
    requests = []
    plan_check._corpus.cache_clear()

    def about_set(self, name, **_):
        requests.append(("about set", name))
        return SimpleNamespace(siblings=[SimpleNamespace(rfilename="a.csv", size=MIB * 2**20)])

    def load(name, *_, **__):
        requests.append(("load", name))
        raise TimeoutError

    def info(self, name, **_):
        requests.append(("about", name))
        files = [("config.json", 10), ("model.safetensors", MIB * 2**20 - 10)]
        siblings = [SimpleNamespace(rfilename=file, size=size) for file, size in files]
        return SimpleNamespace(siblings=siblings, sha="0" * 40)

    def download(name, local_files_only=False, **_):
        if local_files_only:
            raise FileNotFoundError(name)
        requests.append(("download", name))
        raise TimeoutError

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", about_set)
    monkeypatch.setattr(datasets, "load_dataset", load)
    return requests


def served(functions, name):
    return by_name(functions)[name]


def scenarios(place):
    data = {**EXAMPLE, place: NAME}
    return {"data": data, "loss": LOSS_OF[place]}


def plan_with(place):
    name = {"cross_encoder": "encoder"}.get(place, place)
    kind = "cross" if place == "cross_encoder" else "bi"
    plan = {"loss": LOSS_OF[place], "data": EXAMPLE, "kind": kind}
    return {**plan, name: NAME, "batch_size": 4}  # of more rows some texts stand twice


REQUESTS = {
    "explore": (exploring.SERVED, lambda place: {"scenario": scenarios(place)}),
    "take": (
        exploring.SERVED,
        lambda place: {"scenario": scenarios(place), "what": "pairs_csv"},
    ),
    "check": (training.SERVED, lambda place: {"plan": plan_with(place)}),
    "estimate": (training.SERVED, lambda place: {"plan": plan_with(place)}),
    "start": (training.SERVED, lambda place: {"plans": [plan_with(place)]}),
}


@pytest.mark.parametrize("place", LOSS_OF)
@pytest.mark.parametrize("name", REQUESTS)
def test_no_request_of_a_page_asks_the_hub_before_its_owner_agrees(name, place, hub):
    functions, request_of = REQUESTS[name]
    answer = served(functions, name)({**request_of(place), "leave": {"another/model": 1000}})
    assert answer["error"]["about"] == "leave"
    assert answer["error"]["values"]["name"] == NAME
    assert hub == []


@pytest.mark.parametrize("place", LOSS_OF)
def test_the_size_is_reported_and_bounds_the_download(place, hub):
    explore = served(exploring.SERVED, "explore")
    request = {"scenario": scenarios(place)}
    for agreed in (0, 0.01, MIB - 1):
        error = explore({**request, "leave": {NAME: agreed}})["error"]
        assert error["key"] == "problem.model_size"
        size = error["values"]["mib"]
    assert MIB <= size <= MIB + 1
    assert {what for what, _ in hub} == {"about"}
    explore({**request, "leave": {NAME: size}})
    assert hub[-1] == ("download", NAME)


ON_HUB = {"loss": "cosent", "data": {"source": "hub", "hub": f"{NAME}:sub", "split": "train"}}
SET_REQUESTS = {
    "fetch": (doctoring.SERVED, {"hub": f" {NAME}:sub ", "split": "", "rows": 20}),
    "check": (training.SERVED, {"plan": ON_HUB}),
    "estimate": (training.SERVED, {"plan": ON_HUB}),
    "start": (training.SERVED, {"plans": [ON_HUB]}),
    "trials": (training.SERVED, {"plan": ON_HUB, "parameter": "scale"}),
    "repeat": (training.SERVED, {"plan": ON_HUB}),
}


@pytest.mark.parametrize("name", SET_REQUESTS)
def test_no_request_of_a_page_asks_the_hub_for_a_data_set_before_its_owner_agrees(name, hub):
    functions, request = SET_REQUESTS[name]
    error = served(functions, name)({**request, "leave": {NAME: 1000}})["error"]
    assert (error["about"], error["values"]["name"], hub) == ("leave", DATA_SET, [])
    error = served(functions, name)({**request, "leave": {DATA_SET: 1000}})["error"]
    assert error["key"] == "problem.hub_set_unreachable"  # this hub times out
    assert hub[:2] == [("about set", NAME), ("load", NAME)]


@pytest.mark.parametrize("name", ["check", "start"])
def test_a_data_set_that_is_fetched_whole_is_no_larger_than_agreed(name, hub):
    functions, request = SET_REQUESTS[name]
    error = served(functions, name)({**request, "leave": {DATA_SET: 0.01}})["error"]
    assert (error["key"], error["values"]["mib"]) == ("problem.hub_set_size", MIB + 1)
    assert hub == [("about set", NAME)]


@pytest.mark.parametrize("place", ["encoder", "guide", "teacher_model"])
def test_a_training_fetches_no_larger_model_than_agreed(place, hub, monkeypatch):
    monkeypatch.setattr(Runs, "_spawn", lambda self, run: pytest.fail("it was begun"))
    request = {"plans": [plan_with(place)], "leave": {NAME: 0.01}}
    error = served(training.SERVED, "start")(request)["error"]
    assert (error["key"], error["values"]["mib"]) == ("problem.model_size", MIB + 1)
    assert {what for what, _ in hub} == {"about"}


def test_the_folder_of_a_link_is_not_read_before_its_owner_agrees(tmp_path, monkeypatch):
    read = []
    for name in ("files_in", "read_run"):
        monkeypatch.setattr(doctoring_run, name, read.append)
    folder = str(tmp_path)
    requests = {
        "kept": {"folder": folder},
        "examine_run": {"source": {"kind": "folder", "folder": folder}},
    }
    for name, request in requests.items():
        error = served(doctoring_run.SERVED, name)(request)["error"]
        assert (error["about"], error["values"]["name"]) == ("leave", folder)
    assert read == []


@pytest.mark.parametrize("place", LOSS_OF)
@pytest.mark.parametrize("name", REQUESTS)
def test_the_model_folder_of_a_link_is_not_read_before_its_owner_agrees(
    name, place, monkeypatch, tmp_path
):
    functions, request = REQUESTS[name]
    text = json.dumps(request(place)).replace(NAME, str(tmp_path / "model"))
    read = []
    monkeypatch.setattr(models_in_local_folders, "model_in", lambda *found: read.append(found))
    error = served(functions, name)(json.loads(text))["error"]
    assert (error["about"], error["key"]) == ("leave", "problem.folder_leave")
    assert read == []


def test_a_call_that_names_a_model_itself_agrees_to_it(hub):
    with pytest.raises(Problem):
        encode(["a"], NAME)  # this hub times out
    assert hub == [("about", NAME), ("download", NAME)]


def test_the_link_of_an_api_call_agrees_to_nothing(hub):
    link = Scenario.from_json(scenarios("encoder")).to_link()
    with raises_problem("model_leave"):
        figure(scene=link)
    assert hub == []


@pytest.mark.parametrize(
    "command", [["figure", "--out", "x.svg"], ["compare-losses", "cosent", "circle"]]
)
def test_a_command_that_opens_a_scenario_names_the_flag(
    command, hub, monkeypatch, capsys, tmp_path
):
    scenario = tmp_path / "scene.json"
    scenario.write_text(json.dumps(scenarios("encoder")), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["app.py", *command, "--scenario", str(scenario)])
    assert cli.main() != 0
    assert "--fetch" in capsys.readouterr().err
    assert hub == []
    monkeypatch.setattr("sys.argv", ["app.py", *command, "--scenario", str(scenario), "--fetch"])
    cli.main()
    assert hub == [("about", NAME), ("download", NAME)]


@pytest.mark.parametrize("place", ["encoder", "guide", "teacher_model"])
def test_resume_asks_before_its_process_fetches_a_model(place, hub, tmp_path, monkeypatch):
    runs = Runs(tmp_path / "runs", device="cpu")
    run = runs.prepare(TrainingPlan(loss="cosent"), corpus())
    run.take_ticket(os.getpid())
    run.set_stage("stopped")
    config = run.read("config.json")
    run.write("config.json", {**config, "plan": {**config["plan"], place: NAME}})
    begun = []
    monkeypatch.setattr(Runs, "_spawn", lambda self, run: begun.append(run.name))
    with with_consent({}), pytest.raises(Problem) as requested:
        runs.resume(run.name)
    assert requested.value.about == "leave"
    assert (begun, hub) == ([], [])
    with with_consent({NAME: 10}):
        runs.resume(run.name)
    assert begun == [run.name]


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
@pytest.mark.parametrize("typed", [False, True])
def test_the_embedded_encoder_is_never_requested_from_the_hub(name, typed, hub, tmp_path):
    with with_consent({name: 300} if typed else {}):
        run = Runs(tmp_path / "runs", device="cpu").prepare(TrainingPlan(encoder=name), corpus())
    assert run.read("config.json")["plan"]["encoder"] == name
    assert hub == []


@pytest.mark.parametrize("leave", [[], "x", {NAME: "much"}, {NAME: None}, {NAME: float("nan")}, 3])
def test_leave_of_another_form_is_refused(leave, hub):
    request = {"scenario": scenarios("encoder"), "leave": leave}
    assert served(exploring.SERVED, "explore")(request)["error"]["key"] == "problem.scenario_entry"
    assert hub == []


def test_a_scenario_that_is_the_request_has_its_leave_beside_it(hub):
    link = served(exploring.SERVED, "link")({**Scenario().to_json(), "leave": {NAME: 1}})
    assert Scenario.from_link(link["link"]) == Scenario()


def test_leave_ends_with_its_request():
    assert consented_mib(NAME) == float("inf")
    with with_consent({NAME: 3}):
        assert consented_mib(NAME) == 3
        assert not has_consent("other/model")
    assert has_consent("other/model")
