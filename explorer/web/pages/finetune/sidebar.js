// The sidebar of the Fine-tune page: the plan of a run, folded while one is followed. Each control changes the plan and
// nothing else; what the server finds in it comes back as "checked".
import { Fold, Section } from "../../kit/components.js";
import { find } from "../../kit/dom.js";
import { group, h, show } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { Button } from "./form_components.js";
import { DataFields } from "./sidebar/data.js";
import { EncoderFields, EncoderSettings } from "./sidebar/encoder.js";
import { LossFields, LossSettings } from "./sidebar/loss.js";
import { StartBox } from "./sidebar/start_button.js";
import { DataSettings, TrainingSettings } from "./sidebar/training_settings.js";
import { timeTrial } from "./time_estimate.js";

/** @typedef {{ page: import("./state.js").FinetunePage }} Page */

/** @param {Page & { trial: ReturnType<typeof timeTrial> }} properties */
function Controls({ page, trial }) {
  page.observe("plan", "beside", "checked", "shown", "run", "starting");
  /** @type {(title: string, ...children: import("../../kit/types").Children[]) => import("preact").VNode} */
  const part = (title, ...children) => h("section", h("h3", say(title)), children);
  const about = page.trace()?.about;
  const plan = group(
    about
      ? h(Button, { id: "lp-finetune-reuse", name: say("finetune.reuse"), act: () => page.reuse(about.plan) })
      : null,
    h(Section, { title: say("ui.data") }, h(DataFields, { page })),
    h(Section, { title: say("ui.encoder") }, h(EncoderFields, { page })),
    h(Section, { title: say("ui.loss") }, h(LossFields, { page })),
    h(
      Fold,
      { title: say("finetune.more_settings"), kind: "lp-fold" },
      part("ui.data", h(DataSettings, { page })),
      part("ui.encoder", h(EncoderSettings, { page })),
      part("ui.loss", h(LossSettings, { page })),
      part("finetune.how", h(TrainingSettings, { page })),
    ),
  );
  const isFollowing = page.isStarting || page.shown.length > 0;
  return group(
    isFollowing ? h(Fold, { title: say("finetune.next_run"), kind: "lp-fold", id: "lp-next-run" }, plan) : plan,
    h(StartBox, { page, trial }),
  );
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").FinetuneServer>} server
 */
export default function controls(root, page, server) {
  const unfold = () => root.querySelector("#lp-next-run")?.setAttribute("open", "");
  const trial = timeTrial(page, {
    outlook: () => (page.checked?.pace === undefined || page.checked.refused ? null : page.checked),
    request: () => ({ plan: structuredClone(page.plan) }),
  });
  show(root, Controls, { page, trial });
  page.on("plan", () => page.cancel());
  // A reader who has pairs is led to where they are taken.
  page.on("own", () => {
    page.publish("open_controls");
    page.setPlan({ data: { source: "file" } });
    setTimeout(() => {
      const drop = find(root, ".lp-drop");
      drop.scrollIntoView({ block: "center" });
      drop.focus();
    });
  });
  // What another button than these has changed here is shown to have changed.
  page.on("taken", () => {
    root.classList.remove("lp-taken");
    void root.offsetWidth; // so that it begins anew
    root.classList.add("lp-taken");
    unfold();
  });
  page.on("drawer", unfold);
  page.connect(server);
  page.files.describeAll();
}
