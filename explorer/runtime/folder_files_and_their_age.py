"""The files of a folder and how old they are."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

CLOCK_TOLERANCE_S = 60.0  # by which two clocks may be apart


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
