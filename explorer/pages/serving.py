"""What every page's server functions have in common."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from explorer.problem import Problem


def served(name: str, function: Callable[[object], dict]) -> Callable[[object], dict]:
    """A server function that turns a `Problem` into an answer the page can show.

    Anything else is a defect of ours: it is written to the terminal, and the page says that
    something went wrong instead of falling silent.
    """

    def answer(request: object) -> dict[str, object]:
        try:
            return function(request)
        except Problem as problem:
            return {"error": problem.to_json()}
        except Exception:
            traceback.print_exc()
            return {"error": Problem("internal").to_json()}

    answer.__name__ = name  # what the page calls it by
    return answer
