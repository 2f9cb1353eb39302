"""The Large batch page: up to a million pairs, seen block by block."""

from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.lab.large.large_batch_session import pair_limit
from lossprism.explorer.lab.large.loss_matrix_methods import (
    loss_input_of,
    method_of,
    offered,
    parameters_of,
)
from lossprism.explorer.locale import LANGUAGES, Word, catalogue, title_word
from lossprism.explorer.runtime.limits import LARGE_FILE_BYTES
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.web.pages.explore.loss_facts import Parameter, described_parameters
from lossprism.explorer.web.pages.large import remark_and_download_requests, request_handlers
from lossprism.explorer.web.pages.large.state_entries import large_table
from lossprism.explorer.web.pages.state_entry_type import Entry
from lossprism.losses import LOSSES

SERVED = [*request_handlers.SERVED, *remark_and_download_requests.SERVED]


@dataclass(frozen=True, kw_only=True)
class LargeLoss:
    """The abilities of a loss on the Large batch page."""

    most: int
    most_drawn: int
    wanted: Literal["cosines", "angles", "vectors"]
    family: str
    reads_texts: bool
    parameters: list[Parameter]


@dataclass(frozen=True, kw_only=True)
class LargeOwn:
    """Facts for the Large batch page alone."""

    losses: dict[str, LargeLoss]
    not_here: dict[str, list[Word]]
    table: list[Entry]
    bytes: int
    encoder: str


def page_data() -> LargeOwn:
    """Return the facts for this page."""
    return LargeOwn(
        losses={name: _loss(name) for name in offered()},
        not_here=_not_here(),
        table=large_table(),
        bytes=LARGE_FILE_BYTES,
        encoder=EMBEDDED,
    )


def _loss(name: str) -> LargeLoss:
    return LargeLoss(
        most=pair_limit(name),
        most_drawn=pair_limit(name, drawn=True),
        wanted=loss_input_of(name),
        family=method_of(name).family,
        reads_texts=LOSSES[name].reads_texts,
        parameters=described_parameters(parameters_of(name)),
    )


def _not_here() -> dict[str, list[Word]]:
    """Return the reasons why the other losses are not on this page, with their losses: a sentence
    of its own under ``large.not_here.``, that of losses that judge each pair by itself, or that of
    all others."""
    words = catalogue(LANGUAGES[0])
    why: dict[str, list[Word]] = {}
    for name, spec in LOSSES.items():
        if name not in offered():
            terms = spec.symbols.get(spec.terms)
            shared = "single" if terms and terms.axes == ("pair",) else "others"
            reason = name if f"large.not_here.{name}" in words else shared
            why.setdefault(reason, []).append(title_word(spec))
    return why
