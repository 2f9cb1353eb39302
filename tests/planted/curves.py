"""Logs of runs with one thing the matter with each: a loss that falls all along, but for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from lossprism.explorer.lab.doctor.finding import Fault
from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.log import Curve, Log
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known

DRAWS = 40
COLLAPSE, FLOOR, NOISE = 4.0, 0.5, 0.06
# Every run that has not reached an end has a position.
DOTS = Known("MultipleNegativesRankingLoss", batch=55, scale=1.0)  # at collapse ln 55 = 4.0
STANDS = {"between", "effective_candidates"}
# The reported position is right within so much of the way from collapse to the least value.
OFF = 0.02


@dataclass
class Made:
    """The values of a log, and where it ends without its noise, None without a report. `true`
    are findings that are right of it, `beside` such as may be reported or not. The loss is a
    softmax, where `softmax`."""

    loss: np.ndarray
    held: np.ndarray
    figure: np.ndarray
    end: float | None
    softmax: bool
    true: set[str]
    beside: set[str] = field(default_factory=set)
    negatives: np.ndarray | None = None
    margin: float | None = None
    gradient: np.ndarray | None = None
    logged: int | None = None  # values of the loss, where the log goes on without it
    known: Known | None = None  # where its ends are not logged and follow from the loss


Draw = np.random.Generator


def healthy(draw: Draw) -> Made:
    """The loss falls from 3.9 to 1.5, the held-out loss with it, and its figure rises."""
    steps, evaluations = int(draw.integers(100, 600)), int(draw.integers(10, 40))
    loss = np.linspace(3.9, 1.5, steps) + NOISE * draw.normal(size=steps)
    held = np.linspace(3.9, 1.8, evaluations) + NOISE * draw.normal(size=evaluations)
    figure = np.linspace(0.4, 0.8, evaluations) + 0.01 * draw.normal(size=evaluations)
    end = float(np.linspace(3.9, 1.5, steps)[-(steps // 10) :].mean())
    return Made(loss, held, figure, end, bool(draw.integers(2)), {*STANDS})


def stays(draw: Draw, made: Made, start: float, level: float) -> None:
    """It falls to a level within 15 to 35% of its steps."""
    steps = len(made.loss)
    fallen = np.exp(-np.arange(steps) / (draw.uniform(0.15, 0.35) / 3 * steps))
    made.loss = level + (start - level) * fallen + NOISE * draw.normal(size=steps)
    made.end = level


def plateau(draw: Draw, made: Made) -> None:
    stays(draw, made, 3.9, 1.5)


def flat(draw: Draw, made: Made) -> None:
    """It never falls, in noise of a thousandth of it."""
    level = draw.uniform(1.0, 3.5)
    made.loss = level * (1 + 0.001 * draw.normal(size=len(made.loss)))
    made.end = level


def jump(draw: Draw, made: Made) -> None:
    """By ten times the noise, and it falls on from there."""
    made.loss[int(len(made.loss) * draw.uniform(0.2, 0.8)) :] += 10 * NOISE
    made.end += 10 * NOISE


def spike(draw: Draw, made: Made) -> None:
    """One step, which is nothing to speak of."""
    made.loss[int(len(made.loss) * draw.uniform(0.2, 0.8))] += 3.0


def digits_lost(draw: Draw, made: Made) -> None:
    made.loss = made.loss.astype(np.float16).astype(np.float64)


def turned(draw: Draw, values: np.ndarray, by: float) -> np.ndarray:
    """From a place between a fifth and half of it on it goes back by so much in all."""
    places, best = np.arange(len(values)), int(len(values) * draw.uniform(0.2, 0.5))
    noise = values - np.linspace(values[0], values[-1], len(values))
    fallen = values[0] + (values[-1] - values[0]) * np.minimum(places / best, 1)
    return fallen + noise + by * np.clip(places - best, 0, None) / (len(values) - best)


def overfits(draw: Draw, made: Made) -> None:
    made.held = turned(draw, made.held, 12 * NOISE)


def gap(draw: Draw, made: Made) -> None:
    """The loss goes to its minimum, the held-out loss stays where it is."""
    stays(draw, made, 3.9, FLOOR + 0.02)
    made.true, made.beside = {"effective_candidates"}, {"at_floor", "between", "plateau"}


def leak(draw: Draw, made: Made) -> None:
    """Both go to the same place next to the minimum."""
    way = lambda count: 3.4 * np.exp(-np.linspace(0, 1, count) / 0.08)  # noqa: E731
    for name in ("loss", "held"):
        left = 0.08 + way(len(getattr(made, name)))
        setattr(made, name, FLOOR + left + 0.01 * draw.normal(size=len(left)))
    made.end = FLOOR + 0.08
    made.true, made.beside = {"effective_candidates"}, {"at_floor", "between", "plateau"}


def figure_falls(draw: Draw, made: Made) -> None:
    made.figure = turned(draw, made.figure, -0.12)


def level(
    start: float, low: float, high: float, figure: float | None = None, *, true: tuple = ()
) -> Callable[[Draw, Made], None]:
    """It ends between two levels, and its figure with it, where one is given; of where it stands
    this is true beside."""

    def make(draw: Draw, made: Made) -> None:
        stays(draw, made, start, draw.uniform(low, high))
        made.true = {*true}
        made.beside = {"plateau"}  # it does stay there
        if low == COLLAPSE:  # and its noise carries it above and below
            made.beside.add("effective_candidates")
        if figure is not None:
            made.figure = figure + 0.01 * draw.normal(size=len(made.figure))

    return make


def collapsed(draw: Draw, made: Made) -> None:
    """All vectors are alike, which the cosines of its batches say where they were logged."""
    level(5.0, COLLAPSE, COLLAPSE, 0.0)(draw, made)
    if draw.integers(2):
        made.negatives = 1 - 0.01 * draw.uniform(size=len(made.loss))


def not_collapsed(draw: Draw, made: Made) -> None:
    """The loss is that of collapse, and its negatives lie apart."""
    level(5.0, COLLAPSE, COLLAPSE, 0.0)(draw, made)
    made.negatives = draw.uniform(0, 0.9) + 0.03 * draw.normal(size=len(made.loss))


def known_as(
    known: Known, low: float, high: float, *, true: tuple = ()
) -> Callable[[Draw, Made], None]:
    """It ends between two levels, and its ends are those of this loss."""

    def make(draw: Draw, made: Made) -> None:
        level(3.9, low, high, true=true)(draw, made)
        made.known, made.end = known, None  # the share of its way is that to another minimum
        made.softmax = "effective_candidates" in true

    return make


def margin(low: float, high: float) -> Callable[[Draw, Made], None]:
    """A triplet loss of this margin; two vectors of length 1 lie 2 apart at most."""

    def make(draw: Draw, made: Made) -> None:
        made.margin, made.softmax = float(draw.uniform(low, high)), False

    return make


def not_finite(draw: Draw, made: Made) -> None:
    made.loss[draw.integers(20, len(made.loss), 3)] = np.nan
    made.beside = {*STANDS}  # a last value of NaN has no reported end


def scaled(draw: Draw, made: Made) -> None:
    """The scaler of float16 skips its first steps, and one now and then, which is nothing to speak
    of."""
    made.gradient = 1 + draw.uniform(size=len(made.loss))
    made.gradient[: int(draw.integers(1, 8))] = np.inf
    made.gradient[draw.integers(20, len(made.loss), 5)] = np.nan
    made.gradient[-4] = 1.0


def gradient_not_finite(draw: Draw, made: Made) -> None:
    """From somewhere on to the end; the loss is logged all along."""
    scaled(draw, made)
    made.gradient[-int(draw.integers(5, 60)) :] = draw.choice([np.nan, np.inf])


def stops(draw: Draw, made: Made) -> None:
    """The log goes on without it, for a tenth of its steps or more."""
    made.logged = int(len(made.loss) * draw.uniform(0.4, 0.9))
    made.beside, made.end = {*STANDS}, None  # it ended where nobody sees it


def seldom(draw: Draw, made: Made) -> None:
    """It is logged every tenth step, which is nothing to speak of."""
    made.logged, made.beside, made.end = -10, {*STANDS}, None  # of so few it is not held to digits


def zero(draw: Draw, made: Made) -> None:
    made.loss[-int(draw.integers(5, 15)) :] = 0.0
    # If that is all of its last tenth, it is; if only a part, its mean is not reported.
    made.true, made.beside = set(), {"below_floor", "plateau"}


PLANTED: dict[str, Callable[[Draw, Made], None]] = {
    "": lambda draw, made: None,
    "(a spike)": spike,
    "plateau": plateau,
    "flat": flat,
    "jump": jump,
    "digits_lost": digits_lost,
    "overfits": overfits,
    "gap": gap,
    "leak": leak,
    "figure_falls": figure_falls,
    "between": level(3.9, 1.0, 3.6, true=("between", "effective_candidates")),
    "at_collapse": collapsed,
    "not_collapsed": not_collapsed,
    "above_collapse": level(6.0, 4.2, 4.8, 0.0),
    "ordered": level(6.0, COLLAPSE, 4.8, 0.8),
    "turned": level(6.0, COLLAPSE, 4.8, -0.6),
    "at_floor": level(3.9, FLOOR, FLOOR, true=("effective_candidates", "gap")),
    "below_floor": level(3.9, 0.1, 0.4),
    "below_assumed": known_as(DOTS, 0.2, 2.5),
    "(dot products)": known_as(replace(DOTS, score="dot"), 0.2, 2.5, true=tuple(STANDS)),
    "labels_outside": known_as(Known("BinaryCrossEntropyLoss"), -1.0, -0.2),
    "margin_beyond": margin(2.1, 9.0),
    "(a margin)": margin(0.1, 2.0),
    "not_finite": not_finite,
    "(a scaler)": scaled,
    "gradient_not_finite": gradient_not_finite,
    "stops": stops,
    "(every tenth step)": seldom,
    "zero": zero,
}


def log_of(draw: Draw, made: Made) -> Log:
    """As a training with PrismCallback logs it, in four decimals or with all digits."""
    decimals = 4 if draw.integers(2) else 17
    steps = np.arange(1.0, len(made.loss) + 1)
    at = steps[-1] * np.arange(1.0, len(made.held) + 1) / len(made.held)
    ends = np.full((2, len(steps)), [[COLLAPSE], [FLOOR]])
    rows = {
        "loss": (steps, made.loss),
        "eval_loss": (at, made.held),
        "eval_spearman": (at, made.figure),
        "prism_collapse": (steps, ends[0]),
        "prism_floor": (steps, ends[1]),
    }
    if made.logged is not None:
        logged = slice(None, None, 10) if made.logged < 0 else slice(made.logged)
        rows["loss"] = (steps[logged], made.loss[logged])
    if made.negatives is not None:
        rows["prism_negative_cosine"] = (steps, made.negatives)
    if made.gradient is not None:
        rows["grad_norm"] = (steps, made.gradient)
    if made.known is not None:
        rows = {name: row for name, row in rows.items() if not name.startswith("prism_")}
    unit = 0.5 * 10.0**-decimals
    curves = {
        name: Curve(name, where, np.round(values, decimals), np.full(len(where), unit))
        for name, (where, values) in rows.items()
    }
    known = Known("info_nce" if made.softmax else "cosent")
    if made.margin is not None:
        known = Known("TripletLoss", margin=made.margin)
    known = made.known or known
    return Log("trainer_state", curves, known)


def is_right(fault: Fault, made: Made) -> bool:
    """Return whether the reported position is that of the curve without its noise."""
    if made.end is None:
        return True
    if fault.name == "between":
        share = (COLLAPSE - made.end) / (COLLAPSE - FLOOR)
        return abs(float(str(fault.values["share"]).rstrip("%")) / 100 - share) <= OFF
    if fault.name == "effective_candidates":
        reported = float(str(fault.values["count"]))
        return abs(np.log(reported) - made.end) <= OFF * (COLLAPSE - FLOOR)
    return True


def findings_of(draw: Draw, made: Made) -> set[str]:
    """Return the findings on a log; wrong ones have another name."""
    faults = examine_run(log_of(draw, made)).faults
    return {f.name if is_right(f, made) else f"{f.name} (wrong)" for f in faults} - made.beside


def measured(draws: int = DRAWS) -> Iterator[tuple[str, set, set]]:
    """Yield kind, the logs in which it was planted, and those for which it is reported."""
    for number in range(draws):
        for planted, make in PLANTED.items():
            draw = np.random.default_rng(number)
            made = healthy(draw)
            make(draw, made)
            true = {planted} & FINDINGS | made.true
            if not made.softmax:
                true -= {"effective_candidates"}
            true -= made.beside
            reported, log = findings_of(draw, made), (planted, number)
            for name in reported | true:
                yield name, {log} if name in true else set(), {log} if name in reported else set()


FINDINGS = {name for name in PLANTED if name.isidentifier()} | STANDS
