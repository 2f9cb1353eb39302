"""What each server function of the pages and each endpoint expects, by their names: where an odd
value is put in its place (`tests.hostile`)."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable
from typing import Any

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.sources.encoders import EMBEDDED
from tests.scenes import CHART
from tests.unit.web.test_wire import SMALL, TABLE, packed

# What several functions read by the same code is gone into where it is cheapest to do so.
SHARED = ("scenario", "source", "plan", "plans", "data", "rules", "parameters", "on")
FULL = ("explore", "blocks", "check")

FEW = {"source": "random", "random": {"pairs": 6, "dimension": 4}}
FILE = {"name": "a.csv", "content": packed(TABLE)}
COLUMNS = {"first": "sentence1"}


def scene() -> dict:
    """Return a scenario in which every entry has a value."""
    made = json.loads(json.dumps(Scenario().to_json()))
    data, reading = made["data"], made["data"]["reading"]
    data |= {"source": "random", "rows": [["A cat.", "A dog.", "1"]]}
    data |= {"corrections": [["#1 a", "#1 b", "1"]], "random": {**data["random"], "pairs": 6}}
    reading |= {"label_range": [0, 1], "reasons": [[1, "problem.no_pairs", [["a", "b"]]]]}
    made["rules"] |= {"threshold": 0.5, "label_range": [0, 1]}
    made["view"] |= {"step": 1, "pinned": [0, 1], "marked": [0, 2]}
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
        ("explore", "slider_preview"): [{**few, "parameter": "scale"}],
        ("explore", "sweep"): [{**few, "parameter": "scale"}],
        ("explore", "trials"): [{"scenario": {}, "parameter": "scale"}],
        ("explore", "second_opinion"): [{**few, "model": "/tmp"}],
        ("explore", "take"): [{**few, **of_file, "what": what, "dark": True} for what in takes],
        **{(page, "chart"): [CHART] for page in ("explore", "compare", "finetune")},
        **{(page, "chart"): [CHART] for page in ("learn", "sphere", "landscape", "claims")},
        ("sentence_map", "chart"): [CHART],
        ("explore", "newer_batch"): [{"name": "/tmp/step-00000001.safetensors"}],
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
        ("doctor", "read_pasted"): [{"text": "2.09 2.08"}, {"text": "loss: 0.7\nloss: 0.6"}],
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
            for source in (
                {"kind": "example", "example": "jumped"},
                {"kind": "file", **of_file},
                {"kind": "typed", "text": "loss: 0.7\nloss: 0.6\nloss: 0.5\n"},
            )
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
        ("compare", "landscape"): [{**few, **SIDES}],
        ("landscape", "landscapes"): [
            {**SIDES, "lever": "", "example": "graded_english", "scene": ""}
        ],
        ("landscape", "cuts"): [{**SIDES, "lever": "scale", "negative": 0.2}],
        ("sentence_map", "map"): [
            {"example": "graded_english", "scene": "", "run": "", "method": "pca", "seed": 0},
            {"scene": link, "run": "", "method": "pca"},
            {"run": run, "method": "pca"},
        ],
        ("sentence_map", "runs"): [{}],
        ("sentence_map", "on_explore"): [
            {"example": "graded_english", "scene": "", "pairs": [0, 2]}
        ],
        ("learn", "measured"): [{"lesson": "duplicate", "step": 1}],
        ("learn", "cards"): [{}],
        ("learn", "take"): [{"lesson": "duplicate", "step": 1, "at": 1}],
        ("learn", "on_my_batch"): [{"lesson": "duplicate", "step": 1, "scene": link}],
        ("sphere", "film"): [
            {
                **SIDES,
                "start": {"kind": "classes", "points": 8, "classes": 2, "spread": 0.5, "seed": 1},
                "steps": {"optimiser": "adam", "rate": 0.1, "count": 20, "moves": [3, 1, 900, 900]},
            },
            {**SIDES, "start": {"kind": "random", "points": 8, "labels": "binary"}},
            {**SIDES, "start": {"kind": "sentences", "dimension": 3, "scene": link}},
        ],
        ("claims", "row"): [{"claim": "S1-39", "scale": 20, "scene": link}],
        ("claims", "verdicts"): [{}],
        ("claims", "train"): [{"claim": "S1-33", "scene": link}],
        ("claims", "follow"): [{"claim": "S1-33", "runs": [run]}],
        ("claims", "stop"): [{"runs": [run]}],
    }


def requests_of(page: str, name: str, known: dict[tuple[str, str], list]) -> list:
    """What a function expects; of one that is not known, all entries that the page's others do."""
    if (page, name) in known:
        return known[page, name]
    others = [
        one for (of, _), all_ in known.items() if of == page for one in all_ if type(one) is dict
    ]
    return [{key: value for other in others for key, value in other.items()}, "mine"]


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
