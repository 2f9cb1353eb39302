"""What a stranger may send in place of what is meant: values, texts, and where they are put."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from typing import Any

Path = tuple[str | int, ...]
Varied = tuple[str, Any]

HALF = "\ud83d"  # half of a character: JSON can hold it, UTF-8 cannot
DEEP = 900  # the deepest that Python's reader of JSON lets through is not far from here


def nested(depth: int, last: object = 0) -> list:
    """Lists in lists, so many of them."""
    made: Any = last
    for _ in range(depth):
        made = [made]
    return made


def nested_objects(depth: int) -> dict:
    made: Any = 0
    for _ in range(depth):
        made = {"data": made}
    return made


# By what is odd about it. Each stands in the place of what is meant, one place at a time.
ODD: dict[str, object] = {
    "nothing": None,
    "switch": True,
    "zero": 0,
    "negative": -1,
    "fraction": 2.5,
    "not a number": float("nan"),
    "endless": float("inf"),
    "large": 1e308,
    "many": 10**12,
    "endless whole": 10**400,
    "empty": "",
    "text": "a text",
    "folder up": "../../etc/passwd",
    "root": "/etc/passwd",
    "file address": "file:///etc/passwd",
    "control": "a\x00b\x1b[31m\u202e\u2028",
    "half": f"half {HALF} here",
    "long": "A long text. " * 20_000,
    "list": [],
    "rows": [["a", "b", "c"], [1]],
    "object": {},
    "odd keys": {"__proto__": 1, HALF: 2, "": None, "key": {}},
    "deep": nested(DEEP),
    "deep object": nested_objects(DEEP),
}


def places(value: object, whole: Collection[str] = (), path: Path = ()) -> Iterator[Path]:
    """The way to each entry, at any depth; of a list only to its first. What is called as in
    `whole` is not gone into."""
    if path and path[-1] in whole:
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1])
    for name, one in inner:
        yield (*path, name)
        if isinstance(one, dict | list):
            yield from places(one, whole, (*path, name))


def with_other(value: Any, path: Path, other: object) -> Any:
    """A copy in which something else stands at the end of the way."""
    if not path:
        return other
    made = copy.copy(value)
    made[path[0]] = with_other(made[path[0]], path[1:], other)
    return made


def varied(
    request: Any, whole: Collection[str] = (), turns: tuple[int, int] = (1, 1), begin: int = 0
) -> Iterator[Varied]:
    """The request with one entry after another odd, and all of it; each with what it is.

    Of `turns` an entry gets every so many-th odd value, the next one those after them: the first
    number is that of the first entries, the second that of what is inside them.
    """
    inside = places(request, whole) if isinstance(request, dict | list) else ()
    for turn, path in enumerate([(), *inside], begin):
        step = turns[len(path) > 1]
        for name in list(ODD)[turn % step :: step]:
            yield (
                f"{'.'.join(map(str, path)) or 'all of it'}: {name}",
                with_other(request, path, ODD[name]),
            )
    if isinstance(request, dict):
        yield "a foreign key", {**request, "__class__": {}, "more": [1]}
        for name in request:
            yield f"{name}: missing", {k: value for k, value in request.items() if k != name}


# Texts that want to be markup, code, a link, a formula, or something else than they are; what they
# would run or fetch is called "pwned".
TEXTS = (
    "<img src=x onerror=pwned()>",
    "</script><script>pwned()</script>",
    "]]><script>pwned()</script><!--",
    "--><svg onload=pwned()>",
    "\"'><a href='javascript:pwned()'>x</a>",
    "</style></title></text><b>pwned</b>",
    "&lt;b&gt; &#60;b&#62; &pwned;",
    "javascript:pwned()",
    "[pwned](javascript:pwned()) <http://pwned.example>",
    "![pwned](http://pwned.example/x.png)",
    "https://pwned.example www.pwned.example",
    "`pwned` ``` ~~~ **pwned** ~~pwned~~",
    "| pwned | \\| `|` |",
    "pwned\\",
    "$\\href{javascript:pwned()}{x}$ $$pwned$$",
    "{{ pwned() }} {% pwned %} ${pwned()} #{pwned}",
    '=HYPERLINK("http://pwned.example")',
    "+pwned",
    "-pwned",
    "@pwned",
    "\t=pwned",
    "\uff1dpwned",
    "\ufeff\u200b =pwned",
    '"; pwned() #',
    '"""\npwned()\n"""',
    "'''\r\npwned()\r\n# \\",
    "\u202epwned\u2066\u200f",
    "a\u2028pwned()\u2029b\x85c\x0cd",
    "\x00pwned\x1b[31m\x07\x7f",
    "pwned \ufffe\uffff",
    "\u05e9\u05dc\u05d5\u05dd pwned",
)
