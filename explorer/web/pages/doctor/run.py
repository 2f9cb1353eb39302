"""The third door of the Doctor page: what is the matter with a training run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from explorer.lab.doctor.runs.examples import EXAMPLES, MNRL
from explorer.lab.doctor.runs.findings import examine_run
from explorer.lab.doctor.runs.log import Curve, Log
from explorer.lab.doctor.runs.read import must_fit, read_content
from explorer.lab.doctor.runs.told import to_json
from explorer.locale import language_of
from explorer.runtime import jobs, uploads
from explorer.runtime.validation import misfit, of_type, one_of
from explorer.runtime.wire import Json, packed
from explorer.web.pages.doctor.requests import known_in
from explorer.web.serving import served
from explorer.web.wire import doctor as wire

KINDS = ("example", "file")
LOGS = tuple(EXAMPLES)
# Points of a curve that the page draws.
MOST_DRAWN = 2000


def _examine_run(request: Json) -> Json:
    """{source, curve, held_out: "" for those that go by such names, loss, batch, …: as they were
    typed, language} → what is the matter with the run, and its curves."""
    source = request.get("source")
    if not isinstance(source, dict):
        raise misfit("source", source)
    language, known = language_of(request.get("language")), known_in(request)
    curve, held_out = (of_type(str)(request.get(name, ""), name) for name in ("curve", "held_out"))
    with jobs.in_turn():
        found = examine_run(_log_in(source), known, curve, held_out)
    names = dict.fromkeys(name for name in (found.curve, found.held_out) if name)
    drawn = [_drawn(found.log.curves[name]) for name in names]
    return {**to_json(found, language), "drawn": drawn}


def _log_in(source: Json) -> Log:
    if one_of(KINDS)(source.get("kind", KINDS[0]), "source.kind") == "example":
        name = one_of(LOGS)(source.get("example", LOGS[0]), "source.example")
        return replace(EXAMPLES[name](), known=MNRL)
    name = uploads.name_in(source)
    content = uploads.read(of_type(str)(source.get("file", ""), "source.file"), name)
    must_fit(name, len(content))
    return read_content(name, content)


def _drawn(curve: Curve) -> Json:
    """The points of a curve, every so manyth where there are too many, and the last."""
    every = -(-len(curve) // MOST_DRAWN)
    places = np.unique(np.append(np.arange(0, len(curve), every), len(curve) - 1))
    steps, values = curve.steps[places], curve.values[places]
    return {"name": curve.name, "steps": packed(steps), "values": packed(values)}


SERVED = [served("examine_run", _examine_run, wire.ExaminedRunLog)]
