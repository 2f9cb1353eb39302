"""Remarks on a run, and the interval of its gain."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from lossprism.explorer.lab.training.metric_uncertainty import spearman
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_comparison import held_out_pairs, of_difference, on_gain
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_difference_verdict import difference, gain
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.lab.training.run_remarks import on_loss, remarks
from lossprism.explorer.locale import LANGUAGES, catalogue

COUNT = 60


def scores_of(noise: float, seed: int = 0) -> np.ndarray:
    return np.arange(COUNT) + np.random.default_rng(seed).normal(0, noise, COUNT)


LABELS = np.arange(COUNT, dtype=float)


PAIRS = [(f"a{i}", f"b{i}") for i in range(COUNT)]


def gained(before, after, times=1):
    labels = np.tile(LABELS, times)
    sides = ({0: spearman(np.tile(side, times), labels)} for side in (before, after))
    pairs = [(f"a{i}", f"b{i}") for i in range(COUNT * times)]
    return gain(*sides, pairs)


def test_the_interval_holds_the_change_and_narrows_with_more_pairs():
    found = gained(scores_of(40, 1), scores_of(5, 2))
    change = found.after - found.before
    assert 0 < found.low < change < found.high
    many = gained(scores_of(40, 1), scores_of(5, 2), times=9)
    assert many.high - many.low == pytest.approx((found.high - found.low) / 3, rel=0.1)


def test_there_and_back_are_mirrored():
    there = gained(scores_of(40, 1), scores_of(5, 2))
    back = gained(scores_of(5, 2), scores_of(40, 1))
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_the_same_scores_gain_nothing():
    found = gained(scores_of(9), scores_of(9))
    assert (found.low, found.high) == (0, 0)


def test_scores_without_order_have_no_figure():
    assert spearman(np.zeros(COUNT), LABELS) is None


@pytest.fixture
def run(tmp_path):
    made = RunFolder(tmp_path / "20260101-000000-cosent-made")
    made.path.mkdir()
    made.write("config.json", {"plan": TrainingPlan().to_json(), "created": 0})
    made.write("state.json", {"state": "training", "ticket": 1, "process": 1, "born": 0})
    made.write_pairs("held_out.jsonl", [(f"a{i}", f"b{i}", float(i)) for i in range(COUNT)])
    made.log.write_text("")
    return made


def log(run, kind, values, **named):
    with run.log.open("a") as file:
        for step, value in enumerate(values):
            record = {"kind": kind, "step": step, "mean_cosine": None, **value, **named}
            file.write(json.dumps(record) + "\n")


def ended(run, before, after):
    for when, scores in (("before", before), ("after", after)):
        np.savez(run.path / f"{when}.npz", scores=scores)


def remark_keys(run):
    return {r.key: r.values for r in remarks(Runs(run.path.parent), run.name, limit=9)}


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [(40, 5, "run_rose"), (5, 40, "run_fell"), (5, 5.5, "run_chance")],
)
def test_whether_it_was_worth_it(run, before, after, key):
    ended(run, scores_of(before, 1), scores_of(after, 2))
    found = remark_keys(run)
    assert key in found
    low, high = (float(found[key][end].replace("−", "-")) for end in ("low", "high"))
    assert low <= high
    assert found[key]["pairs"]["values"] == {"count": COUNT}


def test_what_is_below_zero_has_a_minus_sign(run):
    ended(run, LABELS, -LABELS)
    assert remark_keys(run)["run_fell"]["after"] == "−1.000"


def test_the_pair_that_came_home(run):
    strayed = LABELS.copy()
    strayed[0] = 99  # the pair of the least label had the highest score
    ended(run, strayed, LABELS)
    pair = remark_keys(run)["run_pair"]
    assert (pair["first"], pair["rank_before"], pair["rank_after"]) == ("a0", "1", str(COUNT))
    assert pair["label_rank"] == str(COUNT)  # where its label puts it


def test_a_run_without_order_says_so(run):
    ended(run, LABELS, np.ones(COUNT))
    assert "run_no_order" in remark_keys(run)


def test_the_curve_in_words(run):
    losses = [{"loss": 8.0}] * 20 + [{"loss": 2.0}] * 80
    log(run, "step", [{**one, "gradient_norm": 0.01} for one in losses])
    ranks, cosines = [0.5, 0.8, 0.7], [0.2, 0.5, 0.6]
    log(
        run,
        "evaluation",
        [{"spearman": r, "mean_cosine": c} for r, c in zip(ranks, cosines, strict=True)],
    )
    found = remark_keys(run)
    line = np.polyfit(np.linspace(0, 1, 100), [one["loss"] for one in losses], 1)[0]
    assert float(found["run_loss_fell"]["moved"]) == pytest.approx(-line, abs=5e-3)
    assert found["run_loss_fell"]["steps"] == "100"
    # Neither the few pairs of the curve nor the norm over the weights carries a sentence.
    assert set(found) == {"run_loss_fell"}  # and it has not ended


def test_all_held_out_sentences_show_whether_they_drew_closer(run):
    draw = np.random.default_rng(0)
    common, own = draw.normal(size=32), draw.normal(size=(2 * COUNT, 32))
    for when, share in (("before", 0.5), ("after", 2.0)):
        vectors = own + share * common
        np.savez(run.path / f"{when}.npz", scores=scores_of(9), vectors=vectors)
    found = remark_keys(run)["run_closer"]
    for when in ("before", "after"):
        vectors = np.load(run.path / f"{when}.npz")["vectors"]
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = (unit @ unit.T)[np.triu_indices(2 * COUNT, 1)]
        assert float(found[when]) == pytest.approx(cosines.mean(), rel=5e-3)


DRAWS = 200
SIGNS = {"falls": "run_loss_fell", "rises": "run_loss_rose", "stays": "run_loss_flat"}
NOISES = {
    "even": lambda draw, count: draw.normal(size=count),
    "heavy": lambda draw, count: draw.standard_t(4, size=count),
    "skewed": lambda draw, count: draw.exponential(size=count),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("steps", [20, 120, 1000])
@pytest.mark.parametrize("trend", SIGNS)
def test_a_trend_is_reported_where_there_is_one_alone(trend, steps, noise):
    """Of 200 runs at least 90% where it is true, at most 5% where it is not."""
    draw = np.random.default_rng(steps)
    found = Counter()
    # Six standard errors of what a line through all steps moves by.
    height = 6 * NOISES[noise](draw, 10_000).std() * np.sqrt(12 / steps)
    slope = {"falls": -1, "rises": 1, "stays": 0}[trend] * height
    for _ in range(DRAWS):
        losses = slope * np.linspace(0, 1, steps) + NOISES[noise](draw, steps)
        found.update(r.key for r in on_loss(losses))
    assert found[SIGNS[trend]] >= 0.9 * DRAWS
    others = ["run_loss_fell", "run_loss_rose"] if trend == "stays" else []
    wrong = {"falls": "run_loss_rose", "rises": "run_loss_fell"}.get(trend)
    assert sum(found[key] for key in others) <= 0.05 * DRAWS
    assert found[wrong] == 0


@pytest.mark.parametrize("together", [0.3, 0.5, 0.7])
def test_noise_that_hangs_together_is_no_trend(together):
    """As it does where a logger averages steps; a trend of six standard errors is seen in it."""
    draw = np.random.default_rng(0)
    count = Counter()
    for _ in range(DRAWS):
        steps = int(draw.integers(40, 400))
        fresh = np.sqrt(1 - together**2) * draw.normal(size=steps + 100)
        noise = np.zeros(steps + 100)
        for at in range(1, len(noise)):
            noise[at] = together * noise[at - 1] + fresh[at]
        falls = -6 * np.sqrt(12 / steps * (1 + together) / (1 - together))
        for height in (0.0, falls):
            losses = height * np.linspace(0, 1, steps) + noise[100:]
            count[height < 0, on_loss(losses.tolist())[0].key] += 1
    assert count[False, "run_loss_flat"] >= 0.95 * DRAWS
    assert count[True, "run_loss_fell"] >= 0.9 * DRAWS


def test_the_whole_run_shows_more_than_its_two_ends():
    """A fall from 9 to 6 over 60 steps, in noise of which the means over six steps differ by 3.4
    by chance alone: the line through all of them falls by more than it would by chance."""
    steps = 60
    noise = 1.4 * (-1.0) ** np.arange(steps)
    losses = np.linspace(9, 6, steps) + noise
    [found] = on_loss(list(losses))
    assert found.key == "run_loss_fell"
    assert (found.values["moved"], found.values["steps"]) == ("3.14", "60")
    assert losses[:6].mean() - losses[-6:].mean() < 3.4
    line = np.polyfit(np.linspace(0, 1, steps), losses, 1)[0]
    assert -line == pytest.approx(3.14, abs=5e-3)
    [back] = on_loss(list(np.linspace(6, 9, steps) - noise))
    assert (back.key, back.values["moved"]) == ("run_loss_rose", "3.14")
    [flat] = on_loss(list(np.linspace(6.5, 6, steps) + noise))
    assert (flat.key, flat.values["moved"]) == ("run_loss_flat", "−0.638")
    [flat] = on_loss(list(np.linspace(6, 6.5, steps) - noise))
    assert (flat.key, flat.values["moved"]) == ("run_loss_flat", "+0.638")


def test_a_run_that_has_not_begun_has_no_remarks(run):
    assert remark_keys(run) == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_remark_has_its_sentence(language):
    keys = ["rose", "fell", "chance", "no_order", "pair", "loss_fell", "loss_rose"]
    keys += ["loss_flat", "closer", "apart"]
    assert {f"remark.run_{key}" for key in keys} <= set(catalogue(language))


def test_pairs_that_kept_their_places():
    """Of 4 pairs in the same order before and after, an interval of no width would be a claim."""
    labels, pairs = np.array([0.0, 1, 3, 5]), [(f"a{i}", f"b{i}") for i in range(4)]
    before, after = (
        spearman(np.array([0.1, 0.4, 0.2, 0.9]), labels),
        spearman(np.array([0.2, 0.5, 0.3, 0.8]), labels),
    )
    found = on_gain(gain({0: before}, {0: after}, pairs), held_out_pairs(4))
    assert found.key == "run_unmoved"
    assert "low" not in found.values


def test_models_that_order_these_pairs_alike():
    """Of another pair they would differ, which an interval of no width would deny."""
    labels, pairs = np.array([0.0, 1, 3, 5]), [(f"a{i}", f"b{i}") for i in range(4)]
    one, other = (
        {seed: spearman(np.array(scores) + seed, labels) for seed in range(3)}
        for scores in ([0.1, 0.4, 0.2, 0.9], [0.2, 0.5, 0.3, 0.8])
    )
    for seeds in (1, 3):
        sides = ({seed: side[seed] for seed in range(seeds)} for side in (one, other))
        found = of_difference("a", "b", difference(*sides, pairs), held_out_pairs(4))
        assert found.key == "verdict_alike"
        assert "low" not in found.values


def test_repeated_pairs_are_reported_beside_the_gain(run):
    pairs = [(f"a{max(i - 9, 0)}", f"b{max(i - 9, 0)}", float(max(i - 9, 0))) for i in range(COUNT)]
    run.write_pairs("held_out.jsonl", pairs)
    labels = np.array([label for *_, label in pairs])
    ended(run, labels + scores_of(40, 1) - LABELS, labels + scores_of(5, 2) - LABELS)
    keys = list(remark_keys(run))
    assert keys[:2] == ["run_rose", "run_repeats"]
    assert remark_keys(run)["run_repeats"]["repeated"] == 9
