"""Findings about a run from its curves and the known values of its loss.

Each is a pure function of one or two curves: its claim, evidence and test are in
`tests.judgements.claims`, its error rates in docs/judgements.md.
"""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.core.remarks import MAX_COLLAPSED_SPREAD
from lossprism.explorer.lab.doctor.finding import (
    NOTE,
    SEVERE,
    WARNING,
    Fault,
    WithFaults,
    worst_first,
)
from lossprism.explorer.lab.doctor.logs.below_minimum import (
    AT_LEVEL_SHARE,
    BELOW_MINIMUM_FINDINGS,
    below_minimum,
)
from lossprism.explorer.lab.doctor.logs.curve_noise import noise_of, slope_of
from lossprism.explorer.lab.doctor.logs.filtered_nan import on_filtered
from lossprism.explorer.lab.doctor.logs.held_out_findings import (
    MIN_HELD_OUT_POINTS,
    on_figure,
    on_gap,
    on_held_out,
    on_leak,
)
from lossprism.explorer.lab.doctor.logs.log import GRADIENT_NORM_NAME, Curve, Log, run_of
from lossprism.explorer.lab.doctor.logs.run_reference_values import (
    RunReferenceValues,
    run_reference_values,
    single_loss_if_known,
)
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import is_without_ends
from lossprism.explorer.lab.doctor.pair_dataset_checks import is_softmax, margin_beyond
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.explorer.runtime.problem import Problem

# Standard errors of a difference that is reported; more where every step is searched.
MIN_STANDARD_ERRORS, MIN_STANDARD_ERRORS_ANYWHERE = 3.0, 6.0
# Chance hardly brings the rank correlation of 200 held-out pairs this far from 0.
MIN_CORRELATION = 0.2
MIN_POINTS = 3  # of a curve with an end
AT_MINIMUM_SHARE = 0.98  # of the way from collapse to the minimum
# A level whose error is more than this share of the way from collapse to the minimum has no place
# between them.
MAX_ERROR_SHARE = 0.1
# A plateau: the curve is cut into blocks, of which the last give its level. It has a share of the
# values, after a fall of several standard errors, and drifts by a share of that fall at most.
MIN_PLATEAU_STEPS, PLATEAU_BLOCKS, LEVEL_BLOCKS = 40, 20, 5
MIN_PLATEAU_SHARE, MIN_FALL_STANDARD_ERRORS, MAX_DRIFT_SHARE = 0.25, 6.0, 0.1
# A loss that never fell: the mean of every block of the log, with its error, is within this share
# of the mean of all. A short log has fewer blocks, of so many values.
MIN_FLAT_STEPS, MIN_FLAT_BLOCKS, FLAT_BLOCK, MAX_FLAT_SHARE = 10, 5, 5, 0.01
# Values before and after a step that are compared for a jump: a fiftieth of the curve, from the
# usual number to the largest; in a short curve fewer, down to the least.
MIN_JUMP_WINDOW, USUAL_JUMP_WINDOW, MAX_JUMP_WINDOW = 5, 10, 50
# Binary digits of a mantissa, the coarser format first; the values that show one, and the largest
# chance that values in full precision all look like it.
MANTISSA_BITS = {"bfloat16": 7, "float16": 10}
MIN_DIGIT_VALUES, MAX_DIGIT_CHANCE = 8, 1e-9
# Last entries that are 0, that have no value, or whose value is not finite: fewer may be chance.
MIN_LAST_ENTRIES = 5
# Findings about the end of the curve.
END_FINDINGS = {*BELOW_MINIMUM_FINDINGS, "ordered", "turned", "at_collapse", "not_collapsed",
                "above_collapse", "at_floor", "between"}  # fmt: skip


@dataclass(frozen=True)
class ExaminedRun(WithFaults):
    """The findings about a run, the worst first, and the examined curve."""

    log: Log
    curve: str
    held_out: str
    known: Known
    marks: RunReferenceValues
    level: float | None
    faults: tuple[Fault, ...]


