"""A figure shows what the picture holds, says where it comes from, and is sound XML."""

from __future__ import annotations

import base64
import dataclasses
import io
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import OPENING, ORDERS, Data, Rules, Scenario, View
from lossprism.explorer.core.scenario_from_link_or_file import OTHER_PAGES, read_scenario
from lossprism.explorer.export.caption import caption, pair_numbers
from lossprism.explorer.export.drawing_data_of_exploration import picture
from lossprism.explorer.export.figure.cells import Cells
from lossprism.explorer.export.figure.embedded_fonts import with_fonts
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.pair_gradient_bars import bars_figure
from lossprism.explorer.export.figure.svg_elements import png
from lossprism.explorer.export.figure.text_layout import clean, clipped, width_of
from lossprism.explorer.export.palette import LIGHT
from lossprism.explorer.locale import LANGUAGES, grouped, say, spelled, title_word
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.limits import SCENARIO_BYTES
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.sources.textbook import EXAMPLES
from lossprism.explorer.web.pages.figure_of_scenario_or_page import write_figure
from lossprism.explorer.web.site import PAGES
from lossprism.losses import LOSSES
from tests.scenes import data_for
from tests.sentences import pattern_of, raises_problem

SVG = "{http://www.w3.org/2000/svg}"
SMALL = Data(source="random", random=RandomBatch(pairs=20, dimension=8, seed=7))
LARGE = Data(source="random", random=RandomBatch(pairs=80, dimension=8, seed=7))


def seen(data=SMALL, loss="cosent", parameters=None, **view):
    settings = tuple((parameters or {}).items())
    scenario = Scenario(data=data_for(loss, data), loss=loss, parameters=settings)
    return explore(dataclasses.replace(scenario, view=View(**view)))


def drawn(exploration, figure=matrix_figure, **options):
    return ElementTree.fromstring(figure(exploration, **options))


def texts(tree, kind=None):
    elements = tree.iter(f"{SVG}text")
    return ["".join(e.itertext()) for e in elements if kind is None or e.get("class") == kind]


def of_class(tree, kind):
    return [element for element in tree.iter() if element.get("class") == kind]


def embedded(element):
    data = element.get("href").removeprefix("data:image/png;base64,")
    return pixels_of(base64.b64decode(data))


def pixels_of(content):
    """Grey or RGBA bytes of a PNG file, which may name its colours by number."""
    image = Image.open(io.BytesIO(content))
    return np.asarray(image.convert("RGBA") if image.mode == "P" else image)


# What it holds


@pytest.mark.thorough
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_loss_is_drawn_in_every_language(loss, language):
    found = seen(loss=loss)
    for figure in (matrix_figure, bars_figure):
        tree = drawn(found, figure, language=language, dark=language == "zh")
        loss_said = display_number(found.loss, 6)
        sentence = say(language, "figure_text.loss", loss=loss_said)
        assert sentence in " ".join(texts(tree))
        assert spelled(language, "loss", title_word(found.spec)) in texts(tree, "title")


