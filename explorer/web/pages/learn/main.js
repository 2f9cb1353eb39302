// The Learn page: all lessons as cards, or one step of a lesson.
import { ProblemBox } from "../../kit/components.js";
import { entitle } from "../../kit/title.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { h, show } from "../../kit/view.js";
import { say } from "../../kit/words.js";
import { Landing } from "./landing.js";
import { LessonStep } from "./step.js";
import { teach } from "./teaching.js";

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
  document.body.classList.toggle("lp-embedded", channel.isEmbedded);
  show(root, Main, { channel });
  teach(channel);
  channel.connect(server);
}
