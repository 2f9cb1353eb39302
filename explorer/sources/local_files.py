"""Reader of a table on this computer: a file, or a folder that `datasets.save_to_disk` wrote."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

from lossprism.explorer.runtime.json_encoding import whole_letters
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.local_path import is_inside, local_path
from lossprism.explorer.runtime.problem import Problem

STATE, SPLITS, USUAL_SPLIT = "state.json", "dataset_dict.json", "train"


def content_of_table(
    path: str | Path, name: str | None, most: int, too_large: str
) -> tuple[bytes, str]:
    """Return the content of the table, and its name: the user's `name`, if there is one.

    Raises Problem where it cannot be read, or `too_large` where it has more than `most` bytes.
    """
    path = local_path(str(path))
    name = whole_letters(name or path.name)
    try:
        files = saved_set_files(path) or [path]
        if sum(file.stat().st_size for file in files) > most:
            raise Problem(too_large, name=name, most=most // MIB)
        if files == [path]:
            return path.read_bytes(), name
        return _joined(files), f"{name}.arrow"
    except OSError:
        raise Problem("file_unreadable", name=name) from None


def saved_set_files(folder: Path) -> list[Path]:
    """The Arrow files of a dataset that `datasets.save_to_disk` wrote into a folder; of several
    splits those of "train", or else of the first. None of any other folder."""
    splits = _listed(folder / SPLITS, "splits")
    inner = folder / str(USUAL_SPLIT if USUAL_SPLIT in splits else splits[0]) if splits else folder
    listed = _listed(inner / STATE, "_data_files")
    names = (one.get("filename") for one in listed if isinstance(one, dict))
    found = [inner / name for name in names if isinstance(name, str)]
    return [file for file in found if is_inside(file, folder)]


def _listed(path: Path, name: str) -> list:
    """The list of this name in a file of JSON; empty where there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    listed = found.get(name) if isinstance(found, dict) else None
    return listed if isinstance(listed, list) else []


def _joined(files: Sequence[Path]) -> bytes:
    """The rows of all files as one Arrow stream."""
    import pyarrow as pa  # takes its time to load, and most tables are no Arrow files

    if len(files) == 1:
        return files[0].read_bytes()
    whole = io.BytesIO()
    with pa.ipc.open_stream(files[0]) as first, pa.ipc.new_stream(whole, first.schema) as writer:
        for file in files:
            with pa.ipc.open_stream(file) as part:
                for batch in part:
                    writer.write_batch(batch)
    return whole.getvalue()
