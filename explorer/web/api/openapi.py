"""Description of the calls by HTTP as OpenAPI 3.1.

Gradio's own names version 3.0 beside schemas of 3.1, and has neither required arguments nor
refusals.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.web.api.descriptions_from_docstrings import (
    INTRODUCTION,
    arguments,
    summary,
    tool_description,
)
from lossprism.version import VERSION

REFUSAL = {"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]}
NOT_FOUND = "There is no such call"
UNFIT = "The arguments do not fit; detail names the one"
BUSY = "As many calls wait as may; ask again later"


def openapi(functions: Iterable[Callable[..., object]], types: Mapping[str, Any]) -> Json:
    """Return the document.

    Args:
        functions: that are served, in order
        types: `named_endpoints` of Gradio's `get_api_info`: the schemas of arguments and answers
    """
    paths: dict[str, Json] = {}
    for function in functions:
        name = function.__name__
        paths[f"/gradio_api/call/v2/{name}"] = {"post": _call(function, types[f"/{name}"])}
        paths[f"/gradio_api/call/{name}/{{event_id}}"] = {"get": _result(name, types[f"/{name}"])}
    information = {"title": "LossPrism", "version": VERSION, "description": INTRODUCTION}
    return {"openapi": "3.1.0", "info": information, "paths": paths}


def _call(function: Callable[..., object], types: Mapping[str, Any]) -> Json:
    described, properties, required = arguments(function), {}, []
    for one in types["parameters"]:
        name = one["parameter_name"]
        properties[name] = {**one["type"], "description": described[name]}
        if one["parameter_has_default"]:
            properties[name]["default"] = one["parameter_default"]
        else:
            required.append(name)
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    event = {"type": "object", "properties": {"event_id": {"type": "string"}}}
    return {
        "operationId": function.__name__,
        "summary": summary(function).partition("\n")[0],
        "description": tool_description(function, ()),
        "requestBody": {"required": True, "content": _json({**schema, "required": required})},
        "responses": {
            "200": {
                "description": "The call began; the next path fetches its result",
                "content": _json({**event, "required": ["event_id"]}),
            },
            "404": {"description": NOT_FOUND, "content": _json(REFUSAL)},
            "422": {"description": UNFIT, "content": _json(REFUSAL)},
            "503": {"description": BUSY, "content": _json(REFUSAL)},
        },
    }


def _result(name: str, types: Mapping[str, Any]) -> Json:
    (answer,) = types["returns"]
    return {
        "operationId": f"{name}_result",
        "summary": f"Fetch the result of {name}",
        "description": "A stream of server-sent events. The data of `complete` is a list with the "
        "answer, whose schema is x-answer; that of `error` is a refusal in a sentence.",
        "parameters": [
            {
                "name": "event_id",
                "in": "path",
                "required": True,
                "schema": {"type": "string"},
                "description": "as the call answered it",
            }
        ],
        "x-answer": answer["type"],
        "responses": {
            "200": {
                "description": "The events",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            },
            "404": {"description": NOT_FOUND, "content": _json(REFUSAL)},
        },
    }


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
