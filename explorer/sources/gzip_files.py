"""Files of gzip, as the large datasets of rankers are distributed: "triples.train.small.tsv.gz"."""

import gzip
import io
import zlib
from pathlib import Path

from lossprism.explorer.runtime.limits import LARGE_FILE_BYTES, MIB
from lossprism.explorer.runtime.problem import Problem

SIGNATURE, ENDING = b"\x1f\x8b", ".gz"


def unpacked(data: bytes | Path, name: str) -> tuple[bytes | Path, str]:
    """Return the file in a file of gzip, and its name; any other as it is.

    Raises Problem for a damaged one, and for one that unpacks to more than a file may have.
    """
    if isinstance(data, Path) or not data.startswith(SIGNATURE):
        return data, name
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(LARGE_FILE_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise Problem("file_broken", name=name, kind="gzip") from None
    if len(content) > LARGE_FILE_BYTES:
        raise Problem("large_file_too_large", name=name, most=LARGE_FILE_BYTES // MIB)
    return content, name[: -len(ENDING)] if name.lower().endswith(ENDING) else name
