"""The table of `parity` as a page to publish: one HTML file that needs nothing beside it."""

import platform
from collections import Counter
from collections.abc import Sequence
from typing import get_args

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.export.figure.appearance import FONTS
from lossprism.explorer.export.figure.text_layout import clean
from lossprism.explorer.export.jinja_template_renderer import render
from lossprism.explorer.export.palette import properties
from lossprism.explorer.lab.compare.library_parity import (
    PRECISIONS,
    Agreement,
    Gap,
    Odd,
    Row,
    Status,
)
from lossprism.explorer.locale import say, spelled, title_word
from lossprism.explorer.runtime.number_format import display_number
from lossprism.losses import LOSSES

# No meaning is carried by a colour alone.
MARKS: dict[Status, str] = {
    "equal": "=",
    "explained": "≈",
    "differs": "✗",
    "alone": "·",
    "not_installed": "–",
    "not_called": "?",
    "failed": "!",
}


def report(rows: Sequence[Row], batch: Batch, language: str = "en") -> str:
    """The rows as an HTML document, in light or dark as the reader's device is; all text in it is
    escaped, and it asks for nothing elsewhere."""
    count = Counter(row.status for row in rows)
    installed = {row.library: row.version for row in rows if row.version}
    versions = [f"Python {platform.python_version()}"]
    versions += [f"{library} {version}" for library, version in sorted(installed.items())]
    vectors = batch.needed_vectors
    return render(
        "parity.html",
        language=language,
        say=lambda key: say(language, f"parity.{key}"),
        font=FONTS,
        light=properties("light"),
        dark=properties("dark"),
        batch=say(
            language,
            "parity.batch",
            count=len(batch),
            sentences=len(vectors),
            dimension=vectors.shape[1],
        ),
        statuses=[
            {"name": name, "mark": MARKS[name], "count": count[name]}
            for name in get_args(Status)
            if count[name]
        ],
        versions=" · ".join(versions),
        precisions=list(PRECISIONS),
        rows=[_cells(row, language) for row in rows],
    )


def _cells(row: Row, language: str) -> dict[str, object]:
    spec = LOSSES.get(row.loss)
    library = " ".join(filter(None, (row.library, row.version)))
    return {
        "loss": row.loss if spec is None else spelled(language, "loss", title_word(spec)),
        "convention": row.convention or say(language, "parity.own"),
        "library": library or say(language, "parity.no_library"),
        "called": row.called,
        "fed": clean(row.fed),
        "at_defaults": None if row.at_defaults is None else display_number(row.at_defaults, 6),
        "status": row.status,
        "mark": MARKS[row.status],
        "value": display_number(row.value, 6),
        "cells": [
            _cell(one[precision]) for one in (row.kernel, row.peer) for precision in PRECISIONS
        ],
        "because": [
            clean(one.written(language)) for one in (*row.because, row.left_out) if one is not None
        ],
        "odd": [_odd(one, language) for one in row.odd],
    }


def _odd(odd: Odd, language: str) -> dict[str, str]:
    why = " ".join(clean(one.written(language)) for one in odd.because)
    name = say(language, f"parity.odd.{odd.name}")
    return {"name": name, "mark": MARKS[odd.status], "fed": clean(odd.fed), "why": why}


def _cell(agreement: Agreement | None) -> dict[str, str] | None:
    if agreement is None:
        return None
    return {"value": _gap(agreement.by_value), "gradient": _gap(agreement.by_gradient)}


def _gap(gap: Gap) -> str:
    return f"{display_number(gap.absolute, 2)} ({display_number(gap.relative, 2)})"
