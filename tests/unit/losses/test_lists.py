"""Losses on lists and from teachers: against loops without torch, and at their edges."""

import math

import pytest
import torch

from lossprism import losses
from lossprism.losses import LOSSES
from lossprism.losses.kernels.softmax_list_losses import STEEP
from tests.unit.losses.made import case

ON_LISTS = ["list_net", "softmax_rank", "list_mle", "lambda_loss", "approx_ndcg", "adr_mse"]
SCHEMES = ("ndcg2pp", "ndcg2", "lambdarank", "ndcg1", "none")
CALLS = [
    *(("list_net", {"target": target}) for target in ("softmax", "normalized", "raw")),
    ("list_net", {"temperature": 0.3}),
    *(("softmax_rank", {"target": target}) for target in ("raw", "normalized")),
    *(
        ("list_mle", {"weighted": w, "order": o})
        for w in (False, True)
        for o in ("labels", "given")
    ),
    *(("lambda_loss", {"scheme": scheme, "k": k}) for scheme in SCHEMES for k in (None, 2)),
    ("lambda_loss", {"reduction": "sum", "sigma": 2.0, "mu": 3.0}),
    ("approx_ndcg", {}),
    ("adr_mse", {"temperature": 0.5}),
]
NAMED = [pytest.param(*call, id=" ".join([call[0], *map(str, call[1].values())])) for call in CALLS]


def drawn(lists, candidates, *, seed=0, masked=False):
    """Scores, labels with ties, and a mask that leaves one list empty and one with a single one."""
    made = torch.Generator().manual_seed(seed)
    scores = torch.randn(lists, candidates, generator=made, dtype=torch.float64)
    labels = torch.randint(0, 4, (lists, candidates), generator=made)
    if not masked:
        return scores, labels, None
    mask = torch.rand(lists, candidates, generator=made) < 0.6
    mask[0] = True
    mask[1] = False
    mask[2] = torch.arange(candidates) == 0
    return scores, labels, mask


def rows_of(scores, labels, mask):
    for place in range(len(scores)):
        there = range(scores.shape[1]) if mask is None else mask[place].nonzero().flatten().tolist()
        yield [(scores[place, j].item(), float(labels[place, j])) for j in there]


def log_sum_exp(values):
    top = max(values)
    return top + math.log(sum(math.exp(v - top) for v in values))


def by_list_net(row, target="softmax", temperature=1.0):
    total = log_sum_exp([s / temperature for s, _ in row])
    raised = [math.exp(y) if target == "softmax" else y for _, y in row]
    divisor = 1.0 if target == "raw" else sum(raised) or 1.0
    return sum(
        -p / divisor * (s / temperature - total) for p, (s, _) in zip(raised, row, strict=True)
    )


def by_softmax_rank(row, target="raw", temperature=1.0):
    return by_list_net(row, target, temperature)


def by_list_mle(row, weighted=False, order="labels", temperature=1.0):
    if order == "labels":
        row = sorted(row, key=lambda pair: -pair[1])  # stable
    n = len(row)
    weights = [2.0 ** (n - i) - 1 for i in range(1, n + 1)] if weighted else [1.0] * n
    divisor = (sum(weights) or 1.0) if weighted else 1.0
    return sum(
        weights[i]
        / divisor
        * (log_sum_exp([s / temperature for s, _ in row[i:]]) - row[i][0] / temperature)
        for i in range(n)
    )


def gains(row, k=None):
    raised = [2 ** max(y, 0.0) - 1 for _, y in row]
    best = sorted(raised, reverse=True)[: k or len(row)]
    ideal = sum(g / math.log2(2 + place) for place, g in enumerate(best))
    return [g / ideal if ideal else 0.0 for g in raised]


def lambda_terms(row, scheme="ndcg2pp", k=None, sigma=1.0, mu=10.0):
    order = sorted(range(len(row)), key=lambda j: (-row[j][0], j))
    rank = {j: place for place, j in enumerate(order, 1)}
    worth = gains(row, k)
    d = {r: math.log2(1 + r) for r in range(1, len(row) + 2)}
    for i, (s_i, y_i) in enumerate(row):
        for j, (s_j, y_j) in enumerate(row):
            if scheme != "ndcg1" and not y_i > y_j:
                continue
            if k and min(rank[i], rank[j]) > k:
                continue
            apart = abs(rank[i] - rank[j])
            near = abs(1 / d[apart] - 1 / d[apart + 1]) if apart else 0.0
            swapped = abs(1 / d[rank[i]] - 1 / d[rank[j]])
            gap = abs(worth[i] - worth[j])
            weight = {
                "none": 1.0,
                "ndcg1": worth[i] / d[rank[i]],
                "lambdarank": gap * swapped,
                "ndcg2": gap * near,
                "ndcg2pp": gap * (mu * near + swapped),
            }[scheme]
            yield weight * math.log2(1 + math.exp(sigma * (s_j - s_i)))


