"""The app as a container runs it: another user, and one folder that can be written."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from lossprism.explorer.web.middleware.visitor_key import COOKIE
from tests import container, nginx_server
from tests.browser.serving import free_port

USER = int(container.only("USER"))
WAIT_S = 600  # on a machine that has other things to do
# In a view of the files that is the process's own: what is mounted may not be written, but for one.
VIEW = """
mount --make-rprivate /
mount --bind {data} {data}
awk '$3 != "proc" && $3 != "sysfs" && $2 != "{data}" {{ print $2 }}' /proc/self/mounts \
    | while read -r place; do mount -o remount,bind,ro "$place" 2>/dev/null || true; done
exec {command}
"""
# It may read every file, since the interpreter may stand in somebody else's folder, but not write.
LOOKS = "-all,+dac_read_search"


def why_not() -> str:
    """Why this machine cannot show it; "" where it can."""
    if sys.platform != "linux" or os.geteuid():
        return "only root can start a process as another user with a view of the files of its own"
    for tool in ("unshare", "nsenter", "setpriv", "mount", "awk"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True)
    if done.returncode:
        return f"no view of its own: {done.stderr.strip()}"
    return "" if nginx_server.FOUND else nginx_server.MISSING


def start(data: Path, port: int) -> subprocess.Popen:
    behind, config = free_port(), data.with_name("config")
    config.mkdir()
    nginx = nginx_server.written(config, port, behind, {}, data)
    path = f"{os.environ['PATH']}:{os.path.dirname(nginx_server.FOUND)}"
    environment = ["env", "-i", f"PATH={path}", f"HOME={data}", "PYTHONDONTWRITEBYTECODE=1"]
    names = {"/data": str(data), "7861": str(behind), "python": sys.executable}
    shell = [names.get(one, one) for one in container.command()]
    shell[2] = nginx_server.replace_once(shell[2], "/app/nginx-container.conf", str(nginx))
    become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs"]
    become += [f"--{kind}={LOOKS}" for kind in ("inh-caps", "ambient-caps", "bounding-set")]
    command = shlex.join([*become, *environment, *shell])
    view = VIEW.format(data=shlex.quote(str(data)), command=command)
    return subprocess.Popen(
        ["unshare", "--mount", "sh", "-euc", view],
        cwd=container.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_another_user_with_one_folder_to_write_in(tmp_path):
    if reason := why_not():
        pytest.skip(reason)
    data, port = tmp_path / "data", free_port()
    data.mkdir(mode=0o700)
    os.chown(data, USER, USER)
    for folder in (tmp_path, tmp_path.parent):
        folder.chmod(0o755)
    app = start(data, port)
    try:
        output = app.stdout.readline()
        assert output.startswith("LossPrism is at "), app.communicate()
        # Whose it is, and that it may not write anywhere else, as the system says.
        status = Path(f"/proc/{app.pid}/status").read_text()
        assert f"Uid:\t{USER}\t{USER}\t{USER}\t{USER}" in status
        inside = ["nsenter", "--target", str(app.pid), "--mount"]
        for place in ("/", "/dev/shm", tmp_path):
            touch = subprocess.run([*inside, "touch", f"{place}/x"], capture_output=True, text=True)
            assert "Read-only file system" in touch.stderr
        health = [one.replace("7860", str(port)) for one in container.health_command()]
        assert subprocess.run([sys.executable, *health[1:]], timeout=WAIT_S).returncode == 0
        kept = handed_in(port)
        found = [path for path in data.rglob("*") if path.is_file()]
        assert kept in {path.read_bytes() for path in found}
        assert {path.stat().st_uid for path in data.rglob("*")} == {USER}
        app.send_signal(signal.SIGTERM)
        app.wait(timeout=WAIT_S)
        end_nginx(data)  # as a container does with what is left in it
        rest, complaints = app.communicate(timeout=WAIT_S)
        assert (app.returncode, complaints) == (0, "Loading torch and Gradio …\n")
        assert "LossPrism has stopped." in rest
    finally:
        app.kill()
        end_nginx(data)
        app.communicate()


def end_nginx(data: Path) -> None:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int((data / "nginx.pid").read_text()), signal.SIGTERM)


def handed_in(port: int) -> bytes:
    """What a visitor who opened the page handed in."""
    address = f"http://127.0.0.1:{port}"
    with urllib.request.urlopen(address, timeout=WAIT_S) as answer:
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
    rows = b"sentence1,sentence2,score\na cat,a dog,1\na bird,a fish,0\n"
    request = {"name": "a.csv", "content": base64.b64encode(rows).decode()}
    headers = {"Content-Type": "application/json", "Cookie": cookie}
    assert cookie.startswith(COOKIE)
    requested = urllib.request.Request(
        f"{address}/requests/explore/read_file", json.dumps(request).encode(), headers
    )
    with urllib.request.urlopen(requested, timeout=WAIT_S) as answer:
        assert "error" not in json.load(answer)
    return rows
