"""The vectors that a table has of its own texts, as an encoder of these texts.

They are stored by their content as an upload is: a page names them in place of a model, a link is
short and opens only where they are, and on a hosted page every visitor has only their own.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lossprism.explorer.runtime import uploads
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders.backend import Backend, Encoder
from lossprism.explorer.sources.encoders.embedded import is_embedded

# The name of a file, and the digest of its vectors: no name of a model or a folder has this form.
_NAME = re.compile(r"(.+)#([0-9a-f]{32})")
TEXTS, VECTORS = "texts", "vectors"
HELD = 4


@dataclass(frozen=True)
class OwnVectors(Encoder):
    """Vectors of texts by these texts, stored at `path`."""

    path: Path = field(compare=False)

    def encode(self, sentences: Sequence[str], device: str | None = None) -> np.ndarray:
        """Return the vectors of these texts, float32 (S, D). Raises Problem for any other text."""
        rows, vectors = _read(self.path, self.name)
        places = [rows.get(sentence, -1) for sentence in sentences]
        if -1 in places:
            sentence = shortened(sentences[places.index(-1)])
            raise Problem("vectors_sentence", about="encoder", sentence=sentence, name=self.file)
        return vectors[places]

    @property
    def file(self) -> str:
        return file_of(self.name)


def store(file: str, texts: Sequence[str], vectors: np.ndarray) -> str:
    """Store the vectors [S, D] of these texts, and return the name of their encoder.

    Raises Problem where they are more than may be uploaded.
    """
    from safetensors.numpy import save

    words = {TEXTS: json.dumps(list(texts), ensure_ascii=False)}
    content = save({VECTORS: np.ascontiguousarray(vectors, dtype=np.float32)}, metadata=words)
    return f"{file}#{uploads.put(content, file)}"


def is_own(name: str) -> bool:
    """True if a name is that of a table's own vectors."""
    return _NAME.fullmatch(name.strip()) is not None


def file_of(name: str) -> str:
    """Return the name of the file that the vectors came with."""
    found = _NAME.fullmatch(name.strip())
    return found[1] if found else name


def in_place_of(encoder: str, own: str) -> str:
    """Return a table's own vectors, "" for none, unless an encoder was chosen for its texts."""
    return own if own and (is_embedded(encoder) or not encoder) else encoder


def find_vectors(name: str) -> OwnVectors:
    """Return the vectors of this name. Raises Problem where they are gone."""
    found = _NAME.fullmatch(name)
    path = uploads.find(found[2]) if found else None
    if found is None or path is None:
        raise Problem("vectors_gone", about="encoder", name=shortened(file_of(name)))
    return OwnVectors(name, found[2], path)


@functools.lru_cache(maxsize=HELD)
def _read(path: Path, name: str) -> tuple[Mapping[str, int], np.ndarray]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            texts = json.loads((file.metadata() or {})[TEXTS])
            return {text: row for row, text in enumerate(texts)}, file.get_tensor(VECTORS)
    except (OSError, SafetensorError, KeyError, ValueError):  # another upload, or pruned meanwhile
        raise Problem("vectors_gone", about="encoder", name=shortened(file_of(name))) from None


BACKEND = Backend(takes=is_own, find=find_vectors)
