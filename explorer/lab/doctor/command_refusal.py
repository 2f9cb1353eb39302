"""Messages of a command of Doctor that did nothing, in the chosen language."""

import argparse
import sys

from lossprism.explorer.lab.doctor import UNUSABLE
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.problem import Problem


def refused(
    problem: Exception, chosen: argparse.Namespace, key: str = "doctor.not_examined", hint: str = ""
) -> int:
    """Print the sentence of a problem to standard error, and that of the key `hint` after it;
    return the status of the command."""
    language = chosen.language
    of_ours = isinstance(problem, Problem)
    message = say(language, problem.key, **problem.values) if of_ours else str(problem)
    sentence = f"{message} {say(language, hint)}" if hint else message
    print(say(language, key, problem=sentence), file=sys.stderr)
    return UNUSABLE