def examine_run(
    log: Log, known: Known | None = None, curve: str = "", held_out: str = ""
) -> ExaminedRun:
    """Return all findings about a run. Values in `known` take precedence over those of its log.

    Raises Problem where there is no curve of a training loss, or none of the chosen name.
    """
    known = known_of(log, known)
    name = curve or log.trained
    if not log.curves:
        raise Problem("run_no_curves")
    if not name:
        raise Problem("run_no_loss", known=", ".join(log.curves)[:400] or "–")
    trained = log.curve(name)
    evaluated = log.curve(held_out).finite if held_out else None
    evaluated_name = held_out or log.held_out
    if evaluated is None and evaluated_name:
        evaluated = log.curves[evaluated_name].finite
    marks = run_reference_values(log, known)
    faults, finite, level = [*on_numbers(trained)], trained.finite, None
    if len(finite) and trained.is_finite_at_end:
        level = level_of(finite)[0]
        zeros = sum(int(fault.values["count"]) for fault in faults if fault.name == "zero")
        if not zeros:
            faults += on_level(finite, marks, known)
        elif zeros >= last_count(finite):  # the mean of the end has no earlier values
            # A broken loss is 0 without having learned.
            at_end = on_level(finite, marks, known)
            faults += [fault for fault in at_end if fault.name != "at_floor"]
        if zeros < last_count(finite):  # zeros are no plateau of learning
            placed = END_FINDINGS & {fault.name for fault in faults} - {"between"}
            faults += on_plateau(finite)
            faults += () if placed else on_flat(finite)
        if filtered := [*on_filtered(log, trained, zeros)]:
            faults = [*filtered, *(fault for fault in faults if fault.name != "zero")]
    faults += [*on_jumps(finite), *on_digits(trained), *on_end(log, trained)]
    faults += on_gradient(log) if trained.is_finite_at_end else ()
    if loss := single_loss_if_known(known):
        faults += margin_beyond(loss.spec, dict(loss.parameters), subject="run")
    both_end = trained.is_finite_at_end and (
        evaluated is not None and log.curve(evaluated_name).is_finite_at_end
    )
    if evaluated is not None and both_end:
        turned = [*on_held_out(finite, evaluated)]
        faults += turned or on_gap(finite, evaluated, marks)
        faults += on_leak(finite, evaluated, marks, log.epochs)
    for figure in (log.curves[name] for name in log.figures):
        faults += on_figure(figure.finite) if figure.is_finite_at_end else ()
    return ExaminedRun(log, name, evaluated_name, known, marks, level, worst_first(faults))


def too_short_for(examined_run: ExaminedRun) -> tuple[str, ...]:
    """Return the names of the checks that need more values than this run has."""
    trained = examined_run.log.curve(examined_run.curve)
    needed = {
        "end": MIN_POINTS,
        "flat": MIN_FLAT_STEPS,
        "jump": 3 * MIN_JUMP_WINDOW,
        "plateau": MIN_PLATEAU_STEPS,
    }
    short = [name for name, least in needed.items() if len(trained.finite) < least]
    chosen = [examined_run.held_out] if examined_run.held_out else []
    evaluated = [
        examined_run.log.curve(name) for name in dict.fromkeys([*chosen, *examined_run.log.figures])
    ]
    if evaluated and min(map(len, evaluated)) < MIN_HELD_OUT_POINTS:
        short.append("held_out")
    return tuple(short)


def known_of(log: Log, provided: Known | None) -> Known:
    """Merge the provided values with those of the log. Raises Problem for impossible ones."""
    provided = (provided or Known()).checked()
    if provided.loss:  # a provided name must be one of a loss
        is_without_ends(provided.loss)
    merged = {
        field.name: getattr(provided, field.name) or getattr(log.known, field.name)
        for field in dataclasses.fields(Known)
    }
    if provided.temperature is not None or provided.scale is not None:  # each gives the other
        merged |= {"temperature": provided.temperature, "scale": provided.scale}
    if provided.loss:  # the log's convention may belong to another loss
        merged |= {"convention": provided.convention}
    return Known(**merged).checked()


def level_of(curve: Curve) -> tuple[float, float]:
    """Return the mean of the last tenth of the curve, and its standard error."""
    last = last_count(curve)
    return float(curve.values[-last:].mean()), noise_of(curve.values).of_mean(last)


