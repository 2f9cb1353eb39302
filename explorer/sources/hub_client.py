"""The client of the Hugging Face hub, and calls to it with a time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from lossprism.explorer.runtime.deployment_policy import deployment_policy

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Answer = TypeVar("Answer")


def hub_token() -> bool | None:
    """Return None for the owner's token; False on a hosted page, whose visitors must not reach its
    owner's private models and datasets."""
    return None if deployment_policy().uses_owner_token else False


def hub_client() -> HfApi:
    from huggingface_hub import HfApi

    return HfApi(token=hub_token())


def within_seconds(seconds: float, call: Callable[[], Answer]) -> Answer:
    """Return the call's result. Raises TimeoutError, also while a host name is looked up, which
    knows no limit."""
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
