"""What must hold for every batch: symmetries, limits, reference values. No copied numbers."""

import math

import pytest
import torch

from lossprism.losses import LOSSES
from lossprism.losses.geometry import unit
from lossprism.losses.ranking.ordered_pair_symbols import ordered_count
from tests.unit.losses.made import EMBEDDED, L, call, close, gradients, inputs_for

# Losses that see scores only through s_j − s_i.
DIFFERENCES = [
    "cosent",
    "weighted_cosent",
    "hierarchical_cosent",
    "multitask_cosent",
    "pairwise_logistic",
    "pairwise_hinge",
    "max_violation",
    "circle",
]


def scores_of(given):
    return "scores" if "scores" in given else "level_scores"


@pytest.mark.parametrize("name", DIFFERENCES)
def test_shifting_all_scores_changes_nothing(name):
    spec = LOSSES[name]
    given = inputs_for(spec, seed=1)
    key = scores_of(given)
    moved = {**given, key: given[key] + 3.7}
    close(call(spec, moved), call(spec, given), rtol=1e-9)
    total = gradients(spec, given)[key].sum(dim=-1)
    close(total, torch.zeros_like(total))


@pytest.mark.parametrize("name", ["cosent", "hierarchical_cosent", "circle", "max_violation"])
def test_only_the_order_of_labels_counts(name):
    spec = LOSSES[name]
    given = inputs_for(spec, seed=2)
    relabelled = {**given, "labels": given["labels"].double().exp() * 10 - 50}
    close(call(spec, relabelled), call(spec, given))


def test_weighted_cosent_follows_label_distances():
    given = inputs_for(LOSSES["weighted_cosent"], seed=2)
    before = call(LOSSES["weighted_cosent"], given, scale=1.0)
    doubled = {**given, "labels": 2 * given["labels"]}
    close(call(LOSSES["weighted_cosent"], doubled, scale=1.0).expm1(), 2 * before.expm1())


@pytest.mark.parametrize(
    "name", [n for n in DIFFERENCES if n != "multitask_cosent"] + ["circle_self_paced", "angle"]
)
def test_equal_labels_ask_for_nothing(name):
    spec = LOSSES[name]
    given = inputs_for(spec, seed=3)
    given["labels"] = torch.full_like(given["labels"], 2)
    assert call(spec, given) == 0
    assert all(not gradient.any() for gradient in gradients(spec, given).values())


@pytest.mark.parametrize("count", [2, 7, 40])
def test_circle_without_margins_is_cosent(count):
    given = inputs_for(LOSSES["circle"], seed=4, count=count)
    close(L["circle"](**given, scale=20.0), L["cosent"](**given, scale=20.0))


def test_cosent_by_its_scale_tends_to_the_largest_violation():
    given = inputs_for(LOSSES["cosent"], seed=5, count=20)
    limit = L["max_violation"](**given)
    assert limit > 0
    pairs = ordered_count(given["labels"])
    for scale in (1.0, 10.0, 100.0, 1000.0):
        gap = L["cosent"](**given, scale=scale) / scale - limit
        assert 0 <= gap <= math.log1p(pairs) / scale


def test_cosent_below_log_2_has_every_pair_in_order():
    """L < ln 2 ⇒ no violated ordered pair (S1-38, put right)."""
    below = 0
    for seed in range(300):
        given = inputs_for(LOSSES["cosent"], seed=seed, count=4)
        if L["cosent"](**given, scale=20.0) < math.log(2):
            below += 1
            assert L["max_violation"](**given) == 0
    assert below > 3


def test_cosent_is_below_the_sum_of_logistic_terms():
    """log(1 + Σ x) ≤ Σ log(1 + x) (S1 eq. 28)."""
    for seed in range(50):
        given = inputs_for(LOSSES["cosent"], seed=seed)
        assert L["cosent"](**given, scale=3.0) <= L["pairwise_logistic"](**given, scale=3.0)


def test_hierarchical_cosent_is_the_weighted_sum_of_its_levels():
    given = inputs_for(LOSSES["hierarchical_cosent"], seed=6)
    weights = (0.5, 2.0, 0.0)
    levels = [L["cosent"](level, given["labels"]) for level in given["level_scores"]]
    expected = sum(b * level for b, level in zip(weights, levels, strict=True))
    close(L["hierarchical_cosent"](**given, weights=weights), expected)


