"""The types of answers, applied: answers checked against them, and they as TypeScript.

``python -m tests.wire`` writes ``explorer/web/wire.d.ts`` for editors and `tsc`; git ignores it.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import functools
import inspect
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from lossprism.explorer import web
from lossprism.explorer.core.scenario import SentScenario
from lossprism.explorer.lab.compare import library_parity
from lossprism.explorer.lab.training import run_json_types
from lossprism.explorer.runtime import number_format, problem
from lossprism.explorer.runtime import response_field_types as runtime_wire
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Packed
from lossprism.explorer.runtime.response_parent_classes import Sparse
from lossprism.explorer.web import site
from lossprism.explorer.web.page_requests import Refused
from lossprism.explorer.web.pages import page_data_types, state_entry_type

DECLARED = Path(inspect.getfile(web)).parent / "wire.d.ts"
MODULES = (
    number_format,
    problem,
    runtime_wire,
    run_json_types,
    page_data_types,
    state_entry_type,
    library_parity,
)
MAPPINGS = (dict, Mapping)
PLAIN = {
    object: "unknown",
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
}


@functools.cache
def served_functions() -> dict[str, dict[str, Callable]]:
    """Every function that the browser can call, by the folder of its page and its name, answering
    what the browser gets."""
    return {page: by_name(functions) for page, functions in site.served_functions().items()}


def by_name(functions: Iterable[Callable]) -> dict[str, Callable]:
    """Functions of a page by their names, answering what the browser gets."""
    return {one.__name__: _answering_json(one) for one in functions}


def _answering_json(function: Callable) -> Callable:
    return functools.wraps(function)(lambda request: plain(function(request)))


def answers_of(function: Callable) -> object:
    """The type of a server function's answers, refusals included."""
    return function.__annotations__["return"] | Refused


# ---- Answers held against their types ------------------------------------------------------------


def misfits(value: object, kind: object, where: str = "answer") -> list[str]:
    """Where a value, as JSON carries it, is not of this type; empty where all of it is."""
    if kind is object:
        return []
    if typing.get_origin(kind) is typing.Annotated:
        return _unpacked(value, kind.__metadata__[0], where)
    if typing.get_origin(kind) is typing.Literal:
        fits = any(value == one and type(value) is type(one) for one in typing.get_args(kind))
        return [] if fits else [_checked(value, kind, where)]
    if is_union(kind):
        tried = [misfits(value, one, where) for one in typing.get_args(kind)]
        return min(tried, key=len)
    if typing.get_origin(kind) in (list, tuple, *MAPPINGS):
        return _contents(value, kind, where)
    if fields := fields_of(kind):
        return _entries(value, kind, *fields, where)
    fits = type(value) in ((int, float) if kind is float else (kind or type(None),))
    return [] if fits else [_checked(value, kind, where)]


def _checked(value: object, kind: object, where: str) -> str:
    return f"{where}: {str(value)[:60]!r} is not {getattr(kind, '__name__', kind)}"


def _unpacked(value: object, packed: Packed, where: str) -> list[str]:
    try:
        np.frombuffer(base64.b64decode(value, validate=True), dtype=packed.dtype)
    except (TypeError, ValueError, binascii.Error):
        return [_checked(value, packed, where)]
    return []


def _contents(value: object, kind: object, where: str) -> list[str]:
    held, of = typing.get_origin(kind), typing.get_args(kind)
    if held in MAPPINGS:
        if not isinstance(value, dict):
            return [_checked(value, kind, where)]
        pairs = [(f"{where}[{name!r}]", one, of[1]) for name, one in value.items()]
    else:
        if not isinstance(value, list):
            return [_checked(value, kind, where)]
        same = held is list or of[1:] == (...,)
        if not same and len(value) != len(of):
            return [_checked(value, kind, where)]
        kinds = [of[0]] * len(value) if same else of
        pairs = [
            (f"{where}[{place}]", one, each)
            for place, (one, each) in enumerate(zip(value, kinds, strict=True))
        ]
    return [found for place, one, each in pairs for found in misfits(one, each, place)]


def _entries(
    value: object, kind: object, fields: dict[str, object], needed: frozenset[str], where: str
) -> list[str]:
    if not isinstance(value, dict):
        return [_checked(value, kind, where)]
    found = [f"{where}.{name} is missing" for name in sorted(needed - value.keys())]
    found += [f"{where}.{name} is not declared" for name in value if name not in fields]
    for name in fields.keys() & value.keys():
        found += misfits(value[name], fields[name], f"{where}.{name}")
    return found


def is_union(kind: object) -> bool:
    return typing.get_origin(kind) in (typing.Union, types.UnionType)


@functools.cache
def fields_of(kind: object) -> tuple[dict[str, object], frozenset[str]] | None:
    """The entries of an object by name, and those it cannot be without; None for anything else."""
    if typing.is_typeddict(kind):
        return typing.get_type_hints(kind, include_extras=True), kind.__required_keys__
    if kind is Problem:
        known = typing.get_type_hints(kind)
        return known, frozenset(known)
    if dataclasses.is_dataclass(kind):
        return _fields(kind)
    return None


