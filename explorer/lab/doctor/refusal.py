"""Why a command of Doctor did nothing, in the language that was chosen."""

from __future__ import annotations

import argparse
import sys

from explorer.lab.doctor import UNUSABLE
from explorer.locale import say
from explorer.runtime.problem import Problem


def refused(
    problem: Exception,
    chosen: argparse.Namespace,
    key: str = "doctor.not_examined",
    hint: str = "",
) -> int:
    """Print the sentence of a problem to standard error; the status of the command."""
    language = chosen.language
    of_ours = isinstance(problem, Problem)
    said = say(language, problem.key, **problem.values) if of_ours else str(problem)
    print(say(language, key, problem=f"{said}{hint}"), file=sys.stderr)
    return UNUSABLE
