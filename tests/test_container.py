"""The Dockerfile fits the app: its command, its port, its files, its versions."""

from __future__ import annotations

import fnmatch
import re
import sys

from explorer import cli
from tests import container
from tests.container import ROOT, instructions, only


def test_its_command_is_one_that_the_app_knows(monkeypatch):
    python, script, *options = container.command()
    assert (python, (ROOT / script).is_file()) == ("python", True)
    monkeypatch.setattr(sys, "argv", [script, *options, "--address", "https://example.org/losses"])
    chosen = cli.argument_parser().parse_args()
    assert (chosen.hosted, chosen.no_browser) == (True, True)
    assert (chosen.host, str(chosen.port)) == ("0.0.0.0", only("EXPOSE"))
    assert chosen.data == only("VOLUME") == container.environment()["HOME"]


def test_it_is_asked_for_its_health_where_it_listens():
    (port,) = re.findall(r"127\.0\.0\.1:(\d+)/healthz", container.health_command()[-1])
    assert port == only("EXPOSE")


def test_it_does_not_run_as_root():
    names = [name for name, _ in instructions()]
    assert only("USER").isdecimal()  # by number, so that it can be held to it
    assert int(only("USER")) > 0
    assert f"--uid {only('USER')} " in " ".join(rest for _, rest in instructions())
    assert "RUN" not in names[names.index("USER") :]


def test_it_has_the_files_that_it_needs_and_no_others():
    copied = [rest.split()[0] for name, rest in instructions() if name == "COPY"]
    assert copied == ["packages.txt", "requirements.txt", "app.py", "losses", "explorer"]
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert sent[1] == "*"
    assert [line[1:] for line in sent if line.startswith("!")] == copied
    left_out = [line for line in sent[2:] if not line.startswith("!")]
    for name in copied:
        assert not any(fnmatch.fnmatch(name, pattern) for pattern in left_out)


def test_its_versions_are_those_of_the_requirements_and_of_the_space():
    pinned = re.findall(r"^torch==.*$", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert len(pinned) == 1
    installed = next(rest for name, rest in instructions() if "pip install" in rest)
    assert '"$(grep ^torch== requirements.txt)" --index-url "$TORCH_FROM"' in installed
    assert only("ARG") == "TORCH_FROM=https://download.pytorch.org/whl/cpu"
    (python,) = re.findall(r'^python_version: "(.+)"$', (ROOT / "README.md").read_text(), re.M)
    assert only("FROM") == f"python:{python}-slim"
