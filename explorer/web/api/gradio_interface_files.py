"""Import of Gradio without its interface files, a fifth of the app's time to start.

While Gradio is imported, it parses the source of each of its components and compares it with a
`.pyi` file beside it, which only editors read. It has no setting for that. Another version without
this function is imported as it is.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

MODULE, WRITER = "gradio.component_meta", "create_or_modify_pyi"


class _WithoutInterfaceFiles(SourceFileLoader):
    """Loader of the module that writes the files, with a function in place that writes none."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        setattr(module, WRITER, lambda *_: None)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path) if fullname == MODULE else None
        if found is not None and isinstance(found.loader, SourceFileLoader):
            found.loader = _WithoutInterfaceFiles(found.loader.name, found.loader.path)
        return found


def leave_interface_files() -> None:
    """Import Gradio without its interface files from now on; no effect once it is imported."""
    sys.meta_path.insert(0, _Finder())
