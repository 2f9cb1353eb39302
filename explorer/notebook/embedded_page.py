"""``lossprism.show``: a figure and the live page, in the cell of a notebook."""

from __future__ import annotations

import base64
import functools
import html
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.export.caption import title_of
from lossprism.explorer.export.figure.embedded_fonts import with_fonts
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.notebook.inputs import read_inputs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import quoted
from lossprism.explorer.web.api.request_parsing import read_choice

if TYPE_CHECKING:
    from lossprism.explorer.web.site import Site

HEIGHT = 900  # of the page in a cell, in pixels
HEIGHTS = (200, 10_000)
# A saved notebook may be opened where no page answers: a frame has no height until its page says
# that it is there (`kit/page_startup.js`). Where a notebook runs no scripts, the frame is as it
# stands.
UNFOLD = """<script>{
  const frame = document.getElementById("%s");
  frame.style.height = "0";
  addEventListener("message", ({ source, data }) => {
    if (source === frame.contentWindow && data === "lossprism") frame.style.height = "";
  });
}</script>"""


@dataclass(frozen=True)
class EmbeddedPage:
    """The page at its address: a notebook shows it in a frame, any browser opens it.

    `figure` is the SVG that stands above it, also in a saved notebook, where no page answers, and
    `title` its text.
    `reading` tells which rows were drawn, and the roles of a table's columns. Without an `address`
    the cell says that no address leads to the page.
    """

    address: str
    reading: tuple[str, ...] = ()
    figure: str = ""
    title: str = ""
    height: int = HEIGHT
    language: str = "en"

    def _repr_html_(self) -> str:
        return self._figure_html() + self._page_html()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self._repr_html_(), **self._figure_bundle()}

    def _figure_bundle(self) -> dict[str, str]:
        bundle = {"text/plain": f"LossPrism: {self.address}"}
        return {**bundle, "image/svg+xml": self.figure} if self.figure else bundle

    def _figure_html(self) -> str:
        """Return the figure as an image: Jupyter shows no SVG of a notebook it does not trust."""
        notes = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.reading)
        if not self.figure:
            return notes
        data = base64.b64encode(self.figure.encode()).decode()
        title = html.escape(self.title, quote=True)
        source = f"data:image/svg+xml;base64,{data}"
        return f'{notes}<img src="{source}" alt="{title}" style="max-width:100%">'

    def _page_html(self) -> str:
        if not self.address:
            return f"<p>{html.escape(say(self.language, 'problem.notebook_no_address'))}</p>"
        source = html.escape(self.address, quote=True)
        name = f"lossprism-{secrets.token_hex(8)}"
        size = f'width="100%" height="{self.height}" style="border:0"'
        allowed = 'allow="clipboard-write; fullscreen"'
        return f'<iframe src="{source}" {size} id="{name}" {allowed}></iframe>{UNFOLD % name}'


class ColabPage(EmbeddedPage):
    """The page through the proxy of Google Colab, whose own function makes the frame."""

    def _ipython_display_(self) -> None:
        from IPython.display import display

        bundle = {"text/html": self._figure_html(), **self._figure_bundle()}
        display(bundle, raw=True)
        address = urlsplit(self.address)
        path = address._replace(scheme="", netloc="").geturl()
        output = import_module("google.colab.output")
        output.serve_kernel_port_as_iframe(address.port, path=path, height=str(self.height))


