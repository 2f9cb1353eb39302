"""Unit tests start no process: what does stands in tests/process."""

from __future__ import annotations

import functools
import ssl
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import jinja2
import pytest

TO_START = subprocess.Popen.__init__


def _refuse_python(process: subprocess.Popen, command: object, *more: object, **named: object):
    words = command if isinstance(command, list | tuple) else [command]
    assert str(words[0]) != sys.executable, f"{words}: a test that starts this is no unit test"
    return TO_START(process, command, *more, **named)


@pytest.fixture(scope="package", autouse=True)
def _no_process_of_ours() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", _refuse_python)
        yield


@pytest.fixture(scope="package", autouse=True)
def _trainers_collect_no_garbage() -> Iterator[None]:
    """To free memory of a device, a trainer goes through all that the tests keep, for longer than
    it takes its steps."""
    memory = sys.modules.get("accelerate.utils.memory")  # loaded where any test here trains
    with pytest.MonkeyPatch.context() as patch:
        if memory is not None:
            patch.setattr(memory, "gc", SimpleNamespace(collect=lambda: 0))
        yield


@pytest.fixture(scope="session", autouse=True)
def _templates_are_compiled_once() -> Iterator[None]:
    """Every model that is written has a card, made from the same template."""
    with pytest.MonkeyPatch.context() as patch:
        compiled = functools.lru_cache(jinja2.Environment.from_string)
        patch.setattr(jinja2.Environment, "from_string", compiled)
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_are_read_once() -> Iterator[None]:
    """Every client of a page reads those of all authorities, and then asks this machine alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", functools.cache(ssl.create_default_context))
        yield
