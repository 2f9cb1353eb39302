"""Requests of the Doctor page."""

from dataclasses import dataclass
from typing import Any, Literal

from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import COUNTS, SETTINGS, Known
from lossprism.explorer.lab.doctor.number_report import (
    ExplainedFinding,
    ExplainedValue,
    beside,
    finding_answer,
    listed,
    number_answer,
)
from lossprism.explorer.lab.doctor.pasted_input import read_pasted, read_typed
from lossprism.explorer.lab.doctor.possible_meanings_of_number import explain_values
from lossprism.explorer.locale import language_of
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.validation import of_type, quoted
from lossprism.explorer.web.page_requests import JOBS, served

SECONDS = 1.0  # of a processor, to explain a number nobody has asked about


@dataclass(frozen=True)
class NumberFinding(ExplainedFinding):
    """The same, with further sentences about it."""

    beside: list[str]


@dataclass(frozen=True)
class NumberExplained(ExplainedValue):
    """The meaning of a number, as `explain_loss_value` answers it."""

    findings: list[NumberFinding]  # type: ignore[assignment]


@dataclass(frozen=True)
class PastedKind:
    """Kind of pasted input: "numbers", with these and what is known beside them as the fields of
    the number take them, a "run" or a "table"."""

    kind: Literal["numbers", "run", "table"]
    value: str
    known: dict[str, str]


def _explain(request: Json) -> NumberExplained:
    """{value, loss, batch, …: as they were typed, "" for what is not known, language} → what the
    number may be."""
    language, known = language_of(request.get("language")), known_in(request)
    value = _text(request, "value")
    typed = read_typed(value)
    with jobs.light_work_turn(SECONDS):
        explanation = explain_values(typed.numbers or (value,), known.completed(typed.known))
        answer = number_answer(explanation, language)
    shown = listed(explanation)
    following = [*shown[1:], None] if explanation.findings else [None] * len(shown)
    findings = [
        finding_answer(one, language, NumberFinding, beside=[*beside(one, after, language)])
        for one, after in zip(shown, following, strict=True)
    ]
    return NumberExplained(**{**vars(answer), "findings": findings})


def _read_pasted(request: Json) -> PastedKind:
    """{text} → what was pasted, its numbers, and what it says beside them."""
    text = _text(request, "text")
    with jobs.heavy_work_turn():
        pasted = read_pasted(text.encode("utf-8", "replace"))
    known = {name: str(value) for name, value in pasted.known.provided.items()}
    return PastedKind(pasted.kind, " ".join(pasted.numbers), known)


def known_in(request: Json) -> Known:
    """The loss, the counts and the settings as they were typed, "" for what is not known.

    Raises Problem, naming the first that cannot be read.
    """
    typed = {name: _text(request, name) for name in ("loss", *COUNTS, *SETTINGS)}
    provided: dict[str, Any] = {
        name: _number(int, "doctor_count", name, typed[name]) for name in COUNTS
    }
    provided |= {name: _number(float, "doctor_number", name, typed[name]) for name in SETTINGS}
    return Known(loss=typed["loss"], **provided)


def _text(request: Json, name: str) -> str:
    return of_type(str)(request.get(name, ""), name).strip()


def _number(kind: type[int] | type[float], problem: str, name: str, text: str) -> float | None:
    """Read a number of this kind, None where nothing was typed. Raises the problem of this key."""
    if not text:
        return None
    try:
        return kind(text)
    except ValueError:
        raise Problem(problem, name=name, value=quoted(text)) from None


SERVED = [served("explain", _explain), served("read_pasted", _read_pasted), *JOBS]
