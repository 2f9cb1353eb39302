// What the server answers: written by `python -m tests.wire` from explorer/web/wire.

/** One of several objects; what stands in the others alone is undefined in it. */
export type OneOf<T, All = T> = T extends unknown
  ? T & { [Name in Exclude<All extends unknown ? keyof All : never, keyof T>]?: undefined }
  : never;

export type Real = number | "inf" | "-inf" | "nan";

export type About = "" | "encoder" | "loss" | "scores" | "columns" | "chosen_columns" | "unknown_column" | "encoding" | "size" | "search" | "cancelled" | "again" | "lists" | "guide" | "teacher" | "gone" | "log" | "teacher_vectors" | "leave";

export type Floats = string;

export type Integers = string;

export type Bytes = string;

export type Setting = number | boolean | string | number[] | null;

export type ParityStatus = "equal" | "explained" | "differs" | "alone" | "not_installed" | "not_called" | "failed";

export type RunRecord = OneOf<StepRecord | EvaluationRecord | HeldOutRecord | AlarmRecord | EventRecord>;

export type Range = [number, number];

/** All scores lie within `high` − `low`, since a step. */
export interface AlarmRecord {
  kind: "alarm";
  step: number;
  since: number;
  low: number;
  high: number;
  loss: number | null;
  collapse: number | null;
}

/** The pair on which two sides disagree most, in words. */
export interface Apart {
  pair: number;
  told: Told[];
}

/** Over all ways to cut a batch into parts of one size, or over so many that were `drawn`. */
export interface Averaged {
  loss: Real;
  comparisons: Real | null;
  drawn: number;
  exact: boolean;
}

/** The rows or columns that are shown: which items, and the pair and sentence behind each. */
export interface Axis {
  name: string;
  items: number[];
  pairs: number[];
  sentences: number[];
}

/** The bands of rows or columns: least and largest label and score; single pairs by name. */
export interface Bands {
  name: string;
  edges: number[];
  labels: [number[], number[]];
  scores: [number[], number[]];
  levels: Level[];
  items: Pair[];
}

/** All sides and every two of those that stand; the rest where the page has another batch. */
export interface Beside {
  sides: ComparedSide[];
  two: Two[];
  gradient: "score" | "pair";
  batch?: ComparedBatch;
  skipped?: SkippedRow[];
  rows?: string;
}

/** The blocks of a window: arrays [bands of rows, bands of columns]. */
export interface Blocks {
  window: [number, number, number, number];
  shape: [number, number];
  total: Floats;
  share: Floats;
  largest: Floats;
  masked: Floats;
  bounded: boolean;
  of_weights: boolean;
  exact: boolean;
  concentrated: Concentrated | null;
  rows: Bands;
  columns: Bands;
  figures: LargeFigures;
  rules: LabelRules;
  milliseconds: number;
  device: string;
}

/** Whether there was a job to cancel. */
export interface Cancelled {
  cancelled: boolean;
}

/** A loss before and after a change; `refused` says why there is no after. */
export interface ChangedLoss {
  before: ChangedState;
  after: ChangedState | null;
  ratio: Real | null;
  notices: boolean;
  refused: Problem | null;
}

/** What becomes of a side. */
export interface ChangedSide {
  found: ChangedLoss | null;
  problem: Problem | null;
}

/** Sides before and after a change of the batch, which has so many `pairs` after it. */
export interface ChangedSides {
  pairs: number;
  sides: ChangedSide[];
}

/** A loss on one batch. */
export interface ChangedState {
  loss: Real;
  gradient: Real;
  floor: Real | null;
  collapse: Real | null;
}

/** What the data holds, which losses can learn from it, how long the run will be; within which Spearman, above and below 0, so many held-out pairs stay `by_chance`, at this `level`. Whether a teacher's scores came with the data is `taught`, of how many pairs a model is asked `asked`; whether a guide's vectors did, which no trainer reads, `guide_unread`. `notes` say how the columns of a data set of the hub were read; those of a file stand below it. */
export interface Checked {
  refused: Problem | null;
  examples: number;
  form: "pairs" | "classes" | "triplets" | "lists";
  steps: number;
  pace: string;
  repetition: Repetition;
  of_scene: ChosenThere | null;
  sample: [string, string, number][];
  losses: Record<string, Problem | null>;
  train: number;
  held_out: number;
  by_chance: number | null;
  level: string;
  labels: [number, number, number];
  labelled: boolean;
  taught: boolean;
  asked: number;
  guide_unread: boolean;
  rules: LabelRules;
  skipped: number;
  notes: ReadingNote[];
  shared: number;
  rate: number;
  trials: Offer[];
  minutes: number | null;
}

/** A loss with its convention and what differs from its defaults. */
export interface ChosenLoss {
  loss: string;
  convention: string;
  parameters: Record<string, Setting>;
}

/** What the scene of a link says beside its data: `twins` where it leaves them out, and what models it names. */
export interface ChosenThere {
  loss: string;
  convention: string;
  parameters: Record<string, Setting>;
  threshold: number | null;
  label_range: Range | null;
  extra_negatives: boolean;
  twins?: "apart" | "leave_out" | "keep";
  guide?: string;
  teacher_model?: string;
}

/** What is the matter with a table of classes, with texts that show it, and the link of a scene of Explore with these and others of their classes ("" where none fits). */
export interface ClassFinding {
  name: string;
  severity: "severe" | "warning" | "note";
  said: string;
  advice: string[];
  rows: ClassRow[];
  scene: string;
}

/** A text, of those read, that shows a finding, with the class that it stands in. */
export interface ClassRow {
  row: number;
  text: string;
  called: string;
}

/** A loss on the way to one point: its value at each share, at its `start`, where it is `lowest` (`least`), and at the end (`reached`), beside its `line` at collapse. */
export interface Collapsing {
  values: Floats;
  start: Real;
  line: Real | null;
  reached: Real;
  falls: boolean;
  lowest: number;
  least: Real;
  arrives: boolean | null;
}

/** What becomes of a side. */
export interface CollapsingSide {
  found: Collapsing | null;
  problem: Problem | null;
}

/** Sides at the same `shares` of the way of all vectors to one point; `spread` is that between the largest and the smallest cosine of a pair. `by_cosines`: these took the place of scores that were given. */
export interface CollapsingSides {
  by_cosines: boolean;
  shares: Floats;
  spread: Floats;
  sides: CollapsingSide[];
}

/** What Compare is told. */
export interface CompareFacts {
  pages: PageLink[];
  hosted: Hosted | null;
  counts: string[];
  losses: Record<string, Loss>;
  groups: string[];
  paired: string[];
  by_pair: string[];
  names: [string, string, string][];
  related_classes: RelatedClass[];
  defaults: Scenario;
  scenario: StateEntry[];
  limits: Limits;
  compare: CompareOwn;
}

/** What Compare alone is told: how many losses it takes, those that people train with most, the orders of its bars. */
export interface CompareOwn {
  table: StateEntry[];
  usual: string[];
  least: number;
  most: number;
  bars: string[];
  questions: Record<string, Question>;
  examples: Record<string, Example>;
}

/** Finished runs beside each other, and what the first of them moved. */
export interface Compared {
  pairs: Word;
  unseen: OnFile | null;
  groups: Group[];
  differences: GroupDifference[];
  verdict: Remark[];
  level: string;
  least_seeds: number;
  run?: string;
  moved?: MovedPair[];
  neighbours?: Neighbours[];
}

/** The batch; `numbers` is what a person calls each pair. */
export interface ComparedBatch {
  key: string;
  first: string[];
  second: string[];
  sentences: string[];
  labels: number[];
  labelled: boolean;
  inference: boolean;
  places: number[] | null;
  threshold: number;
  label_range: Range;
  positives: number;
  negatives: number;
  owned: number;
  classes: number;
  dimension: number;
  orthogonal: boolean;
  given: boolean;
  guided: boolean;
  taught: boolean;
  numbers: number[];
}

