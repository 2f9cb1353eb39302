"""A page that strangers share: each has a key that the server made and the browser keeps.

The key is a cookie that no script can read. A program, which keeps no cookies, sends it as the
header of the same name, and gets its key with its first call. Nothing else that a client says of
itself, such as an address, counts; neither does the cookie if another site's page makes the browser
send it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import psutil
from anyio import CapacityLimiter, to_thread

from lossprism.explorer.lab.training.run_folder import all_runs
from lossprism.explorer.lab.training.runs import default_runs
from lossprism.explorer.runtime import downloads, jobs, memory_use, uploads, worker_process
from lossprism.explorer.runtime.budgets import budget
from lossprism.explorer.runtime.cache import cache_folder
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.fair_queue import HEAVY, MIDDLING, FairQueue
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.processes import give_back
from lossprism.explorer.runtime.response_types import Json
from lossprism.explorer.runtime.visitors import as_visitor, is_key, new_key
from lossprism.explorer.sources import hub_cache_pruning
from lossprism.explorer.web.middleware.asgi import Message, Receive, Send
from lossprism.explorer.web.middleware.host_and_origin import of_another_page
from lossprism.explorer.web.middleware.visitor_key import (
    HEADER,
    cookie_name,
    is_encrypted,
    kept_key,
    sent_key,
)
from lossprism.version import VERSION

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_headers: ContextVar[Mapping[str, str]] = ContextVar("headers", default=NO_HEADERS)
NEW = "x-lossprism-new"  # of a request that came without a key
KEY_KEPT_S = 30 * 24 * 3600  # since the last page that was opened
TIDIED_S = 300.0
SWITCHED_S = 0.0005
# Of a disk that is full, of somebody's share of it, and of one that may only be read.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class KnowsVisitor:
    """Middleware that gives every request on a hosted page a visitor's key: its own, or a new one,
    which a browser gets as a cookie."""

    def __init__(self, app: Callable[..., Any]) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not deployment_policy().knows_visitors:
            await self.app(scope, receive, send)
            return
        sent, foreign = sent_key(scope), of_another_page(scope)
        key = sent or new_key()
        own = (HEADER.encode(), NEW.encode())
        others = [(name, value) for name, value in scope["headers"] if name not in own]
        ours = [(own[0], key.encode()), *([] if kept_key(scope) else [(own[1], b"1")])]
        scope_with_key = {**scope, "headers": [*others, *ours]}

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                page = any(n == b"content-type" and v.startswith(b"text/html") for n, v in headers)
                # A page that is opened again keeps the key for longer; another's takes none away.
                if not foreign and (page or not sent):
                    headers.append((b"set-cookie", _cookie(key, scope).encode()))
                message = {**message, "headers": headers}
            await send(message)

        await self.app(scope_with_key, receive, with_cookie)


def _cookie(key: str, scope: dict) -> str:
    """Return the cookie. On the hub a Space is in a frame of another site: there it must be
    restricted to that place (Partitioned), which requires encryption."""
    where = "SameSite=Lax"
    if is_encrypted(scope):
        framed = deployment_policy().space
        where = "SameSite=None; Secure; Partitioned" if framed else "SameSite=Lax; Secure"
    path = scope.get("root_path") or "/"
    return f"{cookie_name(scope)}={key}; Max-Age={KEY_KEPT_S}; Path={path}; HttpOnly; {where}"


def as_current_visitor() -> contextlib.AbstractContextManager[None]:
    """Run the body for the visitor of the current request."""
    if not deployment_policy().knows_visitors:
        return contextlib.nullcontext()
    headers = _headers.get()
    if not is_key(key := headers.get(HEADER, "")):
        raise RuntimeError("a request without a visitor's key")
    return as_visitor(key, is_new=NEW in headers)


def accepted_encodings() -> list[str]:
    """Return the encodings accepted for the current answer."""
    return encodings_in(_headers.get().get("accept-encoding", ""))


@contextlib.contextmanager
def with_headers(headers: Mapping[str, str]) -> Iterator[None]:
    """Run the body for a request with these headers."""
    token = _headers.set(headers)
    try:
        yield
    finally:
        _headers.reset(token)


def encodings_in(header: str) -> list[str]:
    """Return the names in a header Accept-Encoding, without those refused there."""
    listed = [[part.strip() for part in one.split(";")] for one in header.split(",")]
    return [name for name, *more in listed if "q=0" not in more]


def facts() -> Json | None:
    """Return facts about a hosted page: its Space, "" for none, and the hours for which uploads and
    runs are kept. None on the user's own machine."""
    if not deployment_policy().knows_visitors:
        return None
    hours = {"uploads": budget("upload_hours"), "runs": budget("run_hours")}
    return {"space": deployment_policy().space, **hours}


