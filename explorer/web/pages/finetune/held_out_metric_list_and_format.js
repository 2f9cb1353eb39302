// What is measured on held-out pairs: its metrics, how they are written, and by which a model is judged.
import { showWithin } from "../../kit/number_format.js";

// Digits after the point of what was measured on held-out pairs.
export const METRIC_DECIMALS = 3;
/** @type {("spearman" | "pearson" | "accuracy" | "auc" | "accuracy_at_1" | "mrr_at_10")[]} */
export const HELD_OUT_METRICS = ["spearman", "pearson", "accuracy", "auc", "accuracy_at_1", "mrr_at_10"];

/**
 * What a model is judged by: of positives alone, which have no order, what it finds.
 * @type {(measured: import("../../wire").Measured) => "spearman" | "accuracy_at_1"}
 */
export const leadingMetric = ({ accuracy_at_1: found = null }) => (found === null ? "spearman" : "accuracy_at_1");

/**
 * A mean with its deviation over seeds.
 * @type {(figure: string, found?: Partial<import("../../wire").Spread>) => string}
 */
export const meanAndSpread = (figure, { mean, spread: deviation } = {}) =>
  mean === undefined ? "—" : showWithin(mean, deviation, figure === "loss" ? null : METRIC_DECIMALS);
