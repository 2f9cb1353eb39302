"""A trainer's batch, whose texts are known by their tokens alone."""

from __future__ import annotations

import pytest
import torch
from sentence_transformers import SentenceTransformer

from lossprism import losses
from lossprism.losses import LOSSES
from lossprism.losses.sentence_transformers import training_loss
from lossprism.losses.sentence_transformers.duplicate_texts import special_tokens, text_numbers
from tests.tiny import save_bert, static_model

FIRST = ["cat", "dog sleeps", "sun shines hot", "red"]
# Row 0's key is row 3's query, rows 1 and 2 have one key.
SECOND = ["red", "old dog", "old dog", "big cat runs"]
THIRD = ["cat", "small", "old dog", "hot hot"]
READING = [name for name, spec in LOSSES.items() if spec.reads_texts]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    bert = SentenceTransformer(save_bert(tmp_path_factory.mktemp("bert")), device="cpu")
    return {"bert": bert.eval(), "static": static_model()}


@pytest.fixture(params=["bert", "static"])
def model(request, models):
    return models[request.param]


def numbers_of(*columns):
    known = {}
    return [
        torch.tensor([known.setdefault(text, len(known)) for text in column]) for column in columns
    ]


def vectors_of(model, *columns):
    with torch.no_grad():
        return [
            torch.tensor(model.encode(list(column), convert_to_numpy=True)) for column in columns
        ]


@pytest.mark.parametrize("name", READING)
def test_the_keys_of_the_same_text_are_left_out(model, name):
    columns = [model.preprocess(column) for column in (FIRST, SECOND)]
    loss = training_loss(name)(model, twins="leave_out")
    queries, keys = vectors_of(model, FIRST, SECOND)
    of_queries, of_keys = numbers_of(FIRST, SECOND)
    texts = {"query_texts": of_queries, "key_texts": of_keys}
    expected = LOSSES[name].function(queries, keys, **texts)
    assert loss(columns).item() == pytest.approx(float(expected), rel=1e-4)
    kept = training_loss(name)(model)([model.preprocess(column) for column in (FIRST, SECOND)])
    assert kept.item() == pytest.approx(float(LOSSES[name].function(queries, keys)), rel=1e-4)
    assert kept.item() != pytest.approx(float(expected), rel=1e-3)


def test_negatives_of_every_row_are_left_out_too(model):
    columns = [model.preprocess(column) for column in (FIRST, SECOND, THIRD)]
    found = training_loss("info_nce")(model, twins="leave_out")(columns)
    queries, keys, negatives = vectors_of(model, FIRST, SECOND, THIRD)
    of_queries, of_keys, of_others = numbers_of(FIRST, SECOND, THIRD)
    expected = losses.info_nce(
        queries,
        keys,
        negatives=negatives,
        query_texts=of_queries,
        key_texts=of_keys,
        negative_texts=of_others,
    )
    assert found.item() == pytest.approx(float(expected), rel=1e-4)


def test_pairs_below_the_threshold_are_negatives_with_texts():
    model = static_model()
    labels = torch.tensor([1.0, 1.0, 0.0, 0.0])
    loss = training_loss("info_nce")(model, twins="leave_out")
    found = loss([model.preprocess(column) for column in (FIRST, SECOND)], labels)
    queries, keys = vectors_of(model, FIRST, SECOND)
    of_queries, of_keys = numbers_of(FIRST, SECOND)
    expected = losses.info_nce(
        queries[:2],
        keys[:2],
        negatives=keys[2:],
        query_texts=of_queries[:2],
        key_texts=of_keys[:2],
        negative_texts=of_keys[2:],
    )
    assert found.item() == pytest.approx(float(expected), rel=1e-4)


def test_padding_prompts_and_marks_are_no_part_of_a_text(models):
    model = models["bert"]
    apart = special_tokens(model)
    short = text_numbers(model.preprocess(["cat"]), apart)
    among_long = text_numbers(model.preprocess(["cat", "old red dog runs runs"]), apart)
    prompted = text_numbers(model.preprocess(["cat"], prompt="big "), apart)
    assert short[0] == among_long[0] != among_long[1]
    assert short[0] == prompted[0]
    # A word that the model does not know stays a part of the text.
    unknown = text_numbers(model.preprocess(["cat", "cat zebra"]), apart)
    assert unknown[0] != unknown[1]


def test_a_static_embedding_has_its_texts_one_after_the_other(models):
    model = models["static"]
    found = text_numbers(model.preprocess(["cat dog", "cat", "cat  dog"]), special_tokens(model))
    assert found[0] == found[2] != found[1]


def test_a_loss_that_reads_no_texts_refuses(models):
    with pytest.raises(ValueError, match=r"twins is .*SupconLoss tells no texts apart.*info_nce"):
        training_loss("supcon")(models["static"], twins="leave_out")
    with pytest.raises(ValueError, match="twins is 'gone'; it must be one of keep, leave_out"):
        training_loss("info_nce")(models["static"], twins="gone")


def test_columns_without_tokens_are_refused():
    with pytest.raises(ValueError, match="it has pixel_values, and no input_ids"):
        text_numbers({"pixel_values": torch.zeros(2, 3)}, ())


def test_the_card_mentions_it_where_it_is_chosen(models):
    loss = training_loss("info_nce")(models["static"], twins="leave_out")
    assert loss.get_config_dict()["twins"] == "leave_out"
    assert "twins" not in training_loss("info_nce")(models["static"]).get_config_dict()
