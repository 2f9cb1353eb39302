"""`lossprism.show`: a figure and the page within a notebook, on one's own pairs."""

from __future__ import annotations

import base64
import re
import sys
from html import unescape
from types import ModuleType, SimpleNamespace

import httpx
import pytest
import torch

import lossprism
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Rules, Scenario
from lossprism.explorer.export.figure.embedded_fonts import with_fonts
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.locale import say
from lossprism.explorer.notebook import embedded_page
from lossprism.explorer.notebook.embedded_page import ColabPage, EmbeddedPage
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web import static_files
from tests.sentences import raises_problem

FIRST = ["A man eats pasta.", "A girl plays the violin.", "Two dogs run.", "It rains in Rome."]
SECOND = ["Someone has a meal.", "A child makes music.", "A cat sleeps.", "The stock market fell."]
LABELS = [1.0, 0.8, 0.2, 0.0]


@pytest.fixture(scope="module")
def notebook_server():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    site, found = embedded_page._started()
    assert torch.get_num_threads() == 2  # the notebook's own work goes on as before
    torch.set_num_threads(before)
    yield found
    site.close()
    embedded_page._started.cache_clear()


def test_show_opens_the_page_on_the_pairs(notebook_server):
    scores = torch.tensor([1.0, 0.8, 0.25, 0.0], dtype=torch.float64)
    shown = lossprism.show(tuple(FIRST), SECOND, scores, loss="circle", scale=32)
    place, link = shown.address.split("/#")
    assert place == notebook_server
    assert static_files.BASE in httpx.get(place).text
    picture, frame = re.findall("<(?:img|iframe) [^>]*>", shown._repr_mimebundle_()["text/html"])
    assert shown.title in picture
    assert f'src="{shown.address}" width="100%" height="900"' in frame
    restored = Scenario.from_link(link)
    assert restored.loss == "circle"
    assert dict(restored.parameters) == {"scale": 32}
    labels = ["1", "0.8", "0.25", "0"]
    assert restored.data.rows == tuple(zip(FIRST, SECOND, labels, strict=True))


def test_an_input_that_does_not_fit_is_one_sentence_in_a_notebook_and_a_bug_is_traced(capsys):
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    with pytest.raises(Problem) as refused:
        lossprism.show(5)
    for error in (refused.value, ZeroDivisionError("our bug")):
        shell.showtraceback((type(error), error, refused.tb))
    message, traced = capsys.readouterr().out.split("\n", 1)
    assert message == f"Problem: {refused.value}"
    assert "Traceback" in traced
    assert "our bug" in traced


def test_show_opens_another_librarys_definition(notebook_server):
    shown = lossprism.show(
        FIRST, SECOND, LABELS, loss="triplet", convention="torch 2.13 (ε in the distance)"
    )
    restored = Scenario.from_link(shown.address.split("/#")[1])
    assert (restored.loss, restored.convention) == ("triplet", "torch 2.13 (ε in the distance)")
    with raises_problem("unknown_convention", name="numpy"):
        lossprism.show(FIRST, SECOND, LABELS, loss="triplet", convention="numpy")


def test_show_takes_the_rules_of_the_page(notebook_server):
    shown = lossprism.show(FIRST, SECOND, LABELS, threshold=0.7, label_range=(0, 2))
    restored = Scenario.from_link(shown.address.split("/#")[1])
    assert restored.rules == Rules(threshold=0.7, label_range=(0.0, 2.0))
    with raises_problem("label_range", low="2", high="0"):
        lossprism.show(FIRST, SECOND, LABELS, label_range=(2, 0))


def test_show_uses_one_server_for_all_cells(notebook_server):
    one, other = (lossprism.show(FIRST, SECOND, LABELS, loss=loss) for loss in ("cosent", "circle"))
    assert one.address != other.address
    assert one.address.startswith(notebook_server)
    assert other.address.startswith(notebook_server)


def test_the_figure_is_that_of_the_page_in_the_cells_language(notebook_server):
    shown = lossprism.show(FIRST, SECOND, LABELS, height=400, language="zh")
    place, link = shown.address.split("#")
    assert place == f"{notebook_server}/?lang=zh"
    assert httpx.get(place).status_code == 200
    drawn = matrix_figure(explore(Scenario.from_link(link)), language="zh")
    assert shown.figure == with_fonts(drawn)
    bundle = shown._repr_mimebundle_()
    assert bundle["image/svg+xml"] == shown.figure
    assert base64.b64encode(shown.figure.encode()).decode() in bundle["text/html"]
    assert 'height="400"' in bundle["text/html"]


def test_sentences_on_columns_have_the_language_of_the_cell(notebook_server):
    columns = {"anchor": FIRST, "positive": SECOND}
    shown = lossprism.show(columns, loss="info_nce", language="zh")
    assert shown.reading[0] == say("zh", "reading.first", columns="“anchor”")
    assert shown.reading[0] in shown._repr_html_()


@pytest.mark.parametrize("height", [0, 199, 10_001, 500.0, "500px", None, True])
def test_a_height_is_a_number_of_pixels(height):
    with raises_problem("parameter_whole", name="height", value=str(height), low=200, high=10_000):
        lossprism.show(FIRST, SECOND, LABELS, height=height)


@pytest.mark.parametrize("language", ["fr", "", 5, ["en"]])
def test_a_language_is_one_of_the_catalogues(language):
    with pytest.raises(Problem, match="choose one of en, zh"):
        lossprism.show(FIRST, SECOND, LABELS, language=language)


