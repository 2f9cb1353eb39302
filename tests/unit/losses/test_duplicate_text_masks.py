"""Keys that hold the query's text, or the own key's, are left out of the negatives."""

import itertools
import math

import pytest
import torch

from lossprism import losses
from lossprism.losses import LOSSES
from lossprism.losses.duplicate_text_masks import same_text, same_text_count
from lossprism.losses.kernels import query_key_losses_by_tiles
from tests.unit.losses.made import case

# name, parameters, whether there are further negatives
CASES = [
    ("info_nce", {}, False),
    ("info_nce", {}, True),
    ("info_nce", {"symmetric": True}, False),
    ("info_nce", {"symmetric": True}, True),
    ("info_nce", {"temperature": 1e-3, "symmetric": True}, True),
    ("info_nce", {"temperature": 1e-3}, True),
    ("nt_xent", {}, False),
    ("nt_xent", {"temperature": 1e-3}, False),
    ("nce", {"noise_ratio": 3.0}, False),
    ("nce", {"full": True, "log_noise": 1.5}, False),
    ("siglip", {}, False),
    ("siglip", {"scale": 1000.0, "bias": 3.0}, False),
]
IDS = [f"{name}-{'-'.join(said) or 'plain'}{'-negatives' * more}" for name, said, more in CASES]
every_case = pytest.mark.parametrize(("name", "parameters", "more"), CASES, ids=IDS)
READING = [spec for spec in LOSSES.values() if spec.reads_texts]


def made(name, count, more, seed=0, kinds=None, dtype=torch.float64):
    """Vectors, and texts of which `kinds` differ: equal texts have equal vectors half the time."""
    source = torch.Generator().manual_seed(seed)
    rows = {"first": count, "second": count} if name == "nt_xent" else None
    rows = rows or {"queries": count, "keys": count}
    if more:
        rows["negatives"] = count // 2 + 1
    kinds = kinds or max(count, 2)
    by_text = torch.randn(kinds, 5, generator=source, dtype=torch.float64)
    vectors, texts = {}, {}
    names = ("query_texts", "key_texts", "negative_texts")
    for (one, size), text in zip(rows.items(), names, strict=False):
        texts[text] = torch.randint(kinds, (size,), generator=source)
        apart = torch.randn(size, 5, generator=source, dtype=torch.float64)
        alike = torch.rand(size, 1, generator=source) < 0.5
        vectors[one] = torch.where(alike, by_text[texts[text]], apart).to(dtype)
    return vectors, texts


def all_apart(texts):
    place = itertools.count()
    return {name: torch.tensor([next(place) for _ in numbers]) for name, numbers in texts.items()}


def value_and_gradient(function, vectors, **rest):
    moving = {name: vector.detach().clone().requires_grad_() for name, vector in vectors.items()}
    value = function(**moving, **rest)
    return value.detach(), torch.autograd.grad(value, list(moving.values()))


@pytest.fixture(params=["one tile", "ragged tiles"])
def tiles(request, monkeypatch):
    if request.param == "ragged tiles":
        monkeypatch.setattr(query_key_losses_by_tiles, "TILE_CELLS", 1)
        monkeypatch.setattr(query_key_losses_by_tiles, "MIN_TILE_ROWS", 4)


def test_the_losses_that_compare_keys_of_the_batch_read_texts():
    assert [spec.name for spec in READING] == ["info_nce", "nt_xent", "nce", "siglip"]
    for spec in READING:
        for convention in spec.conventions:
            reads = spec.under(convention.name).reads
            of_pairs = "classes" not in reads and not convention.name.startswith("ms-swift")
            assert spec.under(convention.name).reads_texts == of_pairs


@every_case
@pytest.mark.usefixtures("tiles")
def test_value_and_gradient_are_those_of_the_definition(name, parameters, more):
    spec = LOSSES[name]
    for count in (1, 2, 3, 5, 17, 40):
        vectors, texts = made(name, count, more, seed=count)
        found = value_and_gradient(spec.function, vectors, **texts, **parameters)
        expected = value_and_gradient(spec.definition, vectors, **texts, **parameters)
        largest = max(1e-2, *(float(gradient.abs().max()) for gradient in expected[1]))
        with case(count=count):
            torch.testing.assert_close(found[0], expected[0], rtol=1e-10, atol=1e-12)
            torch.testing.assert_close(found[1], expected[1], rtol=1e-10, atol=1e-10 * largest)


