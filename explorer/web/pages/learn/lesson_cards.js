// All lessons as cards: a question, a picture of what it is about, how long it takes.
import { Fold } from "../../kit/components.js";
import { pageData } from "../../kit/page_data.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { learnedLessons } from "./state.js";
import { Thumbnail } from "./thumbnail.js";

/** @param {{ page: import("./state.js").LearnPage }} properties */
export function LessonCards({ page }) {
  const { lessons } = pageData.learn;
  const done = learnedLessons();
  return h(
    "div.lp-landing",
    h("h1", say("learn.heading")),
    h("p.lp-lesson-question", say("learn.about")),
    h(
      "ol.lp-cards",
      page.lecture.map((name) => {
        const minutes = lessons.find((one) => one.name === name)?.minutes ?? 0;
        const picture = page.cards.find((one) => one.name === name)?.pictures.at(-1);
        return h(
          "li",
          { key: name },
          h(
            "a",
            { href: page.addressOf(name) },
            h("span.lp-thumb", picture ? h(Thumbnail, { picture }) : null),
            h("b", say(`learn.${name}.title`)),
            h("small", `${say("learn.minutes", { minutes })}${done.includes(name) ? " ✓" : ""}`),
          ),
        );
      }),
    ),
    h(PagesBelow),
    h(LectureList, { page }),
  );
}

/** Links to the pages that are served below this one. */
function PagesBelow() {
  const below = pageData.pages.filter(({ path }) => path.startsWith("learn/"));
  if (!below.length) return null;
  return h(
    "p.lp-below",
    below.map(({ path, key }) => h("a.lp-link", { key, href: `${path}${location.search}` }, say(key))),
  );
}

/** @param {{ page: import("./state.js").LearnPage }} properties */
function LectureList({ page }) {
  const listed = page.isLecture ? page.lecture : [];
  return h(
    Fold,
    { title: say("learn.teach") },
    h("p", say("learn.teach_about")),
    h(
      "div.lp-chips",
      { id: "lp-list", role: "group", "aria-label": say("learn.list") },
      pageData.learn.lessons.map(({ name }) => {
        const place = listed.indexOf(name);
        const others = listed.filter((one) => one !== name);
        return h(
          "button.lp-button",
          {
            key: name,
            "aria-pressed": place < 0 ? "false" : "true",
            onClick: () => page.set({ list: (place < 0 ? [...others, name] : others).join(",") }),
          },
          `${place < 0 ? "" : `${place + 1}. `}${say(`learn.${name}.title`)}`,
        );
      }),
    ),
    h(
      "button.lp-button",
      { onClick: () => page.set({ list: pageData.learn.lecture.join(",") }) },
      say("learn.lecture"),
    ),
  );
}
