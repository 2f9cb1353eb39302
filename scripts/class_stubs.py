"""The stubs of the classes that are made from each `LossSpec`: ``python -m scripts.class_stubs``.

Type checkers and editors do not run code: `losses/modules.pyi` and
`losses/sentence_transformers/__init__.pyi` tell them the parameters of `CosentLoss`. The losses
that ship stand there; the class of a loss that somebody added is known when the code runs.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

from torch import nn

from lossprism.losses import SHIPPED, modules, sentence_transformers
from lossprism.losses.modules import MODULES
from lossprism.losses.sentence_transformers.generated_training_loss_classes import EXPORTED

ROOT = Path(__file__).resolve().parents[1]
HEAD = "# Written by `python -m scripts.class_stubs` from the LossSpec of each loss.\n"
# The modules that define types of arguments, and how the stubs name them.
SHORT = {"torch.nn.parameter.": "nn.", "torch.nn.modules.module.": "nn."}


def stubs() -> dict[Path, str]:
    """Return the text of each stub by its path."""
    made = {modules: MODULES, sentence_transformers: EXPORTED}
    return {
        _path(module).with_suffix(".pyi"): _formatted(stub(module, classes))
        for module, classes in made.items()
    }


def stub(module: ModuleType, classes: Mapping[str, type[nn.Module]]) -> str:
    """Return the stub of a module: what it imports and defines, and a class for each loss."""
    shipped = [classes[spec.name] for spec in SHIPPED]
    source = ast.parse(_path(module).read_text(encoding="utf-8"))
    own = list(_of_module(source))
    bases = {
        f"from {base.__module__} import {base.__name__}"
        for base in (one.__mro__[1] for one in shipped)
        if not hasattr(module, base.__name__)
    }
    signatures = "".join(map(_signature, shipped))
    types = {f"import {name}" for name in re.findall(r"\b([a-z_.]+)\.\w", signatures)}
    docstring = _docstring(ast.get_docstring(source, clean=False) or "", "")
    imports = ["from torch import nn", *sorted(types - {"import nn"}), *sorted(bases)]
    return "\n".join([HEAD, docstring, *imports, *own, *map(_class, shipped)])


def _path(module: ModuleType) -> Path:
    return Path(module.__file__ or "").resolve()


def _of_module(source: ast.Module) -> Iterator[str]:
    """Yield what a module exports beside the classes: imported names, functions, tables."""
    for statement in source.body:
        for_types = isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"
        node = statement.body[0] if for_types else statement
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lossprism"):
            names = ", ".join(f"{one.name} as {one.name}" for one in node.names)
            yield f"from {node.module} import {names}"
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            node.body = node.body[:1]  # its docstring
            yield ast.unparse(node)
        elif isinstance(node, ast.AnnAssign):
            yield f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"


def _class(made: type[nn.Module]) -> str:
    text = textwrap.indent(made.__doc__ or "", "    ").strip()
    head = f"class {made.__name__}({made.__mro__[1].__name__}):"
    constructor = f"    def __init__{_signature(made)}: ..."
    return "\n".join([head, _docstring(f"{text}\n    ", "    "), constructor])


def _signature(made: type[nn.Module]) -> str:
    signature = str(inspect.signature(made.__init__))
    for long, short in SHORT.items():
        signature = signature.replace(long, short)
    return signature


def _docstring(text: str, indent: str) -> str:
    return f'{indent}r"""{text}"""'


def _formatted(text: str) -> str:
    """Return the stub as ruff orders and formats it."""
    for options in (("check", "--fix", "--quiet", "--select=I"), ("format",)):
        command = [sys.executable, "-m", "ruff", *options, "--stdin-filename", "stub.pyi", "-"]
        done = subprocess.run(
            command, cwd=ROOT, input=text, stdout=subprocess.PIPE, text=True, check=True
        )
        text = done.stdout
    return text


def main() -> None:
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
        print(f"Wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
