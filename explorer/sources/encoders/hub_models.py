"""Models of the Hugging Face hub: from this computer's cache, or downloaded without any program."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lossprism.explorer.runtime import jobs, limits
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.owner_consent import (
    consented_mib,
    has_consent,
    require_consent,
    require_consent_to_size,
)
from lossprism.explorer.runtime.problem import Problem, logged
from lossprism.explorer.sources import hub_cache_pruning
from lossprism.explorer.sources.encoders.bundled_encoder import EMBEDDED
from lossprism.explorer.sources.encoders.encoder_interface import Backend
from lossprism.explorer.sources.encoders.models_in_local_folders import model_in
from lossprism.explorer.sources.encoders.safe_model_loading import ModelFolder, check_files
from lossprism.explorer.sources.hub_client import hub_client, within_seconds

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

Answer = TypeVar("Answer")

# What a model consists of, without any program: no .py, no pickled weights, no ONNX copies.
_NEEDED = ("*.json", "*.txt", "*.model", "*.safetensors", "*.jinja")
_SUPERFLUOUS = ("onnx/*", "openvino/*", "*/.*")


def _find(name: str) -> ModelFolder:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        raise Problem("encoder_id", about="encoder", encoder=name) from None
    for model_id in _ids_of(name):
        if (folder := _from_cache(name, model_id)) is not None:
            return folder
    require_consent(name, "model_leave")
    jobs.step("downloading", name=name)
    api = hub_client()
    return _on_hub(api, name, lambda model_id, about: _download(api, name, model_id, about))


def _is_here(name: str) -> bool:
    return any(_from_cache(name, model_id) for model_id in _ids_of(name))


def _check_consent(name: str) -> None:
    if not has_consent(name) and not _is_here(name):
        require_consent(name, "model_leave")


def _check_agreed_size(name: str) -> None:
    if consented_mib(name) not in (None, math.inf) and not _is_here(name):
        _on_hub(hub_client(), name, lambda _, about: _check_size(name, about.siblings or ()))


def _check_size(name: str, files: Iterable[RepoSibling]) -> int:
    """Return the bytes that would be downloaded.

    Raises Problem where that is more than a hosted page takes, or than the owner agreed to.
    """
    from huggingface_hub.utils import filter_repo_objects

    fetched = filter_repo_objects(
        files,
        allow_patterns=list(_NEEDED),
        ignore_patterns=list(_SUPERFLUOUS),
        key=lambda file: file.rfilename,
    )
    whole, most = sum(file.size or 0 for file in fetched), budget("encoder_mib")
    if (size := whole // limits.MIB) > most:
        raise logged(
            Problem("encoder_too_large", about="encoder", encoder=name, size=size, most=most)
        )
    require_consent_to_size(name, whole, "model_size")
    return whole


def _ids_of(name: str) -> list[str]:
    """sentence-transformers' own models may be written without their owner."""
    return [name] if "/" in name else [f"sentence-transformers/{name}", name]


def _from_cache(name: str, model_id: str) -> ModelFolder | None:
    from huggingface_hub import snapshot_download

    try:
        model_folder = model_in(name, Path(snapshot_download(model_id, local_files_only=True)))
    except (OSError, ValueError):  # not there, or only in part (Problem is a ValueError)
        return None
    hub_cache_pruning.mark_used("model", model_id)
    return model_folder


def _on_hub(api: HfApi, name: str, act: Callable[[str, ModelInfo], Answer]) -> Answer:
    """Return `act` of the model's id on the hub and of what the hub says about it.

    Raises Problem where there is no such model, its files are not safe, or the hub is out of reach.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    options = {"timeout": limits.HUB_S, "files_metadata": True}
    for model_id in _ids_of(name):
        try:
            info = within_seconds(limits.HUB_S + 1, lambda i=model_id: api.model_info(i, **options))
            check_files(name, [file.rfilename for file in info.siblings or ()])
            return act(model_id, info)
        except RepositoryNotFoundError:
            continue
        except Problem:
            raise
        except Exception as error:
            # The kinds differ with the version of the client's own HTTP library.
            if getattr(getattr(error, "response", None), "status_code", None) in (401, 403):
                continue
            key = (
                "hub_unreachable"
                if deployment_policy().reads_local_paths
                else "hub_unreachable_hosted"
            )
            raise Problem(key, about="encoder", encoder=name, embedded=EMBEDDED) from error
    raise Problem("encoder_not_found", about="encoder", encoder=name)


def _download(api: HfApi, name: str, model_id: str, info: ModelInfo) -> ModelFolder:
    from huggingface_hub import snapshot_download

    hub_cache_pruning.prepare_download("model", model_id, _check_size(name, info.siblings or ()))
    path = snapshot_download(
        model_id,
        revision=info.sha,
        allow_patterns=list(_NEEDED),
        ignore_patterns=list(_SUPERFLUOUS),
        etag_timeout=limits.HUB_S,
        token=api.token,
    )
    return model_in(name, Path(path))


BACKEND = Backend(
    takes=lambda name: True,
    find=_find,
    rank=2,
    is_here=_is_here,
    check_consent=_check_consent,
    check_size=_check_agreed_size,
    is_trainable=True,
)
