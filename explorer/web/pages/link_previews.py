"""Previews of shared links: a title, a sentence and a picture (Open Graph).

A browser does not send the part after the #, so a shared scenario is in the query, `?scene=…`, from
which the page takes it. Only a scenario that its link describes completely has a picture of its
own: pairs of an example or random ones, by the bundled encoder.
"""

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from html import escape
from urllib.parse import parse_qsl, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lossprism.explorer import locale
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import OPENING, Scenario, View
from lossprism.explorer.export.caption import parameter_words
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.png import as_png
from lossprism.explorer.export.palette import LIGHT
from lossprism.explorer.lab.compare.compared_loss_from_text import typed_value
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_comparison import MAX_LOSSES
from lossprism.explorer.lab.learn.lessons import BY_NAME
from lossprism.explorer.locale import LANGUAGES, language_of, spelled, title_word
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders.bundled_encoder import is_embedded
from lossprism.explorer.web.pages.figure_of_scenario_or_page import PageFigure, openings
from lossprism.losses import SHIPPED

PICTURE_SIZE = (1200, 630)  # pixels, as sites show it
PICTURE_BORDER = 24
MAX_PICTURED_LOSSES = 2  # losses that a picture has room for
LINK_LETTERS = 2000  # of a scenario that has a picture of its own
PICTURED = ("explore", "compare")  # pages whose links have a picture of their own
NUMBER_PATTERN = re.compile(r"[-+]?[0-9.]{1,16}(e[-+]?[0-9]{1,3})?", re.IGNORECASE)
PATH = "preview.png"
SHIPPED_NAMES = {spec.name for spec in SHIPPED}
LESSON_PATHS = {f"learn/{name}" for name in BY_NAME}
_pictures: Cache[bytes] = Cache(8 * 2**20, len)


def shared_scenarios(folder: str, link: str) -> list[Scenario]:
    """Return the scenarios of a page's link, one of each loss, if it describes them completely;
    none for any other."""
    if not link or len(link) > LINK_LETTERS:
        return []
    try:
        scenarios = _compared(link) if folder == "compare" else [Scenario.from_link(link)]
    except (Problem, ValueError):
        return []
    return scenarios if all(map(_is_complete, scenarios)) else []


def _is_complete(scenario: Scenario) -> bool:
    data = scenario.data
    others = data.cross_encoder or data.guide or data.teacher_model or data.guided
    alone = data.source in ("example", "random") and is_embedded(data.encoder) and not others
    return bool(alone) and scenario.loss in SHIPPED_NAMES


def _compared(link: str) -> list[Scenario]:
    """Return the scenarios of Compare's link, `1=cosent&2=info_nce&2.temperature=0.1&scene=…`
    (`kit/state_link.js`)."""
    entries = dict(parse_qsl(link))
    scenario = Scenario.from_link(entries["scene"]) if "scene" in entries else OPENING
    scenario = replace(scenario, view=View())  # a step in sight is one of the scenario's own loss
    numbers = [str(place) for place in range(1, MAX_LOSSES + 1) if str(place) in entries]
    return [_side(entries, number).applied_to(scenario) for number in numbers]


def _side(entries: Mapping[str, str], number: str) -> Side:
    """Return the loss of this number, with its convention and parameters."""
    parameters = tuple(
        (name.removeprefix(f"{number}."), typed_value(text))
        for name, text in entries.items()
        if name.startswith(f"{number}.")
    )
    return Side(entries[number], entries.get(f"{number}@", ""), parameters)


