"""Notebooks: the page in a cell (`show`), and the matrix as a widget (`widget`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossprism.explorer.notebook.embedded_page import show
from lossprism.explorer.runtime.problem import Problem

if TYPE_CHECKING:
    from lossprism.explorer.notebook.matrix_widget import MatrixWidget

__all__ = ["show", "widget"]


def widget(*data: Any, language: str = "en", **options: Any) -> MatrixWidget:
    """Return the matrix of a loss on these pairs as a widget, which Python reads and moves.

        import lossprism
        matrix = lossprism.widget(df, loss="cosent", scale=20)
        matrix  # shows it
        matrix.scale = 50  # computes and draws it again
        matrix.selected  # (row, column) of the cell that was clicked, or None

    Each parameter of the loss is a trait, beside `facet`, `step`, `sorted_by`, `selected` and
    `pointed` (`MatrixWidget`).

    Args:
        data, options: pairs, loss, rules and parameters, as for `show`.
        language: of the widget, "en" or "zh".

    Raises:
        Problem: if an input cannot be used, or the package anywidget is not installed.
    """
    try:
        from lossprism.explorer.notebook import matrix_widget
    except ModuleNotFoundError as error:
        if error.name not in ("anywidget", "traitlets"):
            raise
        raise Problem("notebook_widget") from None
    return matrix_widget.of_pairs(*data, language=language, **options)
