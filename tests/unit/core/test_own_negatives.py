"""A query's own hard negatives, as triplets with several bring them."""

from __future__ import annotations

import pytest
import torch

from lossprism.explorer.core.batch import batch_of_vectors, make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.export.code import standalone_code
from lossprism.explorer.export.drawing_data_of_exploration import describe_batch
from lossprism.explorer.sources.pairs_from_tables import read_file
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import info_nce
from tests.unit.export.explored import run_code

LISTS = Data(source="random", random=RandomBatch(pairs=12, candidates=3, labels="binary"))


@pytest.fixture
def triplets(tmp_path):
    """The batch of a file of anchors, each with a positive and three negatives."""
    path = tmp_path / "triplets.csv"
    head = "anchor,positive,negative_1,negative_2,negative_3"
    rows = (f"a{n},p{n},n{n}1,n{n}2,n{n}3" for n in range(5))
    path.write_text("\n".join([head, *rows]), encoding="utf-8")
    pairs = read_file(path).pairs
    vectors = torch.randn(len(pairs.sentences), 6, generator=torch.Generator().manual_seed(4))
    return batch_of_vectors(pairs, vectors.numpy(), Rules())


def seen(batch, **parameters):
    return explore(Scenario(loss="info_nce", parameters=tuple(parameters.items())), batch)


def given_of(batch):
    """Queries, keys, and each query's own negatives [N, K, D], by their texts."""
    place = {text: batch.vectors[row] for row, text in enumerate(batch.pairs.sentences)}
    queries, keys = (torch.stack([place[f"{kind}{n}"] for n in range(5)]) for kind in "ap")
    own = torch.stack([torch.stack([place[f"n{n}{k}"] for k in (1, 2, 3)]) for n in range(5)])
    return queries, keys, own


SETTINGS = [
    {"temperature": 0.5},
    {"temperature": 0.5, "log_weight": 1.3},
    {"temperature": 0.5, "in_batch": False},
    {"temperature": 0.5, "hardness": 2.0, "hardness_on": "hard", "log_weight": -0.4},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_seen_by_their_own_query_they_are_own_negatives_of_the_function(triplets, settings):
    queries, keys, own = given_of(triplets)
    found = seen(triplets, **settings, negatives_seen="by_own")
    expected = info_nce(queries, keys, own_negatives=own, **settings)
    assert found.loss == pytest.approx(float(expected), rel=1e-10)
    assert found.loss < seen(triplets, **settings).loss  # which compares with those of others, too
    assert describe_batch(triplets)["owned"] == 15


def test_their_weight_is_that_of_the_function(triplets):
    queries, keys, own = given_of(triplets)
    found = seen(triplets, temperature=0.5, log_weight=1.3)
    expected = info_nce(queries, keys, negatives=own, temperature=0.5, log_weight=1.3)
    assert found.loss == pytest.approx(float(expected), rel=1e-10)


def test_the_mask_shows_which_negatives_a_query_sees(triplets):
    found = seen(triplets, negatives_seen="by_own")
    owners = triplets.negative_owners
    terms = found.trace.last("terms").value
    assert torch.equal(terms[:, 5:] > -torch.inf, torch.arange(5)[:, None] == owners)
    assert (terms[:, :5] == -torch.inf).sum() == 5  # the own keys


def test_the_reference_values_count_the_visible_terms(triplets):
    found = seen(triplets, negatives_seen="by_own", log_weight=1.3, temperature=0.5)
    assert found.collapse == pytest.approx(torch.tensor(5 + 3 * torch.e**1.3).log().item())
    alone_with_own = seen(triplets, negatives_seen="by_own", in_batch=False, temperature=0.5)
    assert alone_with_own.floor == pytest.approx(torch.tensor(1 + 3 * torch.e**-4).log().item())


def test_a_random_batch_of_lists_has_them_and_one_of_pairs_has_none():
    lists, pairs = make_batch(LISTS, Rules()), make_batch(Data(source="random"), Rules())
    assert describe_batch(lists)["owned"] > 0 == describe_batch(pairs)["owned"]
    for batch, differs in ((lists, True), (pairs, False)):
        found = [seen(batch, negatives_seen=which).loss for which in ("by_all", "by_own")]
        assert (found[0] != found[1]) == differs


def test_exported_code_has_them(triplets, tmp_path, capsys):
    found = seen(triplets, negatives_seen="by_own", log_weight=0.3, directions="query_to_key")
    code = standalone_code(found, from_files=True)
    run_code(code, tmp_path)
    assert float(capsys.readouterr().out) == pytest.approx(found.loss, rel=1e-9)
