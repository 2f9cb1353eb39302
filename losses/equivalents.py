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

    @property
    def of_vectors(self) -> bool:
        """Whether it is a class of the library, asked of vectors in two lines."""
        first, _, second = self.lines.removesuffix("\n").partition("\n")
        asks = second.startswith("loss = theirs.compute_loss_from_embeddings(")
        return first.startswith("theirs = ") and asks and "\n" not in second

    def code(self, given: Sequence[str]) -> str:
        """The lines that compute it from the inputs of these names."""
        return self.lines.replace("«given»", ", ".join(given))


def on_prefixes(inner: Equivalent, lengths: Sequence[int], weights: Sequence[float]) -> Equivalent:
    """The library's `MatryoshkaLoss` around its loss, asked of vectors that no model makes."""
    made, _, call = inner.lines.removesuffix("\n").partition(
        "\nloss = theirs.compute_loss_from_embeddings"
    )
    lines = [
        "",
        "",
        "class Given(torch.nn.Module):",
        '    """In place of a model: the vectors as they are."""',
        "",
        "    def get_embedding_dimension(self):",
        "        return None",
        "",
        "    def forward(self, vectors):",
        '        return {"sentence_embedding": vectors}',
        "",
        "",
        "model = Given()",
        made.replace("(None", "(model", 1),
        "theirs = MatryoshkaLoss(",
        f"    model, theirs, matryoshka_dims={list(lengths)}, matryoshka_weights={list(weights)}",
        ")",
        f"loss = theirs{call}",
        "",
    ]
    return Equivalent(f"{inner.imports}, MatryoshkaLoss", inner.reads, "\n".join(lines))


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
