// What the number may be, the likeliest first: in a sentence, what tells it from the next, all losses that
// have it there, and the scene in which it stands.
import { h, reword, worded } from "../../kit/dom.js";
import { numbered } from "../../kit/link.js";
import { show } from "../../kit/numbers.js";
import { problemBox } from "../../kit/problem.js";
import { parameterName, say, titleOf } from "../../kit/words.js";
import { exampleButtons } from "./examples.js";
import { stackedTable } from "./table.js";

/** @typedef {import("../../wire").ToldFinding} Finding */
/** @typedef {import("../../wire").ExplainedLoss} Fitting */

const LISTED = 4; // losses of a finding that are in sight at once

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").DoctorPage} channel
 */
export default function findings(root, channel) {
  const problem = problemBox(channel, () => channel.found !== null);
  const standing = h("div.lp-doctor-standing", { hidden: true });
  const about = h("p.lp-about");
  const example = h("p.lp-note", { hidden: true });
  const list = h("ol.lp-findings", { "aria-live": "polite" });
  const tries = h("div.lp-row.lp-wrap");
  // Until it is known whether the page was opened with a number, it offers none.
  const begin = h("section.lp-doctor-begin", { hidden: true }, worded("h2", "doctor.examples"), tries);
  root.append(
    problem,
    h("div.lp-head", {}, h("div", {}, worded("h1", "doctor.title"), about)),
    example,
    standing,
    list,
    begin,
  );
  reword(root);

  function draw() {
    const { found } = channel;
    const told = found ? [...found.signs, ...(found.standing ? [found.standing.said] : [])] : [];
    standing.hidden = !told.length;
    standing.replaceChildren(...[...new Set(told)].map((one) => h("p", {}, one)));
    const { isExample, shown } = channel;
    begin.hidden = Boolean(found) && !isExample;
    example.hidden = !found || !isExample;
    if (!begin.hidden) tries.replaceChildren(...exampleButtons(channel));
    if (!found || isExample) about.textContent = say("doctor.about");
    if (!found) {
      list.replaceChildren();
      return;
    }
    const count = found.findings.length;
    const key = count === 1 ? "doctor.may_be_one" : "doctor.may_be";
    if (isExample) example.textContent = say("doctor.example_shown", { value: shown.value, loss: titleOf(shown.loss) });
    else about.textContent = found.fits ? say(key, { value: shown.value.trim(), count }) : found.none;
    list.classList.toggle("lp-nearest", !found.fits);
    list.replaceChildren(...found.findings.map(cardOf));
  }

  /** @param {Finding} finding */
  function cardOf({ kinds, value, said, beside, losses, more, exact, gap }) {
    const [first, ...others] = losses;
    return h(
      "li.lp-finding",
      {},
      h(
        "div.lp-finding-head",
        {},
        ...kinds.map((kind) => h(`span.lp-kind.lp-kind-${kind}`, {}, say(`doctor.kind.${kind}`))),
        h("strong", {}, show(value, 6)),
        exact ? null : h("small", {}, say("doctor.gap", { gap: show(Math.abs(gap), 2) })),
      ),
      h("p.lp-finding-said", {}, said),
      h(
        "ul.lp-remarks",
        {},
        beside.map((one) => h("li", {}, one)),
      ),
      h("div.lp-row.lp-wrap", {}, toScene(first), toCompare(losses)),
      losses.length > 1 || first.convention
        ? h(
            "details.lp-more",
            { open: others.length <= LISTED },
            h("summary", {}, say("doctor.all_losses", { count: losses.length + more })),
            tableOf(losses),
            more ? h("p.lp-note", {}, say("doctor.more", { count: more })) : null,
          )
        : null,
    );
  }

  /** @param {Fitting} fit */
  function toScene({ scene, shows }) {
    if (scene === null) return null;
    return h("a.lp-button", { href: `./#${scene}` }, say(`doctor.open.${shows}`));
  }

  /**
   * The losses that have the number, beside each other, on the batch of the first.
   * @param {Fitting[]} losses
   */
  function toCompare(losses) {
    const [{ scene }] = losses;
    const distinct = losses.filter(({ loss }, i) => losses.findIndex((one) => one.loss === loss) === i).slice(0, 6);
    if (scene === null || distinct.length < 2) return null;
    const said = new URLSearchParams([...numbered(distinct), ["scene", scene]]);
    return h("a.lp-button", { href: `compare#${said}` }, say("doctor.compare"));
  }

  /** @param {Fitting[]} losses */
  function tableOf(losses) {
    /** @param {Record<string, unknown>} settings */
    const settingsOf = (settings) =>
      Object.entries(settings).map(([name, value]) => {
        const called = parameterName(name);
        return typeof value === "number" ? `${called} ${show(value, 3)}` : `${called} ${value}`;
      });
    const heads = ["loss", "counts", "kind", "doubled"].map((name) => ({ head: say(`doctor.column.${name}`) }));
    return stackedTable(
      say("doctor.all_losses", { count: losses.length }),
      heads,
      losses.map(({ loss, convention, parameters, counted, kind, doubled }) => [
        [titleOf(loss), convention, ...settingsOf(parameters)].filter(Boolean).join(" · "),
        counted,
        say(`doctor.kind.${kind}`),
        show(doubled, 5),
      ]),
    );
  }

  channel.on("state", () => {
    root.hidden = channel.door !== "number";
  });
  channel.on("found", draw);
  channel.on("language", draw);
}
