"""Writes `tests/data/golden/cases_recipes.json`."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.unit.losses.by_loops import LOSSES

FILE = Path(__file__).parents[3] / "data" / "golden" / "cases_recipes.json"
SEED, STEP = 15, 1e-6
CONSTANT = ("classes", "same_text", "mask", "labels", "targets", "teacher", "teacher_margins")
COUNT, WIDTH, CLASSES, LISTS, LONGEST = 5, 3, 3, 4, 5
WAYS = "query_to_key,key_to_query,query_to_query,key_to_key"

Given = dict[str, Any]


class Draws:
    """What a loss reads, at random: four digits, so that a file of them is short."""

    def __init__(self, seed: int) -> None:
        self.made = random.Random(seed)

    def rows(self, *shape: int, spread: float = 1.0) -> Any:
        if not shape:
            return round(self.made.gauss(0, spread), 4)
        return [self.rows(*shape[1:], spread=spread) for _ in range(shape[0])]

    def sides(self, one: str, other: str) -> Given:
        """Two vectors a row, that are nearer to each other than to those of other rows."""
        first, off = self.rows(COUNT, WIDTH), self.rows(COUNT, WIDTH)
        return {
            one: first,
            other: [
                [round(a + 0.8 * b, 4) for a, b in zip(*row, strict=True)]
                for row in zip(first, off, strict=True)
            ],
        }

    def classes(self) -> list[int]:
        return self.made.sample([n % CLASSES for n in range(COUNT)], COUNT)

    def mask(self, rows: int, places: int) -> list[list[bool]]:
        """Where there is a candidate: none in the first row, one in the second."""
        found = [[self.made.random() < 0.7 for _ in range(places)] for _ in range(rows)]
        found[0] = [False] * places
        found[1] = [place == 1 for place in range(places)]
        return found

    def lists(self, negative: bool = False) -> Given:
        """Graded candidates, of which some have one label: a list without any grade among them."""
        labels = [[self.made.randrange(4) - negative for _ in range(LONGEST)] for _ in range(LISTS)]
        labels[-1] = [0] * LONGEST
        return {
            "scores": self.rows(LISTS, LONGEST),
            "labels": [[float(y) for y in one] for one in labels],
        }


def recipes(draw: Draws) -> Iterator[tuple[str, Given, Given]]:
    """Name, inputs and parameters of each case."""
    at_keys = lambda: draw.sides("queries", "keys")  # noqa: E731
    views = lambda: draw.sides("first", "second")  # noqa: E731

    shared = {"negatives": draw.rows(3, WIDTH)}
    owned = {"negatives": draw.rows(COUNT, 2, WIDTH)}
    alone = {"own_negatives": draw.rows(COUNT, 2, WIDTH)}
    texts = {"same_text": [0, 1, 0, 2, 1]}
    joint = {"directions": WAYS, "partition": "joint", "temperature": 0.2}
    apart = {"directions": WAYS, "partition": "per_direction", "temperature": 0.2}
    for beside, parameters in (
        ({}, {"similarity": "dot", "temperature": 0.5}),
        (texts, {"temperature": 0.2}),
        ({"same_text": [0] * COUNT}, {"temperature": 0.2}),  # nothing but own pairs is left
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
        yield "info_nce", at_keys() | beside, parameters

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
            given = {"temperature": 0.5, "tau_plus": tau_plus, "beta": beta}
            yield "hard_weighted", views(), given
    for gamma in (0.0, 0.5, 2.0):
        yield "focal_info_nce", at_keys() | shared, {"temperature": 0.2, "gamma": gamma}
    targets = [[round(abs(one), 4) for one in row] for row in draw.rows(COUNT, COUNT)]
    targets[1] = [0.0] * COUNT
    yield "soft_info_nce", at_keys() | {"targets": targets}, {"temperature": 0.1}
    yield "mega_batch_margin", at_keys(), {}
    yield "mega_batch_margin", at_keys(), {"positive_margin": 1.0, "negative_margin": -0.5}

    for labels in ([1, 0, 1, 0, 0], [1] * COUNT, [0] * COUNT):
        for distance in ("cosine", "euclidean"):
            parameters = {"margin": 0.9, "distance": distance}
            yield "online_contrastive", views() | {"labels": labels}, parameters
    for distance in ("euclidean", "squared_euclidean", "cosine"):
        soft = {"soft_margin": True, "distance": distance, "margin": 0.5}
        three = draw.sides("anchors", "positives") | {"negatives": draw.rows(COUNT, WIDTH)}
        yield "triplet", three, soft
    for mining in ("all", "semi_hard", "hard"):
        mined = {"anchors": draw.rows(COUNT, WIDTH), "classes": draw.classes()}
        yield "triplet", mined, {"soft_margin": True, "mining": mining}

    for mined in (True, False):
        points = {"embeddings": draw.rows(COUNT, WIDTH), "classes": draw.classes()}
        yield "multi_similarity", points, {"mined": mined, "threshold": 0.7}
        yield "lifted", points, {"margin": 0.5 if mined else 1.0}
        prototypes = {"prototypes": draw.rows(CLASSES + 1, WIDTH)}
        yield "proxy_anchor", points | prototypes, {"scale": 8.0, "margin": 0.1}
        yield "proxy_nca", points | prototypes, {"scale": 3.0, "include_own": mined}
        yield "cosface", points | prototypes, {"scale": 8.0, "margin": 0.35}
        yield "uniformity", {"embeddings": draw.rows(COUNT, WIDTH)}, {"t": 2.0 if mined else 0.5}
        similarity = "dot" if mined else "cosine"
        yield "n_pair", draw.sides("anchors", "positives"), {"similarity": similarity}
        yield "orthogonal", views(), {"aggregation": "mean" if mined else "sum"}
        yield "barlow_twins", views(), {"off_diagonal_weight": 0.005 if mined else 0.5}
        yield "vicreg", views(), {"covariance_weight": 1.0 if mined else 5.0}
    yield "alignment", views(), {}

    for masked in (False, True):
        given = {
            "positive_scores": draw.rows(LISTS),
            "negative_scores": draw.rows(LISTS, LONGEST),
            "teacher_margins": draw.rows(LISTS, LONGEST, spread=4.0),
        }
        beside = {"mask": draw.mask(LISTS, LONGEST)} if masked else {}
        yield "margin_mse", given | beside, {}
        for divergence, temperature, of_teacher in (("kl", 2.0, None), ("ce", 0.5, 1.0)):
            teacher = draw.rows(LISTS, LONGEST, spread=3.0)
            teacher[2][3] = -math.inf
            teacher[3] = [-math.inf] * LONGEST
            parameters = {"divergence": divergence, "temperature": temperature}
            parameters |= {"teacher_temperature": of_teacher}
            given = {"scores": draw.rows(LISTS, LONGEST), "teacher": teacher}
            yield "distill_kl", given | beside, parameters
    other = {"teacher_embeddings": draw.rows(COUNT, WIDTH)}
    yield "embedding_mse", {"embeddings": draw.rows(COUNT, WIDTH)} | other, {}

    of_lists: tuple[tuple[str, Given], ...] = (
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
    )
    for name, parameters in of_lists:
        below = name not in ("list_net", "softmax_rank")
        yield name, draw.lists() | {"mask": draw.mask(LISTS, LONGEST)}, parameters
        yield name, draw.lists(negative=below), parameters


def numbers(held: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if isinstance(held, list):
        for place, one in enumerate(held):
            yield from numbers(one, (*path, place))
    else:
        yield path


def put(held: Any, path: tuple[int, ...], value: float) -> None:
    for place in path[:-1]:
        held = held[place]
    held[path[-1]] = value


def at(held: Any, path: tuple[int, ...]) -> float:
    for place in path:
        held = held[place]
    return held


def gradient(loss: Callable[..., float], given: Given, name: str) -> Any:
    """By central differences, in the shape of the argument."""
    found = copy.deepcopy(given[name])
    for path in numbers(given[name]):
        ends = []
        for step in (STEP, -STEP):
            moved = copy.deepcopy(given[name])
            put(moved, path, at(moved, path) + step)
            ends.append(loss(**{**given, name: moved}))
        put(found, path, float(f"{(ends[0] - ends[1]) / (2 * STEP):.9g}"))
    return found


def case(name: str, given: Given, parameters: Given) -> Given:
    """What the file says of one."""
    found = LOSSES[name]
    held = {"still": given} if name == "info_nce" else {}

    def loss(**inputs: Any) -> float:
        return found(**inputs, **parameters, **held)

    moving = [one for one in given if one not in CONSTANT and not one.startswith("guide_")]
    return {
        "loss": name,
        "inputs": given,
        "params": parameters,
        "value": loss(**given),
        "grad_scores": None,
        "gradients": {one: gradient(loss, given, one) for one in moving},
    }


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(case(*one)) for one in recipes(Draws(SEED)))
    FILE.write_text(f'{{"seed": {SEED}, "cases": [\n{lines}\n]}}\n', encoding="utf-8")
