"""What the trainer is given of lists, a teacher and triplets; what is refused, and what is kept."""

from __future__ import annotations

import json
import math

import pytest

from lossprism.explorer.lab.training import data, run_downloads
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.loss_refusal_reasons import checked_corpus, losses_for
from lossprism.explorer.lab.training.plan import TrainingData
from lossprism.explorer.lab.training.trainer_rows import (
    Material,
    columns_for,
    examples,
    form_of,
    pairs_in,
)
from lossprism.losses.labels import LabelRules
from tests.unit.lab.training.taught import ON_LISTS, corpus, plan, taught_by, triplets

RULES = LabelRules(1.5, (0.0, 3.0))


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
    found = checked_corpus(plan(loss="distill_kl", data=file_of(tmp_path, rows)))
    assert not found.triplets
    assert {len(places) for places in found.material.lists} == {3}
    assert len(found.train) == len(taught_by(found))
    for side, teacher in (
        (found.train, taught_by(found)),
        (found.held_out, taught_by(found, True)),
    ):
        for (_, second, _), score in zip(side, teacher, strict=True):
            assert score == int(second[2:]) / 2
    assert not {a for a, *_ in found.train} & {a for a, *_ in found.held_out}
    varied = checked_corpus(
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
    found = checked_corpus(plan(loss="info_nce", data=file_of(tmp_path, rows)))
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
    return {name: why and why.key for name, why in losses_for(plan(**chosen), pairs).items()}


def test_what_lacks_is_named_and_what_is_there_is_learnt_from():
    whole = corpus()
    unable = {n: why for n, why in whys(whole).items() if why}
    assert unable == {"embedding_mse": "problem.training_needs_teacher_vectors"}
    named = data.under_teacher(plan(teacher_model="all-MiniLM-L6-v2"), whole)
    assert not any(whys(named).values())
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
    return tuple(math.nan if p in left else score for p, score in enumerate(taught_by(whole)))


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
    assert list(map(str, found.teacher or ())) == list(map(str, taught_by(kept)))
    assert run.read_scored("held_out.jsonl")[1] is None


def test_the_card_and_the_script_say_what_a_batch_counts(runs, trained):
    name = trained(plan(loss="list_net"), corpus())
    readme = (runs.folder(name).model / "README.md").read_text(encoding="utf-8")
    assert "| Steps | 2 of 3 lists |" in readme
    assert "| Examples | 12 lists |" in readme
    code = run_downloads.script(runs, name)
    assert "trainer.data_collator = whole_lists(trainer.data_collator)" in code
    rows = run_downloads._examples(plan(loss="list_net"), runs.folder(name)).splitlines()
    assert len(rows) == 12
    assert isinstance(json.loads(rows[0])["sentence2"], list)


def test_the_probe_batch_of_a_run_has_lists_and_their_teacher(runs, trained):
    from lossprism.explorer.core.scenario import Scenario
    from lossprism.explorer.lab.training.probe_batch_exploration import (
        probe_exploration,
    )

    name = trained(plan(loss="distill_kl"), corpus())
    probe = runs.probe(name)
    assert len(probe.teacher) == len(probe.first) == len(corpus().held_out)
    found = probe_exploration(runs, name, 2, Scenario(loss="distill_kl"))
    assert math.isfinite(found.loss)
