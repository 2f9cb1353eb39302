"""A sum of losses on one batch, each with its weight."""

import inspect
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Loss = Callable[..., Tensor]


class WeightedSum:
    """Σ_k w_k L_k, each loss on its arguments among those of one batch.

    Call it with the arguments of all of them, by name. `parts` returns the unweighted values.
    """

    def __init__(self, *parts: tuple[float, Loss]) -> None:
        if not parts:
            raise ValueError("a sum needs one part or more, each (weight, loss)")
        self.weights = [float(weight) for weight, _ in parts]
        self.losses = [loss for _, loss in parts]
        if not all(map(math.isfinite, self.weights)):
            raise ValueError(f"weights are {self.weights}; each must be finite")
        self._takes = [inspect.signature(loss).parameters for loss in self.losses]
        self.__name__ = "weighted_sum"

    def __call__(self, **inputs: Any) -> Tensor:
        values = self.parts(**inputs)
        weighed = [weight * value for weight, value in zip(self.weights, values, strict=True)]
        return torch.stack(weighed).sum()

    def parts(self, **inputs: Any) -> list[Tensor]:
        """Return the value of each part, unweighted.

        Raises:
            TypeError: an argument that none of them takes, or one that is missing.
        """
        known = {name for takes in self._takes for name in takes}
        if strange := sorted(set(inputs) - known):
            accepted = ", ".join(sorted(known))
            raise TypeError(f"no part takes {', '.join(strange)}; together they take: {accepted}")
        return [
            loss(**{name: value for name, value in inputs.items() if name in takes})
            for loss, takes in zip(self.losses, self._takes, strict=True)
        ]

    def shares(self, wrt: Tensor, **inputs: Any) -> tuple[list[float], Tensor]:
        """Return the parts' gradients by the tensor `wrt`, an argument or one that arguments are
        made of.

        Returns:
            Each part's share of Σ_k |w_k ∂L_k/∂wrt|, and the cosines [K, K] between the parts'
            gradients; NaN for a gradient of zeros.
        """
        gradients = []
        for weight, value in zip(self.weights, self.parts(**inputs), strict=True):
            (by,) = torch.autograd.grad(
                value, wrt, retain_graph=True, allow_unused=True, materialize_grads=True
            )
            gradients.append(weight * by.detach().double().flatten())
        stacked = torch.stack(gradients)
        norms = stacked.norm(dim=1)
        cosines = stacked @ stacked.T / norms[:, None] / norms
        return (norms / norms.sum()).tolist(), cosines.clamp(-1, 1)


def weighted_sum(*parts: tuple[float, Loss]) -> WeightedSum:
    """The sum of losses on one batch: ``weighted_sum((1.0, info_nce), (0.02, angle))``.

    What two of them call alike and mean differently is settled beforehand:
    ``partial(info_nce, temperature=0.05)``.

    >>> from functools import partial
    >>> from lossprism.losses import cosine_mse, cosent
    >>> both = weighted_sum((1.0, cosine_mse), (0.5, partial(cosent, scale=1.0)))
    >>> scores, labels = torch.tensor([0.0, 0.5]), torch.tensor([0.0, 1.0])
    >>> both(scores=scores, labels=labels)  # 0.125 + 0.5 · log(1 + e^−0.5)
    tensor(0.3620)

    Raises:
        ValueError: no part, or a weight that is not finite.
    """
    return WeightedSum(*parts)
