"""Every server function's answers are of the types that it declares."""

from __future__ import annotations

import base64
import json
import os
import re
import threading
import typing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

import lossprism
from lossprism.explorer.core import own_loss_from_python_file
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export import exploration_and_slider_stop_in_worker
from lossprism.explorer.lab.doctor.classes_report import DoctoredClasses
from lossprism.explorer.lab.doctor.data_report import DoctoredData
from lossprism.explorer.lab.doctor.logs.run_report import DoctoredRun
from lossprism.explorer.lab.doctor.number_report import ExplainedValue
from lossprism.explorer.lab.doctor.similarity_gap_findings import DoctoredSimilarities
from lossprism.explorer.lab.large import large_batch_response
from lossprism.explorer.lab.large.loss_matrix_methods import offered
from lossprism.explorer.lab.saved_training_batches import BatchFiles, SavedBatchScenario
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.plan import SCRATCH
from lossprism.explorer.lab.training.run_comparison import Started
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_json_types import Followed
from lossprism.explorer.lab.training.training_run import train
from lossprism.explorer.runtime import downloads, jobs
from lossprism.explorer.runtime.downloads import Download, Text
from lossprism.explorer.runtime.jobs import Job
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.limits import PACES
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.number_format import Real
from lossprism.explorer.runtime.response_field_types import Floats
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.web import page_requests
from lossprism.explorer.web.api import endpoint_functions, loss_descriptions, response_schemas
from lossprism.explorer.web.api.pasted_text_diagnosis import DoctoredPaste
from lossprism.explorer.web.page_requests import Nothing, Refused, Working
from lossprism.explorer.web.pages.compare import request_handlers as comparing
from lossprism.explorer.web.pages.compare.experiment_response_types import (
    CollapseCurves,
    ExperimentResults,
)
from lossprism.explorer.web.pages.compare.parity_request import Parity
from lossprism.explorer.web.pages.doctor import data_source, dataset_responses
from lossprism.explorer.web.pages.doctor import dataset_requests as doctor_data
from lossprism.explorer.web.pages.doctor import number_requests as doctor_requests
from lossprism.explorer.web.pages.doctor import run_requests as doctor_run
from lossprism.explorer.web.pages.explore import request_handlers as exploring
from lossprism.explorer.web.pages.explore import scenario_and_rows_of_request, uploaded_file_batches
from lossprism.explorer.web.pages.explore.loss_facts import NamedLoss
from lossprism.explorer.web.pages.explore.request_handlers import PICTURES, TAKEAWAYS
from lossprism.explorer.web.pages.explore.slider_preview import SliderPreview
from lossprism.explorer.web.pages.finetune import plan_check as finetune_check
from lossprism.explorer.web.pages.finetune import request_handlers as training
from lossprism.explorer.web.pages.finetune import request_plan, time_estimate
from lossprism.explorer.web.pages.finetune import state_entries as finetune_state
from lossprism.explorer.web.pages.finetune import uploaded_file_description as training_file
from lossprism.explorer.web.pages.large import remark_and_download_requests as large_taking
from lossprism.explorer.web.pages.large import request_handlers as large_requests
from lossprism.explorer.web.pages.large.uploaded_file_description import (
    HandedIn,
    LargeFile,
    LargeFileUndecided,
)
from lossprism.explorer.web.site import FACTS, page_data
from lossprism.losses import LOSSES
from lossprism.losses.sentence_transformers.saved_batch import SavedBatch
from tests import wire
from tests.scenes import CHART, drawn_apart
from tests.unit.lab.training.conftest import corpus

ROWS = [["A cat.", "A dog.", "1"], ["A bird.", "Some bird.", "4"], ["Sun.", "", "2"]]
# One loss of each shape: a matrix of pairs, stacked ones, queries and keys, triplets, classes.
LOOKED_INTO = ("cosent", "hierarchical_cosent", "info_nce", "triplet", "arcface")
FEW = {"source": "random", "random": {"pairs": 6, "dimension": 4}}
LISTED = {"source": "random", "random": {**FEW["random"], "candidates": 3}}
TABLE = b"sentence1,sentence2,score\nA cat.,A dog.,1\nA bird.,Some bird.,4\nSun.,,2\n"
UNCLEAR = b"a,b,c,d,e\n" + b"".join(
    b"%d,This %d,That %d,%d,%d\n" % (i, i, i, i, i) for i in range(8)
)


def packed(content: bytes) -> str:
    return base64.b64encode(content).decode()


