"""Encoders: models that turn sentences into vectors, or score pairs of sentences.

A module of this package that has a `BACKEND` is one kind of encoder (`encoder_interface.py` says
what it answers). `locate` finds the encoder of a name; nothing else looks at the form of a name.
"""

import importlib
import pkgutil
from collections.abc import Sequence

import numpy as np

from lossprism.explorer.runtime.limits import MODEL_NAME_LETTERS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders.bundled_encoder import EMBEDDED
from lossprism.explorer.sources.encoders.encoder_interface import Backend, Encoder


def encode(
    sentences: Sequence[str], encoder: str = EMBEDDED, *, device: str | None = None
) -> np.ndarray:
    """Return the vectors of S sentences under the encoder of this name: float32 (S, D).

    Raises Problem as `locate` and `Encoder.encode` do.
    """
    return locate(encoder).encode(sentences, device)


def locate(name: str) -> Encoder:
    """Return the encoder of this name.

    Raises Problem if there is none, the hub cannot be reached, the model could run code when
    loaded, or the owner of the machine has to agree first.
    """
    return _backend_of(name).find(name.strip())


def is_here(name: str) -> bool:
    """Return whether `locate` needs no network for this name."""
    return _backend_of(name).is_here(name.strip())


def is_trainable(name: str) -> bool:
    """Return whether sentence-transformers loads the model under this name, and trains it."""
    return _backend_of(name).is_trainable


def approximated_by(name: str) -> str:
    """Return the name of the encoder that this one rounds, "" for none."""
    return _backend_of(name).approximates(name.strip())


def check_consent(name: str) -> None:
    """Raise Problem without the permission of the machine's owner for this model. The hub is not
    asked."""
    _backend_of(name).check_consent(name.strip())


def check_download(name: str) -> None:
    """Raise Problem without the owner's permission for a model, or for its size. The hub is asked
    for the size, with that permission."""
    check_consent(name)
    _backend_of(name).check_size(name.strip())


def _backend_of(name: str) -> Backend:
    if len(name.strip()) > MODEL_NAME_LETTERS:
        raise Problem("encoder_id", about="encoder", encoder=shortened(name))
    return next(one for one in BACKENDS if one.takes(name.strip()))


def discovered() -> tuple[Backend, ...]:
    """Return every backend of the package, in the order in which they are asked."""
    files = pkgutil.iter_modules(__path__, f"{__name__}.")
    backends = (vars(importlib.import_module(file.name)).get("BACKEND") for file in files)
    return tuple(sorted((one for one in backends if one is not None), key=lambda one: one.rank))


BACKENDS = discovered()
