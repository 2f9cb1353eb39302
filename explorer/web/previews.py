"""Previews of shared links: a title, a sentence and a picture (Open Graph).

A browser does not send the part after the #, so a shared scenario is in the query, `?scene=…`, from
which the page takes it. Only a scenario that its link describes completely has a picture of its
own: pairs of an example or random ones, by the bundled encoder.
"""

from __future__ import annotations

import io
from html import escape
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.core.explore import explore
from explorer.core.resolved_scenario import resolve
from explorer.core.scenario import OPENING, Scenario
from explorer.export.caption import parameter_words
from explorer.export.figure.matrix import matrix_figure
from explorer.export.figure.png import rasterised
from explorer.export.palette import LIGHT
from explorer.locale import say, spelled, title_word
from explorer.runtime import jobs
from explorer.runtime.cache import Cache
from explorer.runtime.problem import Problem
from explorer.sources.encoders.embedded import is_embedded
from losses import SHIPPED

SIZE = (1200, 630)  # pixels, as sites show it
BORDER = 24
LINK_LETTERS = 2000  # of a scene that has a picture of its own
PATH = "preview.png"
NAMES = {spec.name for spec in SHIPPED}
_pictures: Cache[bytes] = Cache(8 * 2**20, len)


def shared_scenario(link: str) -> Scenario | None:
    """Return the scenario of a link that describes it completely; None for any other."""
    if not link or len(link) > LINK_LETTERS:
        return None
    try:
        scene = Scenario.from_link(link)
    except Problem:
        return None
    data = scene.data
    others = data.cross_encoder or data.guide or data.teacher_model or data.guided
    alone = data.source in ("example", "random") and is_embedded(data.encoder) and not others
    return scene if alone and scene.loss in NAMES else None


def tags(folder: str, link: str, base: str) -> dict[str, str]:
    """Return title, sentence and address of the picture, as text of attributes."""
    scene = shared_scenario(link)
    title, about = say("en", f"page.{folder}"), say("en", f"page.about.{folder}")
    if scene is not None:
        resolved, named = resolve(scene), dict(scene.parameters)
        title = spelled("en", "loss", title_word(resolved.spec))
        said = [
            parameter_words("en", one, value)
            for one in resolved.spec.parameters
            if one.name in named and (value := resolved.parameters[one.name]) is not None
        ]
        about = " · ".join([scene.convention, *said, about]).removeprefix(" · ")
    query = f"?{urlencode({'scene': link})}" if scene else ""
    found = {"title": f"{title} · LossPrism", "about": about, "image": f"{base}{PATH}{query}"}
    return {name: escape(text) for name, text in found.items()}


async def _preview(request: Request) -> Response:
    link = request.query_params.get("scene", "")
    scene = shared_scenario(link) if link else OPENING
    if scene is None:
        return Response(status_code=404)
    try:
        content = await run_in_threadpool(_picture, scene)
    except Problem:  # a loss that cannot read these pairs
        return Response(status_code=404)
    return Response(content, media_type="image/png", headers={"Cache-Control": "max-age=86400"})


def _picture(scene: Scenario) -> bytes:
    """Return the scenario's figure in the middle of a sheet of `SIZE`."""
    key = scene.to_link()
    if (known := _pictures.get(key)) is not None:
        return known
    from PIL import Image  # takes its time, and only a preview needs it here

    with jobs.in_turn():
        figure = rasterised(matrix_figure(explore(scene))).content
        drawn = Image.open(io.BytesIO(figure)).convert("RGB")
        drawn.thumbnail((SIZE[0] - 2 * BORDER, SIZE[1] - 2 * BORDER))
        sheet = Image.new("RGB", SIZE, LIGHT.sheet)
        sheet.paste(drawn, ((SIZE[0] - drawn.width) // 2, (SIZE[1] - drawn.height) // 2))
        content = io.BytesIO()
        sheet.save(content, "PNG")
    return _pictures.put(key, content.getvalue())


ROUTE = Route(f"/{PATH}", _preview, methods=["GET"])