def tags(
    folder: str, path: str, link: str, base: str, language: str = LANGUAGES[0]
) -> dict[str, str]:
    """Return language, title, sentence and address of the picture of a page, as text of
    attributes."""
    say = partial(locale.say, language)
    title, about = say(f"page.{folder}"), say(f"page.about.{folder}")
    if path in LESSON_PATHS:
        title = say(f"{path.replace('/', '.')}.title")
    scenarios = shared_scenarios(folder, link) if folder in PICTURED else []
    try:
        named = [_named(scenario, language) for scenario in scenarios]
    except Problem:  # a parameter that the loss has not
        scenarios, named = [], []
    if len(named) == 1:
        [(title, words)] = named
        about = " · ".join([*words, about])
    elif named:
        title = say("ui.versus").join(" · ".join([name, *words]) for name, words in named)
    elif folder == "doctor" and (value := _doctors_number(link)):
        title = say("doctor.document", what=value)
    lang = "" if language == LANGUAGES[0] else language
    picture = {"page": path, "scene": link if scenarios else "", "lang": lang}
    query = urlencode({name: value for name, value in picture.items() if value})
    properties = {"title": f"{title} · LossPrism", "about": about, "image": f"{base}{PATH}?{query}"}
    return {name: escape(text) for name, text in {**properties, "language": language}.items()}


def language_in(query: Mapping[str, str]) -> str:
    """Return the language of an address, `?lang=zh-CN`, as `kit/initial_language.js` reads it."""
    return language_of(query.get("lang", "").lower()[:2])


def _named(scenario: Scenario, language: str) -> tuple[str, list[str]]:
    """Return the title of a scenario's loss, and its convention and parameters in words.

    Raises Problem for a parameter that the loss has not.
    """
    resolved, chosen = resolve(scenario), dict(scenario.parameters)
    words = [
        parameter_words(language, one, value)
        for one in resolved.spec.parameters
        if one.name in chosen and (value := resolved.parameters[one.name]) is not None
    ]
    title = spelled(language, "loss", title_word(resolved.spec))
    return title, [scenario.convention, *words] if scenario.convention else words


def _doctors_number(link: str) -> str:
    """Return the number of Doctor's link, `value=5.545&loss=siglip`; "" where that is no number."""
    value = dict(parse_qsl(link[:LINK_LETTERS])).get("value", "")
    return value if NUMBER_PATTERN.fullmatch(value) else ""


async def _preview(request: Request) -> Response:
    query = request.query_params
    try:
        page, link = query.get("page", ""), query.get("scene", "")
        drawings = _drawings(page, link, language_in(query))
        if not drawings:
            return Response(status_code=404)
        content = await run_in_threadpool(_picture, drawings)
    except Problem:  # a loss that cannot read these pairs
        return Response(status_code=404)
    return Response(content, media_type="image/png", headers={"Cache-Control": "max-age=86400"})


def _drawings(page: str, link: str, language: str) -> dict[str, Callable[[], str]]:
    """Return what draws the figures of a link, or of what a page opens with, by names to cache
    them by; none for a link that has no picture of its own."""
    shown = shared_scenarios(page, link) if link else openings(page, language)
    return {
        f"{language} {one.to_link() if isinstance(one, Scenario) else page}": partial(
            _figure_of, one, language
        )
        for one in shown[:MAX_PICTURED_LOSSES]
    }


def _figure_of(shown: Scenario | PageFigure, language: str) -> str:
    if not isinstance(shown, Scenario):
        return shown(language=language)
    with jobs.heavy_work_turn():
        return matrix_figure(explore(shown), language=language)


def _picture(drawings: Mapping[str, Callable[[], str]]) -> bytes:
    """Return figures beside each other on a sheet of `PICTURE_SIZE`."""
    key = " ".join(drawings)
    if (known := _pictures.get(key)) is not None:
        return known
    from PIL import Image  # takes its time, and only a preview needs it here

    sheet = Image.new("RGB", PICTURE_SIZE, LIGHT.sheet)
    width = PICTURE_SIZE[0] // len(drawings)
    for place, draw in enumerate(drawings.values()):
        figure = draw()
        with jobs.heavy_work_turn():
            drawn = Image.open(io.BytesIO(as_png(figure).content)).convert("RGB")
        drawn.thumbnail((width - 2 * PICTURE_BORDER, PICTURE_SIZE[1] - 2 * PICTURE_BORDER))
        left = place * width + (width - drawn.width) // 2
        sheet.paste(drawn, (left, (PICTURE_SIZE[1] - drawn.height) // 2))
    content = io.BytesIO()
    sheet.save(content, "PNG")
    return _pictures.put(key, content.getvalue())


ROUTE = Route(f"/{PATH}", _preview, methods=["GET"])