/** What a loss makes of the batch; null for what it does not have. */
export interface ComparedFigures {
  loss: Real;
  floor: Real | null;
  floor_is_bound: boolean;
  collapse: Real | null;
  gradient_norm: Real;
  gradient_of: "scores" | "vectors";
  terms: number | null;
  active: number | null;
  moving: number | null;
  effective: Real | null;
  ordered: number;
  violated: number;
  places: Places | null;
}

/** One side: its figures, the gradient of each pair and the step that is looked at, or the problem that kept it from any. `parameters` are those in force; `looked` is null of a step that the page has by this `name` already. */
export interface ComparedSide {
  named: Told;
  parameters: Record<string, Setting>;
  problem: Problem | null;
  figures: ComparedFigures | null;
  gradient: Floats | null;
  projected: boolean;
  name: string;
  looked: Looked | null;
}

/** The share of blocks that holds nine tenths of their weight, and their part of all. */
export interface Concentrated {
  share: number;
  part: number;
}

/** A class, and how many texts it has. */
export interface CountedClass {
  name: string;
  count: number;
}

/** What becomes of a side. */
export interface CutSide {
  found: Pieces | null;
  problem: Problem | null;
}

/** Sides on a batch in pieces. */
export interface CutSides {
  sides: CutSide[];
}

/** Which pairs, and what gives them similarities. */
export interface Data {
  source: string;
  example: string;
  rows: [string, string, string][];
  teacher: [string, string, string][];
  guided: [string, string][];
  file: string;
  reading: Reading;
  random: RandomBatch;
  encoder: string;
  cross_encoder: string;
  guide: string;
  teacher_model: string;
  corrections: [string, string, string][];
}

/** What is the matter with a data set: in a sentence, what to do and paste, rows that show it, and the link of a scene of Explore with these rows ("" where none fits). */
export interface DataFinding {
  name: string;
  severity: "severe" | "warning" | "note";
  said: string;
  advice: string[];
  rows: EvidentRow[];
  scene: string;
}

/** What takes another moment: counts over all terms. */
export interface Details {
  loss: Real;
  gradient: Real;
  bytes: number;
  violated: number;
  compared: number;
  places: LargePlaces | null;
  effective: Real;
  effective_error: number;
  heaviest: LargeTerm[];
  histogram: ScoreHistogram;
}

/** b − a, the mean over the shared seeds, and where it lies at LEVEL. */
export interface Difference {
  difference: number;
  low: number;
  high: number;
  seeds: number[];
  pairs: number;
  covers: "both" | "pairs";
  pairs_needed: number | null;
}

/** Two definitions in one, or one after the other where they are not `together`: `formula` line by line in LaTeX, which step of either side each part is, the parameters, the listings; `empty` where they are one formula. */
export interface Differing {
  formula: string[];
  steps: FormulaStep[];
  parameters: FormulaParameter[];
  code: FormulaLine[];
  base: StepNumbers[];
  other: StepNumbers[];
  together: boolean;
  empty: boolean;
}

/** How many suspects a batch without a wrong label would have, by its correlation alone: the mean over draws, and where CLEAN_SHARE of such batches lie; at most `most_strong` of them are strong. */
export interface Disagreement {
  expected: number;
  low: number;
  high: number;
  most_strong: number;
}

/** What Doctor is told. */
export interface DoctorFacts {
  pages: PageLink[];
  hosted: Hosted | null;
  counts: string[];
  losses: Record<string, Loss>;
  groups: string[];
  paired: string[];
  by_pair: string[];
  names: [string, string, string][];
  related_classes: RelatedClass[];
  defaults: Scenario;
  scenario: StateEntry[];
  limits: Limits;
  doctor: DoctorOwn;
}

/** What Doctor alone is told: its doors; what may be known beside a number, and numbers to begin with; data sets and logs of runs to begin with, and how large a file of either may be. */
export interface DoctorOwn {
  doors: string[];
  table: StateEntry[];
  counts: string[];
  settings: string[];
  examples: Record<string, string>[];
  sets: string[];
  bytes: number;
  logs: string[];
  beside: string[];
  of_other: string[];
  log_bytes: number;
  encoder: string;
  with_margin: string[];
  mining: Mining;
}

/** Similarities of positives and negatives at one moment or several, in sentences too; the rows of a finding are queries. */
export interface DoctoredSimilarities {
  moments: SimilarityMoment[];
  about: string[];
  findings: FoundFault[];
}

/** One batch of `size` rows: the one with this `number`, counted from 0 on through the epochs. */
export interface Draw {
  sampler: string;
  size: number;
  seed: number;
  number: number;
}

/** An SVG. */
export interface Drawing {
  text: string;
}

/** A curve of a run: packed steps and values. */
export interface DrawnCurve {
  name: string;
  steps: string;
  values: string;
}

/** What only an encoder can tell of a data set, on so many of its pairs; `ranked` are the first of those on which it and the labels disagree. */
export interface EncodedData {
  encoder: string;
  pairs: number;
  findings: EncodedFinding[];
  looked: string[];
  not_looked: string[];
  ranked: EvidentRow[];
  bands: SeenBand[];
  sharpness: SeenSharpness[];
}

/** A finding that takes an encoder, with texts of two pairs that show it. */
export interface EncodedFinding {
  name: string;
  severity: "severe" | "warning" | "note";
  said: string;
  advice: string[];
  rows: EvidentRow[];
  scene: string;
  cells: FoundCell[];
}

/** The share of a gradient's energy in so many of the first dimensions: of the sum's, and of the part's on the longest prefix. */
export interface Energy {
  dimensions: number;
  share: Real;
  alone: Real;
}

/** The live pairs, measured; `probe` has the score of each probe pair. */
export interface EvaluationRecord {
  spearman: number | null;
  pearson: number | null;
  accuracy: number | null;
  accuracy_threshold: number | null;
  auc: number | null;
  alignment: number | null;
  uniformity: number | null;
  effective_rank: number | null;
  mean_cosine: number | null;
  pairs?: number;
  accuracy_at_1?: number | null;
  mrr_at_10?: number | null;
  lists?: ListFigures | null;
  kind: "evaluation";
  step: number;
  histogram: LiveHistogram | null;
  probe: number[];
  seconds: number;
}

/** What happened to the run; `resumed`: of what came before, no more than `step` counts. */
export interface EventRecord {
  kind: "checkpoint" | "resumed" | "paused" | "continued";
  step: number;
}

/** A pair that shows a finding, with the row of the table that it stands in. */
export interface EvidentRow {
  row: number;
  first: string;
  second: string;
  label: Real | null;
}

/** What is the matter with a table of texts and their classes in batches of a size, the worst first; the share of a batch's rows that are alone of their class; the largest classes, and the smallest of the others; the losses that can learn from it, and how many, the last ones, stand folded; the link of a scene with rows of it; how many texts stay in the cleaned table, and how many have a class of another spelling there; its pairs of one class as a file that the server has, null where no loss can; and how the table was read. */
export interface ExaminedClasses {
  rows: number;
  classes: number;
  skipped: number;
  columns: Record<string, string>;
  alone: number;
  largest: CountedClass[];
  smallest: CountedClass[];
  findings: ClassFinding[];
  looked: string[];
  suited: FittingLoss[];
  scenes: string[];
  more: number;
  kept: number;
  respelled: number;
  pairs_file: FetchedRows | null;
  file: LargeFile;
}

/** What is the matter with a data set, pairs in so many rows, for a loss in batches of so many of these, the worst first; what was looked for, and what was not; all losses that can learn from it, and how many of these, the last ones, stand folded; links of scenes of Explore with rows of it, which several of the losses share; how many pairs and rows a cleaned table keeps; and how a file was read. */
export interface ExaminedData {
  pairs: number;
  rows: number;
  findings: DataFinding[];
  looked: string[];
  not_looked: string[];
  suited: FittingLoss[];
  scenes: string[];
  more: number;
  kept: number;
  kept_rows: number;
  file: LargeFile | null;
}

