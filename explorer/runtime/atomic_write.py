"""Writing of a file that other processes may read at the same time."""

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Write atomically: into a temporary file beside `path`, then renamed over it.

    A reader finds the old content or all of the new. If writing fails or is killed, the old stays.
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
