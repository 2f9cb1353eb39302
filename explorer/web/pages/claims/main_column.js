// The page of claims: one claim on the batch at hand, and all of them with their verdicts.
import { Fold, ProblemBox } from "../../kit/components.js";
import { h, show } from "../../kit/preact_view.js";
import { Slider } from "../../kit/slider.js";
import { entitle } from "../../kit/title.js";
import { citation, say } from "../../kit/translated_sentences.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { ClaimResult, Formula, statementOf, VerdictMark } from "./claim_result.js";
import { TrainingPanel } from "./training_panel.js";

/** @typedef {{ page: import("./state.js").ClaimsPage }} Properties */

/** @param {Properties} properties */
function Main({ page }) {
  page.observe("state", "row");
  const { claim } = page;
  useLayoutEffect(() => entitle(say(`claims.${claim.name}.claim`)));
  return h(
    "div",
    h(ProblemBox, { page, isShown: () => page.drawn }),
    h(ClaimChoice, { page }),
    h(OneClaim, { page }),
    h(AllClaims, { page }),
  );
}

/** @param {Properties} properties */
function ClaimChoice({ page }) {
  const { claim, listed } = page;
  const sources = [...new Set(listed.map(({ name }) => name.split("-")[0]))];
  return h(
    "div.lp-claim-choice",
    h(
      "button.lp-button",
      { onClick: () => page.step(-1), title: say("claims.previous"), "aria-label": say("claims.previous") },
      "◀",
    ),
    h(
      "select",
      {
        id: "lp-claim",
        value: claim.name,
        "aria-label": say("claims.choose"),
        onChange: (event) => page.set({ claim: event.currentTarget.value }),
      },
      sources.map((source) =>
        h(
          "optgroup",
          { key: source, label: say(`cite.${source}`) },
          listed
            .filter(({ name }) => name.startsWith(`${source}-`))
            .map(({ name }) => h("option", { key: name, value: name }, `${name} · ${statementOf(name, "claim")}`)),
        ),
      ),
    ),
    h(
      "button.lp-button",
      { onClick: () => page.step(1), title: say("claims.next"), "aria-label": say("claims.next") },
      "▶",
    ),
  );
}

/** @param {Properties} properties */
function OneClaim({ page }) {
  const { claim, row } = page;
  return h(
    "article.lp-claim",
    { "aria-busy": row ? "false" : "true" },
    h(
      "div",
      h(
        "p.lp-note",
        citation(claim.source, (short) => say(`claims.from.${short}`)),
      ),
      h("h1", statementOf(claim.name, "claim")),
      h(
        "div.lp-claim-formula",
        { tabIndex: 0, role: "img", "aria-label": claim.formula },
        h(Formula, { latex: claim.formula, display: true }),
      ),
      row ? h(OverallVerdict, { page, row }) : null,
      row?.here && claim.scaled
        ? h(Slider, {
            entry: page.store.entry("scale"),
            value: page.store.state.scale,
            title: "claims.scale",
            logarithmic: true,
            change: (value) => page.set({ scale: value }),
          })
        : null,
    ),
    h("div", row ? h(ClaimResults, { page, row }) : null, h(TrainingPanel, { page })),
  );
}

/** @param {Properties & { row: import("../../wire").ClaimResults }} properties */
function ClaimResults({ page, row }) {
  const { name } = page.claim;
  const known = statementOf(name, "known");
  if (!row.here) {
    return row.own.parts.length
      ? h(ClaimResult, { page, name, result: row.own, title: known || say("claims.known") })
      : null;
  }
  return h(
    "div",
    row.here.parts.length
      ? h(ClaimResult, { page, name, result: row.here, title: known || say("claims.here") })
      : h("p", say("claims.nothing_here")),
    h(BatchLink, { page, row }),
    h(
      Fold,
      { title: say("claims.own") },
      h(ClaimResult, { page, name, result: { ...row.own, chart: null }, title: known || say("claims.own_here") }),
    ),
  );
}

/** The verdict over all batches, and its condition. */
function OverallVerdict(/** @type {Properties & { row: import("../../wire").ClaimResults }} */ { page, row }) {
  const { name } = page.claim;
  const [main] = row.tried;
  const condition = statementOf(name, "only_if");
  return h(
    "div",
    h(
      "p",
      h(VerdictMark, { verdict: main?.verdict ?? "nothing" }),
      main && main.checked > 1 && main.verdict !== "vacuous"
        ? h("small", ` ${say("claims.held", { held: main.held, checked: main.checked })}`)
        : null,
    ),
    condition && main?.verdict === "only_if" ? h("p", say("claims.condition", { condition })) : null,
  );
}

/** @param {Properties & { row: import("../../wire").ClaimResults }} properties */
function BatchLink({ page, row }) {
  const { pairs, total } = row;
  return h(
    "p.lp-note",
    h(
      "a.lp-link",
      { href: new URL(`.#${page.scene}`, document.baseURI).href },
      say(pairs < total ? "claims.batch_cut" : "claims.batch", { pairs, total }),
    ),
  );
}

/** @param {Properties} properties */
function AllClaims({ page }) {
  page.observe("verdicts");
  const { listed, verdicts } = page;
  return h(
    Fold,
    { title: say("claims.all", { count: listed.length }) },
    h(
      "div.lp-scroll",
      { tabIndex: 0, role: "region", "aria-label": say("claims.all", { count: listed.length }) },
      h(
        "table.lp-claim-sides.lp-claim-list",
        h(
          "tbody",
          listed.map(({ name }) =>
            h(
              "tr",
              { key: name },
              h("th", { scope: "row" }, h("a.lp-link", { href: page.addressOf(name) }, name)),
              h("td", statementOf(name, "claim")),
              h("td", verdicts[name] ? h(VerdictMark, { verdict: verdicts[name] }) : null),
            ),
          ),
        ),
      ),
    ),
  );
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ClaimsPage} page
 * @param {import("../../kit/types").Asking<import("../../wire").ClaimsServer>} server
 */
export default function main(root, page, server) {
  show(root, Main, { page });
  page.connect(server);
}
