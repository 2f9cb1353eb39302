"""The card of a saved model: sections on its training, added to those that the library writes."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lossprism.explorer.core.remarks import Remark
from lossprism.explorer.export.figure.svg_elements import line
from lossprism.explorer.export.figure.text_layout import clean
from lossprism.explorer.export.palette import LIGHT
from lossprism.explorer.lab.training import held_out_list_metrics
from lossprism.explorer.lab.training.metric_uncertainty import ALL_FIGURES, LEADING
from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_comparison import held_out_pairs
from lossprism.explorer.lab.training.run_json_types import (
    EvaluationRecord,
    RunRecord,
    StepRecord,
    Summary,
)
from lossprism.explorer.lab.training.trainer_rows import CLASSES, PAIRS
from lossprism.explorer.locale import catalogue, say
from lossprism.explorer.runtime.number_format import display_number, fixed
from lossprism.version import VERSION

# What makes markup, a formula or a link of a text, in Markdown as GitHub and the hub read it.
_MARKUP = re.compile(r"[\\`*_\[\]<>|~:@&$^]|(?<=www)\.", re.IGNORECASE)
EXAMPLE_LETTERS = 1000
DECIMALS = 4
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 640, 220, 60, 22, 24


def complete(
    folder: Path,
    plan: TrainingPlan,
    summary: Summary,
    history: Sequence[RunRecord],
    gained: Remark | None = None,
) -> None:
    """Add data, loss, parameters, curves and the `gained` remark to the README of a model
    folder."""
    for figure in ("loss", _leading(summary)):
        drawn = curve(history, figure)
        (folder / f"{figure}.svg").write_text(drawn, encoding="utf-8")
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8") if card.exists() else ""
    title, details, rest = text.partition("## Model Details")  # our section comes first
    completed = f"{title.rstrip()}\n\n{section(plan, summary, history, gained)}\n{details}{rest}"
    card.write_text(completed, encoding="utf-8")


def shown(text: str) -> str:
    """A user's text as Markdown that shows it, in one line, and nothing else."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", clean(text))


def show_examples(model: Any) -> None:
    """Have the library write examples of the data into its card by `shown`, not as HTML."""

    def cell(value: object) -> str:
        text = str(value)
        more = "…" if len(text) > EXAMPLE_LETTERS else ""
        return shown(text[:EXAMPLE_LETTERS] + more)

    model.model_card_data._format_example_value = cell


def section(
    plan: TrainingPlan, summary: Summary, history: Sequence[RunRecord], gained: Remark | None = None
) -> str:
    before, after, pairs = summary.before, summary.after, summary.pairs
    rows = [
        ("Loss", f"{plan.loss} {json.dumps(plan.settings)}"),
        ("Convention", plan.convention or "LossPrism"),
        ("Version of LossPrism", VERSION),
        ("Data", _named(plan.data)),
        ("Pairs", f"{pairs.train} to learn from, {pairs.held_out} held out"),
        ("Labels", "read as {} to {}".format(*map(display_number, summary.label_range))),
        ("Positive from", display_number(summary.threshold)),
        ("Encoder", f"{shown(plan.encoder)} ({KINDS[plan.kind]})"),
        *[(f"Prompt “{side}”", f"“{shown(text)}”") for side, text in plan.prompts.items() if text],
        *([("Guide", shown(plan.guide))] if plan.asks_guide else []),
        *([("Teacher", shown(plan.teacher_model))] if plan.asks_teacher else []),
        *_examples(summary),
        ("Steps", f"{summary.steps} of {plan.batch_size} {_form(summary)}"),
        *(
            [("The same text twice", DUPLICATE_TEXTS[_duplicate_rule(plan)])]
            if plan.spec.negatives_of_batch
            else []
        ),
        *([("Batches", DRAWN[plan.sampler])] if plan.sampler in DRAWN else []),
        ("Learning rate", _learning_rate(plan)),
        ("Seed", f"{plan.seed}"),
    ]
    rows += [
        (
            f"Held-out {SPELLED_OUT.get(name) or name.replace('_at_', '@')}",
            f"{fixed(getattr(before, name), DECIMALS)} → {fixed(getattr(after, name), DECIMALS)}",
        )
        for name in ALL_FIGURES
        if getattr(after, name) is not None
    ]
    rows += [
        (
            f"Held-out {title}",
            f"{fixed(before.of_lists(name), DECIMALS)} → {fixed(after.of_lists(name), DECIMALS)}",
        )
        for name, title in held_out_list_metrics.TITLES.items()
        if after.of_lists(name) is not None
    ]
    table = "".join(f"| {name} | {value} |\n" for name, value in rows)
    leading = _leading(summary)
    measured = (
        f"![Held-out {TITLES[leading]} by step]({leading}.svg)\n{_on_sample(summary, history)}"
    )
    if leading != LEADING[0]:
        measured = f"{measured}\n{ON_POSITIVES}\n"
    if gained is not None:
        measured = f"{measured}\n{say('en', f'remark.{gained.key}', **gained.values)}\n"
    if summary.repeated:
        measured = f"{measured}\n{on_repeats(pairs.held_out, summary.repeated)}\n"
    if lists := after.lists:
        ends = (display_number(at) for at in (summary.threshold, lists.floor))
        measured = f"{measured}\n{held_out_list_metrics.described(lists, *ends)}\n"
    curves = f"![Loss by step](loss.svg)\n\n{measured}"
    return f"## Trained with LossPrism\n\n| | |\n|---|---|\n{table}\n{curves}"


