"""Folders of models that sentence-transformers loads: safetensors alone, and no remote code."""

import hashlib
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from lossprism.explorer.locale import Word
from lossprism.explorer.runtime.device import device as app_device
from lossprism.explorer.runtime.folder_files_and_their_age import files_in
from lossprism.explorer.runtime.limits import LOADED_MODELS
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders.encoder_interface import Encoder
from lossprism.explorer.sources.encoders.encoder_output_cache import forget_rows

PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
LETTERS_OF_TOKEN = 100
MAX_TOKENS = 1_000_000  # a tokenizer without a limit has a number of thirty digits
Model = TypeVar("Model")

_models: Cache[Any] = Cache(LOADED_MODELS)
_models_lock = threading.Lock()


@dataclass(frozen=True)
class ModelFolder(Encoder):
    """A folder whose files were checked."""

    path: Path

    def loaded(self, kind: Callable[..., Model], called: Word, device: str | None) -> Model:
        """Return the model in memory, on the app's device if none is named; at most LOADED_MODELS
        stay there."""
        device = device or str(app_device())
        key = (kind, self.identity, device)
        with _models_lock:
            model = _models.get(key)
            if model is None:
                model = open_model(kind, called, self.path, self.name, device)
                _models.put(key, model)
            return model


def open_model(
    kind: Callable[..., Model],
    called: Word,
    path: Path,
    name: str,
    device: str | None,
    **options: object,
) -> Model:
    """Load a folder as this class of sentence-transformers, with its `options`.

    Raises Problem, with the name of the model and what it was `called`, where it cannot be loaded.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()  # a bar for each model would litter the terminal
    try:
        return kind(
            str(path),
            device=device,
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
            **options,
        )
    except Exception as error:  # whatever a broken file can cause in three libraries
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
        values = {"encoder": name, "kind": called, "reason": reason}
        raise Problem("encoder_unreadable", about="encoder", **values) from error


def forget() -> None:
    """Free the models that are in memory, and what they computed."""
    _models.clear()
    forget_rows()


def identity_of(name: str, path: Path) -> str:
    """Check the files of a model's folder and return a digest that changes when they do.

    Raises Problem where it is no folder, or holds no model that is safe to load.
    """
    # No deeper: "/" must not take a walk over the whole disk.
    files = sorted((str(file), about.st_mtime_ns, about.st_size) for file, about in files_in(path))
    check_files(name, [Path(file).relative_to(path).as_posix() for file, _, _ in files])
    return hashlib.sha256(repr(files).encode()).hexdigest()


def check_files(name: str, files: Iterable[str]) -> None:
    """Raise Problem if weights are missing, or are there only in a form that can carry code."""
    paths = [PurePosixPath(file) for file in files]
    safe = {path.parent for path in paths if path.suffix == ".safetensors"}
    configured = any(path.name in ("config.json", "modules.json") for path in paths)
    for path in paths:
        # Other pickles (an optimiser's state, say) are never opened; weights would be.
        is_weights = path.name.startswith("pytorch_model") or not safe
        if path.suffix in PICKLED and is_weights and path.parent not in safe:
            raise Problem("encoder_unsafe_weights", about="encoder", encoder=name, file=path)
    if not safe or not configured:
        raise Problem("encoder_no_model", about="encoder", encoder=name)


def letters_read(tokens: object) -> int | None:
    """Return how many letters of a text a model of so many tokens is given; None for all.

    It reads no further, but its tokenizer goes through a text of any length before that is cut. A
    token of a hundred letters is none that anybody writes.
    """
    if not isinstance(tokens, int) or not 0 < tokens < MAX_TOKENS:
        return None
    return LETTERS_OF_TOKEN * tokens