@dataclass
class Server:
    """The functions of one page, and the types of the answers that they gave."""

    functions: dict
    given: set = field(default_factory=set)

    def ask(self, name: str, request: object, kind: type) -> dict:
        answer = self.functions[name](request)
        assert wire.misfits(answer, kind) == []
        self.given.add((name, kind))
        return answer

    def answered(self, *names: str) -> None:
        """All that these functions can answer was answered; all functions', where none is named."""
        for name in names or self.functions:
            function = self.functions[name]
            kinds = function.__annotations__["return"]
            for kind in typing.get_args(kinds) or (kinds,):
                assert (name, kind) in self.given, f"{name} never answered {kind}"


@pytest.fixture(scope="module")
def pages():
    """Each page's functions, computing on one thread as the server does."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield wire.served_functions()
    torch.set_num_threads(before)


def test_every_answer_is_declared():
    """Each type by one name, and each function of a page with the type of its answers."""
    written = wire.declarations()
    for page, functions in wire.served_functions().items():
        server = page.title().replace("_", "") + "Server"
        (methods,) = re.findall(rf"export interface {server} {{\n(.*?)}}\n", written, re.DOTALL)
        assert re.findall(r"^  (\w+)\(request: unknown\)", methods, re.MULTILINE) == sorted(
            functions
        )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"link": 3}, scenario_and_rows_of_request.Link),
        ({"link": "", "more": 1}, scenario_and_rows_of_request.Link),
        ({}, scenario_and_rows_of_request.Link),
        (True, int),
        (1.5, int),
        ("infinity", Real),
        ("####", Floats),
        ("AAAA", Floats),
        ([1, 2], tuple[int, int, int]),
        ([1, None], list[int]),
        ({"a": "b"}, dict[str, int]),
        ("levels", typing.Literal["level"]),
        ({"runs": {"a": {"error": {"key": "x"}}}}, training.Watched),
    ],
)
def test_what_is_not_of_its_type_is_found(value, kind):
    assert wire.misfits(value, kind)


def test_the_misfit_is_named_by_its_place():
    answer = {"scenario": {**Scenario().to_json(), "parameters": {"scale": {}}}}
    (found,) = wire.misfits(
        json.loads(json.dumps(answer)), scenario_and_rows_of_request.OpenedScenario
    )
    assert found.startswith("answer.scenario.parameters['scale']: '{}'")


@pytest.mark.parametrize("request_", [{}, {"what": "?", "source": {"kind": "?"}, "run": "?"}, "?"])
def test_what_makes_no_sense_is_answered_in_form(pages, request_):
    for functions in pages.values():
        for name, function in functions.items():
            answer = function(request_)
            assert wire.misfits(answer, wire.answers_of(function)) == [], name


def follow_a_training(server: Server, folder) -> None:
    """The newest batch of a folder, and none beside the newest."""
    queries = torch.nn.functional.normalize(torch.randn(6, 4), dim=1)
    for step in (1, 20):
        lossprism.probe("info_nce", (queries, queries)).save(folder, step=step)
    first, last = (str(folder / f"step-{step:08}.safetensors") for step in (1, 20))
    leave = {str(folder): 0.01}
    found = server.ask("newer_batch", {"name": first, "leave": leave}, exploring.NewerBatch)
    assert found["step"] == 20
    server.ask("newer_batch", {"name": last, "leave": leave}, type(None))


def edit_own_loss(server: Server, folder) -> None:
    """Its file is listed, read and written, but not where others reach the page."""
    path = folder / "mine.py"
    path.write_text("def wired(scores, labels):\n    return (scores * labels).sum()\n")
    own_loss_from_python_file.add_own_loss(f"{path}:wired")
    try:
        own_loss_from_python_file.set_page_host("127.0.0.1")
        assert server.ask("own", "wired", exploring.OwnLossFile)["problem"] is None
        held = server.ask("own_text", "wired", exploring.OwnFileText)
        requested = {"name": "wired", "text": "def wired(:\n", "digest": held["digest"]}
        own_loss_from_python_file.set_page_host("0.0.0.0")
        for name, request in (("own_text", "wired"), ("own_write", requested)):
            refused = server.ask(name, request, Refused)
            assert refused["error"]["key"] == "problem.own_loss_not_here"
        assert path.read_text() == held["text"]
        own_loss_from_python_file.set_page_host("127.0.0.1")
        server.ask("own_write", requested, exploring.OwnFileWritten)
        assert server.ask("own", "wired", exploring.OwnLossFile)["problem"]["values"]["line"] == 1
    finally:
        own_loss_from_python_file.set_page_host("")
        del LOSSES["wired"], own_loss_from_python_file._OWN_LOSSES["wired"]


def test_explore(pages, tmp_path, monkeypatch):
    server = Server(pages["explore"])
    for name, spec in LOSSES.items():
        for convention in ("", *(one.name for one in drawn_apart(spec))):
            data = LISTED if "lists" in spec.under(convention).needs else FEW
            scenario = {"loss": name, "convention": convention, "data": data}
            found = server.ask(
                "explore", {"scenario": scenario}, exploration_and_slider_stop_in_worker.Explored
            )
            steps = len(found["picture"]["steps"]) if name in LOOKED_INTO and not convention else 0
            for step in range(steps):
                looked = {
                    "scenario": {**scenario, "view": {"step": step}},
                    "known": found["batch"]["key"],
                }
                server.ask("explore", looked, exploration_and_slider_stop_in_worker.Explored)
    table = {"data": {"source": "table", "rows": ROWS}}
    found = server.ask(
        "explore", {"scenario": table}, exploration_and_slider_stop_in_worker.Explored
    )
    assert (len(found["skipped"]), found["limited"]) == (1, False)
    nothing = {"data": {"source": "table", "rows": ROWS[2:]}}
    server.ask("explore", {"scenario": nothing}, scenario_and_rows_of_request.Unexplored)
    named = {"scenario": {"data": {"source": "table", "rows": []}}, "rows": "unknown"}
    server.ask("explore", named, scenario_and_rows_of_request.SendRows)
    file = {"name": "a.csv", "content": packed(TABLE)}
    assert server.ask("read_file", file, uploaded_file_batches.FileRead)["reading"]["reasons"]
    file = {"name": "a.csv", "content": packed(UNCLEAR)}
    server.ask("read_file", file, uploaded_file_batches.FileUndecided)
    server.ask("read_file", {"name": "a.csv", "file": "gone"}, uploaded_file_batches.SendFile)
    small = {"source": "random", "random": {"pairs": 4, "dimension": 4}}
    server.ask("spread", {"scenario": {"data": small}}, exploring.FiguresOverBatches)
    opened = server.ask(
        "link", {"loss": "circle", "parameters": {"scale": 30}}, scenario_and_rows_of_request.Link
    )
    server.ask("open_link", opened["link"], scenario_and_rows_of_request.OpenedScenario)
    server.ask("loss", "matryoshka(cosent)+angle", NamedLoss)
    for loss in ("info_nce+angle", "cosent+vicreg", "matryoshka(info_nce)", "matryoshka(angle,64)"):
        server.ask(
            "explore",
            {"scenario": {"loss": loss}, "known": ""},
            exploration_and_slider_stop_in_worker.Explored,
        )
    server.ask("statistics", {}, exploring.Statistics)
    server.ask("statistics", {"data": {"source": "table", "rows": ROWS[:1]}}, exploring.Statistics)
    for loss in ("cosent", "info_nce", "pairwise_hinge"):  # with a range advised, and without
        swept = {"scenario": {"loss": loss, "data": FEW}, "parameter": ""}
        server.ask("sweep", swept, exploring.Swept)
    for view in ({}, {"facet": "weight"}, {"facet": "mask"}):
        moved = {"scenario": {"data": FEW, "view": view}, "parameter": "scale"}
        server.ask("slider_preview", moved, SliderPreview)
    server.ask(
        "slider_preview", {**named, "parameter": "scale"}, scenario_and_rows_of_request.SendRows
    )
    opinion = {"scenario": {"data": FEW}, "model": "all-MiniLM-L6-v2"}
    server.ask("second_opinion", opinion, exploring.Opinion)
    monkeypatch.setattr(exploring, "start_all", lambda _runs, plans: [plans[0].loss])
    server.ask("trials", {"scenario": {}, "parameter": ""}, Started)
    server.ask("chart", CHART, Text)
    for what in (*TAKEAWAYS, *PICTURES):
        server.ask("take", {"what": what, "scenario": {}, "language": "zh"}, Text)
    monkeypatch.delenv("SPACE_ID", raising=False)
    follow_a_training(server, tmp_path / "prism")
    edit_own_loss(server, tmp_path)
    server.ask("forget", {}, Nothing)
    follow_jobs(server)
    server.answered()


def test_the_data_of_a_page_when_it_opens():
    for page, result in page_data(Scenario()).items():
        result = plain(result)
        assert wire.misfits(result, FACTS[page], page) == []


def follow_jobs(server: Server) -> None:
    assert server.ask("look", "mine", page_requests.Look)["job"] is None
    with jobs.job("mine"):
        jobs.step("reading", 1, 2, name="a.csv")
        assert server.ask("look", "mine", page_requests.Look)["job"]["done"] == 1
        assert server.ask("cancel", "mine", page_requests.Cancelled)["cancelled"]


def test_compare(pages):
    server = Server(pages["compare"])
    server.ask("chart", CHART, Text)
    sides = [
        *({"loss": loss, "convention": "", "parameters": {}} for loss in LOOKED_INTO),
        {"loss": "ranknot", "convention": "", "parameters": {}},
    ]
    scenario = {"scenario": {"data": FEW}, "sides": sides}
    looked = server.ask(
        "compare", {**scenario, "look": True, "at": [0, -1, 2]}, comparing.LossComparison
    )
    assert [bool(one["looked"]) for one in looked["sides"]] == [True] * 5 + [False]
    key = looked["batch"]["key"]
    assert "batch" not in server.ask(
        "compare", {**scenario, "known": key}, comparing.LossComparison
    )
    typed = {"data": {"source": "table", "rows": ROWS}}
    named = server.ask("compare", {**scenario, "scenario": typed}, comparing.LossComparison)
    assert named["skipped"]
    bare = {"data": {"source": "table", "rows": []}}
    held = {**scenario, "scenario": bare, "rows": named["rows"]}
    assert server.ask("compare", held, comparing.LossComparison)["sides"] == named["sides"]
    empty = {"data": {"source": "table", "rows": [["", "", ""]]}}
    server.ask("compare", {**scenario, "scenario": empty}, scenario_and_rows_of_request.Unexplored)
    lost = {**held, "rows": "?"}
    for name, more in (("compare", {}), ("formula", {"base": 0, "other": 2}), ("parity", {})):
        server.ask(name, {**lost, **more}, scenario_and_rows_of_request.SendRows)
    for base in range(5):
        server.ask("formula", {**scenario, "base": base, "other": 2}, comparing.FormulaDifference)
    first = {**scenario, "sides": sides[:2]}
    assert not server.ask("parity", first, Parity)["seeded"]
    printed = {"data": {"source": "example", "example": "cosent_batch"}}
    assert server.ask("parity", {**first, "scenario": printed}, Parity)["seeded"]
    assert server.ask("link", Scenario().to_json(), scenario_and_rows_of_request.Link) == {
        "link": ""
    }
    link = server.ask("scene_link", Scenario().to_json(), scenario_and_rows_of_request.Link)["link"]
    server.ask("open_link", link, scenario_and_rows_of_request.OpenedScenario)
    server.ask("loss", "cosent+angle", NamedLoss)
    server.answered("compare", "formula", "parity", "link", "scene_link", "open_link", "loss")


def test_compare_varies(pages):
    server = Server(pages["compare"])
    # The last is no loss at all; the batch has no lists, and triplets no scale.
    losses = ("cosent", "info_nce", "triplet", "list_net", "ranknot")
    sides = [{"loss": loss, "convention": "", "parameters": {}} for loss in losses]
    scenario = {"scenario": {"data": FEW}, "sides": sides}
    along = {"along": ["scale", "temperature", "", "", "scale"], "logarithmic": True, "points": 5}
    varied = {
        "sweep": (along, ExperimentResults),
        "mechanics": ({"way": "micro", "size": 2, "average": True}, ExperimentResults),
        "precision": ({}, ExperimentResults),
        "what_if": ({"change": "duplicate", "pair": 1, "by": 0.2}, ExperimentResults),
        "collapse": ({"points": 3}, CollapseCurves),
    }
    for name, (more, kind) in varied.items():
        found = server.ask(name, {**scenario, **more}, kind)["sides"]
        assert found[0]["found"], name
        assert found[4]["problem"], name
        lost = {**scenario, "scenario": {"data": {"source": "table", "rows": []}}, "rows": "?"}
        server.ask(name, {**lost, **more}, scenario_and_rows_of_request.SendRows)
    server.answered(*varied)


def opened_batch() -> SavedBatchScenario:
    """A batch that a training kept, with its scenario."""
    vectors = (torch.ones(2, 3), torch.ones(2, 3))
    batch = SavedBatch(7, vectors, None, torch.ones(2), None, "Loss", 0.5, 2)
    return SavedBatchScenario(Path("step-00000007.safetensors"), batch, Scenario(), 0.25)


def test_doctor(pages, tmp_path, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path))
    monkeypatch.setattr(page_requests, "ANSWER_S", 600)
    monkeypatch.setattr(downloads, "PACKED_FOLDER", tmp_path / "taken")
    server = Server(pages["doctor"])
    known = {"loss": "cosent", "batch": 8, "tokens": 0, "language": "zh"}
    for name in data_source.SETS:
        server.ask(
            "examine", {"source": {"example": name}, **known}, dataset_responses.ExaminedData
        )
    of_classes = b"text,class\none,a\ntwo,a\ntwo,b\n"
    for content, kind in (
        (TABLE, dataset_responses.ExaminedData),
        (UNCLEAR, dataset_responses.UndecidedData),
        (of_classes, dataset_responses.ExaminedClasses),
        (b"pos,neg\n0.5,0.25\n", DoctoredSimilarities),
    ):
        file = {"name": "a.csv", "content": packed(content)}
        handed = server.ask("hand_in", file, HandedIn)
        source = {"kind": "file", "name": "a.csv", **handed}
        server.ask("examine", {"source": source, **known}, kind)
    rows = (b'{"sentence1": "a", "sentence2": "b"}', "stsb-train.jsonl")
    monkeypatch.setattr(doctor_data, "hub_content", lambda *_: rows)
    server.ask("fetch", {"hub": "someone/set", "rows": 10}, dataset_responses.FetchedRows)
    of_example = {"source": {"example": "twins"}}
    for loss in ("info_nce", "cosent"):
        request = {**of_example, "loss": loss, "encoder": EMBEDDED, "most": 12, "batch": 8}
        server.ask("encode", request, dataset_responses.EncodedData)
    server.ask("mine", {**of_example, "encoder": EMBEDDED, "most": 24}, Download)
    for what in doctor_data.FILES:
        server.ask("take", {**of_example, "what": what}, Download)
    monkeypatch.setattr(page_requests, "ANSWER_S", 0.0)
    over = threading.Event()
    monkeypatch.setitem(doctor_data.FILES, "kept", ("", lambda *_: over.wait(60)))
    practice = {"source": {"example": "practice_english"}, "what": "kept"}
    server.ask("take", practice, Working)
    over.set()
    monkeypatch.setattr(doctor_data, "start_reading", lambda source: Job())
    server.ask("examine", {**of_example, **known}, Working)
    monkeypatch.setattr(doctor_data, "_start_looking", lambda *request: Job())
    server.ask("encode", {**of_example, "encoder": EMBEDDED}, Working)
    slow = threading.Event()
    request = {**of_example, "encoder": EMBEDDED, "most": 23}
    server.ask("mine", request, Working)
    monkeypatch.setattr(doctor_data, "hub_content", lambda *_: slow.wait(60) and rows)
    server.ask("fetch", {"hub": "someone/other", "rows": 10}, Working)
    slow.set()
    server.ask("stop", of_example, Nothing)
    for known in ({}, {"loss": "siglip", "batch": "8"}, {"loss": "dcl", "margin": "0.5"}):
        for value in ("5.545", "0", "-0.3", "123456.7"):
            server.ask(
                "explain",
                {"value": value, **known, "language": "en"},
                doctor_requests.NumberExplained,
            )
    file = {"name": "log.csv", "content": packed(b"step,loss\n1,2.5\n2,nan\n3,2.25\n")}
    logged = {"kind": "file", "name": "log.csv", **server.ask("hand_in", file, HandedIn)}
    for source in (*({"example": name} for name in doctor_run.LOGS), logged):
        server.ask("examine_run", {"source": source, "language": "zh"}, doctor_run.ExaminedRunLog)
        beside = {"source": {"example": "jumped"}, "loss": "cosent"}
        request = {"source": source, "beside": beside, "language": "en"}
        server.ask("examine_run", request, doctor_run.ExaminedRunLog)
    monkeypatch.setattr(doctor_run, "files_in", lambda _folder: BatchFiles([], 1))
    monkeypatch.setattr(
        doctor_run, "answer_when_done", lambda job, result: result([opened_batch()])
    )
    server.ask(
        "kept", {"folder": str(tmp_path), "leave": {str(tmp_path): 1}}, doctor_run.KeptBatches
    )
    how_far = Working(jobs.Progress("opening", 1, 2))
    monkeypatch.setattr(doctor_run, "answer_when_done", lambda job, result: how_far)
    server.ask("kept", {"folder": str(tmp_path), "leave": {str(tmp_path): 1}}, Working)
    server.answered("explain", "examine", "encode", "mine", "fetch", "hand_in", "take", "stop")
    typed = {"kind": "typed", "text": "loss: 0.7\nloss: 0.6\nloss: 0.5\n"}
    server.ask("examine_run", {"source": typed}, doctor_run.ExaminedRunLog)
    for text in ("5.545", typed["text"], "a\tb\nc\td\n"):
        server.ask("read_pasted", {"text": text}, doctor_requests.PastedKind)
    server.answered("examine_run", "kept", "read_pasted")


def test_large(pages, tmp_path, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path))
    monkeypatch.setattr(page_requests, "ANSWER_S", 600)  # on a busy machine, too
    server = Server(pages["large"])
    drawn = {"source": {"random": {"pairs": 40}}}
    for loss in offered():
        for more in ({}, {"window": [0, 3, 2, 8]}):
            server.ask("blocks", {**drawn, "loss": loss, **more}, large_batch_response.DrawnBlocks)
        server.ask("details", {**drawn, "loss": loss}, large_batch_response.Details)
    for search in ("", "label > 0", "nowhere"):
        server.ask("pairs", {**drawn, "search": search}, large_batch_response.PairsPage)
    monkeypatch.setattr(downloads, "PACKED_FOLDER", tmp_path / "taken")
    server.ask("judge", drawn, large_batch_response.Judgement)
    texts = (*large_taking.TABLES, *large_taking.FIGURES, "figures_csv", "figures_json")
    for what in (*texts, "changes_csv"):
        server.ask("take", {**drawn, "what": what, "language": "zh"}, Text)
    for what in large_taking.FILES:
        server.ask("take", {**drawn, "what": what}, Download)
    for content, kind in ((TABLE, LargeFile), (UNCLEAR, LargeFileUndecided)):
        first, second = (
            {"token": "0" * 16, "start": start, "content": packed(part), "name": "a.csv"}
            for start, part in ((0, content[:9]), (9, content[9:]))
        )
        assert server.ask("hand_in", first, HandedIn) == {}
        named = server.ask("hand_in", {**second, "last": True}, HandedIn)
        file = {"kind": "file", "file": named["file"], "name": "a.csv"}
        server.ask("describe_file", {"source": file}, kind)
    over = threading.Event()
    job = Job.in_background(lambda report: over.wait(600))
    for begin in ("start_opening", "_reading"):
        monkeypatch.setattr(large_requests, begin, lambda requested: job)
    monkeypatch.setattr(page_requests, "ANSWER_S", 0.0)
    for name in ("blocks", "details", "pairs", "describe_file"):
        server.ask(name, drawn, Working)
    monkeypatch.setattr(large_taking, "start_opening", lambda requested: job)
    others = {"source": {"random": {"pairs": 41}}}
    server.ask("judge", others, Working)
    server.ask("take", {**others, "what": "pairs_csv"}, Working)
    over.set()
    server.ask("stop", drawn, Nothing)
    server.ask("forget", {}, Nothing)
    server.answered()


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Runs whose process never comes, uploads and downloads, all in a folder of the test."""
    made = Runs(tmp_path / "runs", device="cpu")
    for module in (training, finetune_check, time_estimate):
        monkeypatch.setattr(module, "runs", lambda: made)
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(downloads, "FOLDER", tmp_path / "downloads")
    monkeypatch.setattr(made, "_spawn", lambda run, *_: run.take_ticket(os.getpid()))
    return made


