"""A function written out: its source with that of all it uses, independent of its file.

Dependencies are found by reading: the statement at the top of a module that makes a name, and those
that make the names in it. Installed packages are imported. Geometry is written in its plain form
(`geometry_for_exported_code`).
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from lossprism.explorer.core.function_source import source_of, tree_of
from lossprism.explorer.core.specialised_definitions import is_specialised
from lossprism.explorer.export.geometry_for_exported_code import PLAIN_FORMS


@dataclass(frozen=True)
class WrittenOut:
    """`imports`, a line each, the `source` below them, and the names of the functions there
    (`called`), in the order of the request."""

    imports: list[str]
    source: str
    called: list[str]


def written_out(*functions: Callable) -> WrittenOut:
    """Return the source of functions with everything they use from their own files and from
    `losses`.

    Raises:
        LookupError: if one is not at the top of its file under its name.
    """
    # The first time says which names are arguments and variables somewhere.
    first, _ = _collected(functions, frozenset())
    collected, called = _collected(functions, frozenset(first.local))
    return WrittenOut(sorted(collected.imports), "\n\n\n".join(collected.pieces), called)


def _package_of(module: str) -> str:
    """Return `losses` for `losses.spec`, and for `losses.spec`, the bare name."""
    return module.removeprefix("lossprism.").partition(".")[0]


def _place_of(function: Callable) -> tuple[ModuleType, str]:
    unwrapped = inspect.unwrap(function)
    module = sys.modules.get(getattr(unwrapped, "__module__", ""))
    if module is None:
        raise LookupError(f"{unwrapped} was not read from a file")
    return module, unwrapped.__name__


def _collected(
    functions: Sequence[Callable], local: frozenset[str]
) -> tuple[_Collected, list[str]]:
    """Collect everything that functions at the top of modules use, and their names there.

    Raises LookupError if one is not there.
    """
    home, _ = _place_of(functions[0])
    collected = _Collected(home.__name__, local)
    return collected, [collected.take_function(function) for function in functions]


@functools.cache
def _statements(module: ModuleType, source: str) -> Mapping[str, ast.stmt]:
    """Return the statements at the top of a module by the name they make, the last one of
    several."""
    statements: dict[str, ast.stmt] = {}
    for statement in tree_of(source).body:
        statements.update(dict.fromkeys(_made_by(statement), statement))
    return statements


def _made_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


@dataclass(frozen=True)
class _Names:
    """The names that a statement makes inside itself, and its uses of names and of their
    attributes."""

    own: frozenset[str]
    used: tuple[ast.Name | ast.Attribute, ...]


@functools.cache
def _names_in(statement: ast.stmt) -> _Names:
    nodes = list(ast.walk(statement))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = (
        n
        for n in nodes
        if isinstance(n, ast.Name)
        or (isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name))
    )
    return _Names(frozenset(stored | {n.arg for n in nodes if isinstance(n, ast.arg)}), tuple(used))


@dataclass
class _Collected:
    """The statements so far: each follows those that make the names in it."""

    home: str
    reserved: frozenset[str]
    local: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    pieces: list[str] = field(default_factory=list)
    _called: dict[tuple[str, str], str] = field(default_factory=dict)
    _read: dict[str, str] = field(default_factory=dict)

    def _source(self, module: ModuleType) -> str:
        """Return the module's text, cached."""
        if module.__name__ not in self._read:
            self._read[module.__name__] = inspect.getsource(module)
        return self._read[module.__name__]

    def take_function(self, function: Callable) -> str:
        """Write out a function; a specialised one with its own source in place of its file's."""
        module, name = _place_of(function)
        unwrapped = inspect.unwrap(function)
        if is_specialised(unwrapped):
            source = source_of(unwrapped.__code__)
            assert source.definition is not None
            return self._add(module, name, source.text, source.definition)
        taken = self.take(module, name)
        if taken is None:
            raise LookupError(f"{name} does not stand at the top of {module.__name__}")
        return taken

    def take(self, module: ModuleType, name: str) -> str | None:
        """Write out the statement that makes a name of a module; return the name here, None if
        there is none.

        A plain form replaces what has one.
        """
        plain = _plain_form(module, name)
        if inspect.isbuiltin(plain):
            self.imports.add("import torch")
            return f"torch.{plain.__name__}"
        if plain is not None:
            module, name = sys.modules[plain.__module__], plain.__name__
        key = module.__name__, name
        if key in self._called:
            return self._called[key]
        source = self._source(module)
        statement = _statements(module, source).get(name)
        if statement is None:
            return None
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._called[key] = self._imported(statement, name)
            return self._called[key]
        return self._add(module, name, source, statement)

    def _add(self, module: ModuleType, name: str, source: str, statement: ast.stmt) -> str:
        """Write out a statement of this source, and return its name here."""
        for one in _made_by(statement):
            taken = one in self.reserved or one in self._called.values()
            self._called[module.__name__, one] = f"{one}_of_{_last(module)}" if taken else one
        self.pieces.append(self._written(module, source, statement))
        return self._called[module.__name__, name]

    def _imported(self, statement: ast.Import | ast.ImportFrom, name: str) -> str:
        """Return a name that another module makes: written out too if it is one of ours."""
        alias = next(a for a in statement.names if (a.asname or a.name.partition(".")[0]) == name)
        if isinstance(statement, ast.ImportFrom) and self._is_ours(statement.module):
            called = self.take(importlib.import_module(str(statement.module)), alias.name)
            if called is not None:
                return called
        alone = (
            ast.ImportFrom(statement.module, [alias], statement.level)
            if isinstance(statement, ast.ImportFrom)
            else ast.Import([alias])
        )
        self.imports.add(ast.unparse(alone))
        return name

    def _is_ours(self, module: str | None) -> bool:
        return _package_of(module or "") in ("losses", _package_of(self.home))

    def _written(self, module: ModuleType, source: str, statement: ast.stmt) -> str:
        """Return the statement's own text, with its parts' names here."""
        lines = source.splitlines(keepends=True)
        names = _names_in(statement)
        own = names.own
        self.local |= own - set(_made_by(statement))
        edits: dict[tuple[int, int], tuple[int, str]] = {}
        for node in names.used:
            new, before = None, ""
            if isinstance(node, ast.Attribute):
                assert isinstance(node.value, ast.Name)
                before = f"{node.value.id}.{node.attr}"
                if node.value.id not in own:
                    new = self._of_module(module, node)
            else:
                before = node.id
                if before not in own:
                    new = self._part(module, before)
                elif isinstance(statement, ast.Assign | ast.AnnAssign):
                    new = self._called.get((module.__name__, before))
            if new is not None and new != before:
                edits[node.lineno, node.col_offset] = (int(node.end_col_offset or 0), new)
        first = min([statement, *getattr(statement, "decorator_list", [])], key=lambda n: n.lineno)
        for (line, start), (end, new) in sorted(edits.items(), reverse=True):
            plain = lines[line - 1].encode()
            lines[line - 1] = (plain[:start] + new.encode() + plain[end:]).decode()
        if module.__name__.startswith("lossprism.losses."):
            _shorten_docstring(statement, lines)
        text = "".join(lines[first.lineno - 1 : statement.end_lineno]).rstrip()
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            here = self._called[module.__name__, statement.name]
            head = "def" if isinstance(statement, ast.FunctionDef) else "class"
            text = text.replace(f"{head} {statement.name}", f"{head} {here}", 1)
        return text

    def _part(self, module: ModuleType, name: str) -> str | None:
        """Return the name here of a name of the module; None if it is none, or a whole module."""
        if self._module_named(module, name) is not None:
            return None
        return self.take(module, name)

    def _of_module(self, module: ModuleType, node: ast.Attribute) -> str | None:
        """Return `geometry.unit` by the name of `unit` here."""
        assert isinstance(node.value, ast.Name)
        whole = self._module_named(module, node.value.id)
        return whole and self.take(whole, node.attr)

    def _module_named(self, module: ModuleType, name: str) -> ModuleType | None:
        """Return the module of ours that this name refers to, if any."""
        statement = _statements(module, self._source(module)).get(name)
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            return None
        value = vars(module).get(name)
        return value if inspect.ismodule(value) and self._is_ours(value.__name__) else None


def _shorten_docstring(statement: ast.stmt, lines: list[str]) -> None:
    """Keep only the first paragraph of a function's docstring; arguments and examples are in
    `losses`.

    `lines` are those of the whole source; removed ones become empty strings.
    """
    if not isinstance(statement, ast.FunctionDef):
        return
    text = ast.get_docstring(statement) or ""
    if "\n\n" not in text:
        return
    node = statement.body[0]
    first, last = node.lineno - 1, node.end_lineno or 0
    paragraph = text.partition("\n\n")[0].replace("\\", "\\\\")
    shorter = textwrap.indent(f'"""{paragraph}"""\n', " " * node.col_offset)
    lines[first:last] = [shorter, *[""] * (last - first - 1)]


def _plain_form(module: ModuleType, name: str) -> Callable | None:
    value = vars(module).get(name)
    return PLAIN_FORMS.get(value) if inspect.isfunction(value) else None


def _last(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]
