"""InfoNCE with directions, masks and weights: by tiles as defined, and as the recipes have it."""

import itertools
import math

import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.losses import LOSSES, info_nce
from lossprism.losses.contrastive.info_nce import info_nce_of_swift
from lossprism.losses.contrastive.info_nce_definitions import info_nce_of_swift_by_options
from lossprism.losses.contrastive.info_nce_directions_and_negatives import DIRECTIONS
from lossprism.losses.geometry import unit
from lossprism.losses.kernels import query_key_losses_by_tiles
from tests.unit.losses.made import saved_bytes

DEFINITION = LOSSES["info_nce"].definition
MADE = torch.Generator().manual_seed(0)
QUERIES, KEYS = torch.randn(2, 7, 5, generator=MADE).double()
NEGATIVES = torch.randn(6, 5, generator=MADE).double()
OWN = torch.randn(7, 2, 5, generator=MADE).double()
HARD = torch.randn(7, 3, 5, generator=MADE).double()
OWNERS = torch.tensor([3, -1, 0, 3, 6, -1])
TWINS = torch.tensor([0, 1, 0, 2, 3, 4, 1])
TEXTS = {
    "query_texts": torch.arange(7),
    "key_texts": torch.tensor([7, 8, 9, 0, 11, 12, 8]),
    "negative_texts": torch.arange(6) + 3,
}
SOME = [some for count in (1, 2, 3, 4) for some in itertools.combinations(DIRECTIONS, count)]
FORMS = [
    {},
    {"mask_above": 0.1},
    {"own_negatives": OWN, "hardness": 3.0, "hardness_on": "all", "log_weight": 0.7},
    {"negatives": NEGATIVES, "same_text": TWINS, "mask_above": -0.2},
    {"negatives": HARD, "hardness": 2.0, "hardness_on": "hard"},
    {"negatives": HARD, "own_negatives": OWN, "hardness": 2.0, "mask_above": 0.3},
    {"negatives": NEGATIVES, **TEXTS},
    {"negatives": NEGATIVES, "hardness": 2.0, "same_text": TWINS},
    {"negatives": NEGATIVES, "negative_owners": OWNERS, "log_weight": -0.5, "mask_above": 0.3},
    {"negatives": NEGATIVES, "negative_owners": OWNERS, "hardness": 2.0, "hardness_on": "hard"},
    {"negatives": NEGATIVES, "negative_owners": OWNERS, "hardness": 2.0, **TEXTS},
    {"negatives": NEGATIVES, "hardness": 2.0, "hardness_on": "hard", **TEXTS},
    {"negatives": NEGATIVES, "negative_owners": OWNERS, "negatives_seen": "by_own"},
    {"negatives": HARD, "own_negatives": OWN, "negatives_seen": "by_own", "same_text": TWINS},
    {
        **{"negatives": NEGATIVES, "negative_owners": OWNERS, "negatives_seen": "by_own", **TEXTS},
        **{"log_weight": 0.7, "hardness": 2.0, "hardness_on": "all", "mask_above": 0.3},
    },
]


def by_both(settings, temperature):
    """Value and gradients of the definition and of the function."""
    found = []
    for loss in (DEFINITION, info_nce):
        learned = torch.tensor(temperature).double().requires_grad_()
        given = {"queries": QUERIES, "keys": KEYS, **settings}
        moving = {
            name: given[name].clone().requires_grad_()
            for name in ("queries", "keys", "negatives", "own_negatives")
            if name in given
        }
        value = loss(**{**given, **moving}, temperature=learned)
        gradients = torch.autograd.grad(
            value, [*moving.values(), learned], allow_unused=True, materialize_grads=True
        )
        found.append((value.detach(), *gradients))
    return found


def agree(settings, temperature=0.2):
    for defined, fast in zip(*by_both(settings, temperature), strict=True):
        torch.testing.assert_close(fast, defined, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(form))
