"""The guard before the app: it admits its own pages and programs, and no other site's page.

A browser sends requests to this computer for the page of any site. So the guard checks every
request: was the server called by a name of its own (a stranger's name may be pointed at this
computer), and did a page of another origin send it? Such a page may open ours, also in a frame, and
nothing else. It is plain ASGI and independent of Gradio.
"""

from __future__ import annotations

import ipaddress
import json
import os
import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlsplit

from lossprism.explorer.locale import preferred
from lossprism.explorer.runtime.deployment_policy import SPACE, deployment_policy
from lossprism.explorer.runtime.loopback import is_this_computer
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.middleware.asgi_messages import Application, Message, Receive, Send
from lossprism.explorer.web.middleware.host_and_origin import (
    Origin,
    is_foreign,
    name_in,
    opens,
    origin_of,
)
from lossprism.explorer.web.middleware.request_limits import refusal

JSON, MULTIPART = "application/json", "multipart/form-data"
UPLOADS = "/gradio_api/upload"  # where files are handed in
READS = ("GET", "HEAD")
# Addresses at which a server listens to all that reach its computer.
WILDCARDS = ("0.0.0.0", "::", "")
# Set to the sources of Content-Security-Policy whose pages may show ours in a frame.
FRAMES = "LOSSPRISM_FRAME_ANCESTORS"
# A notebook or an editor of this computer shows the page in a frame.
_HOME_FRAMES = (
    "'self' http://localhost:* http://127.0.0.1:* vscode-webview: vscode-file: "
    "https://*.vscode-cdn.net"
)


class CloudNotebook(NamedTuple):
    """A notebook in the cloud: the ends of the names by which it shows the page, and sources of
    the pages that frame it."""

    suffixes: tuple[str, ...]
    frames: str


# By the environment variable that tells of it.
NOTEBOOKS: Mapping[str, CloudNotebook] = {
    "COLAB_RELEASE_TAG": CloudNotebook(
        (".googleusercontent.com", ".colab.dev"),
        "https://colab.research.google.com https://*.googleusercontent.com https://*.colab.dev",
    ),
    "KAGGLE_KERNEL_RUN_TYPE": CloudNotebook(
        (".kaggle.net", ".kaggle.com"),
        "https://*.kaggle.com https://*.kaggle.net https://*.kaggleusercontent.com",
    ),
    "CODESPACES": CloudNotebook(
        (".app.github.dev", ".github.dev"), "https://*.app.github.dev https://*.github.dev"
    ),
}


@dataclass(frozen=True)
class Names:
    """The names by which readers find this server, beside those of this computer.

    `hosts` are complete names, `suffixes` the ends of names, and `origins` complete origins.
    `any_number` accepts numeric addresses, which nobody can point elsewhere; `any_name` accepts all
    names, if only a proxy can reach the server.
    """

    hosts: frozenset[str]
    suffixes: tuple[str, ...] = ()
    origins: frozenset[Origin] = frozenset()
    any_number: bool = False
    any_name: bool = False

    def also(self, address: str) -> Names:
        """Return these names and those of one more address for readers."""
        host, origin = name_in(urlsplit(address).netloc), origin_of(address)
        origins = self.origins | frozenset(filter(None, [origin]))
        return replace(self, hosts=self.hosts | {host}, origins=origins)

    def know(self, host: str) -> bool:
        """Return whether a header Host has one of these names."""
        name = name_in(host)
        if not name:
            return False
        if self.any_name or is_this_computer(name) or name in self.hosts:
            return True
        return name.endswith(self.suffixes) or (self.any_number and _is_number(name))


