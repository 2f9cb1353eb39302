// The sidebar of the Large batch page: where the pairs come from, the loss, its parameters.
import { fileArrival } from "../../kit/arrival.js";
import { h, reword, worded } from "../../kit/dom.js";
import { foldable, labelled, section } from "../../kit/fields.js";
import { withLabels } from "../../kit/files.js";
import { lossFinder } from "../../kit/finder.js";
import { labelRules } from "../../kit/label_rules.js";
import { grouped, show } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { Requests } from "../../kit/request.js";
import { agree, GONE } from "../../kit/server.js";
import {
  check,
  columnFields,
  encodingField,
  lossSelect,
  parameterList,
  randomFields,
  tabbed,
  tellSkipped,
  twinsField,
} from "../../kit/sidebar.js";
import { stored } from "../../kit/storage.js";
import { language, say, titleOf } from "../../kit/words.js";

/** @typedef {import("./state.js").Source} Source */
/** @typedef {import("./state.js").Answer<"describe_file">} Description */

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").LargePage} channel
 */
export default function controls(root, channel) {
  const facts = pageData.large;
  const KINDS = ["random", "file", "explore"];
  const FAMILIES = ["split", "smooth", "linear", "in_batch"];
  const DESCRIBE_MS = 300;

  // ---- Random ------------------------------------------------------------------------------

  /** @type {(name: string, value: number | string) => void} */
  const setRandom = (name, value) => channel.change({ source: { kind: "random", random: { [name]: value } } });
  const looks = { pairs: { logarithmic: true } };
  const random = randomFields(channel.store.table, "source.random.", { labelsId: "lp-large-labels", looks }, setRandom);
  const sizes = h(
    "div.lp-sizes",
    {},
    [10_000, 100_000, 1_000_000].map((n) =>
      h(
        "button.lp-button",
        {
          type: "button",
          onclick: () => setRandom("pairs", n),
        },
        grouped(n),
      ),
    ),
  );

  // ---- File --------------------------------------------------------------------------------

  const fileNote = h("p.lp-note");
  const columns = h("div.lp-columns");
  const skipped = h("ul.lp-skipped", { hidden: true });
  const encoder = h("input", { type: "text", id: "lp-large-encoder", spellcheck: false, placeholder: facts.encoder });
  const useEncoder = worded("button.lp-button", "ui.use_encoder", {
    type: "button",
    onclick: () => {
      agree(encoder.value);
      channel.change({ source: { encoder: encoder.value.trim() || facts.encoder } });
    },
  });

  // The file goes over piece by piece; the server names it by its content.
  const arrival = fileArrival(channel, {
    id: "lp-large-file",
    kinds: "large.file_kinds",
    most: facts.bytes,
    note: fileNote,
    put: async (piece) => (await channel.server?.hand_in(piece)) ?? { error: GONE },
    take: (file, name) =>
      channel.change({
        source: { kind: "file", file, name, columns: {}, encoder: encoder.value.trim() || facts.encoder },
      }),
  });

  const ROLES = ["first", "second", "score", "similarity"];
  let described = "";
  /** @type {Requests<{ source: Source, answer: Description }>} */
  const descriptions = new Requests({
    most: 2,
    ask: async () => {
      const { source } = channel.asked;
      return { source, answer: (await channel.server?.describe_file({ source })) ?? { error: GONE } };
    },
    again: ({ answer }) => (answer.working ? DESCRIBE_MS : null),
    take: tellFile,
  });
  function describe() {
    const { source } = channel.asked;
    const key = JSON.stringify([source.file, source.columns, source.header, source.encoding, language()]);
    if (source.kind !== "file" || key === described) return;
    described = key;
    descriptions.ask();
  }

  /** @param {{ source: Source, answer: Description }} told */
  function tellFile({ source, answer }) {
    if (answer.error) described = ""; // the problem is told with the blocks
    if (!answer.columns) return;
    const counts = answer.undecided
      ? say(answer.columns.length ? "ui.file_undecided" : "ui.encoding_undecided", { name: source.name })
      : say(answer.limited ? "large.file_limited" : "large.file_read", {
          name: source.name,
          used: grouped(answer.used),
          total: grouped(answer.total),
        });
    fileNote.textContent = withLabels(counts, answer.undecided ? null : answer);
    /** @param {import("./state.js").SourceChange} source */
    const set = (source) => channel.change({ source });
    const chosen = { ...answer.chosen }; // with what is chosen while the next answer is awaited
    const roles = "anchor" in answer.chosen ? Object.keys(answer.chosen) : ROLES;
    /** @type {(role: string, column: string) => void} */
    const take = (role, column) => {
      chosen[role] = column;
      set({ columns: { ...chosen } });
    };
    columns.replaceChildren(...encodingField(answer, (encoding) => set({ encoding, header: null, columns: {} })));
    if (answer.columns.length)
      columns.append(
        ...columnFields({ ...answer, roles, none: "large.no_column" }, take),
        check("ui.has_header", answer.header, (header) => set({ header, columns: {} })),
      );
    tellSkipped(skipped, answer.skipped, answer.told);
  }

  // ---- The Explore page's batch ------------------------------------------------------------

  const link = h("input", { type: "text", id: "lp-large-link", spellcheck: false });
  const openLink = worded("button.lp-button", "large.open_link", {
    type: "button",
    onclick: () => channel.change({ source: { kind: "explore", link: link.value.trim().replace(/^.*#/, "") } }),
  });

  // ---- Tabs --------------------------------------------------------------------------------

  const panels = {
    random: h(
      "div.lp-panel",
      {},
      random.element("pairs"),
      sizes,
      random.labels,
      ["grades", "dimension", "agreement", "mislabelled", "imbalance", "hard_negatives", "seed"].map(random.element),
    ),
    file: h(
      "div.lp-panel",
      {},
      arrival,
      fileNote,
      columns,
      skipped,
      worded("p.lp-note", "large.encoder_note"),
      labelled("ui.encoder", encoder),
      useEncoder,
    ),
    explore: h("div.lp-panel", {}, worded("p.lp-note", "large.explore_note"), labelled("large.link", link), openLink),
  };
  let tab = "random";
  const sources = tabbed({ called: (name) => `large.source.${name}`, names: KINDS, tabId: "lp-large", panels }, choose);
  const still = h("p.lp-note");
  /** @param {string} kind */
  function choose(kind) {
    tab = kind;
    const { file, link: opened } = channel.store.state.source;
    if (kind === "random" || (kind === "file" ? file : opened)) channel.change({ source: { kind } });
    else showTab();
  }
  function showTab() {
    const { source } = channel.asked;
    still.hidden = tab === source.kind;
    if (!still.hidden)
      still.textContent = say(`large.still.${tab}`, { source: source.name ?? say(`large.source.${source.kind}`) });
    sources.set(tab);
  }

  // ---- Loss --------------------------------------------------------------------------------

  const lossChoice = lossSelect("lp-large-loss", (loss) => channel.change({ loss, parameters: {} }));
  const byName = lossFinder(
    "lp-large-loss-name",
    (loss) => channel.change({ loss, parameters: {} }),
    (loss) => loss in facts.losses,
  );
  function listLosses() {
    const all = Object.entries(facts.losses);
    /** @param {string} name */
    const named = (name) => all.filter(([, { family }]) => family === name).map(([loss]) => [loss, titleOf(loss)]);
    const groups = FAMILIES.map((name) => ({ label: say(`large.group.${name}`), losses: named(name) }));
    lossChoice.fill(groups.filter(({ losses }) => losses.length));
    lossChoice.set(channel.asked.loss);
    byName.list();
  }
  const lossNote = h("p.lp-note");
  const notHere = h("div");
  function tellNotHere() {
    const said = Object.entries(facts.not_here).map(([why, losses]) => say(`large.not_here.${why}`, { losses }));
    notHere.replaceChildren(...said.map((sentence) => h("p.lp-note", {}, sentence)));
  }
  const parameters = parameterList((name, value) =>
    channel.change({ parameters: { ...channel.asked.parameters, [name]: value } }),
  );

  // ---- Rules -------------------------------------------------------------------------------

  const labels = labelRules("lp-large-", (rules) => channel.change({ rules }));
  const counted = h("p.lp-note");
  const rules = h("details.lp-fold", { open: true }, worded("summary", "ui.rules"), labels.element, counted);
  function tellRules() {
    const found = channel.answer;
    if (!found) return;
    labels.tell(found.rules);
    const { positives, threshold } = found.rules;
    const count = { count: positives, all: found.figures.pairs, threshold: show(threshold) };
    counted.textContent = say("rule.positives", count);
  }

  const twins = twinsField("lp-large-twins", ["keep", "leave_out"], (chosen) => channel.change({ twins: chosen }));
  root.append(
    section(
      "large.loss",
      lossChoice.element,
      byName.element,
      lossNote,
      parameters.element,
      twins.element,
      h("details.lp-not-here", {}, worded("summary", "large.not_here"), notHere),
    ),
    foldable("large.data", sources.element, still, Object.values(panels)),
    rules,
  );
  reword(root);

  function fill() {
    const { source, loss, parameters: chosen } = channel.asked;
    const spec = facts.losses[loss];
    parameters.set(loss, spec?.parameters ?? [], chosen);
    lossChoice.set(loss);
    twins.set(channel.asked.twins);
    twins.element.hidden = !spec?.reads_texts;
    lossNote.textContent = spec ? say(`large.family.${spec.family}`, { most: grouped(spec.most) }) : "";
    if (spec?.wanted === "angles")
      lossNote.textContent += ` ${say("large.angle_note", { drawn: grouped(spec.most_drawn) })}`;
    rules.hidden = spec?.wanted !== "vectors"; // no other loss asks which pairs are positive
    labels.set(channel.asked.rules);
    if (source.kind === "random" && source.random) {
      random.set(source.random);
      random.element("grades").hidden = source.random.labels !== "graded";
    }
    random.element("dimension").hidden = spec?.wanted === "cosines";
    if (source.encoder) encoder.value = source.encoder;
    if (source.link) link.value = source.link;
    describe();
  }

  let kindShown = "";
  function state() {
    if (kindShown !== channel.asked.source.kind) tab = kindShown = channel.asked.source.kind;
    showTab();
    fill();
  }
  function words() {
    listLosses();
    tellNotHere();
    sizes.querySelectorAll("button").forEach((button, i) => {
      button.textContent = grouped([10_000, 100_000, 1_000_000][i]);
    });
    // The scene that the Explore page was last at.
    link.value ||= stored("scene") ?? "";
  }

  channel.on("state", state);
  channel.on("answer", () => {
    describe(); // where reading it was stopped before
    tellRules();
  });
  channel.on("language", () => {
    words();
    fill();
    tellRules();
    showTab();
    reword(root);
  });
  words();
}
