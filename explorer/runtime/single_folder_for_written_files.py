"""A single folder for all written files, on machines where nothing else may be written."""

import os
import tempfile
from pathlib import Path

RUNS = "runs"
# By the variable that says where: what is kept of batches and uploads, models of the hub, and what
# is packed or passes through a file.
FOLDERS_BY_VARIABLE = {"LOSSPRISM_CACHE": "cache", "HF_HOME": "hub", "TMPDIR": "temporary"}


def confine_writes_to(folder: str) -> Path:
    """Write only below this folder from now on, also in processes started later; return the folder
    for runs.

    Call it before importing the libraries concerned. Raises OSError if the folder is not writable.
    """
    whole = Path(folder).resolve()
    places = {name: whole / below for name, below in FOLDERS_BY_VARIABLE.items()}
    for place in (whole / RUNS, *places.values()):
        place.mkdir(parents=True, exist_ok=True)
    os.environ |= {name: str(place) for name, place in places.items()}
    tempfile.tempdir = None  # asked for anew
    with tempfile.TemporaryFile(dir=whole / RUNS):
        return whole / RUNS
