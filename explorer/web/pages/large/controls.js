// The sidebar of the Large batch page: where the pairs come from, the loss, its parameters.
import { h, reword, worded } from "../../kit/dom.js";
import { foldable, labelled, section } from "../../kit/fields.js";
import { base64Of } from "../../kit/files.js";
import { given } from "../../kit/given.js";
import { grouped } from "../../kit/numbers.js";
import { Requests } from "../../kit/request.js";
import { GONE, problem } from "../../kit/server.js";
import {
  check,
  columnFields,
  filePicker,
  lossSelect,
  parameterList,
  randomFields,
  tabbed,
  tellSkipped,
} from "../../kit/sidebar.js";
import { stored } from "../../kit/storage.js";
import { language, say, titleOf } from "../../kit/words.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").LargePage} channel
 */
export default function controls(root, channel) {
  const facts = given.large;
  const KINDS = ["random", "file", "explore"];
  const FAMILIES = ["split", "smooth", "linear", "in_batch"];
  const PIECE = 2 ** 21; // bytes of a file that travel at a time
  const DESCRIBE_MS = 300;

  // ---- Random ------------------------------------------------------------------------------

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

  const picker = filePicker({ id: "lp-large-file", kinds: "large.file_kinds" }, send);
  const arriving = h("progress", { hidden: true, max: 1 });
  const giveUp = worded("button.lp-button", "ui.stop", {
    type: "button",
    hidden: true,
    onclick: () => {
      sending = null;
    },
  });
  const fileNote = h("p.lp-note");
  const columns = h("div.lp-columns");
  const skipped = h("ul.lp-skipped", { hidden: true });
  const encoder = h("input", { type: "text", id: "lp-large-encoder", spellcheck: false, placeholder: facts.encoder });
  const useEncoder = worded("button.lp-button", "ui.use_encoder", {
    type: "button",
    onclick: () => channel.change({ source: { encoder: encoder.value.trim() || facts.encoder } }),
  });

  // The file goes over piece by piece; the server names it by its content.
  let sending = null;
  async function send(file) {
    if (file.size > facts.bytes) {
      channel.warn(problem("large_file_too_large", { name: file.name, most: facts.bytes / 2 ** 20 }));
      return;
    }
    sending = file;
    const token = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
      byte.toString(16).padStart(2, "0"),
    ).join("");
    const parts = { name: file.name, token };
    const wrong = channel.problem; // with what was asked for before
    channel.forgive();
    fileNote.textContent = file.name;
    arriving.hidden = giveUp.hidden = false;
    let answer = null;
    for (let start = 0; start === 0 || start < file.size; start += PIECE) {
      arriving.value = start / Math.max(file.size, 1);
      answer = await ask("hand_in", {
        ...parts,
        start,
        content: await base64Of(file.slice(start, start + PIECE)),
        last: start + PIECE >= file.size,
      });
      if (sending !== file || answer.error) break;
    }
    if (sending !== file || answer.error) await ask("hand_in", { token, forget: true });
    if (sending && sending !== file) return; // another file was chosen meanwhile
    arriving.hidden = giveUp.hidden = true;
    if (!sending || answer.error) channel.fail(wrong);
    if (!sending) {
      fileNote.textContent = say("large.not_sent", parts);
      return;
    }
    sending = null;
    if (answer.error) {
      channel.warn(answer.error);
      return;
    }
    channel.change({
      source: {
        kind: "file",
        file: answer.file,
        name: file.name,
        columns: {},
        encoder: encoder.value.trim() || facts.encoder,
      },
    });
  }

  const ask = async (name, request) => (await channel.server[name](request)) ?? { error: GONE };

  const ROLES = ["first", "second", "score", "similarity"];
  let described = "";
  const descriptions = new Requests({
    most: 2,
    ask: async () => ({
      source: channel.asked.source,
      answer: await ask("describe_file", { source: channel.asked.source }),
    }),
    again: ({ answer }) => (answer.working ? DESCRIBE_MS : null),
    take: tellFile,
  });
  function describe() {
    const { source } = channel.asked;
    const key = JSON.stringify([source.file, source.columns, source.header, language()]);
    if (source.kind !== "file" || key === described) return;
    described = key;
    descriptions.ask();
  }

  function tellFile({ source, answer }) {
    if (answer.error) {
      described = "";
      return;
    } // the problem is told with the blocks
    fileNote.textContent = answer.undecided
      ? say("ui.file_undecided", { name: source.name })
      : say(answer.limited ? "large.file_limited" : "large.file_read", {
          name: source.name,
          used: grouped(answer.used),
          total: grouped(answer.total),
        });
    const set = (source) => channel.change({ source });
    const chosen = { ...answer.chosen }; // with what is chosen while the next answer is awaited
    const roles = "anchor" in answer.chosen ? Object.keys(answer.chosen) : ROLES;
    const take = (role, column) => {
      chosen[role] = column;
      set({ columns: { ...chosen } });
    };
    columns.replaceChildren(
      ...columnFields({ ...answer, roles, none: "large.no_column" }, take),
      check("ui.has_header", answer.header, (header) => set({ header, columns: {} })),
    );
    tellSkipped(skipped, answer.skipped, answer.told);
  }

  // ---- The Explore page's batch ------------------------------------------------------------

  const link = h("input", { type: "text", id: "lp-large-link", spellcheck: false });
  const openLink = worded("button.lp-button", "large.open_link", {
    type: "button",
    onclick: () => channel.change({ source: { kind: "explore", link: link.value.trim().split("#").pop() } }),
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
      picker,
      arriving,
      giveUp,
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
  function choose(kind) {
    tab = kind;
    const { file, link: opened } = channel.store.state.source;
    if ({ random: true, file, explore: opened }[kind]) channel.change({ source: { kind } });
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
  function listLosses() {
    const all = Object.entries(facts.losses);
    const named = (name) => all.filter(([, { family }]) => family === name).map(([loss]) => [loss, titleOf(loss)]);
    const groups = FAMILIES.map((name) => ({ label: say(`large.group.${name}`), losses: named(name) }));
    lossChoice.fill(groups.filter(({ losses }) => losses.length));
    lossChoice.set(channel.asked.loss);
  }
  const lossNote = h("p.lp-note");
  const parameters = parameterList((name, value) =>
    channel.change({ parameters: { ...channel.asked.parameters, [name]: value } }),
  );

  root.append(
    section(
      "large.loss",
      lossChoice.element,
      lossNote,
      parameters.element,
      h(
        "details.lp-not-here",
        {},
        worded("summary", "large.not_here"),
        ["hierarchical_cosent", "multitask_cosent", "max_violation", "single", "others"].map((why) =>
          worded("p.lp-note", `large.not_here.${why}`),
        ),
      ),
    ),
    foldable("large.data", sources.element, still, Object.values(panels)),
  );
  reword(root);

  function fill() {
    const { source, loss, parameters: chosen } = channel.asked;
    const spec = facts.losses[loss];
    parameters.set(loss, spec?.parameters ?? [], chosen);
    lossChoice.set(loss);
    lossNote.textContent = spec ? say(`large.family.${spec.family}`, { most: grouped(spec.most) }) : "";
    if (spec?.wanted === "angles")
      lossNote.textContent += ` ${say("large.angle_note", { drawn: grouped(spec.most_drawn) })}`;
    if (source.kind === "random") {
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
    sizes.querySelectorAll("button").forEach((button, i) => {
      button.textContent = grouped([10_000, 100_000, 1_000_000][i]);
    });
    // The scene that the Explore page was last at.
    link.value ||= stored("scene") ?? "";
  }

  channel.on("state", state);
  channel.on("answer", describe); // where reading it was stopped before
  channel.on("language", () => {
    words();
    fill();
    showTab();
    reword(root);
  });
  words();
}
