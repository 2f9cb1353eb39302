"""Remarks appear where they are true, with correct numbers, and nowhere else."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from scipy import stats

from lossprism.explorer.core import collapse_crossing
from lossprism.explorer.core.batch import batch_of_scores, make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.label_disagreement import STRONG_RATE
from lossprism.explorer.core.ranks_and_term_weights import Suspect
from lossprism.explorer.core.remarks import remarks, statistics, suggested_scale
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES


def remark_keys(scenario):
    return {remark.key: remark.values for remark in remarks(explore(scenario), most=10)}


def on(loss="cosent", rules=None, **settings):
    random = RandomBatch(**{"pairs": 40, "dimension": 16, "seed": 3, **settings})
    data = Data(source="random", random=random)
    return Scenario(data=data, loss=loss, rules=rules or Rules())


GRADED = (("one", "two", "4"), ("three", "four", "2"), ("five", "six", "1"), ("one", "six", "0"))


@pytest.mark.parametrize(
    ("loss", "convention", "other"),
    [
        (
            "binary_cross_entropy",
            "sentence-transformers 6.2 BinaryCrossEntropyLoss",
            "sentence-transformers 6.2 BinaryCrossEntropyLoss, labels brought to 0…1",
        ),
        ("cosine_mse", "sentence-transformers 6.2 CosineSimilarityLoss", ""),
        ("contrastive", "sentence-transformers 6.2 ContrastiveLoss", ""),
    ],
)
def test_labels_that_a_convention_takes_as_they_are(loss, convention, other):
    """It computes what the trainer computes, and names the convention that converts; there, and of
    labels within the range, there is no remark."""
    data = Data("table", rows=GRADED, encoder="all apart")
    scenario = Scenario(data, loss=loss, convention=convention)
    found = explore(scenario)
    assert found.given["labels"].tolist() == [4, 2, 1, 0]
    outside = remark_keys(scenario)["labels_outside"]
    assert (outside["low"], outside["high"], outside["most"]) == ("0", "4", "1")
    instead = outside["other"] if other else ""
    assert instead == other
    converted = dataclasses.replace(scenario, convention=other)
    assert "labels_outside" not in remark_keys(converted)
    assert explore(converted).given["labels"].max() == 1
    within = tuple((one, two, "1" if label == "4" else "0") for one, two, label in GRADED)
    assert "labels_outside" not in remark_keys(
        dataclasses.replace(scenario, data=dataclasses.replace(data, rows=within))
    )


def test_the_default_scenario_shows_its_wrong_labels():
    found = remark_keys(Scenario())
    expected = {"above_collapse_not_below", "few_terms", "gradient_large"}
    assert expected <= set(found)
    exploration = explore(Scenario())
    # They lead the list, but so few are no more than a clean batch of this correlation has.
    strong = [one for one in exploration.suspects if one.rate >= STRONG_RATE]
    assert len(strong) <= exploration.disagreement.most_strong
    assert "suspects" not in found
    assert found["few_terms"] == {
        "count": exploration.weights.active,
        "terms": 269,
        "share": f"{100 * exploration.weights.carried:.0f}%",
    }
    assert exploration.weights.carried == pytest.approx(
        exploration.heaviest[exploration.weights.active - 1].so_far
    )


def graded(*scores):
    """Pairs of texts that stand in no other, with these scores; the words mean nothing."""
    rows = tuple((f"a dog {i}", f"a cat {i}", str(one)) for i, one in enumerate(scores))
    return Data(source="table", rows=rows)


@pytest.mark.encoder
@pytest.mark.parametrize("loss", ["supcon", "multi_similarity", "triplet", "lifted"])
def test_sentences_without_another_of_their_class_are_counted(loss):
    """A pair below the threshold leaves both of its texts alone."""
    some = remark_keys(Scenario(data=graded(5, 0, 4, 1), loss=loss))
    none = remark_keys(Scenario(data=graded(1, 0, 2, 1), loss=loss, rules=Rules(threshold=3)))
    every = remark_keys(Scenario(data=graded(5, 4, 5, 4), loss=loss, rules=Rules(threshold=3)))
    assert not {"alone", "all_alone"} & set(every)
    assert some["alone"] == {"count": 4, "total": 8}
    assert "all_alone" in none
    assert "alone" not in none


@pytest.mark.parametrize("loss", ["cosent", "info_nce"])
def test_a_loss_that_reads_no_classes_has_none_without_another(loss):
    assert not {"alone", "all_alone"} & set(remark_keys(on(loss)))


def test_one_term_of_many_is_no_news_of_a_loss_that_is_always_one_term():
    for agreement in (0.0, 0.5, 1.0):
        exploration = explore(on("max_violation", agreement=agreement))
        assert exploration.weights.terms > 30
        assert exploration.weights.active <= 1
        assert "few_terms" not in {one.key for one in remarks(exploration, most=99)}


def at(scenario, **parameters):
    return explore(dataclasses.replace(scenario, parameters=tuple(parameters.items())))


@pytest.mark.parametrize(
    ("loss", "name", "gentler"),
    [
        *((loss, "scale", 0.99) for loss in ("cosent", "weighted_cosent", "angle", "circle")),
        ("pairwise_logistic", "scale", 0.99),
        *((loss, "temperature", 1.01) for loss in ("info_nce", "nt_xent", "supcon")),
    ],
)
def test_the_scale_is_named_at_which_a_loss_is_no_longer_above_its_collapse(loss, name, gentler):
    """By a hundredth, it is above on one side of the reported value, and not on the other."""
    scenario = on(loss, agreement=0.5, mislabelled=0.1, hard_negatives=0.4)
    sharp = 60.0 if name == "scale" else 0.01
    here = at(scenario, **{name: sharp})
    assert here.loss > here.collapse
    (remark,) = (r for r in remarks(here, most=10) if r.key.startswith("above_collapse"))
    assert remark.values["value"] == f"{sharp:.3g}"
    where = collapse_crossing.crossing(here)
    assert remark.key == f"above_collapse_not_{where.side}"
    assert where.side == ("below" if name == "scale" else "above")
    ceased = at(scenario, **{name: where.value * gentler})
    assert ceased.loss <= ceased.collapse
    printed = at(scenario, **{name: float(remark.values["edge"])})
    assert printed.loss <= printed.collapse
    still = at(scenario, **{name: where.value / gentler})
    assert still.loss > still.collapse


CONVEX = [name for name, spec in LOSSES.items() if isinstance(spec.form, collapse_crossing.CONVEX)]


@pytest.mark.thorough
@pytest.mark.parametrize("loss", CONVEX)
@pytest.mark.parametrize("labels", ["binary", "graded", "continuous"])
def test_of_a_convex_loss_few_values_show_what_all_of_its_range_would(loss, labels, monkeypatch):
    found = []
    for agreement, mislabelled in ((0.0, 0.5), (0.5, 0.1), (0.8, 0.0), (1.0, 0.0)):
        scenario = on(loss, labels=labels, agreement=agreement, mislabelled=mislabelled, pairs=12)
        found.append((explore(scenario), collapse_crossing.crossing(explore(scenario))))
    monkeypatch.setattr(collapse_crossing, "CONVEX", ())
    for exploration, crossing in found:
        collapse_crossing._crossing.cache_clear()
        assert collapse_crossing.crossing(exploration) == crossing
    collapse_crossing._crossing.cache_clear()


def upside_down(loss):
    """Remarks on pairs that are all in the wrong order."""
    words = tuple("abcdefghijkl")
    scores = tuple(1 - place / 11 for place in range(12))
    pairs = Pairs(words, tuple(map(str.upper, words)), tuple(map(float, range(12))), scores)
    scenario = Scenario(loss=loss)
    found = remarks(explore(scenario, batch_of_scores(pairs, scenario.rules)), most=10)
    return {remark.key: remark.values for remark in found}


def test_a_batch_in_the_wrong_order_is_above_the_collapse_at_every_scale():
    message = upside_down("cosent")["above_collapse_all_over"]
    assert (message["low"], message["high"]) == ("0.1", "1\u202f000")


def test_a_loss_without_a_scale_is_above_its_collapse_as_it_stands():
    assert set(upside_down("pairwise_hinge")["above_collapse"]) == {"name", "loss", "collapse"}


def test_a_batch_in_order_is_praised_and_not_blamed():
    found = remark_keys(on(agreement=1.0, mislabelled=0.0, hard_negatives=0.0, labels="binary"))
    assert "suspects" not in found
    assert not any(key.startswith("above_collapse") for key in found)
    s0 = remark_keys(dataclasses.replace(Scenario(), data=Data(example="cosent_batch")))
    assert s0["in_order"] == {"count": 4}


def flat_at(exploration, spread, **changed):
    """The exploration with all similarities of pairs within `spread`."""
    batch = exploration.batch
    scores = 0.5 + spread * torch.linspace(0, 1, len(batch), dtype=torch.float64)
    flat = dataclasses.replace(batch, given=scores)
    return dataclasses.replace(exploration, batch=flat, **changed)


def test_collapsed_similarities_are_called_so():
    exploration = explore(on(pairs=8))
    flat = flat_at(exploration, 0.0, trace=with_loss(exploration, exploration.collapse))
    # Pairs may be alike where sentences are not.
    assert remarks(flat)[0].key == "alike"
    alike = dataclasses.replace(flat.batch, vectors=torch.ones_like(flat.batch.vectors))
    assert remarks(dataclasses.replace(flat, batch=alike))[0].key == "collapsed"
    # Where the loss is elsewhere all the same, it is not reported at its collapse value.
    assert remarks(flat_at(exploration, 0.0))[0].key == "alike"
    assert remarks(flat_at(exploration, 0.019))[0].values == {"spread": "0.019"}
    assert remarks(flat_at(exploration, 0.021))[0].key not in ("collapsed", "alike")


def with_loss(exploration, loss):
    return dataclasses.replace(exploration.trace, loss=torch.tensor(loss))


def test_pairs_that_all_fit_are_no_collapse_to_a_loss_that_looks_among_many():
    """Every query lies on its own key, and far from all others: the best there is."""
    exploration = explore(on("info_nce", pairs=8, labels="binary"))
    batch = exploration.batch
    apart = torch.eye(len(batch.classes), dtype=torch.float64)
    vectors = apart[torch.minimum(batch.first, batch.second)[batch._first_pair_of]]
    perfect = dataclasses.replace(batch, vectors=vectors)
    assert float(perfect.scores.min()) == 1
    found = remarks(dataclasses.replace(exploration, batch=perfect), most=10)
    assert not {"collapsed", "alike"} & {remark.key for remark in found}
    same = dataclasses.replace(batch, vectors=torch.ones_like(vectors))
    found = remarks(dataclasses.replace(exploration, batch=same), most=10)
    assert {"collapsed", "alike"} & {remark.key for remark in found}


CHINESE = Data(example="graded_chinese")


def test_an_english_encoder_on_chinese_is_recognised():
    found = remark_keys(Scenario(data=CHINESE))
    assert remarks(explore(Scenario(data=CHINESE)))[0].key == "language"
    # Labels are not doubted on its word, though on that of another encoder they are.
    exploration = explore(Scenario(data=CHINESE))
    many = [Suspect(pair, 0.9, 0.0) for pair in range(len(exploration.batch) // 2)]
    doubted = dataclasses.replace(exploration, suspects=many)
    assert "suspects" not in {remark.key for remark in remarks(doubted, most=10)}
    other = dataclasses.replace(CHINESE, encoder="a/multilingual-one")
    doubted = dataclasses.replace(doubted, scenario=Scenario(data=other))
    assert "suspects" in {remark.key for remark in remarks(doubted, most=10)}
    assert "language" in found
    assert "language" not in remark_keys(Scenario())
    # The vectors that this example brings are another model's, and a guide is a guide's.
    multilingual = explore(Scenario(data=Data(example="graded_chinese_multilingual")))
    assert "language" not in {remark.key for remark in remarks(multilingual, most=10)}
    assert "language" not in remark_keys(on())


@pytest.mark.parametrize(
    ("words", "foreign"),
    [("naïve façade, Ünïcödé", False), ("中文句子", True), ("Здравствуй мир", True),
     ("An English sentence with 中文", False), ("😀 123 …", False)],
)  # fmt: skip
def test_most_letters_decide(words, foreign):
    rows = tuple((f"{words} {n}", words, str(n)) for n in (1, 2))
    assert ("language" in remark_keys(Scenario(data=Data(source="table", rows=rows)))) == foreign


def test_equal_labels_are_called_so():
    exploration = explore(on(pairs=4))
    nothing = dataclasses.replace(exploration.order, ordered=0, violated=0)
    result = remarks(dataclasses.replace(exploration, order=nothing, gradient_norm=0.0))
    assert result[0].key == "labels_equal"


def test_equal_labels_are_described_as_the_loss_reads_them():
    rows = tuple((f"first {word}", f"second {word}", "1") for word in ("one", "two", "three"))
    table = Data(source="table", rows=rows)
    assert "labels_equal" in remark_keys(Scenario(data=table, loss="cosent"))
    found = remark_keys(Scenario(data=table, loss="cosine_mse"))
    assert "labels_equal_felt" in found
    assert "labels_equal" not in found
    # A loss that looks for the own key needs no order.
    assert not {"labels_equal", "labels_equal_felt"} & set(
        remark_keys(Scenario(data=table, loss="info_nce"))
    )


@pytest.mark.parametrize(
    ("loss", "kind"), [("info_nce", "key"), ("supcon", "class"), ("softmax", "prototype")]
)
def test_a_batch_where_all_is_found_is_praised_for_it(loss, kind):
    easy = on(loss, agreement=1.0, mislabelled=0.0, hard_negatives=0.0, labels="binary")
    places = explore(easy).places
    found = remark_keys(easy)
    assert places.kind == kind
    assert (f"all_{kind}" in found) == (places.first == places.anchors)
    assert "in_order" not in found


def test_a_single_pair_gets_what_it_lacks():
    rows = (("A cat sleeps.", "A dog barks.", "1"),)
    scenario = Scenario(data=Data(source="table", rows=rows))
    given = batch_of_scores(Pairs(("a",), ("b",), (1.0,), (0.5,)), Rules())
    assert [remark.key for remark in remarks(explore(scenario, given))] == ["one_pair"]


def test_at_most_three_by_default():
    assert len(remarks(explore(Scenario()))) == 3


def test_every_remark_has_its_sentence():
    keys = [key for key in catalogue("en") if key.startswith("remark.")]
    assert len(keys) >= 14
    for language in LANGUAGES:
        for key in keys:
            assert catalogue(language)[key].strip()


def test_the_advised_scale_is_alpha_over_sigma():
    batch = make_batch(Data(), Rules())
    low, high = suggested_scale(batch)
    sigma = float(batch.scores.std(correction=0))
    assert low == pytest.approx(10 / sigma)
    assert high == pytest.approx(3 * low)
    equal = dataclasses.replace(batch, given=batch.labels * 0)
    assert suggested_scale(equal) is None


def test_statistics_are_scipys():
    batch = make_batch(Data(), Rules())
    found = statistics(batch)
    scores, labels = batch.scores.numpy(), batch.labels.numpy()
    high, low = scores[labels >= batch.threshold], scores[labels < batch.threshold]
    assert found.pearson == pytest.approx(stats.pearsonr(scores, labels).statistic)
    assert found.ks == pytest.approx(stats.ks_2samp(high, low).statistic)
    assert (found.high, found.low) == (len(high), len(low))
    assert 0 < found.ks_p < 1


def test_statistics_without_anything_to_compare():
    batch = make_batch(Data(), Rules(threshold=-1.0))
    found = statistics(batch)
    assert found.ks is None
    assert found.pearson is not None


@pytest.mark.parametrize("loss", [n for n, s in LOSSES.items() if not s.reads_teacher])
def test_one_sentence_over_and_over_is_remarked_on_by_every_loss(loss):
    rows = (("the same", "the same", "3"), ("the same", "the same", "1"))
    found = remark_keys(Scenario(data=Data(source="table", rows=rows), loss=loss))
    assert {"collapsed", "alike"} & set(found)
