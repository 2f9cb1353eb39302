"""The two things that a backend has: encoders, and the names under which they are found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened

Report = Callable[[int, int], None]  # done, total; may raise to stop


def ignore(*_: object) -> None:
    """Agree to a name, or ignore a report."""


@dataclass(frozen=True, eq=False)
class TokenLengths:
    """Number of tokens of each text [S], special ones included, and the model's limit `most` for
    one text."""

    counts: np.ndarray
    most: int


@dataclass(frozen=True)
class Encoder:
    """A model that was found under a name; it is loaded when it encodes.

    `identity` changes when the model does: caches are keyed by it. A sentence encoder overrides
    `encode`; a model that scores pairs of sentences overrides `score` and sets `scores_pairs`.
    """

    name: str
    identity: str

    scores_pairs = False  # as a cross-encoder does, in place of giving vectors
    reads_whole_batch = False  # a vector depends on the other sentences: parts cannot be encoded

    def encode(self, sentences: Sequence[str], device: str | None = None) -> np.ndarray:
        """Return one row for each of the S sentences: float32 (S, D), as the model gives it.

        Raises Problem where the model gives no vectors or cannot be loaded.
        """
        raise Problem("encoder_is_cross", about="encoder", encoder=shortened(self.name))

    def score(
        self, first: Sequence[str], second: Sequence[str], device: str | None = None
    ) -> np.ndarray:
        """Return the score of each of the N pairs: float32 (N,).

        Raises Problem where the model scores no pairs or cannot be loaded.
        """
        raise Problem("cross_not_cross", about="encoder", encoder=shortened(self.name))

    def token_lengths(
        self, sentences: Sequence[str], report: Report = ignore
    ) -> TokenLengths | None:
        """Return the lengths of texts in the model's own tokens; None where it has no tokenizer, or
        reads texts of any length."""
        return None

    def pictures(self, sentences: Sequence[str]) -> Mapping[str, str]:
        """Return small pictures of what some of these texts name, as data URLs by the texts: a
        table that brings vectors of images may bring these too."""
        return {}

    def pair_scores(
        self, first: Sequence[str], second: Sequence[str], device: str | None = None
    ) -> np.ndarray:
        """Return what a model of either kind gives each of the N pairs, float32 (N,): its score, or
        the cosine of its vectors, 0 where one of them is 0.

        Raises Problem as `encode` and `score` do.
        """
        if self.scores_pairs:
            return self.score(first, second, device)
        sentences = list(dict.fromkeys((*first, *second)))
        vectors = self.encode(sentences, device)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.where(lengths > 0, lengths, 1)
        place = {sentence: row for row, sentence in enumerate(sentences)}
        one, other = ([place[text] for text in side] for side in (first, second))
        return (unit[one] * unit[other]).sum(axis=1)


@dataclass(frozen=True)
class Backend:
    """A kind of encoder: a module of this package, or of a folder on its path, has one as
    `BACKEND`.

    `takes` says whether a name is of this kind; of several that take it, the one of the least
    `rank` does: 0 for names of a form of their own, 1 for folders, 2 for whatever is left.
    `find` returns the encoder of a name and raises Problem where there is none. `is_here` says
    whether that needs no network. `check_consent` raises Problem where the owner of the machine has
    to agree first, and `check_size` where the model is larger than agreed. `approximates` names the
    encoder that this one rounds by more than a float does, "" for none. With `is_trainable`
    sentence-transformers loads the model under this name, and trains it.
    """

    takes: Callable[[str], bool]
    find: Callable[[str], Encoder]
    rank: int = 0
    is_here: Callable[[str], bool] = lambda name: True
    check_consent: Callable[[str], None] = ignore
    check_size: Callable[[str], None] = ignore
    approximates: Callable[[str], str] = lambda name: ""
    is_trainable: bool = False
