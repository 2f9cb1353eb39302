"""Searches that try to break claims that no batch bears on: on known distributions, schedules, a
printed example, and runs."""

from __future__ import annotations

import math

import hypothesis
import pytest
import torch
from hypothesis import strategies as st

from lossprism.explorer.lab.claims import hyperparameters, training_claims
from lossprism.explorer.lab.claims import information_claims as information
from lossprism.explorer.lab.claims.batches import S1_EXAMPLE, batch_of_sentence_vectors
from lossprism.explorer.lab.claims.claim import CORRECTED, MAIN, Check, ClaimBatch, Comparison
from lossprism.explorer.lab.claims.confidence_interval import Estimate
from lossprism.explorer.lab.claims.published_worked_example import final_loss, gradient_of_pair
from lossprism.explorer.lab.claims.verdict import verdict_of
from tests.unit.lab.claims.test_claims import LONG, QUICK

nats = st.floats(0.2, 6)
keys = st.sampled_from(information.KEY_COUNTS[:8])
# Half of the last digit that S1 prints of its vectors.
ROUNDING = 0.0005


def rows(check: Check, part: str) -> list[Comparison]:
    return [one for one in check.comparisons if one.part == part]


@QUICK
@hypothesis.given(nats, keys, st.floats(0, 3))
def test_no_critic_exceeds_the_information_or_log_k(
    truth: float, count: int, sharpness: float
) -> None:
    found = information.info_nce_bound(truth, count, sharpness)
    assert found.low <= truth
    assert found.mean <= math.log(count)


@QUICK
@hypothesis.given(nats, st.floats(1.3, 2), keys)
def test_more_information_is_a_smaller_loss(less: float, ratio: float, count: int) -> None:
    one, other = (information.info_nce_bound(truth, count) for truth in (less, ratio * less))
    assert one.mean < other.mean


def test_the_information_is_reached_only_with_enough_keys() -> None:
    def share(truth: float, count: int) -> float:
        return information.info_nce_bound(truth, count).mean / truth

    @QUICK
    @hypothesis.given(nats)
    def enough(truth: float) -> None:
        count = 2 ** math.ceil((truth + information.MIN_MARGIN_NATS) / math.log(2))
        assert share(truth, min(count, information.KEY_COUNTS[-1])) == pytest.approx(
            1, abs=information.BOUND_TOLERANCE
        )

    enough()
    few = hypothesis.find(
        st.tuples(nats, keys),
        lambda case: share(*case) < 1 - information.BOUND_TOLERANCE,
        settings=LONG,
    )
    assert math.log(few[1]) < few[0] + information.MIN_MARGIN_NATS


turns, strengths = st.floats(-math.pi, math.pi), st.floats(0.1, 0.95)


@QUICK
@hypothesis.given(turns, strengths)
def test_a_turn_changes_no_information(turn: float, strength: float) -> None:
    turned = information.gaussian_information(strength * information.rotation_by(turn))
    assert turned == pytest.approx(-information.DIMENSIONS / 2 * math.log(1 - strength**2))


def test_a_search_finds_a_larger_cosine_with_less_information() -> None:
    def contradicts(case: tuple[tuple[float, float], tuple[float, float]]) -> bool:
        (one, weak), (other, strong) = case
        cosines = weak * math.cos(one), strong * math.cos(other)
        cross = weak * information.rotation_by(one), strong * information.rotation_by(other)
        near, far = map(information.gaussian_information, cross)
        return cosines[0] > cosines[1] and near < far

    pair = st.tuples(turns, strengths)
    hypothesis.find(st.tuples(pair, pair), contradicts, settings=LONG)


@QUICK
@hypothesis.given(st.integers(2, 3000))
def test_the_printed_schedule_never_reaches_its_rate(warmup: int) -> None:
    steps, printed, corrected = hyperparameters.rates(warmup)
    assert float(printed[0]) == pytest.approx(warmup**-1.5)
    assert float(printed.max()) == pytest.approx(warmup**-0.5)
    assert float(corrected.max()) == pytest.approx(1)
    assert int(steps[corrected.argmax()]) == warmup
    assert bool((corrected[warmup - 1 :].diff() < 0).all())


@st.composite
def unrounded(draw: st.DrawFn) -> ClaimBatch:
    """Draw vectors that S1 would print as it does."""
    error = st.floats(-ROUNDING, ROUNDING)
    assert S1_EXAMPLE.vectors is not None
    shape = S1_EXAMPLE.vectors.shape
    moved = torch.tensor([[draw(error) for _ in range(shape[1])] for _ in range(shape[0])])
    pairs = list(zip(S1_EXAMPLE.first.tolist(), S1_EXAMPLE.second.tolist(), strict=True))
    return batch_of_sentence_vectors(
        S1_EXAMPLE.vectors + moved, pairs, S1_EXAMPLE.labels, printed=S1_EXAMPLE.printed
    )


@QUICK
@hypothesis.given(unrounded())
def test_rounding_does_not_explain_the_printed_loss(batch: ClaimBatch) -> None:
    loss, gradient = final_loss(batch), gradient_of_pair(batch)
    verdicts = {part: verdict_of(rows(loss, part)) for part in (MAIN, "cosines", CORRECTED)}
    assert verdicts == {MAIN: "fails", "cosines": "fails", CORRECTED: "holds"}
    assert [verdict_of(rows(gradient, part)) for part in (MAIN, "weight")] == ["holds", "fails"]


gaps = st.tuples(st.floats(-3, 3), st.floats(0.01, 3))


@QUICK
@hypothesis.given(gaps)
def test_runs_are_judged_by_the_whole_interval(gap: tuple[float, float]) -> None:
    mean, half = gap
    found = Estimate(mean, mean - half, mean + half)
    bound = training_claims.ABOUT_EQUAL_PERCENT
    inside = -bound <= found.low and found.high <= bound
    outside = found.low > bound or found.high < -bound
    equal = verdict_of([training_claims.within_equal("spearman", found, MAIN)])
    assert equal == ("holds" if inside else "fails" if outside else "undecided")
    rise = training_claims.rises("d", found, MAIN)
    above = verdict_of([rise])
    assert rise.found_relation == {"holds": "<", "fails": "≥", "undecided": "?"}[above]
    assert above == ("holds" if found.low > 0 else "fails" if found.high < 0 else "undecided")
