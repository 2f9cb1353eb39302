"""The scenario of a link, of the address of a page, or of a file."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from lossprism.explorer.core.scenario import LINK_VERSION, OPENING, Scenario
from lossprism.explorer.locale import grouped
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.limits import SCENARIO_BYTES
from lossprism.explorer.runtime.local_path import local_path
from lossprism.explorer.runtime.problem import Problem

QUOTED_LETTERS = 60  # of an address in a message
# Pages whose links are not of a scenario that a figure can show, by their paths.
OTHER_PAGES = ("compare", "doctor", "large", "finetune", "learn")


def read_scenario(source: Scenario | str | Path) -> Scenario:
    """The scenario that a link, an address with a link, or a .json file holds; that Explore opens
    with, of an address without a link (`http://127.0.0.1:7860/`)."""
    if isinstance(source, Scenario):
        return source
    text = str(source).strip()
    address, _, link = text.partition("#")
    if not link and address.lower().endswith(".json"):
        return _scenario_in(local_path(address))
    pieces = path_pieces(address)
    is_other = not {*(pieces or ())[-2:]}.isdisjoint(OTHER_PAGES)  # "learn/collapse" has two
    if is_other and not link.startswith(f"{LINK_VERSION}."):
        raise Problem("figure_page", name=text[:QUOTED_LETTERS])
    is_bare = pieces is not None and not link and "scene=" not in urlsplit(address).query
    return OPENING if is_bare else Scenario.from_link(text)


def path_pieces(address: str) -> list[str] | None:
    """Return the pieces of the path of an address, None for what is no address of a page.

    Explore may stand at any path of a server (`https://huggingface.co/spaces/somebody/losses`).
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") and not re.fullmatch(r"(/learn)?/\w*", parts.path):
        return None
    return parts.path.strip("/").split("/")


def _scenario_in(path: Path) -> Scenario:
    try:
        with path.open("rb") as file:
            content = file.read(SCENARIO_BYTES + 1)
    except OSError as error:
        raise Problem("file_unreadable", name=path) from error
    if len(content) > SCENARIO_BYTES:
        reason = f"> {grouped(SCENARIO_BYTES)} bytes"
        raise Problem("scenario_file", name=path.name, reason=reason)
    try:
        chosen = read_json(content.decode("utf-8-sig"))
    except ValueError as error:
        raise Problem("scenario_file", name=path.name, reason=error) from error
    return Scenario.from_json(chosen)
