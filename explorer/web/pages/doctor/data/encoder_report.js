// What only an encoder can tell of a dataset.
import { Fold } from "../../../kit/components.js";
import { h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";
import { Lines, listed } from "../finding_card.js";
import { DataFault, RowTable, Searched } from "./finding_evidence.js";
import { Mining } from "./hard_negative_mining.js";

/** @typedef {import("./check_state_and_requests.js").DataCheck} DataCheck */

/**
 * @param {{ data: DataCheck, examined: import("../../../wire").ExaminedData,
 *   encoded: import("../../../wire").EncodedData }} properties
 */
export function EncoderReport({ data, examined, encoded }) {
  const about = { encoder: encoded.encoder, count: encoded.pairs, total: examined.pairs };
  const { bands, sharpness, findings, ranked, gap } = encoded;
  return h(
    "section.lp-encoded",
    h("h2", say("doctor.encoder")),
    h("p.lp-about", say("doctor.with_encoder", about)),
    listed(findings, (finding) => h(DataFault, { finding })),
    findings.length ? null : h("p", say("doctor.none_found_encoded")),
    ranked.length
      ? h(Fold, { title: say("ui.suspects") }, h("p.lp-note", say("ui.suspects_note")), h(RowTable, { rows: ranked }))
      : null,
    h("p", say("doctor.bands")),
    h(Lines, { lines: bands.map(({ said }) => said) }),
    gap ? h("p", gap) : null,
    sharpness.length ? h("p", say("doctor.sharpnesses", { others: data.state.batch - 1 })) : null,
    h(Lines, { lines: sharpness.map(({ said }) => said) }),
    h(Searched, { looked: encoded.looked, unlooked: encoded.not_looked, open: !findings.length }),
    h(Mining, { data }),
  );
}