def test_multitask_cosent_is_cosent_and_cross_entropy():
    given = inputs_for(LOSSES["multitask_cosent"], seed=6)
    entropy = torch.nn.functional.cross_entropy(given["logits"], given["classes"])
    ranking = L["cosent"](given["scores"], given["labels"])
    close(L["multitask_cosent"](**given, alpha=0.3), ranking + 0.3 * entropy)


def test_angle_is_cosent_on_its_own_scores_and_not_symmetric():
    given = inputs_for(LOSSES["angle"], seed=8)
    first, second = unit(given["first"]), unit(given["second"])
    z = torch.complex(*first.chunk(2, dim=1))
    w = torch.complex(*second.chunk(2, dim=1))
    product = (z * w.conj()).sum(dim=1)
    scores = (product.real + product.imag).abs()
    close(L["angle"](**given), L["cosent"](scores, given["labels"]))
    swapped = L["angle"](given["second"], given["first"], given["labels"])
    assert abs(swapped - L["angle"](**given)) > 1e-3


@pytest.mark.parametrize("with_negatives", [False, True])
def test_symmetric_info_nce_is_the_mean_of_both_directions(with_negatives):
    given = inputs_for(LOSSES["info_nce"], seed=9)
    queries, keys = given["queries"], given["keys"]
    extra = given["negatives"] if with_negatives else None
    there = L["info_nce"](queries, keys, negatives=extra)
    back = L["info_nce"](keys, queries)
    both = L["info_nce"](queries, keys, negatives=extra, symmetric=True)
    close(both, (there + back) / 2)
    if not with_negatives:
        close(L["info_nce"](keys, queries, symmetric=True), both)


def test_info_nce_is_a_cross_entropy_over_its_keys():
    given = inputs_for(LOSSES["info_nce"], seed=10)
    keys = torch.cat((given["keys"], given["negatives"]))
    logits = unit(given["queries"]) @ unit(keys).T / 0.05
    close(L["info_nce"](**given), torch.nn.functional.cross_entropy(logits, torch.arange(6)))


def test_nt_xent_is_the_two_way_mean_with_keys_from_both_sides():
    first, second = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(1)).double()

    def one_way(queries, keys):
        others = torch.cat((unit(keys), unit(queries)))
        logits = unit(queries) @ others.T / 0.5
        logits[torch.arange(5), torch.arange(5) + 5] = -torch.inf  # a query is no key of itself
        return torch.nn.functional.cross_entropy(logits, torch.arange(5))

    both = (one_way(first, second) + one_way(second, first)) / 2
    close(L["nt_xent"](first, second, temperature=0.5), both)
    close(L["nt_xent"](second, first, temperature=0.5), both)


def test_nce_with_one_noise_key_is_info_nce_with_one_negative():
    """S2: with a single negative the two-way decision is the softmax over two keys."""
    made = torch.Generator().manual_seed(4)
    query, key, noise = torch.randn(3, 1, 4, generator=made).double()
    close(
        L["nce"](query, key, negatives=noise[:, None]), L["info_nce"](query, key, negatives=noise)
    )


def test_nce_of_noise_of_its_own_written_out():
    made = torch.Generator().manual_seed(4)
    queries, keys = torch.randn(2, 3, 4, generator=made).double()
    noise = torch.randn(3, 2, 4, generator=made).double()
    parts, sums = [], []
    for q, k, others in zip(queries, keys, noise, strict=True):
        positive = torch.cosine_similarity(q, k, dim=0).item() / 0.5
        data = math.log1p(math.exp(0.7 - positive))
        for other in others:
            negative = torch.cosine_similarity(q, other, dim=0).item() / 0.5
            own, noisy = math.exp(positive), 3 * math.exp(negative)
            parts.append(-math.log(own / (own + noisy)))
            data += math.log1p(math.exp(negative - 0.7))
        sums.append(data)
    arguments = {"negatives": noise, "temperature": 0.5}
    close(L["nce"](queries, keys, **arguments, noise_ratio=3.0), sum(parts) / 6)
    close(L["nce"](queries, keys, **arguments, full=True, log_noise=0.7), sum(sums) / 3)


