"""What the trainings of claims queue, and what is read off their results."""

from __future__ import annotations

import math
from collections.abc import Callable

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.claims.batches import S1_EXAMPLE
from lossprism.explorer.lab.claims.claim_lookup import claims
from lossprism.explorer.lab.claims.confidence_interval import estimate_of
from lossprism.explorer.lab.claims.measured_trainings import measured
from lossprism.explorer.lab.claims.training_claims import TRAININGS, angles_by_rank
from lossprism.explorer.lab.claims.verdict import Verdict, verdict_of
from lossprism.explorer.lab.training.ended_run_scores import HeldOutScores
from lossprism.explorer.lab.training.run_difference_verdict import LEAST_SEEDS, LEVEL
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders import EMBEDDED
from tests.unit.lab.claims.test_claims import LONG, QUICK

EXAMPLE = Scenario(data=Data(example="graded_english"), loss="triplet")


@pytest.mark.parametrize("name", TRAININGS)
@pytest.mark.parametrize("max_runs", [None, 6])
def test_the_runs_fit_into_a_shared_queue_and_differ_by_what_is_compared(
    name: str, max_runs: int | None
) -> None:
    plans = TRAININGS[name].plans(EXAMPLE, max_runs)
    seeds = {plan.seed for plan in plans}
    assert name in claims()
    assert len(plans) <= (max_runs or 9)
    assert len(set(plans)) == len(plans)
    assert len(seeds) >= 2
    assert {plan.encoder for plan in plans} == {EMBEDDED}
    assert all(plan.data.rows for plan in plans)
    kinds = {plan.kind for plan in plans}
    assert kinds == ({"cross"} if name == "S1-table" else {"bi"})


def test_numbers_without_sentences_are_not_trained_on() -> None:
    with pytest.raises(Problem):
        TRAININGS["S1-33"].plans(Scenario(data=Data(source="random")), None)


def test_both_losses_are_measured_in_accuracy_too() -> None:
    """S1's data sets have labels 0 and 1, and only those have an accuracy."""
    plans = TRAININGS["S1-table"].plans(EXAMPLE, None)
    labels = {label for plan in plans for *_, label in plan.data.rows}
    assert labels == {"0", "1"}
    graded = TRAININGS["S1-33"].plans(EXAMPLE, None)[0]
    assert len({label for *_, label in graded.data.rows}) > len(labels)


@pytest.mark.parametrize("name", TRAININGS)
def test_what_was_measured_is_kept_with_its_seeds_and_pairs(name: str) -> None:
    """The file holds numbers alone: the verdicts of `EXPECTED` follow from them."""
    found = measured(name, S1_EXAMPLE)
    assert found.comparisons
    assert found.sample is not None
    assert found.sample.seeds >= LEAST_SEEDS
    assert found.sample.pairs >= 200
    assert found.sample.data


def held_out(angles: list[list[float]]) -> HeldOutScores:
    """Pairs at these angles in degrees, from the highest label down."""
    flat = np.concatenate([np.array(one) for one in angles])
    labels = np.concatenate([np.full(len(one), -float(r)) for r, one in enumerate(angles)])
    pairs = tuple((f"a{place}", f"b{place}") for place in range(len(flat)))
    return HeldOutScores(pairs, labels, {"after": np.cos(np.radians(flat))})


@pytest.mark.parametrize(
    ("angles", "scale", "trained", "ordered"),
    [
        # Half of the second label's pairs at small angles is far more than e^(−20).
        ([[20.0] * 10 + [30.0] * 10, [22.0] * 10 + [60.0] * 10], 20.0, "fails", "holds"),
        # As many as e^(−λ) says, for a λ at which they can be counted.
        (
            [list(np.linspace(10, 30, 40)), [15.0] * 10 + [70.0] * 30],
            math.log(2),
            "holds",
            "holds",
        ),
        (
            [list(np.linspace(10, 30, 20)), list(np.linspace(10, 30, 20))],
            20.0,
            "fails",
            "undecided",
        ),
        ([list(np.linspace(60, 80, 20)), list(np.linspace(10, 30, 20))], 20.0, "fails", "fails"),
    ],
)
def test_angles_are_judged_by_their_intervals(
    angles: list[list[float]], scale: float, trained: Verdict, ordered: Verdict
) -> None:
    check = angles_by_rank([held_out(angles)] * 2, scale)
    parts = {one.part for one in check.comparisons}
    found = {
        part: verdict_of([one for one in check.comparisons if one.part == part]) for part in parts
    }
    assert found == {"trained": trained, "corrected": ordered}
    assert check.chart is not None
    measured, printed = check.chart.curves
    assert measured.bars  # shares by label: nothing lies between two of them
    assert not printed.bars
    assert measured.y[0] == pytest.approx(0.5, abs=0.1)


def small_by_rank(shares: list[float], pairs: int) -> list[list[float]]:
    """Angles of which these shares of a label's pairs, from the second label on, are small: at most
    the median of the first label's, half of which are."""
    graded = [list(np.linspace(10, 30, pairs))]
    for rank, share in enumerate(shares, 1):
        small = int(share * pairs)
        graded.append([15.0] * small + [60.0 + rank] * (pairs - small))
    return graded


def verdicts_on_angles(angles: list[list[float]], scale: float) -> dict[str, Verdict]:
    compared = angles_by_rank([held_out(angles)], scale).comparisons
    return {
        part: verdict_of([one for one in compared if one.part == part])
        for part in ("trained", "corrected")
    }


@QUICK
@hypothesis.given(st.integers(20, 60), st.integers(1, 4), st.floats(0.1, 25))
def test_angles_that_follow_eq_33_hold(pairs: int, ranks: int, scale: float) -> None:
    law = [0.5 * math.exp(-scale * rank) for rank in range(1, ranks + 1)]
    assert verdicts_on_angles(small_by_rank(law, pairs), scale)["trained"] == "holds"


def test_a_search_finds_angles_that_do_not_follow_eq_33() -> None:
    drawn = st.tuples(st.lists(st.floats(0, 1), min_size=1, max_size=4), st.floats(0.1, 25))

    def breaks(part: str) -> Callable[[tuple[list[float], float]], bool]:
        return lambda case: verdicts_on_angles(small_by_rank(case[0], 40), case[1])[part] == "fails"

    shares, scale = hypothesis.find(drawn, breaks("trained"), settings=LONG)
    assert any(0.5 * math.exp(-scale * r) < share for r, share in enumerate(shares, 1))
    shares, _ = hypothesis.find(drawn, breaks("corrected"), settings=LONG)
    assert max(shares) > 0.5  # a lower label has more small angles than the highest


def test_many_labels_are_judged_in_six_grades() -> None:
    spread_out = held_out([[float(place), place + 0.5] for place in range(20, 50)])
    check = angles_by_rank([spread_out], 20.0)
    assert check.chart is not None
    assert check.chart.curves[0].x == (1, 2, 3, 4, 5, 6)
    assert len(check.facts) == 6
    assert [one.holds for one in check.comparisons if one.part == "corrected"] == [True]


def test_the_interval_covers_the_mean_as_often_as_it_says() -> None:
    draws = np.random.default_rng(0).normal(size=(2000, 6))
    covered = sum(one.low <= 0 <= one.high for one in map(estimate_of, draws.tolist()))
    assert covered / 2000 == pytest.approx(LEVEL, abs=0.01)
