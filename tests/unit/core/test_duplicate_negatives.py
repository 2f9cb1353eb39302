"""Negatives that hold the text of their query or of its own key: counted, weighed, left out."""

from __future__ import annotations

import dataclasses
import math
import unicodedata

import numpy as np
import pytest
import torch

from lossprism.explorer.core.batch import batch_of_vectors
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.remarks import remarks
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.export.caption import caption
from lossprism.explorer.export.code import library_code, package_code
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.pairs import Pairs, text_numbers
from lossprism.losses import LOSSES

READING = [name for name, spec in LOSSES.items() if spec.reads_texts]
# Row 1 has row 0's second sentence as its first, 2 has row 0's first as its second, 3 and 4 have
# one second sentence, the last pair is a negative one with row 0's first sentence as its second.
FIRST = ("a cat", "A cat sleeps", "a dog", "rain", "sun", "snow")
SECOND = ("A cat sleeps", "a bird", "a  cat ", "weather", "weather", " a cat")
LABELS = (1.0, 1.0, 1.0, 1.0, 1.0, 0.0)


def explored(loss, first=FIRST, second=SECOND, labels=LABELS, twins="keep", seed=0, **parameters):
    pairs = Pairs(tuple(first), tuple(second), tuple(labels))
    source = np.random.default_rng(seed)
    # Of one text there is one vector, however it is written.
    by_text = source.normal(size=(20, 6))
    vectors = by_text[text_numbers(pairs.sentences)]
    rules = Rules(twins=twins)
    scenario = Scenario(loss=loss, rules=rules, parameters=tuple(parameters.items()))
    return explore(scenario, batch_of_vectors(pairs, vectors, rules))


def same_text_of(found):
    """What is found under a loss that is no sum."""
    return found.same_text.get(found.spec.name)


def test_texts_are_compared_as_texts():
    spelled = ["é  x", " é x", unicodedata.normalize("NFD", "é x"), "É x", "é\tx\n", "éx"]
    assert text_numbers(spelled).tolist() == [0, 0, 0, 1, 0, 2]


def cells_of(loss):
    """(row, column) of every negative, with the texts of the one that looks, its own key, and the
    candidate: written out by the roles of the sentences."""
    plain = [" ".join(one.split()) for one in FIRST], [" ".join(one.split()) for one in SECOND]
    queries, keys = plain[0][:5], plain[1][:5]
    if loss == "nt_xent":
        views = queries + keys
        for i, j in np.ndindex(10, 10):
            if j not in (i, (i + 5) % 10):
                yield i, j, views[i], views[(i + 5) % 10], views[j]
        return
    every = keys + plain[1][5:] if loss == "info_nce" else keys
    for i, j in np.ndindex(5, len(every)):
        if i != j:
            yield i, j, queries[i], keys[i], every[j]


@pytest.mark.parametrize("loss", READING)
def test_the_counts_are_those_of_the_sentences(loss):
    found = same_text_of(explored(loss))
    cells = list(cells_of(loss))
    of_query = [cell for cell in cells if cell[4] == cell[2]]
    of_key = [cell for cell in cells if cell[4] == cell[3] != cell[2]]
    assert (found.negatives, found.of_anchor, found.of_positive) == (
        len(cells),
        len(of_query),
        len(of_key),
    )
    assert found.of_anchor > 0
    assert found.of_positive > 0
    assert found.rows_with == len({cell[0] for cell in of_query + of_key})
    assert not found.left_out


def test_the_shares_are_those_of_the_softmax():
    """Of InfoNCE the weights are probabilities: e^(s_ij/τ) / Σ_j e^(s_ij/τ)."""
    found = explored("info_nce", temperature=0.3)
    logits = found.trace.named("logits").value.tolist()
    weight = {}
    for i, row in enumerate(logits):
        total = sum(math.exp(logit) for logit in row)
        weight |= {(i, j): math.exp(logit) / total for j, logit in enumerate(row)}
    cells = list(cells_of("info_nce"))
    every = sum(weight[i, j] for i, j, *_ in cells)
    of_query = sum(weight[i, j] for i, j, q, _, c in cells if c == q)
    of_key = sum(weight[i, j] for i, j, q, k, c in cells if c == k != q)
    assert same_text_of(found).share_of_anchor == pytest.approx(of_query / every, rel=1e-9)
    assert same_text_of(found).share_of_positive == pytest.approx(of_key / every, rel=1e-9)
    (message,) = (one for one in remarks(found, most=9) if one.key == "same_text")
    assert message.values["query_share"] == f"{100 * of_query / every:.0f}%"
    assert message.values["key_share"] == f"{100 * of_key / every:.0f}%"
    for language in LANGUAGES:
        text = say(language, "remark.same_text", **message.values)
        assert "{" not in text
        assert str(same_text_of(found).of_anchor) in text


