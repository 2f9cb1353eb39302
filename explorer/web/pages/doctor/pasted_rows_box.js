// A box for rows that are pasted or typed, which are read once typing rests.
import { Field, useDraft } from "../../kit/components.js";
import { h } from "../../kit/preact_view.js";
import { useRef } from "../../kit/vendor/preact/hooks.js";

const TYPING_MS = 400;

/**
 * @param {{ id: string, name: string, value: string, example: string, change: (value: string) => void }} properties
 */
export function PastedRows({ id, name, value, example, change }) {
  /** @type {import("preact").RefObject<ReturnType<typeof setTimeout> | undefined>} */
  const typing = useRef(undefined);
  const draft = useDraft(value);
  return h(
    Field,
    { name },
    h("textarea.lp-pasted", {
      id,
      rows: 8,
      value: draft.now,
      spellcheck: false,
      placeholder: example,
      onInput: ({ currentTarget: box }) => {
        draft.now = box.value;
        clearTimeout(typing.current);
        typing.current = setTimeout(() => change(box.value), TYPING_MS);
      },
    }),
  );
}
