"""All code that depends on Gradio's internals (6.31); no other module does.

For every call Gradio searches arguments and answer for files, fetches what claims to be one from
any address, and keeps both for the session. None of our functions takes a file or has a state, so
arguments and answers pass through unchanged.
"""

import asyncio
import inspect
import json
import math
from collections import ChainMap
from collections.abc import Collection
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.route_utils import FnIndexInferError
from gradio.routes import ORJSONResponse
from gradio.server_messages import EventMessage, ProcessCompletedMessage
from gradio.utils import LRUCache, error_payload

from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_size import json_bytes
from lossprism.explorer.runtime.unsent_response_bytes import UNSENT_BYTES
from lossprism.version import VERSION

__all__ = [
    "FnIndexInferError",  # raised for an endpoint of no such name
    "ORJSONResponse",  # with which Gradio answers: NaN and infinities are null
    "Refusal",
    "introduce_tools",
    "keep_connections",
    "limit_queue",
    "prepare",
]

# How often Gradio's queue looks for calls by HTTP, which no page makes. Gradio's own 1,000 times a
# second take 3 % of a core while nobody asks; this lets fifty calls of one function begin in a
# second. No function of ours reports progress.
CALLS_S, PROGRESS_S = 0.02, 1.0
# On a hosted app: calls that may wait for their turn, and answers that may wait to be fetched.
UNFETCHED = 128
# A connection that nobody uses is closed after so long: later than nginx does it (docs/nginx.conf),
# which would send a request into it.
IDLE_S = 75


class Messages(asyncio.Queue[EventMessage]):
    """Messages to one session. An answer counts from here until nothing holds it any more; one that
    does not fit beside the rest is replaced by a refusal."""

    def _put(self, item: EventMessage) -> None:
        if isinstance(item, ProcessCompletedMessage):
            size = json_bytes(item.output, math.inf)
            try:
                UNSENT_BYTES.take(size)
                UNSENT_BYTES.release_with(item, size)
            except Problem as problem:
                item.output, item.success = error_payload(Refusal(str(problem)), False), False
        super()._put(item)


class Unfetched(LRUCache[str, asyncio.Queue[EventMessage]]):
    """Messages to calls until they are fetched, for the latest sessions only.

    A call may wait longer than its place is kept. Gradio would then fail to find it and stop
    answering any call, so a missing session gets a queue that nobody reads."""

    def __missing__(self, session: str) -> asyncio.Queue[EventMessage]:
        return asyncio.Queue()

    def __setitem__(self, session: str, _: asyncio.Queue[EventMessage]) -> None:
        super().__setitem__(session, Messages())


class Refusal(gr.Error):
    """The sentence that a client gets instead of an answer."""

    def __init__(self, sentence: str) -> None:
        # Half a character of the input, quoted in the sentence, would fit into no answer.
        plain = sentence.encode("utf-8", "backslashreplace").decode()
        super().__init__(plain, print_exception=False)

    def __str__(self) -> str:  # Gradio's own puts the sentence in quotation marks
        return self.message


def prepare(blocks: gr.Blocks) -> None:
    """Pass calls through unchanged and keep the queue idle while nobody calls."""
    blocks._queue.sleep_when_free = CALLS_S
    blocks._queue.progress_update_sleep_when_free = PROGRESS_S
    blocks.preprocess_data = _arguments
    blocks.postprocess_data = _answer
    if blocks.mcp_server_obj is not None:  # None without the package mcp
        _answer_tools_in_json(blocks.mcp_server_obj)


async def _arguments(
    block_fn: BlockFunction, inputs: list[Any], *_: object, **__: object
) -> list[Any]:
    """Return the arguments, with the defaults of those left out at the end."""
    if len(inputs) == (count := len(block_fn.inputs)):
        return [*inputs]
    signature = inspect.signature(block_fn.fn).parameters.values() if block_fn.fn else ()
    parameters = list(signature)[:count]
    defaults = [parameter.default for parameter in parameters[len(inputs) :]]
    if len(inputs) > count or inspect.Parameter.empty in defaults:
        names = ", ".join(parameter.name for parameter in parameters)
        raise Refusal(str(Problem("call_values", count=count, names=names, given=len(inputs))))
    return [*inputs, *defaults]


async def _answer(block_fn: BlockFunction, predictions: Any, state: object) -> list[Any]:
    return [predictions]


def _answer_tools_in_json(mcp_server: Any) -> None:
    """Let MCP tools answer in JSON, since Gradio's text of an object is Python, and add a PNG as an
    image, which a model can view."""
    types = mcp_server.types

    def contents(data: Any, root_url: str) -> list[Any]:
        contents_so_far = []
        for answer in data:
            png = answer.get("png") if isinstance(answer, dict) else None
            text = {**answer, "png": None} if png else answer
            contents_so_far.append(types.TextContent(type="text", text=json.dumps(text)))
            if png:
                contents_so_far.append(
                    types.ImageContent(type="image", data=png, mimeType="image/png")
                )
        return contents_so_far

    mcp_server.postprocess_output_data = contents


def introduce_tools(blocks: gr.Blocks, instructions: str, changing: Collection[str]) -> None:
    """Say to MCP clients whose server it is and which tools only read, all but those in
    `changing`, and let tools answer with structured content, too: Gradio names itself, marks no
    tool, and answers with text alone."""
    if blocks.mcp_server_obj is None:
        return
    types, server = blocks.mcp_server_obj.types, blocks.mcp_server_obj.mcp_server
    server.name, server.version, server.instructions = "LossPrism", VERSION, instructions
    list_tools = server.request_handlers[types.ListToolsRequest]

    async def marked(request: Any) -> Any:
        answer = await list_tools(request)
        tools: list[Any] = answer.root.tools  # pyright: ignore[reportAttributeAccessIssue]
        for tool in tools:
            reads = tool.name not in changing
            tool.annotations = types.ToolAnnotations(readOnlyHint=reads)
            fields = tool.inputSchema["properties"]
            tool.inputSchema["properties"] = {name: _short(one) for name, one in fields.items()}
        return answer

    call_tool = server.request_handlers[types.CallToolRequest]

    async def structured(request: Any) -> Any:
        answer = await call_tool(request)
        result: Any = answer.root
        if not result.isError:
            found = read_json(result.content[0].text)
            # An object is asked for; a list stands in one, as the protocol's own library does it.
            result.structuredContent = found if isinstance(found, dict) else {"result": found}
        return answer

    server.request_handlers[types.ListToolsRequest] = marked
    server.request_handlers[types.CallToolRequest] = structured


def _short(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the same schema with several types as a list of them, null last, since each other
    keyword concerns one type alone, and without `additionalProperties` that accepts anything.
    Gradio writes a schema for each type, eighty times in the list of tools."""
    found: dict[str, Any] = {}
    for name, value in schema.items():
        if name in ("oneOf", "anyOf"):
            parts = [_short(part) for part in value]
            types = sorted((part.pop("type") for part in parts), key="null".__eq__)
            found |= {"type": types, **dict(ChainMap(*parts))}
        elif (name, value) != ("additionalProperties", {}):
            found[name] = _short(value) if name == "items" else value
    return found


def limit_queue(blocks: gr.Blocks) -> None:
    """Limit waiting calls and answers: one of some megabytes could be requested a thousand times
    and never fetched."""
    blocks._queue.max_size = UNFETCHED
    blocks._queue.pending_messages_per_session = Unfetched(UNFETCHED)


def keep_connections(blocks: gr.Blocks) -> None:
    """Keep unused connections open for longer than the proxy before a hosted app does."""
    blocks.server.config.timeout_keep_alive = IDLE_S
