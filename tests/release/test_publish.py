"""A version is published from what is committed, and a dry run sends nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile

import pytest

from lossprism.version import VERSION
from scripts.publish import NOT_IN_THE_SPACE
from tests import warm
from tests.code_blocks import ROOT

PACKAGES = ("lossprism", "losses", "explorer", "docs/pictures", ".github")
FILES = ("README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "SECURITY.md", "app.py")
SETTINGS = ("pyproject.toml", "requirements.txt", "packages.txt", ".gitignore", ".gitattributes")
WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in {"NAME": "Somebody", "EMAIL": "somebody@example.org"}.items()
}
# In place of the hub's command: it keeps what it was asked, and the folder that it was given.
HUB = """#!/usr/bin/env python3
import json, pathlib, shutil, sys
here = pathlib.Path(__file__).parent
(here / "asked.json").write_text(json.dumps(sys.argv[1:]))
shutil.copytree(sys.argv[3], here / "space")
"""


def run(repository, *words, path=None):
    environment = {**os.environ, **WHO, "PATH": path or os.environ["PATH"]}
    line = [warm.python(), "-m", "scripts.publish", "--space", "me/prism", *words]
    return subprocess.run(
        [*line, "--root", str(repository)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )


def git(repository, *words):
    done = subprocess.run(
        ["git", *words], cwd=repository, env={**os.environ, **WHO}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def repository(tmp_path):
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    made = tmp_path / "repository"
    for folder in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__", "wire.d.ts")
        shutil.copytree(ROOT / folder, made / folder, ignore=ignored)
    for name in (*FILES, *SETTINGS):
        shutil.copy(ROOT / name, made / name)
    git(made, "init", "--quiet", "--initial-branch", "main")
    git(made, "add", "--all")
    git(made, "commit", "--quiet", "--message", "All of it")
    git(tmp_path, "init", "--quiet", "--bare", "origin")
    git(made, "remote", "add", "origin", str(tmp_path / "origin"))
    return made


def test_a_dry_run_builds_everything_and_sends_nothing(repository):
    done = run(repository)
    assert done.returncode == 0, done.stderr
    sent = [line for line in done.stdout.splitlines() if line.startswith("would run: ")]
    assert [line.split()[2] for line in sent] == ["hf", "git", "git"]
    assert git(repository, "tag", "--list") == ""
    assert git(repository, "ls-remote", "origin") == ""
    assert git(repository, "status", "--porcelain") == ""  # dist/ is ignored
    (wheel,) = (repository / "dist").glob(f"lossprism-{VERSION}-*.whl")
    assert (repository / "dist" / f"lossprism-{VERSION}.tar.gz").is_file()
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"lossprism", f"lossprism-{VERSION}.dist-info"}


def test_a_push_sends_the_committed_files_then_the_tag(repository, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "hf").write_text(HUB)
    (programs / "hf").chmod(0o755)
    done = run(repository, "--push", path=f"{programs}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    requested = json.loads((programs / "asked.json").read_text())
    assert requested[:2] == ["upload", "me/prism"]
    assert "space" in requested
    space = programs / "space"
    for name in ("app.py", "requirements.txt", "losses/__init__.py", "lossprism/__init__.py"):
        assert (space / name).read_bytes() == (ROOT / name).read_bytes()
    assert not any((space / name).exists() for name in NOT_IN_THE_SPACE)
    card = (space / "README.md").read_text(encoding="utf-8")
    address = "https://huggingface.co/spaces/me/prism/resolve/main/"
    (thumbnail,) = (line for line in card.splitlines() if line.startswith("thumbnail: "))
    assert (space / thumbnail.removeprefix(f"thumbnail: {address}")).is_file()
    assert "*.webp filter=lfs" in (space / ".gitattributes").read_text()
    assert git(repository, "ls-remote", "origin").endswith(f"refs/tags/v{VERSION}^{{}}\n")


def test_what_is_in_the_way_is_reported(repository):
    (repository / "odd.txt").write_text("not committed")
    changes = repository / "CHANGELOG.md"
    changes.write_text(changes.read_text(encoding="utf-8").replace(f"## {VERSION}", "## Next"))
    git(repository, "tag", f"v{VERSION}")
    done = run(repository)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 3
    assert VERSION in done.stderr
    assert not (repository / "dist").exists()
