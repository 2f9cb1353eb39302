"""Facts for a page when it opens: those of all pages, and its own."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.core.scenario import SentScenario as Scenario
from explorer.locale import Word
from explorer.runtime.response_types import Setting
from explorer.web.pages.explore.loss_facts import Loss as Loss
from explorer.web.pages.explore.loss_facts import NamedLoss as NamedLoss
from explorer.web.pages.explore.loss_facts import Parameter as Parameter

Range = tuple[float, float]


class PageLink(TypedDict):
    """Path of a page, and its key in the catalogue."""

    path: str
    key: str


class Limits(TypedDict):
    """Limits of Explore: pairs, bytes of a file, letters of a link, settings of a random batch."""

    pairs: int
    bytes: int
    encoder: str
    plain_encoders: list[str]
    random: dict[str, Range]
    link: int


class NamedEntry(TypedDict):
    """The common part of every entry of a page's state."""

    name: str
    default: object
    kind: Literal[
        "number",
        "whole",
        "text",
        "choice",
        "switch",
        "list",
        "parameters",
        "map",
        "losses",
        "object",
    ]


class StateEntry(NamedEntry, total=False):
    """An entry of a page's state: see `explorer.web.state_table.Entry`."""

    low: float
    high: float
    choices: list[str]
    link: str
    history: bool
    affects: Literal["compute", "redraw", "nothing"]
    when: tuple[str, str]


class Hosted(TypedDict):
    """A page that strangers share: its Space, "" for none, and how many hours it keeps things."""

    space: str
    uploads: float
    runs: float


class RelatedClass(TypedDict):
    """A class of a library that is no loss here, by its names: `key` is the sentence that says why,
    `loss` what to look at in its place; `shared`: a loss that is here is called so, too."""

    names: list[str]
    loss: str
    key: str
    shared: bool


class Facts(TypedDict):
    """Facts for every page; `counts` names the values that are grouped by thousands, `scenario` is
    the table of Explore's state, `defaults` its first values; `hosted` is null at home. `groups`
    are those of losses, in order; `paired` the axes whose places are pairs, `by_pair` those named
    by a pair. `names` are the other names of losses, each with the loss and a convention, "" for
    ours."""

    pages: list[PageLink]
    hosted: Hosted | None
    counts: list[str]
    losses: dict[str, Loss]
    groups: list[str]
    paired: list[str]
    by_pair: list[str]
    names: list[tuple[str, str, str]]
    related_classes: list[RelatedClass]
    defaults: Scenario
    scenario: list[StateEntry]
    limits: Limits


class Example(TypedDict):
    """A textbook example."""

    note: str | None


class ExploreExample(Example):
    """A textbook example; `encoder` made its vectors, where that is not the embedded one."""

    encoder: str


class ExploreOwn(TypedDict):
    """Facts for Explore alone; `own` are the losses of the user's own, `editable`: their files can
    be edited in the page; `tried` is the largest number of pairs of a file for the trials."""

    examples: dict[str, ExploreExample]
    samplers: list[str]
    ranges: dict[str, tuple[float, float]]
    spread: int
    tried: int
    own: list[str]
    editable: bool


class ExploreFacts(Facts):
    """Facts for Explore."""

    explore: ExploreOwn


class ChosenLoss(TypedDict):
    """A loss with its convention and what differs from its defaults."""

    loss: str
    convention: str
    parameters: dict[str, Setting]


class Question(TypedDict):
    """A question of Compare: the example, the rules, the losses and the picture that answer it, and
    the other entries of the page's state."""

    example: str
    rules: dict[str, bool]
    sides: list[ChosenLoss]
    picture: str
    state: dict[str, Setting]


class CompareOwn(TypedDict):
    """Facts for Compare: how many losses it takes, those that people train with most, the orders
    of its bars, its sections, its questions and the one that it opens with."""

    table: list[StateEntry]
    usual: list[str]
    least: int
    most: int
    bars: list[str]
    sections: list[str]
    opening: str
    questions: dict[str, Question]
    examples: dict[str, Example]


class CompareFacts(Facts):
    """Facts for Compare."""

    compare: CompareOwn


class Mining(TypedDict):
    """Limits and defaults of hard negatives to mine for each pair, and of their margin."""

    negatives: tuple[int, int]
    margin: tuple[float, float]
    usual: tuple[int, float]


class DoctorOwn(TypedDict):
    """Facts for Doctor alone: its checks; the known values beside a number, and first numbers;
    first datasets and logs of runs, and the largest file of either."""

    checks: list[str]
    table: list[StateEntry]
    counts: list[str]
    settings: list[str]
    examples: list[dict[str, str]]
    sets: list[str]
    bytes: int
    logs: list[str]
    beside: list[str]
    of_other: list[str]
    log_bytes: int
    encoder: str
    with_margin: list[str]
    mining: Mining


