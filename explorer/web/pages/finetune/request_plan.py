"""The plan in a request, with its data found on the server."""

import dataclasses
import inspect

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.training.data import data_of_scenario
from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.validation import invalid_value, one_of
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.practice_sentences import PRACTICE, practice_pairs
from lossprism.explorer.web.pages.finetune.uploaded_file_description import uploaded_path
from lossprism.losses import LOSSES

# What a plan of the page says of its data, by source; the rest stays with the page. Files are
# named by the digest of an upload, so that nobody reads another file of this computer.
COMMON_DATA_FIELDS = ("held_out_share", "augment", "most")
SOURCE_DATA_FIELDS = {
    "practice": (),
    "link": (),
    "example": ("example",),
    "file": (
        "file",
        "name",
        "columns",
        "encoding",
        "alternatives",
        "held_out_file",
        "held_out_name",
    ),
    "hub": ("hub", "split"),
}


def read_plan(chosen: object) -> TrainingPlan:
    """The plan that the page sends, with its data found on the server."""
    if not isinstance(chosen, dict) or not isinstance(chosen.get("data"), dict):
        raise invalid_value("plan", chosen)
    plan = {name: value for name, value in chosen.items() if name not in ("data", "own_loss")}
    if not str(plan.get("encoder", EMBEDDED)).strip():
        raise Problem("training_no_encoder", about="encoder")
    spec = LOSSES.get(str(plan.get("loss")))
    if spec and spec.group == "own":
        plan["own_loss"] = f"{inspect.getfile(spec.function)}:{spec.function.__name__}"
    new_plan = TrainingPlan.from_json({**plan, "data": _data_fields(chosen["data"])})
    return dataclasses.replace(new_plan, data=_with_found_data(new_plan.data, chosen["data"]))


def _data_fields(sent: dict) -> Json:
    source = one_of(tuple(SOURCE_DATA_FIELDS))(sent.get("source"), "data.source")
    names = (*COMMON_DATA_FIELDS, *SOURCE_DATA_FIELDS[source])
    return {name: sent[name] for name in names if name in sent}


def _with_found_data(known: TrainingData, sent: dict) -> TrainingData:
    where = sent["source"]
    if where == "practice":
        name = one_of(tuple(PRACTICE))(sent.get("practice"), "data.practice")
        rows = tuple((first, second, typed(label)) for first, second, label in practice_pairs(name))
        return dataclasses.replace(known, source="rows", name=name, rows=rows)
    if where == "link":
        linked = data_of_scenario(scenario_of(sent).data)
        taken = {"name": linked.name, "rows": linked.rows, "teacher": linked.teacher}
        return dataclasses.replace(known, source="rows", **taken)
    if where == "file":
        files = {"file": uploaded_path(known.file, "file")}
        if known.held_out_file:
            files["held_out_file"] = uploaded_path(known.held_out_file, "held_out_file")
        return dataclasses.replace(known, source="file", **files)
    if where == "hub" and not known.hub.strip():
        raise Problem("training_no_hub_id", about="unfilled")
    return dataclasses.replace(known, source=where)


def scenario_of(sent: dict) -> Scenario:
    """Return the scenario of a link of the Explore page."""
    link = str(sent.get("link", "")).strip()
    if not link:
        raise Problem("training_no_link", about="unfilled")
    return Scenario.from_link(link)
