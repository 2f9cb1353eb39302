"""Vectors of earlier batches as further keys: what a batch shows of it, what training keeps."""

import copy
import math

import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.losses import LOSSES, info_nce, supcon
from lossprism.losses.modules import loss_module
from lossprism.losses.sentence_transformers import training_loss

made = torch.Generator().manual_seed(0)


def vectors(*shape):
    drawn = torch.randn(*shape, generator=made, dtype=torch.float64)
    return torch.nn.functional.normalize(drawn, dim=-1).requires_grad_()


@pytest.mark.parametrize("form", ["definition", "function"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_the_last_pairs_are_constant_keys(form, symmetric):
    queries, keys, negatives = vectors(7, 6), vectors(7, 6), vectors(2, 6)
    texts = torch.tensor([0, 1, 2, 3, 4, 5, 1])  # the last key holds the second's text
    found = getattr(LOSSES["queue(info_nce)"], form)(
        queries,
        keys,
        negatives=negatives,
        negative_owners=torch.tensor([0, 5]),
        query_texts=texts + 10,
        key_texts=texts,
        negative_texts=torch.tensor([20, 21]),
        length_of_info_nce=3,
        temperature_of_info_nce=0.3,
        symmetric_of_info_nce=symmetric,
        hardness_of_info_nce=0.5,
        hardness_on_of_info_nce="hard",
    )
    expected = info_nce(
        queries[:4],
        keys[:4],
        negatives=torch.cat((keys[4:].detach(), negatives)),
        query_texts=texts[:4] + 10,
        key_texts=texts[:4],
        negative_texts=torch.tensor([4, 5, 1, 20, 21]),
        negative_owners=torch.tensor([-1, -1, -1, 0, -1]),
        temperature=0.3,
        symmetric=symmetric,
        hardness=0.5,
        hardness_on="hard",
    )
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    of_queries, of_keys = torch.autograd.grad(found, (queries, keys))
    for gradient in (of_queries, of_keys):
        assert (gradient[4:] == 0).all()
        assert (gradient[:4].norm(dim=1) > 0).all()


@pytest.mark.parametrize("form", ["definition", "function"])
def test_of_classes_the_last_are_keys_and_positives(form):
    embeddings, classes = vectors(8, 5), torch.tensor([0, 1, 0, 2, 2, 1, 0, 3])
    queued = getattr(LOSSES["queue(supcon)"], form)
    found = queued(embeddings, classes, length_of_supcon=3)
    held = embeddings[5:].detach()
    expected = supcon(embeddings[:5], classes[:5], queue=held, queue_classes=classes[5:])
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    (gradient,) = torch.autograd.grad(found, (embeddings,))
    assert (gradient[5:] == 0).all()


@pytest.mark.parametrize("length", [0, 6, 7, 1000])
def test_one_pair_at_least_asks(length):
    queries, keys = vectors(6, 4), vectors(6, 4)
    settings = {"length_of_info_nce": length}
    spec = LOSSES["queue(info_nce)"]
    rows = max(6 - length, 1)
    logits = queries[:rows] @ keys.T / 0.05
    expected = torch.nn.functional.cross_entropy(logits, torch.arange(rows))
    torch.testing.assert_close(spec.function(queries, keys, **settings), expected)
    collapse = spec.collapse({"queries": queries, "keys": keys}, **{**spec.defaults, **settings})
    assert collapse == pytest.approx(math.log(6))


def test_on_the_page_it_is_a_loss_like_any_other():
    data, rules = Data(example="hard_negatives"), Rules()
    parameters = (("length_of_info_nce", 2.0),)
    e = explore(Scenario(data, rules, loss="queue(info_nce)", parameters=parameters))
    count, others = len(e.batch.positives), len(e.batch.others)
    terms = e.trace.named("info_nce_terms")
    assert terms.value.shape == (count - 2, count + others)
    assert e.weights is not None
    assert e.same_text["info_nce"].rows == count - 2
    asking, columns = (
        e.batch.axis(*axis) for axis in (("query", count - 2), ("key", count + others))
    )
    assert asking[0].tolist() == e.batch.positives[: count - 2].tolist()
    assert columns[0].tolist() == [*e.batch.positives.tolist(), *e.batch.others.tolist()]
    # No gradient moves what stands in the queue.
    in_queue = e.batch.positives[count - 2 :]
    assert e.pair_gradient[in_queue].abs().max() == 0
    assert e.loss >= e.floor


@pytest.mark.parametrize("name", ["info_nce", "supcon"])
def test_a_module_keeps_what_it_met(name):
    module, kept = loss_module(f"queue({name})")(**{f"length_of_{name}": 4}), None
    for step in range(4):
        rows, keys, classes = vectors(3, 5), vectors(3, 5), torch.tensor([0, 1, step])
        if name == "info_nce":
            found, own = module(rows, keys), keys
            expected = info_nce(rows, keys, negatives=kept)
        else:
            found, own = module(rows, classes), rows
            queue = {} if kept is None else {"queue": kept[0], "queue_classes": kept[1]}
            expected = supcon(rows, classes, **queue)
        torch.testing.assert_close(found, expected)
        with torch.no_grad():  # measuring leaves the queue as it is
            module(rows, keys if name == "info_nce" else classes)
        if name == "info_nce":
            kept = (own if kept is None else torch.cat((kept, own))).detach()[-4:]
        else:
            before = (own[:0], classes[:0]) if kept is None else kept
            kept = [
                torch.cat(both).detach()[-4:] for both in zip(before, (own, classes), strict=True)
            ]


def test_a_copy_keeps_its_own():
    module = loss_module("queue(info_nce)")()
    module(vectors(3, 5), vectors(3, 5))
    other = copy.deepcopy(module)
    other(vectors(3, 5), vectors(3, 5))
    assert len(module.queues.queued_parts[0][1].kept["keys"]) == 3
    assert len(other.queues.queued_parts[0][1].kept["keys"]) == 6


@pytest.mark.parametrize("name", ["queue(info_nce)", "queue(supcon)", "queue(info_nce)+cosent"])
def test_a_training_keeps_the_batches_before(name):
    from tests.tiny import static_model
    from tests.unit.losses.test_sentence_transformers import batch as rows_of

    model = static_model(width=8)
    part = LOSSES[name].parts[0]
    loss = training_loss(name)(model, threshold=0.5, label_range=(0, 1), **{part.length: 6})
    texts, labels = rows_of(model, "scored")
    columns = [model.preprocess(column) for column in texts]
    first, second = loss(columns, labels), loss(columns, labels)
    assert second.item() > first.item()  # the same texts once more, as keys of others
    second.backward()
    assert model[0].embedding.weight.grad.isfinite().all()
    read = loss.arguments(loss.examples(columns, labels, None, None))
    met, settings = loss.called_with(read, loss.settings)
    torch.testing.assert_close(loss.spec.definition(**met, **settings), second)


def test_classes_of_rows_are_others_in_each_batch():
    from tests.tiny import static_model
    from tests.unit.losses.test_sentence_transformers import batch as rows_of

    model = static_model(width=8)
    loss = training_loss("queue(supcon)")(model, threshold=0.5, label_range=(0, 1))
    texts, labels = rows_of(model, "scored")
    columns = [model.preprocess(column) for column in texts]
    seen = [loss.arguments(loss.examples(columns, labels, None, None))["classes"] for _ in "ab"]
    assert not set(seen[0].tolist()) & set(seen[1].tolist())
    assert (seen[0].diff() == seen[1].diff()).all()


def test_what_a_queue_makes_longer_is_no_part_of_another_loss():
    with pytest.raises(ValueError, match="what one with a queue keeps"):
        training_loss("queue(info_nce)+siglip")
    assert training_loss("queue(info_nce)+angle")


@pytest.mark.parametrize("name", ["queue(info_nce)", "queue(supcon)"])
def test_a_checkpoint_has_the_queue(name):
    from tests.tiny import static_model
    from tests.unit.losses.test_sentence_transformers import batch as rows_of

    model = static_model(width=8)
    rules = {"threshold": 0.5, "label_range": (0, 1)}
    one, other = (training_loss(name)(model, **rules) for _ in "ab")
    texts, labels = rows_of(model, "scored")
    columns = [model.preprocess(column) for column in texts]
    one(columns, labels)
    own = {n: w for n, w in one.state_dict().items() if not n.startswith("model.")}
    found = other.load_state_dict(own, strict=False)
    assert not found.unexpected_keys
    torch.testing.assert_close(one(columns, labels), other(columns, labels), rtol=0, atol=0)
