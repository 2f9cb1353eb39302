"""The noise of a curve, and how far it hangs together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from lossprism.explorer.lab.doctor.logs.curve_noise import (
    Noise,
    noise_of,
    noise_of_evaluations,
    noise_of_short_curve,
)
from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.held_out_findings import on_figure, on_held_out
from lossprism.explorer.lab.doctor.logs.log import Curve, log_of
from tests.judgements import rate
from tests.judgements.logs import among, held_out, plateau

STEPS, DRAWS = 600, 30


def noise(seed, together, count=STEPS):
    fresh = np.random.default_rng(seed).normal(size=count + 50)
    return lfilter([np.sqrt(1 - together**2)], [1, -together], fresh)[50:]


@pytest.mark.parametrize("together", [0.0, 0.3, 0.6])
def test_noise_is_estimated_without_trend_jump_and_spike(together):
    way = 40 * np.exp(-np.arange(STEPS) / 40) + 15 * (np.arange(STEPS) > 400)
    way[200] += 30
    found = [noise_of(way + noise(seed, together)) for seed in range(20)]
    assert np.mean([one.deviation for one in found]) == pytest.approx(1, abs=0.15)
    # Its own error, 0.04 at most, is added.
    assert np.mean([one.correlation for one in found]) == pytest.approx(together + 0.03, abs=0.05)


def test_the_errors_are_those_of_what_is_drawn():
    """Of a mean, a slope and any sum of successive values of correlated noise."""
    drawn = np.stack([noise(seed, 0.6, 60) for seed in range(4000)])
    known = Noise(1.0, 0.6)
    place = np.arange(60) - 29.5
    slope = place / np.square(place).sum()
    assert drawn.mean(axis=1).std() == pytest.approx(known.of_mean(60), rel=0.05)
    assert (drawn @ slope).std() == pytest.approx(known.of_sum(slope), rel=0.05)
    assert known.of_slope(60) == pytest.approx(known.of_sum(slope), rel=0.1)


def test_of_few_values_a_correlation_is_assumed():
    assert noise_of_short_curve(np.array([1.0, 2.0])) == Noise(0.0)
    few = np.array([1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.8])
    assert noise_of(few) == noise_of_short_curve(few)
    assert noise_of(few).correlation > 0.3
    steep = few + 10 * np.arange(7)
    assert noise_of(steep).deviation < 0.5


def test_a_long_log_is_read_in_blocks_as_well():
    """As many steps as a long training has: no table of steps by steps is made."""
    values = 1 + 2 * np.exp(-np.arange(200_000) / 20_000) + 0.1 * noise(0, 0.3, 200_000)
    values[150_000:] += 1
    found = examine_run(log_of((tuple(values), None)))
    (jump,) = [one for one in found.faults if one.name == "jump"]
    assert jump.values["step"] == 150_001


def test_the_noise_of_a_few_evaluations_is_that_beside_their_way():
    """Whichever of two measures is less is a little less than the noise, on a way of any kind."""
    for way in (np.arange(20.0), 0.05 * np.arange(20.0) ** 2):
        drawn = [noise_of_evaluations(noise(seed, 0.7, 20) + way) for seed in range(1000)]
        assert 0.8 < np.mean([one.deviation for one in drawn]) < 1
    assert noise_of_evaluations(np.array([1.0, 2.0])) == Noise(0.0)


@pytest.mark.parametrize(
    ("rise", "message"), [(0.001, False), (0.01, False), (0.05, True), (0.5, True)]
)
@pytest.mark.parametrize("least", [0.02, 1.3, 8.0])
def test_a_rise_by_a_thousandth_is_no_overfitting_however_sure_it_is(rise, message, least):
    """Of a held-out loss that falls to its least from twice as much, and rises by this share of it
    without any noise."""
    places = np.arange(30)
    made = least * (1 + np.clip(1 - places / 10, 0, 1) + rise * np.clip(places - 10, 0, 4) / 4)
    trained = log_of((tuple(1 / (1 + np.arange(300))), None)).curves["loss"]
    held = Curve("eval_loss", 10.0 * places, made, np.zeros(30))
    assert [one.name for one in on_held_out(trained, held)] == ["overfits"] * message


@pytest.mark.draws
@pytest.mark.parametrize(
    ("name", "drawn", "true", "false", "most"),
    [("plateau", plateau, (True,), (False,), 0.9),
     ("overfits", held_out, (12.0, on_held_out), (0.0, on_held_out), 0.8),
     ("figure_falls", held_out, (12.0, on_figure), (0.0, on_figure), 0.9)],
)  # fmt: skip
def test_trends_are_found_under_correlated_noise(name, drawn, true, false, most):
    """At each correlation by itself, with room for the chance of few draws; docs/judgements.md has
    the rates of all together."""
    for together in (one for one in (0.0, 0.3, 0.6, 0.8, 0.9) if one <= most):
        assert rate(among(name, drawn(*true, together)), DRAWS) >= 0.75, together
        assert rate(among(name, drawn(*false, together)), DRAWS) <= 0.15, together
