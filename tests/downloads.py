"""The file that a browser would take away."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from lossprism.explorer.runtime import downloads


def file_of(answer: Mapping[str, str]) -> Path:
    """Return the path of the download that the answer of a page links to."""
    address, place, name = unquote(answer["path"]).split("/")
    found = downloads.find(place, name)
    assert address == downloads.ADDRESS
    assert found is not None
    return found
