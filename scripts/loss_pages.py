"""The reference of the losses, made from each `LossSpec` and from the textbook examples."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.core.specialised_definitions import definition_at
from lossprism.explorer.export.source_with_dependencies import written_out
from lossprism.explorer.locale import catalogue, parameter_word, say, spelled, title_word
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.textbook import EXAMPLES
from lossprism.losses import GROUPS, LossSpec, Parameter
from lossprism.losses.spec import Convention

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = Environment(
    loader=FileSystemLoader(ROOT / "scripts" / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
SOURCE_ROW = re.compile(r"^\| (.+?) \| (.+) \| (.*?) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Measured:
    """What a loss is on a textbook example under its defaults; None where that is not known."""

    example: str
    loss: str
    minimum: str
    collapse: str


def loss_page(spec: LossSpec, language: str) -> str:
    """Return the page of one loss as Markdown."""
    return TEMPLATES.get_template(f"loss.{language}.md").render(
        spec=spec,
        module=f"{spec.function.__module__}.{spec.name}",
        title=title_in(spec, language),
        about=_about(spec, language),
        group=say(language, f"group.{spec.group}"),
        note=_note(spec, "", language),
        formula=_worded(spec.formula, language),
        variants=[(name, _worded(one, language)) for name, one in spec.variants.items()],
        collapse=_worded(spec.collapse_formula, language),
        minimum=_worded(spec.floor_formula, language),
        parameters=[_parameter(one, language) for one in spec.parameters],
        code=definition_of(spec),
        measured=_measured(spec.name, language),
        conventions=[_convention(spec, one, language) for one in spec.conventions],
        peers=[f"{peer.library} `{peer.called}`" for peer in spec.peers],
        papers=[_cited(reference, language) for reference in spec.references],
    )


def loss_index(specs: Iterable[LossSpec], language: str) -> str:
    """Return the list of all losses, group by group, as Markdown."""
    specs = list(specs)
    groups = [
        (
            say(language, f"group.{group}"),
            [
                (spec.name, title_in(spec, language), _about(spec, language))
                for spec in specs
                if spec.group == group
            ],
        )
        for group in GROUPS
    ]
    groups = [(title, rows) for title, rows in groups if rows]
    return TEMPLATES.get_template(f"losses.{language}.md").render(groups=groups, count=len(specs))


def title_in(spec: LossSpec, language: str) -> str:
    """Return the name of a loss in a language."""
    return spelled(language, "loss", title_word(spec))


def definition_of(spec: LossSpec) -> str:
    """Return Python that stands alone: the definition at the defaults, with what it uses."""
    found = explored(spec.name)
    defaults = dict.fromkeys(spec.reads) | spec.defaults
    written = written_out(found.definition if found else definition_at(spec.definition, defaults))
    return "\n".join(written.imports) + "\n\n\n" + written.source


@functools.cache
def explored(name: str) -> Exploration | None:
    """Return the loss on the first textbook example that it can learn from, None without one."""
    for example in EXAMPLES:
        try:
            return explore(Scenario(loss=name, data=Data(example=example)))
        except Problem:
            continue
    return None


def _measured(name: str, language: str) -> Measured | None:
    found = explored(name)
    if found is None:
        return None
    example = say(language, EXAMPLES[found.scenario.data.example].title)
    values = (found.loss, found.floor, found.collapse)
    shown = ["" if value is None else display_number(value) for value in values]
    return Measured(example, *shown)


def _parameter(parameter: Parameter, language: str) -> Mapping[str, str]:
    accepted = {
        "choice": ", ".join(f"`{choice}`" for choice in parameter.choices),
        "number": f"{parameter.minimum:g} … {parameter.maximum:g}",
        "switch": "`False`, `True`",
        "list": "…",
    }
    return {
        "name": parameter.name,
        "symbol": parameter.symbol,
        "meaning": spelled(language, "name", parameter_word(parameter.name)),
        "default": str(parameter.default),
        "accepted": accepted[parameter.kind],
    }


def _convention(spec: LossSpec, convention: Convention, language: str) -> Mapping[str, Any]:
    settings = {**convention.parameters, **convention.learned}
    peers = [f"{peer.library} `{peer.called}`" for peer in convention.peers]
    return {
        "name": convention.name,
        "settings": ", ".join(f"`{name}={value!r}`" for name, value in settings.items()),
        "peers": ", ".join(peers),
        "formula": _worded(convention.formula, language),
        "note": _note(spec, convention.name, language),
    }


def _about(spec: LossSpec, language: str) -> str:
    """A line about a loss; the first of its docstring where the catalogue has none."""
    first_line = (spec.function.__doc__ or "").strip().partition("\n")[0]
    return catalogue(language).get(f"loss.{spec.name}.about", first_line)


def _note(spec: LossSpec, convention: str, language: str) -> str:
    """The note of a loss or of a convention, "" without one."""
    key = f"loss.{spec.name}.note" + (f".{convention}" if convention else "")
    return catalogue(language).get(key, "")


def _worded(latex: str, language: str) -> str:
    """A formula with its words in the language, as the app shows it."""
    known = catalogue(language)
    return re.sub(
        r"\\text\{([^}]*)\}",
        lambda found: rf"\text{{{known.get(f'math.{found[1]}', found[1])}}}",
        latex,
    )


def _cited(reference: str, language: str) -> str:
    """A reference with what it is and where, as the list of sources has it."""
    name, comma, place = reference.partition(",")
    about, link = _sources().get(name, ("", ""))
    short = re.match(r"S\d", reference)
    if short:
        up = "../" if language == "en" else "../../"
        return f"[{reference}]({up}sources.md)"
    return f"{name}{comma}{place}: {about} {link}".strip() if about else reference


@functools.cache
def _sources() -> dict[str, tuple[str, str]]:
    """By the name of each source what it is and a link to it, from docs/sources.md."""
    text = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    return dict(_rows(text))


def _rows(text: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for name, about, link in SOURCE_ROW.findall(text):
        yield name, (about, link)
