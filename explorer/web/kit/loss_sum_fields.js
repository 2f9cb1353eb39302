// The fold in which losses are put together to one.

import {
  HALVED,
  lengthsIn,
  mayBeSum,
  nameOfSum,
  plainPart,
  summandsOf,
  WHOLE,
} from "./combined_loss_names_and_parts.js";
import { Checkbox, Field, Fold } from "./components.js";
import { groupsOf, LossSelect } from "./loss_choice.js";
import { pageData } from "./page_data.js";
import { h } from "./preact_view.js";
import { say, titleOf } from "./translated_sentences.js";
import { useLayoutEffect, useRef } from "./vendor/preact/hooks.js";

/** @typedef {import("../wire").Summand} Summand */

const MOST = 4; // as MAX_PARTS of losses/combined/combined_loss_names.py

/**
 * The fold in which a sum is put together: `loss` is the one that is chosen, and `choose` takes the name of the next.
 * Only losses that are no sums are offered as parts.
 * @param {{ id: string, loss: string, choose: (loss: string) => void }} properties
 */
export function LossCombination({ id, loss, choose }) {
  const fold = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  const wasInside = useRef(false);
  // A row that was taken out had the keyboard: it goes on to what follows the rows.
  useLayoutEffect(() => {
    const { current } = fold;
    if (wasInside.current && !current?.contains(document.activeElement)) current?.querySelector("select")?.focus();
    wasInside.current = false;
  }, [loss]);
  const parts = summandsOf(loss);
  const taken = new Set(parts.map((part) => part.loss));
  const offered = Object.entries(pageData.losses).filter(([name, { group }]) => isPart(group) && !taken.has(name));
  return h(
    Fold,
    {
      title: say("ui.combine"),
      kind: "lp-fold",
      id,
      root: fold,
      hidden: !isPart(pageData.losses[loss]?.group) && !mayBeSum(loss),
    },
    h(
      "div.lp-combined",
      parts.map((part, place) =>
        h(Part, {
          key: place,
          id: `${id}-${place}`,
          part,
          change: (next) => choose(nameOfSum(parts.map((one, k) => (k === place ? { ...one, ...next } : one)))),
          remove:
            parts.length < 2
              ? null
              : () => {
                  wasInside.current = true;
                  choose(nameOfSum(parts.filter((_one, k) => k !== place)));
                },
        }),
      ),
    ),
    parts.length < MOST
      ? h(LossSelect, {
          id: `${id}-add`,
          label: say("ui.combine.add"),
          value: "",
          groups: groupsOf(Object.fromEntries(offered)),
          first: say("ui.combine.add"),
          change: (name) => name && choose(nameOfSum([...parts, plainPart(name)])),
        })
      : h("p.lp-note", say("ui.combine.full")),
  );
}

/**
 * A loss of the sum; `remove` is null where it is the only one.
 * @param {{ id: string, part: Summand, change: (next: Partial<Summand>) => void, remove: (() => void) | null }} properties
 */
function Part({ id, part: { loss, prefixes, queued }, change, remove }) {
  const { takes_prefixes, takes_queue } = pageData.losses[loss] ?? {};
  return h(
    "div.lp-part",
    h(
      "div.lp-row",
      h("strong", titleOf(loss)),
      remove
        ? h(
            "button.lp-button.lp-quiet",
            { title: say("ui.combine.without"), "aria-label": say("ui.combine.without"), onClick: remove },
            "×",
          )
        : null,
    ),
    takes_prefixes
      ? h(Checkbox, {
          id: `${id}-prefixes`,
          name: say("ui.combine.prefixes"),
          checked: prefixes.length > 0,
          change: (on) => change({ prefixes: on ? HALVED : [], queued: false }),
        })
      : null,
    prefixes.length
      ? h(
          Field,
          { name: say("ui.combine.lengths") },
          h("input", {
            type: "text",
            id: `${id}-lengths`,
            inputMode: "numeric",
            spellcheck: false,
            value: prefixes.filter((length) => length > WHOLE).join(", "),
            title: say("ui.combine.lengths.about"),
            placeholder: say("ui.combine.lengths.usual"),
            onChange: (event) => change({ prefixes: lengthsIn(event.currentTarget.value), queued: false }),
          }),
        )
      : null,
    takes_queue
      ? h(Checkbox, {
          id: `${id}-queue`,
          name: say("ui.combine.queue"),
          checked: queued,
          change: (on) => change({ queued: on, prefixes: [] }),
        })
      : null,
  );
}

/** @param {string | undefined} group */
const isPart = (group) => group !== undefined && group !== "own" && group !== "combined";