@pytest.mark.parametrize(
    ("requested", "sentence"),
    [
        ({"loss": "cosnet"}, "There is no loss called cosnet."),
        ({"scael": 2}, "CoSENT has no parameter scael."),
        ({"scale": 5000}, "scale is 5000; accepted are numbers from 0.1 to 1000."),
    ],
)
def test_show_refuses_before_it_starts_anything(monkeypatch, requested, sentence):
    monkeypatch.setattr(embedded_page, "_started", lambda: pytest.fail("the server was started"))
    with pytest.raises(Problem) as problem:
        lossprism.show(FIRST, SECOND, LABELS, **requested)
    assert str(problem.value).startswith(sentence)


# ---- Where a notebook runs, simulated

LOCAL = "http://127.0.0.1:7861"
PUBLIC = "https://0123.gradio.live"


@pytest.fixture
def shown_on(monkeypatch):
    """Show the pairs where Gradio finds this, and these environment variables are set."""
    known = ("GRADIO_ROOT_PATH", "JUPYTERHUB_SERVICE_PREFIX", "VSCODE_PROXY_URI")
    for variable in (*known, "COLAB_RELEASE_TAG"):
        monkeypatch.delenv(variable, raising=False)

    def show(environment: dict[str, str], **found: object) -> EmbeddedPage:
        for variable, value in environment.items():
            monkeypatch.setenv(variable, value)
        facts = {"is_colab": False, "is_hosted_notebook": False, "share_url": None, **found}
        site = SimpleNamespace(app=SimpleNamespace(get_blocks=lambda: SimpleNamespace(**facts)))
        monkeypatch.setattr(embedded_page, "_started", lambda: (site, LOCAL))
        return lossprism.show(FIRST, SECOND, LABELS)

    return show


@pytest.mark.parametrize(
    ("environment", "found", "root"),
    [
        ({}, {}, LOCAL),  # JupyterLab, VS Code, and VS Code over SSH, which forwards the port
        ({}, {"is_hosted_notebook": True, "share_url": PUBLIC}, PUBLIC),  # Kaggle, SageMaker
        ({"GRADIO_SHARE": "true"}, {"share_url": PUBLIC}, PUBLIC),
        ({"JUPYTERHUB_SERVICE_PREFIX": "/user/me/"}, {}, "/user/me/proxy/7861"),
        ({"VSCODE_PROXY_URI": "https://x.dev/proxy/{{port}}/"}, {}, "https://x.dev/proxy/7861"),
        ({"GRADIO_ROOT_PATH": "https://x.org/prism/"}, {}, "https://x.org/prism"),
        ({"COLAB_RELEASE_TAG": "r"}, {"is_colab": True, "share_url": PUBLIC}, PUBLIC),
    ],
)
def test_the_frame_leads_to_the_server_from_where_the_notebook_runs(
    shown_on, environment, found, root
):
    page = shown_on(environment, **found)
    assert page.address.partition("#")[0] == f"{root}/"
    assert f'<iframe src="{root}/#' in page._repr_html_()


def test_colab_makes_the_frame_by_itself(shown_on, monkeypatch):
    made, displayed = [], []
    output = ModuleType("google.colab.output")
    output.serve_kernel_port_as_iframe = lambda port, **options: made.append((port, options))
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: displayed.append(bundle))
    page = shown_on({"COLAB_RELEASE_TAG": "r"}, is_colab=True)
    assert isinstance(page, ColabPage)
    page._ipython_display_()
    link = page.address.partition("#")[2]
    assert made == [(7861, {"path": f"/#{link}", "height": "900"})]
    assert Scenario.from_link(link).loss == "cosent"
    assert "iframe" not in displayed[0]["text/html"]
    assert displayed[0]["image/svg+xml"] == page.figure


def test_without_a_public_link_the_figure_stands_alone(shown_on):
    cell = shown_on({}, is_hosted_notebook=True)._repr_html_()
    assert "<iframe" not in cell
    assert "<img" in cell
    assert say("en", "problem.notebook_no_address") in unescape(cell)


def test_kaggle_has_gradios_public_link(monkeypatch):
    """The tunnel alone is made up: Gradio finds Kaggle, and the page answers to the link's name."""
    monkeypatch.setenv("KAGGLE_KERNEL_RUN_TYPE", "Interactive")
    monkeypatch.setattr("gradio.networking.setup_tunnel", lambda **_: PUBLIC)
    embedded_page._started.cache_clear()
    page = lossprism.show(FIRST, SECOND, LABELS)
    assert page.address.startswith(f"{PUBLIC}/#")
    site, local = embedded_page._started()

    def status(name: str, origin: str) -> int:
        headers = {"host": name, "origin": origin}
        return httpx.post(f"{local}/requests/explore/explore", json={}, headers=headers).status_code

    assert status("0123.gradio.live", PUBLIC) not in (403, 404)
    assert status("9999.gradio.live", "https://9999.gradio.live") == 403
    assert status("0123.gradio.live", "https://evil.example") == 403
    policy = httpx.get(local).headers["content-security-policy"]
    assert " https://*.kaggle.com" in policy
    site.close()
    embedded_page._started.cache_clear()


@pytest.mark.parametrize(("release", "share"), [(None, None), ("release-colab", False)])
def test_gradio_decides_on_a_public_link_but_in_colab(monkeypatch, release, share):
    """Colab reaches the port by itself, so that nothing is made public there."""
    from lossprism.explorer.web import site

    requests = []
    monkeypatch.setattr(
        site, "open_page", lambda *_, **options: requests.append(options) or (1, "")
    )
    monkeypatch.delenv("COLAB_RELEASE_TAG", raising=False)
    if release:
        monkeypatch.setenv("COLAB_RELEASE_TAG", release)
    embedded_page._started.__wrapped__()
    assert requests == [{"share": share}]