def test_tiles_and_definition_agree(form, monkeypatch):
    # Spans of three rows, the last shorter.
    monkeypatch.setattr(query_key_losses_by_tiles, "MIN_TILE_ROWS", 3)
    monkeypatch.setattr(query_key_losses_by_tiles, "TILE_CELLS", 1)
    for number, ways in enumerate(SOME):
        partition = ("joint", "per_direction")[number % 2]
        agree({**form, "directions": ways, "partition": partition})
    agree({**form, "directions": DIRECTIONS, "similarity": "dot"}, temperature=1.5)


@pytest.mark.parametrize("given", [{"own_negatives": OWN}, {"negatives": NEGATIVES}])
def test_given_negatives_alone(given):
    agree({**given, "in_batch": False, "mask_above": 0.2})
    found = info_nce(QUERIES, KEYS, temperature=0.2, in_batch=False, **given)
    positive = (unit(QUERIES) * unit(KEYS)).sum(dim=1, keepdim=True)
    if "negatives" in given:
        others = unit(QUERIES) @ unit(NEGATIVES).T
    else:
        others = torch.einsum("nd,nkd->nk", unit(QUERIES), unit(OWN))
    logits = torch.cat((positive, others), dim=1) / 0.2
    expected = torch.nn.functional.cross_entropy(logits, torch.zeros(7).long())
    torch.testing.assert_close(found, expected)


ST = {way: way.replace("key", "doc") for way in DIRECTIONS}
MODES = {"in_batch": "in_batch_negatives", "hard": "hard_negatives", "all": "all_negatives"}


@pytest.mark.parametrize("ways", [ways for ways in SOME if "query_to_key" in ways])
@pytest.mark.parametrize("partition", ["joint", "per_direction"])
def test_directions_are_those_of_sentence_transformers(ways, partition):
    theirs = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    if partition == "per_direction" and {"query_to_query", "key_to_key"} & set(ways):
        return  # refused there
    loss = theirs.MultipleNegativesRankingLoss(
        None, scale=5, directions=tuple(ST[way] for way in ways), partition_mode=partition
    )
    for columns in ((), tuple(HARD.unbind(1))):
        expected = loss.compute_loss_from_embeddings([QUERIES, KEYS, *columns], None)
        given = {"negatives": HARD} if columns else {}
        settings = {"temperature": 0.2, "directions": ways, "partition": partition}
        torch.testing.assert_close(info_nce(QUERIES, KEYS, **given, **settings), expected)


@pytest.mark.parametrize("mode", MODES)
def test_hardness_is_that_of_sentence_transformers(mode):
    theirs = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    loss = theirs.MultipleNegativesRankingLoss(
        None, hardness_mode=MODES[mode], hardness_strength=5.0
    )
    moving = [t.clone().requires_grad_() for t in (QUERIES, KEYS, HARD)]
    expected = loss.compute_loss_from_embeddings([*moving[:2], *moving[2].unbind(1)], None)
    gradients = torch.autograd.grad(expected, moving)
    found = info_nce(*moving[:2], negatives=moving[2], hardness=5.0, hardness_on=mode)
    torch.testing.assert_close(found, expected)
    for mine, other in zip(torch.autograd.grad(found, moving), gradients, strict=True):
        torch.testing.assert_close(mine, other)


def test_a_row_of_which_all_is_masked_costs_nothing():
    same = torch.zeros(7).long()
    for partition in ("joint", "per_direction"):
        moving = QUERIES.clone().requires_grad_()
        loss = info_nce(
            moving, KEYS, same_text=same, directions=DIRECTIONS[::2], partition=partition
        )
        assert loss == 0
        assert not torch.autograd.grad(loss, moving)[0].any()
    both = info_nce(QUERIES, KEYS, same_text=same, directions=DIRECTIONS)
    assert both.item() == pytest.approx(math.log(2))  # the own pair, from either side
    assert info_nce(QUERIES, KEYS, mask_above=-3.0) == 0


