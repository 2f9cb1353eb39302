// For a projector: everything larger, the sidebar folded away into a drawer. Alt+P or the button
// goes in and out, Esc out; the browser remembers it. Answers the button for the head of a page.
import { h, reword, worded } from "./dom.js";
import { store, stored } from "./storage.js";

/** @param {import("./page_topics_notices_and_jobs.js").PageEvents} page */
export function presentationButton(page) {
  const { body } = document;
  const inside = () => body.classList.contains("lp-presenting");
  const drawn = () => body.classList.contains("lp-drawer");

  /** @param {boolean} on */
  function present(on) {
    body.classList.toggle("lp-presenting", on);
    body.classList.remove("lp-drawer");
    store("presenting", on ? "yes" : "no");
    say();
  }

  /** @param {boolean} open */
  function pull(open) {
    body.classList.toggle("lp-drawer", open);
    if (open) page.publish("drawer");
    say();
  }

  const button = h(
    "button.lp-quiet",
    { id: "lp-present", "data-title": "ui.present", onclick: () => present(!inside()) },
    "⤢",
  );
  const drawer = h(
    "button.lp-button",
    { id: "lp-drawer", "data-title": "ui.drawer", onclick: () => pull(!drawn()) },
    "☰",
  );
  const leave = worded("button.lp-button", "ui.leave_presentation", { id: "lp-leave", onclick: () => present(false) });
  const bar = h("div.lp.lp-present-bar", drawer, leave);
  body.append(bar);

  function say() {
    button.setAttribute("aria-pressed", String(inside()));
    drawer.setAttribute("aria-expanded", String(drawn()));
  }

  window.addEventListener("keydown", (event) => {
    if (event.altKey && event.code === "KeyP" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      present(!inside());
    } else if (event.key === "Escape" && !event.defaultPrevented && (inside() || drawn())) {
      if (drawn()) pull(false);
      else present(false);
    }
  });
  page.on("language", () => reword(bar));
  // Pages lead to their controls, and from these back to the picture.
  page.on("open_controls", () => pull(drawer.checkVisibility()));
  page.on("close_controls", () => pull(false));
  present(stored("presenting") === "yes");
  return button;
}
