"""The sentences of Doctor on a run: curves of which it is known what happened."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from explorer.core.disagreement import spearman
from explorer.lab.doctor.known import Known
from explorer.lab.doctor.logs.findings import (
    on_digits,
    on_figure,
    on_held_out,
    on_jumps,
    on_level,
    on_plateau,
)
from explorer.lab.doctor.logs.log import Curve, curves_of
from explorer.lab.doctor.logs.marks import Marks
from tests.judgements import Among, Said, Source, simulated

MARKS = Marks(collapse=4.0, floor=0.5)
NOISES = ("even", "heavy-tailed", "skewed")


def noise(draw: Source, count: int) -> np.ndarray:
    """Of standard deviation 1: even, heavy-tailed or skewed."""
    return [
        lambda: draw.normal(size=count),
        lambda: draw.standard_t(4, size=count) / np.sqrt(2),
        lambda: draw.exponential(size=count) - 1,
    ][draw.integers(3)]()


def curve(values: np.ndarray, name: str = "loss") -> Curve:
    return curves_of((name, step, value) for step, value in enumerate(values.tolist(), 1))[name]


def falling(draw: Source, start: float, end: float, by: float = 0.15) -> np.ndarray:
    """A curve that falls from one level to another within this share of its steps."""
    steps = int(draw.integers(100, 600))
    return end + (start - end) * np.exp(-np.arange(steps) / (by / 3 * steps))


def among(name: str, said: Said) -> Among:
    return Among(said, lambda found: name in found)


@functools.cache
def levels(low: float, high: float) -> Said:
    """A curve that falls to a level between these and stays, in noise."""

    def said(draw: Source) -> set[str]:
        made = falling(draw, 5.0, draw.uniform(low, high))
        made = made + 0.1 * noise(draw, len(made))
        return {one.name for one in on_level(curve(made), MARKS, Known())}

    return said


IN_NOISE = (
    "a curve that falls and stays, 100 to 600 steps, noise of 0.1, even, heavy-tailed or skewed"
)
BETWEEN = f"{IN_NOISE}: between 1 and 3.8, of a floor of 0.5 and 4 at collapse"
for name, place, low, high in (
    ("at_collapse", "at 4", 4.0, 4.0),
    ("below_floor", "from 0.1 to 0.4", 0.1, 0.4),
    ("at_floor", "at 0.5", 0.5, 0.5),
):
    simulated(
        f"doctor.run.{name}",
        true=(f"{IN_NOISE}: {place}", among(name, levels(low, high))),
        false=(BETWEEN, among(name, levels(1.0, 3.8))),
    )


@functools.cache
def of_batches(scale: float, low: float, high: float, tells: bool = True) -> Said:
    """The log of CoSENT on 60 batches of 64 pairs whose Spearman lies between these, as a run logs
    it: with its value at collapse and, where it `tells`, that of 500 held-out pairs."""

    def said(draw: Source) -> set[str]:
        truth = draw.normal(size=(60, 64))
        grade = lambda some: np.clip(np.round(2.5 + 1.2 * some), 0, 5)  # noqa: E731
        encoded = lambda some: 0.5 + 0.25 * mixed(draw, some, relation)  # noqa: E731
        relation = draw.uniform(low, high)
        labels, scores = grade(truth), encoded(truth)
        apart = scores[:, :, None] - scores[:, None, :]
        above = labels[:, None, :] > labels[:, :, None]
        terms = np.where(above, np.exp(scale * apart), 0.0).sum(axis=(1, 2))
        held = draw.normal(size=500)
        order = spearman(grade(held), encoded(held))
        assert order is not None
        marks = Marks(
            collapse=float(np.log1p(above.sum(axis=(1, 2))).mean()),
            floor=0.0,
            order=("eval_spearman", order) if tells else None,
        )
        return {one.name for one in on_level(curve(np.log1p(terms)), marks, Known())}

    return said


def mixed(draw: Source, truth: np.ndarray, relation: float) -> np.ndarray:
    """What an encoder makes of it: so far it follows the truth, the rest is noise."""
    return relation * truth + np.sqrt(1 - relation**2) * draw.normal(size=truth.shape)


@functools.cache
def any_of(*kinds: Said) -> Said:
    """One of several kinds, as it falls."""
    return lambda draw: kinds[draw.integers(len(kinds))](draw)


# Batches that a good encoder orders: at λ 60 its loss is above collapse, at λ 2 it is below.
GOOD_STEEP, GOOD_FLAT = of_batches(60.0, 0.88, 0.95), of_batches(2.0, 0.88, 0.95)
NO_ORDER, TURNED = of_batches(20.0, -0.05, 0.05), of_batches(20.0, -0.9, -0.5)
UNTOLD = of_batches(20.0, -0.9, 0.95, tells=False)
COSENT = "60 batches of 64 under CoSENT"
for name, true, false in (
    (
        "above_collapse",
        (
            f"{IN_NOISE}: from 4.2 to 4.8; {COSENT}, λ 20, in any order, no figure logged",
            any_of(levels(4.2, 4.8), UNTOLD),
        ),
        (
            f"{BETWEEN}; or {COSENT} at Spearman 0.84 to 0.92, λ 60, which is logged, or λ 2",
            any_of(levels(1.0, 3.8), GOOD_STEEP, GOOD_FLAT),
        ),
    ),
    (
        "ordered",
        (f"{COSENT}, λ 60, Spearman 0.84 to 0.92", GOOD_STEEP),
        (
            "the same at λ 2, without any order, against it, or with no figure logged",
            any_of(GOOD_FLAT, NO_ORDER, TURNED, UNTOLD),
        ),
    ),
    (
        "turned",
        (f"{COSENT}, λ 20, Spearman −0.5 to −0.9", TURNED),
        (
            "the same without any order, in order, or with no figure logged",
            any_of(NO_ORDER, GOOD_STEEP, GOOD_FLAT, UNTOLD),
        ),
    ),
):
    simulated(
        f"doctor.run.{name}",
        true=(true[0], among(name, true[1])),
        false=(false[0], among(name, false[1])),
    )  # fmt: skip


@functools.cache
def beside_cosines(low: float, high: float) -> Said:
    """A curve that ends at its collapse value, of batches whose negatives lie at such cosines."""

    def said(draw: Source) -> set[str]:
        made = falling(draw, 5.0, 4.0)
        made = made + 0.1 * noise(draw, len(made))
        marks = dataclasses.replace(MARKS, negatives=draw.uniform(low, high))
        return {one.name for one in on_level(curve(made), marks, Known())}

    return said


simulated(
    "doctor.run.not_collapsed",
    true=("a curve that ends at its collapse value, negatives at a cosine of 0.1 to 0.9",
          among("not_collapsed", beside_cosines(0.1, 0.9))),
    false=("the same, all vectors within a cosine of 0.98",
           among("not_collapsed", beside_cosines(0.98, 1.0))),
)  # fmt: skip


@functools.cache
def plateau(flat: bool) -> Said:
    """It falls by forty times the noise, within a third of its steps or all along."""

    def said(draw: Source) -> set[str]:
        if flat:
            made = falling(draw, 4.0, 0.0, draw.uniform(0.15, 0.35))
        else:
            steps = int(draw.integers(100, 600))
            made = np.linspace(4.0, 0.0, steps) ** draw.choice([1.0, 1.5])
        made = made + 0.1 * noise(draw, len(made))
        return {one.name for one in on_plateau(curve(made))}

    return said


simulated(
    "doctor.run.plateau",
    true=("it falls within a third of its steps, by forty times the noise, and stays",
          among("plateau", plateau(True))),
    false=("it falls all along, by as much", among("plateau", plateau(False))),
)  # fmt: skip


@functools.cache
def jump(height: float) -> Said:
    """A falling curve that at some step is so many times the noise higher, and stays so."""

    def said(draw: Source) -> set[str]:
        made = falling(draw, 4.0, 0.0, 0.5)
        made = made + 0.1 * noise(draw, len(made))
        at = int(len(made) * draw.uniform(0.2, 0.8))
        made[at:] += 0.1 * height
        if not height:  # a spike of a step is no jump
            made[at] += 3.0
        return {one.name for one in on_jumps(curve(made))}

    return said


simulated(
    "doctor.run.jump",
    true=("a falling curve that rises at once by ten times its noise and stays",
          among("jump", jump(10.0))),
    false=("a falling curve with a spike of one step", among("jump", jump(0.0))),
)  # fmt: skip


def rounded(draw: Source, kind: str) -> set[str]:
    """A loss of 0.5 to 5, kept in this format, as the numbers are or in four or six decimals."""
    made = falling(draw, draw.uniform(2, 5), draw.uniform(0.5, 1), 0.6)
    made = made + 0.05 * np.abs(noise(draw, len(made)))
    if kind == "half":
        made = made.astype(np.float16).astype(np.float64)
        if draw.integers(2):  # bfloat16 keeps three bits less
            units = 2.0 ** (np.floor(np.log2(made)) - 7)
            made = np.round(made / units) * units
    else:
        made = made.astype(np.float32).astype(np.float64)
    places = int(draw.choice([4, 6, 17]))
    return {one.name for one in on_digits(curve(np.round(made, places)))}


simulated(
    "doctor.run.digits_lost",
    true=("float16 or bfloat16, logged whole, in six or in four decimals",
          Among(lambda draw: rounded(draw, "half"), lambda found: "digits_lost" in found)),
    false=("float32, logged likewise",
           Among(lambda draw: rounded(draw, "single"), lambda found: "digits_lost" in found)),
)  # fmt: skip


@functools.cache
def held_out(rise: float, of: Callable = on_held_out) -> Said:
    """10 to 40 evaluations that fall to their least and rise again by so many times their noise."""

    def said(draw: Source) -> set[str]:
        count = int(draw.integers(10, 40))
        least = int(count * draw.uniform(0.2, 0.5))
        places = np.arange(count)
        made = 2.0 * np.exp(-places / max(least / 3, 1))
        made += 0.05 * rise * np.clip(places - least, 0, None) / (count - least)
        made += 0.05 * noise(draw, count)
        if of is on_figure:
            return {one.name for one in on_figure(curve(3 - made, "eval_spearman"))}
        trained = falling(draw, 4.0, 0.2, 0.6)
        trained = curve(trained + 0.1 * noise(draw, len(trained)))
        held = curve(made, "eval_loss")
        held = Curve(held.name, held.steps * len(trained) / count, held.values, held.unit)
        return {one.name for one in on_held_out(trained, held)}

    return said


for name, of in (("overfits", on_held_out), ("figure_falls", on_figure)):
    simulated(
        f"doctor.run.{name}",
        true=("10 to 40 evaluations, from their best on worse by twelve times their noise",
              among(name, held_out(12.0, of))),
        false=("the same, which stay where they are best", among(name, held_out(0.0, of))),
    )  # fmt: skip
