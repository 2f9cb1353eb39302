// The log of a run so far: its steps as columns, its evaluations and alarms.
const SMOOTH = 0.8;

/**
 * @typedef {import("../../wire").EvaluationRecord} Evaluation
 * @typedef {{ offset: number, about: import("../../wire").RunStatus | null, done: boolean, steps: number[],
 *   loss: number[], smooth: number[], norm: number[], rate: number[], evaluations: Evaluation[],
 *   alarms: import("../../wire").AlarmRecord[], trend: number, weight: number,
 *   held: Partial<Record<"before" | "after", import("../../wire").HeldOutRecord>> }} Trace
 */

/** @returns {Trace} */
export const emptyTrace = () => ({
  offset: 0,
  about: null,
  done: false,
  steps: [],
  loss: [],
  smooth: [],
  norm: [],
  rate: [],
  evaluations: [],
  alarms: [],
  held: {},
  trend: 0,
  weight: 0,
});

/** @type {(trace: Trace, record: import("../../wire").RunRecord) => void} */
export function absorb(trace, record) {
  if (record.kind === "step") {
    trace.weight = SMOOTH * trace.weight + 1 - SMOOTH;
    trace.trend = SMOOTH * trace.trend + (1 - SMOOTH) * record.loss;
    trace.steps.push(record.step);
    trace.loss.push(record.loss);
    trace.smooth.push(trace.trend / trace.weight);
    trace.norm.push(record.gradient_norm);
    trace.rate.push(record.learning_rate);
  } else if (record.kind === "evaluation") trace.evaluations.push(record);
  else if (record.kind === "alarm") trace.alarms.push(record);
  else if (record.kind === "held_out") trace.held[record.when] = record;
  else if (record.kind === "resumed") rewind(trace, record.step);
}

/**
 * A run that was continued does again what lay behind its last checkpoint.
 * @type {(trace: Trace, step: number) => void}
 */
function rewind(trace, step) {
  const kept = trace.steps.filter((one) => one <= step).length;
  for (const list of [trace.steps, trace.loss, trace.smooth, trace.norm, trace.rate]) list.length = kept;
  trace.evaluations = trace.evaluations.filter((one) => one.step <= step);
  trace.alarms = trace.alarms.filter((one) => one.step <= step);
  trace.weight = 1 - SMOOTH ** kept; // as it was then
  trace.trend = trace.weight * (trace.smooth.at(-1) ?? 0);
}
