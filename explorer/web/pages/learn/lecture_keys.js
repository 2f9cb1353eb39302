// A lecture by the keyboard or a clicker: Page Down shows the answer, then goes on; Page Up goes back; L speaks the
// other language.
import { language, languages, speak } from "../../kit/words.js";

/** @param {import("./state.js").LearnPage} channel */
export function teach(channel) {
  window.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
    if (event.key === "l" || event.key === "L") {
      const codes = Object.keys(languages());
      speak(codes[(codes.indexOf(language()) + 1) % codes.length]);
    } else if (channel.isLecture && (event.key === "PageDown" || event.key === "PageUp")) {
      event.preventDefault();
      turn(channel, event.key === "PageDown");
    }
  });
}

/** @type {(channel: import("./state.js").LearnPage, isOn: boolean) => void} */
function turn(channel, isOn) {
  const { step } = channel;
  if (isOn && step && !channel.store.state.shown) channel.move(step.goal);
  else channel.go(channel.beside(isOn ? 1 : -1));
}

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof HTMLElement && target.matches("textarea, [type=text]");
