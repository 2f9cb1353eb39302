"""Code that computes the same loss with sentence-transformers.

A loss, or a convention of one, that the library also has sets `equivalent`: called with the
parameters it returns an `Equivalent`, or None for parameters that the library lacks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Equivalent:
    """The library's losses used by the code, its inputs, and its lines.

    `reads` is as in `LossSpec.reads`; tensors with these names exist, and `torch` is imported. The
    lines assign ``loss``. «given» in them is replaced by the names of the present tensors. A loss
    that is a mean over triplets is not compared on a batch without any, where the library's is a
    mean of nothing.
    """

    imports: str
    reads: Mapping[str, str]
    lines: str
    over_triplets: bool = False

    @property
    def of_vectors(self) -> bool:
        """Return whether it is a class of the library, called on vectors in two lines."""
        first, _, second = self.lines.removesuffix("\n").partition("\n")
        asks = second.startswith("loss = theirs.compute_loss_from_embeddings(")
        return first.startswith("theirs = ") and asks and "\n" not in second

    def code(self, given: Sequence[str]) -> str:
        """Return the lines that compute the loss from inputs with these names."""
        return self.lines.replace("«given»", ", ".join(given))


def on_prefixes(inner: Equivalent, lengths: Sequence[int], weights: Sequence[float]) -> Equivalent:
    """Return the library's `MatryoshkaLoss` around its loss, called on vectors without a
    model."""
    construction, _, call = inner.lines.removesuffix("\n").partition(
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
        construction.replace("(None", "(model", 1),
        "theirs = MatryoshkaLoss(",
        f"    model, theirs, matryoshka_dims={list(lengths)}, matryoshka_weights={list(weights)}",
        ")",
        f"loss = theirs{call}",
        "",
    ]
    return Equivalent(f"{inner.imports}, MatryoshkaLoss", inner.reads, "\n".join(lines))


def of_pairs(kind: str, labels: str = "labels") -> Callable[..., Equivalent]:
    """Return a loss of the cosine of each pair, or of a function of its two vectors, under our
    parameters."""

    def equivalent(**parameters: object) -> Equivalent:
        named = "".join(f", {name}={value!r}" for name, value in parameters.items())
        return Equivalent(
            kind,
            {"first": "first", "second": "second", "labels": labels},
            f"theirs = {kind}(None{named})\n"
            "loss = theirs.compute_loss_from_embeddings([first, second], labels)\n",
        )

    return equivalent
