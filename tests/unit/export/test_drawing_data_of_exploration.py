"""A picture is what the exploration says, arranged and packed."""

from __future__ import annotations

import base64
import dataclasses
import json
import math

import numpy as np
import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario, View
from lossprism.explorer.export.caption import caption
from lossprism.explorer.export.drawing_data_of_exploration import describe_batch, picture
from lossprism.explorer.export.matrix_thumbnails import thumbnails
from lossprism.explorer.export.trainer_program import literal_rows, step_program
from lossprism.explorer.runtime.base64_arrays import packed
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from tests.scenes import data_for

RANDOM = Data(source="random", random=RandomBatch(pairs=20, dimension=8, seed=1))


def drawn(loss="cosent", data=RANDOM, **view):
    found = explore(Scenario(data=data_for(loss, data), loss=loss, view=View(**view)))
    return found, plain(picture(found))


def unpacked(text, kind=np.float32):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def matrix(shown, what="value", kind=np.float32):
    return unpacked(shown[what], kind).reshape(shown["rows"], shown["columns"])


@pytest.mark.parametrize("loss", LOSSES)
def test_it_is_strict_json(loss):
    found, made = drawn(loss)
    text = json.dumps(dataclasses.asdict(picture(found)), allow_nan=False)
    assert json.loads(text)["steps"][made["chosen"]]["name"] == made["shown"]["name"]


@pytest.mark.thorough
@pytest.mark.parametrize("loss", LOSSES)
def test_every_step_can_be_shown(loss):
    found, made = drawn(loss)
    for place, step in enumerate(made["steps"]):
        _, again = drawn(loss, step=place, order="entry")
        shown = again["shown"]
        value = [*found.trace.inputs, *found.trace.steps][place].value
        assert shown["all_rows"] * shown["all_columns"] == value.numel(), step["name"]
        expected = value.reshape(shown["all_rows"], shown["all_columns"]).float().numpy()
        np.testing.assert_array_equal(matrix(shown), expected[: shown["rows"], : shown["columns"]])


@pytest.mark.parametrize("order", ["entry", "label", "score"])
def test_rows_and_columns_are_arranged_as_their_items_say(order):
    found, made = drawn(order=order)
    shown = made["shown"]
    rows, columns = shown["row_axis"]["items"], shown["column_axis"]["items"]
    terms = found.trace.last("terms").value.float().numpy()
    np.testing.assert_array_equal(matrix(shown), terms[np.ix_(rows, columns)])
    gradient = found.trace.last("terms").gradient.float().numpy()
    np.testing.assert_array_equal(matrix(shown, "gradient"), gradient[np.ix_(rows, columns)])
    by = {
        "entry": np.arange(20),
        "label": found.batch.labels.numpy(),
        "score": found.batch.scores.numpy(),
    }[order]
    assert (np.diff(by[rows]) >= 0).all()
    assert sorted(rows) == list(range(20))


def test_the_mask_marks_the_absent_cells():
    _, made = drawn()
    mask = matrix(made["shown"], "mask", np.uint8)
    np.testing.assert_array_equal(mask == 0, np.isneginf(matrix(made["shown"])))


def test_weights_are_shares():
    _, made = drawn()
    assert matrix(made["shown"], "weight").sum() == pytest.approx(1, rel=1e-5)


def test_a_vector_is_a_strip_and_a_scalar_a_number():
    _, made = drawn(step=0)
    assert (made["shown"]["rows"], made["shown"]["columns"]) == (1, 20)
    assert "value" in made["steps"][-1]
    assert "thumbnail" not in made["steps"][-1]


def test_thumbnails_of_large_matrices_are_small_and_keep_the_mask():
    data = Data(source="random", random=RandomBatch(pairs=200, dimension=8))
    _, made = drawn(data=data)
    thumb = made["steps"][made["chosen"]]["thumbnail"]
    assert (thumb["rows"], thumb["columns"]) == (56, 56)
    shades = unpacked(thumb["data"], np.uint8).reshape(56, 56)
    assert (shades[-1, :20] == 255).all()  # highest labels below nothing: masked
    assert (shades[0, 40:] < 254).all()


@pytest.mark.parametrize("side", [5, 80])
def test_thumbnails_drawn_together_are_those_drawn_alone(side):
    generator = torch.Generator().manual_seed(3)
    plain = torch.randn(side, side, generator=generator)
    holes = plain.masked_fill(plain > 1, -math.inf)
    broken = holes.masked_fill(plain < -2, math.nan)
    empty = torch.full_like(plain, -math.inf)
    matrices = [(plain, True), (plain.abs(), False), (holes, True), (broken, True)]
    matrices += [(empty, False), (plain > 0, False)]
    together = thumbnails(matrices)
    for one, result in zip(matrices, together, strict=True):
        assert thumbnails([one]) == [result]


def test_a_thumbnail_distinguishes_values_masks_and_invalid_numbers():
    rows = [[-2.0, 0.0, 1.0], [-math.inf, math.nan, math.inf]]
    (signed,) = thumbnails([(torch.tensor(rows), True)])
    assert (signed.low, signed.high) == (-2, 2)
    shades = unpacked(signed.data, np.uint8).reshape(2, 3)
    np.testing.assert_array_equal(shades, [[0, 126, 190], [255, 254, 254]])
    (plain,) = thumbnails([(torch.tensor(rows), False)])
    shades = unpacked(plain.data, np.uint8).reshape(2, 3)
    np.testing.assert_array_equal(shades, [[0, 169, 253], [255, 254, 254]])


