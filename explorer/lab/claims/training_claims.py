"""Claims that only a training shows: their plans on a batch's pairs, and what is compared after."""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.claims.batches import S1_EXAMPLE
from lossprism.explorer.lab.claims.claim import (
    CORRECTED,
    MAIN,
    ZERO,
    Chart,
    Check,
    Claim,
    ClaimBatch,
    Comparison,
    Curve,
    Sample,
    Side,
)
from lossprism.explorer.lab.claims.confidence_interval import Estimate, estimate_of
from lossprism.explorer.lab.claims.measured_trainings import measured
from lossprism.explorer.lab.training import (
    cosent_experiment_plans,
    published_cosent_results,
    run_comparison,
)
from lossprism.explorer.lab.training.ended_run_scores import HeldOutScores, has_ended, outcome
from lossprism.explorer.lab.training.pair_sources import pairs_of
from lossprism.explorer.lab.training.parameter_trial_plans import short_plan
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_difference_verdict import LEVEL, by_chance
from lossprism.explorer.lab.training.run_json_types import StepRecord
from lossprism.explorer.runtime.number_format import fixed, signed, whole_percent
from lossprism.losses.labels import label_rules

SEEDS = (0, 1, 2)
HELD_OUT_SHARE = 0.5
MAX_GRADES = 6
# Two figures that differ by less, in percent, are called about equal.
ABOUT_EQUAL_PERCENT = 0.5
# λ of the advice: too small, S1's own, and large enough for gradients to explode.
SMALL_SCALE, USUAL_SCALE, LARGE_SCALE = 1.0, 20.0, 100.0
CLIPPING_NORM = 1.0
SYMBOLS = {"spearman": r"\rho", "accuracy": r"\mathrm{acc}"}
LOSS_NAMES = {"cosent": "CoSENT", "binary_cross_entropy": "CE"}
# Batch sizes of few and of more negatives.
SMALL_BATCH_SIZE, LARGE_BATCH_SIZE = 4, 16


@dataclass(frozen=True)
class Training:
    """The runs that measure a claim on the pairs of a scenario, and what they show once all have
    ended. `plans` takes the number of runs that may be queued, None for any."""

    plans: Callable[[Scenario, int | None], list[TrainingPlan]]
    judge: Callable[[Runs, Sequence[str]], Check]


