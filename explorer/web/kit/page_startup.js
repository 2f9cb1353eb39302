// Where the page begins: what it needs to know is fetched once, then each of its parts is built.
//
// A part is a module whose default export is a function (root, page, server): it fills its own
// element, listens to the page, and calls the functions of the server. The page's HTML names the
// module of each part in `data-part`, in `data-later-part` where the part comes after the first
// picture. `page` is what all parts share: the page's state, and the
// topics it follows. What it draws with are the instruments of the kit, which know neither.
//
// The one global is for whoever looks in from outside (tests, benchmarks, the console):
// `window.lossprism.page(name)` is that shared state where the page has this name, by default Explore's; `pageData`
// is what the server sent at the start; `floats` and `bytes` unpack its arrays; `kit(name)` imports a module.
import { bytes, floats } from "./base64_arrays.js";
import { find, reword } from "./dom.js";
import { pageData } from "./page_data.js";
import { functionsOf, pause, withDeadlineAndConsent } from "./server.js";
import { onTheme, watchTheme } from "./theme.js";
import { onLanguage, startLanguage, wordsFor } from "./translated_sentences.js";

const PICTURE_MS = 2000; // at most, until the parts that follow the first picture

/** @param {string} name */
async function fetchJson(name) {
  const answer = await fetch(new URL(`../${name}.json`, import.meta.url));
  if (!answer.ok) throw new Error(`${answer.status} from ${answer.url}`);
  return answer.json();
}

/** @param {string} name */
const kit = (name) => import(`./${name}.js`);

/** @type {(folder: string) => Promise<void>} Fetch what the page in this folder has to know. */
async function start(folder) {
  const [facts] = await Promise.all([fetchJson(`data/${folder}`), startLanguage(folder)]);
  Object.assign(pageData, facts);
  watchTheme();
  document.addEventListener("keydown", walkTabs);
}

/** Build all parts of the page, one after the other as its HTML lists them. */
async function open() {
  const { folder = "", functions = "" } = document.body.dataset;
  const { state: name } = find(document.body, "#lp-page").dataset;
  const [first, later] = [partsNamed("data-part"), partsNamed("data-later-part")];
  const [{ default: make }, builders] = await Promise.all([
    import(`../pages/${folder}/state.js`),
    modulesOf(first),
    start(folder),
  ]);
  const shared = make();
  onLanguage(() => shared.publish("language"));
  onTheme(() => shared.publish("theme"));
  const server = withDeadlineAndConsent(functionsOf(folder, functions.split(" ")));
  window.lossprism = {
    page: (one = "main") => (one === name ? shared : undefined),
    pageData,
    floats,
    bytes,
    kit,
    isComplete: false,
  };
  /** @type {(parts: Part[], modules: any[]) => Promise<unknown>} */
  const build = (parts, modules) =>
    Promise.all(
      parts.map(async ({ root }, at) => {
        shared.join(() => modules[at].default(root, shared, server));
        shared.on("language", () => reword(root));
      }),
    ); // where one fails the others are there all the same
  const seen = firstPicture(shared).then(() => performance.mark("first-picture"));
  await build(first, builders);
  await seen;
  await Promise.all([modulesOf(later).then((modules) => build(later, modules)), wordsFor("problem")]);
  window.lossprism.isComplete = true;
}

/** @typedef {{ root: HTMLElement, module: string }} Part */
/**
 * The parts whose module stands in this attribute, and the element that each fills.
 * @type {(attribute: "data-part" | "data-later-part") => Part[]}
 */
const partsNamed = (attribute) =>
  Array.from(document.querySelectorAll(`[${attribute}]`), (part) => ({
    root: find(part, ".lp"),
    module: part.getAttribute(attribute) ?? "",
  }));

/** @param {Part[]} parts */
const modulesOf = (parts) => Promise.all(parts.map(({ module }) => import(`../${module}`)));

/**
 * Wait until a page has drawn its first picture, or said why there is none; not for long.
 * @param {import("./page_topics_notices_and_jobs.js").PageEvents} shared
 */
function firstPicture(shared) {
  const drawn = new Promise((done) => {
    for (const topic of ["picture", "problem"]) shared.on(topic, done);
  });
  return Promise.race([drawn.then(painted), pause(PICTURE_MS)]);
}

/** Wait until the next frame has been painted. */
const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

/** @type {(event: KeyboardEvent) => void} Arrow keys walk along a row of tabs; Enter opens the one that is reached. */
function walkTabs(event) {
  const tab = event.target instanceof HTMLElement && event.target.closest(".lp [role=tab]");
  const way = Number(event.key === "ArrowRight") - Number(event.key === "ArrowLeft");
  if (!(tab instanceof HTMLElement) || !way) return;
  event.preventDefault();
  /** @type {HTMLElement[]} */
  const tabs = Array.from(tab.parentElement?.querySelectorAll("[role=tab]:enabled") ?? []);
  tabs.at((tabs.indexOf(tab) + way) % tabs.length)?.focus();
}

// A scenario that an address names in its query, where sites that show a picture of it can read it, is that of the page.
function takeLink() {
  const address = new URL(location.href);
  const link = address.searchParams.get("scene");
  if (!link || address.hash) return;
  address.searchParams.delete("scene");
  address.hash = link;
  history.replaceState(history.state, "", address);
}

// The cell of a notebook makes room for a page that answers.
if (parent !== window) parent.postMessage("lossprism", "*");
takeLink();
await open();
