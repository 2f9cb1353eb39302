"""Source is parsed by one thread at a time."""

from __future__ import annotations

import ast
import threading

import pytest

from lossprism.explorer.runtime import python_parsing_lock


def test_two_threads_are_never_in_a_parse_at_once(monkeypatch):
    inside, most, plain = [], [], ast.parse

    def watched(source, **options):
        inside.append(source)
        most.append(len(inside))
        try:
            pause.wait(0.02)
            return plain(source, **options)
        finally:
            inside.remove(source)

    pause = threading.Event()
    monkeypatch.setattr(python_parsing_lock.ast, "parse", watched)
    threads = [
        threading.Thread(target=python_parsing_lock.parsed, args=(f"x = {n}",)) for n in range(4)
    ]
    threads += [
        threading.Thread(target=python_parsing_lock.literal, args=(f"[{n}]",)) for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8


def test_what_is_no_python_is_refused_as_ever():
    assert ast.unparse(python_parsing_lock.parsed("x=1")) == "x = 1"
    with pytest.raises(SyntaxError):
        python_parsing_lock.parsed("x =")
    assert python_parsing_lock.literal("['a', 1]") == ["a", 1]
    with pytest.raises(ValueError, match="malformed"):
        python_parsing_lock.literal("open('a')")