def soft_rank(row, i, temperature):
    others = (s for j, (s, _) in enumerate(row) if j != i)
    return 1 + sum(1 / (1 + math.exp(-(s - row[i][0]) / temperature)) for s in others)


def by_approx_ndcg(row, temperature=0.1):
    found = zip(gains(row), range(len(row)), strict=True)
    return -sum(g / math.log2(1 + soft_rank(row, i, temperature)) for g, i in found)


def adr_terms(row, temperature=1.0):
    for i, (_, y) in enumerate(row):
        above = sum(other > y for _, other in row)
        alike = sum(other == y for _, other in row)
        rank = above + (alike + 1) / 2
        yield (rank - soft_rank(row, i, temperature)) ** 2 / math.log2(1 + rank)


def by_loops(name, rows, **parameters):
    rows = [row for row in rows if row]
    if name == "lambda_loss":
        mean = parameters.pop("reduction", "mean") == "mean"
        terms = [term for row in rows for term in lambda_terms(row, **parameters)]
        return sum(terms) / (max(len(terms), 1) if mean else 1)
    if name == "adr_mse":
        terms = [term for row in rows for term in adr_terms(row, **parameters)]
        return sum(terms) / len(terms)
    one = {
        "list_net": by_list_net,
        "softmax_rank": by_softmax_rank,
        "list_mle": by_list_mle,
        "approx_ndcg": by_approx_ndcg,
    }[name]
    return sum(one(row, **parameters) for row in rows) / len(rows)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("name", "parameters"), NAMED)
def test_a_loss_on_lists_is_what_loops_give(name, parameters, masked):
    for shape in [(5, 1), (3, 2), (6, 7)]:
        scores, labels, mask = drawn(*shape, seed=shape[1], masked=masked)
        expected = by_loops(name, list(rows_of(scores, labels, mask)), **parameters)
        for form in (LOSSES[name].function, LOSSES[name].definition):
            found = form(scores, labels, mask=mask, **parameters)
            with case(shape=shape, form=form.__name__):
                assert found.item() == pytest.approx(expected, rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("spread", [1.0, 900.0])  # 900: exponentials would overflow
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("name", "parameters"), NAMED)
def test_the_fast_form_has_value_and_gradient_of_the_definition(name, parameters, masked, spread):
    for shape in [(1, 1), (4, 9), (9, 70)]:
        scores, labels, mask = drawn(*shape, masked=masked and shape[0] > 2)
        scores = spread * scores
        if mask is not None:  # what stands where nothing is may be anything
            scores = scores.masked_fill(~mask, torch.nan)
            labels = labels.double().masked_fill(~mask, -torch.inf)
        found = []
        for form in (LOSSES[name].function, LOSSES[name].definition):
            leaf = scores.clone().requires_grad_()
            value = form(leaf, labels, mask=mask, **parameters)
            found += [value.detach(), *torch.autograd.grad(value, leaf)]
        torch.testing.assert_close(found[0], found[2], rtol=1e-10, atol=1e-12)
        size = max(float(found[3].abs().max()), 1.0)
        torch.testing.assert_close(found[1], found[3], rtol=1e-9, atol=1e-11 * size)
        if mask is not None:
            assert not found[1][~mask].any()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("name", "parameters"), NAMED)
def test_gradcheck_of_lists(name, parameters, masked):
    scores, labels, mask = drawn(4, 5, seed=3, masked=masked)

    def at(leaf):
        return LOSSES[name].function(leaf, labels, mask=mask, **parameters)

    assert torch.autograd.gradcheck(at, [scores.requires_grad_()], atol=1e-6)


@pytest.mark.parametrize("name", ON_LISTS)
def test_an_empty_list_is_as_if_it_were_not_there(name):
    scores, labels, mask = drawn(6, 7, masked=True)
    kept = mask.any(dim=1)
    function = LOSSES[name].function
    whole = function(scores, labels, mask=mask)
    torch.testing.assert_close(function(scores[kept], labels[kept], mask=mask[kept]), whole)
    leaf = scores[:1].clone().requires_grad_()
    nothing = function(leaf, labels[:1], mask=torch.zeros(1, 7, dtype=torch.bool))
    nothing.backward()
    assert nothing == 0
    assert not leaf.grad.any()


@pytest.mark.parametrize("name", ON_LISTS)
def test_what_is_masked_is_as_if_the_list_were_shorter(name):
    scores, labels, _ = drawn(5, 6)
    mask = torch.arange(6).expand(5, 6) < 4
    shorter = LOSSES[name].function(scores[:, :4], labels[:, :4])
    torch.testing.assert_close(LOSSES[name].function(scores, labels, mask=mask), shorter)


