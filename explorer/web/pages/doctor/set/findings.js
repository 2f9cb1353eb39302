// What is the matter with a data set, the worst first: in a sentence, rows that show it, what to paste, the
// scene in which it stands; then which losses can learn from it, and the rows that stay.
import { h, reword, worded } from "../../../kit/dom.js";
import { labelled } from "../../../kit/fields.js";
import { numbered } from "../../../kit/link.js";
import { grouped, show } from "../../../kit/numbers.js";
import { pageData } from "../../../kit/page_data.js";
import { problemBox } from "../../../kit/problem.js";
import { say, titleOf } from "../../../kit/words.js";
import { adviceOf, findingCard, pasteOf } from "../card.js";
import { stackedTable } from "../table.js";

/** @typedef {import("../../../wire").DataFinding} Finding */
/** @typedef {import("../../../wire").FoundCell} Cell */
/** @typedef {import("../../../wire").FittingLoss} Fitting */

const TEXTS = ["first", "second", "text", "other_text", "called"]; // columns that hold sentences
const COMPARED = 4; // of the losses that can learn from it

/**
 * @param {HTMLElement} root
 * @param {import("../state.js").DoctorPage} channel
 */
export default function findings(root, channel) {
  const door = channel.data;
  const problem = problemBox(channel, () => Boolean(door.found || door.classes || door.similarities));
  const about = h("p.lp-about", { "aria-live": "polite" });
  const list = h("ol.lp-findings.lp-faults");
  const looked = h("div.lp-looked");
  const encoded = h("section.lp-encoded", { hidden: true });
  const fitting = h("section.lp-fitting", { hidden: true });
  const clean = h("section.lp-clean", { hidden: true });
  root.append(
    problem,
    h("div.lp-head", {}, h("div", {}, worded("h1", "doctor.title"), about)),
    list,
    looked,
    encoded,
    fitting,
    clean,
  );
  reword(root);

  function draw() {
    const { found } = door;
    clean.hidden = looked.hidden = !found && !door.classes;
    fitting.hidden = !found && !door.classes;
    encoded.hidden = !found || !door.seen;
    if (door.classes) return drawClasses(door.classes);
    if (door.similarities) {
      about.textContent = door.similarities.about.join(" ");
      list.replaceChildren(...door.similarities.findings.map((one) => findingCard(one, ...adviceOf(one.advice))));
      return;
    }
    if (!found) {
      about.textContent = say("doctor.about_data");
      list.replaceChildren();
      return;
    }
    const { loss, batch } = door.state;
    const whole = { count: found.pairs, loss: titleOf(loss), batch };
    const key = found.findings.length ? "doctor.examined" : "doctor.examined_none";
    const inRows = found.rows < found.pairs ? say("doctor.in_rows", { rows: found.rows, batch }) : "";
    about.textContent = [say(key, whole), inRows].filter(Boolean).join(" ");
    list.replaceChildren(...found.findings.map(cardOf));
    drawLooked();
    drawEncoded();
    drawFitting();
    drawClean();
  }

  /** @param {Finding & { cells?: Cell[] }} finding */
  function cardOf(finding) {
    const { severity, advice, rows, scene, cells = [] } = finding;
    return findingCard(
      finding,
      ...adviceOf(advice),
      toRows(scene),
      rows.length + cells.length
        ? evidence(severity === "severe" || cells.length > 0, cells.length ? tableOfCells(cells) : tableOf(rows))
        : null,
    );
  }

  const toRows = (/** @type {string} */ scene) =>
    scene ? h("div.lp-row.lp-wrap", {}, h("a.lp-button", { href: `./#${scene}` }, say("doctor.open.rows"))) : null;

  // A table of texts with their classes, for losses on classes.
  /** @param {import("../../../wire").ExaminedClasses} found */
  function drawClasses(found) {
    const whole = { count: found.rows, classes: found.classes, batch: door.state.batch };
    const named = (/** @type {import("../../../wire").CountedClass[]} */ some) =>
      some.map(({ name, count }) => `${name} (${grouped(count)})`).join(say("ui.between"));
    about.textContent = [
      say("doctor.about_classes"),
      found.skipped ? say("doctor.class.skipped", { count: found.skipped }) : "",
      say(found.findings.length ? "doctor.class.examined" : "doctor.class.examined_none", whole),
    ]
      .filter(Boolean)
      .join(" ");
    list.replaceChildren(
      ...found.findings.map((finding) =>
        findingCard(
          finding,
          ...adviceOf(finding.advice),
          toRows(finding.scene),
          finding.rows.length ? evidence(finding.severity === "severe", classTable(finding.rows)) : null,
        ),
      ),
    );
    const sizes = ["largest", "smallest"]
      .map((key) => ({ key, some: found[/** @type {"largest" | "smallest"} */ (key)] }))
      .filter(({ some }) => some.length)
      .map(({ key, some }) => h("li", {}, say(`doctor.class.${key}`, { classes: named(some) })));
    looked.replaceChildren(
      h("ul.lp-remarks", {}, sizes),
      h(
        "details.lp-more",
        { open: !found.findings.length },
        h("summary", {}, say("doctor.looked_for")),
        h(
          "ul.lp-remarks",
          {},
          found.looked.map((one) => h("li", {}, one)),
        ),
      ),
    );
    drawFitting();
    drawClean();
  }

  /**
   * @param {boolean} open
   * @param {HTMLElement} shown
   */
  const evidence = (open, shown) => h("details.lp-more", { open }, h("summary", {}, say("doctor.evidence")), shown);

  /** @param {import("../../../wire").ClassRow[]} rows */
  const classTable = (rows) =>
    tableUnder(
      ["row", "text", "called"],
      rows.map(({ row, text, called }) => [grouped(row), text, called]),
    );

  /** @param {Finding["rows"]} rows */
  function tableOf(rows) {
    const labelled = rows.some(({ label }) => label !== null);
    const heads = ["row", "first", "second", ...(labelled ? ["label"] : [])];
    return tableUnder(
      heads,
      rows.map(({ row, first, second, label }) => [
        grouped(row),
        first,
        second,
        ...(labelled ? [label === null ? "" : show(label)] : []),
      ]),
    );
  }

  /** @param {Cell[]} cells */
  function tableOfCells(cells) {
    const hasOwn = cells.some(({ own }) => own !== null);
    const heads = ["row", "text", "other_row", "other_text", "cosine", ...(hasOwn ? ["own"] : [])];
    return tableUnder(
      heads,
      cells.map(({ row, first, other, second, cosine, own }) => [
        grouped(row),
        first,
        grouped(other),
        second,
        show(cosine, 3),
        ...(hasOwn ? [own === null ? "" : show(own, 3)] : []),
      ]),
    );
  }

  /**
   * @param {string[]} heads
   * @param {string[][]} lines
   */
  const tableUnder = (heads, lines) =>
    stackedTable(
      say("doctor.evidence"),
      heads.map((name) => ({ head: say(`doctor.column.${name}`), text: TEXTS.includes(name) })),
      lines,
    );

  function drawLooked() {
    const { looked: made = [], not_looked: unmade = [], findings: all = [] } = door.found ?? {};
    const lines = (/** @type {string[]} */ told) =>
      h(
        "ul.lp-remarks",
        {},
        told.map((one) => h("li", {}, one)),
      );
    looked.replaceChildren(
      h(
        "details.lp-more",
        { open: !all.length },
        h("summary", {}, say("doctor.looked_for")),
        lines(made),
        h("p", {}, say("doctor.not_looked_for")),
        lines(unmade),
        door.seen ? "" : h("p.lp-note", {}, say("doctor.without_encoder")),
      ),
    );
  }

  const { negatives, margin, usual } = pageData.doctor.mining;
  /** @type {(ends: readonly number[], initial: number, step: number, key: string, name: "negatives" | "margin") => HTMLElement} */
  const bounded = ([low, high], initial, step, key, name) => {
    const box = h("input", {
      type: "number",
      id: `lp-doctor-mine-${name}`,
      min: low,
      max: high,
      step,
      value: String(initial),
      oninput: () => {
        const fits = box.validity.valid && box.value !== "";
        box.classList.toggle("lp-bad", !fits);
        if (!fits) return;
        door.mining[name] = Number(box.value);
        drawCall();
      },
    });
    return labelled(key, box);
  };
  const call = h("div");
  function drawCall() {
    const { negatives: each, margin: share } = door.mining;
    const told = share ? `, relative_margin=${share}` : "";
    call.replaceChildren(pasteOf(`mine_hard_negatives(dataset, model, num_negatives=${each}${told})`));
    reword(call);
  }
  const mining = h(
    "div.lp-mining",
    {},
    worded("h2", "doctor.mine"),
    worded("p.lp-about", "doctor.mine_about"),
    h(
      "div.lp-row.lp-wrap",
      {},
      bounded(negatives, usual[0], 1, "doctor.mine_each", "negatives"),
      bounded(margin, usual[1], 0.01, "doctor.mine_margin", "margin"),
      worded("button.lp-button", "doctor.take_mined", { type: "button", onclick: () => door.mine() }),
    ),
    call,
  );
  drawCall();

  function drawEncoded() {
    const { seen } = door;
    encoded.replaceChildren();
    if (!seen) return;
    const { batch } = door.state;
    const about = { encoder: seen.encoder, count: seen.pairs, total: door.found?.pairs };
    const lines = (/** @type {{ said: string }[]} */ told) =>
      h(
        "ul.lp-remarks",
        {},
        told.map(({ said }) => h("li", {}, said)),
      );
    encoded.replaceChildren(
      h("h2", {}, say("doctor.encoder")),
      h("p.lp-about", {}, say("doctor.with_encoder", about)),
      seen.findings.length
        ? h("ol.lp-findings.lp-faults", {}, ...seen.findings.map(cardOf))
        : h("p", {}, say("doctor.none_found_encoded")),
      seen.ranked.length
        ? h(
            "details.lp-more",
            {},
            h("summary", {}, say("ui.suspects")),
            h("p.lp-note", {}, say("ui.suspects_note")),
            tableOf(seen.ranked),
          )
        : "",
      h("p", {}, say("doctor.bands")),
      lines(seen.bands),
      ...(seen.sharpness.length
        ? [h("p", {}, say("doctor.sharpnesses", { others: batch - 1 })), lines(seen.sharpness)]
        : []),
      h(
        "details.lp-more",
        { open: !seen.findings.length },
        h("summary", {}, say("doctor.looked_for")),
        lines(seen.looked.map((said) => ({ said }))),
        h("p", {}, say("doctor.not_looked_for")),
        lines(seen.not_looked.map((said) => ({ said }))),
      ),
      mining,
    );
  }

  // ---- Which loss? ---------------------------------------------------------------------------

  function drawFitting() {
    const { suited = [], more = 0 } = door.found ?? door.classes ?? {};
    const shown = suited.length - more;
    const none = door.classes ? "doctor.suited.none_classes" : "doctor.suited.none";
    const first = suited.filter(({ scene }) => scene !== null).slice(0, COMPARED);
    fitting.replaceChildren(
      h("h2", {}, say("doctor.which_loss")),
      h("p.lp-about", {}, say(suited.length ? "doctor.suited.title" : none)),
      h("ol.lp-findings.lp-suited", {}, ...suited.slice(0, shown).map(lossOf)),
      more
        ? h(
            "details.lp-more",
            {},
            h("summary", {}, say("doctor.more_losses", { count: more })),
            h("ol.lp-findings.lp-suited", { start: shown + 1 }, ...suited.slice(shown).map(lossOf)),
          )
        : "",
      first.length > 1 ? h("div.lp-row.lp-wrap", {}, toCompare(first, say("doctor.compare_first"))) : "",
    );
  }

  /**
   * The link of some of the rows under a loss; "" where no two fit into one.
   * @param {Fitting} fit
   */
  function sceneOf({ loss, scene }) {
    const { scenes = [] } = door.found ?? door.classes ?? {};
    return scene === null ? "" : `${scenes[scene]}.${loss}`;
  }

  /** @param {Fitting} fit */
  function lossOf(fit) {
    const { loss, reasons } = fit;
    const scene = sceneOf(fit);
    const best = (door.found ?? door.classes)?.suited.find((one) => one.loss !== loss);
    return h(
      "li.lp-finding",
      {},
      h("div.lp-finding-head", {}, h("strong", {}, titleOf(loss)), h("small", {}, loss)),
      h(
        "ul.lp-remarks",
        {},
        reasons.map((one) => h("li", {}, one)),
      ),
      h(
        "div.lp-row.lp-wrap",
        {},
        scene ? h("a.lp-button", { href: `./#${scene}` }, say("doctor.open.explore")) : null,
        scene && best ? toCompare([fit, best], say("doctor.open.compare", { loss: titleOf(best.loss) })) : null,
        h("a.lp-button", { href: `finetune#${toTrain(fit)}` }, say("doctor.open.finetune")),
        loss === door.state.loss || door.classes
          ? null
          : worded("button.lp-button", "doctor.examine_for", {
              type: "button",
              onclick: () => door.set({ loss }),
            }),
      ),
    );
  }

  /**
   * @param {Fitting[]} fits
   * @param {string} called
   */
  function toCompare(fits, called) {
    const sides = fits.map(({ loss }) => ({ loss, convention: "", parameters: {} }));
    const said = new URLSearchParams([...numbered(sides), ["scene", sceneOf(fits[0])]]);
    return h("a.lp-button", { href: `compare#${said}` }, called);
  }

  /**
   * The data set as Fine-tune takes it: by its name, as a file that the server has, or some of its rows.
   * @param {Fitting} fit
   */
  function toTrain(fit) {
    const { loss } = fit;
    const { kind, example } = door.state;
    const { file = "", name = "", columns = {}, encoding = "" } = door.of ?? {};
    const read = door.read?.findings ? door.read.file : null;
    const said = new URLSearchParams({ loss });
    const pairs = door.classes?.pairs_file;
    if (pairs) {
      said.set("file", pairs.file);
      said.set("name", pairs.name);
    } else if (kind === "example") said.set("example", example);
    else if (["file", "hub"].includes(kind) && read && door.of?.header === null) {
      for (const [key, value] of Object.entries({ file, name, encoding })) if (value) said.set(key, value);
      for (const [role, column] of Object.entries(columns)) said.set(`c.${role}`, column);
    } else said.set("link", sceneOf(fit));
    return said;
  }

  // ---- The rows that stay --------------------------------------------------------------------

  function drawClean() {
    const { classes } = door;
    const { kept = 0 } = door.found ?? classes ?? {};
    const total = door.found?.pairs ?? classes?.rows ?? 0;
    const left = total - kept;
    const changes = left > 0 || (classes?.respelled ?? 0) > 0;
    const { rows = 0, kept_rows: keptRows = 0 } = door.found ?? {};
    const cleaned = rows < total && !classes ? "cleaned_rows" : "cleaned";
    const key = `doctor${classes ? ".class" : ""}.${changes ? cleaned : "clean_all"}`;
    clean.replaceChildren(
      h("h2", {}, say("doctor.clean")),
      h("p.lp-about", {}, say(key, { kept, total, rows: keptRows, all: rows })),
      changes
        ? h(
            "div.lp-row.lp-wrap",
            {},
            worded("button.lp-button", "doctor.take_kept", { type: "button", onclick: () => door.takeAway("kept") }),
            worded("button.lp-button", "doctor.take_left_out", {
              type: "button",
              onclick: () => door.takeAway("left_out"),
            }),
          )
        : "",
    );
  }

  channel.on("state", () => {
    root.hidden = channel.door !== "data";
  });
  channel.on("examined", draw);
  channel.on("language", () => {
    reword(mining);
    draw();
  });
  reword(mining);
}
