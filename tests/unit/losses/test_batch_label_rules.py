"""What the losses for trainers make of labels on any scale."""

from __future__ import annotations

import re
import warnings

import pytest
import torch
from sentence_transformers.cross_encoder import CrossEncoder

import lossprism.losses.sentence_transformers as adapter
from lossprism.losses import LOSSES, contrastive, cosine_mse, info_nce
from lossprism.losses.geometry import cosine
from lossprism.losses.labels import label_range_of
from lossprism.losses.sentence_transformers.label_scale_from_first_batch import CHOOSE, BatchRules
from tests.tiny import save_bert, static_model

FIRST = ["a man eats", "a girl runs", "dogs bark", "rain falls", "a cat sleeps"]
SECOND = ["someone eats", "a child runs", "cats sleep", "stocks fell", "a cat naps"]
GRADES = [5.0, 4.0, 2.0, 1.0, 3.0]


def columns(model):
    return [model.preprocess(side) for side in (FIRST, SECOND)]


def value(loss, labels):
    """The loss of these labels, and what was warned of."""
    with warnings.catch_warnings(record=True) as result:
        warnings.simplefilter("always")
        found = loss(columns(loss.model), torch.tensor(labels))
    return found, [str(one.message) for one in result if "label" in str(one.message)]


def numbers(message):
    """The numbers of a warning: the labels, the ends of their scale, what they are read as."""
    return [float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", message)]


def vectors(model):
    with torch.no_grad():
        return [model(column)["sentence_embedding"] for column in columns(model)]


def test_raw_grades_are_read_as_the_page_reads_them():
    model = static_model()
    first, second = vectors(model)
    found, result = value(adapter.training_loss("contrastive")(model), GRADES)
    expected = contrastive(first, second, torch.tensor([1, 1, 0, 0, 1]))
    assert found.item() == pytest.approx(expected.item())
    (message,) = result
    assert message.startswith("ContrastiveLoss: ")
    assert numbers(message) == [1, 5, 1, 5, 3]
    assert "threshold=…" in message
    assert CHOOSE in message
    found, result = value(adapter.CosineMseLoss(model), GRADES)
    expected = cosine_mse(cosine(first, second), (torch.tensor(GRADES) - 1) / 4)
    assert found.item() == pytest.approx(expected.item())
    assert numbers(result[0]) == [1, 5, 1, 5, 0, 1]
    assert CHOOSE in result[0]
    assert "threshold=…" not in result[0]
    found, result = value(adapter.InfoNceLoss(model), GRADES)
    keys, others = [0, 1, 4], [2, 3]
    expected = info_nce(first[keys], second[keys], negatives=second[others])
    assert found.item() == pytest.approx(expected.item())
    assert len(result) == 1


def test_a_threshold_among_grades_within_0_to_1_is_a_guess():
    found, result = value(
        adapter.training_loss("contrastive")(static_model()), [0.0, 0.4, 1.0, 0.2, 0.9]
    )
    assert found.isfinite()
    assert numbers(result[0]) == [0, 1, 0, 1, 0.5]


def test_it_is_reported_once_for_each_loss():
    model = static_model()
    loss = adapter.training_loss("contrastive")(model)
    sentences = [value(loss, GRADES)[1] for _ in range(3)]
    assert [len(result) for result in sentences] == [1, 0, 0]
    assert len(value(adapter.training_loss("contrastive")(model), GRADES)[1]) == 1


@pytest.mark.parametrize(
    ("name", "given", "labels"),
    [
        ("contrastive", {}, [0, 1, 1, 0, 1]),
        ("cosine_mse", {}, [0.0, 0.4, 1.0, 0.2, 0.9]),
        ("contrastive", {"threshold": 3}, GRADES),
        ("contrastive", {"label_range": (1, 5)}, GRADES),
        ("cosine_mse", {"label_range": (0, 5)}, GRADES),
        ("cosent", {}, GRADES),  # reads their order alone
        ("angle", {}, GRADES),
    ],
)
def test_nothing_is_reported_where_nothing_was_guessed(name, given, labels):
    found, result = value(adapter.TRAINING_LOSSES[name](static_model(), **given), labels)
    assert found.isfinite()
    assert result == []


def test_the_middle_of_a_range_that_is_given_is_the_threshold():
    model = static_model()
    first, second = vectors(model)
    ends = label_range_of([*GRADES, 0])
    found, _ = value(
        adapter.training_loss("contrastive")(model, label_range=ends), [2.5, 2.4, 0.0, 2.6, 5.0]
    )
    expected = contrastive(first, second, torch.tensor([1, 0, 0, 1, 1]))
    assert found.item() == pytest.approx(expected.item())


def test_cosines_are_regressed_on_as_they_are():
    model = static_model()
    first, second = vectors(model)
    labels = [-0.2, 0.9, 0.5, -0.9, 0.0]
    found, result = value(adapter.CosineMseLoss(model), labels)
    expected = cosine_mse(cosine(first, second), torch.tensor(labels))
    assert found.item() == pytest.approx(expected.item())
    assert numbers(result[0]) == [-0.9, 0.9, -1, 1]
    assert CHOOSE in result[0]


@pytest.mark.parametrize(
    ("first", "then", "label"),
    [
        (GRADES, [0.4, *GRADES[1:]], "0.4"),
        ([0, 1, 0, 1, 1], [0.5, 0.5, 2.0, 0.0, 1.0], "2"),
        (GRADES, [6.0, *GRADES[1:]], "6"),
    ],
)
def test_a_guess_stays_and_never_moves(first, then, label):
    loss = adapter.training_loss("contrastive")(static_model())
    value(loss, first)
    ends = loss.rules.ends
    with pytest.raises(ValueError, match=rf"a label is {label}, and the first batch was read as"):
        value(loss, then)
    with pytest.raises(ValueError, match=r"pass label_range=\(low, high\)"):
        value(loss, then)
    assert loss.rules.ends == ends


@pytest.mark.parametrize(
    ("name", "given", "labels", "message"),
    [
        (
            "contrastive",
            {"threshold": 0.5},
            GRADES,
            "all at or above the threshold 0.5",
        ),
        ("contrastive", {"threshold": 9}, GRADES, "1 to 5, are all below the threshold 9"),
        ("contrastive", {}, [4.0, 4.5, 5.0, 3.2, 3.0], "3 to 5, are all at or above"),
        (
            "circle",
            {},
            [0.6, 0.7, 0.8, 0.9, 1.0],
            "all at or above the threshold 0.5",
        ),
        ("binary_cross_entropy", {}, [0.1, 0.2, 0.3, 0.4, 0.0], "below the threshold 0.5"),
        ("info_nce", {"threshold": 2.0}, [0, 1, 0, 1, 1], "needs positive pairs; pass threshold=…"),
        ("supcon", {}, [0.1, 0.2, 0.3, 0.4, 0.0], "needs positive pairs"),
        ("info_nce", {}, [0, 0, 0, 0, 0], "all 0, are all below the threshold 0.5"),
        ("contrastive", {}, [0, 0, 0, 0, 0], "all 0, are all below the threshold 0.5"),
        ("contrastive", {}, [1, 1, 1, 1, 1], "all 1, are all at or above the threshold 0.5"),
        ("contrastive", {}, [5, 5, 5, 5, 5], "all 5, are all at or above the threshold 3"),
    ],
)
def test_labels_on_one_side_are_an_error_where_both_are_needed(name, given, labels, message):
    with pytest.raises(ValueError, match="pass threshold=…") as problem:
        value(adapter.TRAINING_LOSSES[name](static_model(), **given), labels)
    assert message in str(problem.value)


def test_what_may_be_chance_is_no_error():
    """Later batches vary, and one side is all that some losses need."""
    assert value(adapter.InfoNceLoss(static_model()), [1, 1, 1, 1, 1])[0] > 0
    assert value(adapter.InfoNceLoss(static_model()), [0.6, 0.7, 0.8, 0.9, 1.0])[0] > 0
    loss = adapter.training_loss("contrastive")(static_model())
    value(loss, GRADES)
    assert value(loss, [4.0, 4.5, 5.0, 3.2, 3.0])[0].isfinite()
    result = adapter.training_loss("contrastive")(static_model(), label_range=(1, 5))
    assert value(result, [4.0, 4.5, 5.0, 3.2, 3.0])[0].isfinite()


def test_a_label_out_of_reach_is_an_error():
    loss = adapter.CosineMseLoss(static_model(), label_range=(0, 1))
    with pytest.raises(ValueError, match=r"a label is 5, and label_range is \(0, 1\); pass label"):
        value(loss, GRADES)
    assert value(adapter.training_loss("contrastive")(static_model(), label_range=(2, 4)), GRADES)[
        0
    ].isfinite()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label_range": (5, 1)}, "low < high"),
        ({"label_range": (0, float("inf"))}, "low < high"),
        ({"label_range": (0, 5), "threshold": 6}, "below the threshold 6"),
        ({"label_range": (1, 5), "threshold": 1}, "at or above the threshold 1"),
    ],
)
def test_rules_that_cannot_be_are_refused_at_once(given, message):
    with pytest.raises(ValueError, match=message):
        adapter.CircleLoss(static_model(), **given)
    if "threshold" in given:
        adapter.CosentLoss(static_model(), **given)  # has no use for it


