// What a reader can do about a problem, as buttons beside it.
import { aboutTeacher } from "../../kit/second_models.js";

/** @type {(channel: import("./state.js").ComparePage) => import("../../kit/problem.js").Remedy[]} */
export const remediesOf = (channel) => [
  {
    fits: ({ about }) => channel.problem !== null && about === "cancelled",
    key: "ui.go_on",
    act: () => channel.ask(),
  },
  {
    fits: ({ about }) => about === "lists" || about === "teacher",
    key: "ui.example_of_lists",
    act: () => channel.set({ data: { source: "example", example: "graded_lists" } }),
  },
  {
    fits: ({ about }) => about === "guide",
    key: "ui.without_guide",
    act: () => channel.set({ data: channel.store.state.data.guide ? { guide: "" } : { guided: [] } }),
  },
  {
    fits: ({ about }) => aboutTeacher(about) && channel.store.state.data.teacher_model !== "",
    key: "ui.without_teacher",
    act: () => channel.set({ data: { teacher_model: "" } }),
  },
];
