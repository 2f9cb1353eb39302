"""The whole site: pages, looks, and the server that shows them."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import threading
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import gradio as gr
import torch
from fastapi.exceptions import HTTPException, RequestValidationError
from fastapi.middleware import Middleware
from fastapi.responses import FileResponse
from fastapi.routing import APIRoute
from gradio.components import Navbar
from gradio.events import api
from gradio.route_utils import FnIndexInferError
from gradio.themes import Base, LocalFont

from explorer.core.explore import explore
from explorer.core.named import loss_called
from explorer.core.own_loss import add_own_loss, serve_on
from explorer.core.scenario import Scenario
from explorer.export.picture import picture
from explorer.front.address import KnowsAddress, believe_no_proxy, read_address
from explorer.front.hosts import KnowsHost
from explorer.front.process import Front, allow_connections
from explorer.front.proxy import APP_IDLE_S, HERE
from explorer.locale import say
from explorer.runtime import apart, device, parcels
from explorer.runtime.budgets import BUDGETS, budget
from explorer.runtime.limits import FILE_BYTES, MIB
from explorer.runtime.problem import Problem
from explorer.runtime.promise import promised
from explorer.runtime.redaction import log_without_words
from explorer.runtime.visitors import as_visitor, new_key
from explorer.sources import encoders
from explorer.web import assets
from explorer.web.api.endpoints import ENDPOINTS
from explorer.web.calls import AnswersCalls
from explorer.web.defects import TellsDefects
from explorer.web.documents import AnswersPages
from explorer.web.guard import Guard, known_names
from explorer.web.hosting import (
    KnowsVisitor,
    answer_soon,
    facts,
    keep_tidy,
    watched,
)
from explorer.web.instrument import Instrument
from explorer.web.pages.compare import page as compare_page
from explorer.web.pages.doctor import page as doctor_page
from explorer.web.pages.explore import page as explore_page
from explorer.web.pages.finetune import page as finetune_page
from explorer.web.pages.large import page as large_page
from explorer.web.pages.missing import page as missing
from explorer.web.pool import EndsWork
from explorer.web.programs import SESSIONS, Site, endpoint
from explorer.web.unserved import no_apps

HEALTH = APIRoute("/healthz", watched, include_in_schema=False)
THEME = Base(
    primary_hue="indigo",
    neutral_hue="stone",
    font=[
        LocalFont("IBM Plex Sans"),  # comes with Gradio, so nothing is fetched
        "Noto Sans CJK SC",
        "PingFang SC",
        "Microsoft YaHei",
        "system-ui",
    ],
    font_mono=[LocalFont("IBM Plex Mono"), "ui-monospace", "monospace"],
).set(
    body_background_fill="#fbfaf8",
    body_background_fill_dark="#141518",
    block_shadow="none",
)


def first_scenario(device_name: str | None, loss: str | None) -> Scenario:
    """Return what the page opens with: the default scene, on this device, under this loss.

    Args:
        loss: any name of a loss, or FILE.py:FUNCTION for one of the user's own.

    Raises Problem where there is no such loss.
    """
    device.choose(device_name)
    if loss is None:
        return Scenario()
    if ".py:" in loss:
        return Scenario(loss=add_own_loss(loss).name)
    registered, convention = loss_called(loss)
    return Scenario(loss=registered, convention=convention)


# The pages: where each is served, the catalogue's word for it, and the module that lays it out.
PAGES = (
    ("", "page.explore", explore_page),
    ("compare", "page.compare", compare_page),
    ("doctor", "page.doctor", doctor_page),
    ("large", "page.large", large_page),
    ("finetune", "page.finetune", finetune_page),
)
UNSEEN = "endpoints"


def _no_page() -> None:
    raise HTTPException(404)


def _download(place: str, name: str) -> FileResponse:
    path = parcels.find(place, name)
    if path is None:
        raise HTTPException(404)
    return FileResponse(path, filename=name)


DOWNLOAD = APIRoute(
    f"/{parcels.ADDRESS}/{{place}}/{{name}}",
    _download,
    include_in_schema=False,
    response_model=None,
)
NO_PAGE = APIRoute(f"/{UNSEEN}", _no_page, include_in_schema=False)


@no_apps()
def build() -> Site:
    parcels.FOLDER.mkdir(parents=True, exist_ok=True)
    parcels.drop_old()
    with Site(title="LossPrism", fill_width=True, analytics_enabled=False) as demo:
        Navbar(visible=False)  # the head of each page has its own
        PAGES[0][2].build()
    for path, key, page in PAGES[1:]:
        with demo.route(say("en", key), path):
            Navbar(visible=False)
            page.build()
    # On a page of their own, which nobody is shown: a browser would be sent each argument of each
    # endpoint as a component to lay out.
    with demo.route(UNSEEN, UNSEEN, show_in_navbar=False):
        for function in ENDPOINTS:
            api(
                endpoint(function),
                api_name=function.__name__,
                api_description=inspect.getdoc(function),
                queue=False,
            )
    return demo


def page_data(first: Scenario) -> dict[str, object]:
    """What each page knows from the start, by the folder that it stands in."""
    listed = [{"path": path, "key": key} for path, key, _ in PAGES]
    shared = {"pages": listed, "hosted": facts(), **explore_page.shared_data(first)}
    folders = {page.STATE.folder: page for _, _, page in PAGES}
    return {name: {**shared, name: page.page_data()} for name, page in folders.items()}


def page_modules(demo: gr.Blocks) -> dict[str, tuple[str, list[str]]]:
    """By the path of a page, its folder and the modules that its instruments mount."""
    mounted: dict[str, list[str]] = {}
    for block in demo.blocks.values():
        if isinstance(block, Instrument):
            mounted.setdefault(block.state.folder, []).extend(block.modules)
    return {path: (page.STATE.folder, mounted[page.STATE.folder]) for path, _, page in PAGES}


def page_heads(demo: gr.Blocks) -> dict[str, str]:
    """The head of each page, by its address."""
    about = say("en", "page.description")
    found = page_modules(demo).items()
    return {f"/{path}": assets.head(folder, modules, about) for path, (folder, modules) in found}


def _answer_tools_in_json(demo: gr.Blocks) -> None:
    """MCP tools answer with text, and Gradio's text of an object is Python, not JSON; a PNG is an
    image beside it, which a model can look at."""
    server = demo.mcp_server_obj
    if server is None:  # asked for without the package mcp
        return
    types = server.types

    def contents(data: Any, root_url: str) -> list[Any]:
        found = []
        for answer in data:
            png = answer.get("png") if isinstance(answer, dict) else None
            told = {**answer, "png": None} if png else answer
            found.append(types.TextContent(type="text", text=json.dumps(told)))
            if png:
                found.append(types.ImageContent(type="image", data=png, mimeType="image/png"))
        return found

    server.postprocess_output_data = contents


def open_page(
    first: Scenario, host: str, port: int | None, address: str | None = None
) -> tuple[Site, str]:
    """Start serving in the background; the blocks, to close them, and where it listens.

    `address` is where readers find it, if that is elsewhere (`read_address`); None is as Gradio's
    variable GRADIO_ROOT_PATH says.

    Raises ValueError where that is no address or the environment has a budget that is no number,
    and OSError where the port is taken.
    """
    address = read_address(os.environ.get("GRADIO_ROOT_PATH", "") if address is None else address)
    serve_on(host)
    if not promised().keeps_apart:
        return _launched(first, host, port, address)
    _keep_apart()
    front = Front(host, port, address)
    try:
        demo, _ = _launched(first, HERE, front.app_port, address)
    except BaseException:
        front.end()
        raise
    demo.server.config.timeout_keep_alive = APP_IDLE_S
    if not promised().believes_proxies:
        believe_no_proxy(demo.server.config)
    demo.bound(front)
    front.open()
    return demo, front.address


def _keep_apart() -> None:
    """What a process does for strangers, and not at home. Raises ValueError where the environment
    has a budget that is no number."""
    for known in BUDGETS:
        known.read()
    allow_connections()
    answer_soon()
    log_without_words()
    keep_tidy()
    encoders.keep_at_most(int(budget("vectors_mib") * MIB))
    if device.device().type == "cpu":  # a GPU computes in few processes, and beside Python
        for worker in apart.WORKERS:
            worker.is_allowed = True


def _launched(first: Scenario, host: str, port: int | None, address: str) -> tuple[Site, str]:
    """The site, served from a thread of this process, and where."""
    names = known_names(host, address)

    @contextlib.asynccontextmanager
    async def guarded(app: Any) -> AsyncIterator[None]:
        """Gradio puts middleware of its own around ours; the guard stands before that, too."""
        pages = [path for path, *_ in PAGES]
        root = urlsplit(address).path
        app.middleware_stack = Guard(app.middleware_stack, names, [f"/{p}" for p in pages], root)
        yield

    torch.set_num_threads(1)  # see device.all_cores
    warm = threading.Thread(target=_warm, args=(first,), daemon=True)
    warm.start()
    demo = build()
    # Gradio announces the MCP server even when quiet, with a character not every terminal has.
    with contextlib.redirect_stdout(io.StringIO()):
        _, found, _ = demo.launch(
            server_name=host,
            server_port=port,
            root_path=address,
            theme=THEME,
            head=assets.late_head(),
            prevent_thread_lock=True,
            quiet=True,
            show_error=True,  # of a call that does not fit its endpoint; ours are `Refusal`s
            inline=False,
            run_history=False,
            ssr_mode=False,
            enable_monitoring=False,
            state_session_capacity=SESSIONS,
            max_file_size=FILE_BYTES,
            footer_links=[],
            favicon_path=assets.ICON,
            pwa=True,
            share=False,
            mcp_server=True,
            app_kwargs={
                "lifespan": guarded,
                "middleware": [
                    Middleware(TellsDefects),
                    Middleware(KnowsAddress, address),
                    Middleware(KnowsHost),
                    Middleware(KnowsVisitor),
                    Middleware(AnswersPages, page_heads(demo)),
                    Middleware(EndsWork),
                    Middleware(AnswersCalls, demo.blocks),
                ],
                "routes": [*assets.routes(page_data(first)), HEALTH, DOWNLOAD, NO_PAGE],
                "exception_handlers": {
                    404: missing.answer([page[:2] for page in PAGES]),
                    RequestValidationError: missing.unfit,
                    KeyError: missing.unheard_of,
                    FnIndexInferError: missing.unheard_of,
                },
            },
        )
    _answer_tools_in_json(demo)
    return demo, found.rstrip("/")


def _warm(first: Scenario) -> None:
    """The first picture is computed while the browser is still loading the page."""
    # The page asks for the same, and says what is wrong.
    with as_visitor(new_key()), contextlib.suppress(Problem):
        picture(explore(first))
