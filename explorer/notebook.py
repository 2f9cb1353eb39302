"""``lossprism.show``: the page, open on given pairs, in a notebook."""

from __future__ import annotations

import functools
import html
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from lossprism.explorer.web.api.request_parsing import rules_of, scenario_of

if TYPE_CHECKING:
    from lossprism.explorer.web.site import Site


@dataclass(frozen=True)
class EmbeddedPage:
    """The page at its address: a notebook shows it in a frame, any browser opens it. `reading`
    tells the roles of a table's columns."""

    address: str
    reading: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.reading)
        source = html.escape(self.address, quote=True)
        frame = f'<iframe src="{source}" width="100%" height="900" style="border:0"></iframe>'
        return notes + frame


def show(
    sentences1: Iterable[str] | None = None,
    sentences2: Iterable[str] | None = None,
    scores: Iterable[float] | None = None,
    loss: str = "cosent",
    convention: str = "",
    *,
    threshold: float | None = None,
    label_range: Sequence[float] | None = None,
    extra_negatives: bool = True,
    prototypes: Sequence[Sequence[float]] | None = None,
    twins: str = "keep",
    guide: str = "",
    teacher: str = "",
    teacher_scores: Iterable[float] | None = None,
    table: str | Sequence[Mapping[str, Any]] = "",
    columns: Mapping[str, str] | None = None,
    **parameters: Any,
) -> EmbeddedPage:
    """Open the page on these pairs under this loss; in a notebook, inside the cell.

        import lossprism
        lossprism.show(["A cat sleeps."], ["A cat is asleep."], [1.0], loss="cosent", scale=20)

    Args:
        sentences1, sentences2: the two sentences of each of N pairs, N up to 512; None where a
            table is given.
        scores: [N], the label of each pair; numbers, an array or a tensor. Without
            any, all pairs are positives, for a loss such as "info_nce".
        loss: name of a loss in `losses.LOSSES`.
        convention: name of the library whose definition is meant; empty for our own.
        threshold: a pair with this score or more is positive; None is the middle of the scale.
        label_range: the ends of the scores' scale, such as (1, 5); None is what fits them all.
        extra_negatives: whether the other pairs' second sentences are negatives too.
        prototypes: a row of numbers for each class; None is the class means.
        twins: "keep", or "leave_out": a key of the query's or the own key's text is no negative.
        guide: a second encoder, for a loss that asks one which negatives to believe, in
            place of the vectors that a table has; empty without such holds those of the first one
            still.
        teacher: an encoder or cross-encoder whose cosines or scores are the teacher's, for a loss
            that learns from one.
        teacher_scores: [N], what a teacher gave each pair, in place of a model.
        table: in place of the lists, rows by the names of their columns, or the text of a table
            (CSV, TSV, JSON): pairs, {"anchor": …, "positive": …, "negative": […]}, or a text with a
            list of candidates and one of their labels.
        columns: which of its columns is "first", "second" and "score", or "anchor", "positive" and
            "negative", and which have a guide's vectors of these texts, "guide_first" and so on;
            None recognises them.
        parameters: of the loss, by name.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.
    """
    first, second, labels = (
        None if column is None else _plain(column) for column in (sentences1, sentences2, scores)
    )
    rules = rules_of(threshold, label_range, extra_negatives, prototypes, twins)
    asked: dict[str, Any] = {"convention": convention, "rules": rules}
    asked |= {"guide": guide, "teacher": teacher}
    asked["table"] = table if isinstance(table, str) else [dict(row) for row in table]
    asked["columns"] = None if columns is None else dict(columns)
    asked["teacher_scores"] = None if teacher_scores is None else _plain(teacher_scores)
    resolved, reading = scenario_of(loss, first, second, labels, parameters, **asked)
    _, address = _server()
    return EmbeddedPage(f"{address}/#{resolved.scenario.to_link()}", reading)


def _plain(column: Any) -> list[Any]:
    """Return a list of plain Python values from a list, an array, a tensor or a table's
    column."""
    return list(column.tolist() if hasattr(column, "tolist") else column)


@functools.cache
def _server() -> tuple[Site, str]:
    """Return the server for all cells of a notebook; it ends with the notebook's process."""
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    from lossprism.explorer.web import site  # gradio takes its time

    threads = torch.get_num_threads()
    opened = site.open_page(site.first_scenario(None, None), "127.0.0.1", None)
    torch.set_num_threads(threads)  # the page's one thread is not for the notebook's own work
    return opened
