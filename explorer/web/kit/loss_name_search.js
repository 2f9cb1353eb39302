// A loss by any of its names: those of papers, of libraries' classes, its own and its title.
import { useLatest } from "./components.js";
import { h } from "./dom.js";
import { pageData } from "./page_data.js";
import { hosted } from "./preact_view.js";
import { language, say, titleOf } from "./translated_sentences.js";

const MOST_NEAR = 6;

/** @typedef {{ loss: string, convention: string }} Meant */
/** @typedef {import("./page_data.js").PageData["related_classes"][number]} RelatedClass */

/**
 * A name as people may write it: without case, signs, and what stands around it. As `plain` of
 * losses/loss_name_matching.py.
 * @param {string} name
 */
export function plain(name) {
  const whole = name.trim();
  const last = /^[\w.]+$/.test(whole) ? whole.slice(whole.lastIndexOf(".") + 1) : whole;
  const letters = last.toLowerCase().replace(/[^0-9a-z]/g, "");
  return letters.replace(/^cached/, "").replace(/loss$/, "") || letters;
}

/**
 * Which loss goes by this name, to the letter before anything like it, its own and its title before all others;
 * and if none does, names that have these letters in them. `related` is a class of that name that is no loss here.
 * @param {string} name
 * @param {[string, string, string][]} names each with the loss and its convention
 * @param {[string, string][]} titles of the losses, by their own names
 * @param {RelatedClass[]} classes that are no loss here
 * @returns {{ meant: Meant | null, near: string[], related: RelatedClass | null }}
 */
export function called(name, names, titles, classes) {
  const wanted = plain(name);
  const whole = name.trim();
  /** @type {((one: string) => boolean)[]} */
  const ways = [(one) => one === whole, (one) => wanted !== "" && plain(one) === wanted];
  const related = classes.find((one) => one.names.some(ways[1])) ?? null;
  for (const is of ways) {
    const own = titles.find((pair) => pair.some(is));
    if (own) return { meant: { loss: own[0], convention: "" }, near: [], related: null };
    const other = names.find(([one]) => is(one));
    if (other) return { meant: { loss: other[1], convention: other[2] }, near: [], related };
  }
  const every = [
    ...titles.map(([, title]) => title),
    ...names.map(([one]) => one),
    ...classes.flatMap((one) => one.names),
  ];
  const near = wanted && !related ? every.filter((one) => plain(one).includes(wanted)) : [];
  return { meant: null, near: [...new Set(near)].slice(0, MOST_NEAR), related };
}

/** @returns {[string, string][]} */
const ownNames = () => Object.keys(pageData.losses).map((loss) => [loss, titleOf(loss)]);

/**
 * The loss that goes by this name, as the registry has it; the name itself where none does.
 * @param {string} name
 */
export function registered(name) {
  if (name in pageData.losses) return name;
  return called(name, pageData.names, ownNames(), pageData.related_classes).meant?.loss ?? name;
}

// The other names of losses, to choose from, each beside the title in the language of the page.
const nameOptions = () => pageData.names.map(([name, loss]) => h("option", { value: name, label: titleOf(loss) }));

/**
 * A box that takes any name of a loss, and says what it found; `offered(loss)`: whether this page has it.
 * @param {string} id
 * @param {(loss: string, convention: string) => void} choose
 * @param {(loss: string) => boolean} [offered]
 */
function lossFinder(id, choose, offered = () => true) {
  const all = h("datalist", { id: `${id}-names` });
  const answer = h("p.lp-note", { role: "status", hidden: true });
  const box = h("input", {
    type: "text",
    id,
    list: all.id,
    spellcheck: false,
    autocomplete: "off",
    "data-title": "ui.loss_by_name",
    // What is chosen from the list is whole at once; what is typed, when it is entered.
    oninput: (/** @type {InputEvent} */ event) => event.inputType === "insertReplacementText" && find(),
    onchange: find,
    onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && find(),
  });
  const element = h("div.lp-finder", box, all, answer);

  function find() {
    const name = box.value.trim();
    answer.hidden = !name;
    if (!name) return;
    const { meant, near, related } = called(name, pageData.names, ownNames(), pageData.related_classes);
    const why = related ? say(related.key, { name, instead: titleOf(related.loss) }) : "";
    if (!meant) {
      const none = () => say(`ui.loss_by_name.${near.length ? "near" : "none"}`, { name, near });
      answer.textContent = why || none();
      return;
    }
    const here = offered(meant.loss);
    const found = say(`ui.loss_by_name.${here ? "found" : "own"}`, { name, title: titleOf(meant.loss) });
    answer.textContent = `${found} ${why}`.trimEnd();
    if (!here) return;
    box.value = "";
    choose(meant.loss, meant.convention);
  }

  // In the language of the page.
  function list() {
    box.placeholder = say("ui.loss_by_name");
    answer.hidden = true;
    all.replaceChildren(...nameOptions());
  }
  list();
  return { element, list };
}

/**
 * A box that takes any name of a loss; `offered`: whether the page has the one that it names.
 * @param {{ id: string, choose: (loss: string, convention: string) => void, offered?: (loss: string) => boolean }}
 *   properties
 */
export function LossFinder({ id, choose, offered }) {
  const choosing = useLatest(choose);
  return hosted({
    make: (root) => {
      const finder = lossFinder(id, choosing, offered);
      root.append(finder.element);
      return { finder, listedIn: language() };
    },
    // The answer stays until another name is entered.
    update: (made) => {
      if (made.listedIn === language()) return;
      made.listedIn = language();
      made.finder.list();
    },
  });
}
