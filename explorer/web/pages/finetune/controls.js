// The sidebar of the Fine-tune page: the plan of a run, folded while one is followed. Each control changes the plan and
// nothing else; what the server finds in it comes back as "checked".
import { Fold, Section } from "../../kit/components.js";
import { find } from "../../kit/dom.js";
import { group, h, show } from "../../kit/preact_view.js";
import { say } from "../../kit/words.js";
import { DataFields } from "./data.js";
import { EncoderFields, EncoderSettings } from "./encoder.js";
import { Button } from "./fields.js";
import { LossFields, LossSettings } from "./loss.js";
import { DataSettings, TrainingSettings } from "./settings.js";
import { StartBox } from "./start_button.js";
import { timeTrial } from "./time_estimate.js";

/** @typedef {{ channel: import("./state.js").FinetunePage }} Page */

/** @param {Page & { trial: ReturnType<typeof timeTrial> }} properties */
function Controls({ channel, trial }) {
  channel.observe("plan", "beside", "checked", "shown", "run", "starting");
  /** @type {(title: string, ...children: import("preact").ComponentChildren[]) => import("preact").VNode} */
  const part = (title, ...children) => h("section", null, h("h3", null, say(title)), children);
  const about = channel.trace()?.about;
  const plan = group(
    about
      ? h(Button, { id: "lp-finetune-reuse", name: say("finetune.reuse"), act: () => channel.reuse(about.plan) })
      : null,
    h(Section, { title: say("ui.data") }, h(DataFields, { channel })),
    h(Section, { title: say("ui.encoder") }, h(EncoderFields, { channel })),
    h(Section, { title: say("ui.loss") }, h(LossFields, { channel })),
    h(
      Fold,
      { title: say("finetune.more_settings"), kind: "lp-fold" },
      part("ui.data", h(DataSettings, { channel })),
      part("ui.encoder", h(EncoderSettings, { channel })),
      part("ui.loss", h(LossSettings, { channel })),
      part("finetune.how", h(TrainingSettings, { channel })),
    ),
  );
  const isFollowing = channel.isStarting || channel.shown.length > 0;
  return group(
    isFollowing ? h(Fold, { title: say("finetune.next_run"), kind: "lp-fold", id: "lp-next-run" }, plan) : plan,
    h(StartBox, { channel, trial }),
  );
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").FinetuneServer>} server
 */
export default function controls(root, channel, server) {
  const unfold = () => root.querySelector("#lp-next-run")?.setAttribute("open", "");
  const trial = timeTrial(channel, {
    outlook: () => (channel.checked?.pace === undefined || channel.checked.refused ? null : channel.checked),
    request: () => ({ plan: structuredClone(channel.plan) }),
  });
  show(root, Controls, { channel, trial });
  channel.on("plan", () => channel.cancel());
  // A reader who has pairs is led to where they are taken.
  channel.on("own", () => {
    channel.publish("open_controls");
    channel.setPlan({ data: { source: "file" } });
    setTimeout(() => {
      const drop = find(root, ".lp-drop");
      drop.scrollIntoView({ block: "center" });
      drop.focus();
    });
  });
  // What another button than these has changed here is shown to have changed.
  channel.on("taken", () => {
    root.classList.remove("lp-taken");
    void root.offsetWidth; // so that it begins anew
    root.classList.add("lp-taken");
    unfold();
  });
  channel.on("drawer", unfold);
  channel.connect(server);
  channel.files.describeAll();
}
