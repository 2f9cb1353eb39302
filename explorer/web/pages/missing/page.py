"""Page for an address without a page; programs get JSON, as before."""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from fastapi import HTTPException, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import HTMLResponse, JSONResponse

from lossprism.explorer.export.palette import properties
from lossprism.explorer.locale import LANGUAGES, preferred, say

PAGE = Template(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))
# What the server offers to programs is below this.
PROGRAM_PATH = "gradio_api"


def answer(pages: Sequence[tuple[str, str]]) -> Callable:
    """Return a handler for addresses without a page; `pages` are paths and their keys."""

    async def missing(request: Request, error: HTTPException) -> Response:
        reads = "text/html" in request.headers.get("accept", "")
        if not reads or PROGRAM_PATH in request.url.path.split("/"):
            return await http_exception_handler(request, error)
        return HTMLResponse(page(request, pages), status_code=404)

    return missing


async def unknown_call(request: Request, error: Exception) -> Response:
    """The answer to a call by a name or number that Gradio looked up in vain: the error is its own,
    since what is served (`served`, the endpoints) lets none out."""
    if PROGRAM_PATH not in request.url.path.split("/"):
        raise error
    return JSONResponse({"detail": say("en", "problem.call_unknown")}, status_code=404)


async def invalid_call(request: Request, error: Exception) -> Response:
    """The answer to a call that is none. FastAPI's own quotes what came, which may be no JSON."""
    return JSONResponse({"detail": say("en", "problem.call_unfit")}, status_code=422)


def page(request: Request, pages: Sequence[tuple[str, str]]) -> str:
    """Return a page that links to the existing ones. Nothing of the requested address is in it."""
    requested = request.query_params.get("lang")
    chosen = requested if requested in LANGUAGES else None
    language = chosen or preferred(request.headers.get("accept-language", ""))
    # Below the path of a host, if there is one; a host may also give the whole address.
    known = getattr(request.app, "root_path", "") or request.scope.get("root_path", "")
    root = escape(urlsplit(known).path.rstrip("/"))
    end = f"?lang={chosen}" if chosen else ""
    links = (
        f'<li><a href="{root}/{path}{end}">{say(language, key)}</a></li>' for path, key in pages
    )
    return PAGE.substitute(
        language=language,
        root=root,
        light=properties("light"),
        dark=properties("dark"),
        title=escape(say(language, "missing.title")),
        advice=escape(say(language, "missing.advice")),
        links="\n".join(links),
    )
