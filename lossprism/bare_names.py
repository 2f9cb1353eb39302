"""The bare names `losses` and `explorer`: the modules of `lossprism`, each loaded once.

A checkout has them always, an installed package for the file of a user's own loss.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

PACKAGES = ("losses", "explorer")


class BareNames(MetaPathFinder, Loader):
    """Answers `losses.spec` with the module `lossprism.losses.spec`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in PACKAGES or find_spec(f"lossprism.{fullname}") is None:
            return None
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(f"lossprism.{spec.name}")
        spec.loader_state = module.__spec__  # importing under the bare name puts its own there
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        module.__spec__ = spec.loader_state


def find_bare_names(*, first: bool = False) -> None:
    """Let `losses` and `explorer` be imported as `lossprism.losses` and `lossprism.explorer`.

    Unless `first`, a user's own modules of those names come before them.
    """
    if not any(isinstance(one, BareNames) for one in sys.meta_path):
        sys.meta_path.insert(0 if first else len(sys.meta_path), BareNames())