SMALL = {
    **finetune_state.first_plan(),
    **{"encoder": SCRATCH, "dimension": 8, "steps": 6, "batch_size": 8, "evaluations": 2},
}


def test_finetune(pages, runs, monkeypatch):
    server = Server(pages["finetune"])
    server.ask("check", {"plan": SMALL}, finetune_check.Checked)
    refused = {**SMALL, "loss": "info_nce", "kind": "cross", "encoder": "all-MiniLM-L6-v2"}
    assert server.ask("check", {"plan": refused}, finetune_check.Checked)["refused"]
    link = Scenario(loss="circle", parameters=(("scale", 30.0),)).to_link()
    linked = {**SMALL, "data": {**SMALL["data"], "source": "link", "link": link}}
    assert server.ask("check", {"plan": linked}, finetune_check.Checked)["of_scene"]
    timed = dict.fromkeys(time_estimate.PACE_FIELDS, 0.5)
    monkeypatch.setattr(time_estimate, "_paces", Cache(PACES))
    monkeypatch.setattr(time_estimate, "estimate", lambda *_, **__: {**timed, "steps": 6})
    assert server.ask("estimate", {"plan": SMALL}, time_estimate.Pace) == timed
    waiting = server.ask("start", {"plans": [SMALL]}, Started)["started"]
    assert server.ask("estimate", {"plan": {**SMALL, "batch_size": 9}}, time_estimate.Pace) == {}
    server.ask("repeat", {"plan": SMALL}, Started)
    found = server.ask("watch", {"offsets": {"gone": 0}, "list": True}, training.Watched)
    assert len(found["listed"]) == 7
    server.ask("steer", {"run": waiting[0], "what": "stop"}, Nothing)
    for content, kind in (
        (TABLE, training_file.Upload),
        (UNCLEAR, training_file.UploadUndecided),
    ):
        file = {"name": "a.csv", "content": packed(content)}
        handed = server.ask("hand_in", file, kind)
        server.ask("describe", {"file": handed["file"], "name": "a.csv"}, kind)
    follow_jobs(server)
    server.ask("loss", "cosent+angle", NamedLoss)
    server.answered("check", "estimate", "start", "repeat", "watch", "steer", "hand_in", "describe")
    server.answered("loss")


