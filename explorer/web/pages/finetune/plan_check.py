"""Check of a plan of the Fine-tune page: its data, its losses, its steps."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.large.large_batch_response import LabelRules
from lossprism.explorer.lab.training import (
    cosent_experiment_plans,
    data,
    quota,
    starting_model,
    teacher_scores,
)
from lossprism.explorer.lab.training.loss_refusal_reasons import losses_for, refusal
from lossprism.explorer.lab.training.parameter_trial_plans import Offer, duplicate_rule, offers
from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_control import default_runs as runs
from lossprism.explorer.lab.training.run_difference_verdict import LEVEL, by_chance
from lossprism.explorer.lab.training.run_json_types import RowForm
from lossprism.explorer.lab.training.trainer_rows import Pair, examples, form_of
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.limits import CORPORA, QUOTED_LETTERS
from lossprism.explorer.runtime.number_format import whole_percent
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.runtime.response_parent_classes import Sparse
from lossprism.explorer.sources.reading_notes import ReadingNote
from lossprism.explorer.web.pages.finetune.request_plan import read_plan, scenario_of
from lossprism.explorer.web.pages.finetune.time_estimate import pace_key
from lossprism.losses import LOSSES


@dataclass(frozen=True)
class Outlook:
    """Reason why a plan cannot be trained, or its steps and its examples, of a `form`; `pace` names
    the time of a step."""

    refused: Problem | None
    examples: int
    form: RowForm
    steps: int
    pace: str


@dataclass(frozen=True)
class Repetition(Outlook):
    """The source's experiment on the same data: so many runs."""

    count: int


@dataclass(frozen=True)
class ChosenThere(Sparse):
    """Settings of a link's scenario beside its data: `twins` where it leaves them out, and the
    names of its models."""

    loss: str
    convention: str
    parameters: dict[str, Setting]
    threshold: float | None
    label_range: tuple[float, float] | None
    extra_negatives: bool
    twins: Literal["apart", "leave_out", "keep"] = "apart"
    guide: str = ""
    teacher_model: str = ""


@dataclass(frozen=True)
class Checked(Outlook):
    """The check of a plan: contents of the data, losses that can learn from it, length of the run;
    the Spearman, above and below 0, that so many held-out pairs reach `by_chance`, at this `level`.

    `taught`: a teacher's scores came with the data; `asked`: approximate number of pairs for a
    model to score; `guide_unread`: a guide's vectors came, which no trainer reads;
    `encoder_prompts`: those of the encoder's own configuration. `notes` are those on the columns of
    a dataset of the hub; those of a file stand below it.
    """

    repetition: Repetition
    of_scene: ChosenThere | None
    sample: list[Pair]
    losses: dict[str, Problem | None]
    train: int
    held_out: int
    by_chance: float | None
    level: str
    labels: tuple[float, float, int]
    labelled: bool
    taught: bool
    asked: int
    guide_unread: bool
    rules: LabelRules
    skipped: int
    notes: list[ReadingNote]
    shared: int
    rate: float
    encoder_prompts: dict[str, str]
    trials: list[Offer]
    minutes: float | None


@functools.lru_cache(maxsize=CORPORA)
def _corpus(known: TrainingData) -> data.Corpus:
    return data.read(TrainingPlan(data=known))


def check(request: dict) -> Checked:
    """{plan} → what the data holds, which losses can learn from it, how long the run will be."""
    chosen: Any = request.get("plan")
    plan = read_plan(chosen)
    starting_model.check(plan)
    corpus = data.under_teacher(plan, _corpus(plan.data))
    linked = scenario_of(chosen["data"]) if chosen["data"]["source"] == "link" else None
    return Checked(
        **vars(_outlook(plan, corpus)),
        repetition=_repetition(plan, corpus),
        of_scene=_chosen_in(linked),
        sample=_sample(corpus.train),
        losses=dict(losses_for(plan, corpus)),
        train=len(corpus.train),
        held_out=len(corpus.held_out),
        by_chance=by_chance([pair[:2] for pair in corpus.held_out]) if corpus.labelled else None,
        level=whole_percent(LEVEL),
        labels=(min(corpus.labels), max(corpus.labels), len(set(corpus.labels))),
        labelled=corpus.labelled,
        taught=corpus.teacher is not None,
        asked=teacher_scores.taught_pairs(plan, corpus.material),
        guide_unread=corpus.brings_guide or bool(linked and linked.data.guided),
        rules=_rules(plan, corpus),
        skipped=corpus.skipped,
        notes=list(corpus.notes) if plan.data.source == "hub" else [],
        shared=corpus.shared,
        rate=plan.rate,
        encoder_prompts=starting_model.own_prompts(plan.encoder) if plan.kind == "bi" else {},
        trials=list(offers(plan, runs().remaining_runs())),
        minutes=quota.time_limit() / 60 if deployment_policy().has_budgets else None,
    )


def _rules(plan: TrainingPlan, corpus: data.Corpus) -> LabelRules:
    """Return the rules of the labels, and the number of positive training pairs."""
    rules = data.rules_for(plan, corpus)
    positives = sum(label >= rules.threshold for *_, label in corpus.train)
    return LabelRules(**rules._asdict(), positives=positives)


def _outlook(plan: TrainingPlan, corpus: data.Corpus) -> Outlook:
    """Return the reason why the plan cannot be trained, or its examples, its steps and their
    pace."""
    count = examples(plan, corpus.material)
    return Outlook(
        refused=refusal(plan, corpus) or quota.refusal(plan, corpus),
        examples=count,
        form=form_of(plan, corpus.material),
        steps=plan.steps_for(count),
        pace=pace_key(plan),
    )


def _repetition(plan: TrainingPlan, corpus: data.Corpus) -> Repetition:
    """Return the number of runs of the source's experiment on this data, and the outlook for
    each."""
    plans = cosent_experiment_plans.experiment(plan)
    losses = {one.loss: _outlook(one, corpus) for one in plans}.values()
    worst = next((outlook for outlook in losses if outlook.refused), next(iter(losses)))
    return Repetition(**vars(worst), count=len(plans))


def _chosen_in(scenario: Scenario | None) -> ChosenThere | None:
    """Return the settings of a link's scenario beside the data: its loss, and its rules."""
    if scenario is None or scenario.loss not in LOSSES:
        return None
    return ChosenThere(
        loss=scenario.loss,
        convention=scenario.convention,
        parameters=cast("Any", dict(scenario.parameters)),
        threshold=scenario.rules.threshold,
        label_range=scenario.rules.label_range,
        extra_negatives=scenario.rules.extra_negatives,
        twins=cast("Any", duplicate_rule(scenario.rules)),
        guide=scenario.data.guide,
        teacher_model=scenario.data.teacher_model,
    )


def _sample(pairs: Sequence[Pair]) -> list[Pair]:
    """A pair of the highest label, one from the middle, and one of the lowest."""
    ordered = sorted(pairs, key=lambda pair: -pair[2])
    places = sorted({0, len(ordered) // 2, len(ordered) - 1})
    return [
        (a[:QUOTED_LETTERS], b[:QUOTED_LETTERS], label)
        for a, b, label in map(ordered.__getitem__, places)
    ]