@pytest.mark.parametrize("parameters", [{}, {"symmetric": True}, {"temperature": 0.5}])
def test_duplicates_bound_the_minimum(parameters):
    """Of six queries two ask for one key: 2 ln 2 / 6, in the direction that compares keys."""
    texts = [("a", "x"), ("b", "x"), *((f"q{i}", f"k{i}") for i in range(4))]
    rows = tuple((one, other, "") for one, other in texts)
    data = Data(source="table", rows=rows, encoder="all apart")
    found = explore(Scenario(data=data, loss="info_nce", parameters=tuple(parameters.items())))
    least = 2 * math.log(2) / 6 / (2 if parameters.get("symmetric") else 1)
    alone = found.spec.floor(found.given, **found.parameters)
    assert found.floor == pytest.approx(max(least, alone))
    assert found.floor_is_bound
    matching = [one for one in remarks(found, most=9) if one.key == "same_text_floor"]
    assert len(matching) == (least > alone)  # else they are not what holds it there
    for message in matching:
        assert "{" not in say("zh", "remark.same_text_floor", **message.values)
    left_out = explore(dataclasses.replace(found.scenario, rules=Rules(twins="leave_out")))
    assert left_out.floor is None


@pytest.mark.parametrize(
    ("loss", "parameters"),
    [
        ("n_pair", {"similarity": "cosine"}),  # 1.5 without them, of InfoNCE at τ = 1
        ("debiased", {"tau_plus": 0.1}),  # the share that it takes off is more than they are
    ],
)
def test_a_minimum_without_duplicates_is_not_attributed_to_them(loss, parameters):
    data = Data(source="example", example="twins")
    found = explore(Scenario(data=data, loss=loss, parameters=tuple(parameters.items())))
    alone = found.spec.floor(found.given, **found.parameters)
    assert 0 < same_text_of(found).least <= alone * (1 + 1e-9)
    assert found.floor == pytest.approx(alone)
    keys = {one.key for one in remarks(found, most=9)}
    assert "same_text" in keys
    assert "same_text_floor" not in keys


def test_of_siglip_the_weight_of_a_negative_is_its_sigmoid():
    found = explored("siglip", scale=3.0, bias=-1.0)
    logits = found.trace.named("logits").value
    weight = logits.sigmoid()
    cells = list(cells_of("siglip"))
    every = sum(float(weight[i, j]) for i, j, *_ in cells)
    of_query = sum(float(weight[i, j]) for i, j, q, _, c in cells if c == q)
    assert same_text_of(found).share_of_anchor == pytest.approx(of_query / every, rel=1e-9)


@pytest.mark.parametrize("loss", READING)
def test_left_out_they_are_counted(loss):
    kept, found = explored(loss), explored(loss, twins="leave_out")
    counted = dataclasses.replace(
        same_text_of(kept), share_of_anchor=0.0, share_of_positive=0.0, left_out=True, least=0.0
    )
    assert same_text_of(found) == counted
    assert found.loss != pytest.approx(kept.loss)
    assert found.weights.terms < kept.weights.terms
    assert found.floor is None
    (message,) = (one for one in remarks(found, most=9) if one.key.startswith("same_text"))
    assert message.key == "same_text_left_out"
    for language in LANGUAGES:
        assert "{" not in say(language, "remark.same_text_left_out", **message.values)
        sentence = say(language, "figure_text.same_text_left_out")
        assert sentence in " ".join(caption(found, language))
        assert sentence not in " ".join(caption(kept, language))


@pytest.mark.parametrize("loss", READING)
def test_the_trace_shows_which_cells_are_left_out(loss):
    found = explored(loss, twins="leave_out")
    mask = found.trace.mask_of(found.trace.named(found.spec.terms))
    for i, j, query, key, candidate in cells_of(loss):
        assert bool(mask[i, j]) == (candidate not in (query, key))


@pytest.mark.parametrize("loss", READING)
@pytest.mark.parametrize("first", [FIRST, tuple("abcdef")])
def test_as_it_is_nothing_of_it_is_traced(loss, first):
    found = explored(loss, first=first)
    names = {step.name for step in (*found.trace.inputs, *found.trace.steps)}
    assert not names & {"query_texts", "key_texts", "negative_texts", "left_out", "counted"}


def test_where_all_texts_differ_the_rule_changes_nothing():
    given = {"first": tuple("abcdef"), "second": tuple("ghijkl")}
    for loss in READING:
        kept, left_out = (explored(loss, **given, twins=twins) for twins in ("keep", "leave_out"))
        assert kept.loss == left_out.loss
        assert torch.equal(kept.pair_gradient, left_out.pair_gradient)
        assert (kept.floor, kept.collapse) == (left_out.floor, left_out.collapse)
        assert not [one for one in remarks(left_out, most=9) if one.key.startswith("same_text")]


