"""Losses on prefixes, and sums of losses, are what they are made of."""

from functools import partial

import pytest
import torch
from torch.nn.functional import normalize

from lossprism import losses
from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.scenario import Data, Rules
from lossprism.losses import info_nce, matryoshka, prefix_shares, weighted_sum
from lossprism.losses.geometry import unit

DIMS = (384, 256, 128, 64, 32, 16)


@pytest.fixture(scope="module")
def textbook():
    """The textbook's hard negatives: queries, keys and negatives of the shipped embeddings."""
    batch = make_batch(Data(example="hard_negatives"), Rules())
    names = ("queries", "keys", "negatives")
    return {name: batch.read(name, batch.vectors, batch.scores).double() for name in names}


def made(*names, rows=6, width=8, seed=0):
    torch.manual_seed(seed)
    return {name: torch.randn(rows, width, dtype=torch.float64) for name in names}


def test_the_prefixes_of_the_textbook(textbook):
    alone = [float(matryoshka(info_nce, [length])(**textbook)) for length in DIMS]
    assert alone == pytest.approx([2.36, 2.35, 2.16, 2.14, 1.88, 4.16], abs=5e-3)
    assert float(matryoshka(info_nce, DIMS)(**textbook)) == pytest.approx(15.04, abs=5e-3)
    assert float(matryoshka(info_nce, DIMS, reduce="mean")(**textbook)) == pytest.approx(
        2.51, abs=5e-3
    )


def test_prefixes_draw_the_gradient_into_the_first_dimensions(textbook):
    def first_16(loss):
        given = {name: one.clone().requires_grad_() for name, one in textbook.items()}
        found = torch.autograd.grad(loss(**given), list(given.values()))
        return prefix_shares(torch.cat(found), [16])[0]

    assert first_16(info_nce) < 0.05 < 0.6 < first_16(matryoshka(info_nce, DIMS))


def test_one_prefix_that_is_all_of_a_cosine_loss_is_the_loss():
    given = made("queries", "keys")
    torch.testing.assert_close(matryoshka(info_nce, [8])(**given), info_nce(**given))
    nested = matryoshka(info_nce, [8])
    torch.testing.assert_close(nested(given["queries"], given["keys"]), info_nce(**given))


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_it_is_the_weighted_sum_over_prefixes(reduce):
    given, weights = made("anchors", "positives"), [0.5, 2.0]
    nested = matryoshka(losses.n_pair, [3, 8], weights, reduce)
    by_hand = sum(
        weight * losses.n_pair(*(normalize(one[:, :length], dim=1) for one in given.values()))
        for length, weight in zip([3, 8], weights, strict=True)
    )
    expected = by_hand / 2 if reduce == "mean" else by_hand
    torch.testing.assert_close(nested(**given), expected)


def test_the_order_of_dims_is_of_no_matter():
    given = made("queries", "keys")
    torch.testing.assert_close(
        matryoshka(info_nce, [8, 3], [1.0, 2.0])(**given),
        matryoshka(info_nce, [3, 8], [2.0, 1.0])(**given),
    )


def test_prefixes_of_which_only_the_squares_leave_the_range():
    given = {name: one.float() for name, one in made("queries", "keys", width=384).items()}
    nested = matryoshka(info_nce, [128, 384])
    far = nested(**{name: 1e18 * one for name, one in given.items()})
    torch.testing.assert_close(far, nested(**given), rtol=1e-4, atol=0)


def test_a_loss_on_pair_scores_is_given_vectors():
    given, labels = made("first", "second"), torch.arange(6.0)
    found = matryoshka(losses.cosent, [2, 8])(**given, labels=labels, scale=3.0)
    by_hand = sum(
        losses.cosent(
            torch.cosine_similarity(given["first"][:, :m], given["second"][:, :m]),
            labels,
            scale=3.0,
        )
        for m in (2, 8)
    )
    torch.testing.assert_close(found, by_hand)


def test_what_is_no_vector_of_the_model_stays_whole():
    given = made("queries", "keys") | made("guide_queries", "guide_keys", width=3, seed=1)
    nested = matryoshka(losses.gist, [4])
    assert nested(**given, temperature=0.1).isfinite()
    own = torch.randn(6, 2, 8, dtype=torch.float64)
    vectors = {name: given[name] for name in ("queries", "keys")}
    with_own = matryoshka(info_nce, [4])(**vectors, own_negatives=own)
    cut = {name: one[..., :4] for name, one in {**vectors, "own_negatives": own}.items()}
    torch.testing.assert_close(with_own, info_nce(**cut))


def test_it_learns_through_every_prefix():
    given = {name: one.requires_grad_() for name, one in made("queries", "keys").items()}
    assert torch.autograd.gradcheck(
        lambda q, k: matryoshka(info_nce, [8, 2])(q, k, temperature=0.5), tuple(given.values())
    )


def test_a_function_of_ones_own():
    def apart(left, right):
        return (left - right).square().mean()

    given = made("left", "right")
    found = matryoshka(apart, [2], vectors=("left", "right"))(**given)
    torch.testing.assert_close(
        found, apart(*(normalize(one[:, :2], dim=1) for one in given.values())), rtol=1e-12, atol=0
    )
    with pytest.raises(ValueError, match="name them"):
        matryoshka(apart, [2])


@pytest.mark.parametrize(
    ("dims", "options", "message"),
    [
        ([], {}, "one or more"),
        ([4, 4], {}, "no two alike"),
        ([0], {}, "whole number of 1"),
        ([2.5], {}, "whole number of 1"),
        ([True], {}, "whole number of 1"),
        ([2], {"weights": [1.0, 2.0]}, "2 weights for 1 dims"),
        ([2], {"weights": [float("nan")]}, "must be finite"),
        ([2], {"reduce": "max"}, "sum, mean"),
    ],
)
def test_what_is_no_prefix_is_refused(dims, options, message):
    with pytest.raises(ValueError, match=message):
        matryoshka(info_nce, dims, **options)


