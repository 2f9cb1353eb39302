"""Lists, a teacher and given negatives: the loss that is logged is the loss of that batch, worked
out here from the vectors alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
import torch

from lossprism.explorer.lab.training import run_downloads
from lossprism.explorer.lab.training.run_json_types import ExampleCount
from lossprism.explorer.lab.training.trainer_callback import Recorder
from lossprism.losses import LOSSES
from lossprism.losses.geometry import cosine
from tests.tiny import save_bert
from tests.unit.lab.training.taught import ON_LISTS, corpus, plan, taught_by, triplets

# What is logged, and the batch that it is of


@dataclass
class Step:
    rows: list[dict]
    logged: float
    vectors: dict[str, torch.Tensor]
    scores: dict[tuple[str, str], float]


@pytest.fixture
def steps(monkeypatch):
    """Each step's batch, the loss of it, and what the model made of its texts before it moved."""
    found: list[Step] = []

    def note(self, loss, given, value, own=Recorder._note_loss):
        own(self, loss, given, value)
        rows, model = self.batch, loss.model
        pairs = [(a, b) for row in rows for a, *others in [texts_of(row)] for b in others]
        if hasattr(model, "encode"):
            texts = sorted({text for pair in pairs for text in pair})
            vectors = dict(zip(texts, model.encode(texts, convert_to_tensor=True), strict=True))
            found.append(Step(rows, float(value.detach()), vectors, {}))
        else:
            scores = model.predict(pairs, activation_fn=torch.nn.Identity())
            result = dict(zip(pairs, map(float, scores), strict=True))
            found.append(Step(rows, float(value.detach()), {}, result))
        model.train()

    monkeypatch.setattr(Recorder, "_note_loss", note)
    return found


def texts_of(row):
    """All texts of a row, the first one first."""
    found = []
    for name, value in row.items():
        if name != "label":
            found += value if isinstance(value, list) else [value]
    return found


def by_hand(step):
    """Scores, labels, teacher and mask of the lists of a batch, [L, K] each."""
    width = max(len(row["sentence2"]) for row in step.rows)
    scores, labels, teacher, mask = (torch.zeros(len(step.rows), width) for _ in range(4))
    for place, row in enumerate(step.rows):
        for at, (text, given) in enumerate(zip(row["sentence2"], row["label"], strict=True)):
            pair = (row["sentence1"], text)
            if step.scores:
                scores[place, at] = step.scores[pair]
            else:
                scores[place, at] = cosine(*(step.vectors[one][None] for one in pair))
            both = given if isinstance(given, list) else [given, math.nan]
            labels[place, at], teacher[place, at] = both
            mask[place, at] = 1
    return scores, labels, teacher.nan_to_num(0), mask.bool()


