"""Answers to Compare's questions: their figures are those of a direct computation on the batch."""

from __future__ import annotations

import dataclasses
import functools
import math

import pytest
import torch

from lossprism.explorer.core.batch import Batch, batch_of_vectors, make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.remarks import short
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_comparison import compare
from lossprism.explorer.lab.compare.loss_question_answers import ANSWERS, answer
from lossprism.explorer.lab.compare.losses_towards_collapse import moved_together
from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.web.pages.compare.questions import QUESTIONS

CHINESE = "graded_chinese_multilingual"


def sides_of(question: str) -> list[Side]:
    return [
        Side(one.loss, one.convention, tuple(one.parameters.items()))
        for one in QUESTIONS[question].sides
    ]


@functools.cache
def example(name: str, extra_negatives: bool) -> Batch:
    return make_batch(Data(example=name), Rules(extra_negatives=extra_negatives))


def pairs_at(first: list, second: list, labels: list[float]) -> Batch:
    """A batch of the pairs of these vectors."""
    count = len(labels)
    texts = [tuple(f"{side}{place}" for place in range(count)) for side in "ab"]
    pairs = Pairs(*texts, tuple(labels))
    at = dict(zip([*pairs.first, *pairs.second], [*first, *second], strict=True))
    vectors = torch.tensor([at[text] for text in pairs.sentences]).numpy()
    return batch_of_vectors(pairs, vectors, Rules())


AXES = torch.eye(6, dtype=torch.float64).tolist()
ALONE = pairs_at(AXES[:1], AXES[:1], [1.0])
LEARNT = pairs_at(AXES[:2], AXES[:2], [1.0, 1.0])  # nothing is left to learn
TURNED = pairs_at(AXES[:2], [[-one for one in axis] for axis in AXES[:2]], [1.0, 1.0])


def answers(question: str, batch: Batch, sides: list[Side] | None = None):
    """The verdict on a batch, and its values."""
    scenario = Scenario(rules=Rules(extra_negatives=QUESTIONS[question].extra_negatives))
    found = answer(question, compare(scenario, sides or sides_of(question), batch))
    return found.key.removeprefix(f"compare.answer.{question}."), found.values


def explored(question: str, batch: Batch):
    return [explore(side.applied_to(Scenario()), batch) for side in sides_of(question)]


# ---- Each question, computed directly


def temperature(batch):
    high, _, low = explored("temperature", batch)

    def carrying(e):
        sizes = sorted(e.score_gradient.nan_to_num(0.0).abs().tolist(), reverse=True)
        return next(n for n in range(1, 99) if sum(sizes[:n]) >= 0.99 * sum(sizes))

    return {
        "carried": "99%",
        "low": "0.01",
        "low_pairs": short(carrying(low)),
        "high": "1",
        "high_pairs": short(carrying(high)),
        "pairs": short(len(batch)),
    }


def libraries(batch):
    above = batch.labels[:, None] > batch.labels
    losses = torch.nn.functional.softplus(batch.scores - batch.scores[:, None])[above]
    comparisons, total = int(above.sum()), float(losses.sum())
    divisors = [total / e.loss for e in explored("libraries", batch)]
    expected = [1, len(batch), comparisons, comparisons * math.log(2)]
    assert divisors == pytest.approx(expected, rel=1e-6)
    return {"pairs": short(len(batch)), "comparisons": short(comparisons)}


def ranking_or_contrast(batch):
    cosent, info_nce = explored("ranking_or_contrast", batch)
    gradients = [e.score_gradient.nan_to_num(0.0).tolist() for e in (cosent, info_nce)]
    positives = int((batch.labels >= batch.threshold).sum())
    return {
        "opposed": short(sum(one * other < 0 for one, other in zip(*gradients, strict=True))),
        "pairs": short(len(batch)),
        "ranking": short(int((batch.labels[:, None] > batch.labels).sum())),
        "contrast": short(positives * (len(batch) - 1)),
    }


def mnrl_nt_xent(batch):
    q, k = (batch.read(what, batch.vectors, batch.scores) for what in ("queries", "keys"))
    others = batch.read("negatives", batch.vectors, batch.scores)
    every = k if others is None else torch.cat([k, others])
    places = torch.arange(len(q))
    info_nce = torch.nn.functional.cross_entropy(q @ every.T / 0.05, places)
    views = torch.cat([q, k])
    logits = (views @ views.T / 0.05).fill_diagonal_(-torch.inf)
    partner = torch.cat([places + len(q), places])
    return {
        "info_nce": short(float(info_nce)),
        "info_nce_terms": short(len(q) * (len(every) - 1)),
        "nt_xent": short(float(torch.nn.functional.cross_entropy(logits, partner))),
        "nt_xent_terms": short(2 * len(q) * (2 * len(q) - 2)),
    }


def temperatures(batch):
    every = explored("temperatures", batch)
    values = {"high": every[0], "low": every[-1]}
    least = min(every, key=lambda e: e.loss)
    return {
        "high": "1",
        "low": "0.01",
        "lowest": f"{least.parameters['temperature']:g}",
        **{f"{name}_minimum": short(e.floor) for name, e in values.items()},
        **{f"{name}_collapse": short(e.collapse) for name, e in values.items()},
    }


def _titles(question, picked):
    titles = [e.spec.title for e in explored(question, example(QUESTIONS[question].example, False))]
    chosen = {True: [], False: []}
    for title, is_picked in zip(titles, picked, strict=True):
        chosen[is_picked].append(title)
    return {"picked": chosen[True], "others": chosen[False]}


def collapse(batch):
    end = moved_together(batch, 1.0)
    both = [
        (explore(e.scenario, batch).loss, explore(e.scenario, end).loss)
        for e in explored("collapse", batch)
    ]
    return _titles("collapse", [after < before - 1e-9 for before, after in both])