def _fields(kind: type) -> tuple[dict[str, object], frozenset[str]]:
    hints = typing.get_type_hints(kind, include_extras=True)
    known = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    if not issubclass(kind, Sparse):
        return known, frozenset(known)
    left_out = {f.name for f in dataclasses.fields(kind) if f.default is not dataclasses.MISSING}
    for field in dataclasses.fields(kind):
        if field.default is None:  # None says that the entry is not there
            known[field.name] = _without_none(known[field.name])
    return known, frozenset(known.keys() - left_out)


def _without_none(kind: object) -> object:
    return typing.Union[tuple(one for one in typing.get_args(kind) if one is not type(None))]  # noqa: UP007


# ---- The types as TypeScript ---------------------------------------------------------------------

# What TypeScript calls a type whose name another answer has.
CALLED = {
    SentScenario: "Scenario",
    state_entry_type.Entry: "StateEntry",
}

HEAD = """\
// What the server answers: written by `python -m tests.wire` from the types of the answers.

/** One of several objects; what stands in the others alone is undefined in it. */
export type OneOf<T, All = T> = T extends unknown
  ? T & { [Name in Exclude<All extends unknown ? keyof All : never, keyof T>]?: undefined }
  : never;
"""


def declarations() -> str:
    """The text of ``wire.d.ts``: all that answers are made of, and the functions of each page."""
    pages = served_functions()
    answers = [answers_of(function) for page in pages.values() for function in page.values()]
    sent = [*answers, *site.FACTS.values()]
    objects = {kind: None for one in sent for kind in _objects(one)}
    names = Counter([*map(_called, objects), *NAMED.values()])
    twice = [name for name, count in names.items() if count > 1]
    if twice:  # TypeScript would take them for one
        raise ValueError(f"two types are called {', '.join(twice)}")
    parts = [HEAD]
    parts += [f"export type {name} = {_written(kind, '')};\n" for kind, name in NAMED.items()]
    parts += [_interface(kind) for kind in sorted(objects, key=_called)]
    for page, functions in sorted(pages.items()):
        called = "".join(
            f"  {name}(request: unknown): Promise<{_written(answers_of(function))}>;\n"
            for name, function in sorted(functions.items())
        )
        about = f"/** What the instruments of the page {page} can ask the server. */"
        server = page.title().replace("_", "") + "Server"
        parts.append(f"{about}\nexport interface {server} {{\n{called}}}\n")
    return "\n".join(parts)


NAMABLE = (typing.Annotated, typing.Literal, tuple)


def _named() -> dict[object, str]:
    """The types that have a name and are no objects of their own, by what they stand for."""
    found = {}
    for module in MODULES:
        for name, kind in vars(module).items():
            if is_union(kind) or typing.get_origin(kind) in NAMABLE:
                found.setdefault(kind, name)
    return found


NAMED = _named()


def _objects(kind: object, around: tuple[type, ...] = ()) -> Iterator[type]:
    """Every object type inside a type, itself included; a type may stand in itself."""
    if kind in around:
        return
    if fields := fields_of(kind):
        yield kind
        inside, around = fields[0].values(), (*around, kind)
    else:
        inside = [one for one in typing.get_args(kind) if one is not ...]
        inside = [] if typing.get_origin(kind) in (typing.Annotated, typing.Literal) else inside
    for one in inside:
        yield from _objects(one, around)


def _interface(kind: type) -> str:
    fields, needed = fields_of(kind)
    about = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
    lines = "".join(
        f"  {name}{'' if name in needed else '?'}: {_written(one)};\n"
        for name, one in fields.items()
    )
    body = f"{{\n{lines}}}" if lines else "{}"
    return f"/** {about} */\nexport interface {_called(kind)} {body}\n"


def _called(kind: type) -> str:
    return CALLED.get(kind, kind.__name__)


def _written(kind: object, named: object = None) -> str:
    """A type as TypeScript; by its name where it has one, unless `named` is empty."""
    if named is None and kind in NAMED:
        return NAMED[kind]
    if kind in PLAIN:
        return PLAIN[kind]
    if fields_of(kind):
        return _called(kind)
    of = typing.get_args(kind)
    if typing.get_origin(kind) is typing.Annotated:
        return "string"
    if typing.get_origin(kind) is typing.Literal:
        return " | ".join(str(one).lower() if type(one) is bool else f'"{one}"' for one in of)
    if is_union(kind):
        return _either(of)
    if typing.get_origin(kind) in MAPPINGS:
        return f"Record<string, {_written(of[1])}>"
    if typing.get_origin(kind) is list or of[1:] == (...,):
        one = _written(of[0])
        return f"({one})[]" if is_union(of[0]) and of[0] not in NAMED else f"{one}[]"
    return f"[{', '.join(map(_written, of))}]"


def _either(kinds: tuple) -> str:
    """A union: a named one inside it by its name, objects distinguished by their entries."""
    parts, rest = [], list(kinds)
    for known, name in NAMED.items():
        inside = typing.get_args(known) if is_union(known) else ()
        if inside and len(inside) < len(kinds) and all(one in rest for one in inside):
            parts.append(name)
            rest = [one for one in rest if one not in inside]
    objects = [one for one in rest if fields_of(one)]
    if len(objects) > 1:
        parts.append(f"OneOf<{' | '.join(map(_called, objects))}>")
        rest = [one for one in rest if one not in objects]
    parts = [*map(_written, rest), *parts]
    return " | ".join(sorted(parts, key=lambda part: part == "null"))


def write_declarations() -> None:
    DECLARED.write_text(declarations(), encoding="utf-8")


if __name__ == "__main__":
    write_declarations()
