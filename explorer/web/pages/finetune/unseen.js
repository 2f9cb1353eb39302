// A file of pairs that no run has seen: every run that is shown is measured on it, until one goes back
// to the held-out pairs.
import { Bus } from "../../kit/bus.js";
import { h, reword, worded } from "../../kit/dom.js";
import { sent, tooLarge } from "../../kit/files.js";
import { pageData } from "../../kit/page_data.js";
import progress from "../../kit/progress.js";
import { newestOf } from "../../kit/request.js";
import { GONE } from "../../kit/server.js";
import { columnFields, encodingField, filePicker } from "../../kit/sidebar.js";
import { say } from "../../kit/words.js";

/** @typedef {import("../../wire").FinetuneServer} FinetuneServer */
/** @typedef {import("./state.js").Answer<"hand_in">} FileAnswer */
/** @typedef {{ file: string, name: string, columns: Record<string, string>, encoding: string }} OnFile */

/**
 * `changed` is called when other pairs are to be measured on.
 * @param {import("./state.js").FinetunePage} channel
 * @param {() => void} changed
 */
export function unseenPairs(channel, changed) {
  // Jobs of its own: a change of the plan ends those of the page.
  const jobs = new Bus();
  const wrong = h("p.lp-wrong", { role: "alert", hidden: true });
  const read = h("p.lp-note", { role: "status" });
  const columns = h("div.lp-columns");
  const told = h("p.lp-unseen-told", { role: "status", hidden: true });
  const waiting = h("div");
  progress(waiting, jobs);
  const back = worded("button.lp-button", "finetune.unseen_back", {
    type: "button",
    id: "lp-finetune-unseen-back",
    hidden: true,
    onclick: () => choose(null),
  });
  const go = worded("button.lp-button", "finetune.unseen_go", {
    type: "button",
    id: "lp-finetune-unseen-go",
    hidden: true,
    onclick: measure,
  });
  const element = h(
    "details.lp-fold.lp-unseen",
    {},
    worded("summary", "finetune.unseen"),
    worded("p.lp-note", "finetune.unseen_about"),
    h(
      "div.lp-panel",
      {},
      filePicker({ id: "lp-finetune-unseen", title: "finetune.unseen_drop" }, handIn),
      read,
      columns,
      wrong,
      go,
    ),
    waiting,
  );

  /** @type {FileAnswer | null} */
  let file = null;
  /** @type {OnFile | null} */
  let chosen = null;
  /** @type {import("../../kit/types").Notice | null} */
  let problem = null;
  /** @type {import("../../wire").Compared | null} */
  let found = null;
  const newest = newestOf();
  let left = false;

  /** @param {import("../../kit/types").Notice | null | undefined} notice */
  function complain(notice) {
    problem = notice ?? null;
    wrong.hidden = !problem;
    wrong.textContent = problem ? say(problem.key, problem.values) : "";
  }

  /** @param {OnFile | null} next */
  function choose(next) {
    if (JSON.stringify(next) === JSON.stringify(chosen)) return; // the same columns, chosen again
    jobs.cancel();
    chosen = next;
    complain(null);
    tellFile();
    changed();
  }

  // The file stays at hand after one has gone back, or what went wrong can be put right.
  function measure() {
    if (!file || file.error || file.problem) return;
    choose({ file: file.file, name: file.name, columns: file.chosen, encoding: saidOf(file) });
  }

  /** @param {{ encoding: string, encodings: [string, string][] }} known */
  const saidOf = ({ encoding, encodings }) => (encodings.length ? encoding : "");

  /** @param {File} one */
  async function handIn(one) {
    const refusal = tooLarge(one, pageData.limits.bytes);
    if (refusal) complain(refusal);
    else hear(async () => (await channel.server?.hand_in(await sent(one))) ?? null);
  }

  /** @param {() => Promise<FileAnswer | null>} ask */
  async function hear(ask) {
    const answer = (await newest(ask)) ?? { error: GONE };
    if (answer.error) {
      complain(answer.error);
      return;
    }
    file = answer;
    tellFile();
    if (answer.problem) complain(answer.problem);
    else measure();
  }

  function tellFile() {
    const known = file && !file.error ? file : null;
    read.textContent = !known ? "" : known.problem ? known.name : say("ui.file_read", known);
    const held = columns.contains(document.activeElement) ? document.activeElement?.getAttribute("name") : null;
    columns.replaceChildren();
    go.hidden = !known || Boolean(known.problem) || chosen !== null;
    if (!known) return;
    /** @param {{ columns?: Record<string, string>, encoding: string }} how */
    const reread = (how) => {
      const asked = { file: known.file, name: known.name, ...how };
      hear(async () => (await channel.server?.describe(asked)) ?? null);
    };
    columns.append(
      ...encodingField(known, (encoding) => reread({ encoding })),
      // A teacher measures nothing.
      ...columnFields(
        { ...known, roles: Object.keys(known.chosen).filter((one) => one !== "teacher") },
        (role, column) => {
          known.chosen = { ...known.chosen, [role]: column }; // the next choice may come before the answer
          const roles = Object.entries(known.chosen).filter(([, one]) => one);
          reread({ columns: Object.fromEntries(roles), encoding: saidOf(known) });
        },
      ),
    );
    reword(columns);
    /** @type {HTMLElement | null} */
    const again = held ? columns.querySelector(`[name="${CSS.escape(held)}"]`) : null;
    again?.focus();
  }

  /**
   * What everything is measured on now, and how far the file is unseen.
   * @param {import("../../wire").Compared | null} answer
   */
  function tell(answer) {
    found = answer;
    const on = answer?.unseen;
    back.hidden = told.hidden = !on;
    if (!answer || !on) return;
    told.textContent = [
      say("finetune.unseen_now", { pairs: answer.pairs }),
      ...(answer.groups.length === 1 ? answer.verdict.map(({ key, values }) => say(`remark.${key}`, values)) : []),
      on.shared
        ? say("finetune.unseen_shared", { count: on.shared, all: on.count })
        : say("finetune.unseen_shared_none"),
      on.skipped ? say("finetune.unseen_skipped", { count: on.skipped }) : "",
      on.sampled ? say("finetune.unseen_sampled") : "",
    ]
      .filter(Boolean)
      .join(" ");
  }

  channel.on("language", () => {
    tellFile();
    complain(problem);
    tell(found);
    jobs.publish("language");
  });
  return {
    element: h("div", {}, element, h("div.lp-row.lp-wrap", {}, told, back)),
    tell,
    chosen: () => chosen,
    /**
     * How these runs compare on the pairs that are chosen; null where that is not known.
     * @param {string[]} runs
     */
    async ask(runs) {
      const { server } = channel;
      if (!server) return null;
      if (!chosen) return channel.heard(server.compare({ runs }));
      const asked = chosen;
      left = false;
      const answer = await jobs.work(server, "compare", { runs, on: asked });
      if (left || asked !== chosen) return null;
      if (answer && !answer.error) return answer;
      const why = answer ? answer.error : null; // cancelled: there is nothing to say
      choose(null);
      complain(why);
      return null;
    },
    // Other runs are asked about.
    leave() {
      left = true;
      jobs.cancel();
    },
  };
}
