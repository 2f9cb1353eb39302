"""Calls of installed ranking libraries on lists, as functions of a batch's tensors."""

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.lab.compare.library_loss_calls import Call
from lossprism.losses.labels import UNJUDGED

# ---- allRank


def _without_ties(labels: Tensor) -> Tensor:
    """Labels [L, K] of the same order, for what shuffles ties: the first of a list is the best."""
    best_first = labels.sort(dim=1, descending=True, stable=True).indices
    ranked = labels.shape[1] - best_first.argsort(dim=1)
    return ranked.masked_fill(labels == UNJUDGED, UNJUDGED)


def allrank(called: str, **settings: object) -> Call:
    """A loss of the lists [L, K], or of one list [N]; −1 is its label of a place without any."""
    loss = getattr(importlib.import_module("allrank.models.losses"), called)

    def computed(scores: Tensor, labels: Tensor, mask: Tensor | None = None) -> Tensor:
        if scores.ndim == 1:
            scores, labels = scores[None], labels[None]
        if called == "listMLE":
            labels = _without_ties(labels)
        padded = labels if mask is None else labels.masked_fill(~mask, UNJUDGED)
        return loss(scores, padded.to(scores.dtype), **settings)

    return computed


# ---- Libraries on lists whose gradients are not torch's

# A loss of scores, labels and mask [L, K], and its gradient by the scores.
Slope = Callable[[np.ndarray, np.ndarray, np.ndarray | None], tuple[Any, Any]]


def _with_slope(slope: Slope) -> Call:
    """Make another library's loss of the lists [L, K], or of one list [N], differentiable by
    autograd."""

    class Computed(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, scores: Tensor, labels: Tensor, mask: Tensor | None) -> Tensor:
            there = None if mask is None else mask.cpu().numpy()
            arrays = (scores.detach().cpu().numpy(), labels.cpu().numpy(), there)
            value, by_scores = (torch.tensor(np.array(one)) for one in slope(*arrays))
            ctx.save_for_backward(by_scores.to(scores))
            return value.to(scores)

        @staticmethod
        def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, None, None]:
            return ctx.saved_tensors[0] * above[0], None, None

    def computed(scores: Tensor, labels: Tensor, mask: Tensor | None = None) -> Tensor:
        return Computed.apply(scores, labels, mask)

    return computed


def rax(called: str) -> Call:
    """A loss of rax; of NDCG, what the library makes of it."""
    jax, rax = (importlib.import_module(name) for name in ("jax", "rax"))
    function = getattr(rax, called)
    if called == "approx_t12n":
        function = function(rax.ndcg_metric)
    slope = jax.value_and_grad(lambda scores, labels, where: function(scores, labels, where=where))
    return _with_slope(slope)


def tf_ranking(called: str, *, loss_name: str = "") -> Call:
    """A loss of TF-Ranking, in float32; a label below 0 is its mark of a place without a candidate.

    `loss_name` is that of `make_loss_fn`.
    """
    tf, ranking = (importlib.import_module(n) for n in ("tensorflow", "tensorflow_ranking"))
    if called == "make_loss_fn":
        of_features = ranking.losses.make_loss_fn(loss_name)
        loss: Any = lambda labels, scores: of_features(labels, scores, {})  # noqa: E731
    else:
        loss = getattr(ranking.keras.losses, called)()

    def slope(scores: np.ndarray, labels: np.ndarray, mask: np.ndarray | None) -> tuple[Any, Any]:
        labels = labels if mask is None else np.where(mask, labels, UNJUDGED)
        if called == "ListMLELoss":
            labels = _without_ties(torch.from_numpy(labels)).numpy()
        variable = tf.constant(np.atleast_2d(scores), tf.float32)
        with tf.GradientTape() as tape:
            tape.watch(variable)
            value = loss(tf.constant(np.atleast_2d(labels), tf.float32), variable)
        return value.numpy(), tape.gradient(value, variable).numpy().reshape(scores.shape)

    return _with_slope(slope)


# ---- keras-rs


def keras_rs(called: str) -> Call:
    """A loss of keras-rs on torch. Raises RuntimeError where Keras runs on something else."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    keras, losses = (importlib.import_module(name) for name in ("keras", "keras_rs.losses"))
    if (backend := keras.backend.backend()) != "torch":
        raise RuntimeError(f"Keras runs on {backend}; set KERAS_BACKEND=torch before it starts")
    loss_class = getattr(losses, called)

    def computed(scores: Tensor, labels: Tensor) -> Tensor:
        exact = str(scores.dtype).removeprefix("torch.")
        with torch.device(scores.device):
            return loss_class(dtype=exact)(labels[None].to(scores), scores[None])

    return computed
