// A saved batch of a training that still runs: the newest one is offered, or followed.
import { Checkbox } from "../../kit/components.js";
import { h, show } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";

const POLL_MS = 3000;
const SAVED_BATCH_FILE = /(^|[\\/])step-\d+\.safetensors$/;

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ExplorePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export default function newerBatch(root, page, server) {
  const block = /** @type {HTMLElement} */ (root.parentElement);
  /** @type {import("../../wire").NewerBatch | null} */
  let newer = null;
  let follows = false;
  let isPolling = false;
  const savedBatchName = () => {
    const { encoder, cross_encoder } = page.scenario.data;
    return [cross_encoder, encoder].find((name) => SAVED_BATCH_FILE.test(name)) ?? "";
  };

  function draw() {
    if (!savedBatchName()) newer = null;
    const step = newer?.step ?? 0;
    block.hidden = !savedBatchName() || !(newer || follows);
    show(root, Offer, { step, follows, open, follow });
  }

  async function poll() {
    const name = savedBatchName();
    if (!name || isPolling || document.visibilityState !== "visible") return;
    isPolling = true;
    const answer = await server.newer_batch({ name });
    isPolling = false;
    if (name !== savedBatchName() || (answer && "error" in answer)) return;
    newer = answer;
    if (newer && follows) await open();
    draw();
  }

  /** Other pairs under the loss that is looked at. */
  async function open() {
    const scenario = newer && (await page.read(newer.scene));
    newer = null;
    if (scenario) page.set({ data: scenario.data, rules: scenario.rules });
    draw();
  }

  /** @param {boolean} now */
  function follow(now) {
    follows = now;
    if (follows && newer) open();
    draw();
  }

  draw();
  page.on("scenario", draw);
  page.on("language", draw);
  setInterval(poll, POLL_MS);
}

/** @param {{ step: number, follows: boolean, open: () => void, follow: (now: boolean) => void }} properties */
const Offer = ({ step, follows, open, follow }) =>
  h(
    "p.lp-row",
    { role: "status" },
    h("span", step ? say("ui.newer_step", { step }) : say("ui.newer_none")),
    step ? h("button.lp-button", { onClick: open }, say("ui.newer_open")) : null,
    h(Checkbox, { name: say("ui.newer_follow"), checked: follows, change: follow }),
  );
