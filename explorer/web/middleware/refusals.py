"""Answers to requests that are refused: the problem, and its sentence."""

from collections.abc import Sequence

from lossprism.explorer.locale import say
from lossprism.explorer.runtime.json_encoding import encoded
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.web.middleware.asgi_messages import Send

JSON, PLAIN_TEXT = "application/json", "text/plain; charset=utf-8"


def refusal(problem: Problem, language: str = "en") -> Json:
    """Return the problem and its sentence in this language, as a page and a program read them."""
    return {"error": problem.to_json(), "detail": say(language, problem.key, **problem.values)}


async def send_refusal(
    send: Send,
    status: int,
    answer: Json,
    kind: str = JSON,
    headers: Sequence[tuple[bytes, bytes]] = (),
    more_body: bool = False,
) -> None:
    """Send a `refusal`: all of it as JSON, or only its sentence as plain text."""
    body = encoded(answer) if kind == JSON else answer["detail"].encode()
    length = (b"content-length", b"%d" % len(body))
    all_headers = [(b"content-type", kind.encode()), length, *headers]
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send({"type": "http.response.body", "body": body, "more_body": more_body})