def test_only_none_masks_nothing():
    """No number is off: of dot products any may be exceeded."""
    queries, keys = torch.eye(2), torch.tensor([[0.0, 5000.0], [0.0, 1.0]])
    settings = {"similarity": "dot", "temperature": 1000.0}
    kept = info_nce(queries, keys.T, **settings)
    assert info_nce(queries, keys.T, mask_above=5000.0, **settings) == kept
    assert info_nce(queries, keys.T, mask_above=1000.0, **settings) < kept


@pytest.mark.parametrize("further", [None, NEGATIVES])
def test_without_a_mask_the_loss_of_swift_is_info_nce_in_its_directions(further):
    ways = ("query_to_key", "query_to_query", "key_to_key")
    vectors = [QUERIES.clone().requires_grad_(), KEYS.clone().requires_grad_()]
    swift = {"negatives": further, "temperature": 0.2, "mask_above": None}
    given = {"negatives": further, "temperature": 0.2, "directions": ways}
    found = [
        (loss, torch.autograd.grad(loss, vectors))
        for loss in (
            info_nce_of_swift(*vectors, **swift),
            info_nce_of_swift_by_options(*vectors, **swift),
            info_nce(*vectors, **given),
        )
    ]
    for other in found[1:]:
        torch.testing.assert_close(found[0], other, rtol=1e-10, atol=1e-12)


def test_a_key_that_stands_twice_is_not_above_itself():
    keys = KEYS[[0, 0, 1, 1, 2, 3, 3]]
    masked, plain = (
        info_nce(keys + 0.0, keys, mask_above=mask, temperature=1.0) for mask in (0.0, None)
    )
    torch.testing.assert_close(masked, plain)


def test_one_pair_alone():
    one = QUERIES[:1], KEYS[:1]
    assert info_nce(*one, directions=DIRECTIONS, partition="per_direction") == 0
    assert info_nce(*one, directions=DIRECTIONS).item() == pytest.approx(math.log(2))
    assert info_nce(*one, own_negatives=OWN[:1]) > 0


def test_own_negatives_without_a_place_are_empty():
    none = torch.empty(7, 0, 5).double()
    torch.testing.assert_close(info_nce(QUERIES, KEYS, own_negatives=none), info_nce(QUERIES, KEYS))


