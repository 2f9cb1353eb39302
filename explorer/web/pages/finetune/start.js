// What a plan is trained with beside it, and the button that begins: the losses, their seeds, the time.
import { h } from "../../kit/dom.js";
import { show } from "../../kit/numbers.js";
import { lossSelect } from "../../kit/sidebar.js";
import { say } from "../../kit/words.js";
import { encoderOf, lossOf } from "./naming.js";
import { timeTrial } from "./trial.js";

/**
 * @param {import("./state.js").FinetunePage} channel
 * @param {import("./complaints.js").Complaints} complaints
 * @param {HTMLElement} seeds
 */
export function startBox(channel, { line, complain }, seeds) {
  const start = h("button.lp-start", { type: "button", id: "lp-finetune-start", onclick: begin });
  const startWrong = line();
  const time = h("p.lp-note", { id: "lp-finetune-time", role: "status" });
  const summary = h("p.lp-note.lp-summary");

  // The losses to be trained. The one in the controls above is the plan's; the others stand beside
  // it, some before and some after.
  /** @typedef {import("./state.js").Form} Form */
  /** @param {Form} form */
  const formOf = ({ loss, convention, parameters }) => ({ loss, convention, parameters });
  const chosen = () => [...channel.beside.before, formOf(channel.plan), ...channel.beside.after];
  const forms = () => [...new Map(chosen().map((form) => [JSON.stringify(form), form])).values()];
  const another = lossSelect("lp-finetune-another", (loss) =>
    put([...chosen(), { loss, convention: "", parameters: {} }]),
  );
  another.element.dataset.title = "finetune.another";
  const kept = h("ul.lp-kept");

  /**
   * These losses are chosen now, and the one at a place (the last) is in the controls.
   * @param {Form[]} all
   */
  function put(all, at = all.length - 1) {
    channel.setBeside({ before: all.slice(0, at), after: all.slice(at + 1) });
    channel.setPlan(all[at]);
  }

  function tellKept() {
    const all = chosen();
    const now = channel.beside.before.length;
    another.set("");
    kept.setAttribute("aria-label", say("finetune.kept"));
    kept.replaceChildren(
      ...all.map((form, place) => {
        const name = lossOf(form);
        const here = place === now;
        const leave = () =>
          put(
            all.filter((_, other) => other !== place),
            here ? Math.max(place - 1, 0) : now - Number(place < now),
          );
        return h(
          "li",
          {},
          h(
            "button.lp-kept-name",
            {
              type: "button",
              "aria-pressed": String(here),
              title: say("finetune.edit", { name }),
              onclick: () => put(all, place),
            },
            name,
          ),
          all.length > 1
            ? h(
                "button.lp-quiet",
                {
                  type: "button",
                  ariaLabel: say("finetune.unkeep", { name }),
                  title: say("finetune.unkeep", { name }),
                  onclick: leave,
                },
                "✕",
              )
            : null,
        );
      }),
    );
  }

  async function begin() {
    const plans = forms().flatMap((form) =>
      Array.from({ length: channel.beside.seeds }, (_, i) => ({
        ...channel.plan,
        ...form,
        seed: channel.plan.seed + i,
      })),
    );
    channel.cancel();
    start.disabled = true;
    await channel.start(plans);
    start.disabled = false;
  }

  function tellWrong() {
    complain(startWrong, channel.notice ?? channel.checked?.error ?? channel.checked?.refused);
  }
  channel.on("problem", tellWrong);

  const able = () => (channel.checked?.pace === undefined || channel.checked.refused ? null : channel.checked);
  const trial = timeTrial(channel, {
    outlook: able,
    asked: () => ({ plan: structuredClone(channel.plan) }),
    told: () => tellTime(),
    failed: (error) => complain(startWrong, error),
  });

  // What the button will do: which encoder, how many losses and seeds, how long.
  function tellTime() {
    const [many, each] = [forms().length, channel.beside.seeds];
    const count = many * each;
    start.textContent = count > 1 ? say("finetune.start_many", { count }) : say("finetune.start");
    const { plan, checked } = channel;
    const { steps, examples = 1, minutes } = checked ?? {};
    summary.textContent = [
      encoderOf(plan),
      many > 1 && each > 1
        ? say("finetune.product", { losses: many, seeds: each, count })
        : forms().map(lossOf).join(", "),
      steps
        ? say("finetune.steps_of", {
            steps,
            batch: plan.batch_size,
            epochs: show((steps * plan.batch_size) / examples, 2),
          })
        : "",
    ]
      .filter(Boolean)
      .join(" · ");
    if (!steps) {
      time.textContent = "";
      return;
    }
    time.textContent = trial.sentence(count);
    if (minutes) time.textContent += ` ${say("finetune.shared_time", { minutes })}`;
  }

  channel.on("runs", tellTime);
  return {
    element: h("div.lp-start-box", {}, h("div.lp-row", {}, start, seeds), summary, startWrong, time),
    losses: [kept, another.element],
    /** @param {import("../../kit/sidebar.js").Group[]} groups */
    fillLosses: (groups) => another.fill(groups, h("option", { value: "" }, say("finetune.another"))),
    fill() {
      complain(startWrong, null);
      tellKept();
      tellTime();
    },
    tellTime,
    tellChecked() {
      tellWrong();
      trial.settle();
    },
  };
}