@every_case
@pytest.mark.usefixtures("tiles")
def test_where_all_texts_differ_not_a_bit_does(name, parameters, more):
    vectors, texts = made(name, 17, more)
    for function in (LOSSES[name].function, LOSSES[name].definition):
        without = value_and_gradient(function, vectors, **parameters)
        apart = value_and_gradient(function, vectors, **all_apart(texts), **parameters)
        assert torch.equal(without[0], apart[0])
        assert all(map(torch.equal, without[1], apart[1]))


def log_1p_sum_exp(terms):
    largest = max([0.0, *terms])
    return largest + math.log(math.exp(-largest) + sum(math.exp(term - largest) for term in terms))


def softplus(x):
    return log_1p_sum_exp([x])


def cosines(rows, columns):
    units = (side / side.norm(dim=1, keepdim=True) for side in (rows, columns))
    return torch.einsum("id,jd->ij", *units).tolist()


def by_hand(name, vectors, texts, parameters):
    """Each loss by loops over the cells that are left: written anew, without a mask."""
    settings = {**LOSSES[name].defaults, **parameters}
    sides, words = list(vectors.values()), [numbers.tolist() for numbers in texts.values()]
    count = len(sides[0])
    queries, keys = words[:2]

    def towards(logits, anchors, positives, candidates, own):
        """Of each row the logits of the others that hold neither text, and the own logit."""
        for row, logit in enumerate(logits):
            taken = [
                logit[j]
                for j, text in enumerate(candidates)
                if j != own(row) and text not in (anchors[row], positives[row])
            ]
            yield taken, logit[own(row)]

    if name == "nt_xent":
        views, message = torch.cat(sides), queries + keys
        logits = [[c / settings["temperature"] for c in row] for row in cosines(views, views)]
        partner = [(i + count) % (2 * count) for i in range(2 * count)]
        partners = [message[p] for p in partner]
        rows = towards(logits, message, partners, message, lambda row: partner[row])
        return sum(log_1p_sum_exp([t - own for t in taken]) for taken, own in rows) / (2 * count)
    scale = settings["scale"] if name == "siglip" else 1 / settings["temperature"]
    every = [text for numbers in words[1:] for text in numbers]
    logits = [[scale * c for c in row] for row in cosines(sides[0], torch.cat(sides[1:]))]
    rows = list(towards(logits, queries, keys, every, lambda row: row))
    if name == "info_nce":
        there = sum(log_1p_sum_exp([t - own for t in taken]) for taken, own in rows) / count
        if not settings["symmetric"]:
            return there
        turned = [[logits[i][j] for i in range(count)] for j in range(count)]
        back = towards(turned, keys, queries, queries, lambda row: row)
        return (there + sum(log_1p_sum_exp([t - own for t in s]) for s, own in back) / count) / 2
    if name == "nce" and not settings["full"]:
        shift = math.log(settings["noise_ratio"])
        terms = [softplus(t - own + shift) for taken, own in rows for t in taken]
        return sum(terms) / max(len(terms), 1)
    bias = settings["bias"] if name == "siglip" else -settings["log_noise"]
    each = (softplus(-own - bias) + sum(softplus(t + bias) for t in s) for s, own in rows)
    return sum(each) / count


@every_case
def test_it_is_the_loss_of_the_cells_that_are_left(name, parameters, more):
    for seed in range(5):
        vectors, texts = made(name, 9, more, seed=seed)
        expected = by_hand(name, vectors, texts, parameters)
        for function in (LOSSES[name].function, LOSSES[name].definition):
            found = float(function(**vectors, **texts, **parameters))
            assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)
        assert float(LOSSES[name].function(**vectors, **parameters)) != pytest.approx(expected)


@every_case
def test_the_gradient_is_that_of_central_differences(name, parameters, more):
    vectors, texts = made(name, 5, more, seed=2)
    mild = {"temperature": 0.5, "scale": 3.0}
    parameters = {n: mild.get(n, v) for n, v in {**LOSSES[name].defaults, **parameters}.items()}

    def loss(*moving):
        given = dict(zip(vectors, moving, strict=True))
        return LOSSES[name].function(**given, **texts, **parameters)

    leaves = [vector.requires_grad_() for vector in vectors.values()]
    assert torch.autograd.gradcheck(loss, leaves)
    assert torch.autograd.gradgradcheck(loss, leaves, fast_mode=True)


