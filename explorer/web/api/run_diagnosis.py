"""Diagnosis of a training run, and comparison of two, for programs."""

from collections.abc import Iterator

from lossprism.explorer.core.explore import SMALL_PAIRS
from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.log import MAX_POINTS, Log, NumberSeries, log_of
from lossprism.explorer.lab.doctor.logs.run_reader import read_content
from lossprism.explorer.lab.doctor.logs.run_report import DoctoredRun, doctored_run
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.api.request_parsing import (
    check_lengths,
    read_choice,
    read_numbers,
    read_text,
    read_values,
)
from lossprism.explorer.web.api.response_schemas import in_json

# A log of so many letters for each of a batch's pairs takes about as long.
LETTERS_OF_A_PAIR = 1000


@in_json
def doctor_run(
    log: str = "",
    values: list[float | str | None] | None = None,
    steps: list[float] | None = None,
    held_out: list[float | str | None] | None = None,
    held_out_steps: list[float] | None = None,
    loss: str = "",
    batch: int | None = None,
    negatives: int | None = None,
    classes: int | None = None,
    temperature: float | None = None,
    scale: float | None = None,
    margin: float | None = None,
    processes: int | None = None,
    dimension: int | None = None,
    curve: str = "",
    held_out_curve: str = "",
    step: str = "",
    language: str = "en",
    beside: str = "",
    beside_loss: str = "",
    beside_batch: int | None = None,
    beside_temperature: float | None = None,
    beside_scale: float | None = None,
) -> DoctoredRun:
    """Diagnose a training run from its loss curve.

    Where the curve ended between its minimum and its value at collapse, where it stalled, jumped or
    became NaN, digits lost to a half format, overfitting by the held-out curve; beside another run,
    what both can say about each other. What is null or "" is read from the log.

    Args:
        log: the text of trainer_state.json, of a model's README.md as sentence-transformers writes
            it, or of a table of scalars (CSV or JSON lines, wide or long, with a column of steps)
        values: the training loss, in place of a log; null, "nan", "inf" and "-inf" are no numbers
        steps: the step of each value; left out, 1, 2, 3 …
        held_out: the held-out loss, beside values
        held_out_steps: the step of each of these; left out, spread over those of the values
        loss, batch, negatives, classes, temperature, scale, margin, processes, dimension: see
            explain_loss_value
        curve: the name of the training loss in the log
        held_out_curve: that of the held-out loss
        step: the column of the steps, of a log that is a table; "#" counts its rows
        language: see explain_loss_value
        beside: the text of the log of another run; "" for none
        beside_loss, beside_batch, beside_temperature, beside_scale: of that run

    Returns:
        An object with
        source, what was read; curve and held_out, the names of the curves in use; curves, how many
        values each has; points, how many the training loss has; steps, the columns that the steps
        of a table may stand in, and step, the one that was read; known, what is known of the loss
        and its counts; precision, as the log says; collapse and floor, the ends of the loss, as the
        run logged them (logged) or by its counts, null where neither is known; level, the mean
        of the last tenth of the curve; severe, whether any finding is; about, what was read and is
        known, in sentences; findings, the worst first, each with name, severity ("severe",
        "warning" or "note"), said, advice, values and the steps that show it; link, the end of an
        address that opens the Doctor page on the value, null where the loss is not known; scene,
        the link of a scenario of Explore at these counts, whose loss and floor are both ends, null
        where the counts are not known; beside, the same of the other run, with compared, the
        findings about both, null where none was given.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Examples:
        >>> found = doctor_run(values=[2.0794] * 40, loss="info_nce", batch=8)
        >>> [finding["name"] for finding in found["findings"]], found["severe"]
        (['at_collapse', 'effective_candidates'], True)
        >>> doctor_run(values=[2.1, 1.7, 1.4, None])["findings"][0]["said"]
        'The loss became NaN at step 4: 1 value is not finite, the last at step 4.'
    """
    known = Known(
        loss=read_text("loss", loss),
        batch=batch,
        negatives=negatives,
        classes=classes,
        processes=processes,
        dimension=dimension,
        temperature=temperature,
        scale=scale,
        margin=margin,
    )
    other = Known(
        loss=read_text("beside_loss", beside_loss),
        batch=beside_batch,
        temperature=beside_temperature,
        scale=beside_scale,
    )
    text, text_beside = read_text("log", log), read_text("beside", beside)
    names = {"curve": curve, "held_out_curve": held_out_curve, "step": step}
    chosen = {name: read_text(name, value) for name, value in names.items()}
    read_choice("language", language, LANGUAGES)
    values = None if values == [] else values
    if bool(text.strip()) == (values is not None):
        raise Problem("run_given_twice" if text.strip() else "run_nothing_given")
    if not text_beside.strip() and other != Known():
        raise Problem("beside_no_run", name=next(_facts_about(other)), run="beside")
    with jobs.heavy_work_turn_if(len(text) + len(text_beside) > SMALL_PAIRS * LETTERS_OF_A_PAIR):
        if values is None:
            parsed_log = _read("log", text, chosen["step"])
        else:
            held_out_log = None
            if held_out:
                held_out_log = _curve_of("held_out", held_out, "held_out_steps", held_out_steps)
            parsed_log = log_of(_curve_of("values", values, "steps", steps), held_out_log)
        examined_run = examine_run(parsed_log, known, chosen["curve"], chosen["held_out_curve"])
        second = None
        if text_beside.strip():
            second = examine_run(_read("beside", text_beside), other)
        return doctored_run(examined_run, second, language)


def _facts_about(other: Known) -> Iterator[str]:
    """Return the given facts about the other run, by the names of the arguments."""
    usual = vars(Known())
    return (f"beside_{name}" for name, value in vars(other).items() if value != usual[name])


def _read(name: str, text: str, step: str = "") -> Log:
    return read_content(name, text.encode("utf-8", "replace"), step)


def _curve_of(name: str, values: object, steps_name: str, steps: object) -> NumberSeries:
    numbers = read_values(name, values)
    at = None if steps is None else read_numbers(steps_name, steps)
    lists = {name: numbers} if at is None else {name: numbers, steps_name: at}
    check_lengths("doctor_run", MAX_POINTS, lists)
    return numbers, at