def must_be_logged(steps, work):
    assert len(steps) == 2
    for step in steps:
        assert step.logged == pytest.approx(float(work(step)), rel=1e-4, abs=1e-6)


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A transformer without dropout: the same scores each time it is asked."""
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.mark.parametrize("kind", ["bi", "cross"])
@pytest.mark.parametrize("loss", ON_LISTS)
def test_a_loss_on_lists_is_that_of_whole_lists(loss, kind, still, runs, trained, steps):
    if kind == "cross" and loss not in ("list_net", "lambda_loss"):
        return
    chosen = {"kind": "cross", "encoder": still} if kind == "cross" else {}
    name = trained(plan(loss=loss, learning_rate=0.01, **chosen), corpus())
    spec = LOSSES[loss]

    def work(step):
        scores, labels, _, mask = by_hand(step)
        return spec.function(scores, labels, mask=mask)

    must_be_logged(steps, work)
    held = {pair for row in steps[0].rows for pair in texts_of(row)[:1]}
    for query in held:  # whole: every candidate that the query has
        (row,) = (row for row in steps[0].rows if row["sentence1"] == query)
        wanted = {second for first, second, _ in corpus().train if first == query}
        assert {*row["sentence2"]} == wanted
    live = [r.lists for r in runs.history(name) if r.kind == "evaluation"]
    assert [one.count for one in live] == [
        2,
        2,
    ]  # on the way, too: few are held out, all are live
    summary = runs.status(name).summary
    assert vars(live[-1]) == pytest.approx(vars(summary.after.lists))
    rows = run_downloads.run_csv(runs, name).splitlines()
    assert rows[0].endswith(",ndcg_at_10_of_lists,mrr_at_10_of_lists")
    assert rows[-1].split(",")[-2] == str(live[-1].ndcg_at_10)
    assert summary.examples == ExampleCount(form="lists", count=12)
    for when in ("before", "after"):
        assert getattr(summary, when).lists.count == 2
        assert 0 < getattr(summary, when).lists.ndcg_at_10 <= 1
        assert 0 < getattr(summary, when).lists.mrr_at_10 <= 1


@pytest.mark.parametrize("kind", ["bi", "cross"])
def test_distillation_learns_the_teacher_of_the_file(kind, still, runs, trained, steps):
    chosen = {"kind": "cross", "encoder": still} if kind == "cross" else {}
    trained(plan(loss="distill_kl", learning_rate=0.01, **chosen), corpus())

    def work(step):
        scores, _, teacher, mask = by_hand(step)
        return LOSSES["distill_kl"].function(scores, teacher, mask=mask)

    must_be_logged(steps, work)
    known = dict(zip(((a, b) for a, b, _ in corpus().train), taught_by(corpus()), strict=True))
    for row in steps[0].rows:
        listed = [known[row["sentence1"], text] for text in row["sentence2"]]
        assert [score for _, score in row["label"]] == listed


@pytest.mark.parametrize("kind", ["bi", "cross"])
@pytest.mark.parametrize("pairs", [corpus(), triplets((1,)), triplets((3,)), triplets((1, 3))])
def test_margins_are_the_teachers_of_each_positive_over_each_negative(
    pairs, kind, still, runs, trained, steps
):
    chosen = {"kind": "cross", "encoder": still} if kind == "cross" else {}
    name = trained(plan(loss="margin_mse", learning_rate=0.01, **chosen), pairs)
    threshold = runs.status(name).summary.threshold

    def work(step):
        scores, labels, teacher, mask = by_hand(step)
        squares = []
        for row in range(len(scores)):
            there = mask[row].nonzero().flatten().tolist()
            for p in (at for at in there if labels[row, at] >= threshold):
                for n in (at for at in there if labels[row, at] < threshold):
                    margin = scores[row, p] - scores[row, n]
                    squares.append((margin - (teacher[row, p] - teacher[row, n])) ** 2)
        return torch.stack(squares).mean()

    must_be_logged(steps, work)


def number(loss, parameter, convention=""):
    default = LOSSES[loss].under(convention).defaults[parameter]
    assert isinstance(default, float)
    return default


def of_triplets(step):
    """Queries, keys, negatives column by column, and whose these are."""
    negatives = [name for name in step.rows[0] if name.startswith("negative")]
    at = {
        name: torch.stack([step.vectors[row[name]] for row in step.rows])
        for name in ("anchor", "positive", *negatives)
    }
    owners = torch.arange(len(step.rows)).repeat(len(negatives))
    return at["anchor"], at["positive"], torch.cat([at[n] for n in negatives]), owners


def info_nce(step):
    queries, keys, negatives, _ = of_triplets(step)
    return LOSSES["info_nce"].function(queries, keys, negatives=negatives)


def own_only(step):
    """Each query sees its own key, the other keys and its own negatives."""
    queries, keys, negatives, owners = of_triplets(step)
    temperature = number("info_nce", "temperature")
    terms = []
    for place, query in enumerate(queries):
        others = torch.cat([keys, negatives[owners == place]])
        logits = cosine(query[None], others) / temperature
        terms.append(logits.logsumexp(dim=0) - logits[place])
    return torch.stack(terms).mean()


def given_triplets(step):
    anchors, positives, negatives, owners = of_triplets(step)
    near = (anchors[owners] - positives[owners]).norm(dim=1)
    return (near - (anchors[owners] - negatives).norm(dim=1) + 5).clamp_min(0).mean()


def gist(step):
    queries, keys, negatives, _ = of_triplets(step)
    guide = {"guide_queries": queries, "guide_keys": keys, "guide_negatives": negatives}
    return LOSSES["gist"].function(queries, keys, negatives=negatives, **guide)


LIBRARYS = "sentence-transformers 6.2 TripletLoss"
ON_TRIPLETS = {
    "info_nce": ({"loss": "info_nce"}, info_nce),
    "own": ({"loss": "info_nce", "parameters": (("negatives_seen", "by_own"),)}, own_only),
    "triplet": ({"loss": "triplet", "convention": LIBRARYS}, given_triplets),
    "gist": ({"loss": "gist"}, gist),
}


@pytest.mark.parametrize("negatives", [(1,), (3,)])
@pytest.mark.parametrize("case", ON_TRIPLETS)
def test_given_negatives_reach_the_loss(case, negatives, runs, trained, steps):
    chosen, work = ON_TRIPLETS[case]
    name = trained(plan(learning_rate=0.01, **chosen), triplets(negatives))
    must_be_logged(steps, work)
    assert runs.status(name).summary.examples == ExampleCount(form="triplets", count=13)
    assert len(texts_of(steps[0].rows[0])) == 2 + negatives[0]


def test_rows_with_more_or_fewer_negatives_are_a_triplet_for_each(runs, trained, steps):
    trained(plan(loss="info_nce", learning_rate=0.01), triplets((1, 3)))
    must_be_logged(steps, info_nce)


def test_a_convention_on_given_triplets_takes_those_of_lists(runs, trained, steps):
    named = "torch 2.13 TripletMarginLoss (given triplets)"
    trained(plan(loss="triplet", convention=named, learning_rate=0.01), corpus())
    margin = number("triplet", "margin", named)

    def work(step):
        found = []
        for row in step.rows:
            anchor = step.vectors[row["sentence1"]]
            rated = list(zip(row["sentence2"], row["label"], strict=True))
            for positive in (text for text, label in rated if label >= 1.5):
                for negative in (text for text, label in rated if label < 1.5):
                    one, other = (
                        torch.nn.functional.pairwise_distance(anchor, step.vectors[text])
                        for text in (positive, negative)
                    )
                    found.append((one - other + margin).clamp_min(0))
        return torch.stack(found).mean()

    must_be_logged(steps, work)


@pytest.mark.parametrize("loss", ["info_nce+distill_kl", "cosent+list_net"])
def test_sums_learn_from_lists_too(loss, runs, trained):
    name = trained(plan(loss=loss), corpus())
    summary = runs.status(name).summary
    assert summary.examples.form == "lists"
    assert math.isfinite(summary.loss)