def test_full_nce_over_the_batch_is_siglip():
    """Both sum binary decisions over all pairs: t = 1/τ, b = −ν."""
    given = inputs_for(LOSSES["nce"], seed=2)
    siglip = L["siglip"](**given, scale=4.0, bias=-1.5)
    close(L["nce"](**given, temperature=0.25, full=True, log_noise=1.5), siglip)


def test_supcon_of_two_views_is_nt_xent():
    first, second = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(1)).double()
    classes = torch.arange(5).repeat(2)
    views = torch.cat((first, second))
    close(L["supcon"](views, classes, temperature=0.5), L["nt_xent"](first, second))


def test_a_queue_is_further_keys():
    made = torch.Generator().manual_seed(3)
    embeddings, queue = torch.randn(2, 4, 3, generator=made).double()
    classes, queue_classes = torch.tensor([0, 0, 1, 2]), torch.tensor([1, 1, 0, 5])
    logits = unit(embeddings) @ unit(torch.cat((embeddings, queue))).T / 0.1
    logits = logits.masked_fill(torch.eye(4, 8, dtype=torch.bool), -torch.inf)
    positives = classes[:, None] == torch.cat((classes, queue_classes))[None, :]
    positives &= ~torch.eye(4, 8, dtype=torch.bool)
    each = [-logits.log_softmax(dim=1)[i, positives[i]].mean() for i in range(3)]
    found = L["supcon"](embeddings, classes, queue=queue, queue_classes=queue_classes)
    close(found, sum(each) / 3)  # the fourth has no positive


def test_multi_similarity_written_out():
    given = inputs_for(LOSSES["multi_similarity"], seed=5, count=9)
    s, classes = unit(given["embeddings"]) @ unit(given["embeddings"]).T, given["classes"].clone()
    classes[0] = 7  # has no positive
    for mined, expected in ((True, 0.0), (False, 0.0)):
        for i in range(9):
            near = [s[i, k].item() for k in range(9) if k != i and classes[k] == classes[i]]
            away = [s[i, k].item() for k in range(9) if classes[k] != classes[i]]
            if mined:
                farthest, nearest = min(near, default=math.inf), max(away)
                near = [x for x in near if x - 0.3 < nearest]
                away = [x for x in away if x + 0.3 > farthest]
            expected += math.log1p(sum(math.exp(-3 * (x - 0.4)) for x in near)) / 3
            expected += math.log1p(sum(math.exp(7 * (x - 0.4)) for x in away)) / 7
        found = L["multi_similarity"](
            given["embeddings"],
            classes,
            positive_scale=3.0,
            negative_scale=7.0,
            threshold=0.4,
            mined=mined,
            margin=0.3,
        )
        close(found, expected / 9)


def test_lifted_written_out():
    embeddings = torch.randn(7, 3, generator=torch.Generator().manual_seed(5)).double()
    classes = torch.tensor([0, 1, 0, 2, 1, 0, 3])
    d = torch.cdist(embeddings, embeddings)
    costs = []
    for i in range(7):
        for j in range(i):
            if classes[i] == classes[j]:
                away = [(e, k) for e in (i, j) for k in range(7) if classes[k] != classes[e]]
                total = sum(math.exp(0.7 - d[e, k]) for e, k in away)
                costs.append(max(0.0, math.log(total) + d[i, j].item()) ** 2)
    close(L["lifted"](embeddings, classes, margin=0.7), sum(costs) / len(costs) / 2)


def test_n_pair_is_a_cross_entropy_of_dot_products():
    anchors, positives = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(1)).double()
    expected = torch.nn.functional.cross_entropy(anchors @ positives.T, torch.arange(5))
    close(L["n_pair"](anchors, positives), expected)
    unit_ones = L["n_pair"](unit(anchors), unit(positives))
    close(L["n_pair"](anchors, positives, similarity="cosine"), unit_ones)
    close(L["info_nce"](anchors, positives, temperature=1.0), unit_ones)


