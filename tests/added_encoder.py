"""Encoders of tests, found by their names as every other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np

from lossprism.explorer.sources import encoders
from lossprism.explorer.sources.encoders.encoder_interface import Backend, Encoder, TokenLengths


@dataclass(frozen=True)
class MadeEncoder(Encoder):
    """Vectors by a function of the sentences, and, by another one, how many tokens they have."""

    vectors: Callable[[Sequence[str]], np.ndarray] = field(kw_only=True)
    lengths: Callable[[Sequence[str]], TokenLengths | None] = field(
        default=lambda sentences: None, kw_only=True
    )

    def encode(self, sentences, device=None):
        return self.vectors(sentences)

    def token_lengths(self, sentences, report=None):
        return self.lengths(sentences)


@contextmanager
def added(*made: Encoder) -> Iterator[None]:
    """Within, `locate` finds these encoders by their names."""
    named = {encoder.name: encoder for encoder in made}
    backend = Backend(takes=named.__contains__, find=named.__getitem__)
    with patch.object(encoders, "BACKENDS", (backend, *encoders.BACKENDS)):
        yield
