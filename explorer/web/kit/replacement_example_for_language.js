// The example that a reader of another language sees in place of one.
import { pageData } from "./page_data.js";
import { language } from "./translated_sentences.js";

/**
 * The example that opens in place of another for a reader of the language in use: itself where there is none.
 * @param {string} example
 */
export const exampleInLanguage = (example) => pageData.examples_in[language()]?.[example] ?? example;
