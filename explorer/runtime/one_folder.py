"""One folder for everything that is written, for a machine on which nothing else may be."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

RUNS = "runs"
# By the variable that says where: what is kept of batches and uploads, models of the hub, and what
# is packed or passes through a file.
PLACES = {"LOSSPRISM_CACHE": "cache", "HF_HOME": "hub", "TMPDIR": "temporary"}


def keep_all_in(folder: str) -> Path:
    """Write only below this folder from now on, also in processes that are started; the folder
    for runs.

    It has to be called before what it is about is imported. Raises OSError where the folder
    cannot be written.
    """
    whole = Path(folder).resolve()
    places = {name: whole / below for name, below in PLACES.items()}
    for place in (whole / RUNS, *places.values()):
        place.mkdir(parents=True, exist_ok=True)
    os.environ |= {name: str(place) for name, place in places.items()}
    tempfile.tempdir = None  # asked for anew
    with tempfile.TemporaryFile(dir=whole / RUNS):
        return whole / RUNS
