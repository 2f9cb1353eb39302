"""Sentences to vectors, and pairs of sentences to cross-encoder scores, each computed once.

Results are cached by content: which model, which sentence. So moving a slider, reordering a table
or adding one row encodes nothing, or just the one row.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from explorer.locale import Word, word
from explorer.runtime import jobs, thread_slots
from explorer.runtime.budgets import budget
from explorer.runtime.cache import Cache
from explorer.runtime.limits import LOADED_MODELS, VECTOR_CACHE_BYTES
from explorer.runtime.problem import Problem, logged
from explorer.sources.model_folders import EMBEDDED, ModelFolder, locate
from explorer.sources.plain_encoders import is_plain, plain_vectors
from explorer.sources.saved_batch_encoder import (
    has_saved_scores,
    is_saved_batch,
    saved_scores,
    saved_vectors,
)

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

__all__ = [
    "CALLED",
    "EMBEDDED",
    "cross_scores",
    "encode",
    "gives_scores",
    "pair_scores",
    "token_lengths",
]

# What a folder that cannot be loaded should have held.
CALLED = {
    "bi": word("model.bi", "sentence encoder"),
    "cross": word("model.cross", "cross-encoder"),
}

# Between two batches a job may be cancelled. sentence-transformers makes the same ones.
BATCH = 32
LETTERS_OF_TOKEN = 100
TOKENIZED = 512  # texts whose tokens are counted at once
# A tokenizer that knows no limit says a number of thirty digits.
MOST_TOKENS = 1_000_000
Compute = Callable[[list], np.ndarray]  # a batch of inputs → a row for each
Entry = str | tuple[str, str]  # a sentence, or a pair of them
Model = TypeVar("Model")

_ENTRY_OVERHEAD = 400  # bytes of key and bookkeeping, so that tiny entries count too


def _kept_bytes(row: np.ndarray) -> int:
    return row.nbytes + _ENTRY_OVERHEAD


_cache: Cache[np.ndarray] = Cache(VECTOR_CACHE_BYTES, size_of=_kept_bytes)
_models: Cache[Any] = Cache(LOADED_MODELS)
_models_lock = threading.Lock()
_work_locks: dict[Hashable, threading.Lock] = {}


def keep_at_most(most: int) -> None:
    """Keep no more than so many bytes of vectors and scores in memory."""
    _cache.limit(min(most, VECTOR_CACHE_BYTES))


def encode(
    sentences: Sequence[str], encoder: str = EMBEDDED, *, device: str | None = None
) -> np.ndarray:
    """One row for each of the S sentences: float32 (S, D), as the model gives it.

    `encoder` is EMBEDDED, the id of a sentence-transformers model on the hub, the path of a
    local folder, a plain one (`plain_encoders`), or the file of a batch (`kept_batches`). Sentences
    not seen before are encoded in batches; if the job is cancelled between two
    (`explorer.runtime.jobs`), the finished ones need not be encoded again.

    Raises Problem if the model is missing, unsafe, unreachable, or a cross-encoder.
    """
    if is_plain(encoder):
        return plain_vectors(sentences, encoder)
    if is_saved_batch(encoder):
        return saved_vectors(sentences, encoder)
    folder = locate(encoder)
    if folder.is_cross_encoder:
        raise Problem("encoder_is_cross", about="encoder", encoder=encoder)
    if not sentences:
        size = _load_encoder(folder, device).get_embedding_dimension() or 0
        return np.zeros((0, size), dtype=np.float32)

    def load() -> Compute:
        model = _load_encoder(folder, device)
        most = _letters_read(model.max_seq_length)

        def compute(batch: list[str]) -> np.ndarray:
            texts = [text[:most] for text in batch]
            return model.encode(texts, convert_to_numpy=True, show_progress_bar=False)

        return compute

    return np.stack(_cached(folder, list(sentences), load, "encoding")).astype(
        np.float32, copy=False
    )


@dataclass(frozen=True, eq=False)
class TokenLengths:
    """How many tokens each text has [S], those that every text gets included, and the `most` that
    the model reads of one."""

    counts: np.ndarray
    most: int


def token_lengths(
    sentences: Sequence[str],
    encoder: str = EMBEDDED,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> TokenLengths | None:
    """The lengths of texts in the encoder's own tokens; None where it has no tokenizer, or reads
    texts of any length.

    `tell` hears how many are counted and may raise to stop. Raises Problem as `encode` does.
    """
    if is_plain(encoder) or is_saved_batch(encoder):
        return None
    model = _load_encoder(locate(encoder), None)
    tokenizer: Any = model.tokenizer
    most = model.max_seq_length
    letters = _letters_read(most)
    if most is None or letters is None or not callable(tokenizer):
        return None
    counts = np.zeros(len(sentences), dtype=np.int64)
    for start in range(0, len(sentences), TOKENIZED):
        tell(start, len(sentences))
        # As far as `encode` reads, and enough beyond to know that there is more.
        part = [text[: 2 * letters] for text in sentences[start : start + TOKENIZED]]
        told: Any = tokenizer(part, truncation=False, padding=False, verbose=False)
        counts[start : start + TOKENIZED] = [len(one) for one in told["input_ids"]]
    return TokenLengths(counts, most)


def cross_scores(
    first: Sequence[str], second: Sequence[str], model_id: str, *, device: str | None = None
) -> np.ndarray:
    """The score a cross-encoder gives each of the N pairs: float32 (N,), with the activation the
    model was saved with (often a sigmoid).

    Raises Problem if the model is missing, unsafe, unreachable, or gives more than one score.
    """
    if is_saved_batch(model_id):
        return saved_scores(first, second, model_id)
    folder = locate(model_id)
    if not folder.is_cross_encoder:
        raise Problem("cross_not_cross", about="encoder", encoder=model_id)

    def load() -> Compute:
        model = _load_cross_encoder(folder, device)
        most = _letters_read(model.max_length)

        def compute(batch: list[tuple[str, str]]) -> np.ndarray:
            texts = [(first[:most], second[:most]) for first, second in batch]
            scores = np.asarray(model.predict(texts, show_progress_bar=False), dtype=np.float32)
            if scores.ndim > 1 and scores.shape[1] > 1:
                raise Problem(
                    "cross_many_outputs", about="encoder", encoder=model_id, count=scores.shape[1]
                )
            return scores.reshape(len(batch), 1)

        return compute

    scores = _cached(folder, list(zip(first, second, strict=True)), load, "scoring")
    return np.array(scores, dtype=np.float32).reshape(len(scores))


def gives_scores(model: str) -> bool:
    """Whether a model gives pairs scores, as a cross-encoder does, and no vectors.

    Raises Problem if the model is missing, unsafe or unreachable.
    """
    if is_plain(model):
        return False
    return has_saved_scores(model) if is_saved_batch(model) else locate(model).is_cross_encoder


def pair_scores(
    first: Sequence[str], second: Sequence[str], model: str, *, device: str | None = None
) -> np.ndarray:
    """What a model of either kind gives each of the N pairs, float32 (N,): a cross-encoder's
    score, or the cosine of an encoder's vectors, 0 where one of them is 0.

    Raises Problem as `encode` and `cross_scores` do.
    """
    if gives_scores(model):
        return cross_scores(first, second, model, device=device)
    sentences = list(dict.fromkeys((*first, *second)))
    vectors = encode(sentences, model, device=device)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1)
    place = {sentence: row for row, sentence in enumerate(sentences)}
    one, other = ([place[text] for text in side] for side in (first, second))
    return (unit[one] * unit[other]).sum(axis=1)


def forget() -> None:
    """Free the models that are in memory, and what they gave: nothing here is asked for more."""
    _models.clear()
    _cache.clear()


def _cached(
    folder: ModelFolder,
    inputs: Sequence[Entry],
    load: Callable[[], Compute],
    what: str,
) -> list[np.ndarray]:
    """The row of each input, from the cache or, batch by batch, computed."""
    _check_lengths(inputs)
    keys = {entry: (folder.identity, _digest(entry)) for entry in inputs}
    rows = _held(keys)
    missed = len(keys) - len(rows)
    if missed:
        with _turn_for(missed), _alone_with(folder):
            rows |= _held({entry: key for entry, key in keys.items() if entry not in rows})
            missing = [entry for entry in keys if entry not in rows]
            missing.sort(key=_length, reverse=True)  # alike in length, so little padding
            if missing:
                jobs.step("loading", name=folder.name)
                compute = load()
                for start in range(0, len(missing), BATCH):
                    batch = missing[start : start + BATCH]
                    jobs.step(what, start, len(missing))
                    computed = np.asarray(compute(batch), dtype=np.float32)
                    for entry, row in zip(batch, computed, strict=True):
                        rows[entry] = row.copy()  # else one row would keep the whole array alive
                        _cache.put(keys[entry], rows[entry])
    return [rows[entry] for entry in inputs]


def _check_lengths(inputs: Sequence[Entry]) -> None:
    """Raise Problem where an entry is longer than a hosted page reads."""
    longest, most = max(map(_length, inputs), default=0), budget("sentence_letters")
    if longest > most:
        raise logged(Problem("sentence_too_long", count=longest, most=most))


def _turn_for(count: int) -> AbstractContextManager[None]:
    """What somebody types is encoded at once; much takes its turn among what others ask for."""
    return jobs.in_turn() if count > BATCH else nullcontext()


def _held(keys: Mapping[Entry, Hashable]) -> dict[Entry, np.ndarray]:
    found = {entry: _cache.get(key) for entry, key in keys.items()}
    return {entry: row for entry, row in found.items() if row is not None}


@contextmanager
def _alone_with(folder: ModelFolder) -> Iterator[None]:
    """Requests for one model wait for each other: the second finds what the first computed."""
    lock = _work_locks.setdefault(folder.identity, threading.Lock())  # setdefault is atomic
    if not lock.acquire(blocking=False):
        with thread_slots.lent():
            while not lock.acquire(timeout=0.2):
                jobs.step("waiting", name=folder.name)
    try:
        yield
    finally:
        lock.release()


def _letters_read(tokens: object) -> int | None:
    """How many letters of a text a model of so many tokens is given; None for all.

    It reads no further, but its tokenizer goes through a text of any length before that is cut. A
    token of a hundred letters is none that anybody writes.
    """
    if not isinstance(tokens, int) or not 0 < tokens < MOST_TOKENS:
        return None
    return LETTERS_OF_TOKEN * tokens


def _length(entry: Entry) -> int:
    return len(entry) if isinstance(entry, str) else sum(map(len, entry))


def _digest(entry: Entry) -> bytes:
    """A short stand-in for the sentence or pair, so that long ones do not fill the cache."""
    parts = (entry,) if isinstance(entry, str) else entry
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).digest()


def _load_encoder(folder: ModelFolder, device: str | None) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    return _load(SentenceTransformer, CALLED["bi"], folder, device)


def _load_cross_encoder(folder: ModelFolder, device: str | None) -> CrossEncoder:
    from sentence_transformers import CrossEncoder

    return _load(CrossEncoder, CALLED["cross"], folder, device)


def _load(
    kind: Callable[..., Model], called: Word, folder: ModelFolder, device: str | None
) -> Model:
    """The model in memory; at most LOADED_MODELS stay there."""
    from transformers.utils import logging

    key = (kind, folder.identity, device)
    with _models_lock:
        model = _models.get(key)
        if model is None:
            logging.disable_progress_bar()  # a bar for each model would litter the terminal
            try:
                model = kind(
                    str(folder.path),
                    device=device,
                    trust_remote_code=False,
                    local_files_only=True,
                    model_kwargs={"use_safetensors": True},
                )
            except Exception as error:  # whatever a broken file can cause in three libraries
                reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
                raise Problem(
                    "encoder_unreadable",
                    about="encoder",
                    encoder=folder.name,
                    kind=called,
                    reason=reason,
                ) from error
            _models.put(key, model)
        return model
