"""Functions for programs, as Gradio serves them by HTTP and MCP."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import gradio as gr

from lossprism.explorer.locale import LANGUAGES, preferred, say
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_size import check_answer
from lossprism.explorer.web.api.descriptions_from_docstrings import argument_lines
from lossprism.explorer.web.api.gradio_private import Refusal
from lossprism.explorer.web.middleware.exception_handler import problem_of
from lossprism.explorer.web.middleware.visitor_key import as_current_visitor, with_headers


def endpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as Gradio serves it: types resolved, its arguments described, and
    refusals as sentences, in the language of its argument `language` or else of the request's
    Accept-Language.

    Gradio passes the request as the last argument, which is no part of the endpoint.
    """

    signature = inspect.signature(function, eval_str=True)

    @functools.wraps(function)
    def answer(*arguments: Any) -> Any:
        *inputs, request = arguments

        def refusal(problem: Problem) -> Refusal:
            requested = dict(zip(signature.parameters, inputs, strict=False)).get("language")
            accepted = preferred(request.headers.get("accept-language", ""))
            language = requested if requested in LANGUAGES else accepted
            return Refusal(say(language, problem.key, **problem.values))

        try:
            with with_headers(request.headers), as_current_visitor(), jobs.job():
                result = function(*inputs)
                check_answer(result)
                return result
        except Problem as problem:
            raise refusal(problem) from None
        except jobs.Cancelled:  # whoever asked has left, and hears nothing of it
            raise refusal(Problem("cancelled", about="cancelled")) from None
        except Exception as error:
            raise refusal(problem_of(error)) from None

    request = inspect.Parameter(
        "gradio_request",
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=None,
        annotation=gr.Request,
    )
    parameters = [*signature.parameters.values(), request]
    answer.__dict__["__signature__"] = signature.replace(parameters=parameters)
    answer.__doc__ = argument_lines(function)
    answer.__annotations__ = {**function.__annotations__, "gradio_request": gr.Request}
    return answer
