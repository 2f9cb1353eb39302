"""Exception handler: every failed request gets an answer, and the log no words of a visitor.

Errors that Gradio, MCP or the server raise may quote their input. It would end up in the log, and
the client would get "Internal Server Error", or a broken stream.
"""

import errno
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException

from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.web.middleware.asgi_messages import Message, Receive, Send, header
from lossprism.explorer.web.middleware.refusals import refusal, send_refusal

# Of gradio_client: puts the named arguments of a call in order.
ARGUMENTS = "construct_args"
# Its sentence before the name of an argument takes 40; no name of ours has more than 20.
REASON_LETTERS = 120
# Of a disk that is full, of somebody's share of it, and of one that may only be read.
DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
STREAM = "text/event-stream"


class ExceptionHandlerMiddleware:
    """Middleware that answers requests which nothing below it has answered."""

    def __init__(self, app: Callable[..., Any]) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun: list[Message] = []

        async def noticed(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.append(message)
            await send(message)

        try:
            await self.app(scope, receive, noticed)
        except Exception as error:
            status, problem = _message_of(error)
            answer = refusal(problem)
            if not begun:
                await send_refusal(send, status, answer)
            elif header(begun[0], b"content-type").startswith(STREAM):
                body = f"event: error\ndata: {json.dumps({'error': answer['detail']})}\n\n".encode()
                await send({"type": "http.response.body", "body": body})
            else:
                raise  # the connection is closed: half an answer is not taken for a whole one


def _message_of(error: Exception) -> tuple[int, Problem]:
    """Return the message for the client; a defect of ours is written to the terminal."""
    places = traceback.extract_tb(error.__traceback__)
    if isinstance(error, TypeError) and places[-1].name == ARGUMENTS:
        reason = shortened(str(error).partition(". ")[0], most=REASON_LETTERS)
        return 422, Problem("call_arguments", reason=reason)
    cause = error.__cause__
    not_found = isinstance(cause, HTTPException) and cause.status_code == 404
    if isinstance(cause, KeyError) or not_found:  # looked up in vain, when the answer had begun
        return 404, Problem("call_unknown")
    return 500, problem_of(error)


def problem_of(error: Exception) -> Problem:
    """Return the problem to report for an error: no disk space, or a defect of ours, which is
    written to the terminal."""
    if isinstance(error, OSError) and error.errno in DISK_FULL_ERRORS:
        print(f"refused no_room {os.strerror(error.errno)}", file=sys.stderr, flush=True)
        return Problem("no_room", about="again")
    report_defect(error)
    return Problem("internal", about="again")


def report_defect(error: Exception) -> None:
    """Write a defect of ours to the terminal; on a hosted page its place and kind, without its
    message, which may quote a visitor's input."""
    if not deployment_policy().logs_messages:
        print("".join(traceback.format_tb(error.__traceback__)), file=sys.stderr, end="")
        print(type(error).__name__, file=sys.stderr, flush=True)
    else:
        traceback.print_exception(error)