def _seeds(groups: int, max_runs: int | None) -> tuple[int, ...]:
    """Return as many of the seeds as fit into the room for so many groups, at least two."""
    return SEEDS if max_runs is None else SEEDS[: max(max_runs // groups, 2)]


def _short(scenario: Scenario, loss: str) -> TrainingPlan:
    """Return a short training on half of the scenario's pairs: the other half judges it."""
    plan = short_plan(scenario.with_loss(loss))
    held_out = dataclasses.replace(plan.data, held_out_share=HELD_OUT_SHARE)
    return dataclasses.replace(plan, data=held_out)


def _plan(scenario: Scenario, loss: str, **changes: Any) -> TrainingPlan:
    """Return a short training of a bi-encoder on the scenario's pairs."""
    encoder = {"kind": "bi", "encoder": scenario.data.encoder}
    return dataclasses.replace(_short(scenario, loss), **{**encoder, **changes})


def _plans(
    scenario: Scenario, loss: str, max_runs: int | None, groups: Sequence[Mapping[str, Any]]
) -> list[TrainingPlan]:
    """Return a short training for each seed of each group, whose plans differ by these changes."""
    seeds = _seeds(len(groups), max_runs)
    return [_plan(scenario, loss, **changes, seed=seed) for changes in groups for seed in seeds]


def _at_scale(scale: float) -> dict[str, Any]:
    """Return the change of a plan to CoSENT at this λ."""
    return {"parameters": (("scale", scale),)}


def _multiplied(group_difference: run_comparison.GroupDifference, factor: float) -> Estimate:
    """Return a difference of runs times a factor, which may be negative."""
    ends = sorted((factor * group_difference.between.low, factor * group_difference.between.high))
    return Estimate(factor * group_difference.between.difference, *ends)


def _interval(gap: Estimate) -> str:
    """Write a difference with half of the length of its interval."""
    half = (gap.high - gap.low) / 2
    places = 2 if half >= 0.1 else 3
    return f"{signed(gap.mean, places)} ± {fixed(half, places)}"


def _sample(runs: Runs, names: Sequence[str]) -> Sample:
    """Return what these runs, all on the same pairs, were judged on."""
    seeds = {runs.plan(name).seed for name in names}
    return Sample(len(seeds), len(outcome(runs.folder(names[0])).pairs), whole_percent(LEVEL))


def within_equal(figure: str, gap: Estimate, part: str) -> Comparison:
    """Compare the whole interval of a difference with what is called about equal."""
    farthest = Side(
        rf"\lvert\Delta {SYMBOLS[figure]}\rvert", max(-gap.low, gap.high), _interval(gap)
    )
    # An interval that reaches beyond a bound on one side of it decides nothing.
    decided = gap.low > ABOUT_EQUAL_PERCENT or gap.high < -ABOUT_EQUAL_PERCENT
    return Comparison(farthest, "≤", Side("", ABOUT_EQUAL_PERCENT), part=part, decided=decided)


def printed_table(batch: ClaimBatch) -> Check:
    """Compare the mean difference of CoSENT to cross-entropy over the printed models and data
    sets, and in the measured runs, with what is called about equal."""
    comparisons = []
    for figure, table in published_cosent_results.PRINTED_FIGURES.items():
        models = dict.fromkeys(model for model, _loss in table)
        gaps = [
            with_cosent - with_entropy
            for model in models
            for with_cosent, with_entropy in zip(
                table[model, "CoSENT"], table[model, "CE"], strict=True
            )
        ]
        comparisons.append(within_equal(figure, estimate_of(gaps), MAIN))
    ours = measured("S1-table", batch)
    return dataclasses.replace(ours, comparisons=(*comparisons, *ours.comparisons))


def _both_losses(scenario: Scenario, max_runs: int | None) -> list[TrainingPlan]:
    plan = _with_two_labels(_short(scenario, "cosent"))
    return cosent_experiment_plans.experiment(plan, _seeds(2, max_runs))


def _with_two_labels(plan: TrainingPlan) -> TrainingPlan:
    """Return the plan with labels 0 and 1, as the source's data sets have; others have no
    accuracy."""
    pairs = pairs_of(plan.data).pairs
    threshold = pairs.threshold if plan.threshold is None else plan.threshold
    least = label_rules(pairs.labels, threshold, plan.label_range).threshold
    labels = (str(int(label >= least)) for label in pairs.labels)
    rows = tuple(zip(pairs.first, pairs.second, labels, strict=True))
    data = dataclasses.replace(plan.data, rows=rows)
    return dataclasses.replace(plan, data=data, threshold=None, label_range=None)


def _judge_both(runs: Runs, names: Sequence[str]) -> Check:
    """Compare CoSENT less cross-entropy on the held-out pairs, in percent, with what is called
    about equal; the interval is over seeds and pairs."""
    table = run_comparison.table(runs, names)
    comparisons = []
    for one in table.differences:
        if one.figure in published_cosent_results.PRINTED_FIGURES:
            sign = 100 if one.b.startswith("cosent") else -100
            comparisons.append(within_equal(one.figure, _multiplied(one, sign), "trained"))
    reached = (
        Side(
            rf"{SYMBOLS[figure]}_{{\text{{{LOSS_NAMES[group.loss]}}}}}",
            100 * group.figures[figure].mean,
        )
        for figure in published_cosent_results.PRINTED_FIGURES
        for group in table.groups
        if figure in group.figures
    )
    return Check(tuple(comparisons), tuple(reached))


def rises(latex: str, gap: Estimate, part: str) -> Comparison:
    """State that a difference is above 0; undecided if its interval contains 0."""
    text = _interval(gap)
    return Comparison(ZERO, "<", Side(latex, gap.low, text), part=part, decided=gap.high < 0)


def _at_usual_scale(scenario: Scenario, max_runs: int | None) -> list[TrainingPlan]:
    return _plans(scenario, "cosent", max_runs, [_at_scale(USUAL_SCALE)])


def _judge_angles(runs: Runs, names: Sequence[str]) -> Check:
    return angles_by_rank([outcome(runs.folder(name)) for name in names], USUAL_SCALE)


def angles_by_rank(seeds: Sequence[HeldOutScores], scale: float) -> Check:
    """Compare the share of pairs at small angles by the rank of their label with e^{−λ rank}, and
    the order of angles with that of labels, in the mean over runs on the same pairs.

    An angle is small if it is below the run's median of those of the highest label. Labels of more
    than MAX_GRADES values are rounded to as many even steps.
    """
    cosines = np.stack([one.scores["after"].astype(np.float64) for one in seeds])
    angles = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    labels = _grades(seeds[0].labels)
    levels = np.unique(labels)[::-1]
    medians = np.median(angles[:, labels == levels[0]], axis=1, keepdims=True)
    small = float(medians.mean())
    groups = [(angles <= medians)[:, labels == label] for label in levels]
    shares = [float(own.mean()) for own in groups]
    printed = [shares[0] * math.exp(-scale * rank) for rank in range(len(groups))]
    means = (float(angles[:, labels == label].mean()) for label in levels)
    facts = [Side(rf"\bar\theta_{{{rank}}}", mean) for rank, mean in enumerate(means, 1)]
    comparisons = []
    for rank, own in enumerate(groups[1:], 1):
        # Over other pairs: the seeds have the same ones.
        low, high = _wilson(shares[rank], own.shape[1])
        at = rf"p(\theta \le {small:.1f}^\circ \mid "
        text = f"{shares[rank]:.3f} ({low:.3f} … {high:.3f})"
        comparisons.append(
            Comparison(
                Side(rf"{at}{rank + 1})", low, text),
                "≤",
                Side(rf"e^{{-{scale:g} \cdot {rank}}}\,{at}1)", printed[rank]),
                part="trained",
            )
        )
    orders = [one.figure("spearman", "after") for one in seeds]
    bound = by_chance(seeds[0].pairs)
    if bound is not None and all(orders):
        value = float(np.mean([one.value for one in orders if one]))
        chance, rho = Side(r"\rho_0", bound), Side(r"-\rho(y, \theta)", value)
        comparisons.append(Comparison(chance, "<", rho, part=CORRECTED, decided=value < -bound))
    ranks = tuple(float(rank) for rank in range(1, len(groups) + 1))
    curves = (
        Curve("measured", ranks, tuple(shares), bars=True),
        Curve("printed", ranks, tuple(printed)),
    )
    chart = Chart("r", f"p(θ ≤ {small:.1f}°)", curves, logarithmic_x=False)
    return Check(tuple(comparisons), tuple(facts), chart)


def _grades(labels: np.ndarray) -> np.ndarray:
    """Return the labels [n], rounded to MAX_GRADES even steps if they take more values."""
    if len(np.unique(labels)) <= MAX_GRADES:
        return labels
    low, high = labels.min(), labels.max()
    return np.round((labels - low) / (high - low) * (MAX_GRADES - 1))


def _wilson(share: float, total: int) -> tuple[float, float]:
    """Return the interval at LEVEL of a share of so many (Wilson 1927)."""
    quantile = NormalDist().inv_cdf((1 + LEVEL) / 2)
    middle = share * total + quantile**2 / 2
    half = quantile * math.sqrt(total * share * (1 - share) + quantile**2 / 4)
    low, high = ((middle + side * half) / (total + quantile**2) for side in (-1, 1))
    # Rounding would leave a little above 0 of a share of 0.
    return max(low, 0.0) if share else 0.0, min(high, 1.0)


def _scales(scenario: Scenario, max_runs: int | None) -> list[TrainingPlan]:
    return _plans(scenario, "cosent", max_runs, [_at_scale(SMALL_SCALE), _at_scale(USUAL_SCALE)])


def _judge_scales(runs: Runs, names: Sequence[str]) -> Check:
    gap = _ranked_gap(runs, names)
    latex = rf"\rho_{{\lambda={USUAL_SCALE:g}}} - \rho_{{\lambda={SMALL_SCALE:g}}}"
    return Check((rises(latex, gap, "trained"),) if gap else ())


def _ranked_gap(runs: Runs, names: Sequence[str]) -> Estimate | None:
    """The difference of the second half of the runs to the first in Spearman, with its interval;
    None where there is none."""
    half = len(names) // 2
    table = run_comparison.table(runs, names)
    second = {one.label for one in table.groups if one.runs[0] in names[half:]}
    for one in table.differences:
        if one.figure == "spearman":
            return _multiplied(one, 1 if one.b in second else -1)
    return None


def _gradients(scenario: Scenario, max_runs: int | None) -> list[TrainingPlan]:
    groups = [
        {**_at_scale(scale), "clipping": clipping}
        for scale, clipping in (
            (LARGE_SCALE, 0.0),
            (USUAL_SCALE, 0.0),
            (LARGE_SCALE, CLIPPING_NORM),
        )
    ]
    return _plans(scenario, "cosent", max_runs, groups)


def _judge_gradients(runs: Runs, names: Sequence[str]) -> Check:
    """Compare the largest gradient of a step at a large λ with that at S1's own, and the order of
    held-out pairs with clipping and without."""
    count = len(names) // 3
    free, usual, clipped = (names[at : at + count] for at in (0, count, 2 * count))
    norms = [[_largest_norm(runs, name) for name in some] for some in (free, usual)]
    ratio = estimate_of([math.log10(a / b) for a, b in zip(*norms, strict=True)])
    latex = (
        rf"\log_{{10}} \lVert\nabla\rVert_{{\lambda={LARGE_SCALE:g}}}"
        rf" / \lVert\nabla\rVert_{{\lambda={USUAL_SCALE:g}}}"
    )
    comparisons = [rises(latex, ratio, "trained")]
    gap = _ranked_gap(runs, [*free, *clipped])
    if gap:
        comparisons.append(rises(r"\rho_{\text{clip}} - \rho_{\infty}", gap, "clipping"))
    return Check(
        tuple(comparisons),
        tuple(
            Side(rf"\max\lVert\nabla\rVert_{{{place + 1}}}", value)
            for place, value in enumerate(norms[0])
        ),
    )


def _largest_norm(runs: Runs, name: str) -> float:
    return max(one.gradient_norm for one in runs.history(name) if isinstance(one, StepRecord))


def _negatives(scenario: Scenario, max_runs: int | None) -> list[TrainingPlan]:
    sizes = [{"batch_size": size} for size in (SMALL_BATCH_SIZE, LARGE_BATCH_SIZE)]
    return _plans(scenario, "info_nce", max_runs, sizes)


def _judge_negatives(runs: Runs, names: Sequence[str]) -> Check:
    """Compare the effective rank of the held-out vectors with more negatives and with few."""
    half = len(names) // 2
    ranks = [_effective_rank(runs, name) for name in names]
    gaps = [b - a for a, b in zip(ranks[:half], ranks[half:], strict=True)]
    if not all(map(math.isfinite, gaps)):
        return Check(())
    gap = estimate_of(gaps)
    latex = rf"r_{{\text{{eff}}}}(B={LARGE_BATCH_SIZE}) - r_{{\text{{eff}}}}(B={SMALL_BATCH_SIZE})"
    return Check((rises(latex, gap, "trained"),))


def _effective_rank(runs: Runs, name: str) -> float:
    """Return that of the held-out vectors after the run, NaN where it was not measured."""
    summary = runs.status(name).summary
    rank = summary.after.effective_rank if summary else None
    return math.nan if rank is None else rank


TRAININGS: Mapping[str, Training] = {
    "S1-table": Training(_both_losses, _judge_both),
    "S1-33": Training(_at_usual_scale, _judge_angles),
    "S1-advice-loss": Training(_scales, _judge_scales),
    "S1-advice-gradient": Training(_gradients, _judge_gradients),
    "S1-advice-collapse": Training(_negatives, _judge_negatives),
}


def judged(claim: str, runs: Runs, names: Sequence[str]) -> Check:
    """Return a claim on its runs, all of which have ended with a model."""
    return dataclasses.replace(TRAININGS[claim].judge(runs, names), sample=_sample(runs, names))


def ended(runs: Runs, names: Sequence[str]) -> bool:
    """Return whether all runs have ended with a model."""
    return all(has_ended(runs.folder(name)) for name in names)


def _trained(name: str, **rest: Any) -> Claim:
    """Return a claim that shows what was measured once until a reader's own runs have ended."""
    check = rest.pop("check", functools.partial(measured, name))
    return Claim(name=name, check=check, examples=(S1_EXAMPLE,), needs="nothing", **rest)


CLAIMS = (
    _trained(
        name="S1-table",
        source=published_cosent_results.CITATION,
        formula=r"\lvert\rho_{\text{CoSENT}} - \rho_{\text{CE}}\rvert \approx 0",
        check=printed_table,
        losses=("cosent", "binary_cross_entropy"),
    ),
    _trained(
        name="S1-33",
        source="S1 eq. 33",
        formula=r"p(\theta_{ij}) \propto"
        r" e^{-\lambda\,\operatorname{rank}(\operatorname{sim}_{ij})}",
        losses=("cosent",),
    ),
    _trained(
        name="S1-advice-loss",
        source="S1",
        formula=r"\mathcal L \not\downarrow \;\Rightarrow\; \lambda \uparrow",
        losses=("cosent",),
    ),
    _trained(
        name="S1-advice-gradient",
        source="S1",
        formula=r"\lVert\nabla\mathcal L\rVert \uparrow\uparrow \;\Rightarrow\;"
        r" \lambda \downarrow,\ \text{clip}",
        losses=("cosent",),
    ),
    _trained(
        name="S1-advice-collapse",
        source="S1",
        formula=r"u_i \to u \;\Rightarrow\; \#\text{neg} \uparrow",
        losses=("info_nce",),
    ),
)
