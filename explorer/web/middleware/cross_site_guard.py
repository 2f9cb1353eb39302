"""The guard before the app: it admits its own pages and programs, and no other site's page.

A browser sends requests to this computer for the page of any site. So the guard checks every
request: was the server called by a name of its own (a stranger's name may be pointed at this
computer), and did a page of another origin send it? Such a page may open ours, also in a frame, and
nothing else. It is plain ASGI and independent of Gradio.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from lossprism.explorer.locale import preferred
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.middleware.asgi_messages import (
    Application,
    Message,
    Receive,
    Send,
    header,
    is_html,
)
from lossprism.explorer.web.middleware.host_and_origin_of_request import (
    is_cross_origin,
    is_navigation,
)
from lossprism.explorer.web.middleware.host_names_from_environment import HostNames, cloud_notebooks
from lossprism.explorer.web.middleware.refusals import JSON, PLAIN_TEXT, refusal, send_refusal

MULTIPART = "multipart/form-data"
UPLOADS = "/gradio_api/upload"  # where files are handed in
READS = ("GET", "HEAD")
# Set to the sources of Content-Security-Policy whose pages may show ours in a frame.
FRAMES = "LOSSPRISM_FRAME_ANCESTORS"
# A notebook or an editor of this computer shows the page in a frame.
_HOME_FRAMES = (
    "'self' http://localhost:* http://127.0.0.1:* vscode-webview: vscode-file: "
    "https://*.vscode-cdn.net"
)


class CrossSiteGuardMiddleware:
    """Outermost middleware: refuses requests of other sites' pages.

    Args:
        names: by which the server may be called.
        pages: the paths of the pages, which a page of another origin may open.
        root: the path below which a proxy shows the server.
    """

    def __init__(
        self, app: Application, names: HostNames, pages: Collection[str], root: str = ""
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
        host = header(scope, b"host")
        if not self.names.know(host):
            return 403, Problem("host_unknown", host=host[:80])
        if is_cross_origin(scope, self.names.origins):
            path = scope["path"].removeprefix(self.root).rstrip("/")
            if not (is_navigation(scope) and path in self.pages):
                return 403, Problem("origin_foreign")
        return None if _may_be_read(scope) else (415, Problem("body_not_json"))


def _may_be_read(scope: Mapping) -> bool:
    """Return whether a body has a type that no form and no script can send without a
    preflight."""
    if scope["type"] != "http" or scope["method"] in (*READS, "OPTIONS"):
        return True
    kind = header(scope, b"content-type").partition(";")[0].strip().lower()
    if kind == MULTIPART:
        return scope["path"].rstrip("/").endswith(UPLOADS)
    headers = dict(scope["headers"])
    has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
    return kind == JSON or (not kind and not has_body)


def frame_ancestors() -> str:
    """Return the sources whose pages may frame ours: as configured, else anybody's for a hosted
    page, and on the user's own machine this computer's and those of a notebook in the cloud."""
    if deployment_policy().separates_visitors:
        return os.environ.get(FRAMES) or "*"
    cloud = [one.frames for one in cloud_notebooks(os.environ)]
    return os.environ.get(FRAMES) or " ".join([_HOME_FRAMES, *cloud])


def _with_frames(send: Send) -> Send:
    async def with_policy(message: Message) -> None:
        if message["type"] == "http.response.start" and is_html(message):
            policy = f"frame-ancestors {frame_ancestors()}".encode()
            headers = [*message["headers"], (b"content-security-policy", policy)]
            message = {**message, "headers": headers}
        await send(message)

    return with_policy


async def _refuse(scope: dict, send: Send, status: int, problem: Problem) -> None:
    """Answer with a sentence: a reader in their language, a program in JSON."""
    language = preferred(header(scope, b"accept-language"))
    kind = PLAIN_TEXT if "text/html" in header(scope, b"accept") else JSON
    await send_refusal(send, status, refusal(problem, language), kind)
