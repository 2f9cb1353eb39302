// The Learn page: all lessons as cards, or one step of a lesson.
import { ProblemBox } from "../../kit/components.js";
import { h, show } from "../../kit/preact_view.js";
import { entitle } from "../../kit/title.js";
import { say } from "../../kit/translated_sentences.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { listenToLectureKeys } from "./lecture_keys.js";
import { LessonCards } from "./lesson_cards.js";
import { LessonStep } from "./step.js";

/** @param {{ page: import("./state.js").LearnPage }} properties */
function Main({ page }) {
  page.observe("state", "measured");
  const { lesson } = page;
  useLayoutEffect(() => entitle(lesson ? say(`learn.${lesson.name}.title`) : say("page.learn")));
  return h(
    "div",
    h(ProblemBox, { page, isShown: () => page.drawn }),
    lesson ? h(LessonStep, { page }) : h(LessonCards, { page }),
  );
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").LearnPage} page
 * @param {import("../../kit/types").Asking<import("../../wire").LearnServer>} server
 */
export default function main(root, page, server) {
  show(root, Main, { page });
  listenToLectureKeys(page);
  page.connect(server);
}
