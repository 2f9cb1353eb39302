"""Losses of the Large batch page: their numbers, their limits, work under way."""

from __future__ import annotations

import dataclasses
import re

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.lab.large.batch import drawn as drawn_batch
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.locale import grouped, say
from lossprism.explorer.web.pages.large.request_handlers import FIRST_BATCH
from lossprism.losses import LOSSES
from tests.browser.large.steering import (
    PAGE,
    PROBLEM,
    UNDERWAY,
    centre,
    colours,
    figure,
    led,
    redrawn,
    window,
)
from tests.browser.reading import number
from tests.browser.serving import Server
from tests.sentences import pattern_of, wording

pytestmark = pytest.mark.browser


def test_both_directions_are_offered_and_kept_in_the_address(large: Page) -> None:
    page = led(large, "loss=info_nce&pairs=400")
    one_way = figure(page, "loss")
    with redrawn(page):
        page.locator("input[data-parameter=symmetric]").check()
    assert figure(page, "loss") != one_way
    expect(page.locator("#large-large_map")).to_contain_text(say("en", "large.both_directions"))
    page.wait_for_function("location.hash.includes('p.symmetric=true')")
    both_ways, kept = figure(page, "loss"), page.evaluate("location.hash")
    led(page, "loss=info_nce&pairs=400")
    assert not page.locator("input[data-parameter=symmetric]").is_checked()
    led(page, kept)
    assert figure(page, "loss") == both_ways
    assert page.locator("input[data-parameter=symmetric]").is_checked()


def test_requests_after_the_map_are_reported_as_pending(large: Page) -> None:
    large.evaluate(
        f"""() => {{
          const {{ server }} = {PAGE}, {{ details }} = server;
          const held = new Promise((done) => {{ window.letGo = done; }});
          server.details = async (request) => {{ await held; return details(request); }};
        }}"""
    )
    with redrawn(large):
        large.select_option("#lp-large-loss", "weighted_cosent")
    effective = large.locator("#lp-large-figure-effective")
    expect(effective).to_contain_text(say("en", "large.computing"))
    expect(large.locator(".lp-search")).to_contain_text(say("en", "large.doing.gradient"))
    large.evaluate("letGo()")
    expect(effective).to_contain_text("of 4\u202f166\u202f649\u202f072")
    expect(large.locator(".lp-search")).to_contain_text("100\u202f000 pairs")
    expect(large.locator("body")).not_to_have_class(re.compile("lp-learning"))


