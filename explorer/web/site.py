"""The whole site: pages, looks, and the server that shows them."""

import contextlib
import io
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, make_dataclass, replace
from typing import Any, get_type_hints
from urllib.parse import urlsplit

import gradio as gr
import torch
from fastapi import Request
from fastapi.exceptions import HTTPException, RequestValidationError
from fastapi.middleware import Middleware
from fastapi.responses import FileResponse, PlainTextResponse
from fastapi.routing import APIRoute

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.loss_lookup import loss_called
from lossprism.explorer.core.models_of_scenario import vectors_of
from lossprism.explorer.core.own_loss_from_python_file import add_own_loss, set_page_host
from lossprism.explorer.core.scenario import OPENING, Scenario
from lossprism.explorer.export.drawing_data_of_exploration import picture
from lossprism.explorer.lab.training.run_folder import default_root
from lossprism.explorer.runtime import device, downloads
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.jobs import Job, Report
from lossprism.explorer.runtime.limits import FILE_BYTES
from lossprism.explorer.runtime.owner_consent import allow_folder
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.sources.encoders import EMBEDDED, locate
from lossprism.explorer.web import page_html, page_requests, static_files
from lossprism.explorer.web.api.descriptions_from_docstrings import (
    INTRODUCTION,
    guide_for_agents,
    tool_description,
)
from lossprism.explorer.web.api.endpoint_functions import CHANGING, ENDPOINTS
from lossprism.explorer.web.api.gradio_endpoint_wrapper import endpoint
from lossprism.explorer.web.api.gradio_private import (
    FnIndexInferError,
    ORJSONResponse,
    introduce_tools,
    keep_connections,
    limit_queue,
    prepare,
)
from lossprism.explorer.web.api.health_check import health
from lossprism.explorer.web.api.openapi import openapi
from lossprism.explorer.web.hosted_server_setup_and_cleanup import prepare_for_strangers
from lossprism.explorer.web.middleware.cancel_on_disconnect import CancelOnDisconnectMiddleware
from lossprism.explorer.web.middleware.cross_site_guard import CrossSiteGuardMiddleware
from lossprism.explorer.web.middleware.exception_handler import ExceptionHandlerMiddleware
from lossprism.explorer.web.middleware.host_and_origin_of_request import HostMiddleware
from lossprism.explorer.web.middleware.host_names_from_environment import accepted_names
from lossprism.explorer.web.middleware.large_response_streaming import ResponseStreamingMiddleware
from lossprism.explorer.web.middleware.public_address import PublicAddressMiddleware, read_address
from lossprism.explorer.web.middleware.request_limits import RequestLimitsMiddleware
from lossprism.explorer.web.middleware.visitor_key import VisitorKeyMiddleware
from lossprism.explorer.web.page_requests import FORGET
from lossprism.explorer.web.pages import link_previews
from lossprism.explorer.web.pages.claims import initial_page_data as claims_page
from lossprism.explorer.web.pages.compare import initial_page_data as compare_page
from lossprism.explorer.web.pages.data_for_every_page import shared_data
from lossprism.explorer.web.pages.doctor import initial_page_data as doctor_page
from lossprism.explorer.web.pages.explore import initial_page_data as explore_page
from lossprism.explorer.web.pages.finetune import initial_page_data as finetune_page
from lossprism.explorer.web.pages.landscape import initial_page_data as landscape_page
from lossprism.explorer.web.pages.large import initial_page_data as large_page
from lossprism.explorer.web.pages.learn import initial_page_data as learn_page
from lossprism.explorer.web.pages.missing import page as missing
from lossprism.explorer.web.pages.page_data_types import Facts, Hosted, PageLink
from lossprism.explorer.web.pages.sentence_map import initial_page_data as map_page
from lossprism.explorer.web.pages.sphere import initial_page_data as sphere_page
from lossprism.version import VERSION

HEALTH = APIRoute("/healthz", health, include_in_schema=False)


def agents_guide() -> PlainTextResponse:
    """Return the guide to the calls for programs that read text."""
    return PlainTextResponse(guide_for_agents(ENDPOINTS), media_type="text/markdown")


def openapi_document(request: Request) -> dict[str, Any]:
    """Return the description of the calls; before Gradio's own at the same address."""
    return openapi(ENDPOINTS, request.app.get_blocks().get_api_info()["named_endpoints"])


