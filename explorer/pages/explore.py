"""The Explore page: one loss on one batch, taken apart."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import functools
import hashlib
import json
import tempfile
import threading
from collections import OrderedDict
from pathlib import Path

import gradio as gr

from explorer.batch import has_words, load_table, make_batch
from explorer.explore import explore
from explorer.export import matrix_csv, pairs_csv, snippet, suspects_csv, terms_csv, twin_snippet
from explorer.figure import bars_figure, matrix_figure
from explorer.instruments.base import Instrument
from explorer.interactive import interactive_figure
from explorer.lab.sweep import POINTS, sweep
from explorer.locale import COUNTS, LANGUAGES, catalogue
from explorer.pages.frame import framed
from explorer.pages.serving import JOBS, served
from explorer.pairs import MOST_PAIRS
from explorer.picture import describe_batch, number, picture
from explorer.problem import Problem
from explorer.remarks import remarks, speaks_another_language, statistics, suggested_scale
from explorer.scenario import Data, Reading, Rules, Scenario
from explorer.sources import random_batch, tables, textbook
from explorer.sources.encoders import EMBEDDED
from explorer.sources.grids import read_grid
from losses import LOSSES, LossSpec

# A longer address is cut off or refused somewhere between two people; a file is offered instead.
LONGEST_LINK = 16_000
# A sweep of more pairs than these is drawn through fewer points.
FEW_PAIRS = 128
# So many rows of a file that cannot be used are named with their reason; the others are counted.
MOST_REASONS = 10


def build() -> None:
    """Lay the page out inside the current `gr.Blocks`."""
    with framed("controls", server_functions=SERVED):
        Instrument("figures", server_functions=[served("statistics", _statistics)])
        Instrument("sweep", server_functions=[served("sweep", _sweep)])
        with gr.Row(elem_id="lp-middle"):
            with gr.Column(elem_id="lp-left"):
                Instrument("derivation")
            with gr.Column(elem_id="lp-right"):
                Instrument("matrix")
        with gr.Row(elem_id="lp-lower"):
            with gr.Column():
                Instrument("bars")
            with gr.Column():
                Instrument("terms")
        Instrument("pairs")
        Instrument("takeaway", server_functions=[served("take", _take)])
        Instrument("progress")


def page_data(first: Scenario) -> dict[str, object]:
    """What the instruments know from the start: words, losses, examples, the first scene."""
    return {
        "catalogues": {language: catalogue(language) for language in LANGUAGES},
        "counts": sorted(COUNTS),
        "losses": {name: describe_loss(spec) for name, spec in LOSSES.items()},
        "examples": {name: {"note": example.note} for name, example in textbook.EXAMPLES.items()},
        "defaults": first.to_json(),
        "limits": {
            "pairs": MOST_PAIRS,
            "bytes": tables.LARGEST_FILE,
            "encoder": EMBEDDED,
            "random": random_batch.RANGES,
            "link": LONGEST_LINK,
        },
    }


def describe_loss(spec: LossSpec) -> dict[str, object]:
    """A loss as the page needs it, in its own convention and in each of the others."""
    return {
        "title": spec.title,
        "group": spec.group,
        "terms": spec.terms,
        "about": (spec.function.__doc__ or "").strip().partition("\n")[0],
        "references": spec.references,
        "conventions": {
            name: _describe_form(spec.under(name))
            for name in ("", *(convention.name for convention in spec.conventions))
        },
    }


def _describe_form(spec: LossSpec) -> dict[str, object]:
    parameters = [
        {**dataclasses.asdict(parameter), "kind": parameter.kind} for parameter in spec.parameters
    ]
    return {
        "formula": spec.formula,
        "variants": dict(spec.variants),
        "collapse": spec.collapse_formula if spec.collapse else "",
        "floor": spec.floor_formula if spec.floor else "",
        "parameters": parameters,
    }


def _explore(request: object) -> dict[str, object]:
    """{scenario, known: key of the batch the page has, rows?: name of its rows} → {picture, batch?,
    skipped?, limited?, rows?}, or {send_rows} where rows of that name are not held."""
    if not isinstance(request, dict):
        raise Problem("scenario_entry", where="request", value=str(request)[:60])
    scenario = Scenario.from_json(request.get("scenario"))
    if "rows" in request:
        rows = TABLES.rows(request["rows"])
        if rows is None:
            return {"send_rows": True}
        scenario = dataclasses.replace(scenario, data=dataclasses.replace(scenario.data, rows=rows))
    answer: dict[str, object] = {}
    if scenario.data.rows and "rows" not in request:
        answer["rows"] = TABLES.hold(scenario.data.rows)
    try:
        found = explore(scenario)
    except Problem as problem:
        return {**answer, "error": problem.to_json(), "skipped": _skipped(scenario)}
    made = picture(found)
    made["remarks"] = [dataclasses.asdict(remark) for remark in remarks(found)]
    answer["picture"] = made
    key = batch_key(scenario.data, scenario.rules)
    # What does not change while a slider moves is told once for each batch.
    if request.get("known") != key:
        typed = scenario.data.source == "table"
        answer["skipped"] = _skipped(scenario)
        answer["limited"] = typed and load_table(scenario.data.rows).limited
        suggested = suggested_scale(found.batch)
        answer["batch"] = {
            "key": key,
            "scale": suggested,
            "sigma": float(found.batch.scores.std(correction=0)),
            "foreign": speaks_another_language(found),
            "editable": has_words(scenario.data),
            **describe_batch(found.batch),
        }
    return answer


class Tables:
    """The rows of the last questions by the digest of what is in them.

    A page sends its rows once and then names them, so that a moving slider does not carry ten
    thousand rows with every question. What is no longer held is asked for again.
    """

    def __init__(self, most: int = 16) -> None:
        self._most = most
        self._rows: OrderedDict[str, tuple] = OrderedDict()
        self._lock = threading.Lock()

    def hold(self, rows: tuple[tuple[str, str, str], ...]) -> str:
        text = json.dumps(rows).encode()
        name = hashlib.sha256(text).hexdigest()
        with self._lock:
            self._rows[name] = rows
            self._rows.move_to_end(name)
            while len(self._rows) > self._most:
                self._rows.popitem(last=False)
        return name

    def rows(self, name: object) -> tuple[tuple[str, str, str], ...] | None:
        with self._lock:
            if not isinstance(name, str) or name not in self._rows:
                return None
            self._rows.move_to_end(name)
            return self._rows[name]


TABLES = Tables()


@functools.lru_cache(maxsize=32)
def batch_key(data: Data, rules: Rules) -> str:
    text = json.dumps([dataclasses.asdict(data), dataclasses.asdict(rules)], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _skipped(scenario: Scenario) -> list[dict[str, object]]:
    if scenario.data.source != "table":
        return []
    return _told(load_table(scenario.data.rows))


def _told(table: tables.Table) -> list[dict[str, object]]:
    return [{"row": skip.row, **skip.problem.to_json()} for skip in table.skipped]


def _read_file(request: object) -> dict[str, object]:
    """{name, content: base64, columns?, header?, seed?} → rows, and what was found besides."""
    if not isinstance(request, dict) or not isinstance(request.get("content"), str):
        raise Problem("scenario_entry", where="file", value=str(request)[:60])
    name = Path(str(request.get("name") or "file")).name[:200]
    name = name.encode("utf-8", "replace").decode()  # half a character fits into no answer
    try:
        content = base64.b64decode(request["content"], validate=True)
    except binascii.Error as error:
        raise Problem("scenario_entry", where="file", value=name) from error
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        path.write_bytes(content)
        try:
            table = tables.read_file(
                path,
                name,
                columns=request.get("columns"),
                header=request.get("header"),
                seed=request.get("seed"),
            )
        except Problem as problem:
            if problem.key != "problem.columns_not_recognised":
                raise
            # The page offers the columns that there are, to be chosen from.
            grid = read_grid(content, name, request.get("header"))
            nothing = dict.fromkeys(("first", "second", "score"), "")
            found = {"columns": grid.columns, "header": grid.header, "chosen": nothing}
            return {"error": problem.to_json(), **found}
    pairs = table.pairs
    rows = zip(pairs.first, pairs.second, map(_plain, pairs.labels), strict=True)
    return {
        "name": name,
        "rows": [list(row) for row in rows],
        "reading": dataclasses.asdict(_reading(table, request.get("seed") is not None)),
        "columns": table.columns,
        "chosen": table.chosen,
        "header": table.header,
    }


def _reading(table: tables.Table, drawn: bool) -> Reading:
    told = [(skip.row, skip.problem.to_json()) for skip in table.skipped[:MOST_REASONS]]
    return Reading(
        total=table.total,
        encoding=table.encoding,
        limited=table.limited,
        drawn=table.limited and drawn,
        left_out=len(table.skipped),
        reasons=tuple((row, why["key"], tuple(why["values"].items())) for row, why in told),
    )


def _plain(label: float) -> str:
    """A label as text that reads back as the same number: 4 and not 4.0."""
    return str(int(label)) if label == int(label) and abs(label) < 1e15 else repr(float(label))


def _statistics(request: object) -> dict[str, object]:
    """The scenario → correlation and Kolmogorov–Smirnov test of its batch, on demand."""
    scenario = Scenario.from_json(request)
    return dataclasses.asdict(statistics(make_batch(scenario.data, scenario.rules)))


def _sweep(request: object) -> dict[str, object]:
    """{scenario, parameter} → the curves of one parameter, on demand."""
    if not isinstance(request, dict):
        raise Problem("scenario_entry", where="request", value=str(request)[:60])
    scenario = Scenario.from_json(request.get("scenario"))
    batch = make_batch(scenario.data, scenario.rules)
    points = POINTS if len(batch) <= FEW_PAIRS else POINTS // 2 + 1
    found = sweep(scenario, str(request.get("parameter", "")), batch=batch, points=points)
    curves = {name: getattr(found, name) for name in ("loss", "gradient", "active")}
    drawn = {name: curve and [number(value) for value in curve] for name, curve in curves.items()}
    return {**dataclasses.asdict(found), **drawn}


def _link(request: object) -> dict[str, object]:
    return {"link": Scenario.from_json(request).shown().to_link()}


def _open_link(request: object) -> dict[str, object]:
    """The scenario in a link, or in the text of a scene file."""
    text = str(request)
    if text.lstrip().startswith("{"):
        return {"scenario": Scenario.from_text(text).to_json()}
    return {"scenario": Scenario.from_link(text).to_json()}


def _take(request: object) -> dict[str, object]:
    """{what, scenario, language, dark} → a file's name, type and text."""
    if not isinstance(request, dict) or request.get("what") not in TAKEAWAYS:
        raise Problem("scenario_entry", where="what", value=str(request)[:60])
    scenario = Scenario.from_json(request.get("scenario"))
    language = request.get("language") if request.get("language") in LANGUAGES else "en"
    ending, kind, make = TAKEAWAYS[request["what"]]
    text = make(explore(scenario), language, bool(request.get("dark")))
    return {"name": f"lossprism-{scenario.loss}{ending}", "type": kind, "text": text}


