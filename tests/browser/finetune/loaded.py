"""What a run needs, loaded before it is forked: the libraries, and the template of a model's card.

Garbage is not looked for in what is here already.
"""

from __future__ import annotations

import functools
import gc
from importlib import import_module
from pathlib import Path

import jinja2

LIBRARIES = ("scipy.stats", "sklearn.metrics", "sentence_transformers")
for name in (*LIBRARIES, "explorer.lab.training.session", "explorer.lab.training.worker"):
    import_module(name)

jinja2.Environment.from_string = functools.lru_cache(jinja2.Environment.from_string)
TEMPLATE = "model_card_template.md"
for card in Path(import_module("sentence_transformers").__file__).parent.rglob(TEMPLATE):
    jinja2.Template(card.read_text(encoding="utf-8"))
gc.collect()
gc.freeze()
