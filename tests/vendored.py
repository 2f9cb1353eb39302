"""The modules of preact that the pages are served: npm's, which import each other by address.

`python -m tests.vendored` writes them from node_modules, in the versions of package-lock.json.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NODE_MODULES = ROOT / "node_modules"
FOLDER = ROOT / "explorer" / "web" / "kit" / "vendor" / "preact"

# By the name that other packages import a module under: its file in node_modules, and here.
MODULES = {
    "preact": ("preact/dist/preact.mjs", "preact.js"),
    "preact/hooks": ("preact/hooks/dist/hooks.mjs", "hooks.js"),
    "@preact/signals-core": ("@preact/signals-core/dist/signals-core.mjs", "signals-core.js"),
    "@preact/signals": ("@preact/signals/dist/signals.mjs", "signals.js"),
}
_IMPORTED = re.compile(r'from"([^"]+)"')
_SOURCE_MAP = re.compile(r"\n?//# sourceMappingURL=\S+\s*$")


def served_modules() -> dict[str, str]:
    """Return the text of each file to serve, its licence and types included, by its name."""
    licences = (NODE_MODULES / package / "LICENSE" for package in ("preact", "@preact/signals"))
    files = {"LICENSE": "\n".join(path.read_text(encoding="utf-8") for path in licences)}
    for package, (source, name) in MODULES.items():
        script = (NODE_MODULES / source).read_text(encoding="utf-8")
        script = _SOURCE_MAP.sub("", script)  # the maps are not served
        files[name] = _IMPORTED.sub(lambda one: f'from"./{MODULES[one[1]][1]}"', script) + "\n"
        files[name.replace(".js", ".d.ts")] = f'export * from "{package}";\n'
    return files


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in served_modules().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
