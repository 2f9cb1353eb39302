"""Notation of the named intermediates of a loss."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lossprism.losses.loss_parameter import Parameter as Parameter  # for who takes it from here


@dataclass(frozen=True)
class Symbol:
    """Notation of a named intermediate, and of its rows and columns.

    `latex` is its name, `equals` its meaning, if shown. `stem` is the name without its index, ``s``
    of ``s_i``, if another letter may index it. `axes` are axis names ("pair", "query", "key",
    "view", "sentence", "class", "triplet", "level", "dimension"). `live` is the right-hand side for
    one cell with the names of other intermediates and parameters in «…», indexed by row r and
    column c: ``«scores[r]»``. If it depends on a parameter it maps conditions, expressions of the
    parameters, to formulas, and the first that holds counts: ``{"soft_margin": …, "": …}``. Unless
    `signed`, it is never below 0: 0 is then the end of its scale and not the middle. `indices` are
    the letters of its last axes if they are not i and then j.
    """

    latex: str
    axes: tuple[str, ...] = ()
    live: str | Mapping[str, str] = ""
    signed: bool = True
    indices: tuple[str, ...] = ()
    equals: str = ""
    stem: str = ""

    @property
    def written(self) -> str:
        """Return the name, and its meaning."""
        return f"{self.latex} = {self.equals}" if self.equals else self.latex

    def counted_by(self, letter: str) -> str:
        """Return the name with this index if it has one of its own."""
        return f"{self.stem}_{letter}" if self.stem else self.latex


def over(*axes: str) -> Callable[..., Symbol]:
    """Return `Symbol` for one kind of rows and columns: its arguments follow without `axes`."""

    def symbol(latex: str, live: str | Mapping[str, str] = "", **more: Any) -> Symbol:
        return Symbol(latex, axes, live, **more)

    return symbol


def loss_symbol(equals: str = "", live: str | Mapping[str, str] = "") -> Symbol:
    """Return the symbol of a loss: one number, by its meaning."""
    return Symbol(r"\mathcal L", live=live, equals=equals)


each_pair = over("pair")
each_query = over("query")
each_sentence = over("sentence")
each_view = over("view")
each_triplet = over("triplet")
each_given_triplet = over("given_triplet")
pair_by_pair = over("pair", "pair")
query_by_key = over("query", "key")
sentence_by_sentence = over("sentence", "sentence")
sentence_by_class = over("sentence", "class")
view_by_view = over("view", "view")
triplet_by_sentence = over("triplet", "sentence")
list_by_candidate = over("list", "candidate")
candidate_by_candidate = over("list", "candidate", "candidate")
