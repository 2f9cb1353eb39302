"""The report on a run, as lines of text and as an answer."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import axes_of
from lossprism.explorer.lab.doctor.finding import Fault, Severity
from lossprism.explorer.lab.doctor.logs.findings import (
    END_FINDINGS,
    ExaminedRun,
    last_count,
    too_short_for,
)
from lossprism.explorer.lab.doctor.logs.log import ROW_NUMBERS, Log
from lossprism.explorer.lab.doctor.logs.run_comparison import compare_runs
from lossprism.explorer.lab.doctor.logs.run_reference_values import single_loss_if_known
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import COUNTS, SETTINGS, Known
from lossprism.explorer.lab.doctor.number_matching import LossMatch
from lossprism.explorer.lab.doctor.reference_values import COLLAPSE, reference_value
from lossprism.explorer.locale import grouped, say, spelled, title_word, word
from lossprism.explorer.runtime.number_format import Real, display_number
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.runtime.response_parent_classes import Answer, Whole, as_answer
from lossprism.losses import LOSSES

PAGE = "doctor"
# Relative difference between a run's logged value at collapse and that of its scenario.
COLLAPSE_TOLERANCE = 1e-3


def lines(examined_run: ExaminedRun, language: str = "en") -> Iterator[str]:
    """Yield the read and known values, then each finding with its advice."""
    yield from about(examined_run, language)
    for fault in examined_run.faults:
        yield ""
        yield from fault.lines(language)
    if not examined_run.faults:
        yield say(language, "doctor.run.none_found")


def _step(step: float) -> str:
    """Write a step, which in some logs is a fraction of epochs."""
    return grouped(int(step)) if step == int(step) else display_number(float(step))


def about(examined_run: ExaminedRun, language: str = "en") -> Iterator[str]:
    curve = examined_run.log.curve(examined_run.curve)
    steps = {"first": _step(curve.steps[0]), "last": _step(curve.steps[-1])}
    yield say(language, "doctor.run.read", points=len(curve), curve=examined_run.curve, **steps)
    if examined_run.log.step == ROW_NUMBERS:
        yield say(language, "doctor.run.by_rows")
    yield from _left(examined_run.log, language)
    known = [*_known(examined_run, language)]
    if known:
        yield say(language, "doctor.run.known", what=say(language, "ui.between").join(known))
    marks = examined_run.marks
    if marks.collapse is not None:
        source = "logged" if marks.logged else "drawn" if marks.drawn else "counted"
        key = f"doctor.run.marks_{source}"
        ends = (display_number(one, 4) for one in (marks.collapse, marks.floor))
        sentence = say(language, key, **dict(zip(("collapse", "floor"), ends, strict=True)))
        wrapped = f"doctor.run.if.{marks.assumed}"
        yield say(language, wrapped, sentence=sentence) if marks.assumed else sentence
    else:
        yield _without_marks(examined_run, language)
    short = too_short_for(examined_run)
    end_findings = END_FINDINGS & {fault.name for fault in examined_run.faults}
    if examined_run.level is not None and not end_findings and "end" not in short:
        yield _ended(examined_run, language)
    if short:
        words = (say(language, f"doctor.run.of.{name}") for name in short)
        yield say(language, "doctor.run.too_short", what=say(language, "ui.between").join(words))
    others = [
        name
        for name in examined_run.log.curves
        if name not in (examined_run.curve, examined_run.held_out)
    ]
    if others:
        yield say(language, "doctor.run.other_curves", names=", ".join(others)[:400])


def _left(log: Log, language: str) -> Iterator[str]:
    """Report lines and columns that are in no curve."""
    if log.left_lines:
        lines = {"count": len(log.left_lines), "line": log.left_lines[0]}
        yield say(language, "doctor.run.left_lines", **lines)
    if log.left_columns:
        yield say(language, "doctor.run.left_columns", names=", ".join(log.left_columns)[:400])


def _without_marks(examined_run: ExaminedRun, language: str) -> str:
    """Explain why the ends of the run are unknown."""
    if single_loss_if_known(examined_run.known):
        return say(language, "doctor.run.no_marks")
    if called := examined_run.known.loss or examined_run.log.called:
        return say(language, "doctor.run.not_decoded", loss=called)
    return say(language, "doctor.run.nothing_known")


def _ended(examined_run: ExaminedRun, language: str) -> str:
    """Describe the end of a curve without a finding there."""
    values = {
        "count": last_count(examined_run.log.curve(examined_run.curve)),
        "level": display_number(examined_run.level, 4),
    }
    sentence = say(language, "doctor.run.ended", **values)
    collapse, floor = examined_run.marks.collapse, examined_run.marks.floor
    zero = any(fault.name == "zero" for fault in examined_run.faults)
    if zero or collapse is None or floor is None or floor >= collapse:
        return sentence
    return say(language, "doctor.run.vague", sentence=sentence)


def _known(examined_run: ExaminedRun, language: str) -> Iterator[str]:
    yield from known_words(examined_run.known, language, examined_run.log.called)
    if examined_run.log.precision:
        yield say(language, "doctor.run.precision", name=examined_run.log.precision)


def known_words(known: Known, language: str, called: str = "") -> Iterator[str]:
    """Yield the loss, by its name or else what it is `called`, and each count and setting."""
    loss = single_loss_if_known(known)
    if loss is not None:
        title = spelled(language, "loss", title_word(LOSSES[loss.name]))
        convention = loss.convention
        yield (
            say(language, "doctor.of_convention", loss=title, convention=convention)
            if convention
            else title
        )
    elif known.loss or called:
        yield known.loss or called
    for name in (*COUNTS, *SETTINGS):
        value = getattr(known, name)
        if value is not None and (value or name != "negatives"):
            setting = word(f"doctor.known.{name}", name)
            yield say(language, "doctor.setting", name=setting, value=display_number(value))


def beside_lines(
    other: ExaminedRun, name: str, faults: Iterable[Fault], language: str = "en"
) -> Iterator[str]:
    """Yield the report of the other run, of this name, and of the comparison."""
    key = "doctor.beside_title" if other.level is None else "doctor.run.two"
    yield f"\n{say(language, key, name=name, level=display_number(other.level, 4))}"
    for fault in faults:
        yield from fault.lines(language)


@dataclass(frozen=True)
class RunFinding(Whole):
    """A finding about a run."""

    name: str
    severity: Severity
    said: str
    advice: list[str]
    values: dict[str, Setting]
    steps: list[int]


@dataclass(frozen=True)
class ReadRun(Whole):
    """A run, and what was found in it."""

    source: str
    curve: str
    held_out: str
    curves: dict[str, int]
    points: int
    steps: list[str]
    step: str
    known: dict[str, Setting]
    precision: str
    collapse: float | None
    floor: float | None
    logged: bool
    level: Real | None
    severe: bool
    about: list[str]
    findings: list[RunFinding]
    link: str | None
    scene: str | None


@dataclass(frozen=True)
class RunBeside(ReadRun):
    """Another run, and the findings of the comparison."""

    compared: list[RunFinding]


@dataclass(frozen=True)
class DoctoredRun(ReadRun):
    """A run, what was found in it, and another one beside it."""

    beside: RunBeside | None


def run_answer(
    examined_run: ExaminedRun, kind: type[Answer], language: str = "en", **others: object
) -> Answer:
    """Return a run as an answer of this kind, a `ReadRun` with other fields."""
    log, marks = examined_run.log, examined_run.marks
    return as_answer(
        kind,
        examined_run,
        source=log.source,
        steps=[*log.steps],
        step=log.step,
        precision=log.precision,
        collapse=marks.collapse,
        floor=marks.floor,
        logged=marks.logged,
        curves={name: len(one) for name, one in log.curves.items()},
        points=len(log.curve(examined_run.curve)),
        known=examined_run.known.provided,
        about=[*about(examined_run, language)],
        findings=run_findings(examined_run.faults, language),
        link=link_of(examined_run),
        scene=scenario_link(examined_run),
        **others,
    )


def doctored_run(
    examined_run: ExaminedRun, other: ExaminedRun | None, language: str = "en"
) -> DoctoredRun:
    """Return the answer about a run, with another one beside it if there is one."""
    beside = None
    if other is not None:
        compared = run_findings(compare_runs(examined_run, other), language)
        beside = run_answer(other, RunBeside, language, compared=compared)
    return run_answer(examined_run, DoctoredRun, language, beside=beside)


def run_findings(faults: Iterable[Fault], language: str) -> list[RunFinding]:
    """Return findings of runs as answers, with the steps that show them."""
    return [fault.answered(RunFinding, language, steps=[*fault.rows]) for fault in faults]


def scenario_link(examined_run: ExaminedRun) -> str | None:
    """Return the link to a scenario with the run's value at collapse.

    None where the counts are unknown, or the batch is too large for Explore.
    """
    loss, collapse = single_loss_if_known(examined_run.known), examined_run.marks.collapse
    axis = None if loss is None else next(axes_of(loss, examined_run.known), None)
    if loss is None or axis is None or collapse is None:
        return None
    layout = axis.layout_of(axis.usual_count)
    value = reference_value(loss, COLLAPSE, layout)
    if value is None or not math.isclose(value, collapse, rel_tol=COLLAPSE_TOLERANCE):
        return None
    match = LossMatch(
        loss.name,
        loss.convention,
        loss.changed_parameters,
        (),
        COLLAPSE,
        value,
        None,
        0.0,
        layout,
        score=loss.score,
    )
    scenario = match.scenario()
    return None if scenario is None else scenario.to_link()


def link_of(examined_run: ExaminedRun) -> str | None:
    """Return the end of the address of "Check a number" with the last level of the run and its
    known values; None where its loss is unknown, unless the curve is flat."""
    is_flat = any(fault.name == "flat" for fault in examined_run.faults)
    is_explained = is_flat or single_loss_if_known(examined_run.known) is not None
    if examined_run.level is None or not is_explained:
        return None
    fields = ("loss", *COUNTS, *SETTINGS)
    known = {
        name: str(value) for name, value in examined_run.known.provided.items() if name in fields
    }
    return f"{PAGE}#{urlencode({'value': display_number(examined_run.level, 4), **known})}"
