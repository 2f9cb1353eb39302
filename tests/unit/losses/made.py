"""Random inputs for any loss, made from what its `LossSpec` reads."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import Tensor

from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.definition_chosen_by_options import chosen_definition
from lossprism.losses.inputs_that_losses_may_read import READABLE

EVERY = [pytest.param(spec, id=name) for name, spec in LOSSES.items()]
PAIRS, WIDTH, LEVELS, CLASSES, CANDIDATES = 6, 4, 3, 3, 5

# What a batch offers that a gradient can reach.
EMBEDDED = tuple(name for name, one in READABLE.items() if one.axes[-1] == "dimension")
SCORED = ("scores", "level_scores", "list_scores", "margin_positives", "margin_negatives")


def inputs_for(
    spec: LossSpec, seed: int = 0, count: int = PAIRS, dtype: torch.dtype = torch.float64
) -> dict[str, Tensor]:
    """Arguments by name: generic values (no ties, no kinks), every label and class present."""
    made = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=made, dtype=torch.float64).to(dtype)

    def cosines(*shape: int) -> Tensor:
        return (torch.rand(*shape, generator=made, dtype=torch.float64) * 2 - 1).to(dtype)

    def shuffled(values: Tensor) -> Tensor:
        return values[torch.randperm(len(values), generator=made)]

    place = torch.arange(count)
    # The first place is always taken; the others of some lists are not.
    absent = (place[:, None] % 3 == 1) & (torch.arange(CANDIDATES) > 2)
    offered = {
        "scores": lambda: cosines(count),
        "level_scores": lambda: cosines(LEVELS, count),
        "labels": lambda: shuffled(place % 4).to(dtype),
        "binary_labels": lambda: shuffled(place % 2),
        "unit_labels": lambda: shuffled(place / count).to(dtype),
        "cosine_labels": lambda: shuffled(place / count).to(dtype),
        "pair_logits": lambda: normal(count, 2),
        "pair_classes": lambda: shuffled(place % 2),
        "first": lambda: normal(count, WIDTH),
        "second": lambda: normal(count, WIDTH),
        "queries": lambda: normal(count, WIDTH),
        "keys": lambda: normal(count, WIDTH),
        "negatives": lambda: normal(max(count - 1, 1), WIDTH),
        "guide_queries": lambda: normal(count, WIDTH + 1),
        "guide_keys": lambda: normal(count, WIDTH + 1),
        "guide_negatives": lambda: normal(max(count - 1, 1), WIDTH + 1),
        "targets": lambda: (normal(count, count) * 2).softmax(dim=1),
        "negative_owners": lambda: shuffled(place)[: max(count - 1, 1)] - 1,
        # All texts differ.
        "query_texts": lambda: place,
        "key_texts": lambda: count + place,
        "negative_texts": lambda: 2 * count + place[: max(count - 1, 1)],
        "embeddings": lambda: normal(count, WIDTH),
        "teacher_embeddings": lambda: normal(count, WIDTH),
        "classes": lambda: shuffled(place % CLASSES),
        "paired_classes": lambda: shuffled(place % CLASSES),
        "prototypes": lambda: normal(CLASSES, WIDTH),
        "list_scores": lambda: cosines(count, CANDIDATES),
        "list_places": lambda: torch.where(
            absent, -1, (place[:, None] + torch.arange(CANDIDATES)) % count
        ),
        "positive_places": lambda: place,
        "negative_places": lambda: torch.where(
            absent, -1, (place[:, None] + 1 + torch.arange(CANDIDATES)) % count
        ),
        "list_labels": lambda: (
            torch.rand(count, CANDIDATES, generator=made).argsort(dim=1) % 4
        ).to(dtype),
        "list_mask": lambda: ~absent,
        **dict.fromkeys(("judged_mask", "graded_mask"), lambda: ~absent),
        "list_teacher": lambda: normal(count, CANDIDATES) * 3,
        "margin_positives": lambda: cosines(count),
        "margin_negatives": lambda: cosines(count, CANDIDATES),
        "teacher_margins": lambda: normal(count, CANDIDATES) * 3,
        "margin_mask": lambda: ~absent,
        **dict.fromkeys(
            ("triplet_anchors", "triplet_positives", "triplet_negatives"),
            lambda: normal(count, WIDTH),
        ),
    }
    return {name: offered[what]() for name, what in spec.reads.items()}


def learned(spec: LossSpec, given: dict[str, Tensor]) -> list[str]:
    """The arguments that carry a gradient."""
    return [
        name
        for name in given
        if spec.reads[name] in (*EMBEDDED, *SCORED, "pair_logits") and given[name] is not None
    ]


def call(spec: LossSpec, given: dict[str, Tensor], **parameters: object) -> Tensor:
    """The public function at the defaults of its spec."""
    return spec.function(**given, **{**spec.defaults, **parameters})


def gradients(spec: LossSpec, given: dict[str, Tensor], **parameters: object) -> dict[str, Tensor]:
    """∂loss/∂argument for every argument that carries one."""
    names = learned(spec, given)
    leaves = {name: given[name].detach().clone().requires_grad_() for name in names}
    loss = call(spec, {**given, **leaves}, **parameters)
    found = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    return {
        name: torch.zeros_like(leaves[name]) if grad is None else grad
        for name, grad in zip(names, found, strict=True)
    }


def collapsed(spec: LossSpec, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same arguments with all embeddings equal: every vector one, every cosine 1."""

    def equal(name: str, tensor: Tensor) -> Tensor:
        if spec.reads[name] in SCORED:
            return torch.ones_like(tensor)
        if spec.reads[name] in EMBEDDED:
            one = torch.linspace(0.3, 1.0, tensor.shape[-1], dtype=tensor.dtype)
            if "teacher_embeddings" in given:  # of all points the one that costs least
                one = given["teacher_embeddings"].mean(dim=0)
            return one.expand_as(tensor).clone()
        return tensor

    return {name: equal(name, tensor) for name, tensor in given.items()}


def steps_of(
    definition: Callable[..., Tensor], *given: Tensor, **named: object
) -> dict[str, object]:
    """The names of a definition and what they held when it returned."""
    if not given:
        definition, named = chosen_definition(definition, named)
    kept: dict[str, object] = {}
    code = inspect.unwrap(definition).__code__

    def watch(frame, event, _):
        if event == "return" and frame.f_code is code:
            kept.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        definition(*given, **named)
    finally:
        sys.setprofile(before)
    return kept


def saved_bytes(function: Callable[..., Tensor], *given: object, **named: object) -> int:
    """Bytes kept for the backward pass, each storage once."""
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        function(*given, **named)
    return sum(kept.values())


@contextmanager
def case(**named: object) -> Iterator[None]:
    """One of several in a test: a failure tells which."""
    try:
        yield
    except Exception as error:
        error.add_note(f"case: {named}")
        raise


L = {name: spec.function for name, spec in LOSSES.items()}


def close(found, expected, rtol=1e-10, atol=1e-12):
    torch.testing.assert_close(
        torch.as_tensor(found, dtype=torch.float64),
        torch.as_tensor(expected, dtype=torch.float64),
        rtol=rtol,
        atol=atol,
    )
