"""Import of Gradio without the work of three modules, up to a third of the app's time to start.

Gradio parses the source of each of its components and compares it with a `.pyi` file beside it,
which only editors read. Its cache, which no function of ours uses, imports pandas for tables, and
that pyarrow: 60 MiB. And jsonschema, which checks the arguments of MCP tools, parses the grammar
of international addresses where Jupyter has installed one; no argument of ours is checked by it.
None has a setting for that. Other versions without these modules are imported as they are.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

WRITER = "create_or_modify_pyi"
# pandas, imported by who asks it for anything.
LATER = ModuleType("pandas")
LATER.__getattr__ = lambda name: getattr(importlib.import_module("pandas"), name)
# By the module that imports them: the modules, and what it finds in their place.
STAND_INS = {"gradio.caching": ("pandas", LATER), "jsonschema._format": ("rfc3987_syntax", None)}


class _WithoutInterfaceFiles(SourceFileLoader):
    """Loader of the module that writes the files, with a function in place that writes none."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        setattr(module, WRITER, lambda *_: None)


class _WithStandIn(SourceFileLoader):
    """Loader of a module of `STAND_INS`; what was imported before is no other meanwhile."""

    def exec_module(self, module: ModuleType) -> None:
        name, stand_in = STAND_INS[module.__name__]
        if name in sys.modules:
            super().exec_module(module)
            return
        sys.modules[name] = stand_in  # type: ignore[assignment]
        try:
            super().exec_module(module)
        finally:
            del sys.modules[name]


LOADERS = {
    "gradio.component_meta": _WithoutInterfaceFiles,
    **dict.fromkeys(STAND_INS, _WithStandIn),
}


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname in LOADERS else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = LOADERS[fullname](spec.loader.name, spec.loader.path)
        return spec


def shorten_gradio_import() -> None:
    """Import Gradio without this work from now on; no effect once it is imported."""
    sys.meta_path.insert(0, _Finder())
