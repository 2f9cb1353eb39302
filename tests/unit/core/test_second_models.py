"""A guide and a teacher: models that a loss asks beside the scenario's own encoder."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.export.caption import caption
from lossprism.explorer.export.code import package_code, standalone_code
from lossprism.explorer.export.drawing_data_of_exploration import describe_batch
from lossprism.explorer.lab.compare.loss_comparison import Side, compare
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders import EMBEDDED, encode, safe_model_loading
from lossprism.explorer.sources.random_batch import RandomBatch, draw
from lossprism.explorer.sources.textbook import load_example
from lossprism.losses.geometry import cosine_matrix
from tests.sentences import raises_problem
from tests.unit.export.explored import run_code

TWINS = Data(example="twins", encoder="all apart")
LISTS = Data(example="graded_lists")


def seen(data, loss="gist", **parameters):
    return explore(Scenario(data=data, loss=loss, parameters=tuple(parameters.items())))


@pytest.fixture
def no_model(monkeypatch):
    """No weights are read: the textbook's vectors come along."""

    def refuse(*_, **__):
        raise AssertionError("a model was loaded")

    monkeypatch.setattr(safe_model_loading, "open_model", refuse)


# The guide


def test_the_embedded_encoder_guides_a_textbook_example_of_another_encoder(no_model):
    found = seen(dataclasses.replace(TWINS, guide=EMBEDDED))
    batch, vectors = found.batch, torch.tensor(load_example("twins").vectors).double()
    queries, keys = (vectors[side[batch.positives]] for side in (batch.first, batch.second))
    guided = cosine_matrix(queries, keys)
    of_keys = found.trace.last("guided").value.double()[:, : len(keys)]  # then of negatives
    torch.testing.assert_close(of_keys, guided)
    too_near = guided > guided.diagonal()[:, None] + 1e-6
    assert too_near.any()
    assert (found.trace.last("terms").value[:, : len(keys)][too_near] == -torch.inf).all()
    assert found.trace.last("similarities").value.diagonal().max() == 0  # of its own encoder


def test_without_a_guide_the_batchs_own_vectors_are_constants():
    own, same = seen(Data(example="twins")), seen(Data(example="twins", guide=EMBEDDED))
    assert own.batch.guide is None
    assert same.loss == pytest.approx(own.loss, rel=1e-12)


def test_a_guide_moves_nothing_of_a_loss_that_asks_none():
    plain, guided = (
        seen(d, "info_nce") for d in (TWINS, dataclasses.replace(TWINS, guide=EMBEDDED))
    )
    assert guided.loss == plain.loss


@pytest.mark.encoder
def test_typed_pairs_have_a_guide():
    rows = tuple((f"cat {k}", f"a cat, {k}", "") for k in range(6))
    data = Data(source="table", rows=rows, encoder="all apart", guide=EMBEDDED)
    batch = make_batch(data, Rules())
    np.testing.assert_allclose(batch.guide, encode(batch.pairs.sentences), atol=1e-6)


@pytest.mark.parametrize("example", ["cosent_batch", "worked_example"])
def test_what_only_names_numbers_is_shown_to_no_second_model(example):
    data = Data(example=example, guide=EMBEDDED, teacher_model=EMBEDDED)
    batch = make_batch(data, Rules())
    assert (batch.guide, batch.teacher) == (None, None)


def test_a_random_batch_draws_a_guide_that_knows_the_right_levels():
    settings = RandomBatch(pairs=64, guide=1.0, labels="continuous", candidates=2)
    pairs, plain = draw(settings), draw(dataclasses.replace(settings, guide=0.0))
    assert plain.guide is None
    np.testing.assert_array_equal(pairs.vectors, plain.vectors)  # the batch is what it was
    first, second = pairs.positions
    cosines = (pairs.guide[first] * pairs.guide[second]).sum(axis=1)
    levels = (np.array(pairs.teacher) + 5) / 10
    np.testing.assert_allclose(cosines, -0.1 + levels, atol=1e-4)
    np.testing.assert_array_equal(pairs.at([5, 6]).guide, pairs.guide[[6, 8, 9, 10]])


def test_a_guide_is_named_in_the_caption():
    own = " ".join(caption(seen(Data(example="twins"))))
    named = " ".join(caption(seen(dataclasses.replace(TWINS, guide=EMBEDDED))))
    drawn = " ".join(caption(seen(Data(source="random", random=RandomBatch(guide=0.8)))))
    assert say("en", "ui.guide_own") in own
    assert say("en", "ui.guide_now", name=EMBEDDED) in named
    assert say("en", "ui.guide_drawn", agreement=0.8) in drawn
    assert "Guide" not in " ".join(caption(seen(TWINS, "info_nce")))
    assert f"教师：{EMBEDDED}" in " ".join(
        caption(seen(dataclasses.replace(LISTS, teacher_model=EMBEDDED), "distill_kl"), "zh")
    )


