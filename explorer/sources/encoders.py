"""Sentences to vectors, and pairs of sentences to cross-encoder scores, each computed once.

Results are cached by content: which model, which sentence. So moving a slider, reordering a table
or adding one row encodes nothing, or just the one row.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from explorer.problem import Problem
from explorer.sources.model_folders import EMBEDDED, ModelFolder, locate

__all__ = ["EMBEDDED", "cross_scores", "encode"]

CACHE_BYTES = 256 * 2**20
MOST_LOADED = 2
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
    local folder. Sentences not seen before are encoded in one call of the model.

    Raises Problem if the model is missing, unsafe, unreachable, or a cross-encoder.
    """
    folder = locate(encoder)
    if folder.is_cross_encoder:
        raise Problem("encoder_is_cross", encoder=encoder)
    if not sentences:
        size = _load_encoder(folder, device).get_embedding_dimension()
        return np.zeros((0, size), dtype=np.float32)

    def compute(missing: list[str]) -> np.ndarray:
        model = _load_encoder(folder, device)
        return model.encode(missing, convert_to_numpy=True, show_progress_bar=False)

    return np.stack(_cached(folder, list(sentences), compute)).astype(np.float32, copy=False)


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

    def compute(missing: list[tuple[str, str]]) -> np.ndarray:
        model = _load_cross_encoder(folder, device)
        scores = np.asarray(model.predict(missing, show_progress_bar=False), dtype=np.float32)
        if scores.ndim > 1 and scores.shape[1] > 1:
            raise Problem("cross_many_outputs", encoder=model_id, count=scores.shape[1])
        return scores.reshape(len(missing), 1)

    scores = _cached(folder, list(zip(first, second, strict=True)), compute)
    return np.array(scores, dtype=np.float32).reshape(len(scores))


def _cached(
    folder: ModelFolder,
    inputs: list,
    compute: Callable[[list], np.ndarray],
) -> list[np.ndarray]:
    """The row of each input, from the cache or, for all that are missing at once, computed."""
    keys = {entry: (folder.identity, _digest(entry)) for entry in inputs}
    rows = {entry: _cache.get(key) for entry, key in keys.items()}
    if any(row is None for row in rows.values()):
        # setdefault is atomic: two requests for one model wait for each other, so that the
        # second finds what the first computed.
        with _work_locks.setdefault(folder.identity, threading.Lock()):
            rows |= {entry: _cache.get(keys[entry]) for entry, row in rows.items() if row is None}
            missing = [entry for entry, row in rows.items() if row is None]
            if missing:
                computed = np.asarray(compute(missing), dtype=np.float32)
                for entry, row in zip(missing, computed, strict=True):
                    rows[entry] = row.copy()  # else one row would keep the whole array alive
                    _cache.put(keys[entry], rows[entry])
    return [rows[entry] for entry in inputs]


def _digest(entry: str | tuple[str, str]) -> bytes:
    """A short stand-in for the sentence or pair, so that long ones do not fill the cache."""
    parts = (entry,) if isinstance(entry, str) else entry
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).digest()


def _load_encoder(folder: ModelFolder, device: str | None) -> object:
    from sentence_transformers import SentenceTransformer

    return _load(SentenceTransformer, "sentence encoder", folder, device)


def _load_cross_encoder(folder: ModelFolder, device: str | None) -> object:
    from sentence_transformers import CrossEncoder

    return _load(CrossEncoder, "cross-encoder", folder, device)


def _load(kind: type, kind_name: str, folder: ModelFolder, device: str | None) -> object:
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
                    "encoder_unreadable", encoder=folder.name, kind=kind_name, reason=reason
                ) from error
        _models.move_to_end(key)
        while len(_models) > MOST_LOADED:
            _models.popitem(last=False)
        return _models[key]
