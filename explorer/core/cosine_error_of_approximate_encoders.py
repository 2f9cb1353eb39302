"""The error of an encoder that approximates another, such as one with weights of 8 bits."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.models_of_scenario import encoder_of, has_words, vectors_of
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.explorer.sources.encoders import Encoder, approximated_by, locate
from lossprism.losses.geometry import cosine_matrix

MAX_SENTENCES = 64  # that both encoders encode


@dataclass(frozen=True)
class CosineError:
    """The largest difference between two encoders of any cosine of so many sentences."""

    largest: float
    sentences: int


def error_of(e: Exploration) -> CosineError | None:
    """Return the error of the encoder of an exploration; None where it approximates none."""
    data = e.scenario.data
    if data.cross_encoder or not has_words(data):
        return None
    return largest_error(e.batch.pairs.sentences, encoder_of(data))


def largest_error(sentences: Sequence[str], name: str) -> CosineError | None:
    """Return the error of the encoder of this name on the first of these sentences; None where it
    approximates none."""
    if not approximated_by(name):
        return None
    checked = tuple(dict.fromkeys(sentences))[:MAX_SENTENCES]
    return _largest_error(checked, locate(name), locate(approximated_by(name)))


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _largest_error(sentences: tuple[str, ...], rounded: Encoder, exact: Encoder) -> CosineError:
    difference = _cosines(sentences, rounded) - _cosines(sentences, exact)
    return CosineError(float(difference.abs().max()), len(sentences))


def _cosines(sentences: Sequence[str], encoder: Encoder) -> Tensor:
    vectors = torch.from_numpy(vectors_of(sentences, encoder))
    return cosine_matrix(vectors, vectors)