def on_repeats(held_out: int, repeated: int) -> str:
    """Describe the held-out pairs that repeat another, and their treatment."""
    values = {"pairs": held_out_pairs(held_out), "repeated": repeated}
    return say("en", "remark.run_repeats", **values)


def _learning_rate(plan: TrainingPlan) -> str:
    rate = display_number(plan.rate)
    return f"{rate}, {plan.schedule}, warm-up {display_number(plan.warmup)}"


def _form(summary: Summary) -> str:
    """Name the unit of a batch; runs of earlier versions have none."""
    form = summary.examples.form if summary.examples else PAIRS
    return "sentences" if form == CLASSES else form


def _examples(summary: Summary) -> list[tuple[str, str]]:
    """Number of training rows, where these are no pairs."""
    if summary.examples is None or _form(summary) == PAIRS:
        return []
    return [("Examples", f"{summary.examples.count} {_form(summary)}")]


# On other pairs the same threshold gives less.
SPELLED_OUT = {"accuracy": "accuracy (at the threshold that is best on these pairs)"}
KINDS = {"bi": "bi-encoder", "cross": "cross-encoder"}
TITLES: dict[str, str] = dict(zip(LEADING, ("Spearman", "accuracy@1"), strict=True))
ON_POSITIVES = (
    "All held-out pairs are positives of one label, so there is no rank correlation. Accuracy@1 is "
    "how often a query's own key is the nearest of all keys measured with it; among fewer keys, as "
    "in the curve, it is found more easily."
)
DRAWN = {
    "in_order": "in the order of the data",
    "group_by_label": "every label in it at least twice (sampler group_by_label)",
}
DUPLICATE_TEXTS = {
    "apart": "kept out of the batch (sampler no_duplicates)",
    "leave_out": "its keys left out of the loss",
    "keep": "kept, a negative like any other",
}


def _leading(summary: Summary) -> str:
    """Name of the figure that judges the model: Spearman, or for positives alone the retrieval."""
    ranked, correlated = LEADING
    return ranked if getattr(summary.after, correlated) is None else correlated


def _duplicate_rule(plan: TrainingPlan) -> str:
    if plan.keeps_texts_apart:
        return "apart"
    return "leave_out" if plan.leaves_duplicates_out else "keep"


def _on_sample(summary: Summary, history: Sequence[RunRecord]) -> str:
    """Note that the curve is of fewer pairs than the table, where it is."""
    # Earlier versions did not record it, and their runs may be resumed.
    live = next((one.pairs for one in history if isinstance(one, EvaluationRecord)), None)
    whole = summary.pairs.held_out
    if not live or live >= whole:
        return ""
    note = f"The curve is of {live} of the {whole} held-out pairs, measured during the training;"
    return f"\n{note} the figures above are of all of them.\n"


def _named(data: TrainingData) -> str:
    """Name of the data, as the cell of a table."""
    own = {"example": data.example, "hub": data.hub}
    name = own.get(data.source) or data.name
    return shown(catalogue("en").get(f"example.{name}.title", name)) or data.source


def curve(history: Sequence[RunRecord], figure: str) -> str:
    """A figure of the run's records by step, as a line."""
    live = [one for one in history if isinstance(one, StepRecord | EvaluationRecord)]
    read = [(one.step, getattr(one, figure, None)) for one in live]
    found = [(step, value) for step, value in read if value is not None]
    steps, values = zip(*found, strict=True) if found else ((0, 1), (0.0, 0.0))
    low, high = min(values), max(values)
    span, last = (high - low) or 1.0, (steps[-1] - steps[0]) or 1
    across, up = WIDTH - LEFT - 10, HEIGHT - BOTTOM - TOP
    points = " ".join(
        f"{LEFT + across * (step - steps[0]) / last:.1f},{TOP + up * (high - value) / span:.1f}"
        for step, value in found
    )
    label = '<text x="{}" y="{}" text-anchor="{}" font-size="12" fill="' + LIGHT.ink + '">{}</text>'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif"><rect width="100%" height="100%" fill="{LIGHT.sheet}"/>',
            line(LEFT, TOP, LEFT, TOP + up, LIGHT.faint),
            line(LEFT, TOP + up, WIDTH - 10, TOP + up, LIGHT.faint),
            f'<polyline points="{points}" fill="none" stroke="{LIGHT.accent}" stroke-width="1.5"/>',
            label.format(LEFT, 14, "start", figure if found else f"{figure}: not measured"),
            label.format(LEFT - 6, TOP + 8, "end", display_number(high, 3)),
            label.format(LEFT - 6, TOP + up, "end", display_number(low, 3)),
            label.format(LEFT, HEIGHT - 6, "start", steps[0]),
            label.format(WIDTH - 10, HEIGHT - 6, "end", steps[-1]),
            "</svg>\n",
        ]
    )
