"""Files that others may read while they are written."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write beside the place, then move there: a reader finds the old, or all of the new.

    What fails midway, or is killed, leaves the old as it was.
    """
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
