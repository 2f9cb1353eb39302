"""Uploads: files from a page, in one piece or in several, stored by content.

Each is in the cache folder under the digest of its content, so that nobody reads another file of
this computer by its name, and is deleted when least recently used. On a hosted page visitors see
only their own, even if two uploaded the same.
"""

import base64
import hashlib
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lossprism.explorer.runtime.cache_folder import cache_folder, prune
from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.folder_files_and_their_age import age_of, files_in
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.json_encoding import whole_letters
from lossprism.explorer.runtime.limits import LARGE_FILE_BYTES, MIB
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem, logged
from lossprism.explorer.runtime.resource_checks import check_disk
from lossprism.explorer.runtime.validation import invalid_value

_TOKEN = re.compile(r"[0-9a-f]{16,64}")
_DIGEST = re.compile(r"[0-9a-f]{32}")
BYTES_BETWEEN_SCANS = 64 * MIB  # that come between two looks at all that is kept
_bytes_since_scan, _counting = BYTES_BETWEEN_SCANS, threading.Lock()


def content_in(request: object) -> tuple[str, bytes]:
    """Decode and validate {name, content: base64}: the file's name without folders, its bytes."""
    if not isinstance(request, dict) or not isinstance(request.get("content"), str):
        raise invalid_value("file", request)
    name = name_in(request)
    try:
        return name, base64.b64decode(request["content"], validate=True)
    except ValueError as error:  # binascii.Error is one, and so is what letters raise
        raise invalid_value("file", name) from error


def name_in(request: dict) -> str:
    """Return the name of the file in a request, without folders."""
    name = Path(str(request.get("name") or "file")).name[:200]
    return whole_letters(name) or "file"


def hand_in(request: Any) -> tuple[str, str]:
    """Store a file, or a piece of one: return its digest ("" while pieces are missing) and its
    name.

    {name, content} is all of it. {name, content, token, start, last} is the piece that begins at
    byte `start` of the upload that the page calls `token`; {token, forget} deletes its pieces.
    """
    if isinstance(request, dict) and request.get("forget"):
        forget(request.get("token"))
        return "", name_in(request)
    name, content = content_in(request)
    if "token" not in request:
        return put(content, name), name
    start = request.get("start")
    if type(start) is not int or start < 0:
        raise invalid_value("start", start)
    receive(request["token"], start, content, name)
    return (arrived(request["token"], name) if request.get("last") else ""), name


def put(content: bytes, name: str) -> str:
    """Store the whole content of a file and return its digest."""
    token = os.urandom(16).hex()
    receive(token, 0, content, name)
    return arrived(token, name)


def _arriving(token: object) -> Path:
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise invalid_value("upload", token)
    return cache_folder("arriving") / f"{visitor()}{token}"


def receive(token: object, start: int, piece: bytes, name: str) -> None:
    """Append the next piece of a file, which begins at byte `start`."""
    path = _arriving(token)
    check_disk(path.parent)
    if start + len(piece) > LARGE_FILE_BYTES:
        forget(token)
        raise Problem("large_file_too_large", name=name, most=LARGE_FILE_BYTES // MIB)
    if _kept_mib() + len(piece) / MIB > (limit := budget("uploads_mib")):
        forget(token)
        raise logged(Problem("uploads_too_large", name=name, most=display_number(limit)))
    _delete_oldest(len(piece))
    try:
        with path.open("r+b" if start else "wb") as file:
            if file.seek(0, os.SEEK_END) != start:
                raise Problem("large_file_pieces", name=name)
            file.write(piece)
    except FileNotFoundError:
        raise Problem("large_file_pieces", name=name) from None


def _delete_oldest(coming: int) -> None:
    """Delete the least recently used uploads once enough has arrived to justify a scan of all
    files, which many small ones would otherwise repeat."""
    global _bytes_since_scan
    with _counting:
        _bytes_since_scan += coming
        if _bytes_since_scan < BYTES_BETWEEN_SCANS:
            return
        _bytes_since_scan = 0
    prune()


def _kept_mib() -> float:
    """Return the MiB that the visitor of a hosted page has uploaded; 0 on the user's own
    machine."""
    return sum(about.st_size for _, about in _mine()) / MIB


def _mine() -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the uploads of the requesting visitor of a hosted page; none on the user's own
    machine."""
    if mine := visitor():
        yield from _stored(mine)


def _stored(whose: str = "") -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the uploads of this visitor or of all."""
    for kind in ("arriving", "files"):
        yield from files_in(cache_folder(kind), whose)


def forget(token: object) -> None:
    """Delete the pieces of a file."""
    _arriving(token).unlink(missing_ok=True)


def forget_visitor() -> None:
    """Delete all uploads of the requesting visitor of a hosted page."""
    for path, _ in _mine():
        path.unlink(missing_ok=True)


def delete_expired() -> None:
    """Delete uploads that were unused for too long on a hosted page."""
    for path, about in _stored():
        if _DIGEST.fullmatch(path.name):
            continue  # handed in at home, where nothing has a visitor's name before it
        if age_of(path, about.st_mtime) >= 3600 * budget("upload_hours"):
            path.unlink(missing_ok=True)


def arrived(token: object, name: str) -> str:
    """Move a complete file to the digest of its content, and return the digest."""
    path = _arriving(token)
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "blake2b").hexdigest()[:32]
        os.replace(path, _path_of(digest))
    except FileNotFoundError:
        raise Problem("large_file_pieces", name=name) from None
    return digest


def _path_of(digest: str) -> Path:
    return cache_folder("files") / f"{visitor()}{digest}"


def is_digest(text: object) -> bool:
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def find(digest: str) -> Path | None:
    """Return the path of the upload with this digest, and mark it as used; None if deleted."""
    path = _path_of(digest)
    try:
        os.utime(path)
    except FileNotFoundError:
        return None
    return path


def read(digest: str, name: str) -> bytes:
    """Return the content of the upload with this digest.

    Raises Problem if it was deleted, so that the user has to choose it again.
    """
    path = find(digest) if is_digest(digest) else None
    try:
        if path is not None:
            return path.read_bytes()
    except FileNotFoundError:  # it left meanwhile
        pass
    raise Problem("large_file_gone", about="gone", name=name)
