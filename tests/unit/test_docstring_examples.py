"""The examples in docstrings print what stands below them."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Those of the API ask the encoder, and have a test of their own.
OF_THE_API = ROOT / "explorer" / "web" / "api"


def test_every_example_in_explorer_prints_what_it_says() -> None:
    """Those of the losses are run with them (`tests/unit/losses/test_registry.py`)."""
    failed, attempted = [], 0
    for path in sorted((ROOT / "explorer").rglob("*.py")):
        if ">>> " not in path.read_text(encoding="utf-8") or path.is_relative_to(OF_THE_API):
            continue
        name = ".".join(("lossprism", *path.relative_to(ROOT).with_suffix("").parts))
        results = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
        attempted += results.attempted
        failed += [name] if results.failed else []
    assert failed == []
    assert attempted >= 30