def test_a_run(pages, runs):
    server = Server(pages["finetune"])
    names = [trained(runs, {**SMALL, "seed": seed}) for seed in (0, 1)]
    names.append(trained(runs, {**SMALL, "loss": "cosine_mse"}))
    names.append(trained(runs, {**SMALL, "loss": "cosine_mse", "seed": 1}))
    watched = server.ask("watch", {"offsets": dict.fromkeys(names, 0)}, training.Watched)["runs"]
    kinds = {record["kind"] for one in watched.values() for record in one["records"]}
    assert {"step", "evaluation", "held_out"} <= kinds
    request = {"run": names[0], "step": 6, "scenario": {"loss": "cosent"}}
    assert "batch" in server.ask("probe", request, training.Probed)
    assert "batch" not in server.ask("probe", {**request, "known": names[0]}, training.Probed)
    server.ask("figure", {**request, "language": "en"}, Text)
    server.ask("chart", CHART, Text)
    assert server.ask("remark", {"run": names[0]}, training.Remarked)["remarks"]
    compared = server.ask("compare", {"runs": names}, training.Compared)
    assert compared["differences"]
    assert compared["verdict"]
    assert compared["neighbours"]
    nothing = server.ask("compare", {"runs": []}, training.Compared)
    assert (nothing["groups"], nothing["differences"], nothing["verdict"]) == ([], [], [])
    for what in training.TEXTS:
        server.ask("take", {"run": names[0], "what": what}, Text)
    for what in training.PACKED:
        server.ask("take", {"run": names[0], "what": what}, Download)
    server.answered("chart", "probe", "figure", "remark", "compare", "take")