@pytest.mark.parametrize("write", [standalone_code, package_code])
@pytest.mark.parametrize("from_files", [False, True])
def test_exported_code_brings_the_guide_along(write, from_files, tmp_path, capsys):
    found = seen(dataclasses.replace(TWINS, guide=EMBEDDED))
    code = write(found, from_files=from_files)
    assert ("guide_queries.csv" in code.beside) == from_files
    run_code(code, tmp_path)
    assert float(capsys.readouterr().out) == pytest.approx(found.loss, rel=1e-9)


def test_compare_puts_both_sides_under_the_guide():
    scenario = Scenario(data=dataclasses.replace(TWINS, guide=EMBEDDED))
    both = compare(scenario, [Side("gist"), Side("info_nce")])
    assert both.sides[0].figures.loss == seen(scenario.data).loss


# The teacher


@pytest.mark.encoder
def test_an_encoder_teaches_by_its_cosines():
    data = dataclasses.replace(LISTS, encoder="all apart", teacher_model=EMBEDDED)
    batch, own = make_batch(data, Rules()), make_batch(LISTS, Rules())
    torch.testing.assert_close(batch.teacher, own.scores, rtol=0, atol=1e-5)
    assert not torch.allclose(own.teacher, batch.teacher)  # it took the place of the column's
    assert seen(data, "distill_kl").loss > 0
    assert describe_batch(batch)["taught"]


def test_a_teacher_that_lacks_some_pairs_is_distinguished_from_none():
    pairs = load_example("graded_lists")
    taught = tuple(row for place, row in enumerate(pairs.taught_rows) if place not in (5, 9))
    data = Data(source="table", rows=pairs.rows, teacher=taught, encoder="all apart")
    for loss in ("distill_kl", "margin_mse"):
        with raises_problem("teacher_incomplete", without=2, count=30) as refused:
            seen(data, loss)
        assert refused.value.about == "teacher"
        assert shortened(pairs.first[5]) in str(refused.value)
        assert shortened(pairs.second[5]) in str(refused.value)
    left_out = tuple((pairs.first[place], pairs.second[place], "") for place in (5, 9))
    assert len(seen(dataclasses.replace(data, corrections=left_out), "distill_kl").batch) == 28
    with raises_problem("no_teacher"):
        seen(dataclasses.replace(data, teacher=()), "distill_kl")


def test_a_teacher_makes_margins_where_there_was_none():
    triplets = Data(example="nli_triplets")
    with raises_problem("no_teacher") as refused:
        seen(triplets, "margin_mse")
    assert refused.value.about == "teacher"
    taught = seen(dataclasses.replace(triplets, teacher_model="all alike"), "margin_mse")
    assert taught.trace.last("loss").value > 0
    assert (taught.given["teacher_margins"] == 0).all()


@pytest.mark.encoder
def test_a_teachers_vectors_are_those_of_an_encoder_of_the_same_dimension():
    with raises_problem("no_teacher_vectors") as none:
        seen(LISTS, "embedding_mse")  # its column has a teacher's scores
    assert none.value.about == "teacher_vectors"
    taught = seen(dataclasses.replace(LISTS, teacher_model=EMBEDDED), "embedding_mse")
    assert taught.loss == pytest.approx(0, abs=1e-9)
    assert taught.collapse > taught.floor == 0
    with raises_problem("teacher_width", teacher=5, width=384):
        seen(dataclasses.replace(LISTS, teacher_model="all alike 5"), "embedding_mse")
    assert EMBEDDED in " ".join(caption(taught))


def test_a_drawn_teacher_has_the_cosine_of_every_level():
    """Its vectors are the batch's own but for what is not of the label's level."""
    chosen = RandomBatch(pairs=40, agreement=1.0, mislabelled=0.0, hard_negatives=0.0)
    assert seen(Data(source="random", random=chosen), "embedding_mse").loss == 0
    wrong = dataclasses.replace(chosen, hard_negatives=1.0)
    found = seen(Data(source="random", random=wrong), "embedding_mse")
    errors = found.trace.last("errors").value
    assert 0 < int(errors.any(dim=1).sum()) < len(found.batch)  # second sentences alone


# What cannot be used


@pytest.mark.parametrize(
    ("chosen", "about"),
    [({"guide": "/no/such"}, "guide"), ({"teacher_model": "/no/such"}, "teacher")],
)
def test_an_unusable_model_is_reported_with_its_role(chosen, about):
    with raises_problem("encoder_folder_missing", encoder="/no/such") as refused:
        make_batch(dataclasses.replace(TWINS, **chosen), Rules())
    assert refused.value.about == about


def test_a_hosted_page_reads_no_second_model_of_its_computer(monkeypatch, tmp_path):
    monkeypatch.setenv(HOSTED, "1")
    for name in (str(tmp_path), str(tmp_path / "step.safetensors")):
        for chosen in ({"guide": name}, {"teacher_model": name}):
            with pytest.raises(Problem) as refused:
                make_batch(dataclasses.replace(TWINS, **chosen), Rules())
            assert refused.value.key == "problem.encoder_local_refused"
