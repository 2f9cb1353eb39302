"""Two logs of which it is known what their values can say about each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.log import Log, curves_of
from lossprism.explorer.lab.doctor.logs.run_comparison import compare_runs
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known

DRAWS = 40
Draw = np.random.Generator


@dataclass(frozen=True)
class Kind:
    """A loss by its names, which all are one definition with the same parameters; another one that
    is none of them; the margin or scale of all; the value at collapse of batches of a size as the
    run logs it, one for each of its steps; whether that depends on the size."""

    names: tuple[str, ...]
    other: str
    setting: str
    usual: float
    collapse: Callable[[Draw, int, int], np.ndarray]
    by_batch: bool = True


def of_softmax(draw: Draw, batch: int, steps: int) -> np.ndarray:
    return np.full(steps, math.log(batch))


def of_labels(draw: Draw, batch: int, steps: int) -> np.ndarray:
    """Of CoSENT: by how many pairs of each batch have a higher label than another."""
    labels = draw.integers(0, 6, (steps, batch))
    above = (labels[:, :, None] > labels[:, None, :]).sum(axis=(1, 2))
    return np.log1p(above)


def of_margin(draw: Draw, batch: int, steps: int) -> np.ndarray:
    return np.full(steps, 5.0)


KINDS = (
    Kind(
        ("info_nce", "MultipleNegativesRankingLoss", "CachedMultipleNegativesRankingLoss"),
        "siglip",
        "scale",
        20.0,
        of_softmax,
    ),
    Kind(("cosent", "CoSENTLoss"), "AnglELoss", "scale", 20.0, of_labels),
    Kind(("TripletLoss",), "MarginMSELoss", "margin", 5.0, of_margin, by_batch=False),
)


@dataclass(frozen=True)
class Run:
    known: Known
    size: int
    logs_ends: bool
    steps: int
    epochs: float | None = None


def log_of(draw: Draw, kind: Kind, run: Run) -> Log:
    """A loss that falls by half of the way from its collapse to 0, and more."""
    steps = run.steps
    ends = kind.collapse(draw, run.size, steps)
    falls = np.linspace(1.0, draw.uniform(0.2, 0.5), steps)
    loss = ends.mean() * falls + 0.02 * draw.normal(size=steps)
    points = [("loss", step, value) for step, value in enumerate(loss.tolist(), 1)]
    if run.logs_ends:
        points += [("prism_collapse", step, one) for step, one in enumerate(ends.tolist(), 1)]
        points += [("prism_floor", step, 0.0) for step in range(1, steps + 1)]
    return Log("trainer_state", curves_of(points), run.known, epochs=run.epochs)


Pair = tuple[Run, Run] | None


def same(draw: Draw, kind: Kind, one: Run) -> Pair:
    """Return the same settings under any name, with or without defaults."""
    known = replace(one.known, loss=str(draw.choice(kind.names)))
    if draw.integers(2):
        known = replace(known, **{kind.setting: kind.usual})
    elif kind.setting == "scale" and draw.integers(2):
        known = replace(known, temperature=1 / kind.usual)
    return one, replace(one, known=known)


def scaled(draw: Draw, kind: Kind, one: Run) -> Pair:
    by = draw.choice([0.25, 0.5, 2.0, 3.0])
    return one, replace(one, known=replace(one.known, **{kind.setting: kind.usual * by}))


def other_loss(draw: Draw, kind: Kind, one: Run) -> Pair:
    return one, replace(one, known=replace(one.known, loss=kind.other))


def other_batch(draw: Draw, kind: Kind, one: Run) -> Pair:
    if not kind.by_batch:
        return None
    size = one.size * int(draw.integers(2, 5))
    known = replace(one.known, batch=size)
    if one.logs_ends and draw.integers(2):  # its ends say it
        known = replace(known, batch=None)
    return one, replace(one, known=known, size=size)


def other_training(draw: Draw, kind: Kind, one: Run) -> Pair:
    """So many times as many steps, or epochs."""
    times = float(draw.uniform(2.5, 20))
    if draw.integers(2):
        return one, replace(one, steps=round(one.steps * times))
    return replace(one, epochs=1.0), replace(one, epochs=times)


def unnamed(draw: Draw, kind: Kind, one: Run) -> Pair:
    return one, replace(one, known=replace(one.known, loss=""))


def no_batch(draw: Draw, kind: Kind, one: Run) -> Pair:
    if not kind.by_batch or one.logs_ends:
        return None
    return one, replace(one, known=replace(one.known, batch=None))


PLANTED: dict[str, Callable[[Draw, Kind, Run], Pair]] = {
    "comparable": same,
    "other_scale": scaled,
    "other_loss": other_loss,
    "other_batch": other_batch,
    "other_training": other_training,
    "untold": unnamed,
    "untold_batch": no_batch,
}


def measured(draws: int = DRAWS) -> Iterator[tuple[str, set, set]]:
    """Yield kind, the pairs of logs of which it is true, and those for which it is reported."""
    for number in range(draws):
        for planted, make in PLANTED.items():
            for place, kind in enumerate(KINDS):
                draw = np.random.default_rng(number)
                size = int(draw.choice([8, 16, 32, 64]))
                known = Known(str(draw.choice(kind.names)), batch=size)
                steps = int(draw.integers(100, 300))
                pair = make(draw, kind, Run(known, size, bool(draw.integers(2)), steps))
                if pair is None:
                    continue
                if draw.integers(2):
                    pair = pair[::-1]
                found = [examine_run(log_of(draw, kind, run)) for run in pair]
                sentences = {fault.name for fault in compare_runs(*found)}
                for name in sentences | {planted}:
                    two = {(planted, place, number)}
                    yield (
                        name,
                        two if name == planted else set(),
                        two if name in sentences else set(),
                    )