/** What is the matter with a run, as `doctor_run` answers it, the curves that are drawn, another run beside it, and the numbers of a pasted one as a link carries them. */
export interface ExaminedRunLog {
  source: string;
  curve: string;
  held_out: string;
  curves: Record<string, number>;
  points: number;
  steps: string[];
  step: string;
  known: Record<string, Setting>;
  precision: string;
  collapse: number | null;
  floor: number | null;
  logged: boolean;
  level: Real | null;
  severe: boolean;
  about: string[];
  findings: RunFinding[];
  link: string | null;
  scene: string | null;
  drawn: DrawnCurve[];
  beside: OtherRun | null;
  shared: string;
}

/** A textbook example. */
export interface Example {
  note: string | null;
}

/** What a run learnt from, row by row of its data set. */
export interface ExampleCount {
  form: "pairs" | "classes" | "triplets" | "lists";
  count: number;
}

/** What a number means, as `explain_loss_value` answers it. */
export interface Explained {
  value: number;
  count: number;
  fits: boolean;
  told: string[];
  findings: ToldFinding[];
  standing: ExplainedStanding | null;
  none: string;
  signs: string[];
  below_zero: string[];
  known: Record<string, Setting>;
}

/** A loss that has the value, and the counts and parameters at which it does. */
export interface ExplainedLoss {
  loss: string;
  convention: string;
  parameters: Record<string, Setting>;
  counts: Record<string, number>;
  counted: string;
  kind: string;
  reason: string;
  value: number;
  doubled: number | null;
  other: number | null;
  assumed: number;
  shows: "loss" | "floor";
  scene: string | null;
}

/** Where the number stands for one loss at counts that are known. */
export interface ExplainedStanding {
  loss: string;
  convention: string;
  counts: Record<string, number>;
  floor: number | null;
  collapse: number;
  start: number | null;
  place: "negative" | "below" | "floor" | "between" | "collapse" | "starting" | "above";
  share: number | null;
  assumed: "" | "halves" | "positives" | "classes" | "one_right";
  said: string;
}

/** What Explore is told. */
export interface ExploreFacts {
  pages: PageLink[];
  hosted: Hosted | null;
  counts: string[];
  losses: Record<string, Loss>;
  groups: string[];
  paired: string[];
  by_pair: string[];
  names: [string, string, string][];
  related_classes: RelatedClass[];
  defaults: Scenario;
  scenario: StateEntry[];
  limits: Limits;
  explore: ExploreOwn;
}

/** What Explore alone is told; `own` are the losses of the user's own, `editable` whether their files can be edited in the page; `tried` how many pairs of a file the trials take at most. */
export interface ExploreOwn {
  examples: Record<string, Example>;
  samplers: string[];
  ranges: Record<string, Range>;
  spread: number;
  tried: number;
  own: string[];
  editable: boolean;
}

/** `batch`, `skipped`, `limited` where the page has another batch; `rows` names those sent. */
export interface Explored {
  picture: Picture;
  batch?: SceneBatch;
  skipped?: SkippedRow[];
  limited?: boolean;
  rows?: string;
}

/** Rows of a data set as a file that the server has, by its content. */
export interface FetchedRows {
  file: string;
  name: string;
}

/** The strip of figures above the picture; null for what the loss does not have. */
export interface Figures {
  loss: Real;
  collapse: Real | null;
  floor: Real | null;
  floor_is_bound: boolean;
  ordered: number;
  violated: number;
  spearman: Real | null;
  places: Places | null;
  terms: number | null;
  active: number | null;
  carried: number | null;
  beside: boolean;
  by_threshold: boolean;
  effective: Real | null;
  gradient_norm: Real;
  gradient_of: "scores" | "vectors";
  projected: boolean;
  banded: boolean;
  device: string;
  milliseconds: number;
}

/** The pairs that are used of a file, and how it was read; `file` is its digest. */
export interface FileRead {
  encoding: string;
  encodings: [string, string][];
  name: string;
  file: string;
  rows: [string, string, string][];
  teacher: [string, string, string][];
  guided: [string, string][];
  reading: Reading;
  columns: string[];
  chosen: Record<string, string>;
  notes: ReadingNote[];
  header: boolean;
}

/** A file whose columns, or whose encoding, are to be chosen from. */
export interface FileUndecided {
  encoding: string;
  encodings: [string, string][];
  error: Problem;
  file: string;
  columns: string[];
  chosen: Record<string, string>;
  header: boolean;
}

/** What the Fine-tune page is told. */
export interface FinetuneFacts {
  pages: PageLink[];
  hosted: Hosted | null;
  counts: string[];
  losses: Record<string, Loss>;
  groups: string[];
  paired: string[];
  by_pair: string[];
  names: [string, string, string][];
  related_classes: RelatedClass[];
  defaults: Scenario;
  scenario: StateEntry[];
  limits: Limits;
  finetune: FinetuneOwn;
}

/** What the Fine-tune page alone is told. */
export interface FinetuneOwn {
  table: StateEntry[];
  quick: QuickPlan;
  more_evaluations: number;
  schedules: string[];
  samplers: string[];
  augmentations: string[];
  practice: string[];
  examples: string[];
  scratch: string;
  embedded: string;
  source: Printed;
}

/** A loss that can learn from the data, with reasons for and against in sentences, and which of the `scenes` shows some of its rows; null where no two fit into a link. */
export interface FittingLoss {
  loss: string;
  reasons: string[];
  scene: number | null;
}

/** And what its log has since the offset that was asked from. */
export interface FollowedRun {
  id: string;
  loss: string;
  encoder: string;
  kind: "bi" | "cross";
  plan: TrainingPlan;
  created: number;
  state: "queued" | "loading" | "training" | "paused" | "saving" | "finished" | "stopped" | "failed" | "interrupted";
  shared: boolean;
  loading: Loading | null;
  queue_position: number | null;
  queue_seconds: number | null;
  step: number;
  steps: number | null;
  seconds: number;
  seconds_left: number | null;
  summary: Summary | null;
  problem: Problem | null;
  records: RunRecord[];
  offset: number;
}

/** A loss in one convention, with a `note` where there is one; `variants`: the formula at a parameter's value, "name=value"; `counted`: which candidates count where texts are known, as a formula, "" for a loss that reads no texts. */
export interface Form {
  formula: string;
  note: string;
  variants: Record<string, string>;
  collapse: string;
  floor: string;
  counted: string;
  knows_owners: boolean;
  asks_guide: boolean;
  asks_teacher: boolean;
  negatives_of_batch: boolean;
  parameters: Parameter[];
}

/** A line of either listing, or one of both. */
export interface FormulaLine {
  kind: "shared" | "parameter" | "changed" | "base" | "other";
  base_text: string;
  other_text: string;
  base_step: number | null;
  other_step: number | null;
}

/** A parameter by its name on either side, with its values. */
export interface FormulaParameter {
  kind: "shared" | "parameter" | "changed" | "base" | "other";
  base: string | null;
  other: string | null;
  base_value: Setting;
  other_value: Setting;
}

/** A step of either side, or one of both that is computed alike, at these places. */
export interface FormulaStep {
  kind: "shared" | "parameter" | "changed" | "base" | "other";
  base: number | null;
  other: number | null;
}

/** Texts of two pairs with their cosine; of a query and another pair's key that of its `own`. */
export interface FoundCell {
  row: number;
  other: number;
  first: string;
  second: string;
  cosine: number;
  own: number | null;
}

/** What is the matter with a data set: its sentence, the numbers in it, rows of the table that show it. */
export interface FoundFault {
  name: string;
  severity: "severe" | "warning" | "note";
  said: string;
  values: Record<string, number | number | string>;
  rows: number[];
  advice: string[];
}