def test_mined_triplets_are_those_a_loop_finds():
    embeddings = torch.randn(9, 3, generator=torch.Generator().manual_seed(5)).double()
    classes = torch.tensor([0, 1, 0, 2, 1, 0, 3, 1, 2])
    d = torch.cdist(embeddings, embeddings)
    every, semi_hard, hard = [], [], []
    for a in range(9):
        partners = [p for p in range(9) if p != a and classes[p] == classes[a]]
        strangers = [d[a, n].item() for n in range(9) if classes[n] != classes[a]]
        for p in partners:
            near = d[a, p].item()
            every += [max(0.0, near - far + 1.0) for far in strangers]
            chosen = min((far for far in strangers if far > near), default=max(strangers))
            semi_hard.append(max(0.0, near - chosen + 1.0))
        if partners:
            worst = max(d[a, p].item() for p in partners)
            hard.append(max(0.0, worst - min(strangers) + 1.0))
    for mining, expected in (("all", every), ("semi_hard", semi_hard), ("hard", hard)):
        found = L["triplet"](embeddings, classes=classes, mining=mining)
        close(found, sum(expected) / len(expected))


def test_given_triplets_that_were_mined_give_the_mined_loss():
    embeddings = torch.randn(6, 3, generator=torch.Generator().manual_seed(5)).double()
    classes = torch.tensor([0, 1, 0, 2, 1, 0])
    same = classes[:, None] == classes[None, :]
    valid = (same & ~torch.eye(6, dtype=torch.bool))[:, :, None] & ~same[:, None, :]
    a, p, n = valid.nonzero(as_tuple=True)
    for distance in ("euclidean", "squared_euclidean", "cosine"):
        given = L["triplet"](embeddings[a], embeddings[p], embeddings[n], distance=distance)
        mined = L["triplet"](embeddings, classes=classes, mining="all", distance=distance)
        close(given, mined)


def test_arcface_without_margin_is_softmax_on_scaled_directions():
    given = inputs_for(LOSSES["arcface"], seed=2)
    plain = L["softmax"](
        16 * unit(given["embeddings"]), given["classes"], prototypes=unit(given["prototypes"])
    )
    close(L["arcface"](**given, scale=16.0, margin=0.0), plain)


def test_cosface_without_margin_is_softmax_on_scaled_directions():
    given = inputs_for(LOSSES["cosface"], seed=2)
    plain = L["softmax"](
        16 * unit(given["embeddings"]), given["classes"], prototypes=unit(given["prototypes"])
    )
    close(L["cosface"](**given, scale=16.0, margin=0.0), plain)
    close(L["proxy_nca"](**given, scale=8.0, include_own=True), plain)


def test_proxy_nca_written_out():
    given = inputs_for(LOSSES["proxy_nca"], seed=2)
    embeddings, prototypes = unit(given["embeddings"]), unit(given["prototypes"])
    parts = []
    for x, own in zip(embeddings, given["classes"].tolist(), strict=True):
        near = [math.exp(-3 * (x - w).square().sum()) for w in prototypes]
        parts.append(-math.log(near[own] / (sum(near) - near[own])))
    close(L["proxy_nca"](**given, scale=3.0), sum(parts) / len(parts))


def test_proxy_anchor_leaves_prototypes_without_a_sentence_out_of_the_pull():
    given = inputs_for(LOSSES["proxy_anchor"], seed=2)
    given["classes"] = given["classes"].clamp_max(1)  # none of the third
    s = unit(given["embeddings"]) @ unit(given["prototypes"]).T
    pulls, pushes = [], []
    for p in range(3):
        own, others = s[given["classes"] == p, p], s[given["classes"] != p, p]
        pushes.append(math.log(1 + sum(math.exp(4 * (x + 0.2)) for x in others)))
        if len(own):
            pulls.append(math.log(1 + sum(math.exp(-4 * (x - 0.2)) for x in own)))
    found = L["proxy_anchor"](**given, scale=4.0, margin=0.2)
    close(found, sum(pulls) / 2 + sum(pushes) / 3)


