// The head of every page: its name, the other pages, the link, looks and language.
import { isEmbedded, readerAddress } from "./browser_history.js";
import { askConfirmation } from "./confirmation_dialog.js";
import { find, h, walkableLine, worded } from "./dom.js";
import { pageData } from "./page_data.js";
import { presentationButton } from "./presentation_mode.js";
import { GONE } from "./request_scheduling.js";
import { store } from "./storage.js";
import { isDark, setTheme } from "./theme.js";
import { language, languages, say, speak } from "./translated_sentences.js";

/**
 * @param {HTMLElement} root
 * @param {import("./page_topics_notices_and_jobs.js").PageEvents} page
 * @param {import("./types").Asking<Pick<import("../wire").ExploreServer, "forget">>} server
 */
export default function header(root, page, server) {
  const { pages, hosted } = pageData;
  const names = languages();
  const codes = Object.keys(names);
  const nextLanguage = () => codes[(codes.indexOf(language()) + 1) % codes.length];

  const languageButton = h("button.lp-quiet", {
    id: "lp-language",
    onclick: async () => {
      if (!(await speak(nextLanguage()))) page.warn(GONE);
    },
  });
  const themeButton = h(
    "button.lp-quiet",
    { id: "lp-theme", "data-title": "ui.theme", onclick: () => setTheme(!isDark()) },
    "◐",
  );
  // Every page is served below the same address; one below another is reached from that one.
  const here = pages.find(({ key }) => key === `page.${document.body.dataset.folder}`) ?? pages[0];
  const top = pages.filter(({ path }) => !path.includes("/"));
  const up = new URL(document.baseURI).pathname;
  const links = top.map(({ path, key }) =>
    worded("a", key, {
      href: up + path + location.search,
      "aria-current": path === here.path.split("/")[0] ? "page" : null,
    }),
  );
  document.body.classList.toggle("lp-embedded", isEmbedded());

  /** @param {string} link */
  const linkOf = (link) =>
    readerAddress(link, {
      href: location.href,
      space: hosted?.space,
      isFirst: !here.path,
      isFramed: window.parent !== window,
      isPublic: page.isPublic(),
    });

  const kept = hosted && h("p.lp-note.lp-shared", h("span"), " ", forgetButton(page, server));

  // On the way to another page the scenario of Explore is left where that page can find it.
  if (!here.path) {
    const keep = () => store("scene", location.hash.slice(1));
    for (const link of links) link.addEventListener("click", keep);
    // Compare begins with the batch that is here.
    const compare = links[top.findIndex(({ path }) => path === "compare")];
    compare?.addEventListener("click", () => {
      const link = page.comparedLink();
      compare.href = `${up}compare${location.search}${link && `#${link}`}`;
    });
  }

  const tools = [copyButton(page, linkOf), presentationButton(page), themeButton, languageButton];
  walkableLine(tools);
  root.append(
    skipLink(),
    h(
      "nav",
      { "data-title": "ui.pages" },
      h(
        "div.lp-brand",
        h("b", "LossPrism"),
        h("small", pageData.version),
        h("span.lp-fill"),
        h("div.lp-header-tools", { role: "toolbar" }, tools),
      ),
      h("div.lp-pages", { hidden: top.length < 2 }, links),
    ),
    ...(kept ? [kept] : []),
  );
  const words = () => {
    languageButton.textContent = names[nextLanguage()];
    if (kept && hosted) find(kept, "span").textContent = say("ui.kept", { uploads: hosted.uploads, runs: hosted.runs });
  };
  page.on("language", words);
  words();
}

/** Leads a keyboard past navigation and figures to the picture of the page, or to its content where it has none. */
const skipLink = () =>
  worded("a.lp-skip", "ui.skip", {
    href: "#lp-main",
    onclick: (/** @type {Event} */ event) => {
      event.preventDefault(); // what follows the "#" of an address is the scenario
      const main = find(document.body, "#lp-main");
      main.tabIndex = -1;
      const picture = main.querySelector(".lp-stage canvas");
      const target = picture instanceof HTMLElement && picture.checkVisibility() ? picture : main;
      target.focus();
    },
  });

/**
 * Copies the address of what is open; its words say for a moment that they did.
 * @type {(page: import("./page_topics_notices_and_jobs.js").PageEvents, linkOf: (scene: string) => string) => HTMLButtonElement}
 */
function copyButton(page, linkOf) {
  const button = worded("button.lp-quiet", "ui.copy_link", {
    onclick: async () => {
      if (page.tooLong) {
        page.warn({ key: "ui.link_too_long", values: {} });
        return;
      }
      const readable = await page.readableLink();
      if (readable === null) return;
      try {
        await navigator.clipboard.writeText(linkOf(readable));
      } catch {
        page.warn({ key: "ui.copy_refused", values: { address: linkOf(readable) } });
        return;
      }
      if (page.leavesOut) page.warn({ key: "ui.link_without_secrets", values: {} });
      button.textContent = say("ui.copied");
      setTimeout(() => {
        button.textContent = say("ui.copy_link");
      }, 1500);
    },
  });
  return button;
}

/**
 * Removes what a hosted page keeps of this visitor, once they agree.
 * @param {import("./page_topics_notices_and_jobs.js").PageEvents} page
 * @param {import("./types").Asking<Pick<import("../wire").ExploreServer, "forget">>} server
 */
const forgetButton = (page, server) =>
  worded("button.lp-crumb", "ui.forget_mine", {
    id: "lp-forget",
    onclick: async () => {
      if (!(await askConfirmation("ui.forget_sure", {}, "ui.forget_mine"))) return;
      const answer = await server.forget({});
      if (answer.error) page.warn(answer.error);
      else location.assign(location.href.split("#")[0]);
    },
  });