OPENAPI = APIRoute("/gradio_api/openapi.json", openapi_document, include_in_schema=False)
AGENTS = APIRoute("/agents.md", agents_guide, include_in_schema=False)
# Of two lengths: what pads the shorter one is loaded, too.
FIRST_SENTENCES = ("A cat.", "A cat sleeps in the sun.")
WARMED_AFTER_S = 10.0  # at most, on a page with visitors from its first second
# As long at less than this share of a core, and the page is idle.
IDLE_S, BUSY_SHARE = 2.0, 0.1
# Sessions that Gradio knows of; none of ours keeps anything.
SESSIONS = 32
# Where each page is served, its folder, and the module of it. The navigation shows those whose path
# has one piece; the others are reached from the page whose path theirs begins with.
PAGES = (
    ("", "explore", explore_page),
    ("compare", "compare", compare_page),
    ("doctor", "doctor", doctor_page),
    ("large", "large", large_page),
    ("finetune", "finetune", finetune_page),
    ("learn", "learn", learn_page),
    ("learn/sphere", "sphere", sphere_page),
    ("learn/landscape", "landscape", landscape_page),
    ("learn/map", "sentence_map", map_page),
    ("learn/claims", "claims", claims_page),
)
# Types of the data of each page when it opens: the facts for every page, and its own by its folder.
FACTS: dict[str, type[Facts]] = {
    folder: make_dataclass(
        folder.title().replace("_", "") + "Facts",
        [(folder, get_type_hints(page.page_data)["return"])],
        bases=(Facts,),
        namespace={"__doc__": f"Facts for the {folder} page."},
        frozen=True,
        kw_only=True,
    )
    for _, folder, page in PAGES
}
# Names that a page also has addresses for, below its own.
BELOW = {"learn": learn_page.BELOW}
LINKS = [(path, f"page.{folder}") for path, folder, _ in PAGES]


@dataclass
class Site:
    """The running app."""

    app: gr.Server

    def close(self) -> None:
        self.app.get_blocks().close(verbose=False)


def first_scenario(device_name: str | None, loss: str | None) -> Scenario:
    """Return the initial scenario: the default one, on this device, under this loss, showing the
    weights of its terms.

    Args:
        loss: any name of a loss, or FILE.py:FUNCTION for one of the user's own.

    Raises Problem if there is no such loss.
    """
    device.choose(device_name)
    if loss is None:
        return OPENING
    if ".py:" in loss:
        return replace(OPENING, loss=add_own_loss(loss).name)
    registered, convention = loss_called(loss)
    return replace(OPENING, loss=registered, convention=convention)


def _download(place: str, name: str) -> FileResponse:
    path = downloads.find(place, name)
    if path is None:
        raise HTTPException(404)
    return FileResponse(path, filename=name)


DOWNLOAD = APIRoute(
    f"/{downloads.ADDRESS}/{{place}}/{{name}}",
    _download,
    include_in_schema=False,
    response_model=None,
)


def served_functions() -> dict[str, list[Callable]]:
    """Return the functions that each page may call, by its folder."""
    return {folder: [FORGET, *page.SERVED] for _, folder, page in PAGES}


def paths_of_pages() -> dict[str, list[str]]:
    """Return the paths that each page is served at, by its folder."""
    return {
        folder: [path, *(f"{path}/{name}" for name in BELOW.get(folder, ()))]
        for path, folder, _ in PAGES
    }


def build(first: Scenario) -> gr.Server:
    """Return the app, not yet launched: pages, their requests and files, and endpoints."""
    downloads.FOLDER.mkdir(parents=True, exist_ok=True)
    downloads.delete_expired()
    functions = served_functions()
    pages = [
        route
        for folder, paths in paths_of_pages().items()
        for route in page_html.page_routes(
            paths, folder, [one.__name__ for one in functions[folder]]
        )
    ]
    app = gr.Server(
        title="LossPrism",
        docs_url=None,  # they would fetch their scripts from another host
        redoc_url=None,
        default_response_class=ORJSONResponse,
        routes=[
            *pages,
            *page_requests.routes(functions),
            *static_files.file_routes(page_data(first)),
            HEALTH,
            AGENTS,
            OPENAPI,
            DOWNLOAD,
            link_previews.ROUTE,
        ],
        middleware=[
            Middleware(ResponseStreamingMiddleware),
            Middleware(ExceptionHandlerMiddleware),
            Middleware(HostMiddleware),
            Middleware(VisitorKeyMiddleware),
            Middleware(CancelOnDisconnectMiddleware),
        ],
        exception_handlers={
            404: missing.answer(LINKS),
            RequestValidationError: missing.invalid_call,
            KeyError: missing.unknown_call,
            FnIndexInferError: missing.unknown_call,
        },
    )
    for place, function in enumerate(ENDPOINTS):
        served = endpoint(function)
        description = tool_description(function, ENDPOINTS[:place])
        app.api(served, name=function.__name__, description=description, queue=False)
    return app