@pytest.mark.parametrize("name", ["list_net", "list_mle", "lambda_loss", "approx_ndcg", "adr_mse"])
def test_only_differences_within_a_list_count(name):
    scores, labels, _ = drawn(5, 6)
    moved = scores + torch.arange(5)[:, None]
    torch.testing.assert_close(
        LOSSES[name].function(moved, labels), LOSSES[name].function(scores, labels)
    )


def test_a_list_of_one_asks_for_nothing():
    for name in ("list_net", "list_mle", "lambda_loss", "adr_mse"):
        assert LOSSES[name].function(torch.randn(3, 1), torch.ones(3, 1)) == 0


def test_list_net_of_the_textbook():
    """K equal scores: ln K; the scores of the labels: the entropy of the target."""
    labels = torch.tensor([[3.0, 1.0, 0.0, 0.0]]).double()
    assert losses.list_net(0 * labels, labels).item() == pytest.approx(math.log(4))
    entropy = torch.special.entr(labels.softmax(dim=1)).sum().item()
    assert losses.list_net(labels, labels).item() == pytest.approx(entropy)
    given = {"scores": labels, "labels": labels, "mask": None}
    assert LOSSES["list_net"].scored_as("logit").floor(given, target="softmax") == pytest.approx(
        entropy
    )
    assert LOSSES["list_mle"].collapse(given, weighted=False, order="labels") == pytest.approx(
        math.log(24)
    )


def test_labels_too_large_for_a_power_of_two_still_gain():
    scores, labels, _ = drawn(3, 5)
    for name in ("lambda_loss", "approx_ndcg"):
        found = LOSSES[name].function(scores.float(), 900 * labels)
        assert found.isfinite()
        assert found != 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_list_mle_goes_over_from_sums_to_logarithms_without_a_step(dtype):
    labels = torch.tensor([[3, 2, 1, 0]])
    for reach in (0.999 * STEEP[dtype], 1.001 * STEEP[dtype]):
        scores = torch.tensor([[-0.5, 0.5, 0.1, -0.2]], dtype=dtype) * reach
        exact = by_loops("list_mle", list(rows_of(scores, labels, None)))
        assert losses.list_mle(scores, labels).item() == pytest.approx(exact, rel=1e-6)


# From a teacher


@pytest.mark.parametrize("divergence", ["kl", "ce"])
@pytest.mark.parametrize(("temperature", "teachers"), [(1.0, None), (2.0, None), (0.5, 3.0)])
def test_distillation_is_what_loops_give(divergence, temperature, teachers):
    scores, _, mask = drawn(6, 7, masked=True)
    teacher = 4 * torch.randn(6, 7, generator=torch.Generator().manual_seed(1)).double()
    teacher[0, 3] = -torch.inf  # of which the teacher thinks nothing
    rows, total = 0, 0.0
    for row in range(6):
        there = mask[row].nonzero().flatten().tolist()
        if not there:
            continue
        rows += 1
        student = log_sum_exp([scores[row, j].item() / temperature for j in there])
        softened = [teacher[row, j].item() / (teachers or temperature) for j in there]
        norm = log_sum_exp(softened)
        for j, t in zip(there, softened, strict=True):
            p = math.exp(t - norm)
            log_p = scores[row, j].item() / temperature - student
            total += -p * log_p + (p * (t - norm) if p and divergence == "kl" else 0.0)
    named = {"temperature": temperature, "teacher_temperature": teachers, "divergence": divergence}
    for form in (losses.distill_kl, LOSSES["distill_kl"].definition):
        leaf = scores.clone().requires_grad_()
        found = form(leaf, teacher, mask=mask, **named)
        assert found.item() == pytest.approx(temperature**2 * total / rows, rel=1e-10)
        (slopes,) = torch.autograd.grad(found, leaf)
        assert slopes.isfinite().all()
        assert not slopes[~mask].any()
    assert torch.autograd.gradcheck(
        lambda leaf: losses.distill_kl(leaf, teacher, mask=mask, **named), [scores.requires_grad_()]
    )


def test_a_teacher_that_takes_none_of_a_row_leaves_it_out():
    scores = torch.randn(2, 3).double()
    teacher = torch.tensor([[1.0, 2.0, 0.0], [-torch.inf] * 3]).double()
    torch.testing.assert_close(
        losses.distill_kl(scores, teacher), losses.distill_kl(scores[:1], teacher[:1])
    )


def test_a_temperature_that_learns():
    scores, labels, mask = drawn(5, 6, masked=True)
    teacher = 3 * torch.randn(5, 6).double()
    calls = {
        "list_net": (scores, labels),
        "list_mle": (scores, labels),
        "approx_ndcg": (scores, labels),
        "adr_mse": (scores, labels),
        "distill_kl": (scores, teacher),
    }
    for name, given in calls.items():
        slopes = []
        for form in (LOSSES[name].function, LOSSES[name].definition):
            learned = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
            slopes += torch.autograd.grad(form(*given, mask=mask, temperature=learned), learned)
        torch.testing.assert_close(*slopes)
        assert slopes[0] != 0