@pytest.mark.parametrize("loss", LOSSES)
def test_programs(loss):
    """Also where cells are masked, and where no pair is ordered."""
    if LOSSES[loss].reads_teacher:
        return  # which programs cannot give
    first = ["a", "a", "a"] if "lists" in LOSSES[loss].needs else ["a", "c", "e"]
    for labels in ([0, 1, 1], [1, 1, 1]):
        pairs = (first, ["b", "d", "f"], labels)
        traced = endpoint_functions.trace_loss(loss, *pairs, similarities=[0.5, 0.25, 0.1])
        assert (
            wire.misfits(json.loads(json.dumps(traced, allow_nan=False)), response_schemas.Traced)
            == []
        )


def test_programs_compare():
    """Also losses that cannot be computed, and where no pair is ordered."""
    named = [{"loss": name} for name in ("cosent", "info_nce", "triplet", "nowhere")]
    for labels in ([0, 1, 1], [1, 1, 1]):
        pairs = (["a", "c", "e"], ["b", "d", "f"], labels)
        found = endpoint_functions.compare_losses(named, *pairs, similarities=[0.5, 0.25, 0.1])
        answer = json.loads(json.dumps(found, allow_nan=False))
        assert wire.misfits(answer, response_schemas.ComparedLosses) == []