def thumbnail(made, name):
    return next(step["thumbnail"] for step in made["steps"] if step["name"] == name)


def test_zero_stays_the_middle_of_what_has_a_sign_whatever_the_values():
    given = Data(example="cosent_batch")  # all its terms lie below 0, all its scores above
    _, made = drawn(data=given)
    assert made["shown"]["signed"]
    for name in ("scores", "scaled", "differences", "terms"):
        drawing = thumbnail(made, name)
        assert drawing["signed"]
        assert drawing["low"] == -drawing["high"] < 0
    labels = thumbnail(made, "labels")
    assert (labels["signed"], labels["low"], labels["high"]) == (False, 0, 1)
    rows = tuple((f"a{i}", f"b{i}", str(label)) for i, label in enumerate((-1, 0, 1)))
    _, made = drawn(data=Data(source="table", rows=rows))
    assert thumbnail(made, "labels")["signed"]  # as the user says


@pytest.mark.parametrize("loss", LOSSES)
def test_no_parameter_changes_the_palette_of_a_step(loss):
    def scales(parameters):
        data = data_for(loss, RANDOM)
        made = plain(picture(explore(Scenario(data=data, loss=loss, parameters=parameters))))
        return {
            step["name"]: step["thumbnail"]["signed"]
            for step in made["steps"]
            if "thumbnail" in step
        }

    usual = scales(())
    for parameter in LOSSES[loss].parameters:
        if parameter.kind != "number":
            continue
        for value in (parameter.minimum or parameter.step, parameter.maximum):
            found = scales(((parameter.name, value),))
            both = found.keys() & usual.keys()  # a parameter may bring steps with it
            assert {name: found[name] for name in both} == {name: usual[name] for name in both}


# What S0 prints for its batch: scores 0.1, 0.2, 0.8, 0.9 with labels 0, 0, 1, 1 at λ = 20.
PRINTED = {
    "scaled": [[2, 4, 16, 18]],
    "differences": [[0, -2, -14, -16], [2, 0, -12, -14], [14, 12, 0, -2], [16, 14, 2, 0]],
    "ordered": [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]],
    "terms": [
        [-np.inf, -np.inf, -14, -16],
        [-np.inf, -np.inf, -12, -14],
        [-np.inf, -np.inf, -np.inf, -np.inf],
        [-np.inf, -np.inf, -np.inf, -np.inf],
    ],
}


@pytest.mark.parametrize("name", PRINTED)
def test_the_textbook_batch_shows_the_intermediates_of_its_source(name):
    _, made = drawn(data=Data(example="cosent_batch"))
    place = [step["name"] for step in made["steps"]].index(name)
    _, made = drawn(data=Data(example="cosent_batch"), step=place, order="entry")
    np.testing.assert_allclose(matrix(made["shown"]), PRINTED[name], atol=1e-5)


def test_the_textbook_batch_has_the_loss_of_its_source():
    """torch.logsumexp(torch.tensor([0, -14, -16, -12, -14]), dim=0)"""
    _, made = drawn(data=Data(example="cosent_batch"))
    printed = torch.tensor([0, -14, -16, -12, -14], dtype=torch.float64).logsumexp(0)
    assert made["figures"]["loss"] == pytest.approx(float(printed), rel=1e-6)


def test_levels_are_stacked_as_rows():
    _, made = drawn("hierarchical_cosent")
    assert made["shown"]["all_rows"] == 60
    assert made["shown"]["row_axis"]["pairs"][:20] == made["shown"]["column_axis"]["items"]


def test_heavy_terms_name_the_pairs_of_their_cell():
    found, made = drawn()
    for term, message in zip(found.heaviest, made["heaviest"], strict=True):
        assert [item["pair"] for item in message["items"]] == list(term.cell)


def test_packing_is_little_endian_float32():
    assert unpacked(packed(torch.tensor([1.0, -2.5]))).tolist() == [1.0, -2.5]


def test_the_batch_is_described_with_its_sentences_untouched():
    found, _ = drawn(data=Data(example="graded_chinese"))
    description = describe_batch(found.batch)
    assert description["first"] == found.batch.pairs.first
    assert description["positives"] + description["negatives"] == len(found.batch)
    assert dataclasses.asdict(found.scenario.data)["example"] == "graded_chinese"


def test_an_example_names_the_encoder_that_made_its_vectors():
    """In captions; a training script is not written for a model that the trainer cannot load."""
    brought, _ = drawn(data=Data(example="graded_chinese_multilingual"))
    assert any("multilingual-e5-small" in line for line in caption(brought))
    assert step_program(brought, literal_rows) is None
    own, _ = drawn(data=Data(example="graded_chinese"))
    assert any("all-MiniLM-L6-v2" in line for line in caption(own))
    assert step_program(own, literal_rows) is not None
    chosen = Data(example="graded_chinese_multilingual", encoder="all apart")
    assert any("all apart" in line for line in caption(drawn(data=chosen)[0]))


def test_marked_pairs_have_their_share_of_the_gradient():
    """Those that the batch has not are left out; two equal scores of equal labels have none."""

    def share(marked, **chosen):
        return picture(explore(Scenario(view=View(marked=marked), **chosen))).figures.marked_share

    sizes = explore(Scenario()).pair_gradient.abs()
    assert share((6, 14, 99, -1)) == pytest.approx(float((sizes[6] + sizes[14]) / sizes.sum()))
    assert share(tuple(range(24))) == pytest.approx(1)
    assert share(()) is None
    assert share((99,)) is None
    even = Data(source="table", rows=(("a", "b", "1"), ("c", "d", "1")))
    assert share((0,), data=even) == "nan"