def health() -> Json:
    """Return the state of a hosted page: middling and heavy work running and waiting, trainings
    running or waiting, and free memory and disk, in MiB."""
    try:
        left = shutil.disk_usage(cache_folder("files")).free
    except OSError:  # it can be neither written nor read
        left = 0
    beside = sum(worker.memory for worker in worker_process.WORKERS)
    return {
        "alive": True,
        "version": VERSION,
        "middling": _counts(MIDDLING),
        "heavy": _counts(HEAVY),
        "trainings": sum(run.is_live() for run in all_runs(default_runs().root)),
        "memory_mib": {
            "own": (psutil.Process().memory_info().rss + beside) // MIB,
            "left": memory_use.left() // MIB,
        },
        "disk_mib": {"left": left // MIB},
    }


def _counts(of: FairQueue) -> Json:
    begun, waiting = of.counts
    return {"under_way": begun, "waiting": waiting}


_watched = CapacityLimiter(1)


async def watched() -> Json:
    """Return a route of `health` with its own thread, so that it answers even if all others are
    busy."""
    return await to_thread.run_sync(health, limiter=_watched)


def forget_mine() -> None:
    """Delete all data of the requesting visitor on a hosted page: files, derived data, and
    runs."""
    if not deployment_policy().knows_visitors:
        return
    jobs.forget_mine()
    uploads.forget_mine()
    downloads.forget_mine()
    default_runs().forget_mine()


def answer_soon(seconds: float = SWITCHED_S) -> None:
    """Shorten the time for which a thread keeps Python's lock: an answer waits for it several
    times. Beside two readers of large files a light answer took 38 ms, 107 at the 95th percentile,
    with Python's own 5 ms; with this 12 and 39."""
    sys.setswitchinterval(seconds)


def keep_tidy(every: float = TIDIED_S) -> None:
    """Start a periodic deletion of expired data, also of a process that crashed."""

    def tidy() -> None:
        while True:
            drop_old()
            give_back()  # what large requests have left
            time.sleep(every)

    threading.Thread(target=tidy, daemon=True).start()


def drop_old() -> None:
    """Delete data unused for longer than a hosted page keeps them."""
    for drop in (
        uploads.drop_old,
        downloads.drop_old,
        default_runs().drop_old,
        hub_cache_pruning.drop_old,
    ):
        try:
            drop()
        except OSError as error:  # the others go all the same, and this one the next time
            print(f"nothing old is removed: {type(error).__name__}", file=sys.stderr, flush=True)
        except Exception as error:
            report_defect(error)


def problem_of(error: Exception) -> Problem:
    """Return the problem to report for an error: no disk space, or a defect of ours, which is
    written to the terminal."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        print(f"refused no_room {os.strerror(error.errno)}", file=sys.stderr, flush=True)
        return Problem("no_room", about="again")
    report_defect(error)
    return Problem("internal", about="again")


def report_defect(error: Exception) -> None:
    """Write a defect of ours to the terminal; on a hosted page its place and kind, without its
    message, which may quote a visitor's input."""
    if not deployment_policy().tells_words:
        print("".join(traceback.format_tb(error.__traceback__)), file=sys.stderr, end="")
        print(type(error).__name__, file=sys.stderr, flush=True)
    else:
        traceback.print_exception(error)
