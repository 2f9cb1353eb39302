"""Comparison of runs: figures with their spread over seeds, and significant differences."""

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np

from lossprism.explorer.core.remarks import Remark, Value
from lossprism.explorer.lab.training import data, quota
from lossprism.explorer.lab.training import new_file_evaluation as measuring
from lossprism.explorer.lab.training.ended_run_scores import HeldOutScores, has_ended, outcome
from lossprism.explorer.lab.training.lead_explained_by_loss_setting import (
    TriedSetting,
    on_settings,
    tried_setting,
)
from lossprism.explorer.lab.training.loss_refusal_reasons import refusal
from lossprism.explorer.lab.training.metric_uncertainty import (
    ALL_FIGURES,
    LEADING,
    Measured,
    repeats,
)
from lossprism.explorer.lab.training.new_file_evaluation import Unseen
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_difference_verdict import (
    LEAST_SEEDS,
    LEVEL,
    Difference,
    Gain,
    difference,
    gain,
    judged,
)
from lossprism.explorer.lab.training.run_json_types import Summary
from lossprism.explorer.locale import Word, grouped, word
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.number_format import fixed, signed, whole_percent
from lossprism.explorer.runtime.response_field_types import Json, Setting
from lossprism.explorer.runtime.response_parent_classes import as_answer

# Digits after the point of a figure, and of a difference.
MIN_DECIMALS, MAX_DECIMALS = 3, 6


@dataclass(frozen=True)
class Started:
    """Names of the queued runs."""

    started: list[str]


@dataclass(frozen=True)
class Spread:
    """A figure over seeds with its sample standard deviation; None for one seed."""

    mean: float
    spread: float | None
    values: list[float]


@dataclass(frozen=True)
class Group:
    """Runs that differ only in the seed. `leading` is the figure that judges them and `gain` the
    gain in it; None where its value is undefined before or after the training."""

    label: str
    loss: str
    parameters: dict[str, Setting]
    runs: list[str]
    seeds: list[int]
    figures: dict[str, Spread]
    leading: Literal["spearman", "accuracy_at_1"]
    gain: Gain | None


@dataclass(frozen=True)
class GroupDifference:
    """Difference of group `b` to group `a`, named by their labels, in a figure of both."""

    a: str
    b: str
    figure: str
    between: Difference


@dataclass(frozen=True)
class OnFile:
    """A file that runs were measured on: `skipped` of its `total` rows are unusable, and `shared`
    of its `count` pairs have a sentence that a run was trained on."""

    name: str
    count: int
    total: int
    skipped: int
    sampled: bool
    shared: int


@dataclass(frozen=True)
class Comparison:
    """Finished runs by their settings: the pairs that they were measured on (`unseen` for a file),
    figures, differences, and a verdict. `level` is the confidence of the intervals, which cover
    other seeds from `least_seeds` seeds on."""

    pairs: Word
    unseen: OnFile | None
    groups: list[Group]
    differences: list[GroupDifference]
    verdict: list[Remark]
    level: str
    least_seeds: int


def start_all(runs: Runs, plans: Sequence[TrainingPlan]) -> list[str]:
    """Queue several runs and return their names. Plans with equal data share the pairs, and runs of
    one seed see them in the same order. Raises Problem, before any is queued, for an invalid plan.
    """
    corpora: dict[str, data.Corpus] = {}
    ready = []
    for plan in plans:
        key = json.dumps(plan.to_json()["data"], sort_keys=True, default=str)
        corpora[key] = corpora.get(key) or data.read(plan)
        corpus = data.under_teacher(plan, corpora[key])
        if reason := refusal(plan, corpus) or quota.refusal(plan, corpus):
            raise reason
        ready.append((plan, corpus))
    quota.check_queue(runs.root, len(ready))
    started: list[str] = []
    try:
        for plan, corpus in ready:
            started.append(runs.start(plan, corpus))
    except BaseException:  # also if the command is terminated
        for name in started:
            runs.folder(name).end_process()
        raise
    return started


