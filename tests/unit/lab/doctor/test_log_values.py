"""Values of logs are approximate: what is near a reference value, and how often by chance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.metric_chance_levels import chance_levels
from lossprism.explorer.lab.doctor.number_report import lines
from lossprism.explorer.lab.doctor.number_with_rounding_tolerance import LOG_NOISE
from lossprism.explorer.lab.doctor.possible_meanings_of_number import explain, explain_values
from lossprism.explorer.lab.doctor.reference_values import COLLAPSE
from lossprism.explorer.locale import say
from tests.sentences import pattern_of

# Of each a value at collapse: the loss, what is known of its batch, and the value.
COLLAPSED = [
    ("FlagEmbedding", {"negatives": 7}, math.log(8)),
    ("info_nce", {"batch": 32}, math.log(32)),
    ("list_net", {"negatives": 4}, math.log(5)),
    ("info_nce", {"batch": 2}, math.log(2)),
]
# Numbers that nothing made are called collapse, or a multiple of it, in so many of a hundred.
MOST_NEAR, MOST_MULTIPLES = 3, 10
DRAWS = 300


@pytest.mark.parametrize(
    ("written", "known", "value"),
    [
        ("2.09", {"negatives": 7}, math.log(8)),
        ("2.09", {"loss": "FlagEmbedding", "negatives": 7}, math.log(8)),
        ("0.6925", {"negatives": 1}, math.log(2)),
        ("0.6925", {"loss": "info_nce", "batch": 2}, math.log(2)),
        ("3.48", {"loss": "info_nce", "batch": 32}, math.log(32)),
    ],
)
def test_near_collapse_is_log_noise(written, known, value):
    found = explain(float(written), Known(**known), written)
    assert COLLAPSE in found.findings[0].kinds
    assert found.findings[0].value == pytest.approx(value)
    assert not found.findings[0].exact
    if found.position is not None:
        assert (found.position.place, found.position.near) == ("collapse", True)
        assert pattern_of("doctor.standing.collapse_near").search(next(lines(found)))


@pytest.mark.parametrize(("loss", "known", "value"), COLLAPSED)
def test_beyond_the_noise_it_is_not_near(loss, known, value):
    for share in (-1.5, 1.5):
        apart = value * (1 + share * LOG_NOISE)
        found = explain(apart, Known(loss=loss, **known), f"{apart:.4f}")
        near = [one for one in found.findings if one.summed == "" and COLLAPSE in one.kinds]
        assert not any(abs(one.value - value) < 1e-6 for one in near)


def test_several_values_count_by_their_mean():
    found = explain_values(["2.10", "2.06", "2.08"], Known(negatives=7))
    assert (found.value, found.count) == (2.08, 3)
    assert COLLAPSE in found.findings[0].kinds
    assert next(lines(found)) == say("en", "doctor.mean_of", count=3, value="2.08")
    one = explain_values(["2.09"], Known(negatives=7))
    assert one == explain(2.09, Known(negatives=7), "2.09")


@pytest.mark.parametrize("factor", [2, 4, 8, 16])
@pytest.mark.parametrize(("loss", "known", "value"), COLLAPSED)
def test_a_multiple_is_named_by_its_factor(loss, known, value, factor):
    number = factor * value
    found = explain(number, Known(loss=loss, **known), f"{number:.3f}")
    if any(one.exact and not one.summed for one in found.findings):
        return  # it is another value of this loss, which goes first
    first = found.findings[0]
    batch = known.get("batch") == factor
    assert (first.factor, first.summed) == (factor, "batch" if batch else "steps")
    assert first.value == pytest.approx(value)
    assert f"{factor} ×" in "\n".join(lines(found))


def test_sums_over_processes_and_batches_are_named():
    processes = explain(3 * math.log(8), Known("FlagEmbedding", negatives=7, processes=3), "6.2383")
    assert (processes.findings[0].factor, processes.findings[0].summed) == (3, "processes")
    summed = explain(24 * math.log(8), Known("FlagEmbedding", batch=24, negatives=7), "49.907")
    assert (summed.findings[0].factor, summed.findings[0].summed) == (24, "batch")


@pytest.mark.parametrize(("loss", "known", "value"), COLLAPSED)
def test_where_the_value_itself_fits_no_factor_is_named(loss, known, value):
    found = explain(value, Known(loss=loss, **known), f"{value:.4f}")
    assert all(one.summed == "" for one in found.findings)


@pytest.mark.parametrize(("loss", "known", "value"), COLLAPSED)
def test_random_numbers_are_seldom_taken_for_collapse_or_a_multiple(loss, known, value):
    """Log-uniform from a fifth to twenty times the value, to four decimals."""
    draw, near, multiples = np.random.default_rng(0), 0, 0
    for share in np.exp(draw.uniform(math.log(0.2), math.log(20), DRAWS)):
        number = float(value * share)
        found = explain(number, Known(loss=loss, **known), f"{number:.4f}").findings
        near += any(COLLAPSE in one.kinds and not one.summed and one.value == pytest.approx(value)
                    for one in found)  # fmt: skip
        multiples += bool(found and found[0].summed)
    assert 100 * near / DRAWS <= MOST_NEAR
    assert 100 * multiples / DRAWS <= MOST_MULTIPLES
    print(f"{loss}: near {100 * near / DRAWS:.1f} %, multiples {100 * multiples / DRAWS:.1f} %")


@pytest.mark.parametrize("count", [2, 4, 10, 16, 100])
def test_chance_levels_are_named(count):
    for metric, _, value in chance_levels(count):
        written = f"{value:.4f}"
        assert (metric, count) in {
            one[:2] for one in explain(float(written), None, written).chances
        }
        listed = [*lines(explain(value, Known(negatives=count - 1), written))]
        level = pattern_of(f"doctor.chance.{metric}", count=count)
        assert any(map(level.fullmatch, listed))


def test_chance_levels_are_those_of_random_orders():
    """By simulation of the places that one right candidate takes."""
    draw = np.random.default_rng(1)
    for count in (4, 25):
        place = draw.integers(1, count + 1, size=200_000)
        levels = {one.metric: one.value for one in chance_levels(count)}
        assert levels["accuracy"] == pytest.approx((place == 1).mean(), abs=0.005)
        assert levels["mrr"] == pytest.approx((1 / place).mean(), abs=0.005)
        assert levels["ndcg"] == pytest.approx((1 / np.log2(1 + place)).mean(), abs=0.005)
        if count > 10:
            cut = np.where(place <= 10, 1 / place, 0).mean()
            assert levels["mrr_cut"] == pytest.approx(cut, abs=0.005)
