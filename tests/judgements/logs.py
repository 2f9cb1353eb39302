"""The sentences of Doctor on a run: curves of which it is known what happened."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

from lossprism.explorer.core.rank_correlation import spearman
from lossprism.explorer.lab.doctor.logs.findings import (
    on_digits,
    on_flat,
    on_jumps,
    on_level,
    on_plateau,
)
from lossprism.explorer.lab.doctor.logs.held_out_findings import (
    on_figure,
    on_gap,
    on_held_out,
    on_leak,
)
from lossprism.explorer.lab.doctor.logs.log import Curve, curves_of
from lossprism.explorer.lab.doctor.logs.run_reference_values import RunReferenceValues
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.minimum_for_unknown_labels_or_scores import Minimum
from tests.judgements import Among, SentencesOf, Source, simulated

CERTAIN = Minimum(0.5)
MARKS = RunReferenceValues(collapse=4.0, floor=0.5, minimum=CERTAIN)
# Neighbours of a training loss correlate by so much.
TOGETHER = (0.0, 0.3, 0.6, 0.8)
# A log in which so much hangs together shows whether it still falls if it is so many times as long.
LONGER = {0.8: 3, 0.9: 6}


def noise(draw: Source, count: int, together: float | None = None) -> np.ndarray:
    """Of standard deviation 1: even, heavy-tailed (Student's t of 3) or skewed, in which neighbours
    correlate by 0, 0.3, 0.6 or 0.8, or as given."""
    settled = count + 50
    fresh = [
        lambda: draw.normal(size=settled),
        lambda: draw.standard_t(3, size=settled) / np.sqrt(3),
        lambda: draw.exponential(size=settled) - 1,
    ][draw.integers(3)]()
    found = draw.choice(TOGETHER) if together is None else together
    return lfilter([np.sqrt(1 - found**2)], [1, -found], fresh)[50:]


def curve(values: np.ndarray, name: str = "loss") -> Curve:
    return curves_of((name, step, value) for step, value in enumerate(values.tolist(), 1))[name]


def falling(
    draw: Source, start: float, end: float, by: float = 0.15, longer: int = 1
) -> np.ndarray:
    """A curve that falls from one level to another within this share of its steps, which are 100 to
    600, or so many times as many."""
    steps = int(draw.integers(100, 600)) * longer
    return end + (start - end) * np.exp(-np.arange(steps) / (by / 3 * steps))


def among(name: str, sentences_of: SentencesOf) -> Among:
    return Among(sentences_of, lambda found: name in found)


@functools.cache
def levels(low: float, high: float, minimum: Minimum = CERTAIN) -> SentencesOf:
    """A curve that falls to a level between these and stays, in noise."""
    marks = dataclasses.replace(MARKS, minimum=minimum)

    def sentences_of(draw: Source) -> set[str]:
        made = falling(draw, 5.0, draw.uniform(low, high))
        made = made + 0.1 * noise(draw, len(made))
        return {one.name for one in on_level(curve(made), marks, Known())}

    return sentences_of


IN_NOISE = (
    "a curve that falls and stays, 100 to 600 steps, noise of 0.1, even, heavy-tailed or skewed, "
    "that correlates by 0, 0.3, 0.6 or 0.8 from step to step"
)
BETWEEN = f"{IN_NOISE}: between 1 and 3.8, of a floor of 0.5 and 4 at collapse"
OTHER_SCORES, ENDS = Minimum(0.0, "cosines"), Minimum(0.5, label_ends=(0.0, 1.0))
for name, place, low, high, minimum in (
    ("at_collapse", "at 4", 4.0, 4.0, CERTAIN),
    ("below_floor", "from 0.1 to 0.4", 0.1, 0.4, CERTAIN),
    ("below_assumed", "from 0.1 to 0.4, which other scores allow", 0.1, 0.4, OTHER_SCORES),
    ("labels_outside", "from 0.1 to 0.4, which only labels outside allow", 0.1, 0.4, ENDS),
    ("at_floor", "at 0.5", 0.5, 0.5, CERTAIN),
):
    simulated(
        f"doctor.run.{name}",
        true=(f"{IN_NOISE}: {place}", among(name, levels(low, high, minimum))),
        false=(BETWEEN, among(name, levels(1.0, 3.8, minimum))),
    )


@functools.cache
def of_batches(scale: float, low: float, high: float, tells: bool = True) -> SentencesOf:
    """The log of CoSENT on 60 batches of 64 pairs whose Spearman lies between these, as a run logs
    it: with its value at collapse and, where it `tells`, that of 500 held-out pairs."""

    def sentences_of(draw: Source) -> set[str]:
        truth = draw.normal(size=(60, 64))
        grade = lambda some: np.clip(np.round(2.5 + 1.2 * some), 0, 5)  # noqa: E731
        encoded = lambda some: 0.5 + 0.25 * mixed(draw, some, relation)  # noqa: E731
        relation = draw.uniform(low, high)
        labels, scores = grade(truth), encoded(truth)
        above = labels[:, None, :] > labels[:, :, None]
        lower, higher = np.exp(scale * scores)[:, None, :], np.exp(-scale * scores)[:, :, None]
        terms = (lower @ above @ higher)[:, 0, 0]
        held = draw.normal(size=500)
        order = spearman(grade(held), encoded(held))
        assert order is not None
        marks = RunReferenceValues(
            collapse=float(np.log1p(above.sum(axis=(1, 2))).mean()),
            floor=0.0,
            order=("eval_spearman", order) if tells else None,
        )
        return {one.name for one in on_level(curve(np.log1p(terms)), marks, Known())}

    return sentences_of


def mixed(draw: Source, truth: np.ndarray, relation: float) -> np.ndarray:
    """What an encoder makes of it: so far it follows the truth, the rest is noise."""
    return relation * truth + np.sqrt(1 - relation**2) * draw.normal(size=truth.shape)


@functools.cache
def any_of(*kinds: SentencesOf) -> SentencesOf:
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
def beside_cosines(low: float, high: float) -> SentencesOf:
    """A curve that ends at its collapse value, of batches whose negatives lie at such cosines."""

    def sentences_of(draw: Source) -> set[str]:
        made = falling(draw, 5.0, 4.0)
        made = made + 0.1 * noise(draw, len(made))
        marks = dataclasses.replace(MARKS, negatives=draw.uniform(low, high))
        return {one.name for one in on_level(curve(made), marks, Known())}

    return sentences_of


simulated(
    "doctor.run.not_collapsed",
    true=("a curve that ends at its collapse value, negatives at a cosine of 0.1 to 0.9",
          among("not_collapsed", beside_cosines(0.1, 0.9))),
    false=("the same, all vectors within a cosine of 0.98",
           among("not_collapsed", beside_cosines(0.98, 1.0))),
)  # fmt: skip


def learning(draw: Source, start: float, by: float, warms_up: bool, longer: int = 1) -> np.ndarray:
    """A curve that falls to 0 within this share of its steps, after a tenth in which the learning
    rate rises and hardly anything moves, where it warms up."""
    made = falling(draw, start, 0.0, by, longer)
    waiting = len(made) // 10 if warms_up else 0
    return np.concatenate([np.full(waiting, start), made[: len(made) - waiting]])


def fading(draw: Source, count: int, together: float | None = None) -> np.ndarray:
    """Noise of 0.1, or noise that fades with the loss: 0.14 at first and 0.06 at last."""
    size = draw.choice([0.0, 0.4])
    return 0.1 * np.linspace(1 + size, 1 - size, count) * noise(draw, count, together)


@functools.cache
def plateau(flat: bool, together: float | None = None) -> SentencesOf:
    """It falls by forty times the noise, within a third of its steps or all along. Where it is said
    to have stayed although more than a tenth of its fall was still to come, that is another
    sentence."""

    def sentences_of(draw: Source) -> set[str]:
        correlation = draw.choice(TOGETHER) if together is None else together
        longer = LONGER.get(float(correlation), 1)
        if flat:
            by, warms_up = draw.uniform(0.15, 0.35), bool(draw.integers(2))
            made = learning(draw, 4.0, by, warms_up, longer)
        else:
            steps = int(draw.integers(100, 600)) * longer
            place = np.linspace(0.0, 1.0, steps)
            fast, slow = draw.uniform(0.05, 0.15), draw.uniform(0.15, 0.4)
            made = [
                4.0 * (1 - place),
                4.0 * (1 - place) ** 1.5,
                2.0 + 2.0 * np.cos(np.pi * place),
                4.0 * ((1 - slow) * np.exp(-place / fast) + slow * (1 - place)),
                np.zeros(steps),
            ][draw.integers(5)]
        found = [*on_plateau(curve(made + fading(draw, len(made), correlation)))]
        left = [made[one.rows[0] - 1] - made[-1] for one in found]
        return {"plateau" if one <= 0.1 * np.ptp(made) else "plateau too early" for one in left}

    return sentences_of


simulated(
    "doctor.run.plateau",
    true=("it falls within a third of its steps, by forty times the noise, with a warm-up or "
          "without, and stays", among("plateau", plateau(True))),
    false=("it falls all along, at a slope, in a bow, as a cosine, or on by 15% to 40% of its way "
           "after a steep beginning; or not at all",
           Among(plateau(False), lambda found: bool(found))),
)  # fmt: skip


def flat(draw: Source, falls: bool) -> set[str]:
    """A loss about which noise of a thousandth of it lies; or one that falls by 3% to 40%, at a
    slope, at first, or at last."""
    steps = int(draw.integers(20, 600))
    place = np.linspace(0.0, 1.0, steps)
    way = [1 - place, np.exp(-place / 0.1), 1.0 * (place < 0.8)][draw.integers(3)]
    level = float(draw.uniform(0.1, 9.0))
    made = level * (1 + (draw.uniform(0.03, 0.4) * way if falls else 0.0))
    return {one.name for one in on_flat(curve(made + 0.001 * level * noise(draw, steps)))}


simulated(
    "doctor.run.flat",
    true=("20 to 600 values about one level, in noise of a thousandth of it",
          lambda draw: bool(flat(draw, falls=False))),
    false=("the same, falling by 3% to 40%: at a slope, within the first third, or at once near "
           "the end", lambda draw: bool(flat(draw, falls=True))),
)  # fmt: skip


@functools.cache
def jump(height: float) -> SentencesOf:
    """A falling curve that at some step is so many times the noise higher, and stays so; or none of
    it, or one that is gone after a step or a few."""

    def sentences_of(draw: Source) -> set[str]:
        made = learning(draw, 4.0, draw.uniform(0.2, 0.8), bool(draw.integers(2)))
        at = int(len(made) * draw.uniform(0.2, 0.8))
        if height:
            made[at:] += 0.1 * height
        else:
            gone = draw.choice([0.0, 1.0, 2.0])  # the steps after which a third of it is left
            apart = np.arange(len(made) - at)
            made[at:] += 3.0 * (np.exp(-apart / gone) if gone else apart == 0)
            made += draw.integers(2) * 2.0 * (np.arange(len(made)) < at)  # or a fall at once
        return {one.name for one in on_jumps(curve(made + fading(draw, len(made))))}

    return sentences_of


simulated(
    "doctor.run.jump",
    true=("a falling curve, with a warm-up or without, that rises at once by ten times its noise "
          "and stays", among("jump", jump(10.0))),
    false=("a falling curve with a spike of one step, or one of which a third is left after one or "
           "two; at the same place it falls at once, or not", among("jump", jump(0.0))),
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
def held_out(rise: float, of: Callable = on_held_out, together: float | None = None) -> SentencesOf:
    """10 to 40 evaluations that fall to their least and rise again by so many times their noise,
    which correlates by 0, 0.3, 0.6 or 0.8, or as given."""

    def sentences_of(draw: Source) -> set[str]:
        count = int(draw.integers(10, 40))
        least = int(count * draw.uniform(0.2, 0.5))
        places = np.arange(count)
        made = 2.0 * np.exp(-places / max(least / 3, 1))
        made += 0.05 * rise * np.clip(places - least, 0, None) / (count - least)
        made += 0.05 * noise(draw, count, together)
        if of is on_figure:
            return {one.name for one in on_figure(curve(3 - made, "eval_spearman"))}
        trained = falling(draw, 4.0, 0.2, 0.6)
        trained = curve(trained + 0.1 * noise(draw, len(trained), together))
        held = curve(made, "eval_loss")
        held = Curve(held.name, held.steps * len(trained) / count, held.values, held.unit)
        return {one.name for one in on_held_out(trained, held)}

    return sentences_of


for name, of in (("overfits", on_held_out), ("figure_falls", on_figure)):
    simulated(
        f"doctor.run.{name}",
        true=("10 to 40 evaluations, from their best on worse by twelve times their noise, which "
              "correlates by 0 to 0.8",
              among(name, held_out(12.0, of))),
        false=("the same, which stay where they are best", among(name, held_out(0.0, of))),
    )  # fmt: skip


@functools.cache
def left_over(
    own: tuple[float, float], times: tuple[float, float], epochs: float = 10.0
) -> SentencesOf:
    """What is said of a training loss that falls to such a share of its start, with a noise of 20%
    of it, and of 1 to 30 evaluations that fall to so many times as much."""

    def sentences_of(draw: Source) -> set[str]:
        steps, count = int(draw.integers(100, 600)), int(draw.integers(1, 30))
        start, share, at = draw.uniform(1, 4), draw.uniform(*own), np.linspace(0, 1, steps)
        end, held_end = share, share * np.exp(draw.uniform(*np.log(times)))
        way = lambda places, end: start * (end + (1 - end) * np.exp(-places / 0.1))  # noqa: E731
        made = np.abs(way(at, end) * (1 + 0.2 * noise(draw, steps)))
        places = np.linspace(1 / count, 1, count)
        evaluated = np.abs(way(places, held_end) * (1 + 0.1 * noise(draw, count)))
        held = Curve("eval_loss", places * steps, evaluated, np.zeros(count))
        trained = curve(made)
        found = (
            *on_gap(trained, held, RunReferenceValues()),
            *on_leak(trained, held, RunReferenceValues(), epochs),
        )
        return {one.name for one in found}

    return sentences_of


FALLS = "a training loss that falls to {share} of its start, in noise of 20%"
simulated(
    "doctor.run.gap",
    true=(f"{FALLS.format(share='1%')}, and 1 to 30 evaluations that end 40 to 60 times as high",
          among("gap", left_over((0.01, 0.01), (40.0, 60.0)))),
    false=(f"{FALLS.format(share='2% to 20%')}, and evaluations that end 1 to 8 times as high",
           among("gap", left_over((0.02, 0.2), (1.0, 8.0)))),
)  # fmt: skip
simulated(
    "doctor.run.leak",
    true=(f"{FALLS.format(share='1% to 3%')} in 10 epochs, and 1 to 30 evaluations that end 0.8 to "
          "1.25 times as high", among("leak", left_over((0.01, 0.03), (0.8, 1.25)))),
    false=("the same, which end 3 to 30 times as high; or as high in a single epoch; or at 8% to "
           "30% of the start on both",
           among("leak", any_of(left_over((0.01, 0.03), (3.0, 30.0)),
                                left_over((0.01, 0.03), (0.8, 1.25), epochs=1.0),
                                left_over((0.08, 0.3), (0.8, 1.25))))),
)  # fmt: skip
