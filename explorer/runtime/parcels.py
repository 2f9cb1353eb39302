"""Temporary downloads: parcels, files that are packed on the server and fetched by the browser.

Each stands in a folder whose name nobody can guess, so that only who was told of it finds it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from explorer.runtime.files import age_of, files_in
from explorer.runtime.limits import PARCEL_S, PARCELS_BYTES
from explorer.runtime.visitors import visitor

# A folder that another user of the machine made cannot be written.
_USER = str(os.getuid()) if hasattr(os, "getuid") else ""
# What is served as it stands; `TAKEN` holds what is packed for one visitor.
FOLDER = Path(tempfile.gettempdir()) / f"lossprism{_USER and '-'}{_USER}" / "parcels"
TAKEN = FOLDER / "taken"


# Where the page serves them, below its own address.
ADDRESS = "downloads"
_PLACE = re.compile(r"[0-9a-f]+(-[0-9a-f]+)?")
_SECRET = secrets.token_bytes(32)


def place_of(run: str) -> Path:
    """The folder for the parcels of this run: the same each time, and guessed by nobody."""
    place = _place_of(run)
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return place


def _place_of(run: str) -> Path:
    return FOLDER / hashlib.blake2b(run.encode(), key=_SECRET, digest_size=16).hexdigest()


def address_of(path: Path) -> str:
    """Where the page serves this parcel; where it stands on the machine is not part of that."""
    return f"{ADDRESS}/{path.parent.name}/{quote(path.name)}"


def find(place: str, name: str) -> Path | None:
    """The parcel of this name in the folder of this name; None where there is none."""
    if not _PLACE.fullmatch(place) or Path(name).name != name:
        return None
    paths = (folder / place / name for folder in (TAKEN, FOLDER))
    return next((path for path in paths if path.is_file()), None)


def forget_run(run: str) -> None:
    """Remove the parcels of a run that is removed."""
    shutil.rmtree(_place_of(run), ignore_errors=True)


def forget_mine() -> None:
    """Remove what was packed for the visitor of a hosted page who asks."""
    for place in TAKEN.glob(f"{visitor()}-*") if visitor() else ():
        shutil.rmtree(place, ignore_errors=True)


def drop_old() -> None:
    """Remove the parcels that were packed too long ago, also by a process that has ended."""
    for place in (*TAKEN.glob("*"), *FOLDER.glob("*")):
        if place == TAKEN:
            continue
        with contextlib.suppress(FileNotFoundError):  # it left while we looked
            packed = list(files_in(place)) or [(place, place.stat())]
            if min(age_of(path, about.st_mtime) for path, about in packed) >= PARCEL_S:
                shutil.rmtree(place, ignore_errors=True)


def new_parcel(name: str) -> Path:
    """Where a new file of this name may be written. Old ones leave first, and those that were
    packed longest ago where there is too much of all."""
    TAKEN.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = sorted((about.st_mtime, about.st_size, path) for path, about in files_in(TAKEN))
    excess = sum(size for _, size, _ in kept) - PARCELS_BYTES
    for made, size, path in kept:
        if excess <= 0 and time.time() - made < PARCEL_S:
            break
        shutil.rmtree(path.parent, ignore_errors=True)
        excess -= size
    place = TAKEN / "-".join(filter(None, (visitor(), secrets.token_hex(16))))
    place.mkdir(mode=0o700)
    return place / name
