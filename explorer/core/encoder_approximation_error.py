"""The error of an encoder that approximates another, such as one with weights of 8 bits."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.models_of_scenario import encoder_of, has_words, vectors_of
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.explorer.sources.encoders import approximated_by, locate
from lossprism.losses.geometry import cosine_matrix

MAX_SENTENCES = 64  # that both encoders encode


@dataclass(frozen=True)
class Error:
    """The largest difference between two encoders of any cosine of so many sentences."""

    largest: float
    sentences: int


def error_of(e: Exploration) -> Error | None:
    """Return the error of the encoder of an exploration; None where it approximates none."""
    data = e.scenario.data
    if data.cross_encoder or not has_words(data):
        return None
    return largest_error(e.batch.pairs.sentences, encoder_of(data))


def largest_error(sentences: Sequence[str], name: str) -> Error | None:
    """Return the error of the encoder of this name on the first of these sentences; None where it
    approximates none."""
    if not approximated_by(name):
        return None
    return _largest_error(tuple(dict.fromkeys(sentences))[:MAX_SENTENCES], name)


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _largest_error(sentences: tuple[str, ...], name: str) -> Error:
    both = (vectors_of(sentences, locate(one)) for one in (name, approximated_by(name)))
    given, exact = (cosine_matrix(*[torch.from_numpy(vectors)] * 2).numpy() for vectors in both)
    return Error(float(np.abs(given - exact).max()), len(sentences))
