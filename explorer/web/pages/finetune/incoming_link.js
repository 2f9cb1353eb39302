// What an address of another page brings: a loss, and the data for it.
import { withoutBlanks } from "../../kit/combined_loss_names_and_parts.js";
import { pageData } from "../../kit/page_data.js";
import { wholeLink } from "../../kit/redacted_scenario_links.js";
import { readyMade } from "./plan_names.js";

/** @param {string} text */
export const lossIn = (text) => withoutBlanks(new URLSearchParams(text).get("loss") ?? "");

/**
 * A loss and a dataset in an address: an example by its name, a file that the server has, or the link of a scenario.
 * @type {(text: string) => import("./state.js").PlanChange | null}
 */
export function planIn(text) {
  const entries = new URLSearchParams(text);
  const loss = lossIn(text);
  if (!loss || !Object.hasOwn(pageData.losses, loss)) return null;
  const form = { loss, convention: "", parameters: {} };
  const [example, file, scenarioLink] = ["example", "file", "link"].map((name) => entries.get(name));
  if (example) return { ...form, data: readyMade(example) };
  if (file) {
    const columns = Object.fromEntries(
      [...entries].filter(([key]) => key.startsWith("c.")).map(([key, column]) => [key.slice(2), column]),
    );
    const [name, encoding] = ["name", "encoding"].map((entry) => entries.get(entry) ?? "");
    return { ...form, data: { source: "file", file, name, encoding, columns, alternatives: [] } };
  }
  return scenarioLink ? { ...form, data: { source: "link", link: wholeLink(scenarioLink) } } : null;
}
