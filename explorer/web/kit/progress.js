// What the page is waiting for: how far a long job has come, and a button that ends it.
import { h, worded } from "./dom.js";
import { grouped } from "./numbers.js";
import { say } from "./words.js";

/**
 * @param {HTMLElement} root
 * @param {import("./bus.js").Bus} channel
 */
export default function progress(root, channel) {
  const words = h("span");
  const bar = h("progress");
  const cancel = worded("button.lp-button", "ui.cancel", { type: "button", onclick: () => channel.cancel() });
  const box = h("div.lp-busy", { hidden: true }, words, bar, cancel);
  root.append(box);

  function tell() {
    const { progress } = channel;
    box.hidden = !channel.busy && !progress;
    cancel.hidden = !progress;
    bar.hidden = !progress?.total;
    if (progress?.total) Object.assign(bar, { max: progress.total, value: progress.done });
    words.textContent = progress
      ? say(`progress.${progress.what}`, {
          ...progress.values,
          done: grouped(progress.done),
          total: grouped(progress.total),
        })
      : say("ui.working");
    bar.setAttribute("aria-label", words.textContent);
  }

  channel.on("busy", tell);
  channel.on("progress", tell);
  channel.on("language", tell);
}
