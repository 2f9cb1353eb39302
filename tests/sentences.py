"""Sentences of the catalogues as patterns, by key and values: such a test outlives other words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lossprism.explorer.locale import sentence_of, spelled
from lossprism.explorer.runtime.problem import Problem

# Not in a longer word or number.
BEFORE, BEHIND = "(?<![A-Za-z0-9.−-])", "(?![A-Za-z0-9])"
PLACEHOLDER = re.compile(r"\{(\w+)(?::([^|}]*)\|([^}]*))?\}")


def pattern_of(key: str, language: str = "en", **values: object) -> re.Pattern[str]:
    """Return the pattern of the sentence `key` with these values.

    A value that is not given may be any text on one line: the group of its name has what was
    written. A longer word or number that begins or ends like the sentence is another one.
    """
    text = sentence_of(language, key)
    names = [name for name, *_ in PLACEHOLDER.findall(text)]
    if unknown := values.keys() - set(names):
        raise ValueError(f"{key} has no place for {', '.join(sorted(unknown))}")
    pattern, end, seen = "", 0, set()
    for found in PLACEHOLDER.finditer(text):
        pattern += re.escape(text[end : found.start()])
        end = found.end()
        name, one, several = found.groups()
        if one is not None:
            singular = str(values.get(name)) == "1"
            words = (one if singular else several,) if name in values else (one, several)
            pattern += f"(?:{'|'.join(map(re.escape, words))})"
        elif name in values:
            pattern += re.escape(spelled(language, name, values[name]))
        else:
            any_text = ".*?" if text[end:] else ".*"
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>{any_text})"
            seen.add(name)
    before = BEFORE if text[0].isascii() else ""
    return re.compile(f"{before}{pattern}{re.escape(text[end:])}{BEHIND}")


def wording(key: str, language: str = "en", **values: object) -> re.Pattern[str]:
    """Return `pattern_of` for Playwright, as the text of an element or the name of a control: a
    browser's patterns name no groups, and elements follow one another without a space."""
    pattern = pattern_of(key, language, **values).pattern
    pattern = pattern.removeprefix(BEFORE).removesuffix(BEHIND)
    return re.compile(re.sub(r"\(\?P<\w+>", "(?:", re.sub(r"\(\?P=\w+\)", ".*?", pattern)))


@contextmanager
def raises_problem(
    key: str, error: type[Exception] = Problem, **values: object
) -> Iterator[pytest.ExceptionInfo]:
    """Expect an error whose message is the sentence `problem.<key>` with these values."""
    with pytest.raises(error) as caught:
        yield caught
    sentences = pattern_of(f"problem.{key}", **values)
    assert sentences.fullmatch(str(caught.value)), (sentences.pattern, str(caught.value))
