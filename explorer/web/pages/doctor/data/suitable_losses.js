// Which losses can learn from a dataset: each with its reasons, and where to go on with it.
import { Fold } from "../../../kit/components.js";
import { h } from "../../../kit/preact_view.js";
import { numbered } from "../../../kit/state_link.js";
import { say, titleOf } from "../../../kit/translated_sentences.js";
import { Lines } from "../finding_card.js";

/** @typedef {import("./check_state_and_requests.js").DataCheck} DataCheck */
/** @typedef {import("../../../wire").FittingLoss} Fitting */

const COMPARED = 4;

/** @param {{ data: DataCheck }} properties */
export function SuitableLosses({ data }) {
  const { suited = [], more = 0 } = data.examined ?? data.classes ?? {};
  const shown = suited.length - more;
  const none = data.classes ? "doctor.suited.none_classes" : "doctor.suited.none";
  const comparable = suited.filter(({ scene }) => scene !== null).slice(0, COMPARED);
  /** @param {Fitting} fit */
  const item = (fit) => h(SuitableLoss, { data, fit });
  return h(
    "section.lp-fitting",
    h("h2", say("doctor.which_loss")),
    h("p.lp-about", say(suited.length ? "doctor.suited.first" : none)),
    h("ol.lp-findings.lp-suited", suited.slice(0, shown).map(item)),
    more
      ? h(
          Fold,
          { title: say("doctor.more_losses", { count: more }) },
          h("ol.lp-findings.lp-suited", { start: shown + 1 }, suited.slice(shown).map(item)),
          comparable.length > 1 ? h(CompareLink, { data, fits: comparable }) : null,
        )
      : null,
  );
}

/** @param {{ data: DataCheck, fit: Fitting }} properties */
function SuitableLoss({ data, fit }) {
  const { loss, reasons } = fit;
  const scene = linkOf(data, fit);
  return h(
    "li.lp-finding",
    h("div.lp-finding-head", h("strong", titleOf(loss)), h("small", loss)),
    h(Lines, { lines: reasons }),
    h(
      "div.lp-row.lp-wrap",
      h("a.lp-button", { href: `finetune#${trainingOf(data, fit)}` }, say("doctor.open.finetune")),
      scene ? h("a.lp-button", { href: `./#${scene}` }, say("doctor.open.explore")) : null,
    ),
  );
}

/** @param {{ data: DataCheck, fits: Fitting[] }} properties */
function CompareLink({ data, fits }) {
  const losses = fits.map(({ loss }) => ({ loss, convention: "", parameters: {} }));
  const query = new URLSearchParams([...numbered(losses), ["scene", linkOf(data, fits[0])]]);
  return h("a.lp-button", { href: `compare#${query}` }, say("doctor.compare_first"));
}

/**
 * The link of some of the rows under a loss; "" where no two fit into one.
 * @type {(data: DataCheck, fit: Fitting) => string}
 */
function linkOf(data, { loss, scene }) {
  const { scenes = [] } = data.examined ?? data.classes ?? {};
  return scene === null ? "" : `${scenes[scene]}.${loss}`;
}

/**
 * The dataset as Fine-tune takes it: by its name, as a file that the server has, or some of its rows.
 * @type {(data: DataCheck, fit: Fitting) => URLSearchParams}
 */
function trainingOf(data, fit) {
  const { kind, example } = data.state;
  const { file = "", name = "", columns = {}, encoding = "" } = data.source ?? {};
  const read = data.read?.findings ? data.read.file : null;
  const query = new URLSearchParams({ loss: fit.loss });
  const pairs = data.classes?.pairs_file;
  if (pairs) {
    query.set("file", pairs.file);
    query.set("name", pairs.name);
  } else if (kind === "example") query.set("example", example);
  else if (["file", "hub"].includes(kind) && read && data.source?.header === null) {
    for (const [key, value] of Object.entries({ file, name, encoding })) if (value) query.set(key, value);
    for (const [role, column] of Object.entries(columns)) query.set(`c.${role}`, column);
  } else query.set("link", linkOf(data, fit));
  return query;
}
