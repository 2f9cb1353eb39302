"""Exported code and pages, from the templates beside this file (Jinja: `{{ value }}`, `{% if …
%}`).

A template reads as the program that it becomes. `{{ value | repr }}` writes a value as Python. In a
page every value is text: markup in it is escaped.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).resolve().parent / "templates"


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=lambda name: name is not None and name.endswith(".html.tmpl"),
    )
    environment.filters["repr"] = repr
    return environment


def render(name: str, **values: object) -> str:
    """Return the template `name` with these values; a missing value is an error."""
    return _environment().get_template(f"{name}.tmpl").render(values)
