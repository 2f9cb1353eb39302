"""The machine and the versions that a table was measured with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("torch", "gradio", "sentence-transformers", "pytorch-metric-learning")


def describe(device: str = "cpu") -> str:
    """Return one line with processor or GPU, cores, Python and package versions."""
    import torch

    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else _processor()
    return (
        f"{name}, {os.cpu_count()} cores, {torch.get_num_threads()} torch threads, "
        f"Python {platform.python_version()}, " + ", ".join(filter(None, map(_version, PACKAGES)))
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if "model name" in line]
    except OSError:  # not Linux
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:  # a peer that is not installed is not measured
        return ""