def show(
    sentences1: object = None,
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
    table: object = "",
    columns: Mapping[str, str] | None = None,
    pictures: str | os.PathLike[str] | None = None,
    height: int = HEIGHT,
    language: str | None = None,
    **parameters: Any,
) -> EmbeddedPage:
    """Open the page on these pairs under this loss; in a notebook, inside the cell, below a figure.

        import lossprism
        lossprism.show(df, loss="cosent", scale=20)
        lossprism.show(["A cat sleeps."], ["A cat is asleep."], [1.0], loss="cosent", scale=20)

    Args:
        sentences1, sentences2: the two sentences of each of N pairs: lists, arrays or columns. In
            place of the first alone, a table. Of more than 512 rows as many are drawn, always the
            same ones.
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
        table: a data frame of pandas, polars or another library that narwhals reads, a pyarrow
            Table, a `datasets.Dataset`, lists by the names of their columns, a list of rows, or
            the text of a table (CSV, TSV, JSON). Rows are pairs, {"anchor": …, "positive": …,
            "negative": […]}, or a text with a list of candidates and one of their labels.
        columns: which of its columns is "first", "second" and "score", or "anchor", "positive" and
            "negative", and which have a guide's vectors of these texts, "guide_first" and so on;
            None recognises them. A column of pictures (images of Pillow, their bytes, data URLs or
            paths) beside its vectors is shown as such.
        pictures: the folder in which a table's paths of pictures lie; None is the working
            directory. No picture is read elsewhere.
        height: of the page in the cell, in pixels, 200 to 10,000.
        language: of figure and page, "en" or "zh"; None is English, and on the page what the
            browser prefers.
        parameters: of the loss, by name.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.
    """
    if type(height) is not int or not HEIGHTS[0] <= height <= HEIGHTS[1]:
        low, high = HEIGHTS
        raise Problem("parameter_whole", name="height", value=quoted(height), low=low, high=high)
    words = "en" if language is None else read_choice("language", language, tuple(LANGUAGES))
    inputs = read_inputs(
        "show",
        sentences1,
        sentences2,
        scores,
        loss,
        convention,
        threshold=threshold,
        label_range=label_range,
        extra_negatives=extra_negatives,
        prototypes=prototypes,
        twins=twins,
        guide=guide,
        teacher=teacher,
        teacher_scores=teacher_scores,
        table=table,
        columns=columns,
        pictures=pictures,
        language=words,
        **parameters,
    )
    exploration = explore(inputs.resolved)
    figure = with_fonts(matrix_figure(exploration, language=words))
    kind, root = _server()
    query = "" if language is None else f"?lang={language}"
    address = root and f"{root}/{query}#{inputs.resolved.scenario.to_link()}"
    title = title_of(exploration, words)
    reading = tuple(filter(None, (inputs.drawn, *inputs.reading)))
    return kind(address, reading, figure, title, height, words)


def _server() -> tuple[type[EmbeddedPage], str]:
    """Return the kind of a cell here, and the address of the page for its browser, "" without any.

    Gradio finds out where the notebook runs, and makes a public link where there is no other way.
    """
    site, local = _started()
    blocks, port = site.app.get_blocks(), urlsplit(local).port
    if blocks.is_colab and not blocks.share_url:
        return ColabPage, local
    configured = os.environ.get("GRADIO_ROOT_PATH", "").rstrip("/")
    hub = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
    proxy = os.environ.get("VSCODE_PROXY_URI", "")  # of VS Code in a browser
    if blocks.share_url or configured:
        return EmbeddedPage, blocks.share_url or configured
    if hub:
        return EmbeddedPage, f"{hub.rstrip('/')}/proxy/{port}"
    if proxy:
        return EmbeddedPage, proxy.replace("{{port}}", str(port)).rstrip("/")
    return EmbeddedPage, "" if blocks.is_hosted_notebook else local


@functools.cache
def _started() -> tuple[Site, str]:
    """Return the server for all cells of a notebook, and its address on its own computer; it ends
    with the notebook's process."""
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    from lossprism.explorer.web import site  # gradio takes its time

    threads = torch.get_num_threads()
    share = False if os.environ.get("COLAB_RELEASE_TAG") else None  # Colab has its own proxy
    opened = site.open_page(site.first_scenario(None, None), "127.0.0.1", None, share=share)
    torch.set_num_threads(threads)  # the page's one thread is not for the notebook's own work
    return opened
