"""Parcels: files that are packed on the server and fetched by the browser.

Each stands in a folder whose name nobody can guess, so that only who was told of it finds it.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from pathlib import Path

from explorer.runtime.files import files_in
from explorer.runtime.limits import PARCEL_S, PARCELS_BYTES

# What is served as it stands; `TAKEN` holds what is packed for one visitor.
FOLDER = Path(tempfile.gettempdir()) / "lossprism" / "parcels"
TAKEN = FOLDER / "taken"


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
    place = TAKEN / secrets.token_hex(16)
    place.mkdir(mode=0o700)
    return place / name