/** What training moved: from the mean `before` to the mean `after`, over the seeds. */
export interface Gain {
  difference: number;
  low: number;
  high: number;
  seeds: number[];
  pairs: number;
  covers: "both" | "pairs";
  pairs_needed: number | null;
  before: number;
  after: number;
}

/** How far a computation lies from the definition at most, by the largest. */
export interface Gap {
  value: Real;
  gradient: Real;
}

/** Runs that differ in the seed alone. */
export interface Group {
  label: string;
  loss: string;
  parameters: Record<string, Setting>;
  runs: string[];
  seeds: number[];
  figures: Record<string, Spread>;
  leading: "spearman" | "accuracy_at_1";
  gain: Gain | null;
}

/** How far group b lies above group a in a figure. */
export interface GroupDifference {
  a: string;
  b: string;
  figure: string;
  between: Difference;
}

/** The file's name by content, once it is all there. */
export interface HandedIn {
  file?: string;
}

/** All held-out pairs, measured before the first step and after the last. */
export interface HeldOutRecord {
  spearman: number | null;
  pearson: number | null;
  accuracy: number | null;
  accuracy_threshold: number | null;
  auc: number | null;
  alignment: number | null;
  uniformity: number | null;
  effective_rank: number | null;
  mean_cosine: number | null;
  pairs?: number;
  accuracy_at_1?: number | null;
  mrr_at_10?: number | null;
  lists?: ListFigures | null;
  kind: "held_out";
  step: number;
  when: "before" | "after";
  histogram: LiveHistogram | null;
}

/** A page that strangers share: its Space, "" for none, and how many hours it keeps things. */
export interface Hosted {
  space: string;
  uploads: number;
  runs: number;
}

/** A tensor: so many cells of which so many take part, the least, the mean, the largest. */
export interface InNumbers {
  count: number;
  present: number;
  least: Real;
  mean: Real;
  largest: Real;
}

/** What one index of a term stands for; −1 for no pair, no sentence. */
export interface Item {
  axis: string;
  item: number;
  pair: number;
  sentence: number;
}

/** What is said of all pairs together: their rank correlation, how many comparisons there are and how many of them are violated, the first pairs on which label and encoder disagree, of `count`, and what is striking. `editable`: labels can be corrected. */
export interface Judged {
  spearman: Real | null;
  ordered: number;
  violated: number;
  pairs: number;
  suspects: LargeSuspect[];
  count: number;
  disagreement: Disagreement | null;
  doubtful: boolean;
  editable: boolean;
  remarks: Remark[];
}

/** The batches that PrismCallback kept in a folder, by step. */
export interface KeptBatches {
  batches: ListedBatch[];
}

/** How labels are read: the ends of their scale, positive from where, how many pairs are. */
export interface LabelRules {
  threshold: number;
  label_range: Range;
  positives: number;
}

/** What the Large batch page is told. */
export interface LargeFacts {
  pages: PageLink[];
  hosted: Hosted | null;
  counts: string[];
  losses: Record<string, Loss>;
  groups: string[];
  paired: string[];
  by_pair: string[];
  names: [string, string, string][];
  related_classes: RelatedClass[];
  defaults: Scenario;
  scenario: StateEntry[];
  limits: Limits;
  large: LargeOwn;
}

/** What is known at once; loss and gradient where they need not be waited for. */
export interface LargeFigures {
  loss?: Real;
  gradient?: Real;
  terms: number;
  pairs: number;
  bytes: number;
}

/** A file's columns, which of them are read, and what was left out. */
export interface LargeFile {
  encoding: string;
  encodings: [string, string][];
  columns: string[];
  chosen: Record<string, string>;
  header: boolean;
  total: number;
  used: number;
  limited: boolean;
  labelled: boolean;
  inference: boolean;
  notes: ReadingNote[];
  skipped: number;
  told: SkippedRow[];
}

/** A file whose columns, or whose encoding, are to be chosen from. */
export interface LargeFileUndecided {
  encoding: string;
  encodings: [string, string][];
  undecided: true;
  columns: string[];
  chosen: Record<string, string>;
  header: boolean;
  skipped: number;
  told: SkippedRow[];
}

/** What of a loss the Large batch page can do. */
export interface LargeLoss {
  most: number;
  most_drawn: number;
  wanted: "cosines" | "angles" | "vectors";
  family: string;
  reads_texts: boolean;
  parameters: Parameter[];
}

/** What the Large batch page alone is told. */
export interface LargeOwn {
  losses: Record<string, LargeLoss>;
  not_here: Record<string, Word[]>;
  table: StateEntry[];
  bytes: number;
  encoder: string;
}

/** How many anchors have what they look for nearer than all else. */
export interface LargePlaces {
  kind: "key" | "class";
  first: number | null;
  anchors: number;
}

/** A pair whose label its score contradicts: how often, and which label would fit. */
export interface LargeSuspect {
  pair: Pair;
  rate: number;
  fitting: number;
}

/** A heavy term of the whole matrix. */
export interface LargeTerm {
  cell: [number, number];
  row: Pair;
  column: Pair;
  value: Real;
  share: number;
}

/** Where the pairs of one label begin and end. */
export interface Level {
  label: number;
  start: number;
  stop: number;
}

/** What Explore takes: pairs, bytes of a file, letters of a link, settings of a random batch. */
export interface Limits {
  pairs: number;
  bytes: number;
  encoder: string;
  plain_encoders: string[];
  random: Record<string, Range>;
  link: number;
}

/** The scene as the end of an address. */
export interface Link {
  link: string;
}

/** Means over `count` lists, null where that is 0. Left out are lists of equal labels (`alike`) and those `without` a relevant candidate; a label of `floor` gains nothing. */
export interface ListFigures {
  ndcg_at_10: number | null;
  mrr_at_10: number | null;
  count: number;
  alike: number;
  without: number;
  floor: number;
}

/** A batch of a training: its step, its loss there and in its scene, and the link of that. */
export interface ListedBatch {
  step: number;
  called: string;
  value: Real;
  here: Real | null;
  said: string;
  scene: string;
}

/** How many scores of each band of labels lie in each bin, [bands, bins]. */
export interface LiveHistogram {
  edges: number[];
  counts: number[][];
}

/** What is being made ready, and for how long all of it has taken so far; of a teacher how many of the sentences or pairs it has read, 0 of 0 at first. */
export interface Loading {
  part: "libraries" | "teacher" | "encoder" | "held_out";
  seconds: number;
  done?: number;
  total?: number;
}

/** The job that was asked about, null where none runs. */
export interface Look {
  job: Underway | null;
}

/** One step of a loss on one batch; of the others what they are called. */
export interface Looked {
  figures: Figures;
  steps: Step[];
  inputs: number;
  chosen: number;
  shown: Shown;
  pairs: PairArrays;
}

/** A loss in its own convention, named "", and in each of the others. `word` is what a sum of losses, its `summands`, is called; `former` has today's names of conventions by former ones. */
export interface Loss {
  title: string;
  word: Word | null;
  takes_prefixes: boolean;
  takes_queue: boolean;
  summands: Summand[];
  group: string;
  terms: string;
  about: string;
  references: string[];
  learns_from_positives: boolean;
  former: Record<string, string>;
  conventions: Record<string, Form>;
}

/** Figures of held-out pairs, null where labels or vectors do not allow them. Of how many pairs, of positives how often a query finds its key, and how lists are ordered runs of earlier versions do not say. */
export interface Measured {
  spearman: number | null;
  pearson: number | null;
  accuracy: number | null;
  accuracy_threshold: number | null;
  auc: number | null;
  alignment: number | null;
  uniformity: number | null;
  effective_rank: number | null;
  mean_cosine: number | null;
  pairs?: number;
  accuracy_at_1?: number | null;
  mrr_at_10?: number | null;
  lists?: ListFigures | null;
}

