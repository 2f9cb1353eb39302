"""What outlives the process: files handed in and scores computed, in the user's cache folder.

Everything is named by its content, written beside its place and then moved there, so that what is
found is whole. The least recently used leaves when the folder grows too large.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from explorer.disk import files_in
from explorer.problem import Problem

MOST_STORED = 2 * 2**30
# The largest file that is taken: about a million pairs of short sentences.
LARGEST_FILE = 256 * 2**20
KINDS = ("files", "scores", "arriving")


def folder(kind: str) -> Path:
    """The folder of this kind, made where it is missing: LOSSPRISM_CACHE, or the system's place."""
    places = {
        "darwin": Path.home() / "Library" / "Caches",
        "win32": Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"),
    }
    usual = os.environ.get("XDG_CACHE_HOME") or places.get(sys.platform, Path.home() / ".cache")
    root = Path(os.environ.get("LOSSPRISM_CACHE") or Path(usual) / "lossprism")
    made = root / kind
    made.mkdir(parents=True, exist_ok=True)
    return made


def digest(parts: Iterable[str]) -> str:
    """A name for these texts in this order."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        found.update(len(encoded).to_bytes(8, "little"))
        found.update(encoded)
    return found.hexdigest()


# ---- Files handed in, piece by piece -------------------------------------------------------------


def _handing_in(token: object) -> Path:
    if not isinstance(token, str) or not re.fullmatch(r"[0-9a-f]{16,64}", token):
        raise Problem("scenario_entry", where="upload", value=str(token)[:60])
    return folder("arriving") / token


def receive(token: object, start: int, piece: bytes, name: str) -> None:
    """Take the next piece of a file, which begins at byte `start`."""
    path = _handing_in(token)
    if start + len(piece) > LARGEST_FILE:
        forget(token)
        raise Problem("large_file_too_large", name=name, most=LARGEST_FILE // 2**20)
    try:
        with path.open("r+b" if start else "wb") as file:
            if file.seek(0, os.SEEK_END) != start:
                raise Problem("large_file_pieces", name=name)
            file.write(piece)
    except FileNotFoundError:
        raise Problem("large_file_pieces", name=name) from None


def forget(token: object) -> None:
    """Drop what has arrived of a file."""
    _handing_in(token).unlink(missing_ok=True)


def arrived(token: object, name: str) -> str:
    """The whole file has arrived; the name of its content."""
    path = _handing_in(token)
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "blake2b").hexdigest()[:32]
        os.replace(path, folder("files") / found)
    except FileNotFoundError:
        raise Problem("large_file_pieces", name=name) from None
    prune()
    return found


def file_of(content: str, name: str) -> bytes:
    """What the file of this name by content holds.

    Raises Problem if it is not here any more, so that it has to be chosen again.
    """
    if not re.fullmatch(r"[0-9a-f]{32}", content):
        raise Problem("large_file_gone", name=name)
    path = folder("files") / content
    try:
        os.utime(path)
        return path.read_bytes()
    except FileNotFoundError:
        raise Problem("large_file_gone", name=name) from None


def prune(most: int = MOST_STORED) -> None:
    """Drop what was not used for longest until no more than `most` bytes are kept."""
    kept = (entry for kind in KINDS for entry in files_in(folder(kind)))
    found = sorted((about.st_mtime, about.st_size, path) for path, about in kept)
    excess = sum(size for _, size, _ in found) - most
    for _, size, path in found:
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size
