// The Learn page: all lessons as cards, or one step of a lesson.
import { ProblemBox } from "../../kit/components.js";
import { h, show } from "../../kit/preact_view.js";
import { entitle } from "../../kit/title.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { say } from "../../kit/words.js";
import { teach } from "./lecture_keys.js";
import { Landing } from "./lesson_cards.js";
import { LessonStep } from "./step.js";

/** @param {{ channel: import("./state.js").LearnPage }} properties */
function Main({ channel }) {
  channel.observe("state", "measured");
  const { lesson } = channel;
  useLayoutEffect(() => entitle(lesson ? say(`learn.${lesson.name}.title`) : say("page.learn")));
  return h(
    "div",
    null,
    h(ProblemBox, { channel, isShown: channel.drawn }),
    lesson ? h(LessonStep, { channel }) : h(Landing, { channel }),
  );
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").LearnPage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").LearnServer>} server
 */
export default function main(root, channel, server) {
  show(root, Main, { channel });
  teach(channel);
  channel.connect(server);
}