# What can be taken away: how its file ends, its type, and what makes it.
TAKEAWAYS = {
    "matrix_svg": (
        "-matrix.svg",
        "image/svg+xml",
        lambda e, language, dark: matrix_figure(e, language=language, dark=dark),
    ),
    "bars_svg": (
        "-gradient.svg",
        "image/svg+xml",
        lambda e, language, dark: bars_figure(e, language=language, dark=dark),
    ),
    "matrix_html": (
        "-matrix.html",
        "text/html",
        lambda e, language, dark: interactive_figure(e, language=language, dark=dark),
    ),
    "matrix_csv": ("-matrix.csv", "text/csv", lambda e, *_: matrix_csv(e)),
    "terms_csv": ("-terms.csv", "text/csv", lambda e, *_: terms_csv(e)),
    "suspects_csv": ("-suspects.csv", "text/csv", lambda e, *_: suspects_csv(e)),
    "pairs_csv": ("-pairs.csv", "text/csv", lambda e, *_: pairs_csv(e)),
    "snippet": (".py", "text/x-python", lambda e, *_: snippet(e)),
    "twin_snippet": ("-twin.py", "text/x-python", lambda e, *_: twin_snippet(e) or ""),
    "scenario_json": (
        ".json",
        "application/json",
        lambda e, *_: json.dumps(e.scenario.shown().to_json(), ensure_ascii=False, indent=1),
    ),
}


SERVED = [
    served("explore", _explore),
    served("read_file", _read_file),
    served("link", _link),
    served("open_link", _open_link),
    *JOBS,
]