class DoctorFacts(Facts):
    """Facts for Doctor."""

    doctor: DoctorOwn


class LargeLoss(TypedDict):
    """The abilities of a loss on the Large batch page."""

    most: int
    most_drawn: int
    wanted: Literal["cosines", "angles", "vectors"]
    family: str
    reads_texts: bool
    parameters: list[Parameter]


class LargeOwn(TypedDict):
    """Facts for the Large batch page alone."""

    losses: dict[str, LargeLoss]
    not_here: dict[str, list[Word]]
    table: list[StateEntry]
    bytes: int
    encoder: str


class LargeFacts(Facts):
    """Facts for the Large batch page."""

    large: LargeOwn


class QuickPlan(TypedDict):
    """The plan of the first button."""

    encoder: str
    steps: int
    batch_size: int
    learning_rate: float
    evaluations: int


class PrintedRow(TypedDict):
    """A row of the source's table: a figure on each data set, and their mean."""

    model: str
    loss: str
    values: list[float]


class Printed(TypedDict):
    """The source's table."""

    citation: str
    sets: list[str]
    spearman: list[PrintedRow]
    accuracy: list[PrintedRow]


class FinetuneOwn(TypedDict):
    """Facts for the Fine-tune page alone."""

    table: list[StateEntry]
    quick: QuickPlan
    more_evaluations: int
    schedules: list[str]
    samplers: list[str]
    augmentations: list[str]
    practice: list[str]
    examples: list[str]
    scratch: str
    embedded: str
    source: Printed


class FinetuneFacts(Facts):
    """Facts for the Fine-tune page."""

    finetune: FinetuneOwn


class LearnAnswer(TypedDict):
    """A number to choose as a prediction, and how it is written."""

    value: float
    text: str


class LearnStep(TypedDict):
    """A step of a lesson: its numbers, what is predicted, and the places of its lever. Without
    `answers` a place of the `axis` is marked, which is right within `near`."""

    figures: list[str]
    answers: list[LearnAnswer]
    axis: list[float]
    near: float
    goal: int
    stops: int
    worded: bool


class Lesson(TypedDict):
    """A lesson, how many minutes it takes, and the landscape that it leads on to, "" for none."""

    name: str
    minutes: int
    steps: list[LearnStep]
    landscape: str


class LearnOwn(TypedDict):
    """Facts for the Learn page alone."""

    table: list[StateEntry]
    lessons: list[Lesson]
    lecture: list[str]


class LearnFacts(Facts):
    """Facts for the Learn page."""

    learn: LearnOwn


class SpherePreset(TypedDict):
    """A film worth watching: its losses, and where and how the points move, as the state of the
    page has them."""

    name: str
    sides: list[ChosenLoss]
    start: dict[str, object]
    steps: dict[str, object]


class SphereOwn(TypedDict):
    """Facts for the sphere alone; `rate` are the ends of the learning rate's slider, and `moves`
    is the largest number of points that a hand may move."""

    table: list[StateEntry]
    presets: list[SpherePreset]
    examples: list[str]
    rate: tuple[float, float]
    moves: int


class SphereFacts(Facts):
    """Facts for the sphere."""

    sphere: SphereOwn


class LandscapeOwn(TypedDict):
    """Facts for the Landscape page alone: the parameters that move the landscape of each loss."""

    table: list[StateEntry]
    levers: dict[str, list[str]]
    examples: list[str]


class LandscapeFacts(Facts):
    """Facts for the Landscape page."""

    landscape: LandscapeOwn


class ListedClaim(TypedDict):
    """A claim of a source; `needs` says what of a batch it reads, `scaled` whether λ changes it,
    `trains` whether runs measure it."""

    name: str
    source: str
    formula: str
    needs: Literal["scores", "vectors", "nothing"]
    scaled: bool
    trains: bool


class ClaimsOwn(TypedDict):
    """Facts for the page of claims alone."""

    table: list[StateEntry]
    listed: list[ListedClaim]


class ClaimsFacts(Facts):
    """Facts for the page of claims."""

    claims: ClaimsOwn


PAGES = {
    "explore": ExploreFacts,
    "compare": CompareFacts,
    "doctor": DoctorFacts,
    "large": LargeFacts,
    "finetune": FinetuneFacts,
    "learn": LearnFacts,
    "sphere": SphereFacts,
    "landscape": LandscapeFacts,
    "claims": ClaimsFacts,
}
