"""Files that other processes may read, write or remove at the same time."""

import contextlib
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

CLOCK_TOLERANCE_S = 60.0  # by which two clocks may be apart


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


def files_in(folder: Path, start: str = "") -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files of a folder and of its subfolders, no deeper, whose name begins with `start`,
    with their system status."""
    for place, folders, names in os.walk(folder, followlinks=True):
        if place != str(folder):
            folders.clear()
        for file in (Path(place, name) for name in names if name.startswith(start)):
            if file.is_file():
                with contextlib.suppress(FileNotFoundError):  # it left while we looked
                    yield file, file.stat()


def age_of(path: Path, used: float) -> float:
    """Return the seconds since a file was last used. A time in the future, after the clock was set
    back, is reset to now; otherwise the file would stay for as long as the clock was set back."""
    age = time.time() - used
    if age < -CLOCK_TOLERANCE_S:
        with contextlib.suppress(FileNotFoundError):  # it left while we looked
            os.utime(path)
    return max(age, 0.0)
