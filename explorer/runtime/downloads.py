"""Temporary downloads: files that the server writes and the browser fetches.

Each is in a folder with a secret random name, so that only the visitor with its link finds it.
"""

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.folder_files_and_their_age import age_of, files_in
from lossprism.explorer.runtime.limits import DOWNLOAD_S, DOWNLOADS_BYTES

# A folder that another user of the machine made cannot be written.
_USER = str(os.getuid()) if hasattr(os, "getuid") else ""
# What is served as it stands; `PACKED_FOLDER` holds what is packed for one visitor.
FOLDER = Path(tempfile.gettempdir()) / f"lossprism{_USER and '-'}{_USER}" / "downloads"
PACKED_FOLDER = FOLDER / "taken"


# Where the page serves them, below its own address.
ADDRESS = "downloads"
_PLACE = re.compile(r"[0-9a-f]+(-[0-9a-f]+)?")
_SECRET = secrets.token_bytes(32)


@dataclass(frozen=True)
class Download:
    """A file to download, served at this path."""

    name: str
    path: str


@dataclass(frozen=True)
class Text:
    """A file to download, as text; a ZIP or a PDF as base64."""

    name: str
    type: str
    text: str


def folder_of_run(run: str) -> Path:
    """Return the secret folder for the downloads of this run, the same each time."""
    place = _path_of_run(run)
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return place


def _path_of_run(run: str) -> Path:
    return FOLDER / hashlib.blake2b(run.encode(), key=_SECRET, digest_size=16).hexdigest()


def address_of(path: Path) -> str:
    """Return the address of this download, which does not reveal its path on the machine."""
    return f"{ADDRESS}/{path.parent.name}/{quote(path.name)}"


def find(place: str, name: str) -> Path | None:
    """Return the download with this name in the folder with this name, None if there is none."""
    if not _PLACE.fullmatch(place) or Path(name).name != name:
        return None
    paths = (folder / place / name for folder in (PACKED_FOLDER, FOLDER))
    return next((path for path in paths if path.is_file()), None)


def forget_run(run: str) -> None:
    """Delete the downloads of a deleted run."""
    shutil.rmtree(_path_of_run(run), ignore_errors=True)


def forget_visitor() -> None:
    """Delete the downloads of the requesting visitor of a hosted page."""
    for place in PACKED_FOLDER.glob(f"{visitor()}-*") if visitor() else ():
        shutil.rmtree(place, ignore_errors=True)


def delete_expired() -> None:
    """Delete downloads older than `DOWNLOAD_S`, also those of a process that has ended."""
    for place in (*PACKED_FOLDER.glob("*"), *FOLDER.glob("*")):
        if place == PACKED_FOLDER:
            continue
        with contextlib.suppress(FileNotFoundError):  # it left while we looked
            packed = list(files_in(place)) or [(place, place.stat())]
            if min(age_of(path, about.st_mtime) for path, about in packed) >= DOWNLOAD_S:
                shutil.rmtree(place, ignore_errors=True)


def new_download(name: str) -> Path:
    """Return the path for a new file with this name, after deleting old downloads, and the oldest
    ones beyond the total limit."""
    PACKED_FOLDER.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = sorted((about.st_mtime, about.st_size, path) for path, about in files_in(PACKED_FOLDER))
    excess = sum(size for _, size, _ in kept) - DOWNLOADS_BYTES
    for age, size, path in kept:
        if excess <= 0 and time.time() - age < DOWNLOAD_S:
            break
        shutil.rmtree(path.parent, ignore_errors=True)
        excess -= size
    place = PACKED_FOLDER / "-".join(filter(None, (visitor(), secrets.token_hex(16))))
    place.mkdir(mode=0o700)
    return place / name
