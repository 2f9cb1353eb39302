"""Types of the facts that a page has when it opens, those of every page alike.

The facts of one page stand in its `initial_page_data.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from lossprism.explorer.core.scenario import SentScenario
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.web.pages.explore.loss_facts import Loss
from lossprism.explorer.web.pages.state_entry_type import Entry, Range


@dataclass(frozen=True)
class PageLink:
    """Path of a page, and its key in the catalogue."""

    path: str
    key: str


@dataclass(frozen=True)
class Limits:
    """Limits of Explore: pairs, bytes of a file, letters of a link, settings of a random batch."""

    pairs: int
    bytes: int
    encoder: str
    plain_encoders: list[str]
    random: dict[str, Range]
    link: int


@dataclass(frozen=True)
class Hosted:
    """A page that strangers share: its Space, "" for none, and how many hours it keeps things."""

    space: str
    uploads: float
    runs: float

    @classmethod
    def read(cls) -> Hosted | None:
        """Return the facts about this process, None on the user's own machine."""
        policy = deployment_policy()
        if not policy.separates_visitors:
            return None
        return cls(policy.space, uploads=budget("upload_hours"), runs=budget("run_hours"))


@dataclass(frozen=True)
class RelatedClass:
    """A class of a library that is no loss here, by its names: `key` is the sentence that says why,
    `loss` what to look at in its place; `shared`: a loss that is here is called so, too."""

    names: list[str]
    loss: str
    key: str
    shared: bool


@dataclass(frozen=True)
class ChosenLoss:
    """A loss with its convention and what differs from its defaults."""

    loss: str
    convention: str
    parameters: dict[str, Setting]


@dataclass(frozen=True)
class Example:
    """A textbook example."""

    note: str | None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts for every page; `counts` names the values that are grouped by thousands, `scenario` is
    the table of Explore's state, `defaults` its first values, `examples_in` the examples that open
    in place of others, by language; `hosted` is null at home; `version`
    is that of LossPrism. `groups` are those of losses, in order; `paired` the axes whose places are
    pairs, `by_pair` those named by a pair. `names` are the other names of losses, each with the
    loss and a convention, "" for ours."""

    version: str
    pages: list[PageLink]
    hosted: Hosted | None
    counts: list[str]
    losses: dict[str, Loss]
    groups: list[str]
    paired: list[str]
    by_pair: list[str]
    names: list[tuple[str, str, str]]
    related_classes: list[RelatedClass]
    defaults: SentScenario
    examples_in: dict[str, dict[str, str]]
    scenario: list[Entry]
    limits: Limits
