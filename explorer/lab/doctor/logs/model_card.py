"""The card of a model that sentence-transformers saved: loss, settings, batch, training logs."""

import re
from collections.abc import Iterator, Mapping

from lossprism.explorer.lab.doctor.logs.log import Curve, Log, curves_of, number_in
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import is_number
from lossprism.explorer.sources.table_in_pasted_text import bar_cells

_LOSS = re.compile(
    r"^\* Loss: (?:\[<code>(?P<linked>[\w.]+)</code>\]|<code>(?P<plain>[\w.]+)</code>)"
    r"[^\n]*(?:\n[ \t]*```json\n(?P<settings>.*?)\n[ \t]*```)?",
    re.M | re.S,
)
_CROSS_ENCODER = re.compile(r"^- cross-encoder$|^# CrossEncoder\b", re.M)
_COLUMNS = re.compile(r"^\* Columns: (.+)$", re.M)
_SETTING = re.compile(r"^- `(\w+)`: (.+)$", re.M)
_LOGS = "### Training Logs"
# What the heads of its table are called in a log.
_HEADS = {"Training Loss": "loss", "Validation Loss": "eval_loss"}


def read(name: str, content: bytes) -> Log:
    """Read the log. Raises Problem where the table of its logs cannot be read."""
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    loss = _LOSS.search(text)
    called = ((loss["linked"] or loss["plain"]).rpartition(".")[2]) if loss else ""
    settings = _settings(name, loss["settings"]) if loss else {}
    arguments = dict(_SETTING.findall(text))
    batch = arguments.get("per_device_train_batch_size", "")
    scale, temperature = _number(settings, "scale"), _number(settings, "temperature")
    known = Known(
        loss=called,
        batch=int(batch) if batch.isdigit() and int(batch) > 0 else None,
        negatives=_negatives(text),
        scale=scale,
        temperature=temperature if scale is None else None,
        margin=_number(settings, "margin", "triplet_margin"),
        score=_score(text, settings),
    )
    precision = next((one for one in ("fp16", "bf16") if arguments.get(one) == "True"), "")
    epochs = number_in(arguments.get("num_train_epochs", ""))
    return Log("card", _curves(text), known, called, precision, epochs=epochs)


def _settings(name: str, text: str | None) -> Mapping[str, object]:
    if not text:
        return {}
    try:
        settings = read_json(text)
    except ValueError as damage:
        raise Problem("run_damaged", name=name, reason=f"Loss: {damage}") from None
    return settings if isinstance(settings, dict) else {}


def _score(text: str, settings: Mapping[str, object]) -> str:
    """The kind of score: a cross-encoder's logits, or what the similarity function gives."""
    if _CROSS_ENCODER.search(text):
        return "logit"
    similarity = str(settings.get("similarity_fct", ""))
    kinds = {"dot": "dot", "cos": "cosine"}
    return next((kind for part, kind in kinds.items() if part in similarity.lower()), "")


def _number(settings: Mapping[str, object], *names: str) -> float | None:
    for name in names:
        value = settings.get(name)
        if is_number(value):
            return float(value)
    return None


def _negatives(text: str) -> int | None:
    """Hard negatives of each row: the text columns beyond two."""
    match = _COLUMNS.search(text)
    if not match:
        return None
    columns = re.findall(r"<code>([^<]*+)</code>", match[1])
    texts = [one for one in columns if one.lower() not in ("label", "labels", "score", "scores")]
    return max(len(texts) - 2, 0) if len(texts) == len(columns) else None


def _curves(text: str) -> dict[str, Curve]:
    _, there, rest = text.partition(_LOGS)
    if not there:
        return {}
    table = re.search(r"^\|.*\|$(?:\n^\|.*\|$)+", rest, re.M)
    return curves_of(_points(table[0])) if table else {}


def _points(table: str) -> Iterator[tuple[str, object, object]]:
    rows = [bar_cells(line) for line in table.split("\n")]
    heads = rows[0]
    if "Step" not in heads:
        return
    at = heads.index("Step")
    for row in rows[2:]:
        if len(row) != len(heads):
            continue  # "..." of a table that was cut short
        for head, cell in zip(heads, row, strict=True):
            if head not in ("Step", "Epoch") and cell not in ("-", ""):
                yield _HEADS.get(head, f"eval_{head}"), row[at], cell
