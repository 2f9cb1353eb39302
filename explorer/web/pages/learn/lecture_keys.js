// A lecture by the keyboard or a clicker: Page Down shows the answer, then goes on; Page Up goes back; L speaks the
// other language.
import { language, languages, speak } from "../../kit/translated_sentences.js";

/** @param {import("./state.js").LearnPage} page */
export function listenToLectureKeys(page) {
  window.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
    if (event.key === "l" || event.key === "L") {
      const codes = Object.keys(languages());
      speak(codes[(codes.indexOf(language()) + 1) % codes.length]);
    } else if (page.isLecture && (event.key === "PageDown" || event.key === "PageUp")) {
      event.preventDefault();
      turn(page, event.key === "PageDown");
    }
  });
}

/** @type {(page: import("./state.js").LearnPage, isOn: boolean) => void} */
function turn(page, isOn) {
  const { step } = page;
  if (isOn && step && !page.store.state.shown) page.move(step.goal);
  else page.go(page.beside(isOn ? 1 : -1));
}

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof HTMLElement && target.matches("textarea, [type=text]");
