"""What the Doctor page asks the server for."""

from __future__ import annotations

from typing import Any

from explorer.lab.doctor.explain import explain_values
from explorer.lab.doctor.known import COUNTS, SETTINGS, Known
from explorer.lab.doctor.number_report import beside, to_json
from explorer.lab.doctor.pasted_input import read_pasted, typed_numbers
from explorer.locale import language_of
from explorer.runtime import jobs
from explorer.runtime.problem import Problem
from explorer.runtime.validation import misfit, quoted
from explorer.runtime.wire import Json
from explorer.web.serving import JOBS, served
from explorer.web.wire import doctor as wire

SECONDS = 1.0  # of a processor, to explain a number nobody has asked about


def _explain(request: Json) -> Json:
    """{value, loss, batch, …: as they were typed, "" for what is not known, language} → what the
    number may be."""
    language, known = language_of(request.get("language")), known_in(request)
    typed = _text(request, "value")
    written = typed_numbers(typed) or (typed,)
    with jobs.in_order(SECONDS):
        found = explain_values(written, known)
        made = to_json(found, language)
    shown = (found.findings or found.nearest)[: len(made["findings"])]
    for place, (finding, said) in enumerate(zip(shown, made["findings"], strict=True)):
        following = shown[place + 1] if place + 1 < len(shown) and found.findings else None
        said["beside"] = list(beside(finding, following, language))
    return made


def _read_pasted(request: Json) -> Json:
    """{text} → what was pasted, and its numbers."""
    text = _text(request, "text")
    with jobs.in_turn():
        found = read_pasted(text.encode("utf-8", "replace"))
    return {"kind": found.kind, "value": " ".join(found.numbers)}


def known_in(request: Json) -> Known:
    """The loss, the counts and the settings as they were typed, "" for what is not known.

    Raises Problem, naming the first that cannot be read.
    """
    typed = {name: _text(request, name) for name in ("loss", *COUNTS, *SETTINGS)}
    told: dict[str, Any] = {name: _whole(name, typed[name]) for name in COUNTS}
    told |= {name: _real(name, typed[name]) for name in SETTINGS}
    return Known(loss=typed["loss"], **told)


def _text(request: Json, name: str) -> str:
    value = request.get(name, "")
    if not isinstance(value, str):
        raise misfit(name, value)
    return value.strip()


def _whole(name: str, text: str) -> int | None:
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise Problem("doctor_count", name=name, value=quoted(text)) from None


def _real(name: str, text: str) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise Problem("doctor_number", name=name, value=quoted(text)) from None


SERVED = [
    served("explain", _explain, wire.Explained),
    served("read_pasted", _read_pasted, wire.PastedKind),
    *JOBS,
]