def test_a_prefix_longer_than_the_vectors_is_refused():
    with pytest.raises(ValueError, match=r"queries has shape \(6, 8\); a prefix of 9"):
        matryoshka(info_nce, [9])(**made("queries", "keys"))
    with pytest.raises(ValueError, match="multitask_cosent reads pair_logits"):
        matryoshka(losses.multitask_cosent, [2])
    with pytest.raises(ValueError, match="embedding_mse reads teacher_embeddings"):
        matryoshka(losses.embedding_mse, [2])


def test_of_lists_and_of_margins_the_prefixes_have_the_scores():
    """As sentence-transformers' MatryoshkaLoss around a loss of dot products: of unit prefixes."""
    from sentence_transformers.sentence_transformer import losses as theirs

    source = torch.Generator().manual_seed(5)
    queries, *columns = torch.randn(4, 6, 8, generator=source, dtype=torch.float64)
    teacher = torch.randn(6, 3, generator=source, dtype=torch.float64)
    shrunk = [[unit(one[:, :length]) for one in (queries, *columns)] for length in (8, 4)]
    candidates = torch.stack(columns, dim=1)
    expected = sum(
        theirs.DistillKLDivLoss(None).compute_loss_from_embeddings(one, teacher) for one in shrunk
    )
    found = matryoshka(losses.distill_kl, [8, 4])(queries, candidates, teacher)
    torch.testing.assert_close(found, expected)
    given = {"queries": queries, "positives": columns[0], "negatives": candidates[:, 1:]}
    margins = teacher[:, :1] - teacher[:, 1:]
    expected = sum(
        theirs.MarginMSELoss(None).compute_loss_from_embeddings(one, margins) for one in shrunk
    )
    found = matryoshka(losses.margin_mse, [8, 4])(**given, teacher_margins=margins)
    torch.testing.assert_close(found, expected)
    mask = torch.ones(6, 3, dtype=torch.bool)
    by_keyword = matryoshka(losses.list_net, [8])(queries, candidates, labels=teacher, mask=mask)
    torch.testing.assert_close(
        by_keyword, matryoshka(losses.list_net, [8])(queries, candidates, teacher)
    )


def test_shares_of_the_energy_end_at_one():
    gradient = torch.randn(5, 7)
    shares = prefix_shares(gradient, range(1, 8))
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


# Sums


def test_a_sum_is_its_weighed_parts_and_gives_each_what_it_takes():
    given = made("queries", "keys") | made("first", "second", seed=1)
    given["labels"] = torch.arange(6.0)
    both = weighted_sum((1.0, info_nce), (0.02, losses.angle))
    alone = [info_nce(given["queries"], given["keys"])]
    alone += [losses.angle(given["first"], given["second"], given["labels"])]
    torch.testing.assert_close(both.parts(**given), alone)
    torch.testing.assert_close(both(**given), alone[0] + 0.02 * alone[1])


def test_a_sum_of_one_is_the_loss_and_of_a_loss_and_its_negative_nothing():
    given = made("queries", "keys")
    torch.testing.assert_close(weighted_sum((1.0, info_nce))(**given), info_nce(**given))
    assert weighted_sum((2.0, info_nce), (-2.0, info_nce))(**given) == 0


def test_the_shares_of_the_gradient():
    given = made("queries", "keys")
    wrt = given["queries"].requires_grad_()
    sharp = partial(info_nce, temperature=0.05)
    shares, cosines = weighted_sum((1.0, info_nce), (3.0, sharp)).shares(wrt, **given)
    assert shares == pytest.approx([0.25, 0.75])
    torch.testing.assert_close(cosines, torch.ones(2, 2, dtype=torch.float64))
    shares, cosines = weighted_sum((1.0, info_nce), (-1.0, sharp)).shares(wrt, **given)
    assert shares == pytest.approx([0.5, 0.5])
    assert cosines[0, 1] == pytest.approx(-1)
    torch.testing.assert_close(cosines, cosines.T)


def test_what_is_no_sum_is_refused():
    with pytest.raises(ValueError, match="one part or more"):
        weighted_sum()
    with pytest.raises(ValueError, match="must be finite"):
        weighted_sum((float("inf"), info_nce))
    with pytest.raises(TypeError, match="no part takes scores; together they take"):
        weighted_sum((1.0, info_nce))(**made("queries", "keys"), scores=torch.zeros(6))
    with pytest.raises(TypeError, match="keys"):
        weighted_sum((1.0, info_nce))(**made("queries"))


def test_sums_and_prefixes_nest():
    given = made("queries", "keys")
    sides = made("first", "second", seed=1)
    both = weighted_sum((1.0, info_nce), (0.02, losses.angle))
    names = ("queries", "keys", "first", "second")
    found = matryoshka(both, [8, 4], vectors=names)(**given, **sides, labels=torch.arange(6.0))
    by_hand = matryoshka(info_nce, [8, 4])(**given)
    angle = matryoshka(losses.angle, [8, 4])(**sides, labels=torch.arange(6.0))
    torch.testing.assert_close(found, by_hand + 0.02 * angle)
    nested = weighted_sum((1.0, matryoshka(info_nce, [8, 4])), (0.1, info_nce))
    torch.testing.assert_close(
        nested(**given), matryoshka(info_nce, [8, 4])(**given) + 0.1 * info_nce(**given)
    )
