"""How what programs ask and are answered passes through Gradio: as it is, and none of it is kept.

Gradio's own way looks through both for files, fetches what says that it is one from wherever it
says, prints what does not fit, and keeps both for as long as it knows the session, of which it
knows ten thousand. None of our functions takes a file or has a state.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.state_holder import SessionState

from explorer.front.process import Front
from explorer.runtime import jobs
from explorer.runtime.problem import Problem
from explorer.web.hosting import as_asked, problem_of

# Of so many calls an answer may wait to be fetched, and so many sessions are known.
UNFETCHED, SESSIONS = 128, 32
# Between two looks whether somebody calls, and how far a call is, which none of ours tells.
CALLED_S, FAR_S = 0.02, 1.0


class Refusal(gr.Error):
    """The sentence that a client gets in place of an answer."""

    def __init__(self, sentence: str) -> None:
        # Half a character of the input, quoted in the sentence, would fit into no answer.
        plain = sentence.encode("utf-8", "backslashreplace").decode()
        super().__init__(plain, print_exception=False)

    def __str__(self) -> str:  # Gradio's own puts the sentence in quotation marks
        return self.message


class Site(gr.Blocks):
    """Pages, and functions for programs."""

    def queue(self, *arguments: Any, **options: Any) -> Site:
        """Gradio's, which looks a thousand times a second by itself: 4% of a processor, for a page
        that nobody looks at."""
        super().queue(*arguments, **options)
        self._queue.sleep_when_free = CALLED_S
        self._queue.progress_update_sleep_when_free = FAR_S
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
        """From now on strangers come by this front, which ends with the site, and fewer answers
        wait to be fetched: one of some megabytes may be asked for a thousand times by somebody who
        fetches none."""
        self.front = front
        queue = self._queue
        queue.pending_messages_per_session = type(queue.pending_messages_per_session)(UNFETCHED)

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
                return function(*arguments)
        except Problem as problem:
            raise Refusal(str(problem)) from None
        except jobs.Cancelled:  # whoever asked has left, and hears nothing of it
            raise Refusal(str(Problem("cancelled", about="cancelled"))) from None
        except Exception as error:
            raise Refusal(str(problem_of(error))) from None

    answer.__dict__["__signature__"] = inspect.signature(function, eval_str=True)
    return answer