def only_the_order(batch):
    raised = dataclasses.replace(batch, given=batch.scores + 0.2)
    both = zip(explored("only_the_order", batch), explored("only_the_order", raised), strict=True)
    return _titles("only_the_order", [abs(one.loss - other.loss) > 1e-9 for one, other in both])


def small_batches(batch):
    def left(labels):
        return sum(int(a > b) + int(b > a) for a, b in zip(labels[::2], labels[1::2], strict=True))

    labels = batch.labels.tolist()
    positives = int((batch.labels >= batch.threshold).sum())
    assert positives % 2 == 0
    return {
        "size": 2,
        "first": short(positives),  # two in each batch, each against the other's key
        "first_all": short(positives * (positives - 1)),
        "other": short(left(labels)),
        "other_all": short(int((batch.labels[:, None] > batch.labels).sum())),
    }


def contrastive(batch):
    losses = [e.loss for e in explored("contrastive", batch)]
    values = {"least": min(losses), "most": max(losses), "times": max(losses) / min(losses)}
    return {name: short(value) for name, value in values.items()}


def margins(batch):
    q = batch.read("triplet_anchors", batch.vectors, batch.scores)
    near = batch.read("triplet_positives", batch.vectors, batch.scores)
    far = batch.read("triplet_negatives", batch.vectors, batch.scores)
    slack = (q - near).norm(dim=1) - (q - far).norm(dim=1)
    return {
        "minimum": "3",  # the margin of 5, less the 2 by which vectors of length 1 can be apart
        "terms": short(len(slack)),
        "wide_terms": short(int((slack + 5 > 0).sum())),
        "narrow": "0.05",
        "narrow_terms": short(int((slack + 0.05 > 0).sum())),
    }


DIRECT = {
    "temperature": temperature,
    "libraries": libraries,
    "ranking_or_contrast": ranking_or_contrast,
    "mnrl_nt_xent": mnrl_nt_xent,
    "temperatures": temperatures,
    "collapse": collapse,
    "only_the_order": only_the_order,
    "small_batches": small_batches,
    "contrastive": contrastive,
    "margins": margins,
}
VERDICTS = {
    "temperature": "fewer",
    "libraries": "factors",
    "ranking_or_contrast": "opposed",
    "mnrl_nt_xent": "differ",
    "temperatures": "differ",
    "collapse": "some",
    "only_the_order": "some",
    "small_batches": "fewer",
    "contrastive": "apart",
    "margins": "above",
}


def test_every_question_has_an_answer():
    assert QUESTIONS.keys() == ANSWERS.keys() == DIRECT.keys() == VERDICTS.keys()


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_figures_are_those_of_a_direct_computation(question):
    """On the batch that opens, and on the Chinese one, or where it has no triplets on another."""
    asks = QUESTIONS[question]
    for name in (asks.example, "hard_negatives" if question == "margins" else CHINESE):
        batch = example(name, asks.extra_negatives)
        verdict, values = answers(question, batch)
        assert verdict == VERDICTS[question], name
        texts = {
            name: [one["otherwise"] for one in value] if isinstance(value, list) else value
            for name, value in values.items()
        }
        assert texts == DIRECT[question](batch), name


def of(loss: str, **parameters: float) -> Side:
    return Side(loss, "", tuple(parameters.items()))


COLD, WARM = (of("info_nce", temperature=value) for value in (0.01, 1.0))
HARD = example("hard_negatives", True)
GIVEN = "sentence-transformers 6.2 TripletLoss (given triplets)"
TRIPLETS = [Side("triplet", GIVEN, (("margin", value),)) for value in (1.0, 0.05)]
# A batch, or other losses, on which each question has the answer that it does not open with.
OTHERWISE = [
    ("temperature", "same", LEARNT, None),
    ("temperature", "more", HARD, [COLD, WARM]),
    ("libraries", "differ", HARD, [of("cosent"), *[of("info_nce")] * 3]),
    ("ranking_or_contrast", "alike", HARD, None),
    ("mnrl_nt_xent", "same", ALONE, None),
    ("temperatures", "same", ALONE, None),
    ("collapse", "none", LEARNT, None),
    ("collapse", "all", TURNED, [of("info_nce"), of("triplet")]),
    ("only_the_order", "all", HARD, [of("cosine_mse")] * 2),
    ("only_the_order", "none", HARD, [of("cosent")] * 2),
    ("small_batches", "same", LEARNT, None),
    ("contrastive", "within", LEARNT, None),
    ("contrastive", "zero", LEARNT, [of("contrastive"), of("siglip")]),
    ("margins", "reached", HARD, TRIPLETS),
]


@pytest.mark.parametrize(("question", "verdict", "batch", "sides"), OTHERWISE)
def test_another_batch_has_another_answer(question, verdict, batch, sides):
    assert answers(question, batch, sides)[0] == verdict


def test_every_verdict_is_tried():
    tried = {f"{question}.{verdict}" for question, verdict in VERDICTS.items()}
    tried |= {f"{question}.{verdict}" for question, verdict, *_ in OTHERWISE} | {"none"}
    for language in LANGUAGES:
        keys = [key for key in catalogue(language) if key.startswith("compare.answer.")]
        assert {key.removeprefix("compare.answer.") for key in keys} == tried


def test_a_batch_that_cannot_answer_says_why():
    for question, key in (
        ("margins", "problem.no_lists"),
        ("libraries", "problem.no_gradient"),
        ("small_batches", "problem.mechanics_size"),
    ):
        found = compare(Scenario(), sides_of(question), ALONE)
        message = answer(question, found)
        assert message.key == "compare.answer.none"
        assert message.values["reason"]["key"] == key, question
        assert message.values["reason"]["otherwise"] in message.written()