@dataclass
class _Group:
    """Runs that differ only in the seed: names, summaries and scores by seed."""

    plan: Json
    names: dict[int, str] = field(default_factory=dict)
    summaries: dict[int, Summary] = field(default_factory=dict)
    outcomes: dict[int, HeldOutScores] = field(default_factory=dict)
    label: str = ""

    @property
    def tested_on(self) -> HeldOutScores | None:
        """Scores of one of the runs, with the held-out pairs of all; None if these differ."""
        if len(self.outcomes) < len(self.names):
            return None
        first, *others = self.outcomes.values()
        return first if all(first.on_the_same_pairs(one) for one in others) else None

    @property
    def leading(self) -> str:
        """Figure of `metric_uncertainty.LEADING` that judges all runs; the first if they differ."""
        known = {one.leading for one in self.outcomes.values()}
        return known.pop() if len(known) == 1 else LEADING[0]

    def measured(self, figure: str, when: str = "after") -> dict[int, Measured] | None:
        """Return a figure by seed; None if a run lacks it."""
        figures = {seed: one.figure(figure, when) for seed, one in self.outcomes.items()}
        known = {seed: one for seed, one in figures.items() if one is not None}
        return known if len(known) == len(self.names) else None


def table(
    runs: Runs,
    names: Sequence[str],
    unseen: Unseen | None = None,
    report: Callable[..., None] = jobs.step,
) -> Comparison:
    """Compare finished runs by group, on their held-out pairs or on the pairs of a file.

    `report` receives the progress of scoring a file (`new_file_evaluation.outcomes`). The verdict
    compares the best group with each other one, then says how much of that a setting such as λ or τ
    explains; for a single run on a file it has the gain. Groups measured on different pairs have no
    difference.
    """
    groups = list(_grouped(runs, names, unseen, report).values())
    for group, label in zip(groups, _labels([group.plan for group in groups]), strict=True):
        group.label = label
    return Comparison(
        pairs=_pairs_of(groups, unseen),
        unseen=_file_of(unseen, runs, groups) if unseen else None,
        groups=[_answer_of(group, unseen) for group in groups],
        differences=_differences(groups),
        verdict=_verdict(groups, unseen),
        level=whole_percent(LEVEL),
        least_seeds=LEAST_SEEDS,
    )


def _file_of(unseen: Unseen, runs: Runs, groups: Sequence[_Group]) -> OnFile:
    folders = [runs.folder(name) for group in groups for name in group.names.values()]
    return as_answer(OnFile, unseen, count=len(unseen.pairs), shared=unseen.shared(folders))


def _pairs_of(groups: Sequence[_Group], unseen: Unseen | None) -> Word:
    if unseen:
        return pairs_of_file(unseen)
    tested = _comparable(groups)
    return held_out_pairs(len(tested.pairs) if tested else None)


def _grouped(
    runs: Runs, names: Sequence[str], unseen: Unseen | None, report: Callable[..., None]
) -> dict[str, _Group]:
    groups: dict[str, _Group] = {}
    ended = {name: runs.folder(name) for name in names if has_ended(runs.folder(name))}
    on_file = measuring.outcomes(ended, unseen, report) if unseen else {}
    for name in names:
        summary = runs.folder(name).summary
        if summary is None:
            continue
        plan = runs.plan(name).to_json()
        seed = plan.pop("seed")
        group = groups.setdefault(json.dumps(plan, sort_keys=True), _Group(plan))
        group.names[seed], group.summaries[seed] = name, summary
        if name in ended:  # a folder may have lost its measurements
            group.outcomes[seed] = on_file[name] if unseen else outcome(ended[name])
    return groups


def _labels(plans: Sequence[Json]) -> list[str]:
    """Label each group by its loss and by the other settings that vary between groups."""
    varying = [
        key
        for key in (plans[0] if plans else ())
        if key not in ("loss", "data") and len({json.dumps(p[key]) for p in plans}) > 1
    ]
    return [
        " ".join([p["loss"], *(f"{key}={_short(p[key])}" for key in varying if p[key])])
        for p in plans
    ]


def _short(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}={one}" for name, one in value.items())
    return str(value)


