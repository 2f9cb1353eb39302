// Numbers that others were stuck with, to begin with.
import { h } from "../../kit/dom.js";
import { pageData } from "../../kit/page_data.js";
import { say } from "../../kit/words.js";

/**
 * A button for each: the number, and what is known beside it.
 * @param {import("./state.js").DoctorPage} channel
 */
export function exampleButtons(channel) {
  return pageData.doctor.examples.map((example) => {
    const { value, ...beside } = /** @type {Record<string, string>} */ (example);
    const more = Object.entries(beside).map(([name, one]) =>
      name === "loss" ? one : `${say(`doctor.known.${name}`)} ${one}`,
    );
    return h(
      "button.lp-button",
      { type: "button", onclick: () => channel.begin(example) },
      [value, ...more].join(" · "),
    );
  });
}