def test_work_on_other_data_is_stopped(new_page, server: Server) -> None:
    page = new_page()
    page.goto(f"{server.address}/large#loss=nt_xent&pairs=16384&dimension=256")
    expect(page.locator(UNDERWAY)).to_contain_text(re.compile(r"[1-9][\d,]* of"))
    expect(page.locator("#lp-large")).to_be_hidden()  # there is nothing to see yet
    page.evaluate(
        f"""() => {{
          const {{ server }} = {PAGE}, {{ stop }} = server;
          server.stop = (request) => {{ window.stopped = request.loss; return stop(request); }};
        }}"""
    )
    page.select_option("#lp-large-loss", "cosent")
    page.wait_for_function(f"{PAGE}.answered?.loss === 'cosent'")
    assert page.evaluate("window.stopped") == "nt_xent"
    expect(page.locator("#lp-large")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_first_work_is_stopped_by_a_hand(
    new_page, server: Server, width: int, height: int
) -> None:
    """Before there is an answer, too: nothing covers the button, and it is on the first screen."""
    page = new_page(width=width, height=height)
    page.goto(f"{server.address}/large#loss=nt_xent&pairs=16384&dimension=256")
    expect(page.locator("#lp-stop")).to_be_in_viewport(ratio=1)
    page.click("#lp-stop")
    expect(page.locator(PROBLEM)).to_contain_text("Stopped")


def test_what_another_visitor_stops_goes_on(large: Page) -> None:
    large.evaluate(
        f"""() => {{
          const {{ server }} = {PAGE}, {{ blocks }} = server;
          server.blocks = async () => {{
            server.blocks = blocks;
            const error = {{ key: "problem.large_cancelled", about: "cancelled", values: {{}} }};
            return {{ error }};
          }};
        }}"""
    )
    with redrawn(large):
        large.select_option("#lp-large-loss", "pairwise_hinge")
    expect(large.locator(PROBLEM)).to_be_hidden()
    assert large.evaluate(f"{PAGE}.answered.loss") == "pairwise_hinge"


def test_angle_scores_come_from_vectors(large: Page) -> None:
    large.select_option("#lp-large-loss", "angle")
    expect(large.locator(PROBLEM)).to_contain_text("65\u202f536")
    with redrawn(large):
        large.locator(f"{PROBLEM} button").click()  # as many as it takes
    assert large.evaluate(f"{PAGE}.answer.figures.pairs") == 2**16
    settings = dataclasses.replace(FIRST_BATCH, pairs=2**16)
    truth = open_batch(drawn_batch(settings, "angles"), "angle", checked("angle", {}), print)
    assert number(figure(large, "loss")) == pytest.approx(truth.loss, rel=1e-5)


def test_more_pairs_than_can_be_compared_one_with_one(large: Page) -> None:
    page = led(large, "loss=pairwise_logistic&pairs=40000")
    expect(page.locator("#large-large_map")).to_contain_text(wording("large.blocks_note_near"))
    with redrawn(page):
        page.mouse.click(*centre(page, 10, 200))
    assert window(page) is not None
    page.locator(".lp-lever input.lp-number").fill("400")
    expect(page.locator(PROBLEM)).to_contain_text("at most 1")


def test_every_loss_is_there_or_has_its_reason(large: Page) -> None:
    offered = set(large.evaluate("Object.keys(lossprism.pageData.large.losses)"))
    missing = set(LOSSES) - offered
    text = large.locator("#large-large_controls").inner_text()
    explained = ("hierarchical_cosent", "multitask_cosent", "max_violation")
    words = {name: say("en", f"large.not_here.{name}") for name in explained}
    assert set(words) < missing
    titles = {name: say("en", f"loss.{name}.title") for name in missing - set(words)}
    assert all(word in text for word in {**words, **titles}.values())
    alone = next(
        line for line in text.splitlines() if pattern_of("large.not_here.single").search(line)
    )
    judged = {name for name, title in titles.items() if title in alone}
    assert judged == {"cosine_mse", "binary_cross_entropy", "contrastive"}


def test_a_loss_that_takes_fewer_pairs_says_so_and_helps(large: Page) -> None:
    large.select_option("#lp-large-loss", "info_nce")
    expect(large.locator(PROBLEM)).to_contain_text("16\u202f384")
    # What is still in view is another loss's, and says so.
    expect(large.locator(PROBLEM)).to_contain_text("still shows CoSENT with 100\u202f000 pairs")
    expect(large.locator("body")).to_have_class(re.compile("lp-stale"))
    large.locator("input[data-parameter=random-pairs] >> xpath=.. >> input.lp-number").fill("500")
    expect(large.locator(PROBLEM)).to_be_hidden()
    large.wait_for_function(f"{PAGE}.answer.rows.name === 'query'")
    expect(large.locator("body")).not_to_have_class(re.compile("lp-stale"))
    assert colours(large) > 50
    expect(large.locator("#lp-large-figure-violated")).to_contain_text(
        say("en", "figure.first_key")
    )
    expect(large.locator("input[data-parameter=symmetric]")).to_have_attribute("type", "checkbox")


def test_a_hinge_on_very_many_pairs(large: Page) -> None:
    with redrawn(large):
        large.select_option("#lp-large-loss", "pairwise_hinge")
    truth = open_batch(
        drawn_batch(FIRST_BATCH), "pairwise_hinge", checked("pairwise_hinge", {}), lambda *_: None
    )
    large.wait_for_function(f"{PAGE}.details && !{PAGE}.isStale && !{PAGE}.working")
    assert number(figure(large, "loss")) == pytest.approx(truth.loss, rel=1e-4)
    assert number(figure(large, "gradient")) == pytest.approx(truth.gradient_norm, rel=1e-2)
    # Of the effective terms bounds are known: their distance is shown.
    expect(large.locator("#lp-large-figure-effective")).to_contain_text("±")
    # A window of very many pairs is widened to whole blocks, and says which it shows.
    with redrawn(large):
        large.evaluate(f"{PAGE}.zoom([1001, 83335, 13334, 100000])")
    seen = window(large)
    assert seen == large.evaluate(f"{PAGE}.answer.window")
    assert seen != [1001, 83_335, 13_334, 100_000]
    assert 0 <= 1001 - seen[0] < 128
    assert 0 <= seen[1] - 83_335 < 128
    expect(large.locator(".lp-crumbs b")).to_contain_text(
        f"rows {grouped(seen[0] + 1)}–{grouped(seen[1])}"
    )
    assert number(figure(large, "loss")) == pytest.approx(truth.loss, rel=1e-4)