def test_programs_draw():
    pairs = {"sentences1": ["a", "c"], "sentences2": ["b", "d"], "encoder": "all apart"}
    for format in ("svg", "png"):
        found = endpoint_functions.figure(loss="info_nce", **pairs, format=format)
        answer = json.loads(json.dumps(found, allow_nan=False))
        assert wire.misfits(answer, response_schemas.DrawnFigure) == []


def test_programs_get_the_meaning_of_a_number():
    for requested in ((5.545, "siglip"), (2.0, "info_nce", 64), (-0.8, "info_nce", 8)):
        answer = json.loads(
            json.dumps(endpoint_functions.explain_loss_value(*requested), allow_nan=False)
        )
        assert wire.misfits(answer, ExplainedValue) == []


def test_programs_get_the_findings_about_their_data():
    rows = (["a", "A", "c", "e"], ["b", "b", "d", "b"])
    for loss, scores in (("cosine_mse", [5, 0, 3, 2]), ("info_nce", None), ("margin_mse", None)):
        found = endpoint_functions.doctor_data(loss, *rows, scores, batch=3, tokens=1)
        answer = json.loads(json.dumps(found, allow_nan=False))
        assert wire.misfits(answer, DoctoredData) == []
    seen = endpoint_functions.doctor_data(
        "info_nce", *rows, batch=3, encoder=EMBEDDED, encoded=10, negatives=1, mine_margin=0
    )
    assert wire.misfits(json.loads(json.dumps(seen)), DoctoredData) == []
    assert seen["encoded"]["pairs"] == 4
    assert seen["mined"]["triplets"]
    table, columns = "id,text,kind\n1,a,x\n2,b,x\n3,b,y\n", {"text": "text", "class": "kind"}
    classes = endpoint_functions.doctor_data(table=table, columns=columns)
    assert wire.misfits(json.loads(json.dumps(classes)), DoctoredClasses) == []
    assert classes["findings"][0]["name"] == "texts_in_classes"
    assert classes["suited"][0]["reasons"] == ["prototypes"]


