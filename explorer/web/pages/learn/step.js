// A step of a lesson: the question, a prediction, the lever, the picture, and what came of it.
import { isEmbedded } from "../../kit/browser_history.js";
import { h as element } from "../../kit/dom.js";
import { percent } from "../../kit/number_format.js";
import { group, h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { useState } from "../../kit/vendor/preact/hooks.js";
import { FigureExport } from "./figure_export.js";
import { StepPictures } from "./step_pictures.js";

/** @typedef {{ page: import("./state.js").LearnPage }} Properties */

/** @param {Properties} properties */
export function LessonStep({ page }) {
  const { lesson, step, stop, measured } = page;
  if (!lesson || !step) return null;
  const key = `learn.${lesson.name}.${page.number}`;
  const place = page.lecture.indexOf(lesson.name) + 1;
  const about = { place, count: page.lecture.length, minutes: lesson.minutes };
  return h(
    "article.lp-lesson",
    { "aria-busy": measured ? "false" : "true" },
    h(
      "header.lp-ask",
      h("p.lp-note.lp-place", h("a", { href: page.addressOf() }, say("learn.all")), ` · ${say("learn.place", about)}`),
      h("h1", say(`learn.${lesson.name}.title`)),
      h("p.lp-lesson-question", say(`${key}.question`, startOf(measured))),
    ),
    h("div.lp-act", h(Predict, { page }), h(Lever, { page, name: say(`${key}.lever`), words: key })),
    h(
      "figure.lp-look",
      { "aria-label": say(`${key}.picture`) },
      h(Measurements, { page }),
      stop && h(StepPictures, { stop }),
      stop && h(FigureExport, { page }),
    ),
    h("div.lp-learnt", { "aria-live": "polite" }, h(Outcome, { page, name: key })),
  );
}

/** @param {import("../../wire").MeasuredStep | null} measured */
const startOf = (measured) => (measured ? textsOf(measured.stops[0]) : {});

/** @param {import("../../wire").Stop} stop */
const textsOf = ({ numbers }) => Object.fromEntries(Object.entries(numbers).map(([name, { text }]) => [name, text]));

/** @param {Properties} properties */
function Predict({ page }) {
  const { step, guess } = page;
  if (!step) return null;
  return h(
    "fieldset.lp-predict",
    h("legend", say(guess === null ? "learn.predict" : "learn.predicted")),
    step.answers.length
      ? h(Answers, { page, answers: step.answers })
      : h(PredictionSlider, { key: String(guess), page, ends: step.axis }),
  );
}

/** @param {Properties & { answers: import("../../wire").LearnAnswer[] }} properties */
function Answers({ page, answers }) {
  const { guess, measured } = page;
  const { shown } = page.store.state;
  return h(
    "div.lp-answers",
    answers.map(({ value, text }) => {
      const isRight = shown && value === measured?.right;
      return h(
        "button.lp-answer",
        {
          key: text,
          class: isRight ? "lp-right" : "",
          "aria-pressed": value === guess ? "true" : "false",
          onClick: () => page.predict(value),
        },
        isRight ? `✓ ${text}` : text,
      );
    }),
  );
}

/** @param {Properties & { ends: number[] }} properties */
function PredictionSlider({ page, ends: [low, high] }) {
  const { guess, measured } = page;
  const [draft, setDraft] = useState(guess ?? (low + high) / 2);
  const { shown } = page.store.state;
  const answer = shown && measured ? Number(measured.answer.value) : null;
  /** @param {number} value */
  const across = (value) => `${(100 * (value - low)) / (high - low)}%`;
  return h(
    "div.lp-mark",
    h("input", {
      type: "range",
      min: low,
      max: high,
      step: (high - low) / 100,
      value: draft,
      "aria-label": say("learn.predict"),
      "aria-valuetext": percent(draft),
      onInput: (event) => setDraft(Number(event.currentTarget.value)),
    }),
    h(
      "div.lp-marks-on-axis",
      guess !== null ? h("i.lp-guess", { style: { left: across(guess) } }) : null,
      answer !== null ? h("i.lp-measured", { style: { left: across(answer) } }) : null,
    ),
    h(
      "button.lp-answer",
      { "aria-pressed": draft === guess ? "true" : "false", onClick: () => page.predict(draft) },
      draft === guess ? percent(draft) : say("learn.take", { value: percent(draft) }),
    ),
  );
}

/** @param {Properties & { name: string, words: string }} properties */
function Lever({ page, name, words }) {
  const { step, measured, at, isUnlocked } = page;
  if (!step) return null;
  /** @param {number} place */
  const textOf = (place) => (step.worded ? say(`${words}.stop.${place + 1}`) : (measured?.stops[place].text ?? ""));
  return h(
    "label.lp-lesson-lever",
    { class: isUnlocked ? "" : "lp-locked" },
    h("span", name, " ", h("b", textOf(at))),
    h("input", {
      type: "range",
      min: 0,
      max: step.stops - 1,
      step: 1,
      value: at,
      disabled: !isUnlocked || !measured,
      "aria-valuetext": textOf(at),
      onInput: (event) => page.move(Number(event.currentTarget.value)),
    }),
    page.store.state.shown
      ? null
      : h("small", say(isUnlocked ? "learn.move" : "learn.locked", { goal: textOf(step.goal) })),
  );
}

/** @param {Properties} properties */
function Measurements({ page }) {
  const { step, stop, measured } = page;
  if (!step || !stop || !measured) return null;
  const first = measured.stops[0];
  return h(
    "dl.lp-lesson-figures",
    step.figures.map((name) => {
      const [now, before] = [stop.numbers[name].text, first.numbers[name].text];
      return h(
        "div",
        { key: name },
        h("dt", say(`learn.figure.${name}`)),
        h("dd", h("b", now), now === before ? null : h("small", say("learn.before", { before }))),
      );
    }),
  );
}

/** @param {Properties & { name: string }} properties */
function Outcome({ page, name }) {
  const { step, measured, guess, isRight } = page;
  if (!page.store.state.shown || !step || !measured) return null;
  const { stops, answer } = measured;
  const first = Object.fromEntries(Object.entries(textsOf(stops[0])).map(([one, text]) => [`${one}_at_start`, text]));
  const values = { ...first, ...textsOf(stops[step.goal]) };
  return group(
    guess === null
      ? null
      : h(
          "p.lp-verdict-of-guess",
          { class: isRight ? "lp-right" : "" },
          say(isRight ? "learn.right" : "learn.wrong", { guess: guessText(step, guess), answer: answer.text }),
        ),
    h("p.lp-conclusion", say(`${name}.conclusion`, values)),
    h(NextLinks, { page }),
  );
}

/** @type {(step: import("../../wire").LearnStep, guess: number) => string} */
const guessText = ({ answers }, guess) => answers.find(({ value }) => value === guess)?.text ?? percent(guess);

/** @param {Properties} properties */
function NextLinks({ page }) {
  const next = page.beside(1);
  const landscape = page.lesson?.landscape;
  const explore = new URL(`.#${page.scene}`, document.baseURI).href;
  return h(
    "p.lp-onward",
    page.scene ? h("a.lp-link", { href: explore }, say("learn.mine")) : null,
    landscape
      ? h("a.lp-link", { href: `learn/landscape${location.search}#${landscape}` }, say("learn.landscape"))
      : null,
    isEmbedded() ? null : h(EmbedButton, { page }),
    next
      ? h(
          "button.lp-button.lp-next",
          { onClick: () => page.go(next) },
          next.lesson ? say("learn.next", { lesson: say(`learn.${next.lesson}.title`) }) : say("learn.go_on"),
        )
      : null,
  );
}

/** @param {Properties} properties */
function EmbedButton({ page }) {
  const [copied, setCopied] = useState(false);
  const src = new URL(`learn/${page.lesson?.name}?embed`, document.baseURI).href;
  const title = say(`learn.${page.lesson?.name}.title`);
  const code = () => element("iframe", { src, title, width: "100%", height: "720" }).outerHTML;
  return h(
    "button.lp-link",
    { onClick: () => navigator.clipboard.writeText(code()).then(() => setCopied(true)) },
    say(copied ? "ui.copied" : "learn.embed"),
  );
}