def test_what_is_kept_does_not_grow_with_the_square_of_the_batch():
    count, width = 512, 16
    queries, keys = (torch.randn(count, width).requires_grad_() for _ in range(2))
    settings = {"directions": DIRECTIONS, "same_text": torch.arange(count) // 2}
    assert saved_bytes(info_nce, queries, keys, **settings) <= 4 * count * width * 4


def test_nothing_is_kept_of_the_texts():
    """Both sides and their gradients, and not a byte beside them."""
    count, width = 2048, 16
    queries, keys = (torch.randn(count, width).requires_grad_() for _ in range(2))
    kept = {}
    for name, texts in (("apart", torch.arange(count)), ("twins", torch.arange(count) // 2)):
        request = {"directions": DIRECTIONS, "same_text": texts.flip(0)}
        kept[name] = saved_bytes(info_nce, queries, keys, **request)
    assert set(kept.values()) == {4 * count * width * 4}
    plain = info_nce(queries, keys, directions=DIRECTIONS)
    result = info_nce(queries, keys, directions=DIRECTIONS, same_text=torch.arange(count))
    assert plain == result


def test_texts_that_were_changed_meanwhile_give_no_gradient_of_the_gradient():
    queries, keys = torch.randn(2, 6, 4, dtype=torch.float64).requires_grad_().unbind()
    texts = torch.tensor([0, 0, 1, 2, 3, 4])
    loss = info_nce(queries, keys, same_text=texts)
    torch.autograd.grad(loss, queries, create_graph=True)
    loss = info_nce(queries, keys, same_text=texts)
    texts[1] = 7
    with pytest.raises(RuntimeError, match="changed in place"):
        torch.autograd.grad(loss, queries, create_graph=True)


def test_half_precision_and_large_logits():
    for dtype in (torch.float16, torch.bfloat16):
        queries, keys = QUERIES.to(dtype), KEYS.to(dtype)
        for similarity, temperature in (("cosine", 0.001), ("dot", 0.01)):
            settings = {"similarity": similarity, "temperature": temperature}
            found = info_nce(queries, keys, directions=DIRECTIONS, **settings)
            exact = info_nce(queries.double(), keys.double(), directions=DIRECTIONS, **settings)
            assert found.dtype == torch.float32
            torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-5)


FLOORS = [
    {"directions": DIRECTIONS},
    {"directions": "query_to_key,query_to_query", "partition": "per_direction"},
    {"directions": "query_to_key,key_to_query"},
    {"hardness": 3.0},
]


@pytest.mark.parametrize("settings", FLOORS)
def test_the_minimum_is_reached_by_a_simplex_and_by_nothing_below(settings):
    count = 4
    simplex = torch.eye(count).double() - 1 / count
    given = {"queries": simplex, "keys": simplex}
    floor = LOSSES["info_nce"].floor(given, temperature=0.2, **settings)
    assert info_nce(simplex, simplex, temperature=0.2, **settings).item() == pytest.approx(floor)
    vectors = torch.randn(2, count, count, generator=MADE).double().requires_grad_()
    optimizer = torch.optim.LBFGS([vectors], max_iter=60, line_search_fn="strong_wolfe")

    def step():
        optimizer.zero_grad()
        loss = info_nce(*vectors, temperature=0.2, **{**settings, "hardness": 0.0})
        loss.backward()
        return loss

    optimizer.step(step)
    assert info_nce(*vectors, temperature=0.2, **settings).item() >= floor - 1e-9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"directions": ("query_to_text",)}, "directions has 'query_to_text'; it takes some of"),
        ({"directions": ()}, "directions has none"),
        ({"directions": DIRECTIONS, "symmetric": True}, "give one of both"),
        ({"partition": "both"}, "partition is 'both'"),
        ({"similarity": "l2"}, "similarity is 'l2'; it must be one of cosine, dot"),
        ({"hardness": -1.0}, "hardness is -1.0; it must be 0 or more"),
        ({"hardness_on": "none"}, "hardness_on is 'none'"),
        ({"in_batch": False}, "neither negatives nor own_negatives"),
        (
            {"in_batch": False, "negatives": NEGATIVES, "directions": DIRECTIONS},
            "directions must be query_to_key",
        ),
        ({"own_negatives": OWN[:3]}, r"own_negatives has shape \(3, 2, 5\); for 7 queries of 5"),
        ({"negatives": HARD[:, :, :2]}, r"it must be \[Q, D\] or \[N, K, D\]"),
        (
            {"negatives": NEGATIVES, "negative_owners": OWNERS + 1},
            "negative_owners goes from 0 to 7; there are queries 0 to 6",
        ),
        ({"same_text": TWINS[:3]}, "same_text has shape"),
        ({"same_text": TWINS.double()}, "same_text must be whole numbers"),
    ],
)
def test_what_cannot_be_is_reported(settings, message):
    with pytest.raises(ValueError, match=message):
        info_nce(QUERIES, KEYS, **settings)


def test_hardness_on_the_textbook_scenario_is_what_was_computed_beside():
    """By hand, from its shipped vectors: none, hard 5, all 9, in-batch 9."""
    for hardness, on, expected in [
        (0.0, "all", 2.360),
        (5.0, "hard", 3.917),
        (9.0, "all", 5.677),
        (9.0, "in_batch", 2.364),
    ]:
        chosen = (("hardness", hardness), ("hardness_on", on))
        found = explore(
            Scenario(data=Data(example="hard_negatives"), loss="info_nce", parameters=chosen)
        )
        assert found.loss == pytest.approx(expected, abs=6e-4)


