"""Whatever is sent gets an answer: what was asked for or a sentence, soon, from little memory.

Each server function of each page and each endpoint is asked what it expects with one entry after
another odd (`tests.hostile`). One that is new is found by itself, and asked by the names that the
others know.
"""

from __future__ import annotations

import inspect
import json
import os
import time
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from gradio.routes import ORJSONResponse

from explorer.core.scenario import Scenario
from explorer.lab import batches
from explorer.lab.doctor.explain import explain
from explorer.lab.training.runs import Runs
from explorer.runtime import parcels
from explorer.runtime.problem import Problem
from explorer.sources.encoders import EMBEDDED
from explorer.sources.practice import practice_pairs
from explorer.web import hosting, site
from explorer.web.api import endpoints
from explorer.web.pages.explore import files as explore_files
from explorer.web.pages.explore import requests as explore_requests
from explorer.web.pages.finetune import plans
from explorer.web.pages.finetune import requests as finetune_requests
from explorer.web.programs import Refusal, endpoint
from tests import wire
from tests.hostile import varied
from tests.unit.web.test_wire import SMALL, TABLE, packed, trained

pytestmark = pytest.mark.encoder

SECONDS = 1.0  # of a processor
MIB = 200
# What several functions read by the same code is gone into where it is cheapest to do so.
SHARED = ("scenario", "source", "plan", "plans", "data", "rules", "parameters", "on")
FULL = ("explore", "blocks", "check")
TURNS = 5

FEW = {"source": "random", "random": {"pairs": 6, "dimension": 4}}
FILE = {"name": "a.csv", "content": packed(TABLE)}
COLUMNS = {"first": "sentence1"}


def scene() -> dict:
    """A scene in which every entry is told."""
    made = json.loads(json.dumps(Scenario().to_json()))
    data, reading = made["data"], made["data"]["reading"]
    data |= {"source": "random", "rows": [["A cat.", "A dog.", "1"]]}
    data |= {"corrections": [["#1 a", "#1 b", "1"]], "random": {**data["random"], "pairs": 6}}
    reading |= {"label_range": [0, 1], "reasons": [[1, "problem.no_pairs", [["a", "b"]]]]}
    made["rules"] |= {"threshold": 0.5, "label_range": [0, 1]}
    made["view"] |= {"step": 1, "pinned": [0, 1]}
    return {**made, "parameters": {"scale": 20}}


TYPED = {"source": "table", "rows": [["A cat.", "A dog.", "1"], ["A bird.", "The sun.", "0"]]}
RANDOM = {
    "kind": "random",
    "random": {"pairs": 40, "dimension": 8, "labels": "graded", "grades": 5, "seed": 0},
}
SIDES = {
    "sides": [
        {"loss": "cosent", "convention": "", "parameters": {"scale": 10}},
        {"loss": "cosine_mse", "convention": "", "parameters": {}},
    ]
}
LARGE = {
    "source": RANDOM,
    "loss": "cosent",
    "parameters": {"scale": 20},
    "rules": {"threshold": 0.5, "label_range": [0, 5]},
    "twins": "keep",
}
DRAWN = {"language": "en", "dark": True, "window": [0, 3, 2, 8], "facet": "total"}


