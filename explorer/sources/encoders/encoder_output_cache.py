"""The rows that models compute, each computed once.

Results are cached by content: which model, which sentence. So moving a slider, reordering a table
or adding one row encodes nothing, or just the one row.
"""

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from lossprism.explorer.runtime import jobs, waiting_request_lends_its_thread
from lossprism.explorer.runtime.cache_folder import digest
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.limits import VECTOR_CACHE_BYTES
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.problem import Problem, logged
from lossprism.explorer.sources.encoders.encoder_interface import Encoder

# Between two batches a job may be cancelled. sentence-transformers makes the same ones.
BATCH = 32
Compute = Callable[[list], np.ndarray]  # a batch of inputs → a row for each
Entry = str | tuple[str, str]  # a sentence, or a pair of them

_ENTRY_OVERHEAD = 400  # bytes of key and bookkeeping, so that tiny entries count too


def _row_bytes(row: np.ndarray) -> int:
    return row.nbytes + _ENTRY_OVERHEAD


_cache: Cache[np.ndarray] = Cache(VECTOR_CACHE_BYTES, size_of=_row_bytes)
_work_locks: dict[Hashable, threading.Lock] = {}


def limit_cache(most: int) -> None:
    """Keep at most so many bytes of vectors and scores in memory."""
    _cache.limit(min(most, VECTOR_CACHE_BYTES))


def forget_rows() -> None:
    """Free the vectors and scores that are in memory."""
    _cache.clear()


def cached_rows(
    encoder: Encoder, inputs: Sequence[Entry], load: Callable[[], Compute], what: str
) -> list[np.ndarray]:
    """Return the float32 row of each input, from the cache or, batch by batch, computed.

    `what` names the work in its progress. Raises Problem for an input that is longer than a hosted
    page reads.
    """
    longest, most = max(map(_length, inputs), default=0), budget("sentence_letters")
    if longest > most:
        raise logged(Problem("sentence_too_long", count=longest, most=most))
    keys = {entry: (encoder.identity, digest(_parts(entry))) for entry in inputs}
    rows = _known(keys)
    missed = len(keys) - len(rows)
    if missed:
        with jobs.heavy_work_turn_if(missed > BATCH), _alone_with(encoder):
            rows |= _known({entry: key for entry, key in keys.items() if entry not in rows})
            missing = [entry for entry in keys if entry not in rows]
            missing.sort(key=_length, reverse=True)  # alike in length, so little padding
            if missing:
                jobs.step("loading", name=encoder.name)
                compute = load()
                for start in range(0, len(missing), BATCH):
                    batch = missing[start : start + BATCH]
                    jobs.step(what, start, len(missing))
                    computed = np.asarray(compute(batch), dtype=np.float32)
                    for entry, row in zip(batch, computed, strict=True):
                        rows[entry] = row.copy()  # else one row would keep the whole array alive
                        _cache.put(keys[entry], rows[entry])
    return [rows[entry] for entry in inputs]


def _known(keys: Mapping[Entry, Hashable]) -> dict[Entry, np.ndarray]:
    rows = {entry: _cache.get(key) for entry, key in keys.items()}
    return {entry: row for entry, row in rows.items() if row is not None}


@contextmanager
def _alone_with(encoder: Encoder) -> Iterator[None]:
    """Requests for one model wait for each other: the second finds what the first computed."""
    lock = _work_locks.setdefault(encoder.identity, threading.Lock())  # setdefault is atomic
    if not lock.acquire(blocking=False):
        with waiting_request_lends_its_thread.lent():
            while not lock.acquire(timeout=0.2):
                jobs.step("waiting", name=encoder.name)
    try:
        yield
    finally:
        lock.release()


def _parts(entry: Entry) -> tuple[str, ...]:
    return (entry,) if isinstance(entry, str) else entry


def _length(entry: Entry) -> int:
    return sum(map(len, _parts(entry)))