def test_programs_get_the_findings_about_a_run():
    values = [3 * 0.9**step for step in range(60)]
    for requested in (
        {"values": values, "held_out": [1.0, 0.5, 0.6], "loss": "info_nce", "batch": 8},
        {"log": "step,loss\n1,2.5\n2,nan\n"},
        {"values": [1.0, None, "inf"], "language": "zh"},
        {
            "log": "n,loss,other_loss\n1,2.5,3\n2,2,3\n3,1.9,2\n4,1,1\n",
            "step": "n",
            "curve": "other_loss",
            "held_out_curve": "loss",
            "loss": "info_nce",
            "scale": 10.0,
            "beside": "loss\n2\n1\n1\n",
            "beside_loss": "info_nce",
            "beside_temperature": 0.05,
        },
    ):
        answer = json.loads(json.dumps(endpoint_functions.doctor_run(**requested), allow_nan=False))
        assert wire.misfits(answer, DoctoredRun) == []
    for text in ("2.09", "loss: 0.7\nloss: 0.6\nloss: 0.5\n", "a\tb\nc d\te f\n"):
        pasted = json.loads(json.dumps(endpoint_functions.doctor_pasted(text), allow_nan=False))
        assert wire.misfits(pasted, DoctoredPaste) == []
    assert [one["name"] for one in answer["beside"]["compared"]] == ["other_scale"]
    assert (answer["step"], answer["curve"], answer["held_out"]) == ("n", "other_loss", "loss")


