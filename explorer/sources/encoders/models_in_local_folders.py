"""Models in folders of this computer."""

import os
import re
from pathlib import Path

from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.local_path import is_network_path
from lossprism.explorer.runtime.owner_consent import agreed_path, has_consent
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders.cross_encoder import PairScorer, is_cross_encoder
from lossprism.explorer.sources.encoders.encoder_interface import Backend
from lossprism.explorer.sources.encoders.safe_model_loading import ModelFolder, identity_of
from lossprism.explorer.sources.encoders.sentence_encoder import SentenceEncoder


def is_path(name: str) -> bool:
    """Return whether the name can only be a path, or is one: owner/name may be both. A hosted page
    never looks, nor does a request whose owner did not agree to the name."""
    if name.startswith(("/", "~", ".")) or "\\" in name or re.match(r"[A-Za-z]:", name):
        return True
    if is_network_path(name):
        return True
    return deployment_policy().reads_local_paths and has_consent(name) and os.path.isdir(name)


def model_in(name: str, path: Path) -> ModelFolder:
    """Return the model in a folder, by the `name` that the user knows.

    Raises Problem where there is no folder, or no model in it that is safe to load.
    """
    if not os.path.isdir(path):  # False too for what no file system could hold
        raise Problem("encoder_folder_missing", about="encoder", encoder=name)
    kind = PairScorer if is_cross_encoder(path) else SentenceEncoder
    return kind(name, identity_of(name, path), path)


def _find(name: str) -> ModelFolder:
    if not deployment_policy().reads_local_paths:
        raise Problem("encoder_local_refused", about="encoder", encoder=name)
    return model_in(name, agreed_path(name))


def _check_consent(name: str) -> None:
    if (
        deployment_policy().reads_local_paths
    ):  # else `_find` refuses it, and says so of the right model
        agreed_path(name)


BACKEND = Backend(
    takes=is_path, find=_find, rank=1, check_consent=_check_consent, is_trainable=True
)
