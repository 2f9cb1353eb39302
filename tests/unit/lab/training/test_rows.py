"""Lists, a teacher and given negatives: what the trainer is given of them, and that the loss that
is logged is the loss of that batch, worked out here from the vectors alone."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass

import pytest
import torch

from explorer.lab.training import data, takeaway
from explorer.lab.training.data import Corpus
from explorer.lab.training.plan import SCRATCH, TrainingData, TrainingPlan
from explorer.lab.training.recorder import Recorder
from explorer.lab.training.rows import Material, columns_for, examples, form_of, pairs_in
from losses import LOSSES
from losses.geometry import cosine
from losses.labels import LabelRules
from tests.tiny import save_bert, sentence

SMALL = {"encoder": SCRATCH, "dimension": 8, "steps": 2, "batch_size": 3, "evaluations": 1}
RULES = LabelRules(1.5, (0.0, 3.0))
ON_LISTS = [
    n for n, spec in LOSSES.items() if "lists" in spec.needs and "teacher" not in spec.needs
]


def plan(**chosen):
    return TrainingPlan(**{**SMALL, **chosen})


def distinct(count, seed=2):
    draw, found = random.Random(seed), {}
    while len(found) < count:
        found[sentence(draw)] = None
    return list(found)


def graded(count=14, seed=2):
    """Lists of two to four graded candidates, and a query with one alone; each with a teacher."""
    draw, texts = random.Random(seed), distinct(5 * count + 2, seed)
    pairs = []
    for query in texts[:count]:
        size = draw.randrange(2, 5)
        labels = [3.0, 0.0, *(float(draw.randrange(4)) for _ in range(size - 2))]
        pairs += [(query, texts[count + len(pairs) + n], label) for n, label in enumerate(labels)]
    pairs.insert(1, (texts[-2], texts[-1], 2.0))  # between the candidates of another query
    return tuple(pairs), tuple(round(draw.gauss(0, 3), 2) for _ in pairs)


def corpus(count=14):
    pairs, teacher = graded(count)
    held = [
        place for place, (first, *_) in enumerate(pairs) if first in {pairs[-1][0], pairs[-5][0]}
    ]
    kept = [place for place in range(len(pairs)) if place not in held]
    return Corpus(
        tuple(pairs[p] for p in kept),
        tuple(pairs[p] for p in held),
        teacher=tuple(teacher[p] for p in kept),
        held_out_teacher=tuple(teacher[p] for p in held),
    )


def triplets(negatives, count=16, seed=4):
    """Anchor, positive and so many negatives, the negatives of one row each with a teacher."""
    texts, draw = distinct(count * (2 + max(negatives))), random.Random(seed)
    pairs = []
    for row in range(count):
        anchor, positive, *others = (
            texts.pop() for _ in range(2 + negatives[row % len(negatives)])
        )
        pairs += [(anchor, positive, 1.0), *((anchor, other, 0.0) for other in others)]
    cut = next(p for p in range(len(pairs)) if pairs[p][2] == 1 and p > 3 * len(pairs) // 4)
    teacher = tuple(draw.gauss(0, 2) for _ in pairs)
    return Corpus(
        tuple(pairs[:cut]),
        tuple(pairs[cut:]),
        teacher=teacher[:cut],
        held_out_teacher=teacher[cut:],
        triplets=True,
    )


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
            found.append(
                Step(rows, float(value.detach()), {}, dict(zip(pairs, scores, strict=True)))
            )
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
                scores[place, at] = float(step.scores[pair])
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
    summary = runs.status(name)["summary"]
    assert summary["examples"] == {"form": "lists", "count": 12}
    for when in ("before", "after"):
        assert summary[when]["lists"]["count"] == 2
        assert 0 < summary[when]["lists"]["ndcg_at_10"] <= 1
        assert 0 < summary[when]["lists"]["mrr_at_10"] <= 1


@pytest.mark.parametrize("kind", ["bi", "cross"])
def test_distillation_learns_the_teacher_of_the_file(kind, still, runs, trained, steps):
    chosen = {"kind": "cross", "encoder": still} if kind == "cross" else {}
    trained(plan(loss="distill_kl", learning_rate=0.01, **chosen), corpus())

    def work(step):
        scores, _, teacher, mask = by_hand(step)
        return LOSSES["distill_kl"].function(scores, teacher, mask=mask)

    must_be_logged(steps, work)
    known = dict(zip(((a, b) for a, b, _ in corpus().train), corpus().teacher, strict=True))
    for row in steps[0].rows:
        told = [known[row["sentence1"], text] for text in row["sentence2"]]
        assert [score for _, score in row["label"]] == told


@pytest.mark.parametrize("kind", ["bi", "cross"])
@pytest.mark.parametrize("pairs", [corpus(), triplets((1,)), triplets((3,)), triplets((1, 3))])
def test_margins_are_the_teachers_of_each_positive_over_each_negative(
    pairs, kind, still, runs, trained, steps
):
    chosen = {"kind": "cross", "encoder": still} if kind == "cross" else {}
    name = trained(plan(loss="margin_mse", learning_rate=0.01, **chosen), pairs)
    threshold = runs.status(name)["summary"]["threshold"]

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
    temperature = LOSSES["info_nce"].defaults["temperature"]
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
    assert runs.status(name)["summary"]["examples"] == {"form": "triplets", "count": 13}
    assert len(texts_of(steps[0].rows[0])) == 2 + negatives[0]


def test_rows_with_more_or_fewer_negatives_are_a_triplet_for_each(runs, trained, steps):
    trained(plan(loss="info_nce", learning_rate=0.01), triplets((1, 3)))
    must_be_logged(steps, info_nce)


def test_a_convention_on_given_triplets_takes_those_of_lists(runs, trained, steps):
    named = "torch 2.13 TripletMarginLoss (given triplets)"
    trained(plan(loss="triplet", convention=named, learning_rate=0.01), corpus())
    margin = {p.name: p.default for p in LOSSES["triplet"].under(named).parameters}["margin"]

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
    summary = runs.status(name)["summary"]
    assert summary["examples"]["form"] == "lists"
    assert math.isfinite(summary["loss"])


# What is made of a file


def file_of(tmp_path, rows):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return TrainingData(source="file", file=str(path))


def test_lists_and_their_teacher_stay_together(tmp_path):
    rows = [
        {"query": f"q {i // 3}", "passage": f"p {i}", "score": i % 3, "teacher": i / 2}
        for i in range(60)
    ]
    found = data.load(plan(loss="distill_kl", data=file_of(tmp_path, rows)))
    assert not found.triplets
    assert {len(places) for places in found.material.lists} == {3}
    assert len(found.train) == len(found.teacher)
    for side, teacher in ((found.train, found.teacher), (found.held_out, found.held_out_teacher)):
        for (_, second, _), score in zip(side, teacher, strict=True):
            assert score == int(second[2:]) / 2
    assert not {a for a, *_ in found.train} & {a for a, *_ in found.held_out}
    varied = data.load(
        plan(
            loss="list_net",
            data=TrainingData(source="file", file=found_file(tmp_path), augment=("reorder",)),
        )
    )
    assert {len(places) for places in varied.material.lists} == {3}


def found_file(tmp_path):
    """Queries long enough to be varied."""
    path = tmp_path / "long.jsonl"
    words = "one two three four five six"
    rows = [{"query": f"{words} {i // 3}", "passage": f"p {i}", "score": i % 3} for i in range(60)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("count", [1, 2])
def test_rows_of_triplets_stay_rows(tmp_path, count):
    rows = [
        {
            "anchor": f"a {i // 2}",  # two rows each
            "positive": f"p {i}",
            **{f"negative_{n}": f"n {i} {n}" for n in range(1, count + 1)},
            "margins": [float(i + n) for n in range(1, count + 1)],
        }
        for i in range(40)
    ]
    found = data.load(plan(loss="info_nce", data=file_of(tmp_path, rows)))
    assert found.triplets
    columns = columns_for(plan(loss="info_nce"), found.material, RULES)
    for anchor, positive, *negatives in zip(*columns.values(), strict=True):
        row = int(positive[2:])
        assert anchor == f"a {row // 2}"
        assert negatives == [f"n {row} {n}" for n in range(1, count + 1)]
    # A teacher's margins are over the positive of their own row.
    lists = columns_for(plan(loss="margin_mse"), found.material, RULES)
    for seconds, labels in zip(lists["sentence2"], lists["label"], strict=True):
        row = int(seconds[0][2:])
        assert labels == [[1, 0], *([0, -float(row + n)] for n in range(1, count + 1))]


def test_which_rows_a_loss_is_given():
    listed, given = corpus().material, triplets((2,)).material
    forms = {
        "cosent": ("pairs", "pairs"),
        "contrastive": ("pairs", "pairs"),
        "nt_xent": ("pairs", "pairs"),
        "info_nce": ("pairs", "triplets"),
        "supcon": ("pairs", "triplets"),
        "arcface": ("classes", "classes"),
        "list_net": ("lists", "lists"),
        "margin_mse": ("lists", "lists"),
    }
    for loss, (of_lists, of_triplets) in forms.items():
        assert form_of(plan(loss=loss), listed) == of_lists
        assert form_of(plan(loss=loss), given) == of_triplets
        for material in (listed, given):
            columns = columns_for(plan(loss=loss), material, RULES)
            assert {len(column) for column in columns.values()} == {
                examples(plan(loss=loss), material)
            }
    assert pairs_in(
        plan(loss="list_net"), Material([("a", "b", 1.0)] * 3 + [("c", "d", 0.0)] * 2)
    ) == (2.5, 3)
    assert pairs_in(plan(loss="info_nce"), given) == (3, 3)


# What cannot be learnt


def whys(pairs, **chosen):
    return {name: why and why.key for name, why in data.losses_for(plan(**chosen), pairs).items()}


def test_what_lacks_is_named_and_what_is_there_is_learnt_from():
    whole = corpus()
    assert not {n for n in LOSSES if whys(whole)[n]}
    crossed = whys(whole, kind="cross", encoder="all-MiniLM-L6-v2")
    assert {n for n, why in crossed.items() if not why} >= {*ON_LISTS, "margin_mse", "distill_kl"}
    untaught = whys(Corpus(whole.train, whole.held_out))
    assert untaught["margin_mse"] == untaught["distill_kl"] == "problem.training_needs_teacher"
    assert untaught["list_net"] is None
    gap = Corpus(whole.train, whole.held_out, teacher=_without_one_each(whole))
    assert whys(gap)["distill_kl"] == "problem.training_teacher_gaps"
    apart = tuple((f"{a} {i}", b, c) for i, (a, b, c) in enumerate(whole.train))
    alone = Corpus(apart, whole.held_out, teacher=whole.teacher)
    found = whys(alone)
    assert found["list_net"] == found["margin_mse"] == "problem.training_needs_lists"
    queries = sorted({first for first, *_ in whole.train})
    sided = tuple((a, b, 3.0 * (queries.index(a) % 2)) for a, b, _ in whole.train)
    lone = Corpus(sided, whole.held_out, teacher=(1.0,) * len(sided))
    assert whys(lone)["margin_mse"] == "problem.training_lists_one_side"
    assert whys(lone)["distill_kl"] is None


def _without_one_each(whole):
    left = {places[0] for places in whole.material.lists}
    return tuple(math.nan if p in left else score for p, score in enumerate(whole.teacher))


# Folders


def test_a_folder_of_before_learns_as_it_did(runs):
    """It knows of no teacher, and of triplets only the pairs that they make."""
    run = runs.prepare(plan(), triplets((2,)))
    config = run.read("config.json")
    del config["triplets"]
    run.write("config.json", config)
    run.write_pairs("train.jsonl", triplets((2,)).train)
    found = data.material_of(run)
    assert found.teacher is None
    assert tuple(found.pairs) == triplets((2,)).train
    assert form_of(plan(loss="info_nce"), found) == "pairs"


def test_a_folder_keeps_what_a_teacher_gave_and_left_out(runs):
    whole = corpus()
    kept = Corpus(whole.train, whole.held_out, teacher=_without_one_each(whole))
    run = runs.prepare(plan(), kept)
    found = data.material_of(run)
    assert tuple(found.pairs) == kept.train
    assert [str(score) for score in found.teacher] == [str(score) for score in kept.teacher]
    assert run.read_teacher("held_out.jsonl") is None


def test_the_card_and_the_script_say_what_a_batch_counts(runs, trained):
    name = trained(plan(loss="list_net"), corpus())
    readme = (runs.folder(name).model / "README.md").read_text(encoding="utf-8")
    assert "| Steps | 2 of 3 lists |" in readme
    assert "| Examples | 12 lists |" in readme
    code = takeaway.script(runs, name)
    assert "trainer.data_collator = whole_lists(trainer.data_collator)" in code
    rows = takeaway._examples(plan(loss="list_net"), runs.folder(name)).splitlines()
    assert len(rows) == 12
    assert isinstance(json.loads(rows[0])["sentence2"], list)


def test_the_probe_batch_of_a_run_has_lists_and_their_teacher(runs, trained):
    from explorer.core.scenario import Scenario
    from explorer.lab.training import moved

    name = trained(plan(loss="distill_kl"), corpus())
    probe = runs.probe(name)
    assert len(probe["teacher"]) == len(probe["first"]) == len(corpus().held_out)
    found = moved.exploration(runs, name, 2, Scenario(loss="distill_kl"))
    assert math.isfinite(found.loss)
