// Where the page begins: what it needs to know is fetched once, then each of its parts is built.
//
// A part is a module whose default export is a function (root, page, server): it fills its own
// element, listens to the page, and calls the server's functions that came with it. `page` is what
// all parts of one name share: the page's state, and the topics it is told by. What it draws with
// are the instruments of the kit, which know neither.
//
// The one global is for whoever looks in from outside (tests, benchmarks, the console):
// `window.lossprism.page(name)` is that shared state, by default Explore's; `given` is what the
// server told at the start; `floats` and `bytes` unpack its arrays; `kit(name)` imports a module.
import { bytes, floats } from "./arrays.js";
import { find, reword } from "./dom.js";
import { given } from "./given.js";
import { page } from "./page.js";
import { calm } from "./server.js";
import { begin } from "./theme.js";
import { language, preferred, use } from "./words.js";

/** @param {string} name */
async function json(name) {
  const answer = await fetch(new URL(`../${name}.json`, import.meta.url));
  if (!answer.ok) throw new Error(`${answer.status} from ${answer.url}`);
  return answer.json();
}

/** @param {string} name */
const kit = (name) => import(`./${name}.js`);

/** @type {Promise<[string, object, Record<string, string>]> | null} */
let coming = null;
/**
 * Ask for what the page in this folder has to know; its HTML does so while Gradio's scripts are still on their way.
 * @param {string} folder
 */
export function ahead(folder) {
  const chosen = preferred();
  coming ??= Promise.all([chosen, json(`data/${folder}`), json(`words/${chosen}`)]);
  return coming;
}

/** @type {Promise<void> | null} */
let ready = null;
/** @param {string} folder */
async function start(folder) {
  const [chosen, facts, sentences] = await ahead(folder);
  Object.assign(given, facts);
  use(chosen, sentences);
  document.documentElement.lang = language();
  begin();
  document.dispatchEvent(new Event("lossprism")); // `at_rest.js` waits for it
  document.addEventListener("keydown", walkTabs);
}

/**
 * Build the part `module` in this element, on the page state `name` that `state` makes.
 * @param {HTMLElement} element
 * @param {object} server
 * @param {{ folder: string, name: string, state: string, module: string }} place
 */
export async function mount(element, server, { folder, name, state, module }) {
  ready ??= start(folder);
  const [{ default: make }, { default: build }] = await Promise.all([
    import(`../${state}`),
    import(`../${module}`),
    ready,
  ]);
  const shared = page(name, make);
  window.lossprism ??= { page: (/** @type {string} */ one) => page(one), given, floats, bytes, kit };
  const root = find(element, ".lp");
  shared.join(() => build(root, shared, calm(server)));
  shared.on("language", () => reword(root));
}

/**
 * Arrow keys walk along a row of tabs; Enter opens the one that is reached.
 * @param {KeyboardEvent} event
 */
function walkTabs(event) {
  const tab = event.target instanceof HTMLElement && event.target.closest(".lp [role=tab]");
  const way = Number(event.key === "ArrowRight") - Number(event.key === "ArrowLeft");
  if (!(tab instanceof HTMLElement) || !way) return;
  event.preventDefault();
  /** @type {HTMLElement[]} */
  const tabs = Array.from(tab.parentElement?.querySelectorAll("[role=tab]:enabled") ?? []);
  tabs.at((tabs.indexOf(tab) + way) % tabs.length)?.focus();
}
