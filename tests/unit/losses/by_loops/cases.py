"""Random inputs and options of each loss in `by_loops`, and gradients by central differences."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

STEP = 1e-6
CONSTANT = (
    "classes", "queue_classes", "same_text", "mask", "labels", "targets", "teacher",
    "teacher_margins",
)  # fmt: skip
WIDTH, CLASSES, PAIRS, LISTS, LONGEST = 3, 3, 12, 4, 5
WAYS = "query_to_key,key_to_query,query_to_query,key_to_key"

Inputs = dict[str, Any]
Cases = Iterator[tuple[str, Inputs, Inputs]]


class Draws:
    """Random inputs of losses, of `count` rows each, to four digits."""

    def __init__(self, seed: int, count: int = 5) -> None:
        self.made = random.Random(seed)
        self.count = count

    def rows(self, *shape: int, spread: float = 1.0) -> Any:
        if not shape:
            return round(self.made.gauss(0, spread), 4)
        return [self.rows(*shape[1:], spread=spread) for _ in range(shape[0])]

    def vectors(self) -> Any:
        return self.rows(self.count, WIDTH)

    def sides(self, one: str, other: str) -> Inputs:
        """Two vectors a row, that are nearer to each other than to those of other rows."""
        first, off = self.vectors(), self.vectors()
        return {
            one: first,
            other: [
                [round(a + 0.8 * b, 4) for a, b in zip(*row, strict=True)]
                for row in zip(first, off, strict=True)
            ],
        }

    def classes(self) -> list[int]:
        return self.made.sample([n % CLASSES for n in range(self.count)], self.count)

    def mask(self, rows: int, places: int) -> list[list[bool]]:
        """Where there is a candidate: none in the first row, one in the second."""
        found = [[self.made.random() < 0.7 for _ in range(places)] for _ in range(rows)]
        found[0] = [False] * places
        found[1] = [place == 1 for place in range(places)]
        return found

    def lists(self, negative: bool = False) -> Inputs:
        """Graded candidates, of which some have one label: a list without any grade among them."""
        labels = [[self.made.randrange(4) - negative for _ in range(LONGEST)] for _ in range(LISTS)]
        labels[-1] = [0] * LONGEST
        return {
            "scores": self.rows(LISTS, LONGEST),
            "labels": [[float(y) for y in one] for one in labels],
        }

    def scored(self, labels: int) -> Inputs:
        """Cosines of pairs, and this many different labels from 0 on."""
        return {
            "scores": [round(self.made.uniform(-1, 1), 4) for _ in range(PAIRS)],
            "labels": self.made.sample([float(n % labels) for n in range(PAIRS)], PAIRS),
        }


def cases() -> Cases:
    """Name, inputs and parameters of each case."""
    for seed in (1, 2, 3):
        yield from of_pairs(Draws(seed))
    yield from of_info_nce(Draws(15))
    yield from of_other_in_batch(Draws(16))
    for count in (2, 5, 9):
        yield from of_distances(Draws(17, count))
        yield from of_classes(Draws(18, count))
    for count in (1, 2, 5, 9):
        yield from of_views(Draws(19, count))
    yield from of_teachers(Draws(20))
    yield from of_lists(Draws(21))


def of_pairs(draw: Draws) -> Cases:
    for name, parameters in (
        ("cosent", {"scale": 20.0}),
        ("cosent", {"scale": 1.0}),
        ("weighted_cosent", {"scale": 20.0}),
        ("pairwise_logistic", {"scale": 5.0, "reduction": "sum"}),
        ("pairwise_logistic", {"scale": 1.0, "reduction": "mean"}),
        ("pairwise_hinge", {"margin": 0.3, "eps": 1e-6}),
        ("max_violation", {}),
    ):
        yield name, draw.scored(6), parameters
        yield name, draw.scored(2), parameters
    for parameters in (
        {"scale": 20.0, "positive_margin": 0.0, "negative_margin": 0.0},
        {"scale": 64.0, "positive_margin": 0.75, "negative_margin": 0.25},
    ):
        yield "circle", draw.scored(2), parameters
    yield "circle_self_paced", draw.scored(2), {"scale": 64.0, "margin": 0.25}
    yield "cosine_mse", draw.scored(6), {}
    yield "binary_cross_entropy", draw.scored(2), {}
    levels = {"level_scores": draw.rows(3, PAIRS), "labels": draw.scored(6)["labels"]}
    yield "hierarchical_cosent", levels, {"weights": [0.5, 0.3, 0.2], "scale": 20.0}


def of_info_nce(draw: Draws) -> Cases:
    shared = {"negatives": draw.rows(3, WIDTH)}
    owned = {"negatives": draw.rows(draw.count, 2, WIDTH)}
    alone = {"own_negatives": draw.rows(draw.count, 2, WIDTH)}
    texts = {"same_text": [0, 1, 0, 2, 1]}
    joint = {"directions": WAYS, "partition": "joint", "temperature": 0.2}
    apart = {"directions": WAYS, "partition": "per_direction", "temperature": 0.2}
    for beside, parameters in (
        ({}, {"temperature": 0.05}),
        (shared, {"temperature": 0.2}),
        ({}, {"temperature": 0.1, "symmetric": True}),
        ({}, {"similarity": "dot", "temperature": 0.5}),
        (texts, {"temperature": 0.2}),
        ({"same_text": [0] * draw.count}, {"temperature": 0.2}),  # only own pairs are left
        (owned | texts, joint),
        (shared | alone, {**joint, "mask_above": 0.1}),
        (owned | alone, {**apart, "mask_above": 0.3, "similarity": "dot"}),
        (shared, {"directions": "key_to_key,query_to_query", "temperature": 0.2}),
        ({}, {"directions": "query_to_key,key_to_query", "temperature": 0.2}),
        (alone, {"in_batch": False, "temperature": 0.2, "log_weight": 1.5}),
        (shared, {"in_batch": False, "temperature": 0.2, "mask_above": -0.1}),
        (owned, {"hardness": 9.0, "hardness_on": "in_batch"}),
        (owned | alone, {"hardness": 5.0, "hardness_on": "hard", "temperature": 0.2}),
        (owned | texts, {"hardness": 5.0, "hardness_on": "all", "log_weight": -1.0}),
        (
            owned | alone | texts,
            {**joint, "hardness": 2.0, "hardness_on": "all", "log_weight": 1.0},
        ),
    ):
        yield "info_nce", draw.sides("queries", "keys") | beside, parameters


def of_other_in_batch(draw: Draws) -> Cases:
    def at_keys() -> Inputs:
        return draw.sides("queries", "keys")

    def views() -> Inputs:
        return draw.sides("first", "second")

    shared = {"negatives": draw.rows(3, WIDTH)}
    for parameters in (
        {"temperature": 0.1},
        {"temperature": 0.1, "margin": 0.2},
        {"temperature": 0.1, "margin": 0.2, "margin_kind": "relative"},
        {"temperature": 0.1, "contrast_anchors": False, "contrast_positives": False},
    ):
        guides = draw.sides("guide_queries", "guide_keys")
        further = {**shared, "guide_negatives": draw.rows(3, WIDTH)}
        yield "gist", at_keys() | guides | further, parameters
    for parameters in ({"temperature": 0.2}, {"temperature": 0.2, "weighted": True, "sigma": 0.7}):
        yield "decoupled", views(), parameters
        yield "decoupled", views() | shared, parameters
    for tau_plus in (0.0, 0.1, 0.5):
        yield "debiased", views(), {"temperature": 0.5, "tau_plus": tau_plus}
        for beta in (0.0, 1.0):
            parameters = {"temperature": 0.5, "tau_plus": tau_plus, "beta": beta}
            yield "hard_weighted", views(), parameters
    for gamma in (0.0, 0.5, 2.0):
        yield "focal_info_nce", at_keys() | shared, {"temperature": 0.2, "gamma": gamma}
    targets = [[round(abs(one), 4) for one in row] for row in draw.rows(draw.count, draw.count)]
    targets[1] = [0.0] * draw.count
    yield "soft_info_nce", at_keys() | {"targets": targets}, {"temperature": 0.1}
    yield "mega_batch_margin", at_keys(), {}
    yield "mega_batch_margin", at_keys(), {"positive_margin": 1.0, "negative_margin": -0.5}
    yield "nt_xent", views(), {"temperature": 0.5}
    yield "siglip", at_keys(), {"scale": 10.0, "bias": -10.0}


def of_distances(draw: Draws) -> Cases:
    views = draw.sides("first", "second")
    count = draw.count
    for labels in ([n % 2 for n in range(count)], [1] * count, [0] * count):
        for distance in ("cosine", "euclidean"):
            parameters = {"margin": 0.9, "distance": distance}
            yield "online_contrastive", views | {"labels": labels}, parameters
            yield "contrastive", views | {"labels": labels}, parameters
            yield "contrastive", views | {"labels": labels}, {**parameters, "half": True}
    for distance in ("euclidean", "squared_euclidean", "cosine"):
        three = draw.sides("anchors", "positives") | {"negatives": draw.vectors()}
        for soft in (False, True):
            parameters = {"soft_margin": soft, "distance": distance, "margin": 0.5}
            yield "triplet", three, parameters
    for mining in ("all", "semi_hard", "hard"):
        mined = {"anchors": draw.vectors(), "classes": draw.classes()}
        yield "triplet", mined, {"soft_margin": True, "mining": mining}


def of_classes(draw: Draws) -> Cases:
    for classes in (draw.classes(), [0] * draw.count):  # different ones, and one
        points = {"embeddings": draw.vectors(), "classes": classes}
        prototypes = {"prototypes": draw.rows(CLASSES + 1, WIDTH)}
        for name, parameters in (
            ("multi_similarity", {}),
            ("multi_similarity", {"mined": False, "threshold": 0.5}),
            (
                "multi_similarity",
                {"positive_scale": 3.0, "negative_scale": 8.0, "threshold": 0.4, "margin": 0.35},
            ),
            *(("lifted", {"margin": margin}) for margin in (0.4, 1.0, 3.0)),
            ("supcon", {"temperature": 0.1}),
        ):
            yield name, points, parameters
        for name, parameters in (
            ("proxy_anchor", {}),
            ("proxy_anchor", {"scale": 5.0, "margin": 0.3}),
            ("proxy_nca", {"scale": 4.0}),
            ("proxy_nca", {"include_own": True, "scale": 2.0}),
            ("cosface", {}),
            ("cosface", {"scale": 7.0, "margin": 0.1}),
            ("softmax", {}),
            ("arcface", {"scale": 16.0, "margin": 0.3}),
        ):
            yield name, points | prototypes, parameters
        queue = {"queue": draw.rows(4, WIDTH), "queue_classes": [0, 1, 2, 0]}
        yield "supcon", points | queue, {"temperature": 0.3, "include_self": True}


def of_views(draw: Draws) -> Cases:
    views = draw.sides("first", "second")
    for name, parameters in (
        ("alignment", {}),
        ("orthogonal", {}),
        ("orthogonal", {"mean_weight": 0.5, "second_moment_weight": 2.0, "aggregation": "sum"}),
        ("barlow_twins", {}),
        ("barlow_twins", {"off_diagonal_weight": 0.3}),
        ("vicreg", {}),
        (
            "vicreg",
            {
                "invariance_weight": 2.0,
                "variance_weight": 7.0,
                "covariance_weight": 3.0,
                "eps": 0.01,
            },
        ),
    ):
        yield name, views, parameters
    for similarity in ("dot", "cosine"):
        yield "n_pair", draw.sides("anchors", "positives"), {"similarity": similarity}
    for t in (0.5, 2.0):
        yield "uniformity", {"embeddings": draw.vectors()}, {"t": t}


def of_teachers(draw: Draws) -> Cases:
    for masked in (False, True):
        beside = {"mask": draw.mask(LISTS, LONGEST)} if masked else {}
        scores = {
            "positive_scores": draw.rows(LISTS),
            "negative_scores": draw.rows(LISTS, LONGEST),
            "teacher_margins": draw.rows(LISTS, LONGEST, spread=4.0),
        }
        yield "margin_mse", scores | beside, {}
        for divergence, temperature, of_teacher in (("kl", 2.0, None), ("ce", 0.5, 1.0)):
            teacher = draw.rows(LISTS, LONGEST, spread=3.0)
            teacher[2][3] = -math.inf  # a candidate that the teacher rules out
            teacher[3] = [-math.inf] * LONGEST  # such a row is left out
            parameters = {"divergence": divergence, "temperature": temperature}
            parameters |= {"teacher_temperature": of_teacher}
            scores = {"scores": draw.rows(LISTS, LONGEST), "teacher": teacher}
            yield "distill_kl", scores | beside, parameters
    other = {"teacher_embeddings": draw.vectors()}
    yield "embedding_mse", {"embeddings": draw.vectors()} | other, {}


def of_lists(draw: Draws) -> Cases:
    for name, parameters in (
        *(("list_net", {"target": one}) for one in ("softmax", "normalized", "raw")),
        *(("softmax_rank", {"target": one, "temperature": 0.5}) for one in ("raw", "normalized")),
        ("list_mle", {}),
        ("list_mle", {"weighted": True}),
        ("list_mle", {"order": "given", "temperature": 0.5}),
        *(
            ("lambda_loss", {"scheme": scheme, "k": k, "reduction": reduction})
            for scheme in ("ndcg1", "ndcg2", "ndcg2pp", "lambdarank", "none")
            for k, reduction in ((None, "mean"), (2, "sum"))
        ),
        ("lambda_loss", {"sigma": 2.0, "mu": 3.0, "k": 3}),
        ("approx_ndcg", {"temperature": 0.1}),
        ("approx_ndcg", {"temperature": 1.0}),
        ("adr_mse", {"temperature": 0.5}),
    ):
        below_zero = name not in ("list_net", "softmax_rank")
        yield name, draw.lists() | {"mask": draw.mask(LISTS, LONGEST)}, parameters
        yield name, draw.lists(negative=below_zero), parameters


def moving(inputs: Inputs) -> list[str]:
    """The inputs that a gradient reaches."""
    return [one for one in inputs if one not in CONSTANT and not one.startswith("guide_")]


def gradient(loss: Callable[..., float], inputs: Inputs, name: str) -> Any:
    """The gradient by central differences, in the shape of the argument."""
    found = copy.deepcopy(inputs[name])
    for path in places(inputs[name]):
        ends = []
        for step in (STEP, -STEP):
            moved = copy.deepcopy(inputs[name])
            put(moved, path, at(moved, path) + step)
            ends.append(loss(**{**inputs, name: moved}))
        put(found, path, (ends[0] - ends[1]) / (2 * STEP))
    return found


def places(nested: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The path to each number of nested lists."""
    if isinstance(nested, list):
        for place, one in enumerate(nested):
            yield from places(one, (*path, place))
    else:
        yield path


def put(nested: Any, path: tuple[int, ...], value: float) -> None:
    for place in path[:-1]:
        nested = nested[place]
    nested[path[-1]] = value


def at(nested: Any, path: tuple[int, ...]) -> float:
    for place in path:
        nested = nested[place]
    return nested