def test_vicreg_written_out():
    given = inputs_for(LOSSES["vicreg"], seed=2)
    first, second = given["first"], given["second"]
    expected = 2.0 * ((first - second) ** 2).sum().item() / 6
    for side in (first, second):
        c = side.T.cov()
        missing = [max(0.0, 1 - math.sqrt(c[j, j] + 0.01)) for j in range(4)]
        expected += 3.0 * sum(missing) / 4
        expected += 5.0 * sum(c[j, k] ** 2 for j in range(4) for k in range(4) if j != k) / 4
    weights = {"invariance_weight": 2.0, "variance_weight": 3.0, "covariance_weight": 5.0}
    close(L["vicreg"](first, second, **weights, eps=0.01), expected)


def test_barlow_twins_is_recognised_by_the_correlations_of_dimensions():
    given = inputs_for(LOSSES["barlow_twins"], seed=2)
    both = torch.cat((given["first"].T, given["second"].T)).corrcoef()[:4, 4:]
    away = both.square().sum() - both.diagonal().square().sum()
    close(L["barlow_twins"](**given), ((1 - both.diagonal()) ** 2).sum() + 0.005 * away)
    moved = {name: 7 * side + torch.arange(4) for name, side in given.items()}
    close(L["barlow_twins"](**moved), L["barlow_twins"](**given))


def test_alignment_and_uniformity_as_their_authors_write_them():
    first, second = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(1)).double()
    x, y = unit(first), unit(second)
    close(L["alignment"](first, second), (x - y).norm(p=2, dim=1).pow(2).mean())
    close(L["uniformity"](first, t=3), torch.pdist(x).pow(2).mul(-3).exp().mean().log())
    assert L["uniformity"](first[:1]) == 0


@pytest.mark.parametrize("count", [3, 9])  # below and above the dimensions
def test_products_of_columns_are_the_same_by_either_gram_matrix(count):
    for name in ("vicreg", "barlow_twins", "orthogonal"):
        spec = LOSSES[name]
        given = inputs_for(spec, seed=3, count=count)
        close(call(spec, given), spec.definition(**given, **spec.defaults))
        leaves = {key: tensor.clone().requires_grad_() for key, tensor in given.items()}
        expected = torch.autograd.grad(spec.definition(**leaves, **spec.defaults), leaves.values())
        for found, slope in zip(gradients(spec, given).values(), expected, strict=True):
            close(found, slope)


def test_half_halves():
    given = inputs_for(LOSSES["contrastive"], seed=2)
    close(L["contrastive"](**given, half=True), L["contrastive"](**given) / 2)


@pytest.mark.parametrize("name", ["cosent", "weighted_cosent", "pairwise_logistic", "circle"])
def test_scale_and_scores_enter_as_a_product(name):
    given = inputs_for(LOSSES[name], seed=4)
    tripled = {**given, "scores": 3 * given["scores"]}
    close(L[name](**given, scale=6.0), L[name](**tripled, scale=2.0))


@pytest.mark.parametrize(
    "name",
    [
        *("multi_similarity", "alignment", "uniformity", "orthogonal"),
        *("angle", "info_nce", "nt_xent", "nce", "siglip", "supcon"),
        *("arcface", "cosface", "proxy_nca", "proxy_anchor"),
    ],
)
def test_the_length_of_a_vector_means_nothing_on_the_sphere(name):
    spec = LOSSES[name]
    given = inputs_for(spec, seed=4)
    scaled = {
        key: tensor * torch.linspace(0.2, 9, len(tensor))[:, None].double()
        if spec.reads[key] in EMBEDDED
        else tensor
        for key, tensor in given.items()
    }
    close(call(spec, scaled), call(spec, given))


@pytest.mark.parametrize(("distance", "power"), [("euclidean", 1), ("squared_euclidean", 2)])
def test_triplets_scale_with_their_space(distance, power):
    given = inputs_for(LOSSES["triplet"], seed=4)
    grown = {**given, "anchors": 3 * given["anchors"]}
    settings = {"mining": "all", "distance": distance}
    before = L["triplet"](**given, **settings, margin=1.0)
    close(L["triplet"](**grown, **settings, margin=3.0**power), 3**power * before)