/** How many hard negatives may be mined for each pair, by which margin, and how they are. */
export interface Mining {
  negatives: [number, number];
  margin: Range;
  usual: [number, number];
}

/** A held-out pair and its ranks, 1 for the highest score. */
export interface MovedPair {
  first: string;
  second: string;
  label: number;
  score_before: number;
  score_after: number;
  rank_before: number;
  rank_after: number;
  label_rank: number;
}

/** A loss that was asked for by name. */
export interface NamedLoss {
  loss: Loss;
}

/** A sentence nearby. */
export interface Neighbour {
  sentence: string;
  cosine: number;
}

/** The nearest sentences before and after; `kept` of them stayed the same. */
export interface Neighbours {
  sentence: string;
  before: Neighbour[];
  after: Neighbour[];
  kept: number;
}

/** Done; there is nothing to tell. */
export interface Nothing {}

/** What stands for one reference of a live formula; beyond `values` where it runs over terms. */
export interface Numbers {
  of: string;
  at: "" | "row" | "column" | "cell";
  rows: number;
  columns: number;
  parts: number;
  values: Floats;
  kind?: "Σ exp" | "Σ" | "max" | "min";
  pairs?: Integers;
  present?: Bytes;
  left?: Integers;
  rest?: Floats;
}

/** The `values` of a parameter that can be tried, each under `seeds` seeds in `steps` steps with batches of `batch`. */
export interface Offer {
  parameter: string;
  values: number[];
  left_out: number;
  room: number | null;
  seeds: number;
  steps: number;
  batch: number;
}

/** A file that runs were measured on: of `total` rows `skipped` could not be used; `shared` of its `count` pairs have a sentence that one of the runs was trained on. */
export interface OnFile {
  name: string;
  count: number;
  total: number;
  skipped: number;
  sampled: boolean;
  shared: number;
}

/** The scene of a link or of a scene file. */
export interface OpenedScene {
  scenario: Scenario;
}

/** What another model makes of a batch: the label that would fit each pair's place, [N]. */
export interface Opinion {
  model: string;
  fitting: number[];
}

/** A pair on which parts pull against each other, each with its weight. */
export interface Opposed {
  pair: number;
  pulls: Real[];
}

/** Another run, its curves, and what its values and the first one's can say of each other. */
export interface OtherRun {
  about: string[];
  level: Real | null;
  collapse: number | null;
  floor: number | null;
  known: Record<string, Setting>;
  drawn: DrawnCurve[];
  findings: RunFinding[];
}

/** The figures of the strip over many batches: of each its name and a value for each batch. */
export interface OverBatches {
  figures: Record<string, Real[]>;
}

/** The file, and why the loss in it cannot be used. */
export interface Own {
  own: OwnFile;
  problem: Problem | null;
}

/** The file of a loss of the user's own as it was read last, `read_at` seconds since 1970. */
export interface OwnFile {
  file: string;
  digest: string;
  read_at: number;
  loss: Loss;
}

/** A file to be edited; the digest names the content. */
export interface OwnText {
  file: string;
  text: string;
  digest: string;
}

/** The digest of what stands in the file now. */
export interface OwnWritten {
  digest: string;
}

/** Seconds, measured here; nothing of it while a run trains. */
export interface Pace {
  seconds_to_load?: number;
  seconds_per_step?: number;
  seconds_per_evaluation?: number;
}

/** Where a page is served, and the catalogue's word for it. */
export interface PageLink {
  path: string;
  key: string;
}

/** A pair of the batch; `side` says which of its sentences is meant, empty for both. */
export interface Pair {
  entry: number;
  side: "" | "first" | "second";
  first: string;
  second: string;
  label: number;
  score: number;
  gradient: Real;
}

/** Of each pair, in the order of the batch. `score_gradient` is ∂L/∂s, NaN of a pair that has none, where `gradient` is another: a projection. */
export interface PairArrays {
  score: Floats;
  gradient: Floats;
  score_gradient: Floats | null;
  positive: Bytes;
}

/** How many pairs were learnt from, how many held out. */
export interface PairCounts {
  train: number;
  held_out: number;
}

/** A page of the table of all pairs that were found. */
export interface PairsPage {
  found: number;
  rows: Pair[];
}

/** A keyword of a loss as a person moves it; at `without_owners`, if there is that, it does not speak of a query's own hard negatives. One with an `on_value` may be off, which is null, and begins there; `former_off` was off in links of earlier versions. */
export interface Parameter {
  name: string;
  default: Setting;
  symbol: string;
  role: string;
  on_value: number | null;
  former_off: number | null;
  minimum: number;
  maximum: number;
  step: number;
  logarithmic: boolean;
  whole: boolean;
  choices: string[];
  without_owners: Setting;
  kind: "number" | "switch" | "choice" | "list";
}

/** A file to be taken away, served from this path. */
export interface Parcel {
  name: string;
  path: string;
}

/** Every loss of the page beside the libraries; `seeded` where it was computed on the seeded batch, since this one has no vectors, and on the `first` pairs of a large one, 0 for all. */
export interface Parity {
  rows: ParityRow[];
  seeded: boolean;
  first: number;
}

/** The same library on a batch of odd labels, and what it was given. */
export interface ParityOdd {
  name: "graded" | "unjudged" | "large" | "tied" | "single";
  status: ParityStatus;
  because: Told[];
  fed: string;
}

/** A loss under a convention beside one library; gaps from the definition, in float64 and float32, of our function and of the library's. `fed` says what the library was given, and `left_out` what of the batch it cannot take. */
export interface ParityRow {
  loss: string;
  convention: string;
  library: string;
  called: string;
  fed: string;
  version: string | null;
  status: ParityStatus;
  value: Real | null;
  ours: (Gap | null)[];
  theirs: (Gap | null)[];
  because: Told[];
  left_out: Told | null;
  odd: ParityOdd[];
}

/** A part of a sum of losses: its value and landmarks, not weighed; `norm` and `share` of its weighed gradient, and the weight at which that is as long as all others together. */
export interface PartSeen {
  label: string;
  name: Word;
  weight: string;
  formula: string;
  value: Real;
  collapse: Real | null;
  floor: Real | null;
  norm: Real;
  share: number | null;
  equal: number | null;
  terms: number | null;
  active: number | null;
  effective: Real | null;
}

/** What the parts of a sum of losses do on a batch. */
export interface Parts {
  parts: PartSeen[];
  cosines: Real[][];
  opposed: Opposed[];
  opposed_count: number;
  undone: number;
  energies: Energy[];
}

/** What was pasted: "numbers", with these as the number's field takes them, a "run" or a "table". */
export interface PastedKind {
  kind: "numbers" | "run" | "table";
  value: string;
}

/** One loss on one batch, taken apart. */
export interface Picture {
  figures: Figures;
  steps: Step[];
  inputs: number;
  chosen: number;
  shown: Shown;
  pairs: PairArrays;
  listing: string;
  first_line: number;
  parts: Parts | null;
  heaviest: Term[];
  suspects: Suspect[];
  disagreement: Disagreement | null;
  parameters: Record<string, Setting>;
  remarks: Remark[];
}

/** A batch by another way than in one piece; `cells`, 0 absent, 1 felt, 2 only seen, are the first of `all` rows and columns. */
export interface Pieces {
  parts: number;
  whole: Real;
  loss: Real;
  equal: boolean;
  gradient_ratio: Real | null;
  gradient_cosine: Real | null;
  cells: Bytes;
  shape: [number, number];
  all: [number, number];
  row_axis: string;
  column_axis: string;
  comparisons: number;
  whole_comparisons: number;
  average: Averaged | null;
}

/** Where the right one stands among all that an anchor is compared with. */
export interface Places {
  kind: "key" | "class" | "prototype";
  anchors: number;
  first: number;
  reciprocal: Real;
}