def test_a_cross_encoder_has_the_same_rules(tmp_path):
    torch.manual_seed(0)
    model = CrossEncoder(save_bert(tmp_path), num_labels=1)
    texts = (FIRST, SECOND)
    raw = adapter.training_loss("binary_cross_entropy")(model)
    with pytest.warns(UserWarning, match="positive from 3"):
        found = raw(texts, torch.tensor(GRADES))
    plain = adapter.BinaryCrossEntropyLoss(model)(texts, torch.tensor([1.0, 1.0, 0.0, 0.0, 1.0]))
    assert found.item() == pytest.approx(plain.item())


def test_the_card_says_the_rules_in_force():
    loss = adapter.training_loss("contrastive")(static_model())
    assert loss.get_config_dict()["threshold"] is None
    value(loss, GRADES)
    config = loss.get_config_dict()
    assert (config["threshold"], config["label_range"]) == (3, (1, 5))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_labels_of_any_type_are_read_alike(dtype):
    rules = BatchRules(LOSSES["cosine_mse"], "it", None, None)
    with pytest.warns(UserWarning, match="labels 1 to 4.4 of the first batch are read as 1 to 5"):
        threshold, ends = rules.read(torch.tensor([1.0, 4.4], dtype=dtype))
    assert (threshold, ends) == (3, (1, 5))
    counted = BatchRules(LOSSES["contrastive"], "it", None, None)
    assert counted.read(torch.tensor([0, 1])) == (0.5, (0, 1))


def test_labels_that_are_all_one_have_no_range():
    with pytest.warns(UserWarning, match="labels 5 alone of the first batch are read as 1 to 5"):
        BatchRules(LOSSES["cosine_mse"], "it", None, None).read(torch.full((4,), 5.0))


@pytest.mark.parametrize("settings", [{}, {"in_batch": False}, {"log_weight": 0.7}])
def test_rows_with_several_negatives_keep_them_from_the_other_anchors(settings):
    model = static_model()
    texts = (FIRST, SECOND, [f"no {text}" for text in FIRST], [f"never {text}" for text in SECOND])
    features = [model.preprocess(column) for column in texts]
    with torch.no_grad():
        first, second, *others = (model(column)["sentence_embedding"] for column in features)
    loss = adapter.InfoNceLoss(model, temperature=0.5, negatives_seen="by_own", **settings)
    expected = info_nce(
        first, second, own_negatives=torch.stack(others, dim=1), temperature=0.5, **settings
    )
    assert loss(features, None).item() == pytest.approx(expected.item(), rel=1e-5)
