"""Descriptions of the calls for programs: of tools in short, and in full as `agents.md`."""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable
from typing import get_args, get_type_hints

INTRODUCTION = """\
# LossPrism for agents

LossPrism computes ranking and contrastive losses on a batch of sentence pairs, says what drives
them, explains a loss value, and diagnoses datasets and training runs.

* MCP: `gradio_api/mcp/` (streamable HTTP), below the address of this page. Each call is a tool.
* HTTP: `POST gradio_api/run/NAME` with `{"data": [argument, …]}` in the order below; values at the
  end may be left out where they have defaults. `gradio_api/openapi.json` describes the calls.
* Python: `gradio_client.Client(address).predict(value=4.85, api_name="/explain_loss_value")`.

A loss is stuck at a number: `explain_loss_value(value, loss, batch)`. A log: `doctor_run(log)`.
Data: `doctor_data(loss, table=…)`. A loss may have any name of the field, such as
`MultipleNegativesRankingLoss`; `list_losses()` has a line on each. Numbers that JSON lacks are the
words "inf", "-inf" and "nan"; null marks absent values; places count from 0.
"""
MANY_ENTRIES = 8  # an answer with as many is referred to rather than repeated
_ARGUMENTS = re.compile(r"^ {4}(\w+(?:,\s+\w+)*): ", re.MULTILINE)
_SECTION = re.compile(r"^(Args|Returns|Raises|Examples):\n", re.MULTILINE)


def summary(function: Callable[..., object]) -> str:
    """Return what stands in the docstring before its first section, without line breaks within a
    paragraph."""
    text = _SECTION.split(inspect.getdoc(function) or "")[0]
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def arguments(function: Callable[..., object]) -> dict[str, str]:
    """Return the description of each argument, on one line."""
    sections = _SECTION.split(inspect.getdoc(function) or "")
    pieces = _ARGUMENTS.split(sections[sections.index("Args") + 1]) if "Args" in sections else [""]
    return {
        name: " ".join(text.split())
        for names, text in zip(pieces[1::2], pieces[2::2], strict=True)
        for name in re.split(r",\s+", names)
    }


def tool_description(
    function: Callable[..., object], before: Iterable[Callable[..., object]]
) -> str:
    """Return the summary, and the names of the answer's entries. An answer that has all entries of
    the answer of a function `before` refers to it."""
    fields = _entries(function)
    for other in before:
        shared = _entries(other)
        if len(shared) >= MANY_ENTRIES and fields[: len(shared)] == shared:
            fields = [f"what {other.__name__} answers", *fields[len(shared) :]]
    return f"{summary(function)}\n\nAnswers with {', '.join(fields)}."


def _entries(function: Callable[..., object]) -> list[str]:
    kinds = get_type_hints(function)["return"]
    types = [one for kind in (kinds, *get_args(kinds)) for one in (kind, *get_args(kind))]
    dataclass_types = filter(dataclasses.is_dataclass, types)
    return [
        *dict.fromkeys(one.name for kind in dataclass_types for one in dataclasses.fields(kind))
    ]


def argument_lines(function: Callable[..., object]) -> str:
    """Return a docstring with a line for each argument, as Gradio reads them: of an entry with
    several lines it takes the first, and of one about several arguments none."""
    lines = (f"    {name}: {text}" for name, text in arguments(function).items())
    return "\n".join([summary(function), "", "Args:", *lines])


def guide_for_agents(functions: Iterable[Callable[..., object]]) -> str:
    """Return all calls with their arguments, answers and examples, as Markdown."""
    calls = "\n".join(
        f"\n## {one.__name__}\n\n```text\n{inspect.getdoc(one)}\n```" for one in functions
    )
    return f"{INTRODUCTION}{calls}\n"