def _answer_of(group: _Group, unseen: Unseen | None) -> Group:
    figures = {}
    for figure in ("loss", *ALL_FIGURES, "steps_per_second"):
        if unseen and figure in ALL_FIGURES:
            known = [measured.value for measured in (group.measured(figure) or {}).values()]
        else:
            known = [_figure(summary, figure) for summary in group.summaries.values()]
        values = [value for value in known if value is not None]
        if values and len(values) == len(known):
            spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
            figures[figure] = Spread(float(np.mean(values)), spread, values)
    return Group(
        label=group.label,
        loss=group.plan["loss"],
        parameters=group.plan["parameters"],
        runs=list(group.names.values()),
        seeds=list(group.names),
        figures=figures,
        leading=cast("Any", group.leading),
        gain=_gain(group),
    )


def _figure(summary: Summary, figure: str) -> float | None:
    """Return a figure; None if it is undefined or the run is older than the figure."""
    return getattr(summary.after if figure in ALL_FIGURES else summary, figure)


def _gain(group: _Group) -> Gain | None:
    before, after = (group.measured(group.leading, when) for when in ("before", "after"))
    tested = group.tested_on
    if tested is None or before is None or after is None:
        return None
    return gain(before, after, tested.pairs)


def _comparable(groups: Sequence[_Group]) -> HeldOutScores | None:
    """Return the scores of one run, with the held-out pairs of all groups; None if these differ."""
    tested = [group.tested_on for group in groups]
    first = tested[0] if tested else None
    is_same = all(first and one and first.on_the_same_pairs(one) for one in tested)
    return first if is_same else None


def _groups_with(groups: Sequence[_Group], figure: str) -> list[tuple[_Group, dict[int, Measured]]]:
    """Return the groups with a figure in every run, each with the figure by seed."""
    known = [(group, group.measured(figure)) for group in groups]
    return [(group, measured) for group, measured in known if measured is not None]


def _differences(groups: Sequence[_Group]) -> list[GroupDifference]:
    tested = _comparable(groups)
    if tested is None:
        return []
    differences = []
    for figure in ALL_FIGURES:
        having = _groups_with(groups, figure)
        beside = [measured for _, measured in having]
        for (a, of_a), (b, of_b) in itertools.combinations(having, 2):
            between = difference(of_a, of_b, tested.pairs, beside)
            if between is not None:
                differences.append(GroupDifference(a.label, b.label, figure, between))
    return differences


def _verdict(groups: Sequence[_Group], unseen: Unseen | None) -> list[Remark]:
    if unseen and len(groups) == 1 and len(groups[0].names) == 1:
        only = groups[0]
        tested, pairs = [pair[:2] for pair in unseen.pairs], pairs_of_file(unseen)
        return [on_gain(_gain(only), pairs, only.leading), *on_repeats(tested, pairs)]
    known = ((figure, _groups_with(groups, figure)) for figure in LEADING)
    figure, having = next((one for one in known if len(one[1]) >= 2), (LEADING[0], []))
    if not having:  # one way of training, under several seeds
        tested = _comparable(groups) if sum(len(group.names) for group in groups) > 1 else None
        return on_repeats(tested.pairs, _pairs_of(groups, unseen)) if tested else []
    tested = _comparable([group for group, _ in having])
    if tested is None:
        return [Remark("verdict_other_pairs")]
    verdict = judged([measured for _, measured in having], tested.pairs)
    best, *others = [having[place][0].label for place in verdict.order]
    pairs = _pairs_of([group for group, _ in having], unseen)
    return [
        *(
            of_difference(best, other, gap, pairs, figure)
            for other, gap in zip(others, verdict.beside, strict=True)
        ),
        *(on_settings(_tried(having, verdict.order)) if any(verdict.beside) else ()),
        *on_repeats(tested.pairs, pairs),
    ]


def _tried(
    having: Sequence[tuple[_Group, dict[int, Measured]]], order: Sequence[int]
) -> list[TriedSetting]:
    """Return the settings that the groups tried, the best first."""
    means = [np.mean([one.value for one in measured.values()]) for _, measured in having]
    return [tried_setting(having[place][0].plan, float(means[place])) for place in order]


