"""One folder for all that is written."""

from __future__ import annotations

import os
import tempfile

import pytest

from lossprism.explorer.runtime.cache_folder import cache_folder
from lossprism.explorer.runtime.single_folder_for_written_files import (
    FOLDERS_BY_VARIABLE,
    confine_writes_to,
)


@pytest.fixture
def places(monkeypatch):
    """What is set stays within the test."""
    for name in FOLDERS_BY_VARIABLE:
        monkeypatch.setenv(name, "/somewhere/else")
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_everything_is_kept_below_it(places, tmp_path):
    runs = confine_writes_to(str(tmp_path / "new" / "data"))
    whole = (tmp_path / "new" / "data").resolve()
    assert runs == whole / "runs"
    assert runs.is_dir()
    for name, below in FOLDERS_BY_VARIABLE.items():
        assert os.environ[name] == str(whole / below)
    assert tempfile.gettempdir() == str(whole / "temporary")
    assert cache_folder("files") == whole / "cache" / "files"
    with tempfile.NamedTemporaryFile() as file:
        assert file.name.startswith(str(whole))


def test_what_cannot_be_written_is_reported_at_once(places, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        confine_writes_to(str(tmp_path / "file"))