def page_data(first: Scenario) -> dict[str, Facts]:
    """Return each page's initial data, by its folder."""
    shared = {
        "version": VERSION,
        "pages": [PageLink(path, key) for path, key in LINKS],
        "hosted": Hosted.read(),
        **shared_data(first),
    }
    return {
        folder: FACTS[folder](**shared, **{folder: page.page_data()}) for _, folder, page in PAGES
    }


def open_page(
    first: Scenario,
    host: str,
    port: int | None,
    address: str | None = None,
    *,
    share: bool | None = False,
) -> tuple[Site, str]:
    """Start serving in the background; return the site, to close it, and its address.

    `address` is the one for readers, if it differs (`read_address`); None is Gradio's variable
    GRADIO_ROOT_PATH. With `share` Gradio makes a public link as well; None leaves it to Gradio,
    which makes one in a notebook that reaches no port of its computer.

    Raises ValueError if that is no address or a budget in the environment is no number, and OSError
    if the port is taken.
    """
    address = read_address(os.environ.get("GRADIO_ROOT_PATH", "") if address is None else address)
    set_page_host(host)
    allow_folder(default_root())  # also to links: the models in it were trained here
    if deployment_policy().uses_worker_processes:
        prepare_for_strangers()
    return _launched(first, host, port, address, share)


def _launched(
    first: Scenario, host: str, port: int | None, address: str, share: bool | None
) -> tuple[Site, str]:
    """Return the site, served from a thread of this process, and its address."""
    guards: list[CrossSiteGuardMiddleware] = []

    @contextlib.asynccontextmanager
    async def prepared(app: Any) -> AsyncIterator[None]:
        """Put the guard, the address and the limits outside of Gradio's own middleware."""
        app.get_blocks().title = app.title
        prepare(app.get_blocks())
        introduce_tools(app.get_blocks(), INTRODUCTION, [one.__name__ for one in CHANGING])
        pages = [f"/{path}" for paths in paths_of_pages().values() for path in paths]
        inner = app.middleware_stack
        if deployment_policy().has_budgets:
            limit_queue(app.get_blocks())
            inner = RequestLimitsMiddleware(inner)
        inner = PublicAddressMiddleware(inner, address)
        names = accepted_names(host, address)
        guards.append(CrossSiteGuardMiddleware(inner, names, pages, urlsplit(address).path))
        app.middleware_stack = guards[0]
        yield

    torch.set_num_threads(1)  # see `torch_threads.all_cores`
    threading.Thread(target=_warm, args=(first,), daemon=True).start()
    app = build(first)
    # Gradio announces the MCP server even when quiet, with a character not every terminal has.
    with contextlib.redirect_stdout(io.StringIO()):
        _, found, shared = app.launch(
            server_name=host,
            server_port=port,
            root_path=address,
            prevent_thread_lock=True,
            quiet=True,
            show_error=True,  # of a call that does not fit its endpoint; ours are `Refusal`s
            inline=False,
            run_history=False,
            ssr_mode=False,
            enable_monitoring=False,
            state_session_capacity=SESSIONS,
            max_file_size=FILE_BYTES,
            favicon_path=static_files.ICON,
            share=share,
            mcp_server=True,
            app_kwargs={"lifespan": prepared},
        )
    if shared:
        guards[0].names = guards[0].names.also(shared)
    if deployment_policy().has_budgets:
        keep_connections(app.get_blocks())
    return Site(app), found.rstrip("/")


def _warm(first: Scenario) -> Job:
    """Compute the first picture while the browser loads the page. Once it has done so, or nobody
    has come, load the encoder that the first sentences would wait for, in the job returned."""
    # The page asks for the same, and says what is wrong.
    with as_visitor(new_key()), contextlib.suppress(Problem):
        picture(explore(first))
    wait_until_idle(most=WARMED_AFTER_S)
    # A job ends at its next step when the process does: torn down while torch computes, it aborts.
    return Job.in_background(_load_encoder)


def wait_until_idle(most: float) -> None:
    """Wait until this process has computed next to nothing for IDLE_S; at most `most`
    seconds, as one with many visitors never does."""
    ends = time.monotonic() + most
    while time.monotonic() < ends:
        before = time.process_time()
        time.sleep(IDLE_S)
        if time.process_time() - before < BUSY_SHARE * IDLE_S:
            return


def _load_encoder(_: Report) -> None:
    with as_visitor(new_key()), contextlib.suppress(Problem):  # which the first sentences are told
        vectors_of(FIRST_SENTENCES, locate(EMBEDDED))
