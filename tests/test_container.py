"""The Dockerfile fits the app: its command, its port, its files, its versions."""

from __future__ import annotations

import fnmatch
import re
import sys

from lossprism.explorer import cli
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.web.api.gradio_private import IDLE_S
from tests import container
from tests.container import ROOT, instructions, only

PACKAGES = ("lossprism", "losses", "explorer")


def test_its_command_is_one_that_the_app_knows(monkeypatch):
    python, script, *options = container.app_command()
    assert (python, (ROOT / script).is_file()) == ("python", True)
    monkeypatch.setattr(sys, "argv", [script, *options, "--address", "https://example.org/losses"])
    chosen = cli.argument_parser().parse_args()
    assert (chosen.hosted, chosen.no_browser) == (True, True)
    assert chosen.host == "127.0.0.1"  # visitors reach it through nginx
    assert chosen.data == only("VOLUME") == container.environment()["HOME"]


def test_nginx_listens_where_visitors_come_and_passes_on_to_the_app():
    shell, option, script, name, *app = container.command()
    assert (shell, option, name) == ("sh", "-c", "sh")
    assert script == 'nginx -e stderr -c /app/nginx-container.conf && exec "$@"'
    site = (ROOT / "docs" / "nginx.conf").read_text(encoding="utf-8")
    assert re.findall(r"listen (\d+) ", site) == [only("EXPOSE")]
    assert re.findall(r"server 127\.0\.0\.1:(\d+);", site) == [app[app.index("--port") + 1]]
    around = (ROOT / "nginx-container.conf").read_text(encoding="utf-8")
    (included,) = re.findall(r"include (.+);", around)
    assert ("COPY", f"docs/nginx.conf {included}") in instructions()
    (log,) = set(re.findall(r"_log (/\S+) ", site))
    assert f"ln -s /dev/stderr {log}" in " ".join(rest for _, rest in instructions())


def test_nginx_limits_what_the_app_limits(monkeypatch):
    """The amounts of docs/nginx.conf are those of the budgets."""
    monkeypatch.setenv(HOSTED, "1")
    site = (ROOT / "docs" / "nginx.conf").read_text(encoding="utf-8")
    burst, at_once = map(int, re.findall(r"burst=(\d+) delay=(\d+)", site)[0])
    assert (at_once, burst - at_once) == (budget("requests_at_once"), budget("requests_a_second"))
    assert f"rate={budget('requests_a_second'):g}r/s" in site
    assert f"client_max_body_size {budget('body_mib'):g}m;" in site
    (kept,) = re.findall(r"keepalive_timeout (\d+)s;\n    keepalive_requests", site)
    assert int(kept) < IDLE_S  # else nginx would send a request into a connection that is closed


def test_its_health_is_checked_where_it_listens():
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
    nginx = ["docs/nginx.conf", "nginx-container.conf"]
    assert copied == ["packages.txt", *nginx, "requirements.txt", "app.py", *PACKAGES]
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