def held_out_pairs(count: int | None) -> Word:
    """Return the name of the held-out pairs in a sentence; `count` is None if runs differ in
    them."""
    if count is None:
        return word("finetune.pairs.held_out_each", "the held-out pairs of each run")
    return word("finetune.pairs.held_out", f"the {count} held-out pairs", count=count)


def pairs_of_file(unseen: Unseen) -> Word:
    """Return the name of a file's pairs in a sentence."""
    count = len(unseen.pairs)
    otherwise = f"the {count} pairs of {unseen.name}"
    return word("finetune.pairs.of_file", otherwise, count=count, file=unseen.name)


def of_difference(
    best: str, other: str, between: Difference | None, pairs: Word, figure: str = LEADING[0]
) -> Remark:
    """Return the remark on the difference of the best group and another, named by their labels, on
    these pairs in a figure of `LEADING`."""
    values: dict[str, Value] = {"best": best, "other": other, "least": LEAST_SEEDS}
    if between is None:
        return Remark("verdict_no_seed", values)
    values |= {"seeds": len(between.seeds), "pairs": pairs, "figure": figure_word(figure)}
    if between.is_blank:
        return Remark("verdict_alike", values)
    values |= interval_values(between)
    if between.covers == "pairs":
        return Remark(f"verdict_models_{'ahead' if between.is_significant else 'untold'}", values)
    if between.is_significant:
        return Remark("verdict_ahead", values)
    if between.pairs_needed is None:
        return Remark("verdict_untold", values)
    return Remark("verdict_untold_needed", {**values, "needed": rounded(between.pairs_needed)})


def figure_word(figure: str) -> Word:
    """Return the name of a figure in a sentence, in each language."""
    return word(f"finetune.{figure}", figure)


def on_gain(measured: Gain | None, pairs: Word, figure: str = LEADING[0]) -> Remark:
    """Return the remark on the gain of a model on these pairs in a figure of `LEADING`; None if the
    figure is undefined."""
    if measured is None:
        return Remark("run_no_order", {"pairs": pairs})
    key = "run_rose" if measured.low > 0 else "run_fell" if measured.high < 0 else "run_chance"
    ends = {"before": measured.before, "after": measured.after}
    values: dict[str, Value] = {name: fixed(end, MIN_DECIMALS) for name, end in ends.items()}
    values |= {"figure": figure_word(figure), "pairs": pairs}
    if measured.is_blank:
        return Remark("run_unmoved", values)
    return Remark(key, {**values, **interval_values(measured)})


def on_repeats(tested: Sequence[tuple[str, str]], pairs: Word) -> list[Remark]:
    """Remark on repeated pairs, where they matter, and on their treatment."""
    repeated = repeats(tested)
    return [Remark("run_repeats", {"pairs": pairs, "repeated": repeated})] if repeated else []


def interval_values(between: Difference) -> dict[str, Value]:
    """A difference with its ends and their level, as a sentence says them."""
    return {
        **signed_ends(between.difference, between.low, between.high),
        "level": whole_percent(LEVEL),
    }


def signed_ends(difference: float, low: float, high: float) -> dict[str, str]:
    """Format a difference and the ends of its interval.

    With as many decimals as it takes for the ends to differ and for a number other than 0 to have
    its sign; with the fewest where no such number exists.
    """
    ends = {"difference": difference, "low": low, "high": high}

    def report(places: int) -> bool:
        shown = [float(signed(end, places).replace("−", "-")) for end in ends.values()]
        differ = shown[1] != shown[2] or low == high
        return differ and all(
            one != 0 or end == 0 for one, end in zip(shown, ends.values(), strict=True)
        )

    places = next(filter(report, range(MIN_DECIMALS, MAX_DECIMALS + 1)), MIN_DECIMALS)
    return {name: signed(end, places) for name, end in ends.items()}


def rounded(count: int) -> str:
    """A number that is only an estimate: two digits of it."""
    step = 10 ** max(len(str(count)) - 2, 0)
    return grouped(-(-count // step) * step)
