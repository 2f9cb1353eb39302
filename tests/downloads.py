"""The file that a browser would take away."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from explorer.runtime import parcels


def file_of(answer: Mapping[str, str]) -> Path:
    """Where the parcel stands that the answer of a page leads to."""
    address, place, name = unquote(answer["path"]).split("/")
    found = parcels.find(place, name)
    assert address == parcels.ADDRESS
    assert found is not None
    return found
