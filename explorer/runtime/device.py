"""The best available device, and the precision it computes in."""

import functools
import math

import torch

_chosen: str | None = None


def choose(device: str | None) -> None:
    """Use this device from now on ("cpu", "cuda", "cuda:1", "mps"); None for the best."""
    global _chosen
    if device is not None:
        torch.empty(0, device=device)  # a wrong name or an absent device fails here, at start
    _chosen = device


def device() -> torch.device:
    return torch.device(_chosen or _best())


@functools.cache
def _best() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def precision() -> torch.dtype:
    """Return float64 on devices that have it, so that figures are exact to the last digit
    shown."""
    return torch.float32 if device().type == "mps" else torch.float64


def memory_left() -> float:
    """Return the free bytes of a GPU's own memory, including torch's cache; infinity without such
    memory."""
    here = device()
    if here.type != "cuda":
        return math.inf
    free, _ = torch.cuda.mem_get_info(here)
    return free + torch.cuda.memory_reserved(here) - torch.cuda.memory_allocated(here)


def device_name() -> str:
    return torch.cuda.get_device_name() if device().type == "cuda" else device().type.upper()


def one_gpu(device: str | None, visible: str | None) -> dict[str, str]:
    """Return the environment that hides all GPUs but the chosen one from a process: the trainer
    would use them all, each with a batch of its own. `visible` is CUDA_VISIBLE_DEVICES as it
    stands."""
    kind, _, place = (device or "cuda").partition(":")
    if kind != "cuda" or visible == "":
        return {}
    known = visible.split(",") if visible else None
    return {"CUDA_VISIBLE_DEVICES": known[int(place or 0)] if known else place or "0"}