def known_names(host: str, address: str = "", environment: Mapping[str, str] = os.environ) -> Names:
    """Return the names of a server that listens at `host` and that readers find at `address`.

    A Space has the name that the hub gives it, a notebook in the cloud those of its service. A
    JupyterHub does not tell its name; but a server there is reached through its proxy alone.
    """
    listens_to_all = host in WILDCARDS
    of_space = environment.get("SPACE_HOST", "")
    found = {name_in(urlsplit(address).netloc), *map(name_in, of_space.split(","))}
    found |= set() if listens_to_all else {host.strip("[]").lower()}
    if listens_to_all:
        found |= {socket.gethostname().lower(), f"{socket.gethostname().lower()}.local"}
    suffixes = [end for one in _cloud_notebooks(environment) for end in one.suffixes]
    on_a_space = bool(environment.get(SPACE))
    return Names(
        hosts=frozenset(found - {""}),
        suffixes=tuple(suffixes),
        origins=frozenset(filter(None, [origin_of(address)])),
        any_number=listens_to_all or on_a_space,
        any_name=bool(environment.get("JUPYTERHUB_SERVICE_PREFIX"))
        or (on_a_space and not of_space),
    )


def _cloud_notebooks(environment: Mapping[str, str]) -> list[CloudNotebook]:
    return [one for variable, one in NOTEBOOKS.items() if environment.get(variable)]


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Outermost middleware: refuses requests of other sites' pages.

    Args:
        names: by which the server may be called.
        pages: the paths of the pages, which a page of another origin may open.
        root: the path below which a proxy shows the server.
    """

    def __init__(
        self, app: Application, names: Names, pages: Collection[str], root: str = ""
    ) -> None:
        self.app, self.names, self.root = app, names, root
        self.pages = {page.rstrip("/") for page in pages}

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal({"method": "GET", **scope})
        if refusal is None:
            await self.app(scope, receive, _with_frames(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _refuse(scope, send, *refusal)

    def _refusal(self, scope: dict) -> tuple[int, Problem] | None:
        """Return the status and the reason of a refusal; None to admit."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if not self.names.know(host):
            return 403, Problem("host_unknown", host=host[:80])
        if is_foreign(scope, self.names.origins):
            path = scope["path"].removeprefix(self.root).rstrip("/")
            if not (opens(scope) and path in self.pages):
                return 403, Problem("origin_foreign")
        return None if _may_be_read(scope, headers) else (415, Problem("body_not_json"))


def _may_be_read(scope: Mapping, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a body has a type that no form and no script can send without a
    preflight."""
    if scope["type"] != "http" or scope["method"] in (*READS, "OPTIONS"):
        return True
    kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if kind == MULTIPART:
        return scope["path"].rstrip("/").endswith(UPLOADS)
    has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
    return kind == JSON or (not kind and not has_body)


def frame_ancestors() -> str:
    """Return the sources whose pages may frame ours: as configured, else anybody's for a hosted
    page, and on the user's own machine this computer's and those of a notebook in the cloud."""
    if deployment_policy().knows_visitors:
        return os.environ.get(FRAMES) or "*"
    cloud = [one.frames for one in _cloud_notebooks(os.environ)]
    return os.environ.get(FRAMES) or " ".join([_HOME_FRAMES, *cloud])


def _with_frames(send: Send) -> Send:
    async def with_policy(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            if any(n == b"content-type" and v.startswith(b"text/html") for n, v in headers):
                policy = f"frame-ancestors {frame_ancestors()}"
                headers.append((b"content-security-policy", policy.encode()))
                message = {**message, "headers": headers}
        await send(message)

    return with_policy


async def _refuse(scope: dict, send: Send, status: int, problem: Problem) -> None:
    """Answer with a sentence: a reader in their language, a program in JSON."""
    headers = dict(scope["headers"])
    language = preferred(headers.get(b"accept-language", b"").decode("latin-1"))
    reads = b"text/html" in headers.get(b"accept", b"")
    answer = refusal(problem, language)
    body = (answer["detail"] if reads else json.dumps(answer)).encode()
    kind = b"text/plain; charset=utf-8" if reads else JSON.encode()
    sent = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})
