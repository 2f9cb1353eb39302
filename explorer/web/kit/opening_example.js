// The example that a page opens with: in the reader's language, where there is one. A link names its own.
import { pageData } from "./page_data.js";
import { language } from "./words.js";

/** @param {string} example */
export const inLanguage = (example) => pageData.examples_in[language()]?.[example] ?? example;