def test_margins_are_what_a_loop_gives():
    positives, negatives = torch.randn(4).double(), torch.randn(4, 3).double()
    margins = 3 * torch.randn(4, 3).double()
    mask = torch.tensor([[1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 0]]).bool()
    errors = [
        (positives[i] - negatives[i, k] - margins[i, k]).item() ** 2
        for i in range(4)
        for k in range(3)
    ]
    found = losses.margin_mse(positives, negatives, margins)
    assert found.item() == pytest.approx(sum(errors) / 12)
    kept = [one for one, there in zip(errors, mask.flatten().tolist(), strict=True) if there]
    spoiled = negatives.masked_fill(~mask, torch.nan), margins.masked_fill(~mask, torch.inf)
    found = losses.margin_mse(positives, *spoiled, mask=mask)
    assert found.item() == pytest.approx(sum(kept) / len(kept))


def test_the_minimum_of_margins_is_out_of_reach_of_two_cosines():
    floor = LOSSES["margin_mse"].floor
    margins = torch.tensor([[5.0], [-3.0], [1.0]]).double()
    assert floor({"teacher_margins": margins}) == pytest.approx((9 + 1 + 0) / 3)
    both = torch.tensor([[3.0, -3.0]]).double()  # no place of the positive suits both
    assert floor({"teacher_margins": both}) == pytest.approx(4.0)


def test_embedding_mse_is_a_mean_over_rows_and_dimensions():
    embeddings, teacher = torch.randn(2, 5, 3).double()
    pairs = zip(embeddings.flatten(), teacher.flatten(), strict=True)
    expected = sum((a - b) ** 2 for a, b in pairs) / 15
    torch.testing.assert_close(losses.embedding_mse(embeddings, teacher), expected)
    with pytest.raises(ValueError, match=r"embeddings \(5, 3\), teacher_embeddings \(4, 3\)"):
        losses.embedding_mse(embeddings, teacher[:4])


# What is refused

ROW = torch.zeros(2, 3)
REFUSED = [
    ("list_net", (ROW[0], ROW[0]), {}, r"scores has shape \(3,\); a row for each list, \[L, K\]"),
    ("list_net", (ROW, ROW[:, :2]), {}, r"labels has shape \(2, 2\); one for each of the scores"),
    ("list_mle", (ROW, ROW), {"mask": torch.ones(2)}, r"mask has shape \(2,\); one for each"),
    ("list_mle", (ROW, ROW), {"mask": torch.ones(2, 3)}, r"mask must be true where there is"),
    ("list_net", (ROW, ROW), {"target": "counts"}, r"it must be one of softmax, normalized, raw"),
    ("softmax_rank", (ROW, ROW - 1), {}, r"labels\[0\]\[0\] is -1.0; it must be at least 0"),
    ("lambda_loss", (ROW, ROW), {"scheme": "ndcg3"}, r"it must be one of ndcg2pp, ndcg2,"),
    ("lambda_loss", (ROW, ROW), {"k": 2.5}, r"k is 2.5; it must be a whole number of 1 or more"),
    ("lambda_loss", (ROW, ROW), {"sigma": 0}, r"sigma is 0; it must be greater than 0"),
    ("approx_ndcg", (ROW, ROW), {"temperature": 0}, r"temperature is 0; it must be greater"),
    ("distill_kl", (ROW, ROW + torch.inf), {}, r"teacher\[0\]\[0\] is inf; every value must"),
    ("distill_kl", (ROW, ROW * torch.nan), {}, r"teacher\[0\]\[0\] is nan; every value must"),
    ("distill_kl", (ROW, ROW), {"divergence": "js"}, r"it must be one of kl, ce"),
    ("distill_kl", (ROW, ROW), {"teacher_temperature": -1}, r"must be greater than 0, or None"),
    ("margin_mse", (ROW, ROW, ROW), {}, r"positive_scores has shape \(2, 3\); one for each of"),
    ("margin_mse", (ROW[:, 0], ROW, ROW + torch.inf), {}, r"teacher_margins\[0\]\[0\] is inf"),
]


@pytest.mark.parametrize(("name", "given", "named", "message"), REFUSED)
def test_wrong_lists_say_what_is_right(name, given, named, message):
    with pytest.raises(ValueError, match=message):
        LOSSES[name].function(*given, **named)


def test_a_mask_may_be_of_whole_numbers():
    scores, labels, mask = drawn(4, 5, masked=True)
    torch.testing.assert_close(
        losses.list_net(scores, labels, mask=mask.long()),
        losses.list_net(scores, labels, mask=mask),
    )