def known_requests(file: str, run: str) -> dict[tuple[str, str], list]:
    """What each function expects, by its page and name; `file` is an upload, `run` has ended."""
    few = {"scenario": {"data": FEW}}
    of_file = {"file": file, "name": "a.csv", "columns": COLUMNS}
    opened = {"kind": "file", **of_file, "header": True, "corrections": [["A cat.", "A dog.", "0"]]}
    link = Scenario().to_link()
    drawn = {"sampler": "shuffled", "size": 2, "seed": 0, "number": 0}
    from_file = {"data": {"source": "table", "rows": [], "reading": {"draw": drawn}}}
    plans = [
        {**SMALL, "parameters": {"scale": 20}, "threshold": 1, "label_range": [0, 5]},
        {**SMALL, "data": {"source": "file", **of_file, "held_out_file": file}},
        {**SMALL, "data": {"source": "link", "link": f"#{link}"}},
        {**SMALL, "data": {"source": "hub", "hub": "", "split": "train"}},
    ]
    at = {"run": run, "step": 6, "scenario": {"loss": "cosent"}, "known": "", "language": "en"}
    takes = ("matrix_svg", "corrected_csv", "code_alone")
    return {
        ("explore", "explore"): [
            {"scenario": scene(), "known": "x"},
            {"scenario": {"data": TYPED}},
        ],
        ("explore", "read_file"): [{**of_file, "header": True, "draw": drawn}, FILE],
        ("explore", "link"): [scene()],
        ("explore", "open_link"): [link],
        **{(page, "loss"): ["cosent+angle"] for page in ("explore", "compare", "finetune")},
        ("explore", "statistics"): [{"data": FEW}],
        ("explore", "spread"): [{**few, "file": None}, {"scenario": from_file, **of_file}],
        ("explore", "sweep"): [{**few, "parameter": "scale"}],
        ("explore", "trials"): [{"scenario": {}, "parameter": "scale"}],
        ("explore", "second_opinion"): [{**few, "model": "/tmp"}],
        ("explore", "take"): [{**few, **of_file, "what": what, "dark": True} for what in takes],
        ("explore", "own"): ["mine"],
        ("explore", "own_text"): ["mine"],
        ("explore", "own_write"): [{"name": "mine", "text": "", "digest": ""}],
        ("compare", "compare"): [{**few, **SIDES, "at": [2, -1], "look": True, "known": "x"}],
        ("compare", "formula"): [{**few, **SIDES, "base": 0, "other": 1}],
        ("compare", "parity"): [{**few, **SIDES}],
        ("compare", "take"): [{**few, "what": "matrix_svg", "dark": True}],
        ("compare", "sweep"): [
            {**few, **SIDES, "along": ["scale", ""], "logarithmic": True, "points": 9}
        ],
        ("compare", "mechanics"): [{**few, **SIDES, "way": "micro", "size": 2, "average": True}],
        ("compare", "precision"): [{**few, **SIDES}],
        ("compare", "what_if"): [{**few, **SIDES, "change": "shift", "pair": 1, "by": 0.2}],
        ("compare", "collapse"): [{**few, **SIDES, "points": 5}],
        ("compare", "link"): [scene()],
        ("compare", "scene_link"): [scene()],
        ("compare", "open_link"): [link],
        ("doctor", "explain"): [
            {"value": "5.545", "loss": "", "batch": "", "scale": "", "language": "zh"}
        ],
        ("doctor", "examine"): [
            {"source": set_, "loss": "cosent", "batch": 8, "tokens": 256, "language": "zh"}
            for set_ in ({"kind": "example", "example": "twins"}, {"kind": "file", **of_file})
        ],
        ("doctor", "encode"): [
            {
                "source": {"kind": "file", **of_file},
                "loss": "info_nce",
                "batch": 8,
                "encoder": EMBEDDED,
                "most": 12,
                "language": "en",
            }
        ],
        ("doctor", "mine"): [
            {
                "source": {"kind": "file", **of_file},
                "encoder": EMBEDDED,
                "most": 12,
                "negatives": 1,
                "margin": 0.05,
            }
        ],
        ("doctor", "fetch"): [{"hub": "", "split": "train", "rows": 10}],
        ("doctor", "take"): [{"source": {"kind": "file", **of_file}, "what": "kept"}],
        ("doctor", "stop"): [
            {"source": {"kind": "file", **of_file}, "encoder": EMBEDDED, "most": 12}
        ],
        ("doctor", "hand_in"): [FILE],
        ("doctor", "kept"): [{"folder": "/nowhere", "language": "zh"}],
        ("doctor", "examine_run"): [
            {"source": source, "curve": "", "held_out": "", "loss": "info_nce", "batch": "8"}
            for source in ({"kind": "example", "example": "jumped"}, {"kind": "file", **of_file})
        ],
        ("large", "blocks"): [
            {**LARGE, "window": [0, 3, 2, 8]},
            {"source": opened, "loss": "cosent"},
            {"source": {"kind": "explore", "link": link}},
        ],
        ("large", "details"): [LARGE],
        ("large", "pairs"): [{**LARGE, "search": "label > 0", "column": "label", "page": 0}],
        ("large", "stop"): [LARGE],
        ("large", "judge"): [LARGE],
        ("large", "take"): [
            {**LARGE, **DRAWN, "what": what} for what in ("map_svg", "figures_csv", "pairs_csv")
        ],
        ("large", "hand_in"): [
            {**FILE, "token": "0" * 16, "start": 0, "last": True},
            {"token": "0" * 16, "forget": True},
        ],
        ("large", "describe_file"): [{"source": opened}],
        ("finetune", "check"): [{"plan": plan} for plan in plans],
        ("finetune", "estimate"): [{"plan": plans[0], "repetition": False}],
        ("finetune", "start"): [{"plans": plans[:1]}],
        ("finetune", "repeat"): [{"plan": plans[0]}],
        ("finetune", "trials"): [{"plan": plans[0], "parameter": "scale"}],
        ("finetune", "watch"): [{"offsets": {run: 0}, "list": True, "known": [run]}],
        ("finetune", "steer"): [{"run": run, "what": "stop"}],
        ("finetune", "probe"): [at],
        ("finetune", "figure"): [{**at, "dark": False, "origin": "a run"}],
        ("finetune", "remark"): [{"run": run}],
        ("finetune", "share"): [{"runs": [run]}],
        ("finetune", "compare"): [{"runs": [run], "on": of_file}],
        ("finetune", "take"): [{"run": run, "what": what} for what in ("json", "script", "model")],
        ("finetune", "hand_in"): [FILE],
        ("finetune", "describe"): [of_file],
    }


