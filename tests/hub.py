"""A small hub on this computer: the addresses that its clients ask for, from folders of files."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def serving(
    models: Mapping[str, Path], data_sets: Mapping[str, Path], requested: list[str] | None = None
) -> Iterator[str]:
    """Serve these folders under their ids for a while; gives the address for HF_ENDPOINT. The path
    of each request is appended to `requested`."""
    held = {"models": models, "datasets": data_sets}
    known = {"held": held, "requested": [] if requested is None else requested}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Hub,), known))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Hub(BaseHTTPRequestHandler):
    held: Mapping[str, Mapping[str, Path]]
    requested: list[str]
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def do_GET(self) -> None:
        self.requested.append(self.path)
        path = unquote(urlsplit(self.path).path).strip("/")
        parts = path.split("/")
        if parts[0] == "api" and parts[1] in self.held:
            return self._about(parts[1], parts[2:])
        kind = "datasets" if parts[0] == "datasets" else "models"
        name, _, rest = path.removeprefix("datasets/").partition("/resolve/")
        folder = self.held[kind].get(name)
        if folder is None or not rest:
            return self._missing()
        file = folder / rest.partition("/")[2]
        return self._file(file) if file.is_file() else self._missing("EntryNotFound")

    def _about(self, kind: str, parts: list[str]) -> None:
        folder = self.held[kind].get("/".join(parts[:2]))
        if folder is None:
            return self._missing()
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        listed = [file.relative_to(folder).as_posix() for file in files]
        if "tree" in parts:
            return self._tree(folder, folder / "/".join(parts[4:]))
        return self._json(
            {
                "id": "/".join(parts[:2]),
                "sha": COMMIT,
                "private": False,
                "gated": False,
                "disabled": False,
                "downloads": 0,
                "likes": 0,
                "tags": [],
                "siblings": [
                    {"rfilename": name, "size": file.stat().st_size}
                    for name, file in zip(listed, files, strict=True)
                ],
            }
        )

    def _tree(self, folder: Path, under: Path) -> None:
        """What lies in a folder, or below it."""
        if not under.is_dir():
            return self._missing("EntryNotFound")
        found = under.rglob("*") if "recursive=true" in self.path else under.iterdir()
        return self._json(
            [
                {
                    "type": "directory" if entry.is_dir() else "file",
                    "path": entry.relative_to(folder).as_posix(),
                    "size": 0 if entry.is_dir() else entry.stat().st_size,
                    "oid": COMMIT if entry.is_dir() else _digest(entry),
                }
                for entry in sorted(found)
            ]
        )

    def _file(self, file: Path) -> None:
        body = file.read_bytes()
        begin = 0
        if requested := self.headers.get("Range"):
            begin, _, end = requested.removeprefix("bytes=").partition("-")
            begin, whole = int(begin), len(body)
            body = body[begin : int(end) + 1 if end else None]
        self.send_response(206 if requested else 200)
        if requested:
            self.send_header("Content-Range", f"bytes {begin}-{begin + len(body) - 1}/{whole}")
        self.send_header("ETag", f'"{_digest(file)}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self._end(body, "application/octet-stream")

    def _json(self, value: object) -> None:
        self.send_response(200)
        self._end(json.dumps(value).encode(), "application/json")

    def _missing(self, code: str = "RepoNotFound") -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", code)
        self._end(b"{}", "application/json")

    def _end(self, body: bytes, kind: str) -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the tests' output is for what goes wrong."""


def _digest(file: Path) -> str:
    return hashlib.sha1(file.read_bytes()).hexdigest()
