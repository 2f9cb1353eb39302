"""Several runs beside each other: figures with their spread, and what of it is more than chance."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.core.remarks import Remark, Value
from explorer.lab.training import data, hosting
from explorer.lab.training.folder import all_runs
from explorer.lab.training.influence import FIGURES, Measured
from explorer.lab.training.outcome import Outcome, has_ended, outcome
from explorer.lab.training.plan import TrainingPlan
from explorer.lab.training.runs import Runs
from explorer.lab.training.verdict import LEAST_SEEDS, LEVEL, Difference, difference, gain, judged
from explorer.locale import grouped
from explorer.runtime.numbers import signed, whole_percent
from explorer.runtime.wire import Json


def start_all(runs: Runs, plans: Sequence[TrainingPlan]) -> list[str]:
    """Queue several runs; those that differ in loss, parameters or seed share their data.

    All learn from the same pairs, and those of one seed in the same order.
    """
    corpora: dict[str, data.Corpus] = {}
    ready = []
    for plan in plans:  # all are checked before any is queued
        key = json.dumps(plan.to_json()["data"], sort_keys=True, default=str)
        corpora[key] = corpora.get(key) or data.load(plan)
        if reason := data.why_not(plan, corpora[key]) or hosting.why_not(plan, corpora[key]):
            raise reason
        ready.append((plan, corpora[key]))
    hosting.check_queue(all_runs(runs.root), len(ready))
    return [runs.start(plan, corpus) for plan, corpus in ready]


@dataclass
class _Group:
    """Runs that differ in the seed alone: by seed their names, summaries and scores."""

    plan: Json
    names: dict[int, str] = field(default_factory=dict)
    summaries: dict[int, Json] = field(default_factory=dict)
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    label: str = ""

    @property
    def tested_on(self) -> Outcome | None:
        """Whose held-out pairs are those of every run; None where the runs were measured on
        different ones."""
        if len(self.outcomes) < len(self.names):
            return None
        first, *others = self.outcomes.values()
        return first if all(first.on_the_same_pairs(one) for one in others) else None

    def measured(self, figure: str, when: str = "after") -> dict[int, Measured] | None:
        """A figure by seed; None where a run has none."""
        found = {seed: one.figure(figure, when) for seed, one in self.outcomes.items()}
        known = {seed: one for seed, one in found.items() if one is not None}
        return known if len(known) == len(self.names) else None


def table(runs: Runs, names: Sequence[str]) -> Json:
    """Finished runs by what they tried, and what of their differences is more than chance.

    Answers
        groups: each with label, loss, parameters, runs, seeds, gain (`Gain` in Spearman, null where
            one side has no order), and for each figure {mean, spread (the sample standard
            deviation; null for one seed), values};
        differences: for each two groups in each figure that both have, the labels a and b, the
            figure, and between, the `Difference` b − a;
        verdict: how the groups compare in Spearman, as remarks that name by their labels the best
            one and another;
        level, least_seeds: how sure the intervals are, and from how many seeds on they cover
            other seeds.

    What is compared is how they do on the held-out pairs, so groups that were measured on
    different ones have no difference.
    """
    groups = list(_in_groups(runs, names).values())
    for group, label in zip(groups, _labels([group.plan for group in groups]), strict=True):
        group.label = label
    return {
        "groups": [_told(group) for group in groups],
        "differences": _differences(groups),
        "verdict": [dataclasses.asdict(remark) for remark in _verdict(groups)],
        "level": whole_percent(LEVEL),
        "least_seeds": LEAST_SEEDS,
    }


def _in_groups(runs: Runs, names: Sequence[str]) -> dict[str, _Group]:
    groups: dict[str, _Group] = {}
    for name in names:
        summary = runs.status(name)["summary"]
        if summary is None:
            continue
        plan = runs.plan(name).to_json()
        seed = plan.pop("seed")
        group = groups.setdefault(json.dumps(plan, sort_keys=True), _Group(plan))
        group.names[seed], group.summaries[seed] = name, summary
        if has_ended(runs.folder(name)):  # a folder may have lost what was measured
            group.outcomes[seed] = outcome(runs.folder(name))
    return groups


def _labels(plans: Sequence[Json]) -> list[str]:
    """The loss, and whatever else tells the groups apart."""
    told = [
        key
        for key in (plans[0] if plans else ())
        if key not in ("loss", "data") and len({json.dumps(p[key]) for p in plans}) > 1
    ]
    return [
        " ".join([p["loss"], *(f"{key}={_short(p[key])}" for key in told if p[key])]) for p in plans
    ]


def _short(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}={given}" for name, given in value.items())
    return str(value)


def _told(group: _Group) -> Json:
    figures = {}
    for figure in ("loss", *FIGURES, "steps_per_second"):
        known = [_figure(summary, figure) for summary in group.summaries.values()]
        values = [value for value in known if value is not None]
        if len(values) == len(known):
            spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
            figures[figure] = {"mean": float(np.mean(values)), "spread": spread, "values": values}
    return {
        "label": group.label,
        "loss": group.plan["loss"],
        "parameters": group.plan["parameters"],
        "runs": list(group.names.values()),
        "seeds": list(group.names),
        "figures": figures,
        "gain": _gain(group),
    }


def _figure(summary: Json, figure: str) -> float | None:
    return summary["after"][figure] if figure in FIGURES else summary[figure]


def _gain(group: _Group) -> Json | None:
    before, after = (group.measured("spearman", when) for when in ("before", "after"))
    tested = group.tested_on
    if tested is None or before is None or after is None:
        return None
    found = gain(before, after, tested.pairs)
    return found and dataclasses.asdict(found)


def _comparable(groups: Sequence[_Group]) -> Outcome | None:
    """Whose held-out pairs are those of all groups; None where there is no such."""
    tested = [group.tested_on for group in groups]
    first = tested[0] if tested else None
    alike = all(first and one and first.on_the_same_pairs(one) for one in tested)
    return first if alike else None


def _having(groups: Sequence[_Group], figure: str) -> list[tuple[_Group, dict[int, Measured]]]:
    """The groups that have a figure in every run, each with it by seed."""
    known = [(group, group.measured(figure)) for group in groups]
    return [(group, measured) for group, measured in known if measured is not None]


def _differences(groups: Sequence[_Group]) -> list[Json]:
    tested = _comparable(groups)
    if tested is None:
        return []
    found = []
    for figure in FIGURES:
        having = _having(groups, figure)
        beside = [measured for _, measured in having]
        for (a, of_a), (b, of_b) in itertools.combinations(having, 2):
            between = difference(of_a, of_b, tested.pairs, beside)
            if between is not None:
                told = {"a": a.label, "b": b.label, "figure": figure}
                found.append({**told, "between": dataclasses.asdict(between)})
    return found


def _verdict(groups: Sequence[_Group]) -> list[Remark]:
    having = _having(groups, "spearman")
    if len(having) < 2:
        return []
    tested = _comparable([group for group, _ in having])
    if tested is None:
        return [Remark("verdict_other_pairs")]
    found = judged([measured for _, measured in having], tested.pairs)
    best, *others = [having[place][0].label for place in found.order]
    return [
        of_difference(best, other, gap) for other, gap in zip(others, found.beside, strict=True)
    ]


def of_difference(best: str, other: str, found: Difference | None) -> Remark:
    """What is said of the best and another; each is named by the label of its group."""
    said: dict[str, Value] = {"best": best, "other": other}
    if found is None:
        return Remark("verdict_no_seed", said)
    said |= {"seeds": len(found.seeds), "least": LEAST_SEEDS, "count": found.pairs}
    said |= interval_values(found)
    if found.covers == "pairs":
        return Remark(f"verdict_models_{'ahead' if found.is_told else 'untold'}", said)
    if found.is_told:
        return Remark("verdict_ahead", said)
    if found.pairs_needed is None:
        return Remark("verdict_untold", said)
    return Remark("verdict_untold_needed", {**said, "needed": rounded(found.pairs_needed)})


def interval_values(found: Difference) -> dict[str, Value]:
    """A difference with its ends and their level, as a sentence says them."""
    ends = {"difference": found.difference, "low": found.low, "high": found.high}
    told: dict[str, Value] = {name: signed(end, 3) for name, end in ends.items()}
    return {**told, "level": whole_percent(LEVEL)}


def rounded(count: int) -> str:
    """A number that is only an estimate: two digits of it."""
    step = 10 ** max(len(str(count)) - 2, 0)
    return grouped(-(-count // step) * step)