SEEN_BY_OWN = [
    {},
    {"in_batch": False},
    {"directions": DIRECTIONS, "partition": "joint"},
    {"directions": DIRECTIONS, "partition": "per_direction", "mask_above": 0.2},
    {"hardness": 3.0, "hardness_on": "hard", "log_weight": -0.7},
    {"hardness": 3.0, "hardness_on": "all", "in_batch": False, "log_weight": 1.5},
    {"hardness": 3.0, "hardness_on": "in_batch", "similarity": "dot", "temperature": 1.5},
]


@pytest.mark.parametrize("settings", SEEN_BY_OWN)
@pytest.mark.parametrize("loss", [DEFINITION, info_nce])
def test_negatives_seen_by_their_own_query_alone_are_its_own(loss, settings):
    found = []
    for given in ({"negatives": HARD, "negatives_seen": "by_own"}, {"own_negatives": HARD}):
        moving = [t.clone().requires_grad_() for t in (QUERIES, KEYS, HARD)]
        held = {name: moving[2] if value is HARD else value for name, value in given.items()}
        value = loss(*moving[:2], **held, **settings)
        found.append((value, *torch.autograd.grad(value, moving)))
    for mine, other in zip(*found, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-10, atol=1e-12)


def test_a_negative_of_nobody_is_seen_by_all():
    nobody = torch.full((len(NEGATIVES),), -1)
    plain = info_nce(QUERIES, KEYS, negatives=NEGATIVES)
    seen = {"negatives_seen": "by_own"}
    for owners in ({}, {"negative_owners": nobody}):
        torch.testing.assert_close(
            info_nce(QUERIES, KEYS, negatives=NEGATIVES, **owners, **seen), plain
        )


OWNED = {"negatives": NEGATIVES, "negative_owners": OWNERS}


@pytest.mark.parametrize(
    "settings",
    [
        {"negatives_seen": "by_own"},
        {"negatives_seen": "by_own", "in_batch": False, "log_weight": 0.7},
        {"log_weight": 0.7},
        {"negatives_seen": "by_own", "directions": DIRECTIONS, "hardness": 2.0},
        {"negatives_seen": "by_own", "log_weight": -1.0, "hardness": 2.0, "hardness_on": "hard"},
        {"directions": DIRECTIONS, "partition": "per_direction", "log_weight": -1.0},
    ],
)
def test_collapse_counts_what_each_query_sees(settings):
    one = torch.ones(7, 3).double(), torch.ones(7, 3).double()
    given = {"queries": one[0], "keys": one[1], **OWNED, "negatives": torch.ones(6, 3).double()}
    expected = info_nce(**given, temperature=0.2, **settings)
    result = LOSSES["info_nce"].collapse(given, temperature=0.2, **settings)
    assert result == pytest.approx(float(expected))


@pytest.mark.parametrize("on", ["in_batch", "hard", "all"])
@pytest.mark.parametrize("seen", ["by_own", "by_all"])
def test_without_the_batch_the_least_has_all_negatives_opposite(seen, on):
    settings = {"in_batch": False, "negatives_seen": seen, "log_weight": 0.7}
    settings |= {"hardness": 2.0, "hardness_on": on, "temperature": 0.9}
    one = torch.zeros(7, 3).double()
    one[:, 0] = 1
    given = {"queries": one, "keys": one, **OWNED, "negatives": -one[:6]}
    least = LOSSES["info_nce"].floor(given, **settings)
    assert info_nce(**given, **settings).item() == pytest.approx(least)
    assert info_nce(QUERIES, KEYS, **OWNED, **settings).item() > least
    assert LOSSES["info_nce"].floor(given, negatives_seen="by_own") is None
