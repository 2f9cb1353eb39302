"""What is chosen in the sidebar: kept, led to, refused where it can be put right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, Route, expect

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.locale import say, spelled, title_word
from lossprism.losses import LOSSES
from lossprism.losses.combined.combined_loss_names import RECIPES
from tests.browser.finetune.steering import (
    ASKED,
    PAGE,
    UNFOLD,
    begin,
    known_again,
    pairs_file,
    plan,
    wait_for,
)
from tests.sentences import wording

pytestmark = pytest.mark.browser


# Every field of the sidebar by its place, what it holds, and the words around the files.
FORM = """() => ({
  fields: Array.from(document.querySelectorAll(
    ".lp-finetune_controls :is(select, input:not([type=file]))")).map((one) => [
      one.id || one.name || one.dataset.parameter || one.ariaLabel,
      one.type === "checkbox" ? one.checked : one.value,
      Boolean(one.closest("[hidden]"))]),
  chosen: Array.from(document.querySelectorAll(".lp-kept-name"), (one) => [
    one.textContent, one.ariaPressed]),
  tabs: Array.from(document.querySelectorAll(
    ".lp-finetune_controls [role=tab]"), (one) => one.ariaSelected),
  start: document.querySelector("#lp-finetune-start").textContent,
})"""


def fill_in(page: Page) -> None:
    """Choose something else than usual in every field."""
    page.evaluate(UNFOLD)
    side = page.locator(".lp-finetune_controls")
    page.select_option("#lp-finetune-example", index=2)
    page.locator(".lp-finetune_controls .lp-slider .lp-number").first.fill("0.35")
    page.click("#lp-finetune-source-hub")
    page.fill("#lp-finetune-hub", "someone/pairs")
    page.fill("#lp-finetune-split", "test")
    page.click("#lp-finetune-source-link")
    page.fill("#lp-finetune-link", "http://here/#1.abc")
    page.click("#lp-finetune-source-file")
    page.set_input_files("#lp-finetune-file", pairs_file("a,b,c,d,other", 40))
    for role, column in {"first": "b", "second": "c", "score": "d"}.items():
        side.locator(f"select[name={role}]").select_option(column)
        expect(side.locator(f"select[name={role}]")).to_have_value(column)
    expect(side).to_contain_text(wording("ui.file_read", name="40.csv", used=40, total=40))
    side.locator("input[name=other]").check()
    page.set_input_files("#lp-finetune-held_out_file", pairs_file("a,b,c,d,other", 20))
    expect(side).to_contain_text(wording("ui.file_read", name="20.csv", used=20, total=20))
    page.evaluate(UNFOLD)
    page.select_option("#lp-finetune-loss", "triplet")
    for choice in side.locator("select[data-parameter]").all():
        choice.select_option(index=1)
    page.locator(".lp-parameters .lp-number").first.fill("0.7")
    page.locator(".lp-parameters .lp-number").first.press("Enter")
    page.select_option("#lp-finetune-another", "info_nce")
    page.select_option("#lp-finetune-another", "cosent")
    page.locator(".lp-kept-name").nth(1).click()
    page.fill("#lp-finetune-seeds", "3")
    for name, value in {
        "epochs": "2", "steps": "7", "batch_size": "9", "learning_rate": "0.003", "warmup": "0.2",
        "weight_decay": "0.5", "clipping": "3", "evaluations": "4", "seed": "11",
        "layers": "1", "lora": "2", "threshold": "1.5", "label-low": "0.5", "label-high": "4",
    }.items():  # fmt: skip
        page.fill(f"#lp-finetune-{name}", value)
    page.select_option("#lp-finetune-twins", "keep")
    page.select_option("#lp-finetune-sampler", "in_order")
    page.select_option("#lp-finetune-schedule", "cosine")
    for box in page.locator(".lp-finetune_controls section > label > input[type=checkbox]").all():
        box.set_checked(not box.is_checked())
    page.fill("#lp-finetune-query_prompt", "query: ")
    page.fill("#lp-finetune-document_prompt", "passage: ")
    page.select_option("#lp-finetune-encoder", "other")
    # Typed, and not yet left.
    page.locator("#lp-finetune-encoder-name").press_sequentially("someone/model")


def test_what_was_chosen_outlives_the_language_a_reload_and_another_page(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    usual = page.evaluate(FORM)
    fill_in(page)
    chosen = page.evaluate(FORM)
    assert chosen["chosen"] == [
        ["Triplet · mining = semi-hard · distance = squared Euclidean · margin = 0.7", "false"],
        ["InfoNCE", "true"],
        ["CoSENT", "false"],
    ]
    before = {name: value for name, value, _ in usual["fields"]}
    same = {name for name, value, _ in chosen["fields"] if value == before.get(name)}
    # The ones to add from, the box that finds one by its name, the convention, which is InfoNCE's
    # own, and what that may be made of.
    shown = ("another", "loss-name", "combine-add", "combine-0-prefixes", "convention")
    assert same == {f"lp-finetune-{name}" for name in shown}
    known = f"{PAGE}.checked && document.querySelector('input[name=other]')"
    page.reload()
    page.wait_for_function(f"window.lossprism && {known}")
    assert page.evaluate(FORM) == chosen
    expect(page.locator(".lp-finetune_controls")).to_contain_text(
        wording("ui.file_read", name="40.csv", used=40, total=40)
    )
    expect(page.locator(".lp-finetune_controls")).to_contain_text(
        wording("ui.file_read", name="20.csv", used=20, total=20)
    )
    page.click(".lp-pages a >> text=Doctor")
    page.wait_for_selector("#lp-doctor-value")
    page.click(".lp-pages a >> text=Fine-tune")
    page.wait_for_function(f"window.lossprism && {known}")
    assert page.evaluate(FORM) == chosen
    page.click("#lp-language")
    expect(page.locator("#lp-language")).to_have_text("English")
    expect(page.locator(".lp-finetune_controls")).to_contain_text("40.csv")
    spoken = page.evaluate(FORM)
    assert [one[1:] for one in spoken["fields"]] == [one[1:] for one in chosen["fields"]]
    assert spoken["tabs"] == chosen["tabs"]
    # What it is called follows the language.
    names = [name for name, _ in spoken["chosen"]]
    assert names[0].startswith(say("zh", "loss.triplet.title"))
    listed = page.locator("#lp-finetune-loss option").all_inner_texts()
    titles = {spelled("zh", "loss", title_word(LOSSES[name])) for name in (*LOSSES, *RECIPES)}
    assert set(listed) == titles
    page.click("#lp-language")
    expect(page.locator("#lp-language")).to_have_text("中文")
    assert page.evaluate(FORM) == chosen
    # The file that was held out can be left out again.
    page.get_by_role("button", name=wording("finetune.leave_file")).click()
    expect(page.locator(".lp-finetune_controls")).not_to_contain_text("20.csv")
    assert page.evaluate(f"{PAGE}.plan.data.held_out_file") == ""


def test_losses_are_put_together_and_stay_so(finetune: Page) -> None:
    page = finetune
    plan(page, loss="cosent", parameters={"scale": 5})
    page.evaluate(UNFOLD)
    page.select_option("#lp-finetune-combine-add", "angle")
    together = page.locator("#lp-finetune-loss")
    expect(together).to_have_value("cosent+angle")
    # What was chosen for the loss is chosen for it in the sum; each part has its own.
    side = page.locator(".lp-finetune_controls")
    numbers = side.locator(".lp-parameters input[type=range]")
    named = numbers.evaluate_all("all => all.map((one) => one.dataset.parameter)")
    weights = ["weight_of_cosent", "weight_of_angle"]
    assert sorted(named) == sorted([*weights, "scale_of_cosent", "scale_of_angle"])
    assert page.evaluate(f"{PAGE}.plan.parameters") == {"scale_of_cosent": 5}
    expect(page.locator(".lp-start-box")).to_contain_text("CoSENT + AnglE · scale · CoSENT = 5")
    side.locator("#lp-finetune-combine-0-prefixes").check()
    expect(together).to_have_value("matryoshka(cosent)+angle")
    page.wait_for_function(f"{PAGE}.checked?.steps")
    expect(side.locator(".lp-wrong:visible")).to_have_count(0)
    # The page that comes back has never heard of the sum.
    page.reload()
    known_again(page)
    expect(together).to_have_value("matryoshka(cosent)+angle")
    expect(side.locator("#lp-finetune-combine .lp-part")).to_have_count(2)
    expect(page.locator(".lp-start-box")).to_contain_text("CoSENT on prefixes + AnglE")
    # What a queue keeps is no part of the batch of another loss on the same logits, which is
    # reported.
    plan(page, loss="info_nce", parameters={})
    page.evaluate(UNFOLD)
    side.locator("#lp-finetune-combine-0-queue").check()
    expect(together).to_have_value("queue(info_nce)")
    page.select_option("#lp-finetune-combine-add", "decoupled")
    expect(together).to_have_value("queue(info_nce)+decoupled")
    expect(side.locator(".lp-wrong:visible").first).to_contain_text(
        wording("problem.training_sum_apart")
    )
    side.locator("#lp-finetune-combine .lp-part button").last.click()
    expect(together).to_have_value("queue(info_nce)")
    expect(side.locator(".lp-wrong:visible")).to_have_count(0)


def test_someone_with_pairs_of_their_own_is_led_from_the_invitation_to_the_start(
    finetune: Page,
) -> None:
    page = finetune
    page.set_viewport_size({"width": 390, "height": 900})
    page.click("#lp-finetune-own")
    expect(page.locator("#lp-finetune-source-file")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#lp-finetune-source-panel .lp-drop").first).to_be_focused()
    page.set_input_files("#lp-finetune-file", pairs_file("id,one,two,points,other", 40))
    panel = page.locator("#lp-finetune-source-panel")
    expect(panel.locator(".lp-wrong:visible")).to_contain_text(
        wording("problem.columns_not_recognised")
    )
    for role, column in {"first": "one", "second": "two", "score": "points"}.items():
        panel.locator(f"select[name={role}]").select_option(column)
    expect(panel).to_contain_text(wording("ui.file_read", name="40.csv", used=40, total=40))
    expect(panel.locator(".lp-wrong:visible")).to_have_count(0)
    # Epochs that are typed count: the steps that stood there no longer do.
    page.evaluate(UNFOLD)
    page.fill("#lp-finetune-epochs", "2")
    expect(page.locator("#lp-finetune-steps")).to_have_value("0")
    expect(page.locator(".lp-start-box")).to_contain_text(
        wording("finetune.steps_of", steps=4, batch=16, epochs=2)
    )


def test_each_sentence_stands_where_it_can_be_put_right(finetune: Page, tmp_path: Path) -> None:
    page = finetune
    page.evaluate(UNFOLD)
    # An impossible combination.
    plan(page, encoder="all-MiniLM-L6-v2", kind="cross", loss="info_nce")
    message = page.locator(
        ".lp-finetune_controls .lp-wrong", has_text=wording("problem.training_needs_vectors")
    )
    expect(message).to_have_count(2)  # at the loss, and at the button
    page.click("#lp-finetune-start")
    expect(message).to_have_count(2)
    expect(page.locator("#lp-finetune-quick")).to_be_visible()
    # Which losses can, and why the others cannot.
    able = page.locator("#lp-finetune-loss optgroup:not([label^=Cannot]) option")
    assert "cosent" in able.evaluate_all("all => all.map((one) => one.value)")
    assert "info_nce" not in able.evaluate_all("all => all.map((one) => one.value)")
    # What was chosen is still chosen after a reload.
    page.reload()
    known_again(page)
    expect(page.locator("#lp-finetune-loss")).to_have_value("info_nce")
    # What is missing, and what cannot be.
    plan(page, kind="bi", loss="cosent")
    wrong = page.locator(".lp-finetune_controls .lp-wrong:visible")
    encoder = page.locator("section", has=page.locator("#lp-finetune-encoder"))
    page.select_option("#lp-finetune-encoder", "other")
    expect(encoder.locator(".lp-wrong:visible")).to_contain_text(
        wording("problem.training_no_encoder")
    )
    page.select_option("#lp-finetune-encoder", "scratch")
    expect(wrong).to_have_count(0)
    page.evaluate(UNFOLD)
    page.click("#lp-finetune-kind-cross")
    expect(encoder.locator(".lp-wrong:visible")).to_contain_text(
        wording("problem.training_scratch_cross")
    )
    page.evaluate(UNFOLD)
    page.fill("#lp-finetune-batch_size", "1")
    expect(page.locator(".lp-finetune_controls")).to_contain_text("Accepted: 2 to 4096")
    page.locator("#lp-finetune-batch_size").blur()
    expect(page.locator("#lp-finetune-batch_size")).to_have_value("16")
    # A folder that is no encoder.
    page.click("#lp-finetune-kind-bi")
    page.select_option("#lp-finetune-encoder", "other")
    page.fill("#lp-finetune-encoder-name", str(tmp_path))
    page.keyboard.press("Tab")
    no_model = wording("problem.encoder_no_model", encoder=str(tmp_path))
    expect(encoder.locator(".lp-wrong:visible")).to_contain_text(no_model)
    page.click("#lp-finetune-start")
    expect(page.locator(".lp-start-box .lp-wrong:visible")).to_contain_text(no_model)
    expect(page.locator("#lp-finetune-quick")).to_be_visible()
    # One that looks like an encoder is found out when it is loaded.
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    begin(page, encoder=str(tmp_path))
    wait_for(page, "failed")
    element = page.locator(".lp-finetune_run .lp-problem:visible")
    expect(element).to_contain_text("could not be loaded as a sentence encoder")
    page.click("#lp-language")
    expect(element).to_contain_text(say("zh", "model.bi"))


def test_data_that_cannot_be_used_is_named(finetune: Page) -> None:
    page = finetune
    page.click("#lp-finetune-source-file")
    data = page.locator("section", has=page.locator("#lp-finetune-source-file"))
    wrong = data.locator(".lp-wrong:visible")
    # Nothing is wrong before the button is tried.
    expect(page.locator("#lp-finetune-time")).to_have_text(wording("problem.training_no_file"))
    expect(page.locator(".lp-wrong:visible")).to_have_count(0)
    page.click("#lp-finetune-start")
    refusal = page.locator(".lp-start-box .lp-wrong:visible")
    expect(refusal).to_have_text(wording("problem.training_no_file"))
    rows = "sentence1,sentence2,score\nA,B,1\nC,D,0\n"
    page.set_input_files(
        "#lp-finetune-file",
        {"name": "two.csv", "mimeType": "text/csv", "buffer": rows.encode()},
    )
    expect(wrong).to_contain_text(wording("problem.training_too_few", least=8))
    rows += "".join(f"This is {i},That is {i},{i % 3}\n" for i in range(40))
    page.set_input_files(
        "#lp-finetune-file",
        {"name": "more.csv", "mimeType": "text/csv", "buffer": rows.encode()},
    )
    expect(wrong).to_have_count(0)
    expect(page.locator(".lp-finetune_controls")).to_contain_text(
        wording("finetune.found", train=34)
    )
    # Another file of the computer cannot be named in its place.
    answer = page.evaluate(
        f"{PAGE}.server.check({{ plan: {{ ...{PAGE}.plan, "
        f"data: {{ ...{PAGE}.plan.data, file: '/etc/passwd' }} }} }})"
    )
    assert answer["error"]["key"] == "problem.scenario_entry"


def test_a_file_read_late_never_takes_the_place_of_a_newer_one(finetune: Page) -> None:
    page = finetune
    held: list[Route] = []

    def hands_in(requested: Request) -> bool:
        return requested.url.endswith("/hand_in")

    def hold_the_first(route: Route) -> None:
        if hands_in(route.request) and not held:
            held.append(route)
        else:
            route.continue_()

    def choose(name: str, count: int) -> None:
        rows = "".join(f"This is {i},That is {i},{i % 3}\n" for i in range(count))
        content = f"sentence1,sentence2,score\n{rows}".encode()
        file = {"name": name, "mimeType": "text/csv", "buffer": content}
        with page.expect_request(hands_in):
            page.set_input_files("#lp-finetune-file", file)

    page.route(ASKED, hold_the_first)
    page.click("#lp-finetune-source-file")
    choose("old.csv", 30)
    choose("new.csv", 40)
    page.wait_for_function(f"{PAGE}.plan.data.name === 'new.csv'")
    with page.expect_response(lambda answer: answer.request == held[0].request):
        held[0].continue_()
    page.wait_for_function(f"{PAGE}.checked?.train === 32")
    assert page.evaluate(f"{PAGE}.plan.data.name") == "new.csv"
    page.unroute_all()
    # A scenario of Explore lends its loss, too.
    rows = tuple((f"a cat {i}", f"a dog {i}", str(i % 6)) for i in range(30))
    scenario = Scenario(data=Data(source="table", rows=rows), parameters=(("scale", 35.0),))
    page.click("#lp-finetune-source-link")
    page.fill("#lp-finetune-link", scenario.to_link())
    page.press("#lp-finetune-link", "Tab")
    take = page.locator("#lp-finetune-take-scene")
    expect(take).to_contain_text("CoSENT · scale = 35")
    take.click()
    expect(take).to_be_hidden()
    expect(page.locator(".lp-parameters .lp-number")).to_have_value("35")
    expect(page.locator(".lp-start-box")).to_contain_text("scale = 35")
    expect(page.locator("#lp-finetune-link")).to_have_value(scenario.to_link())
