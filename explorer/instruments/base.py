"""An instrument: a component of the page with its own .js beside it.

The HTML template is a constant, because Gradio compiles whatever stands in it as code; all data
reaches an instrument through its channel. Scripts and styles are static files of this folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import gradio as gr

HERE = Path(__file__).resolve().parent
ICON = HERE / "icon.svg"  # of the browser's tab, and of the page installed as an app
SCRIPTS = (
    "vendor/katex/katex.min.js",
    "prism.js",
    "table.js",
    "scale.js",
    "live.js",
    "present.js",
    "drawing.js",
    "chart.js",
    "fields.js",
    "files.js",
    "grid.js",
    "header.js",
    "progress.js",
    "controls.js",
    "figures.js",
    "sweep.js",
    "derivation.js",
    "matrix.js",
    "bars.js",
    "terms.js",
    "pairs.js",
    "takeaway.js",
    "large_scene.js",
    "large_controls.js",
    "large_figures.js",
    "large_map.js",
    "large_histogram.js",
    "large_terms.js",
    "large_pairs.js",
    "gains.js",
    "naming.js",
    "studio.js",
    "trial.js",
    "finetune_controls.js",
    "finetune_run.js",
    "finetune_curves.js",
    "finetune_probe.js",
    "finetune_runs.js",
    "finetune_takeaway.js",
)
STYLES = ("vendor/katex/katex.min.css", "prism.css", "finetune.css")


# Components may mount before the scripts of the page have loaded, and those load in any order.
_MOUNT = (HERE / "mount.js").read_text(encoding="utf-8")


class Instrument(gr.HTML):
    """The instrument `name` (``name.js``), listening to one channel of the page."""

    def __init__(
        self,
        name: str,
        *,
        channel: str = "main",
        server_functions: Sequence[Callable] = (),
        **keywords: object,
    ) -> None:
        super().__init__(
            value=None,
            html_template=f'<div class="lp lp-{name}"></div>',
            js_on_load=_MOUNT.replace("NAME", name),
            apply_default_css=False,
            server_functions=list(server_functions) or None,
            channel=channel,
            elem_id=f"{channel}-{name}",
            elem_classes=["lp-instrument"],
            **keywords,
        )

    def api_info(self) -> dict[str, object]:
        return {"type": "object"}


def head(data: dict[str, object]) -> str:
    """The tags that load every instrument, with the data they all need.

    The data is JSON inside a script: `<` is escaped, so nothing in it can end the script.
    """
    gr.set_static_paths([HERE])
    inline = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    tags = [f'<link rel="stylesheet" href="{_address(style)}">' for style in STYLES]
    tags.append(f"<script>window.LossPrismData = {inline};</script>")
    tags += [f'<script src="{_address(script)}"></script>' for script in SCRIPTS]
    return "\n".join(tags)


def _address(name: str) -> str:
    """Where Gradio serves a file of this folder, with its age so that no cache holds an old one."""
    path = HERE / name
    return f"gradio_api/file={path.as_posix()}?v={int(path.stat().st_mtime)}"
