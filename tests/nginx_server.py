"""nginx, run with the files of this repository but for their ports and folders."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOUND = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
MISSING = "nginx is not installed (Debian: apt-get install nginx-light)"
LOG = "lossprism.log"
START_S = 60.0


def replace_once(text: str, before: str, after: str) -> str:
    """Return the text with the only occurrence of `before` replaced."""
    assert text.count(before) == 1, f"{before!r} stands {text.count(before)} times in the file"
    return text.replace(before, after)


def written(
    folder: Path, port: int, behind: int, changes: dict[str, str], data: Path | None = None
) -> Path:
    """Write both files to the folder, for nginx at `port` and the app at `behind`; return the one
    to start with. What nginx writes is in `data`, or in the folder."""
    data = data or folder
    site = (ROOT / "docs" / "nginx.conf").read_text(encoding="utf-8")
    for before, after in changes.items():
        site = replace_once(site, before, after)
    site = replace_once(site, "listen 7860 ", f"listen 127.0.0.1:{port} ")
    site = replace_once(site, "server 127.0.0.1:7861;", f"server 127.0.0.1:{behind};")
    site = site.replace("/var/log/nginx", str(data))
    around = (ROOT / "nginx-container.conf").read_text(encoding="utf-8")
    around = replace_once(around, "/etc/nginx/conf.d/lossprism.conf", str(folder / "site.conf"))
    around = around.replace("/data", str(data))
    (folder / "site.conf").write_text(site, encoding="utf-8")
    (folder / "nginx.conf").write_text(around, encoding="utf-8")
    return folder / "nginx.conf"


@contextlib.contextmanager
def running(
    folder: Path, port: int, behind: int, changes: dict[str, str] | None = None
) -> Iterator[subprocess.Popen]:
    """Run nginx at `port` before an app at `behind`, with these changes of docs/nginx.conf; its
    log is `LOG` in the folder."""
    assert FOUND, MISSING
    config = written(folder, port, behind, changes or {})
    command = [FOUND, "-p", str(folder), "-c", str(config), "-e", "stderr", "-g", "daemon off;"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + START_S
        while not listens(port):
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.02)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True