def test_a_key_of_the_own_text_does_not_push_the_own_key_from_its_place():
    """Twins of a key are as near as the key itself: they are no wrong ones where left out."""
    first, second = tuple("abcd"), ("x", "x", "y", "z")
    vectors = {one: place for place, one in enumerate("abxcydz")}
    pairs = Pairs(first, second, (1.0,) * 4)
    rows = np.array([[vectors[one] == vectors[s] for s in "abxcydz"] for one in pairs.sentences])
    near = rows.astype(float)
    for a, b in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "z")):
        near[pairs.sentences.index(a)] += near[pairs.sentences.index(b)]
    places = {}
    for twins in ("keep", "leave_out"):
        rules = Rules(twins=twins)
        scenario = Scenario(loss="info_nce", rules=rules)
        places[twins] = explore(scenario, batch_of_vectors(pairs, near, rules)).places
    assert (places["keep"].first, places["leave_out"].first) == (2, 4)


@pytest.mark.parametrize(
    "loss", ["focal_info_nce", "n_pair", "decoupled", "mega_batch_margin", "debiased"]
)
def test_a_loss_that_reads_no_texts_counts_them_all_the_same(loss):
    """Its negatives are those of InfoNCE, or of NT-Xent; no rule leaves any out."""
    kept, found = (explored(loss, twins=twins) for twins in ("keep", "leave_out"))
    assert same_text_of(found) == same_text_of(kept)
    others = LABELS if loss in ("focal_info_nce", "decoupled") else LABELS[:5]
    as_well = "nt_xent" if loss == "debiased" else "info_nce"
    alike = same_text_of(explored(as_well, FIRST[: len(others)], SECOND[: len(others)], others))
    counts = ("rows", "negatives", "of_anchor", "of_positive", "rows_with", "left_out")
    for name in counts:
        assert getattr(same_text_of(kept), name) == getattr(alike, name), name
    assert same_text_of(kept).rows_with > 0
    assert 0 < same_text_of(kept).share_of_anchor + same_text_of(kept).share_of_positive < 1
    assert "same_text" in {one.key for one in remarks(kept, most=9)}


def test_every_block_of_a_softmax_is_counted():
    """Queries at keys and at queries, keys at keys; the keys at queries are the first once more."""
    pairs = [(i, j) for i, j in np.ndindex(5, 5) if i != j]
    texts = [[" ".join(one.split()) for one in side[:5]] for side in (FIRST, SECOND)]
    queries, keys = texts
    blocks = ((queries, keys, keys), (queries, keys, queries), (keys, queries, keys))
    of_looking = sum(side[i] == beside[j] for side, _, beside in blocks for i, j in pairs)
    # A key that is among the keys stands there as what its own query looks for.
    ways = "query_to_key,key_to_query,query_to_query,key_to_key"
    held = same_text_of(explored("info_nce", FIRST[:5], SECOND[:5], LABELS[:5], directions=ways))
    assert (held.negatives, held.of_anchor) == (3 * len(pairs), of_looking)
    assert held.rows_with == 5
    every = sum(beside[j] in (a[i], b[i]) for a, b, beside in blocks for i, j in pairs)
    assert held.of_anchor + held.of_positive == every


@pytest.mark.parametrize("margin", [0.0, 0.3, -0.5])
def test_what_a_guide_leaves_out_is_no_negative(margin):
    found = explored("gist", FIRST[:5], SECOND[:5], LABELS[:5], margin=margin)
    queries, keys = ([" ".join(one.split()) for one in side[:5]] for side in (FIRST, SECOND))
    cells = [
        (i, queries[i], keys[i], candidates[j])
        for name, candidates in (("terms", keys), ("query_terms", queries), ("key_terms", keys))
        for i, j in found.trace.named(name).value.isfinite().nonzero().tolist()
    ]
    held = same_text_of(found)
    assert held.negatives == len(cells)
    assert 0 < len(cells) < 60
    assert held.of_anchor == sum(one == query for _, query, _, one in cells)
    assert held.of_positive == sum(one == key != query for _, query, key, one in cells)
    assert held.rows_with == len({i for i, query, key, one in cells if one in (query, key)})


def test_a_view_is_called_a_view():
    for loss, axis in (("nt_xent", "view"), ("debiased", "view"), ("info_nce", "query")):
        found = explored(loss, FIRST[:5], SECOND[:5], LABELS[:5])
        (message,) = (one for one in remarks(found, most=9) if one.key == "same_text")
        text = say("en", "remark.same_text", **message.values)
        assert f"of {same_text_of(found).rows} {say('en', f'axis.{axis}')} have one" in text


def test_a_loss_with_explicit_targets_is_not_counted():
    assert same_text_of(explored("soft_info_nce")) is None