def test_programs_get_the_losses_and_their_runs(runs, monkeypatch):
    for requested, kind in (
        ({}, dict[str, dict[str, str]]),
        ({"detail": "full"}, list[loss_descriptions.ListedLoss]),
        ({"name": "NT-Xent"}, loss_descriptions.CalledLoss),
    ):
        listed = json.loads(
            json.dumps(endpoint_functions.list_losses(**requested), allow_nan=False)
        )
        assert wire.misfits(listed, kind) == []
    monkeypatch.setattr(endpoint_functions, "Runs", lambda: runs)
    name = trained(runs, SMALL)
    status = json.loads(json.dumps(endpoint_functions.training_status(name), allow_nan=False))
    assert wire.misfits(status, Followed) == []
    assert {"step", "evaluation", "held_out"} <= {one["kind"] for one in status["records"]}


def test_a_run_whose_scores_are_all_one(pages, runs):
    same = tuple(("sun " * (2 * i + 1), "sun " * (2 * i + 2), float(i % 3)) for i in range(40))
    name = trained(runs, SMALL, Corpus(same[:30], same[30:]))
    request = {"offsets": {name: 0}}
    records = Server(pages["finetune"]).ask("watch", request, training.Watched)["runs"][name][
        "records"
    ]
    assert "alarm" in {record["kind"] for record in records}


def trained(runs: Runs, plan: dict, pairs: Corpus | None = None) -> str:
    """Train here, without a process; the name of the run."""
    run = runs.prepare(request_plan.read_plan(plan), pairs or corpus())
    run.take_ticket(os.getpid())
    train(run)
    return run.name