/** What an example holds on purpose at a pair: a wrong label, or a second sentence that would also be right for the first one of the pair `other`, of which no label knows. */
export interface Planted {
  pair: number;
  kind: "mislabelled" | "hidden";
  other: number | null;
}

/** A loss in one type and one form; `broken` is the first step without a number, "" for none, and `refused` what torch says that cannot compute this. */
export interface PreciseRow {
  type: string;
  form: "stable" | "printed" | "printed_in_type" | "function";
  convention: string;
  loss: Real | null;
  difference: Real | null;
  gradient_difference: Real | null;
  broken: string;
  refused: string;
}

/** A loss in all types and forms. */
export interface PreciseRows {
  rows: PreciseRow[];
}

/** What becomes of a side. */
export interface PreciseSide {
  found: PreciseRows | null;
  problem: Problem | null;
}

/** Sides in all types and forms. */
export interface PreciseSides {
  sides: PreciseSide[];
}

/** The source's table. */
export interface Printed {
  citation: string;
  sets: string[];
  spearman: PrintedRow[];
  accuracy: PrintedRow[];
}

/** A row of the source's table: a figure on each data set, and their mean. */
export interface PrintedRow {
  model: string;
  loss: string;
  values: number[];
}

/** The probe batch; `bands` are ranges of labels. */
export interface ProbeBatch {
  key: string;
  first: string[];
  second: string[];
  sentences: string[];
  labels: number[];
  labelled: boolean;
  inference: boolean;
  places: number[] | null;
  threshold: number;
  label_range: Range;
  positives: number;
  negatives: number;
  owned: number;
  classes: number;
  dimension: number;
  orthogonal: boolean;
  given: boolean;
  guided: boolean;
  taught: boolean;
  bands: Range[];
}

/** The picture of the probe batch at a step; the `batch` where the page has another. */
export interface Probed {
  picture: Picture;
  batch?: ProbeBatch;
}

/** A sentence of the catalogues, with its values; `about` what the page can put right there. */
export interface Problem {
  key: string;
  about: About;
  values: Record<string, number | string | Word | (number | string | Word)[]>;
}

/** How far the work is that must end first. */
export interface Progress {
  what: string;
  done: number;
  total: number;
}

/** A comparison to begin with: the example, the rules and the losses that answer it, and what else of the page's state is chosen. */
export interface Question {
  example: string;
  rules: Record<string, boolean>;
  sides: ChosenLoss[];
  state: Record<string, Setting>;
}

/** What the first button trains. */
export interface QuickPlan {
  encoder: string;
  steps: number;
  batch_size: number;
  learning_rate: number;
  evaluations: number;
}

/** What to draw. `RANGES` holds the lowest and highest value of each number. */
export interface RandomBatch {
  pairs: number;
  candidates: number;
  dimension: number;
  labels: string;
  grades: number;
  agreement: number;
  mislabelled: number;
  imbalance: number;
  hard_negatives: number;
  guide: number;
  seed: number;
}

/** What was found in a file besides the rows that are used, for whoever opens the link. */
export interface Reading {
  total: number;
  encoding: string;
  limited: boolean;
  drawn: boolean;
  whole: number;
  draw: Draw;
  batches: number;
  batch_rows: number;
  label_range: Range | null;
  left_out: number;
  reasons: [number, string, [string, string][]][];
}

/** A sentence on how a table was read, by its key in the catalogues. */
export interface ReadingNote {
  key: string;
  values: Record<string, string>;
}

/** The answer to what cannot be done. */
export interface Refused {
  error: Problem;
}

/** A class of a library that is no loss here, by its names: `key` is the sentence that says why, `loss` what to look at in its place; `shared`: a loss that is here is called so, too. */
export interface RelatedClass {
  names: string[];
  loss: string;
  key: string;
  shared: boolean;
}

/** A sentence of the catalogues under ``remark.`` with its values. */
export interface Remark {
  key: string;
  values: Record<string, string | number | Word>;
}

/** What is striking about a run, and, once it has ended, what it gained. */
export interface Remarked {
  remarks: Remark[];
  gain: Gain | null;
  level: string;
}

/** The source's experiment on the same data: so many runs. */
export interface Repetition {
  refused: Problem | null;
  examples: number;
  form: "pairs" | "classes" | "triplets" | "lists";
  steps: number;
  pace: string;
  count: number;
}

/** How scored pairs become positives, negatives, classes and prototypes. */
export interface Rules {
  threshold: number | null;
  label_range: Range | null;
  extra_negatives: boolean;
  prototypes: string;
  twins: string;
}

/** What is the matter with a run. */
export interface RunFinding {
  name: string;
  severity: "severe" | "warning" | "note";
  said: string;
  advice: string[];
  values: Record<string, Setting>;
  steps: number[];
}

/** A run that cannot be followed. */
export interface RunGone {
  error: Problem;
}

/** How a run is doing. */
export interface RunStatus {
  id: string;
  loss: string;
  encoder: string;
  kind: "bi" | "cross";
  plan: TrainingPlan;
  created: number;
  state: "queued" | "loading" | "training" | "paused" | "saving" | "finished" | "stopped" | "failed" | "interrupted";
  shared: boolean;
  loading: Loading | null;
  queue_position: number | null;
  queue_seconds: number | null;
  step: number;
  steps: number | null;
  seconds: number;
  seconds_left: number | null;
  summary: Summary | null;
  problem: Problem | null;
}

/** The whole scene. */
export interface Scenario {
  data: Data;
  rules: Rules;
  loss: string;
  convention: string;
  parameters: Record<string, Setting>;
  view: View;
}

/** The batch of a scene: `scale` is the λ advised for it, `sigma` the spread of its scores; `same_texts`, `planted` and what a teacher gave, if it did, are marked at its pairs. */
export interface SceneBatch {
  key: string;
  first: string[];
  second: string[];
  sentences: string[];
  labels: number[];
  labelled: boolean;
  inference: boolean;
  places: number[] | null;
  threshold: number;
  label_range: Range;
  positives: number;
  negatives: number;
  owned: number;
  classes: number;
  dimension: number;
  orthogonal: boolean;
  given: boolean;
  guided: boolean;
  taught: boolean;
  scale: Range | null;
  sigma: number;
  foreign: boolean;
  editable: boolean;
  same_texts: SharedText[];
  planted: Planted[];
  teacher: (number | null)[] | null;
}

/** Scores by label: `counts` [groups, bins], a group its least and largest label. */
export interface ScoreHistogram {
  edges: number[];
  groups: Range[];
  counts: number[][];
}

/** Cosines of the pairs of a label, or of a part of the labels' scale. */
export interface SeenBand {
  low: number;
  high: number;
  count: number;
  mean: number;
  tenth: number;
  ninth: number;
  said: string;
}

/** The temperature at which so many negatives of a batch count. */
export interface SeenSharpness {
  negatives: number;
  temperature: number;
  said: string;
}

/** The file of that digest is not held: it is to be sent again. */
export interface SendFile {
  send_file: true;
}

/** The rows of that name are not held: they are to be sent again. */
export interface SendRows {
  send_rows: true;
}

/** The names under which runs can be read by whoever is told them. */
export interface Shared {
  runs: string[];
}

/** A sentence of a pair that another pair holds too, and the first one that does. */
export interface SharedText {
  pair: number;
  side: "first" | "second";
  other: number;
  other_side: "first" | "second";
}

/** The step that is looked at, in full: matrices [rows, columns] as laid out. */
export interface Shown {
  step: number;
  name: string;
  latex: string;
  live: string;
  boolean: boolean;
  signed: boolean;
  rows: number;
  columns: number;
  all_rows: number;
  all_columns: number;
  row_axis: Axis;
  column_axis: Axis;
  value: Floats;
  gradient: Floats | null;
  beside: boolean;
  weight: Floats | null;
  mask: Bytes | null;
  hatched: boolean;
  numbers: Record<string, Numbers>;
}

