"""Paths of this computer, as people and files name them."""

import os
import re
from pathlib import Path

from lossprism.explorer.runtime.problem import Problem

# \\host\share, //host/share, \\?\UNC\host\share and \??\UNC\host\share, with either slash; and
# file://host/share or file:////host/share, where file:///folder is of this computer.
_NETWORK = re.compile(
    r"[\\/]([\\/]|\?\?[\\/])|file:[\\/]{2}(?![\\/]|localhost[\\/])|file:[\\/]{4}", re.IGNORECASE
)
QUOTED_LETTERS = 80


def is_network_path(name: str) -> bool:
    """Return whether a name has the form of a path on another computer (UNC).

    On Windows merely accessing one sends the user's credentials to its host, so this reads the name
    and never the file system.
    """
    return _NETWORK.match(name.strip()) is not None


def local_path(name: str) -> Path:
    """Return the path of a name, with ~ for the user's folder.

    Raises Problem for a path on another computer.
    """
    name = name.strip()
    if is_network_path(name):
        raise Problem("network_path", path=name[:QUOTED_LETTERS])
    return Path(os.path.expanduser(name))


def is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path leads into the folder, with links and ".." resolved."""
    return path.resolve().is_relative_to(folder.resolve())


def file_inside(name: str, folder: str | Path) -> Path | None:
    """Return the file of this name in a folder; None where there is none, or where it lies
    elsewhere, links and ".." resolved. The disk is accessed only inside the folder."""
    if is_network_path(name):
        return None
    inside = os.path.abspath(folder)
    path = Path(os.path.abspath(os.path.join(inside, name)))
    try:
        is_there = path.is_relative_to(inside) and is_inside(path, Path(inside)) and path.is_file()
    except (OSError, ValueError, RuntimeError):  # too long, not a name, links in a circle
        return None
    return path if is_there else None