# That each is finite on each, `test_explore` shows; here every loss and every example is drawn, and
# every loss on a second example before a release.
TWO_OF_EACH = [
    pytest.param(
        loss,
        [*EXAMPLES][(place + shift) % len(EXAMPLES)],
        marks=pytest.mark.thorough if shift else (),
    )
    for place, loss in enumerate(LOSSES)
    for shift in (0, len(EXAMPLES) // 2)
]


@pytest.mark.thorough
@pytest.mark.parametrize(("loss", "example"), TWO_OF_EACH)
def test_every_loss_and_every_example_is_drawn(loss, example):
    found = seen(Data(example=example), loss)
    tree = drawn(found)
    shown = plain(picture(found).shown)
    if max(shown["rows"], shown["columns"]) <= 64:
        assert len(of_class(tree, "cell")) == shown["rows"] * shown["columns"]
    example = found.scenario.data.example  # of a loss on lists that of lists
    assert say("en", f"example.{example}.title") in " ".join(texts(tree))


@pytest.mark.thorough
def test_every_step_and_facet_can_be_drawn():
    for loss in ("cosent", "triplet", "hierarchical_cosent", "multitask_cosent"):
        found = seen(loss=loss)
        for step in range(len(found.trace.inputs) + len(found.trace.steps)):
            for facet in ("value", "mask", "weight", "gradient"):
                drawn(with_view(found, step=step, facet=facet))


def with_view(found, **view):
    scenario = dataclasses.replace(found.scenario, view=View(**view))
    return dataclasses.replace(found, scenario=scenario)


def test_the_masked_cells_are_hatched():
    found = seen()
    masked = ~(found.batch.labels[:, None] < found.batch.labels[None, :])
    tree = drawn(found)
    assert len(of_class(tree, "masked")) == int(masked.sum())
    assert sum(cell.get("fill") == "none" for cell in of_class(tree, "cell")) == int(masked.sum())
    assert "masked" in texts(tree)
    before = names_of(found).index("differences")
    assert not of_class(drawn(with_view(found, step=before)), "masked")  # no mask has acted yet


def names_of(found):
    return [step.name for step in (*found.trace.inputs, *found.trace.steps)]


def test_a_large_matrix_is_an_image_with_the_same_mask():
    found = seen(LARGE)
    shown = plain(picture(found).shown)
    tree = drawn(found)
    assert not of_class(tree, "cell")
    (cells,), (masked,) = of_class(tree, "cells"), of_class(tree, "masked")
    assert "pixelated" in cells.get("style")
    expected = np.frombuffer(base64.b64decode(shown["mask"]), np.uint8).reshape(80, 80) == 0
    np.testing.assert_array_equal(embedded(masked) == 255, expected)
    assert embedded(cells).shape == (80, 80, 4)
    np.testing.assert_array_equal(embedded(cells)[..., 3] == 0, expected)


def test_small_and_large_are_coloured_alike(monkeypatch):
    found = seen(order="score")
    cells = [cell.get("fill") for cell in of_class(drawn(found), "cell")]
    monkeypatch.setattr("explorer.export.figure.cells.MAX_RECTANGLES", 1)
    pixels = embedded(of_class(drawn(found), "cells")[0]).reshape(-1, 4).tolist()
    assert cells == ["#{:02x}{:02x}{:02x}".format(*p[:3]) if p[3] else "none" for p in pixels]


@pytest.mark.parametrize(("facet", "loss"), [("value", "cosent"), ("gradient", "circle")])
def test_the_legend_says_the_reach_of_both_signs(facet, loss):
    found = seen(loss=loss, facet=facet)
    step = found.trace.last("terms")
    values = step.value if facet == "value" else step.gradient
    values = values[values.isfinite()]
    legend = texts(drawn(found), "legend")
    reach = float(values.abs().max())
    assert legend == [display_number(reach, 3), "0", display_number(-reach, 3)]


def test_the_legend_of_a_step_of_one_sign_says_least_and_largest():
    found = seen(step=names_of(seen()).index("labels"))
    legend = texts(drawn(found), "legend")
    labels = found.batch.labels
    assert legend[0] == display_number(float(labels.max()), 3)
    assert legend[-1] == display_number(float(labels.min()), 3)


@pytest.mark.parametrize(("facet", "ends"), [("value", ["4", "0", "-4"]), ("weight", ["100%"])])
def test_values_have_the_colours_of_a_fixed_range(facet, ends):
    found = seen(step=names_of(seen()).index("differences"), facet=facet, colour_range=(-1, 4))
    assert [text.replace("−", "-") for text in texts(drawn(found), "legend")][: len(ends)] == ends


@pytest.mark.parametrize("scale", [1.0, 20.0, 500.0])
def test_weights_have_one_scale_from_0_to_1_at_every_parameter(scale):
    found = seen(facet="weight", parameters={"scale": scale})
    assert texts(drawn(found), "legend") == ["100%", "13%", "0%"]  # the middle is 0.5³


def test_a_weight_has_the_colour_of_its_cube_root():
    weights = np.array([[0.0, 0.001, 0.125, 1.0]])
    scale = Cells(LIGHT, weights, np.zeros((1, 4), bool), "sequential", 0, 1, "", root=3)
    plain = dataclasses.replace(scale, values=np.cbrt(weights), root=1)
    assert (scale.colours() == plain.colours()).all()
    assert [scale.value_at(part) for part in (0, 0.1, 0.5, 1)] == pytest.approx(weights[0])


@pytest.mark.parametrize("data", [SMALL, LARGE])
def test_nan_and_infinity_are_marked(data):
    found = seen(data, step=names_of(seen(data)).index("differences"))
    assert say("en", "legend.broken") not in texts(drawn(found))
    value = found.trace.last("differences").value
    value[0, 1], value[2, 3] = float("nan"), float("inf")
    tree = drawn(found)
    assert say("en", "legend.broken") in texts(tree)
    if data is SMALL:
        assert len(of_class(tree, "broken")) == 2 + 1  # and the one in the legend
        assert sum(c.get("fill") == LIGHT.broken for c in of_class(tree, "cell")) == 2
    else:
        pixels = embedded(of_class(tree, "cells")[0])[..., :3]
        broken = [int(LIGHT.broken[at : at + 2], 16) for at in (1, 3, 5)]
        assert int((pixels == broken).all(axis=2).sum()) == 2


def test_a_few_cells_carry_their_numbers():
    found = seen(Data(example="cosent_batch"), step=3)
    assert names_of(found)[3] == "differences"
    found.trace.last("differences").value[0, 1] = float("nan")
    assert texts(drawn(found), "broken") == ["NaN"]  # the word, and no cross over it
    tree = drawn(seen(Data(example="cosent_batch")))
    assert [message for message in texts(tree) if message in ("−12", "−14", "−16")].count(
        "−14"
    ) >= 2


def test_rows_are_named_by_sentences_when_few_and_ticked_when_many():
    few = texts(drawn(seen(Data(example="graded_english"))), "row-name")
    assert len(few) == 24
    assert all(" | " in name for name in few)
    assert not texts(drawn(seen(LARGE)), "row-name")
    ticks = texts(drawn(seen(LARGE)))
    assert {"0", "1", "2", "3", "4"} <= set(ticks)  # the labels they are sorted by


def test_one_number_is_written_large_with_its_reference_values():
    found = seen(step=6)  # the loss itself
    tree = drawn(found)
    assert texts(tree, "number") == [display_number(found.loss, 6)]
    assert not of_class(tree, "cell")
    marks = {
        kind: float(of_class(tree, kind)[0].get("x") or of_class(tree, kind)[0].get("cx"))
        for kind in ("floor", "collapse", "now")
    }
    values = {"floor": found.floor, "collapse": found.collapse, "now": found.loss}
    assert sorted(marks, key=marks.get) == sorted(values, key=values.get)
    assert display_number(found.collapse, 4) in texts(tree, "collapse")[0]
    assert texts(tree, "floor")[0].startswith("minimum ")
    assert f"minimum {display_number(found.floor)}" in " ".join(caption(found))
    # Where a sentence stands in several pairs it is called a bound.
    shared = seen(Data(example="worked_example"), step=6)
    assert texts(drawn(shared), "floor")[0].startswith("bound ")
    assert f"bound {display_number(shared.floor)}" in " ".join(caption(shared))
    # A number on the way has none.
    found = seen(loss="multitask_cosent")
    names = [step["name"] for step in plain(picture(found).steps)]
    tree = drawn(seen(loss="multitask_cosent", step=names.index("ranking")))
    assert texts(tree, "number")
    assert not of_class(tree, "now")


@pytest.mark.parametrize("loss", ["cosent", "info_nce", "siglip", "triplet"])
def test_a_figure_has_the_colours_of_its_quantity(loss):
    for place, step in enumerate(plain(picture(seen(loss=loss)).steps)):
        if len(step["shape"]) != 2 or max(step["shape"]) > 64:
            continue
        found = seen(loss=loss, step=place)
        shown = plain(picture(found).shown)
        legend = [number_of(text) for text in texts(drawn(found), "legend")]
        if shown["signed"]:
            assert legend[1] == 0
            assert legend[0] == -legend[2] > 0
        elif not shown["boolean"]:
            assert legend == sorted(legend, reverse=True)
            assert legend[2] >= 0


def number_of(text):
    return float(text.replace("−", "-"))


@pytest.mark.parametrize(
    ("loss", "gradient"),
    [("cosent", "score"), ("info_nce", "projected")],
)
def test_the_bars_are_called_what_they_are(loss, gradient):
    drawn = bars_figure(seen(loss=loss))
    title = say("en", f"ui.gradient_per_pair.{gradient}")
    assert f">{title}<" in drawn
    assert ("∂L/∂s" in drawn) == (loss == "cosent")


@pytest.mark.parametrize("order", ORDERS)
def test_bars_are_one_for_each_pair_and_as_long_as_the_gradient(order):
    found = seen(order=order)
    bars = of_class(drawn(found, bars_figure), "bar")
    labels, scores = found.batch.plain_labels, found.batch.plain_scores
    keys = {"entry": (scores * 0,), "label": (scores, labels), "score": (scores,)}[order]
    gradient = found.pair_gradient.numpy()[np.lexsort(keys)]
    heights = np.array([float(bar.get("height")) for bar in bars])
    np.testing.assert_allclose(
        heights / heights.max(), abs(gradient) / abs(gradient).max(), atol=1e-3
    )
    for bar, g in zip(bars, gradient, strict=True):
        assert bar.get("fill") == (LIGHT.up if g > 0 else LIGHT.down)


# What it says


def test_the_caption_says_loss_parameters_data_and_encoder():
    text = " ".join(texts(drawn(explore(Scenario(parameters=(("scale", 5.0),))))))
    assert "scale = 5" in text
    assert say("en", "example.graded_english.title") in text
    assert "all-MiniLM-L6-v2" in text
    found = explore(Scenario(data=SMALL, loss="info_nce", rules=Rules(threshold=3)))
    text = " ".join(texts(drawn(found)))
    assert "seed 7" in text
    assert "20 pairs" in text
    assert "temperature = 0.05" in text
    assert pattern_of("figure_text.positive_from", threshold=3).search(text)


@pytest.mark.parametrize("view", [{}, {"step": 0}])
def test_the_origin_takes_the_place_of_the_data_and_stays_text(view):
    exploration = seen(**view)
    text = " ".join(texts(drawn(exploration, origin="Run <b>7</b>, step 12")))
    usual = " ".join(texts(drawn(exploration)))
    assert "Run <b>7</b>, step 12" in text
    assert "pairs" in usual.rpartition("scale")[2]
    assert "pairs" not in text.rpartition("scale")[2]


def test_typed_and_uploaded_pairs_are_distinguished():
    rows = tuple((f"{place} one", f"{place} two", str(place % 3)) for place in range(5))
    typed = Data(source="table", rows=rows, encoder="all-MiniLM-L6-v2")
    read = dataclasses.replace(typed, file="mine <b>.csv")
    assert say("en", "figure_text.data_typed", count=5) in " ".join(texts(drawn(seen(typed))))
    assert "File: mine <b>.csv, 5 pairs" in " ".join(texts(drawn(seen(read))))


def test_pairs_keep_the_number_of_their_row():
    rows = (("a", "b", "1"), ("c", "", "2"), ("", "", ""), ("e", "f", "0"))
    assert pair_numbers(seen(Data(source="table", rows=rows))) == [1, 4]


HOSTILE = [
    "<script>alert(1)</script>",
    "]]> & <!-- </svg> \"quoted\" 'single'",
    "bell\a null\0 \ufffe \x1b[31m",
    "half \ud800 a character",
    "שלום \u202e olleh \u2069",
    "&lt;already&gt; &#x0;",
    "emoji 👩‍👩‍👧 " * 20,
    "很长的句子" * 100,
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_sentences_stay_text(language):
    found = seen()
    pairs = found.batch.pairs
    first = tuple(HOSTILE[i % len(HOSTILE)] + str(i) for i in range(len(pairs)))
    pairs = dataclasses.replace(pairs, first=first, second=first[::-1])
    found = dataclasses.replace(found, batch=dataclasses.replace(found.batch, pairs=pairs))
    for figure in (matrix_figure, bars_figure):
        text = figure(found, language=language, dark=True)
        text.encode("utf-8")  # no half characters
        tree = ElementTree.fromstring(text)
        kinds = {element.tag.removeprefix(SVG) for element in tree.iter()}
        assert not kinds & {"script", "foreignObject", "b"}
        assert not any(name.startswith("on") for e in tree.iter() for name in e.attrib)
        assert any("<script>" in message for message in texts(tree))
        assert "\u202e" not in text
        # Nothing from outside: the only address is the name of the format.
        assert set(re.findall(r"https?://[^\"\s]+", text)) == {"http://www.w3.org/2000/svg"}


def test_what_reads_from_right_to_left_moves_nothing_beside_it():
    rows = (("שלום \u202e עולם", "plain", "1"), ("other", "\u2069 مرحبا", "0"))
    names = texts(drawn(seen(Data(source="table", rows=rows), order="entry")), "row-name")
    assert names == ["\u2068שלום עולם\u2069 | plain", "other | \u2068مرحبا\u2069"]


def test_text_is_made_clean():
    assert clean("a\0b\x1fc\ufffe") == "abc"
    assert clean("a\n\t b") == "a b"
    assert clean("\ud800x") == "\ufffdx"
    assert clean("שלום") == "\u2068שלום\u2069"
    assert clean("a\u202eb\u2069") == "ab"


@pytest.mark.parametrize("text", ["wide words of a sentence " * 9, "句子" * 90, "שלום " * 90])
def test_clipped_text_fits(text):
    short = clipped(text, 100, 12)
    assert width_of(short, 12) <= 100
    assert short.strip("\u2068\u2069").endswith("…")
    assert clipped("short", 100, 12) == "short"


@pytest.mark.parametrize("colours", [2, 256])
def test_a_png_reads_back(colours):
    """Few colours are named by a byte; many stand in each pixel."""
    pixels = np.random.default_rng(1).integers(0, colours, (50, 70, 4), dtype=np.uint8)
    np.testing.assert_array_equal(pixels_of(png(pixels)), pixels)
    assert (Image.open(io.BytesIO(png(pixels))).mode == "P") == (colours == 2)
    grey = pixels[..., 0]
    np.testing.assert_array_equal(pixels_of(png(grey)), grey)


# Written to a file


def test_a_link_an_address_and_a_file_make_the_same_figure(tmp_path):
    scenario = Scenario(data=SMALL, loss="circle", view=View(facet="gradient"))
    link = scenario.to_link()
    stored = tmp_path / "scene.json"
    stored.write_text(json.dumps(scenario.to_json()), encoding="utf-8")
    copied = f"http://127.0.0.1:7860/?motion=off&scene={link}"  # as "Copy link" copies it
    sources = [scenario, link, f"http://127.0.0.1:7860/#{link}", copied, stored, str(stored)]
    written = [written_to(tmp_path / f"{at}.svg", one) for at, one in enumerate(sources)]
    assert set(written) == {with_fonts(matrix_figure(explore(scenario)))}
    assert read_scenario(sources[2]) == read_scenario(copied) == scenario
    bars = written_to(tmp_path / "b.svg", link, kind="bars", language="zh", dark=True)
    assert bars == with_fonts(bars_figure(explore(scenario), language="zh", dark=True))


def written_to(out, source, **options):
    assert write_figure(source, out, **options) == ""
    return out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "address",
    [
        *(
            "/",
            "http://127.0.0.1:7860",
            "http://127.0.0.1:7860/",
            "https://a-b.hf.space/?__theme=dark",
        ),
        "https://huggingface.co/spaces/somebody/losses",
    ],
)
def test_the_bare_address_of_explore_is_what_it_opens_with(address):
    assert read_scenario(address) == OPENING


def test_every_other_page_is_known():
    assert {path.partition("/")[0] for path, *_ in PAGES} == {"", *OTHER_PAGES}


def problem_of(*arguments, **options):
    with pytest.raises(Problem) as caught:
        write_figure(*arguments, **options)
    return caught.value.key


def test_what_cannot_be_written_is_reported(tmp_path):
    link = Scenario(data=SMALL).to_link()
    assert problem_of(link, tmp_path / "f.gif") == "problem.figure_format"
    assert problem_of(link, tmp_path / "f.svg", kind="pie") == "problem.figure_kind"
    assert problem_of(link, tmp_path / "no" / "f.svg") == "problem.figure_not_written"
    assert problem_of(link[: len(link) // 2], tmp_path / "f.svg") == "problem.link_damaged"
    assert problem_of(tmp_path / "no.json", tmp_path / "f.svg") == "problem.file_unreadable"
    assert problem_of(tmp_path / "no", tmp_path / "f.svg") == "problem.link_damaged"
    compared = f"http://127.0.0.1:7860/compare#1=cosent&2=info_nce&scene={link}"
    assert problem_of(compared, tmp_path / "f.svg") == "problem.figure_page"
    assert problem_of("/learn/nothing", tmp_path / "f.svg") == "problem.figure_page"
    for page in OTHER_PAGES:
        below = f"https://example.org/losses/{page}/more"
        assert problem_of(below, tmp_path / "f.svg") == "problem.figure_page"
    broken = tmp_path / "broken.json"
    broken.write_text("{not json", encoding="utf-8")
    assert problem_of(broken, tmp_path / "f.svg") == "problem.scenario_file"
    broken.write_text("[" * 100_000, encoding="utf-8")  # nested too deeply
    assert problem_of(broken, tmp_path / "f.svg") == "problem.scenario_file"
    broken.write_text(" " * (SCENARIO_BYTES + 1), encoding="utf-8")
    reason = f"> {grouped(SCENARIO_BYTES)} bytes"
    with raises_problem("scenario_file", name="broken.json", reason=reason):
        write_figure(broken, tmp_path / "f.svg")
    assert not list(tmp_path.glob("*.svg"))
