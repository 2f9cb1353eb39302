"""Sentences to vectors, and pairs of sentences to cross-encoder scores, each computed once.

Results are cached by content: which model, which sentence. So moving a slider, reordering a table
or adding one row encodes nothing, or just the one row.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from explorer import progress
from explorer.locale import word
from explorer.problem import Problem
from explorer.sources.model_folders import EMBEDDED, ModelFolder, locate

__all__ = ["CALLED", "EMBEDDED", "cross_scores", "encode"]

# What a folder that cannot be loaded should have held.
CALLED = {
    "bi": word("model.bi", "sentence encoder"),
    "cross": word("model.cross", "cross-encoder"),
}

CACHE_BYTES = 256 * 2**20
MOST_LOADED = 2
# Between two batches a job may be cancelled. sentence-transformers makes the same ones.
BATCH = 32
Compute = Callable[[list], np.ndarray]  # a batch of inputs → a row for each

_ENTRY_OVERHEAD = 250  # bytes of key and bookkeeping, so that tiny entries count too


class ContentCache:
    """Arrays by key, the least recently used leaving when they exceed `most_bytes`."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self._entries: OrderedDict[Hashable, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> np.ndarray | None:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: Hashable, value: np.ndarray) -> None:
        with self._lock:
            if key in self._entries:
                self.bytes -= self._entries.pop(key).nbytes + _ENTRY_OVERHEAD
            self._entries[key] = value
            self.bytes += value.nbytes + _ENTRY_OVERHEAD
            while self.bytes > self.most_bytes:
                _, oldest = self._entries.popitem(last=False)
                self.bytes -= oldest.nbytes + _ENTRY_OVERHEAD

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.bytes = 0


_cache = ContentCache(CACHE_BYTES)
_models: OrderedDict[tuple, object] = OrderedDict()
_models_lock = threading.Lock()
_work_locks: dict[Hashable, threading.Lock] = {}


def encode(
    sentences: Sequence[str], encoder: str = EMBEDDED, *, device: str | None = None
) -> np.ndarray:
    """One row for each of the S sentences: float32 (S, D), as the model gives it.

    `encoder` is EMBEDDED, the id of a sentence-transformers model on the hub, or the path of a
    local folder. Sentences not seen before are encoded in batches; if the job is cancelled between
    two (`explorer.progress`), the finished ones need not be encoded again.

    Raises Problem if the model is missing, unsafe, unreachable, or a cross-encoder.
    """
    folder = locate(encoder)
    if folder.is_cross_encoder:
        raise Problem("encoder_is_cross", encoder=encoder)
    if not sentences:
        size = _load_encoder(folder, device).get_embedding_dimension()
        return np.zeros((0, size), dtype=np.float32)

    def load() -> Compute:
        model = _load_encoder(folder, device)
        return lambda batch: model.encode(batch, convert_to_numpy=True, show_progress_bar=False)

    return np.stack(_cached(folder, list(sentences), load, "encoding")).astype(
        np.float32, copy=False
    )


def cross_scores(
    first: Sequence[str], second: Sequence[str], model_id: str, *, device: str | None = None
) -> np.ndarray:
    """The score a cross-encoder gives each of the N pairs: float32 (N,), with the activation the
    model was saved with (often a sigmoid).

    Raises Problem if the model is missing, unsafe, unreachable, or gives more than one score.
    """
    folder = locate(model_id)
    if not folder.is_cross_encoder:
        raise Problem("cross_not_cross", encoder=model_id)

    def load() -> Compute:
        model = _load_cross_encoder(folder, device)

        def compute(batch: list[tuple[str, str]]) -> np.ndarray:
            scores = np.asarray(model.predict(batch, show_progress_bar=False), dtype=np.float32)
            if scores.ndim > 1 and scores.shape[1] > 1:
                raise Problem("cross_many_outputs", encoder=model_id, count=scores.shape[1])
            return scores.reshape(len(batch), 1)

        return compute

    scores = _cached(folder, list(zip(first, second, strict=True)), load, "scoring")
    return np.array(scores, dtype=np.float32).reshape(len(scores))


def _cached(
    folder: ModelFolder,
    inputs: list,
    load: Callable[[], Compute],
    what: str,
) -> list[np.ndarray]:
    """The row of each input, from the cache or, batch by batch, computed."""
    keys = {entry: (folder.identity, _digest(entry)) for entry in inputs}
    rows = {entry: _cache.get(key) for entry, key in keys.items()}
    if any(row is None for row in rows.values()):
        with _alone_with(folder):
            rows |= {entry: _cache.get(keys[entry]) for entry, row in rows.items() if row is None}
            missing = [entry for entry, row in rows.items() if row is None]
            missing.sort(key=_length, reverse=True)  # alike in length, so little padding
            if missing:
                progress.step("loading", name=folder.name)
                compute = load()
            for start in range(0, len(missing), BATCH):
                batch = missing[start : start + BATCH]
                progress.step(what, start, len(missing))
                computed = np.asarray(compute(batch), dtype=np.float32)
                for entry, row in zip(batch, computed, strict=True):
                    rows[entry] = row.copy()  # else one row would keep the whole array alive
                    _cache.put(keys[entry], rows[entry])
    return [rows[entry] for entry in inputs]


@contextmanager
def _alone_with(folder: ModelFolder) -> Iterator[None]:
    """Requests for one model wait for each other: the second finds what the first computed."""
    lock = _work_locks.setdefault(folder.identity, threading.Lock())  # setdefault is atomic
    while not lock.acquire(timeout=0.2):
        progress.step("waiting", name=folder.name)
    try:
        yield
    finally:
        lock.release()


def _length(entry: str | tuple[str, str]) -> int:
    return len(entry) if isinstance(entry, str) else sum(map(len, entry))


def _digest(entry: str | tuple[str, str]) -> bytes:
    """A short stand-in for the sentence or pair, so that long ones do not fill the cache."""
    parts = (entry,) if isinstance(entry, str) else entry
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).digest()


def _load_encoder(folder: ModelFolder, device: str | None) -> object:
    from sentence_transformers import SentenceTransformer

    return _load(SentenceTransformer, CALLED["bi"], folder, device)


def _load_cross_encoder(folder: ModelFolder, device: str | None) -> object:
    from sentence_transformers import CrossEncoder

    return _load(CrossEncoder, CALLED["cross"], folder, device)


def _load(kind: type, called: dict[str, str], folder: ModelFolder, device: str | None) -> object:
    """The model in memory; at most MOST_LOADED stay there."""
    from transformers.utils import logging

    key = (kind, folder.identity, device)
    with _models_lock:
        if key not in _models:
            logging.disable_progress_bar()  # a bar for each model would litter the terminal
            try:
                _models[key] = kind(
                    str(folder.path),
                    device=device,
                    trust_remote_code=False,
                    local_files_only=True,
                    model_kwargs={"use_safetensors": True},
                )
            except Exception as error:  # whatever a broken file can cause in three libraries
                reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
                raise Problem(
                    "encoder_unreadable", encoder=folder.name, kind=called, reason=reason
                ) from error
        _models.move_to_end(key)
        while len(_models) > MOST_LOADED:
            _models.popitem(last=False)
        return _models[key]