/** Similarities at one moment: the means of positives and of negatives, their gap, and the share of a query's comparisons that are in order. */
export interface SimilarityMoment {
  name: string;
  queries: number;
  positive: number;
  negative: number;
  gap: number;
  order: number;
}

/** A row of a table that cannot be used: its number, and why. */
export interface SkippedRow {
  row: number;
  key: string;
  about: About;
  values: Record<string, number | string | Word | (number | string | Word)[]>;
}

/** A figure over seeds; one seed has no spread. */
export interface Spread {
  mean: number;
  spread: number | null;
  values: number[];
}

/** The names of the queued runs. */
export interface Started {
  started: string[];
}

/** An entry of a page's state: see `explorer.web.state.Entry`. */
export interface StateEntry {
  name: string;
  default: unknown;
  kind: "number" | "whole" | "text" | "choice" | "switch" | "list" | "parameters" | "map" | "losses" | "object";
  low?: number;
  high?: number;
  choices?: string[];
  link?: string;
  history?: boolean;
  affects?: "compute" | "redraw" | "nothing";
  when?: [string, string];
}

/** Correlation of similarity and label, and how far high and low labels' scores differ. */
export interface Statistics {
  pearson: number | null;
  pearson_p: number | null;
  ks: number | null;
  ks_p: number | null;
  high: number;
  low: number;
}

/** A line of the derivation: a `value` of one number, or a `thumbnail`, or nothing in it. */
export interface Step {
  name: string;
  line: number;
  source: string;
  latex: string;
  shape: number[];
  gradient: boolean;
  of?: StepOf;
  value?: Real;
  thumbnail?: Thumbnail;
}

/** What a step is called, and what it is worth on this batch. */
export interface StepNumbers {
  name: string;
  latex: string;
  number: InNumbers | null;
}

/** The part of a sum of losses in which a step stands: the step's name begins with its label. */
export interface StepOf {
  label: string;
  loss: string;
  name: Word;
}

/** A step of the training. */
export interface StepRecord {
  kind: "step";
  step: number;
  loss: number;
  gradient_norm: number;
  learning_rate: number;
  seconds: number;
}

/** A loss of a sum, on each of these prefixes of the vectors if there are any: lengths, or shares where they are at most 1; or `queued`, with vectors of earlier batches. */
export interface Summand {
  loss: string;
  prefixes: number[];
  queued: boolean;
}

/** What a run came to; `repeated` of its held-out pairs repeat another, where that matters; runs of earlier versions do not say their `examples`. */
export interface Summary {
  loss: number;
  steps: number;
  seconds: number;
  steps_per_second: number;
  before: Measured;
  after: Measured;
  threshold: number;
  label_range: Range;
  pairs: PairCounts;
  skipped: number;
  shared: number;
  kept_step: number;
  repeated?: number;
  examples?: ExampleCount;
}

/** A pair whose label its score contradicts: how often, and which label would fit. */
export interface Suspect {
  pair: number;
  rate: number;
  fitting: number;
}

/** The loss, its gradient and its active terms along the range of one parameter. */
export interface Swept {
  parameter: string;
  logarithmic: boolean;
  values: number[];
  loss: Real[];
  gradient: Real[];
  active: Real[] | null;
  advised: Range | null;
  within: Range[] | null;
  trials: Offer | null;
}

/** A side along one of its parameters: a height for each of `values`, NaN where there is none, null where there is none anywhere. `over_scale` tends to `limit` and lies in `band`, its lower and upper edge; `advised` and `within` are ranges of the parameter. */
export interface SweptCurves {
  parameter: string;
  logarithmic: boolean;
  values: Floats;
  loss: Floats | null;
  gradient: Floats | null;
  effective: Floats | null;
  hardest: Floats | null;
  suspects: Floats | null;
  over_scale: Floats | null;
  limit: Real | null;
  band: Floats[] | null;
  advised: Range | null;
  within: Range[] | null;
}

/** Null, and no problem, where the side stays as it is. */
export interface SweptSide {
  found: SweptCurves | null;
  problem: Problem | null;
}

/** Sides along a parameter. */
export interface SweptSides {
  sides: SweptSide[];
}

/** A heavy term: its share of the weight, and the share up to and with it. */
export interface Term {
  items: Item[];
  value: Real;
  share: number;
  so_far: number;
}

/** A file to be taken away, as text; a ZIP as base64. */
export interface Text {
  name: string;
  type: string;
  text: string;
}

/** A matrix as bytes: 0 … 253 from `low` to `high`, 254 NaN, 255 masked. */
export interface Thumbnail {
  rows: number;
  columns: number;
  low: number;
  high: number;
  signed: boolean;
  boolean: boolean;
  data: Bytes;
}

/** A sentence of the catalogues by its whole key, with its values. */
export interface Told {
  key: string;
  values: Record<string, number | string | Word | (number | string | Word)[]>;
}

/** The same, with what else is to be said of it, sentence by sentence. */
export interface ToldFinding {
  kinds: string[];
  value: number;
  gap: number;
  exact: boolean;
  said: string;
  copies: number | null;
  factor: number;
  summed: "" | "steps" | "processes" | "batch";
  losses: ExplainedLoss[];
  more: number;
  beside: string[];
}

/** Where the pairs of a run come from; the pairs themselves stay with the server. */
export interface TrainingData {
  source: string;
  example: string;
  triplets: boolean;
  file: string;
  name: string;
  columns: [string, string][];
  encoding: string;
  hub: string;
  split: string;
  held_out_file: string;
  held_out_name: string;
  held_out_share: number;
  alternatives: string[];
  augment: string[];
  most: number;
}

/** Everything that decides a run. */
export interface TrainingPlan {
  data: TrainingData;
  encoder: string;
  kind: "bi" | "cross";
  vocabulary: number;
  dimension: number;
  guide: string;
  teacher_model: string;
  loss: string;
  convention: string;
  parameters: Record<string, Setting>;
  own_loss: string;
  similarity: "" | "cosine" | "dot";
  threshold: number | null;
  label_range: Range | null;
  extra_negatives: boolean;
  twins: "apart" | "leave_out" | "keep";
  sampler: "" | "in_order" | "shuffled" | "no_duplicates" | "group_by_label";
  steps: number;
  epochs: number;
  batch_size: number;
  learning_rate: number;
  schedule: "linear" | "cosine" | "source";
  warmup: number;
  weight_decay: number;
  clipping: number;
  seed: number;
  layers: number;
  lora: number;
  bf16: boolean;
  evaluations: number;
  checkpoint_seconds: number;
}

/** Two sides by their places: why their values must not be compared, Kendall's τ of the gradients of the pairs, the cosine of those by the sentence vectors, and by what one gradient is the other. */
export interface Two {
  first: number;
  second: number;
  reasons: Told[];
  tau: Real | null;
  cosine: Real | null;
  factor: Real | null;
  apart: Apart | null;
}

/** A file whose columns, or whose encoding, are to be chosen from, and why. */
export interface UndecidedData {
  encoding: string;
  encodings: [string, string][];
  undecided: true;
  columns: string[];
  chosen: Record<string, string>;
  header: boolean;
  skipped: number;
  told: SkippedRow[];
  problem: Problem;
}

/** How far long work has come; `what` names a sentence under ``progress.``. */
export interface Underway {
  what: string;
  done: number;
  total: number;
  values: Record<string, string>;
}

/** A scene that cannot be explored, and which of its rows cannot be used. */
export interface Unexplored {
  error: Problem;
  skipped: SkippedRow[];
  rows?: string;
}

/** Nothing can be compared, and which of the rows cannot be used. */
export interface Unmet {
  error: Problem;
  skipped?: SkippedRow[];
  rows?: string;
}