def requests_of(page: str, name: str, known: dict[tuple[str, str], list]) -> list:
    """What a function expects; of one that is not known, all entries that the page's others do."""
    if (page, name) in known:
        return known[page, name]
    others = [
        one for (of, _), all_ in known.items() if of == page for one in all_ if type(one) is dict
    ]
    return [{key: value for other in others for key, value in other.items()}, "mine"]


def wrong(answer: Callable[[], object], capsys: pytest.CaptureFixture) -> Iterator[str]:
    """What is wrong with what comes, how long it takes and how much memory."""
    began, before = time.process_time(), peak_begins()
    try:
        answer_ = answer()
        ORJSONResponse._render(answer_)
        if "problem.internal" in str(answer_):
            lines = capsys.readouterr().err.strip().splitlines()
            places = [line for line in lines if "explorer/" in line or "losses/" in line]
            yield f"went wrong inside: {lines[-1]}{''.join(places[-1:])}"
    except Exception as error:
        yield f"raised {error!r:.300}"
    if (took := time.process_time() - began) > SECONDS:
        yield f"took {took:.1f} s"
    if (held := memory("VmHWM") - before) > MIB:
        yield f"held {held:.0f} MiB"


def memory(what: str) -> float:
    """A figure of this process in MiB, 0 where the system tells none."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


def peak_begins() -> float:
    """From here on VmHWM is the peak since now; how much there is now."""
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A run that has ended. What is written stays in a folder of the test, and no run begins."""
    folder = tmp_path_factory.mktemp("fuzz")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    made = Runs(folder / "runs", device="cpu")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOSSPRISM_CACHE", str(folder / "cache"))
        patch.delenv("SPACE_ID", raising=False)
        patch.setattr(parcels, "FOLDER", folder / "parcels")
        patch.setattr(parcels, "TAKEN", folder / "parcels" / "taken")
        patch.setattr(explore_requests, "default_runs", lambda: made)
        patch.setattr(finetune_requests, "runs", lambda: made)
        patch.setattr(hosting, "default_runs", lambda: made)
        patch.setattr(endpoints, "Runs", lambda **_: made)
        patch.setattr(made, "_spawn", lambda run, *_: run.take_ticket(os.getpid()))
        timed = dict.fromkeys((*finetune_requests.PACE, "steps"), 1)
        patch.setattr(finetune_requests, "estimate", lambda *_, **__: timed)
        patch.setattr(plans, "practice_pairs", lambda name: practice_pairs(name, 60))
        patch.setattr(explore_files, "COUNT", 3)
        patch.setattr(batches.random_batches, "__defaults__", (3,))
        run = trained(made, {**SMALL, "parameters": {"scale": 20}})
        # What was checked is not written: thousands of runs would be.
        patch.setattr(made, "_begin", lambda *_: run)
        yield run
    torch.set_num_threads(threads)