def last_count(curve: Curve) -> int:
    """Return the number of values in the last tenth, at least three of a curve with as many."""
    return max(len(curve) // 10, min(len(curve), 3))


def on_numbers(curve: Curve) -> Iterator[Fault]:
    """Find values that are not finite, and a loss that is exactly 0 at the end."""
    broken = np.flatnonzero(~np.isfinite(curve.values))
    if len(broken):
        values: dict[str, int | float | str] = {
            "count": len(broken),
            "kind": display_number(float(curve.values[broken[0]])),
            "step": curve.step_at(int(broken[0])),
            "last": curve.step_at(int(broken[-1])),
        }
        yield Fault("not_finite", SEVERE, values, _steps(curve, broken), subject="run")
    zero = curve.values == 0
    last = len(zero) if zero.all() else int(np.argmin(zero[::-1]))
    if last >= MIN_LAST_ENTRIES:
        at = len(zero) - last
        ending: dict[str, int | float | str] = {"count": last, "step": curve.step_at(at)}
        yield Fault(
            "zero", WARNING, ending, _steps(curve, np.flatnonzero(zero)[-last:]), subject="run"
        )


def on_end(log: Log, curve: Curve) -> Iterator[Fault]:
    """Find a curve that stops while the log goes on: pandas and JSON leave out a NaN."""
    if not len(curve):
        return
    last = float(curve.steps[-1])
    run = run_of(curve.name)
    others = [one.steps for name, one in log.curves.items() if run_of(name) == run]
    # Rows of a table without any value are entries, too.
    rows = np.union1d(curve.steps, log.blank) if log.blank else curve.steps
    for steps in (rows, *others):
        if _goes_on(curve.steps, steps):
            values: dict[str, int | float | str] = {"step": curve.step_at(len(curve) - 1)}
            end = float(steps.max())
            values["end"] = int(end) if end == int(end) else end
            yield Fault("stops", WARNING, values, (int(last),), subject="run")
            return


def _goes_on(own: np.ndarray, steps: np.ndarray) -> bool:
    """True if other entries, which ran beside a curve, went on after its last step: for twice the
    longest run between two of its steps, or for `MIN_LAST_ENTRIES`."""
    if len(own) < MIN_POINTS or not len(steps):
        return False
    between = np.diff(np.searchsorted(steps, own, side="right"))
    ran_beside = steps[0] <= own[len(own) // 2]
    return bool(ran_beside and (steps > own[-1]).sum() > max(MIN_LAST_ENTRIES, 2 * between.max()))


def on_gradient(log: Log) -> Iterator[Fault]:
    """Find a gradient that is not finite in all of the last entries, beside a finite loss. A single
    one is normal: the scaler of float16 skips that step."""
    for name, curve in log.curves.items():
        broken = ~np.isfinite(curve.values)
        last = len(broken) if broken.all() else int(np.argmin(broken[::-1]))
        if GRADIENT_NORM_NAME.search(name) and last >= MIN_LAST_ENTRIES:
            at = len(broken) - last
            values: dict[str, int | float | str] = {
                "name": name,
                "kind": display_number(float(curve.values[at])),
                "count": last,
                "step": curve.step_at(at),
            }
            steps = _steps(curve, np.arange(at, len(broken)))
            yield Fault("gradient_not_finite", SEVERE, values, steps, subject="run")
            return


def on_level(curve: Curve, marks: RunReferenceValues, known: Known) -> Iterator[Fault]:
    """Find where the curve ended between the minimum of its loss and its value at collapse."""
    if len(curve) < MIN_POINTS:
        return
    level, error = level_of(curve)
    unit = float(curve.unit.max(initial=0.0))
    values: dict[str, int | float | str] = {
        "level": display_number(level, 4),
        "collapse": display_number(marks.collapse, 4),
        "floor": display_number(marks.floor, 4),
    }
    faults = [*_place_level(level, MIN_STANDARD_ERRORS * error + unit, marks, values)]
    for fault in faults:
        assumed = "" if fault.name in BELOW_MINIMUM_FINDINGS - {"below_floor"} else marks.assumed
        yield dataclasses.replace(fault, assumed=assumed)
    if any(fault.name in BELOW_MINIMUM_FINDINGS for fault in faults):
        return  # below its minimum, it is not this softmax
    loss = single_loss_if_known(known)
    if loss is not None and is_softmax(loss.name) and 0 < level <= (marks.collapse or 0):
        counts = {
            "count": display_number(math.exp(level), 3),
            "candidates": display_number(math.exp(marks.collapse or 0), 3),
        }
        numbers = {**counts, **values}
        yield Fault("effective_candidates", NOTE, numbers, subject="run", assumed=marks.assumed)


def _place_level(
    level: float, error: float, marks: RunReferenceValues, values: dict
) -> Iterator[Fault]:
    """Place the level of the last values, known up to `error`, among the reference values."""
    collapse, floor = marks.collapse, marks.floor
    if below := below_minimum(level, error, marks, values):
        yield below
        return
    if collapse is None:
        return
    if error > MAX_ERROR_SHARE * abs(collapse - (floor or 0)) and level < collapse + error:
        return
    near = max(error, AT_LEVEL_SHARE * abs(collapse))
    name, figure = marks.order or ("", 0.0)
    if level >= collapse - near and abs(figure) >= MIN_CORRELATION:
        numbers = {**values, "name": name, "figure": display_number(figure, 3)}
        kind, severity = ("ordered", NOTE) if figure > 0 else ("turned", WARNING)
        yield Fault(kind, severity, numbers, subject="run")
    elif abs(level - collapse) <= near:
        yield _at_collapse(marks, values)
    elif level > collapse:
        yield Fault("above_collapse", NOTE, values, subject="run")
    elif floor is not None and floor < collapse:
        share = (collapse - level) / (collapse - floor)
        shared = {**values, "share": percent(min(share, 1.0))}
        place = "at_floor" if share >= AT_MINIMUM_SHARE else "between"
        yield Fault(place, NOTE, shared, subject="run")


def _at_collapse(marks: RunReferenceValues, values: dict) -> Fault:
    """Judge a loss at its value at collapse: where negatives differ, it has not collapsed."""
    if marks.negatives is None:
        return Fault("at_collapse", SEVERE, values, subject="run")
    numbers = {**values, "negative": display_number(marks.negatives, 2)}
    if marks.negatives > 1 - MAX_COLLAPSED_SPREAD:
        return Fault("at_collapse", SEVERE, numbers, subject="run", more="alike")
    return Fault("not_collapsed", NOTE, numbers, subject="run")


def on_plateau(curve: Curve) -> Iterator[Fault]:
    """Find the step after which the loss fell by less than a tenth of its fall before."""
    count = len(curve)
    if count < MIN_PLATEAU_STEPS:
        return
    values, noise = curve.values, noise_of(curve.values)
    parts = np.array_split(values, PLATEAU_BLOCKS)
    means = np.array([part.mean() for part in parts])
    starts = np.cumsum([0, *map(len, parts)])
    level = float(means[-LEVEL_BLOCKS:].mean())
    error = noise.of_mean(count // PLATEAU_BLOCKS)
    moving = np.abs(means - level) > MIN_STANDARD_ERRORS * error * math.sqrt(1 + 1 / LEVEL_BLOCKS)
    begins = int(np.flatnonzero(moving).max(initial=-1)) + 1
    fall = float(means[0]) - level
    rest = values[starts[begins] :]
    is_short = len(rest) < MIN_PLATEAU_SHARE * count
    if begins == 0 or is_short or fall < MIN_FALL_STANDARD_ERRORS * error:
        return
    drift = (abs(slope_of(rest)) + 2 * noise.of_slope(len(rest))) * len(rest)
    if drift > MAX_DRIFT_SHARE * fall:
        return
    step, share = curve.step_at(int(starts[begins])), percent(len(rest) / count)
    numbers = {"step": step, "share": share, "level": display_number(level, 4)}
    yield Fault("plateau", NOTE, numbers, (int(curve.steps[starts[begins]]),), subject="run")


def on_flat(curve: Curve) -> Iterator[Fault]:
    """Find a loss that stayed within a hundredth of its mean from the first step to the last."""
    count = len(curve)
    if count < MIN_FLAT_STEPS:
        return
    blocks = min(PLATEAU_BLOCKS, max(MIN_FLAT_BLOCKS, count // FLAT_BLOCK))
    level = float(curve.values.mean())
    means = np.array([part.mean() for part in np.array_split(curve.values, blocks)])
    error = MIN_STANDARD_ERRORS * noise_of(curve.values).of_mean(count // blocks)
    if float(np.abs(means - level).max()) + error < MAX_FLAT_SHARE * abs(level):
        yield Fault("flat", WARNING, {"level": display_number(level, 4)}, subject="run")


def on_jumps(curve: Curve) -> Iterator[Fault]:
    """Find steps at which the loss rose at once, and stayed up for a while."""
    values, noise = curve.values, noise_of(curve.values)
    width = min(max(USUAL_JUMP_WINDOW, len(values) // 50), MAX_JUMP_WINDOW, len(values) // 3)
    if width < MIN_JUMP_WINDOW or noise.deviation <= 0:
        return
    step, later_step = _step_weights(width, 0), _step_weights(width, width // 2)
    smooth = _without_spikes(values, noise.deviation)
    rises, stays = np.correlate(smooth, step), np.correlate(smooth, later_step)
    at_once = values[width : len(values) - width + 1] - values[width - 1 : len(values) - width]
    least = MIN_STANDARD_ERRORS_ANYWHERE * noise.of_sum(step)
    is_jump = (rises > least) & (at_once > 0.5 * rises) & (stays > 0.5 * rises)
    jumps = np.flatnonzero(is_jump) + width
    places = [int(jumps[place]) for place in range(len(jumps))
              if not place or jumps[place] - jumps[place - 1] > width]  # fmt: skip
    if not places:
        return
    first = places[0]
    numbers: dict[str, int | float | str] = {
        "count": len(places),
        "step": curve.step_at(first),
        "before": display_number(float(np.median(values[first - width : first])), 4),
        "after": display_number(float(np.median(values[first : first + width])), 4),
    }
    yield Fault("jump", WARNING, numbers, _steps(curve, np.array(places)), subject="run")


def _step_weights(width: int, left_out: int) -> np.ndarray:
    """Return the weights [2·width] whose sum with values around a place is the height of the step
    there, beside a common slope. The first `left_out` values after the place do not count."""
    place = np.arange(2 * width) - width + 0.5
    model = np.stack([np.ones(2 * width), place, place > 0], axis=1)
    model[width : width + left_out] = 0
    return np.linalg.pinv(model)[2]


def _without_spikes(values: np.ndarray, deviation: float) -> np.ndarray:
    """Replace values far from the median of five neighbours by that median."""
    padded = np.pad(values, 2, mode="edge")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)
    return np.where(np.abs(values - middle) > MIN_STANDARD_ERRORS * deviation, middle, values)


def on_digits(curve: Curve) -> Iterator[Fault]:
    """Find values that are all exact in a 16-bit format, which is no chance."""
    finite = curve.finite
    values, places = np.unique(np.abs(finite.values), return_index=True)
    normal = values > 2.0**-14  # smaller numbers of float16 are subnormal
    values, units = values[normal], finite.unit[places][normal]
    if len(values) < MIN_DIGIT_VALUES:
        return
    for name, bits in MANTISSA_BITS.items():
        steps = 2.0 ** (np.floor(np.log2(values)) - bits)
        slack = units + 1e-9 * values
        off = np.abs(values - np.round(values / steps) * steps)
        chance = np.clip(2 * slack / steps, 1e-12, 1.0)
        if (off <= 1.01 * slack).all() and np.log(chance).sum() < math.log(MAX_DIGIT_CHANCE):
            step = float(steps[len(steps) // 2])
            numbers: dict[str, int | float | str] = {
                "format": name,
                "unit": display_number(step, 2),
                "count": len(values),
                "values": len(finite),
            }
            yield Fault("digits_lost", WARNING, numbers, subject="run")
            return


def _steps(curve: Curve, places: np.ndarray) -> tuple[int, ...]:
    return tuple(int(curve.steps[place]) for place in places)
