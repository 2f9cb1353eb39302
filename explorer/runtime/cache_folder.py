"""The cache folder on disk, a folder for each kind of content, and its size limit."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import platformdirs

from lossprism.explorer.runtime.folder_files_and_their_age import files_in
from lossprism.explorer.runtime.limits import CACHE_FOLDER_BYTES

PRUNED_KINDS = ("files", "scores", "arriving")


def cache_folder(kind: str) -> Path:
    """Return the folder of this kind, created if missing: in LOSSPRISM_CACHE, or the system's
    place.

    Everything in it is named by its content and written atomically, so existing files are complete.
    """
    usual = platformdirs.user_cache_path("lossprism", appauthor=False, opinion=False)
    folder = Path(os.environ.get("LOSSPRISM_CACHE") or usual) / kind
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def digest(parts: Iterable[str]) -> str:
    """Return a name for these texts in this order."""
    hashed = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        hashed.update(len(encoded).to_bytes(8, "little"))
        hashed.update(encoded)
    return hashed.hexdigest()


def prune(most: int = CACHE_FOLDER_BYTES) -> None:
    """Delete the least recently used files until at most `most` bytes remain."""
    kept = (entry for kind in PRUNED_KINDS for entry in files_in(cache_folder(kind)))
    by_age = sorted((about.st_mtime, about.st_size, path) for path, about in kept)
    excess = sum(size for _, size, _ in by_age) - most
    for _, size, path in by_age:
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size