@pytest.mark.parametrize("page", ["explore", "compare", "doctor", "large", "finetune"])
def test_what_a_page_may_be_sent(page, here, capsys):
    functions = wire.served_functions()
    assert page in functions
    file = functions["explore"]["read_file"](FILE)["file"]
    known = known_requests(file, here)
    found = []
    for name, function in functions[page].items():
        requests = requests_of(page, name, known)
        for begin, request in enumerate(requests):
            function(request)  # a model or a library may have to be loaded first
            whole = () if name in FULL else SHARED
            for what, odd in varied(request, whole, (max(len(requests), 2), TURNS), begin):
                found += [
                    f"{name}, {what}: {fault}"
                    for fault in wrong(lambda f=function, odd=odd: f(odd), capsys)
                ]
    assert not found, "\n".join(found)


COUNT = 8
PAIRED = {
    "sentences1": [f"A man eats dish {i}." for i in range(COUNT)],
    "sentences2": [f"Somebody has meal {i}." for i in range(COUNT)],
    "scores": [i % 2 for i in range(COUNT)],
    "labels": [i % 2 for i in range(COUNT)],
    "similarities": [i / COUNT for i in range(COUNT)],
}
# What an argument of an endpoint is by its name, and what one is that is new by its type.
NAMED = {
    **PAIRED,
    "loss": "cosent",
    "losses": [
        {"loss": "cosent", "convention": "", "parameters": {"scale": 20}},
        {"loss": "info_nce"},
    ],
    "parameters": {"scale": 20},
    "threshold": 0.5,
    "label_range": [0, 1],
    "options": {"steps": 6, "batch_size": 4, "schedule": "linear", "label_range": [0, 1]},
    "twins": "keep",
    "offset": 0,
    "log": "step,loss,eval_loss\n1,2.5,3\n2,1.5,\n",
}
OF_TYPE = {bool: True, int: 1, float: 0.5, str: "text", list: [1], dict: {"name": 1}}


def arguments_of(function: Callable, run: str) -> dict[str, Any]:
    found = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        kind = typing.get_origin(parameter.annotation) or parameter.annotation
        usual = OF_TYPE.get(kind) if parameter.default is inspect.Parameter.empty else None
        found[name] = NAMED.get(name, usual if usual is not None else parameter.default)
    return {**found, **({"id": run} if "id" in found else {})}


@pytest.mark.parametrize("function", site.ENDPOINTS, ids=lambda function: function.__name__)
def test_what_a_program_may_send(function, here, capsys):
    expected = arguments_of(function, here)
    serve = endpoint(function)

    def ask(given: dict) -> object:
        try:
            return serve(*given.values())
        except Refusal as refusal:
            inside = str(Problem("internal"))
            return {"problem.internal": 1} if inside in str(refusal) else {"error": str(refusal)}

    ask(expected)
    if function is endpoints.explain_loss_value:
        explain(1.0)  # the first answer of all losses computes their landmarks, which stay
    found = []
    for what, odd in varied(expected, turns=(2, TURNS)):
        if isinstance(odd, dict) and odd.keys() == expected.keys():
            found += [f"{what}: {fault}" for fault in wrong(lambda odd=odd: ask(odd), capsys)]
    assert not found, "\n".join(found)
