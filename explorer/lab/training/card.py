"""What a saved model says of how it was trained, added to the card that the library writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from explorer.lab.training.plan import TrainingPlan
from explorer.svg import line

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 220, 60, 24


def complete(folder: Path, plan: TrainingPlan, summary: Mapping, steps: Sequence[Mapping]) -> None:
    """Add data, loss, parameters and curve to the README of a model folder."""
    (folder / "loss.svg").write_text(curve(steps), encoding="utf-8")
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8") if card.exists() else ""
    card.write_text(f"{text.rstrip()}\n\n{section(plan, summary)}", encoding="utf-8")


def section(plan: TrainingPlan, summary: Mapping) -> str:
    data = plan.data
    source = {"file": data.name or Path(data.file).name, "hub": data.hub, "example": data.example}
    before, after = summary["before"], summary["after"]
    rows = [
        ("Loss", f"{plan.loss} {json.dumps(plan.settings)}"),
        ("Convention", plan.convention or "LossPrism"),
        ("Data", f"{data.source} {source.get(data.source, '')}".strip()),
        ("Pairs", "{train} to learn from, {held_out} held out".format(**summary["pairs"])),
        ("Positive from", f"{summary['threshold']:g}"),
        ("Encoder", f"{plan.encoder} ({'bi-encoder' if plan.kind == 'bi' else 'cross-encoder'})"),
        ("Steps", f"{summary['steps']} of {plan.batch_size} pairs"),
        ("Learning rate", f"{plan.rate:g}, {plan.schedule}, warm-up {plan.warmup:g}"),
        ("Seed", f"{plan.seed}"),
    ]
    rows += [
        (f"Held-out {name}", f"{_said(before[name])} → {_said(after[name])}")
        for name in ("spearman", "pearson", "accuracy", "auc")
        if after[name] is not None
    ]
    table = "".join(f"| {name} | {value} |\n" for name, value in rows)
    return f"## Trained with LossPrism\n\n| | |\n|---|---|\n{table}\n![Loss by step](loss.svg)\n"


def _said(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def curve(steps: Sequence[Mapping]) -> str:
    """The loss of each step as a line."""
    values = [record["loss"] for record in steps]
    low, high = min(values), max(values)
    span, last = (high - low) or 1.0, max(len(values) - 1, 1)
    across, up = WIDTH - LEFT - 10, HEIGHT - BOTTOM - 10
    points = " ".join(
        f"{LEFT + across * place / last:.1f},{10 + up * (high - value) / span:.1f}"
        for place, value in enumerate(values)
    )
    label = '<text x="{}" y="{}" text-anchor="{}" font-size="12">{}</text>'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif"><rect width="100%" height="100%" fill="#fff"/>',
            line(LEFT, 10, LEFT, 10 + up, "#888"),
            line(LEFT, 10 + up, WIDTH - 10, 10 + up, "#888"),
            f'<polyline points="{points}" fill="none" stroke="#4f46e5" stroke-width="1.5"/>',
            label.format(LEFT - 6, 16, "end", f"{high:.3g}"),
            label.format(LEFT - 6, 10 + up, "end", f"{low:.3g}"),
            label.format(LEFT, HEIGHT - 6, "start", steps[0]["step"]),
            label.format(WIDTH - 10, HEIGHT - 6, "end", steps[-1]["step"]),
            "</svg>\n",
        ]
    )
