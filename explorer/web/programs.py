"""How what programs ask and are answered passes through Gradio: as it is, and none of it is kept.

Gradio's own way looks through both for files, fetches what says that it is one from wherever it
says, prints what does not fit, and keeps both for as long as it knows the session, of which it
knows ten thousand. None of our functions takes a file or has a state.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.server_messages import EventMessage
from gradio.state_holder import SessionState
from gradio.utils import LRUCache

from explorer.front.process import Front
from explorer.runtime import jobs
from explorer.runtime.answers import check_answer
from explorer.runtime.problem import Problem
from explorer.web.hosting import as_asked, problem_of

# How often Gradio's queue is looked at, which no page uses and a call by HTTP passes through: as
# seldom as lets fifty calls of one function begin in a second. Gradio looks a thousand times, for
# which a page that nobody has open takes 3 % of a core. None of ours tells how far it is.
CALLS_S, PROGRESS_S = 0.02, 1.0
# So many calls may wait for their turn, of so many an answer may wait to be fetched, and so many
# sessions are known.
UNFETCHED, SESSIONS = 128, 32


class Refusal(gr.Error):
    """The sentence that a client gets in place of an answer."""

    def __init__(self, sentence: str) -> None:
        # Half a character of the input, quoted in the sentence, would fit into no answer.
        plain = sentence.encode("utf-8", "backslashreplace").decode()
        super().__init__(plain, print_exception=False)

    def __str__(self) -> str:  # Gradio's own puts the sentence in quotation marks
        return self.message


class Unfetched(LRUCache[str, asyncio.Queue[EventMessage]]):
    """What calls are told until they fetch it, of the latest; the rest is told nobody.

    Of a call that waits longer than its place is kept Gradio would miss it, and answer no call any
    more."""

    def __missing__(self, session: str) -> asyncio.Queue[EventMessage]:
        return asyncio.Queue()


class Site(gr.Blocks):
    """Pages, and functions for programs."""

    def queue(self, *arguments: Any, **named: Any) -> Site:
        super().queue(*arguments, **named)
        self._queue.sleep_when_free = CALLS_S
        self._queue.progress_update_sleep_when_free = PROGRESS_S
        return self

    async def preprocess_data(
        self,
        block_fn: BlockFunction,
        inputs: list[Any],
        state: SessionState | None,
        explicit_call: bool = False,
    ) -> list[Any]:
        if len(inputs) != (count := len(block_fn.inputs)):
            names = ", ".join(inspect.signature(block_fn.fn).parameters) if block_fn.fn else ""
            problem = Problem("call_values", count=count, names=names, given=len(inputs))
            raise Refusal(str(problem))
        return [*inputs]

    async def postprocess_data(
        self, block_fn: BlockFunction, predictions: Any, state: SessionState | None
    ) -> list[Any]:
        return [predictions]

    front: Front | None = None

    def bound(self, front: Front) -> None:
        """From now on strangers come by this front, which ends with the site, and fewer calls and
        answers wait: one of some megabytes may be asked for a thousand times by somebody who
        fetches none."""
        self.front = front
        self._queue.max_size = UNFETCHED
        self._queue.pending_messages_per_session = Unfetched(UNFETCHED)

    def close(self, verbose: bool = True) -> None:
        if self.front is not None:
            self.front.end()
        super().close(verbose)


def endpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as Gradio serves it: with its types resolved, and refusing in a sentence."""

    @functools.wraps(function)
    def answer(*arguments: Any) -> Any:
        try:
            with as_asked(), jobs.job():
                found = function(*arguments)
                check_answer(found)
                return found
        except Problem as problem:
            raise Refusal(str(problem)) from None
        except jobs.Cancelled:  # whoever asked has left, and hears nothing of it
            raise Refusal(str(Problem("cancelled", about="cancelled"))) from None
        except Exception as error:
            raise Refusal(str(problem_of(error))) from None

    answer.__dict__["__signature__"] = inspect.signature(function, eval_str=True)
    return answer