/** A file that was handed in: its token, its columns, which of them serve, of which nothing is read, how many pairs. */
export interface Upload {
  encoding: string;
  encodings: [string, string][];
  file: string;
  name: string;
  columns: string[];
  chosen: Record<string, string>;
  unread: string[];
  used: number;
  labelled: boolean;
  inference: boolean;
  notes: ReadingNote[];
  total: number;
}

/** A file whose columns, or whose encoding, are to be chosen from. */
export interface UploadUndecided {
  encoding: string;
  encodings: [string, string][];
  file: string;
  name: string;
  problem: Problem;
  columns: string[];
  chosen: Record<string, string>;
}

/** What is being looked at: a step by its place, one facet of it, the order, a pinned cell. */
export interface View {
  step: number | null;
  facet: string;
  order: string;
  pinned: [number, number] | null;
}

/** The runs that are followed, and, asked for, how all are doing. */
export interface Watched {
  runs: Record<string, OneOf<FollowedRun | RunGone>>;
  listed?: RunStatus[];
}

/** A value with a sentence of its own in each language, or else one for all; `values` stand in its placeholders. */
export interface Word {
  key: string;
  otherwise: string;
  values?: Record<string, number | string | Word>;
}

/** No answer yet: it is to be asked for again. */
export interface Working {
  working: Progress;
}

/** What the instruments of the page compare can ask the server. */
export interface CompareServer {
  cancel(request: unknown): Promise<OneOf<Cancelled | Refused>>;
  collapse(request: unknown): Promise<OneOf<CollapsingSides | SendRows | Refused>>;
  compare(request: unknown): Promise<OneOf<Beside | Unmet | SendRows | Refused>>;
  forget(request: unknown): Promise<OneOf<Nothing | Refused>>;
  formula(request: unknown): Promise<OneOf<Differing | SendRows | Refused>>;
  link(request: unknown): Promise<OneOf<Link | Refused>>;
  look(request: unknown): Promise<OneOf<Look | Refused>>;
  loss(request: unknown): Promise<OneOf<NamedLoss | Refused>>;
  mechanics(request: unknown): Promise<OneOf<CutSides | SendRows | Refused>>;
  open_link(request: unknown): Promise<OneOf<OpenedScene | Refused>>;
  parity(request: unknown): Promise<OneOf<Parity | SendRows | Refused>>;
  precision(request: unknown): Promise<OneOf<PreciseSides | SendRows | Refused>>;
  scene_link(request: unknown): Promise<OneOf<Link | Refused>>;
  sweep(request: unknown): Promise<OneOf<SweptSides | SendRows | Refused>>;
  take(request: unknown): Promise<OneOf<Text | Refused>>;
  what_if(request: unknown): Promise<OneOf<ChangedSides | SendRows | Refused>>;
}

/** What the instruments of the page doctor can ask the server. */
export interface DoctorServer {
  cancel(request: unknown): Promise<OneOf<Cancelled | Refused>>;
  encode(request: unknown): Promise<OneOf<EncodedData | Working | Refused>>;
  examine(request: unknown): Promise<OneOf<ExaminedData | ExaminedClasses | DoctoredSimilarities | UndecidedData | Working | Refused>>;
  examine_run(request: unknown): Promise<OneOf<ExaminedRunLog | Refused>>;
  explain(request: unknown): Promise<OneOf<Explained | Refused>>;
  fetch(request: unknown): Promise<OneOf<FetchedRows | Working | Refused>>;
  forget(request: unknown): Promise<OneOf<Nothing | Refused>>;
  hand_in(request: unknown): Promise<OneOf<HandedIn | Refused>>;
  kept(request: unknown): Promise<OneOf<KeptBatches | Working | Refused>>;
  look(request: unknown): Promise<OneOf<Look | Refused>>;
  mine(request: unknown): Promise<OneOf<Parcel | Working | Refused>>;
  read_pasted(request: unknown): Promise<OneOf<PastedKind | Refused>>;
  stop(request: unknown): Promise<OneOf<Nothing | Refused>>;
  take(request: unknown): Promise<OneOf<Parcel | Working | Refused>>;
}

/** What the instruments of the page explore can ask the server. */
export interface ExploreServer {
  cancel(request: unknown): Promise<OneOf<Cancelled | Refused>>;
  explore(request: unknown): Promise<OneOf<Explored | Unexplored | SendRows | Refused>>;
  forget(request: unknown): Promise<OneOf<Nothing | Refused>>;
  link(request: unknown): Promise<OneOf<Link | Refused>>;
  look(request: unknown): Promise<OneOf<Look | Refused>>;
  loss(request: unknown): Promise<OneOf<NamedLoss | Refused>>;
  open_link(request: unknown): Promise<OneOf<OpenedScene | Refused>>;
  own(request: unknown): Promise<OneOf<Own | Refused>>;
  own_text(request: unknown): Promise<OneOf<OwnText | Refused>>;
  own_write(request: unknown): Promise<OneOf<OwnWritten | Refused>>;
  read_file(request: unknown): Promise<OneOf<FileRead | FileUndecided | SendFile | Refused>>;
  second_opinion(request: unknown): Promise<OneOf<Opinion | Refused>>;
  spread(request: unknown): Promise<OneOf<OverBatches | Refused>>;
  statistics(request: unknown): Promise<OneOf<Statistics | Refused>>;
  sweep(request: unknown): Promise<OneOf<Swept | Refused>>;
  take(request: unknown): Promise<OneOf<Text | Refused>>;
  trials(request: unknown): Promise<OneOf<Started | Refused>>;
}

/** What the instruments of the page finetune can ask the server. */
export interface FinetuneServer {
  cancel(request: unknown): Promise<OneOf<Cancelled | Refused>>;
  check(request: unknown): Promise<OneOf<Checked | Refused>>;
  compare(request: unknown): Promise<OneOf<Compared | Refused>>;
  describe(request: unknown): Promise<OneOf<Upload | UploadUndecided | Refused>>;
  estimate(request: unknown): Promise<OneOf<Pace | Refused>>;
  figure(request: unknown): Promise<OneOf<Drawing | Refused>>;
  forget(request: unknown): Promise<OneOf<Nothing | Refused>>;
  hand_in(request: unknown): Promise<OneOf<Upload | UploadUndecided | Refused>>;
  look(request: unknown): Promise<OneOf<Look | Refused>>;
  loss(request: unknown): Promise<OneOf<NamedLoss | Refused>>;
  probe(request: unknown): Promise<OneOf<Probed | Refused>>;
  remark(request: unknown): Promise<OneOf<Remarked | Refused>>;
  repeat(request: unknown): Promise<OneOf<Started | Refused>>;
  share(request: unknown): Promise<OneOf<Shared | Refused>>;
  start(request: unknown): Promise<OneOf<Started | Refused>>;
  steer(request: unknown): Promise<OneOf<Nothing | Refused>>;
  take(request: unknown): Promise<OneOf<Text | Parcel | Refused>>;
  trials(request: unknown): Promise<OneOf<Started | Refused>>;
  watch(request: unknown): Promise<OneOf<Watched | Refused>>;
}

/** What the instruments of the page large can ask the server. */
export interface LargeServer {
  blocks(request: unknown): Promise<OneOf<Blocks | Working | Refused>>;
  describe_file(request: unknown): Promise<OneOf<LargeFile | LargeFileUndecided | Working | Refused>>;
  details(request: unknown): Promise<OneOf<Details | Working | Refused>>;
  forget(request: unknown): Promise<OneOf<Nothing | Refused>>;
  hand_in(request: unknown): Promise<OneOf<HandedIn | Refused>>;
  judge(request: unknown): Promise<OneOf<Judged | Working | Refused>>;
  pairs(request: unknown): Promise<OneOf<PairsPage | Working | Refused>>;
  stop(request: unknown): Promise<OneOf<Nothing | Refused>>;
  take(request: unknown): Promise<OneOf<Text | Parcel | Working | Refused>>;
}
