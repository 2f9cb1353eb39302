// What a reader can do about a problem of a scenario, as buttons beside it.
import { aboutTeacher } from "./model_names_as_shown.js";

/**
 * @type {(page: Pick<import("./batch_page_base.js").BatchPage<any>, "ask" | "problem" | "store"> &
 *   { set(change: object): void }) => import("./types").Remedy[]}
 */
export const remediesOf = (page) => [
  {
    fits: ({ about }) => about === "guide",
    key: "ui.without_guide",
    act: () => page.set({ data: page.store.state.data.guide ? { guide: "" } : { guided: [] } }),
  },
  {
    fits: ({ about }) => aboutTeacher(about) && page.store.state.data.teacher_model !== "",
    key: "ui.without_teacher",
    act: () => page.set({ data: { teacher_model: "" } }),
  },
  {
    fits: ({ about }) => about === "lists" || about === "teacher",
    key: "ui.example_of_lists",
    act: () => page.set({ data: { source: "example", example: "graded_lists" } }),
  },
  {
    fits: ({ about }) => page.problem !== null && about === "cancelled",
    key: "ui.go_on",
    act: () => page.ask(),
  },
];
