"""The same loss in sentence-transformers, as code that computes it there.

A loss, or a convention of one, that the library has says so with `equivalent`: called with its
parameters, it gives a `Equivalent`, or None for parameters that the library has not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Equivalent:
    """What the code takes from the library's losses, what it reads, and its lines.

    `reads` is as in `LossSpec.reads`; under these names the tensors stand ready, and `torch` is
    imported. The lines leave the number in ``loss``. «given» in them becomes the names of the
    tensors that are there. A loss that is a mean over triplets is not compared where a batch has
    none: the library's is then the mean of nothing.
    """

    imports: str
    reads: Mapping[str, str]
    lines: str
    over_triplets: bool = False

    def code(self, given: Sequence[str]) -> str:
        """The lines that compute it from the inputs of these names."""
        return self.lines.replace("«given»", ", ".join(given))


def of_pairs(kind: str, labels: str = "labels") -> Callable[..., Equivalent]:
    """A loss of the cosine of each pair, or of what its two vectors give, under our parameters."""

    def equivalent(**parameters: object) -> Equivalent:
        named = "".join(f", {name}={value!r}" for name, value in parameters.items())
        return Equivalent(
            kind,
            {"first": "first", "second": "second", "labels": labels},
            f"theirs = {kind}(None{named})\n"
            "loss = theirs.compute_loss_from_embeddings([first, second], labels)\n",
        )

    return equivalent
