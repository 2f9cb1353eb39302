"""Several runs beside each other: figures with their spread, a paired test, what changed places."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence

import numpy as np

from explorer.core.explore import Exploration
from explorer.core.scenario import Scenario
from explorer.lab.training import data, hosting
from explorer.lab.training.folder import all_runs
from explorer.lab.training.plan import TrainingPlan
from explorer.lab.training.probe import explored
from explorer.lab.training.runs import Runs
from explorer.runtime.problem import Problem
from explorer.runtime.wire import Json

FIGURES = ("spearman", "pearson", "accuracy", "auc")


def start_all(runs: Runs, plans: Sequence[TrainingPlan]) -> list[str]:
    """Queue several runs; those that differ in loss, parameters or seed share their data.

    All learn from the same pairs, and those of one seed in the same order.
    """
    corpora: dict[str, data.Corpus] = {}
    ready = []
    for plan in plans:  # all are checked before any is queued
        # One split for all: the seed of a run moves its order and its first weights.
        shared = dataclasses.replace(plan, seed=plans[0].seed)
        key = json.dumps(shared.to_json()["data"], sort_keys=True, default=str)
        corpora[key] = corpora.get(key) or data.load(shared)
        if reason := data.why_not(plan, corpora[key]) or hosting.why_not(plan, corpora[key]):
            raise reason
        ready.append((plan, corpora[key]))
    hosting.check_queue(all_runs(runs.root), len(ready))
    return [runs.start(plan, corpus) for plan, corpus in ready]


def table(runs: Runs, names: Sequence[str]) -> Json:
    """Finished runs by what they tried, with mean and spread over seeds, and a paired test.

    Answers groups, each with label, loss, parameters, runs, seeds, and for each figure
    {mean, spread (the sample standard deviation; null for one seed), values}; and tests, for each
    two groups with two or more seeds in common and each figure: a, b, figure, difference (of the
    means, b − a), statistic, p (paired t-test over seeds, two-sided), seeds.
    """
    groups: dict[str, dict] = {}
    for name in names:
        status = runs.status(name)
        if status["summary"] is None:
            continue
        plan = runs.plan(name).to_json()
        what = {key: value for key, value in plan.items() if key != "seed"}
        group = groups.setdefault(
            json.dumps(what, sort_keys=True),
            {"loss": plan["loss"], "parameters": plan["parameters"], "plan": what, "by_seed": {}},
        )
        group["by_seed"][plan["seed"]] = (name, status["summary"])
    listed = list(groups.values())
    labels = _labels(listed)
    return {
        "groups": [_group(g, label) for g, label in zip(listed, labels, strict=True)],
        "tests": _tests(listed, labels),
    }


def _labels(groups: Sequence[dict]) -> list[str]:
    """The loss, and whatever else tells the groups apart."""
    plans = [group["plan"] for group in groups]
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


def _group(group: dict, label: str) -> Json:
    figures = {}
    for figure in ("loss", *FIGURES, "steps_per_second"):
        known = [_figure(summary, figure) for _, summary in group["by_seed"].values()]
        values = [value for value in known if value is not None]
        if len(values) == len(known):
            spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
            figures[figure] = {"mean": float(np.mean(values)), "spread": spread, "values": values}
    return {
        "label": label,
        "loss": group["loss"],
        "parameters": group["parameters"],
        "runs": [name for name, _ in group["by_seed"].values()],
        "seeds": list(group["by_seed"]),
        "figures": figures,
    }


def _figure(summary: dict, figure: str) -> float | None:
    return summary["after"][figure] if figure in FIGURES else summary[figure]


def _tests(groups: Sequence[dict], labels: Sequence[str]) -> list[Json]:
    found = []
    for one in range(len(groups)):
        for other in range(one + 1, len(groups)):
            a, b = groups[one]["by_seed"], groups[other]["by_seed"]
            seeds = sorted(a.keys() & b.keys())
            for figure in FIGURES if len(seeds) > 1 else ():
                known = [[_figure(side[seed][1], figure) for seed in seeds] for side in (a, b)]
                pairs = [[value for value in side if value is not None] for side in known]
                if pairs != known:
                    continue
                told = {"a": labels[one], "b": labels[other], "figure": figure, "seeds": seeds}
                found.append({**told, **paired_test(*pairs)})
    return found


def paired_test(a: Sequence[float], b: Sequence[float]) -> dict[str, float | None]:
    """The t-test over pairs (two-sided). Without any spread of the differences there is no p."""
    from scipy.stats import ttest_rel

    differences = np.subtract(b, a)
    answer = {"difference": float(differences.mean()), "statistic": None, "p": None}
    if np.ptp(differences) > 1e-12:
        done = ttest_rel(b, a)
        answer |= {"statistic": float(done.statistic), "p": float(done.pvalue)}
    return answer


# One run, before and after


def _measured(runs: Runs, name: str, when: str) -> dict[str, np.ndarray]:
    path = runs.folder(name).path / f"{when}.npz"
    if not path.exists():
        raise Problem("training_not_finished", name=name)
    with np.load(path) as held:
        return {key: held[key] for key in held.files}


def neighbours(runs: Runs, name: str, sentence: str | None = None, most: int = 5) -> list[dict]:
    """The nearest held-out sentences before and after, those that changed most first.

    Each has sentence, before and after (lists of {sentence, cosine}), and kept, how many of the
    nearest stayed the same. A cross-encoder has none. `sentence` asks for one only.
    """
    before, after = (_measured(runs, name, when) for when in ("before", "after"))
    if "vectors" not in before:
        return []
    sentences = [str(text) for text in before["sentences"]]
    sides = []
    for side in (before, after):
        vectors = side["vectors"].astype(np.float32)
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        cosines = unit @ unit.T
        np.fill_diagonal(cosines, -np.inf)
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :most]
        sides.append((order, cosines))
    found = []
    for place, text in enumerate(sentences):
        if sentence is not None and text != sentence:
            continue
        lists = [
            [{"sentence": sentences[k], "cosine": float(cosines[place, k])} for k in order[place]]
            for order, cosines in sides
        ]
        kept = len(set(sides[0][0][place]) & set(sides[1][0][place]))
        found.append({"sentence": text, "before": lists[0], "after": lists[1], "kept": kept})
    return sorted(found, key=lambda entry: entry["kept"])


def moved_pairs(runs: Runs, name: str, most: int = 20) -> list[dict]:
    """The held-out pairs whose rank by score changed most.

    Each has first, second, label, score_before, score_after, rank_before, rank_after (1 is the
    highest score; equal scores share the mean of their ranks) and label_rank.
    """
    from scipy.stats import rankdata

    pairs = runs.folder(name).read_pairs("held_out.jsonl")
    before, after = (_measured(runs, name, when)["scores"] for when in ("before", "after"))
    ranks = [rankdata(-side) for side in (before, after)]
    by_label = rankdata([-label for *_, label in pairs])
    order = np.argsort(-np.abs(ranks[1] - ranks[0]), kind="stable")[:most]
    return [
        {
            "first": pairs[place][0],
            "second": pairs[place][1],
            "label": pairs[place][2],
            "score_before": float(before[place]),
            "score_after": float(after[place]),
            "rank_before": float(ranks[0][place]),
            "rank_after": float(ranks[1][place]),
            "label_rank": float(by_label[place]),
        }
        for place in order.tolist()
    ]


def exploration(runs: Runs, name: str, step: int, scenario: Scenario | None = None) -> Exploration:
    """The loss of the run (or of a scenario) on its probe batch at a recorded step."""
    evaluations = [r for r in runs.history(name) if r["kind"] == "evaluation"]
    probe = runs.probe(name)
    if not evaluations or probe is None:
        raise Problem("training_not_finished", name=name)
    record = min(evaluations, key=lambda r: abs(r["step"] - step))
    vectors = runs.probe_vectors(name, record["step"])
    scores = np.array(record["probe"])
    return explored(runs.plan(name), probe, scores, vectors, scenario)


def curves(runs: Runs, names: Sequence[str], figure: str) -> list[dict]:
    """One curve a run, to lay over each other: id, steps, values.

    `figure` is one of a step record (loss, gradient_norm, learning_rate) or of an evaluation.
    """
    drawn = []
    for name in names:
        live = [r for r in runs.history(name) if r["kind"] in ("step", "evaluation")]
        points = [(r["step"], r[figure]) for r in live if figure in r]
        kept = [(s, v) for s, v in points if v is not None and math.isfinite(v)]
        drawn.append({"id": name, "steps": [s for s, _ in kept], "values": [v for _, v in kept]})
    return drawn
