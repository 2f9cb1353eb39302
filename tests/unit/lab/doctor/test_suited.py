"""Which losses can learn from a table."""

from __future__ import annotations

from explorer.lab.doctor.profile import profiled
from explorer.lab.doctor.suited import suited
from explorer.sources.pairs import Pairs
from losses import LOSSES

COUNT = 40
FIRST = tuple(f"first {place}" for place in range(COUNT))
SECOND = tuple(f"second {place}" for place in range(COUNT))


def of(labels=None, first=FIRST, second=SECOND):
    pairs = Pairs(first, second, labels or (1.0,) * COUNT, labelled=labels is not None)
    return {one.loss: one for one in suited(profiled(pairs), 16)}


def test_graded_labels_ask_for_a_loss_that_follows_them():
    found = of(tuple(place % 6 / 5 for place in range(COUNT)))
    assert LOSSES[next(iter(found))].group == "pair_scores"
    assert found["cosent"].reasons == ("degrees",)
    assert found["info_nce"].against == ("degrees_lost",)
    assert list(found).index("cosent") < list(found).index("info_nce")
    assert not {"list_net", "margin_mse"} & set(found)


def test_positives_alone_ask_for_negatives_of_the_batch():
    found = of()
    assert next(iter(found)) == "info_nce"
    assert "cosent" not in found
    twins = of(second=("the same",) * COUNT)
    assert "twins" in twins["info_nce"].against


def test_a_few_lists_by_chance_ask_for_no_loss_on_lists():
    found = of(tuple(place % 6 / 5 for place in range(COUNT)), (*FIRST[:-1], FIRST[0]))
    assert found["list_net"].against == ("few_in_order",)
    assert next(iter(found)) in ("cosent", "pairwise_logistic", "cosine_mse")


def test_nearly_all_positive_ask_for_negatives_of_the_batch():
    found = of((0.0, *(1.0,) * (COUNT - 1)))
    assert next(iter(found)) == "info_nce"
    assert "mostly_positive" in found["info_nce"].reasons
    assert "alike" in found["cosent"].against


def test_lists_and_both_languages():
    labels = tuple(float(place % 2) for place in range(COUNT))
    found = of(labels, FIRST[:5] * (COUNT // 5))
    assert "lists" in found["list_net"].reasons
    assert "hard_negatives" in found["info_nce"].reasons
    of_one_label = of(labels, FIRST[:4] * (COUNT // 4))
    assert "few_in_order" in of_one_label["list_net"].against
    assert "hard_negatives" not in of_one_label["info_nce"].reasons
    for language in ("en", "zh"):
        assert all(reason for one in found.values() for reason in one.said(language))