@pytest.mark.parametrize("name", ["info_nce", "nt_xent"])
def test_a_row_without_any_negative_left_adds_nothing(name):
    vectors, texts = made(name, 4, more=False)
    alike = {text: torch.zeros_like(numbers) for text, numbers in texts.items()}
    for parameters in ({}, {"temperature": 1e-3}):
        value, gradient = value_and_gradient(LOSSES[name].function, vectors, **alike, **parameters)
        assert value == 0
        assert not any(bool(one.any()) for one in gradient)


@every_case
def test_at_collapse_it_is_what_the_page_says(name, parameters, more):
    spec = LOSSES[name]
    settings = {**spec.defaults, **parameters}
    vectors, texts = made(name, 9, more)
    equal = {one: torch.ones_like(vector) for one, vector in vectors.items()}
    found = float(spec.definition(**equal, **texts, **parameters))
    assert found == pytest.approx(spec.collapse({**equal, **texts}, **settings), rel=1e-9)
    assert spec.floor({**equal, **texts}, **settings) is None
    apart = all_apart(texts)
    assert spec.floor({**equal, **apart}, **settings) == spec.floor(equal, **settings)


@every_case
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_half_precision_stays_near_and_finite(name, parameters, more, dtype):
    vectors, texts = made(name, 12, more, dtype=dtype)
    found, gradients = value_and_gradient(LOSSES[name].function, vectors, **texts, **parameters)
    raised = {one: vector.double() for one, vector in vectors.items()}
    expected = LOSSES[name].definition(**raised, **texts, **parameters)
    assert float(found) == pytest.approx(float(expected), rel=1e-4, abs=1e-4)
    assert all(bool(gradient.isfinite().all()) for gradient in gradients)


@every_case
def test_an_accelerator_never_waits_for_a_number(name, parameters, more):
    vectors, texts = made(name, 10, more, dtype=torch.float32)
    there = ({n: t.to("meta") for n, t in of.items()} for of in (vectors, texts))
    vectors, texts = there
    loss, _ = value_and_gradient(LOSSES[name].function, vectors, **texts, **parameters)
    assert loss.device.type == "meta"


def test_the_counts_are_the_sums_of_the_rows():
    source = torch.Generator().manual_seed(1)
    anchors, positives = torch.randint(-3, 6, (2, 30), generator=source)
    candidates = torch.randint(-3, 6, (50,), generator=source)
    expected = same_text(anchors, positives, candidates).sum(dim=1)
    assert torch.equal(same_text_count(anchors, positives, candidates), expected)


REFUSED = [
    ("info_nce", {"key_texts": torch.arange(2)}, "query_texts is missing: it goes .* key_texts"),
    ("siglip", {"query_texts": torch.arange(2)}, "key_texts is missing"),
    (
        "nt_xent",
        {"query_texts": torch.arange(3), "key_texts": torch.arange(2)},
        r"query_texts has shape \(3,\); one text for each of the 2 rows",
    ),
    (
        "nce",
        {"query_texts": torch.ones(2), "key_texts": torch.arange(2)},
        "query_texts must be whole numbers, not torch.float32",
    ),
    (
        "info_nce",
        {
            "query_texts": torch.arange(2),
            "key_texts": torch.arange(2),
            "negatives": torch.ones(4, 3),
        },
        "negative_texts is missing",
    ),
    (
        "info_nce",
        {f"{side}_texts": torch.arange(2) for side in ("query", "key", "negative")},
        r"negative_texts has shape \(2,\); one text for each of the 0 rows",
    ),
    (
        "nce",
        {
            "query_texts": torch.arange(2),
            "key_texts": torch.arange(2),
            "negatives": torch.ones(2, 1, 3),
        },
        "give it, or negatives, not both",
    ),
]


@pytest.mark.parametrize(("name", "texts", "message"), REFUSED)
def test_texts_that_do_not_fit_are_refused(name, texts, message):
    rows = torch.eye(2, 3)
    with pytest.raises(ValueError, match=message):
        LOSSES[name].function(rows, rows, **texts)


def test_both_directions_of_simclr_leave_the_same_out():
    vectors, texts = made("nt_xent", 7, more=False)
    once = losses.nt_xent(**vectors, **texts, temperature=0.2)
    both = losses.nt_xent_of_both_directions(**vectors, **texts, temperature=0.2)
    torch.testing.assert_close(both, 2 * once)
