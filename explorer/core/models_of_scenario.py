"""The models that provide vectors and scores for a scenario's data, each located once."""

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.core.scenario import Data
from lossprism.explorer.runtime.device import device
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.torch_threads import all_cores
from lossprism.explorer.sources import textbook
from lossprism.explorer.sources.encoders import locate
from lossprism.explorer.sources.encoders.bundled_encoder import EMBEDDED, is_embedded
from lossprism.explorer.sources.encoders.encoder_interface import Encoder
from lossprism.explorer.sources.encoders.uploaded_vectors import is_own
from lossprism.explorer.sources.pairs import Pairs


@dataclass(frozen=True)
class Models:
    """The models to run: None if not chosen, for sentences that only name numbers, and if the
    textbook has vectors."""

    encoder: Encoder | None = None
    cross_encoder: Encoder | None = None
    guide: Encoder | None = None
    teacher: Encoder | None = None


def find_models(data: Data, with_scores: bool = False) -> Models:
    """Return the models of this data; for pairs `with_scores` only guide and teacher.

    Raises Problem if one cannot be used, or needs its owner's consent first.
    """
    words, crosses = has_words(data), data.cross_encoder and data.source != "random"
    is_encoded = with_scores or not words or _brings_vectors(data)
    encoder = None if is_encoded else locate(encoder_of(data))
    cross_encoder = locate(data.cross_encoder) if crosses and not with_scores else None
    with about_model("teacher"):
        teacher = locate(data.teacher_model) if words and data.teacher_model else None
    with about_model("guide"):
        asks_guide = words and data.guide and not _brings_guide(data)
        guide = locate(data.guide) if asks_guide else None
    return Models(encoder, cross_encoder, guide, teacher)


def has_words(data: Data) -> bool:
    """Return whether the sentences are text for an encoder rather than names of given numbers."""
    if data.source == "example":
        return textbook.example_called(data.example).encodable
    return data.source == "table"


def encoder_of(data: Data) -> str:
    """Return the name of the encoder of these data's vectors; for an example under the default
    encoder the one that made its stored vectors."""
    brought = textbook.example_called(data.example).encoder if _brings_vectors(data) else ""
    return brought or _chosen_encoder(data)


def _chosen_encoder(data: Data) -> str:
    """Return the chosen encoder; for texts that are of no table, never a table's own vectors."""
    return EMBEDDED if data.source != "table" and is_own(data.encoder) else data.encoder


def _brings_vectors(data: Data) -> bool:
    """Return whether the vectors come with the textbook's example."""
    return data.source == "example" and is_embedded(_chosen_encoder(data))


def _brings_guide(data: Data) -> bool:
    """Return whether the vectors that come with the textbook's example are the guide's."""
    if data.source != "example" or not is_embedded(data.guide):
        return False
    return not textbook.example_called(data.example).encoder


def vectors_of(sentences: Sequence[str], encoder: Encoder) -> np.ndarray:
    """Return the vectors of S sentences on the app's device, by all cores: float32 (S, D)."""
    with all_cores():
        return encoder.encode(sentences, str(device()))


def scores_of(first: Sequence[str], second: Sequence[str], cross_encoder: Encoder) -> np.ndarray:
    """Return the scores of N pairs on the app's device, by all cores: float32 (N,)."""
    with all_cores():
        return cross_encoder.score(first, second, str(device()))


def with_second_models(pairs: Pairs, data: Data, models: Models) -> Pairs:
    """Return the pairs with the values of the chosen guide and teacher; unchanged if the sentences
    only name numbers.

    Raises Problem if such a model cannot be used.
    """
    if models.teacher is not None:
        with about_model("teacher"), all_cores():
            scores = models.teacher.pair_scores(pairs.first, pairs.second, str(device()))
            crosses = models.teacher.scores_pairs
            vectors = None if crosses else vectors_of(pairs.sentences, models.teacher)
        taught = tuple(scores.tolist())
        pairs = dataclasses.replace(pairs, teacher=taught, teacher_vectors=vectors)
    if models.guide is not None:
        with about_model("guide"):
            guide = vectors_of(pairs.sentences, models.guide)
        pairs = dataclasses.replace(pairs, guide=guide)
    elif data.guide and has_words(data):
        pairs = dataclasses.replace(pairs, guide=pairs.vectors)
    return pairs


@contextlib.contextmanager
def about_model(role: str) -> Iterator[None]:
    """Name this model, rather than the scenario's encoder, in a problem, except where its owner's
    consent is missing."""
    try:
        yield
    except Problem as problem:
        if problem.about == "leave":
            raise
        raise problem.concerning(role) from problem