# By the numbers of their texts. Apart: two queries ask for one key. Tangled: there a query stands
# twice as well, with two keys, and one of those that ask is what another looks for.
APART = torch.tensor([0, 1, 2, 3]), torch.tensor([4, 4, 5, 6])
TANGLED = torch.tensor([0, 1, 2, 2, 3]), torch.tensor([4, 4, 5, 6, 2])
COPIED = {
    "info_nce": {},
    "info_nce, both ways": {"symmetric": True},
    "info_nce, all in one": {
        "directions": "query_to_key,key_to_query,query_to_query,key_to_key",
    },
    "info_nce, each apart": {
        "directions": "query_to_key,query_to_query,key_to_key",
        "partition": "per_direction",
    },
    "nt_xent": {"temperature": 0.05},
    "gist": {"temperature": 0.05},
    "focal_info_nce": {"gamma": 2.0},
    "info_nce, by dot products": {"similarity": "dot", "temperature": 1.0},
    "n_pair": {"similarity": "cosine"},
    "n_pair, by dot products": {"similarity": "dot"},
    "mega_batch_margin": {},
    "debiased": {"tau_plus": 0.02, "temperature": 0.1},
    "matryoshka(info_nce)": {"weight_of_info_nce_half": 0.5},
    "info_nce+alignment": {"weight_of_info_nce": 2.0},
    "hard_weighted": {"tau_plus": 0.02, "temperature": 0.1},
}
# Those that reach it: a query has copies of its key, and no key has anything against that.
REACHED = ("info_nce", "focal_info_nce", "mega_batch_margin")


def trained(case, sides):
    """The batch as it is explored at first, and the loss after some training of its texts."""
    loss, parameters = case.split(",")[0], COPIED[case]
    texts = [f"text {i}" for i in range(7)]
    pairs = Pairs(*(tuple(texts[i] for i in side) for side in sides), (1.0,) * len(sides[0]))
    by_text = torch.randn(7, 8, dtype=torch.float64, generator=torch.manual_seed(0))
    at_first = by_text[[texts.index(one) for one in pairs.sentences]].numpy()
    scenario = Scenario(loss=loss, parameters=tuple(parameters.items()))
    found = explore(scenario, batch_of_vectors(pairs, at_first, Rules()))
    guides = {name: given for name, given in found.given.items() if name.startswith("guide")}
    chosen = torch.optim.Adam([by_text.requires_grad_()], lr=0.2)
    for _ in range(60):
        chosen.zero_grad()
        rows = dict(zip(found.spec.reads, (by_text[side] for side in sides), strict=False))
        value = found.spec.definition(**rows, **guides, **found.parameters)
        value.backward()
        chosen.step()
    return found, value.item()


@pytest.mark.thorough
@pytest.mark.parametrize("sides", [APART, TANGLED])
@pytest.mark.parametrize("case", COPIED)
def test_no_training_takes_a_loss_below_what_copies_hold_it_at(case, sides):
    found, reached = trained(case, sides)
    (held,) = found.same_text.values()
    assert held.least > 0
    assert held.least <= found.floor <= reached + 1e-9
    if case in REACHED and sides is APART:
        assert reached < 1.01 * held.least


def test_a_loss_without_negatives_of_the_batch_does_not_ask():
    for loss in ("supcon", "cosent", "triplet"):
        kept, found = (explored(loss, twins=twins) for twins in ("keep", "leave_out"))
        assert kept.loss == found.loss
        assert same_text_of(found) is None


def test_the_rule_stands_in_the_link_and_old_links_keep_them():
    assert Scenario.from_link(Scenario().to_link()).rules.twins == "keep"
    assert Scenario.from_json({"rules": {"threshold": 0.5}}).rules.twins == "keep"
    chosen = Scenario(rules=Rules(twins="leave_out"))
    assert Scenario.from_link(chosen.to_link()) == chosen
    with pytest.raises(Problem):
        Scenario.from_json({"rules": {"twins": "gone"}})


@pytest.fixture
def as_before():
    """A snippet chooses torch's default type."""
    kept = torch.get_default_dtype()
    yield
    torch.set_default_dtype(kept)


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize("loss", READING)
def test_the_code_to_take_away_leaves_them_out_too(loss, capsys):
    found = explored(loss, twins="leave_out")
    exec(compile(package_code(found).text, loss, "exec"), {})
    printed = capsys.readouterr().out.split()
    assert any(
        abs(float(word) - found.loss) <= 1e-9 * found.loss for word in printed if is_number(word)
    )
    assert library_code(found) is None
    apart = explored(loss, first=tuple("abcdef"), second=tuple("ghijkl"), twins="leave_out")
    assert (library_code(apart) is None) == (LOSSES[loss].equivalent is None)


def is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True
