"""Every sentence that judges, with its claim, subject, evidence and test.

A sentence is a claim: it names its subject and rests on a test; if the evidence is too weak,
another sentence replaces it, or none. `tests/judgements` simulates data for which it is true and
for which it is false, and docs/judgements.md has both rates beside this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Subjects of sentences, the narrowest first.
Of = Literal["batch", "loss on batch", "run", "model", "settings", "rule"]
OF: dict[Of, str] = {
    "batch": "this batch, under any loss",
    "loss on batch": "this loss with these parameters on this batch",
    "run": "this run and its own batches",
    "model": "this model, on other pairs drawn like those it was measured on",
    "settings": "these settings, with other seeds and on other pairs",
    "rule": "a statement of its author, quoted",
}


@dataclass(frozen=True)
class Judgement:
    """Entry of one sentence. `key` is its key in the catalogues; `otherwise` is the key of the
    sentence that replaces it if the evidence is too weak, or "". A sentence that `counts` states
    its evidence: a count, a comparison of two numbers, a rule or formula at these values. Every
    other one infers, and its rates are simulated."""

    key: str
    where: tuple[str, ...]
    of: Of
    claims: str
    evidence: str
    test: str
    otherwise: str = ""
    counts: bool = False


_EXPLORE = ("Explore",)
# Sentences that large batches have too.
_BATCHES = ("Explore", "Large")
_RUN = ("Fine-tune",)
_SIDES = ("Compare", "API", "CLI")
_COMPARED = ("Fine-tune", "CLI")


def _remark(
    key: str,
    where: tuple[str, ...],
    of: Of,
    claims: str,
    evidence: str,
    test: str,
    otherwise: str = "",
    counts: bool = False,
) -> Judgement:
    beside = otherwise and f"remark.{otherwise}"
    return Judgement(f"remark.{key}", where, of, claims, evidence, test, beside, counts)


def _above(key: str, claims: str) -> Judgement:
    return _remark(
        f"above_collapse{key}",
        _BATCHES,
        "loss on batch",
        claims,
        "the loss and its value at collapse, at 33 values of its scale",
        "above by more than rounding (1e-4); the scale at which it ends is found by "
        "bisection, and reported only if it is crossed once",
    )


def _none_listed(key: str, where: str) -> Judgement:
    return Judgement(
        key,
        (where,),
        "batch",
        "no pair contradicts its label far more often than average",
        "the share of its comparisons that each pair contradicts",
        "counted: none reaches both a fifth and twice the share of an average pair",
    )


def _counted(key: str, where: str, of: Of, claims: str, evidence: str) -> Judgement:
    return Judgement(key, (where,), of, claims, evidence, "counted", counts=True)


_PAIRS = (
    "the influence of each pair on the figure; pairs that share a sentence count as one observation"
)
_BOTH = f"the figure by seed, and {_PAIRS}"
_INTERVAL = "a 98% interval, simultaneous for all comparisons of the table, excludes 0"
_HOLDS = "a 98% interval, simultaneous for all comparisons of the table, contains 0"

_CLEAN = (
    "the share of its comparisons that each pair contradicts; 99 simulated batches (8"
    " above 16,384 pairs) with these labels and this rank correlation, whose only "
    "noise between score and label is uniform"
)

_STRONG = (
    "more pairs contradict 70% of their comparisons than in any of the 99 batches "
    "(with 8: than Student's 98% prediction interval), and than in 95% of as many "
    "batches with noise of Student's t (3 degrees of freedom), scaled so that the 90%"
    " of pairs that contradict least do so as often as these; binary labels are not "
    "judged"
)

_CURVE = (
    "the training loss of every step; its noise, and how far that correlates from step to step, "
    "beside a line through each of its blocks of 10 to 40 steps"
)


def _of_log(
    key: str, claims: str, evidence: str, test: str, of: Of = "run", counts: bool = False
) -> Judgement:
    return Judgement(f"doctor.run.{key}", _DOCTOR, of, claims, evidence, test, counts=counts)


_DOCTOR = ("Doctor", "CLI", "API")


def _of_data(key: str, claims: str, evidence: str = "the texts and labels of all rows"):
    return Judgement(
        f"doctor.data.{key}", _DOCTOR, "batch", claims, evidence, "counted", counts=True
    )


def _suited(names: str, claims: str) -> tuple[Judgement, ...]:
    """For and against a loss, on a table of pairs or of classes."""
    evidence = "the columns of the table, counts of its labels and texts; the inputs of the loss"
    return tuple(
        Judgement(
            f"doctor.suited.{name}", _DOCTOR, "batch", claims, evidence, "counted", counts=True
        )
        for name in names.split()
    )


def _of_number(names: str, claims: str) -> tuple[Judgement, ...]:
    """What a number may be, or where it stands, of a loss at these counts."""
    evidence = (
        "the number, to its last digit, and the reference values of every loss at the known counts"
    )
    test = "compared to the written digits; each match is only a possibility"
    return tuple(
        Judgement(f"doctor.{name}", _DOCTOR, "rule", claims, evidence, test, counts=True)
        for name in names.split()
    )


def _of_sides(key: str, claims: str, evidence: str) -> Judgement:
    return _counted(f"compare.{key}", "Compare", "loss on batch", claims, evidence)


_APART = "the share of the gradient that each pair has under both losses, with its sign"

_TREND = (
    "the slope of a line through all steps is significant at 1% under this "
    "autocorrelation (Student's t with the effective number of steps), and the means "
    "of the first and the last tenth differ in the same direction"
)
_NOISE_OF_STEPS = (
    "the loss of every step; the noise of its batches, which is the residual of a "
    "line, two exponentials and a jump, with its first-order autocorrelation"
)

_MARKS = f"{_CURVE}; the value at collapse and the minimum, as the run logged them or at its counts"
_LEVEL = "the mean of the last tenth"

_FIRST = "counted; a tie within 1e-6 is no success"

JUDGEMENTS: tuple[Judgement, ...] = (
    _remark(
        "not_finite",
        _BATCHES,
        "loss on batch",
        "the loss is NaN or infinite, and the first such step",
        "every step of the trace",
        "NaN or +∞, in order of the steps; −∞ marks absent cells",
    ),
    _remark(
        "no_gradient",
        _EXPLORE,
        "loss on batch",
        "training with it would change nothing",
        "the graph of the loss",
        "it leads neither to the scores nor to the vectors",
    ),
    _remark(
        "language",
        _BATCHES,
        "batch",
        "most of the text is not in the encoder's language",
        "the letters of all sentences, where the embedded English encoder reads them",
        "more than half are beyond Latin scripts",
    ),
    _remark(
        "encoder_error",
        _BATCHES,
        "batch",
        "the vectors are rounded, and by how much that moves cosines",
        "the first 64 sentences under the encoder and under the one that it rounds",
        "the largest difference of all their cosines",
        counts=True,
    ),
    _remark(
        "modality_gap",
        _EXPLORE,
        "batch",
        "the vectors of the two sides have different means",
        "unit vectors of distinct pairs, where the vectors came with the data",
        "the distance of the means, against 999 random swaps of the pairs' sides, at 1%; "
        "reported from 0.1 on",
    ),
    _remark(
        "one_pair",
        _BATCHES,
        "batch",
        "there is nothing to compare a pair with",
        "the number of pairs",
        "it is 1, and the loss compares pairs",
    ),
    _remark(
        "labels_outside",
        _EXPLORE,
        "batch",
        "labels are outside the range that the loss is made for, and are not rescaled",
        "the least and the largest label",
        "compared with the ends of the convention",
        counts=True,
    ),
    _remark(
        "labels_equal",
        _BATCHES,
        "loss on batch",
        "the loss sees nothing",
        "ordered pairs, the gradient",
        "none, and it is 0",
    ),
    _remark(
        "labels_equal_felt",
        _EXPLORE,
        "loss on batch",
        "there is no order, and the loss is felt all the same",
        "ordered pairs, the gradient",
        "none, and it is not 0",
    ),
    _remark(
        "alone",
        _EXPLORE,
        "batch",
        "how many sentences a loss on classes has no positive for",
        "the classes of the sentences",
        "no other sentence of the batch is of their class",
        counts=True,
    ),
    _remark(
        "all_alone",
        _EXPLORE,
        "batch",
        "a loss on classes has no positive",
        "the classes of the sentences",
        "no two sentences of the batch are of one class",
        counts=True,
    ),
    _remark(
        "collapsed",
        _BATCHES,
        "loss on batch",
        "the embeddings have collapsed and the loss sits at its value at collapse",
        "the cosines of all sentences, where they have vectors; the loss, its value at collapse",
        "their range is at most 0.02, and the loss is within 5% of its value at collapse",
        "alike",
    ),
    _remark(
        "alike",
        _BATCHES,
        "batch",
        "the similarities hardly differ",
        "all similarities that the loss compares",
        "their range is at most 0.02",
    ),
    _above("", "the loss is higher than if all similarities were equal"),
    _remark(
        "above_collapse_at",
        _BATCHES,
        "loss on batch",
        "the same at this value of its scale, and of other values nothing",
        "the loss and its value at collapse",
        "above by more than rounding (1e-4), of a loss with a scale that crosses it more than "
        "once, or whose terms do not split, in a large batch",
    ),
    _above("_all_over", "the same, at every value of its scale"),
    _above("_not_below", "the same, and from which scale downwards it is not"),
    _above("_not_above", "the same, and from which scale upwards it is not"),
    _remark(
        "same_text",
        _BATCHES,
        "loss on batch",
        (
            "the number of negatives with the text of their query or of its own key, and "
            "their weight"
        ),
        "the texts of the batch, the gradient at each term of the loss",
        "compared as texts (NFC, trimmed, blanks as one; case differs), never by similarity; their "
        "weight is Σ|∂L/∂term| over their cells, as a share of that over all negatives",
        counts=True,
    ),
    _remark(
        "same_text_left_out",
        _BATCHES,
        "loss on batch",
        "the number of negatives with the text of their own query or of its own key",
        "the texts of the batch",
        "the same comparison, where the rule leaves them out",
        counts=True,
    ),
    _remark(
        "same_text_floor",
        _EXPLORE,
        "loss on batch",
        "the minimum of the loss with these negatives",
        "which sentences of the batch are the same, and which of them the loss compares",
        "the minimum if duplicates are as near as a row's own key (for a softmax, the "
        "mean of ln(1 + duplicates)), if the minimum without them is no higher; "
        "duplicates are negatives with the text of the query or of its own key",
        counts=True,
    ),
    _remark(
        "margin_beyond",
        _EXPLORE,
        "loss on batch",
        "the margin is larger than the largest distance of two unit vectors",
        "the margin, the kind of distance, and the lengths of the vectors",
        (
            "the minimum of the loss is above 0 for such vectors, and the margin exceeds the "
            "diameter"
        ),
    ),
    _remark(
        "teacher_beyond",
        _EXPLORE,
        "loss on batch",
        "the teacher asks for margins that two cosines do not have",
        "the teacher's margins of the batch",
        "the largest is above 2, and the minimum of the loss is above 0",
    ),
    _remark(
        "suspects",
        _BATCHES,
        "batch",
        "label and encoder disagree on more pairs than noise explains, also one with outliers",
        _CLEAN,
        _STRONG,
    ),
    Judgement(
        "ui.suspects_expected",
        ("Explore", "Large"),
        "batch",
        "how many pairs data without a wrong label would list, and between which numbers",
        _CLEAN,
        "98% of such batches are between the minimum and maximum of the 99; with 8, "
        "Student's 98% prediction interval",
    ),
    Judgement(
        "ui.suspects_fewer",
        ("Explore", "Large"),
        "batch",
        "the disagreement sits on fewer pairs than even noise spreads it over",
        _CLEAN,
        "fewer pairs than in any of the 99, whose range is reported; with 8, than "
        "Student's 98% prediction interval",
    ),
    Judgement(
        "doctor.data.disagreement",
        ("Doctor", "CLI"),
        "batch",
        "label and encoder disagree on more of the encoded pairs than noise explains, also one "
        "with outliers",
        _CLEAN,
        _STRONG,
    ),
    _counted(
        "doctor.data.near_duplicates",
        "Doctor",
        "batch",
        (
            "the number of encoded pairs with a near duplicate, and the number of rows that "
            "meet one in a batch"
        ),
        "the cosines of all texts of one side, where these differ",
    ),
    _counted(
        "doctor.data.false_negatives",
        "Doctor",
        "batch",
        "how many of the encoded positive pairs have another's key above their own; not why",
        "the cosines of all their queries and keys, where the texts differ",
    ),
    _none_listed("ui.no_suspects", "Explore"),
    _none_listed("large.no_suspects", "Large"),
    Judgement(
        "ui.suspects_equal",
        ("Explore", "Large"),
        "batch",
        "no label can be contradicted",
        "the labels of all pairs",
        "counted: no two differ",
        counts=True,
    ),
    Judgement(
        "ui.suspects_against",
        ("Explore", "Large"),
        "batch",
        "the similarities follow the labels too little to say anything against one",
        "all ordered pairs",
        "counted: more than half are violated, so that no pair can contradict twice as many as an "
        "average one",
        counts=True,
    ),
    Judgement(
        "ui.suspects_doubtful",
        ("Explore", "Large"),
        "batch",
        "the similarities are not judged against labels",
        "the letters of all sentences, where the embedded English encoder reads them",
        "more than half are beyond Latin scripts",
    ),
    Judgement(
        "ui.suggested_scale",
        ("Explore",),
        "rule",
        "which λ the rule of the annotated derivation gives here",
        "the standard deviation of the similarities",
        "λ = α/σ, for α from 10 to 30; reported only if it differs",
        counts=True,
    ),
    _remark(
        "all_key",
        _BATCHES,
        "batch",
        "every query is nearest to its own key",
        "all cosines",
        _FIRST,
    ),
    _remark(
        "all_class",
        _BATCHES,
        "batch",
        "every sentence is nearest to one of its class",
        "all cosines",
        _FIRST,
    ),
    _remark(
        "all_prototype",
        _EXPLORE,
        "loss on batch",
        "the own prototype comes first for every sentence",
        "the comparisons of the loss itself",
        _FIRST,
    ),
    _remark(
        "in_order",
        _BATCHES,
        "batch",
        "no ordered pair is violated",
        "all ordered pairs",
        "counted",
    ),
    _remark(
        "few_terms",
        _BATCHES,
        "loss on batch",
        "a handful of terms carries nine tenths of the weight",
        "∂L/∂term of every term",
        "at most 3 of 30 or more, of a loss that is made of these terms alone, and is not the "
        "largest of them on any batch",
    ),
    _remark(
        "gradient_large",
        _EXPLORE,
        "rule",
        "the norm is above the range of the annotated derivation",
        "the norm of the gradient over the sentence vectors, of a loss with CoSENT's λ",
        "above 10",
    ),
    _remark(
        "gradient_small",
        _EXPLORE,
        "rule",
        "the norm is below the range of the annotated derivation",
        "the norm of the gradient over the sentence vectors, of a loss with CoSENT's λ",
        "below 0.1 and not 0",
    ),
    _remark(
        "run_rose",
        _COMPARED,
        "model",
        "Spearman, or of positives accuracy@1, rose",
        _PAIRS,
        _INTERVAL,
        "run_chance",
    ),
    _remark(
        "run_fell",
        _COMPARED,
        "model",
        "Spearman, or of positives accuracy@1, fell",
        _PAIRS,
        _INTERVAL,
        "run_chance",
    ),
    _remark(
        "run_unmoved",
        _COMPARED,
        "run",
        "none of these pairs changed its place",
        _PAIRS,
        "the interval is 0 alone: every pair has the influence that it had",
        counts=True,
    ),
    _remark(
        "run_repeats",
        _COMPARED,
        "run",
        "how many pairs repeat another, and that the intervals count them with it",
        "the sentences of all pairs",
        "counted, both sentences in either order; reported if they increase the variance "
        "of a mean by a tenth or more",
    ),
    _remark("run_chance", _COMPARED, "model", "no significant change", _PAIRS, _HOLDS),
    _remark(
        "run_no_order",
        _COMPARED,
        "run",
        "all of these pairs have one similarity",
        "the scores of all pairs",
        "all equal",
    ),
    _remark(
        "run_pair",
        _RUN,
        "run",
        "of the pairs that moved most, this came nearest to its place by label",
        "ranks by score before and after, rank by label",
        "counted",
        counts=True,
    ),
    _remark(
        "run_loss_fell",
        _RUN,
        "run",
        "the training loss fell",
        _NOISE_OF_STEPS,
        _TREND,
        "run_loss_flat",
    ),
    _remark(
        "run_loss_rose",
        _RUN,
        "run",
        "the training loss rose",
        _NOISE_OF_STEPS,
        _TREND,
        "run_loss_flat",
    ),
    _remark(
        "run_loss_flat",
        _RUN,
        "run",
        "no significant change of the training loss",
        "the same",
        "the slope is not significant, or the means differ in the other direction",
    ),
    *(
        _remark(
            key,
            _RUN,
            "run",
            f"the held-out sentences {claims}; of others nothing",
            "the cosines of every two held-out sentences, before and after",
            f"counted: their mean {way} by 0.1 or more",
            counts=True,
        )
        for key, claims, way in (
            ("run_closer", "drew closer to one another", "rose"),
            ("run_apart", "moved away from each other", "fell"),
        )
    ),
    _remark(
        "verdict_ahead",
        _COMPARED,
        "settings",
        "one is ahead of another",
        f"three shared seeds or more: {_BOTH}",
        _INTERVAL,
        "verdict_untold_needed",
    ),
    _remark(
        "verdict_untold_needed",
        _COMPARED,
        "settings",
        "no significant difference; how many pairs a difference of this size would need",
        f"three shared seeds or more: {_BOTH}",
        _HOLDS,
    ),
    _remark(
        "verdict_untold",
        _COMPARED,
        "settings",
        "no significant difference, and even a million pairs would not show one",
        f"three shared seeds or more: {_BOTH}",
        f"{_HOLDS}, and would with a million pairs",
    ),
    _remark(
        "verdict_models_ahead",
        _COMPARED,
        "model",
        "of these very models one is ahead; of the settings nothing",
        f"one or two shared seeds: {_PAIRS}",
        _INTERVAL,
        "verdict_models_untold",
    ),
    _remark(
        "verdict_models_untold",
        _COMPARED,
        "model",
        "even these models have no significant difference",
        f"one or two shared seeds: {_PAIRS}",
        _HOLDS,
    ),
    _remark(
        "verdict_alike",
        _COMPARED,
        "run",
        "both put every one of these pairs at the same place; of others nothing",
        f"the shared seeds: {_PAIRS}",
        "the interval is 0 alone: under both every pair has the same influence",
        counts=True,
    ),
    _remark(
        "verdict_not_tuned",
        _COMPARED,
        "settings",
        "at which value of λ, τ or the margin two losses are compared, and that no other was tried",
        "the plans of all runs of the table",
        "counted: no second value of either loss, all else being the same",
        counts=True,
    ),
    _remark(
        "verdict_setting",
        _COMPARED,
        "run",
        "which part of the difference of two losses goes with each at the best of its values",
        "the mean figure of each loss at each value, all else being the same",
        "1 − (difference of the best) / (difference at the usual values), between 0 and 1; the "
        "best are chosen on the same pairs",
        counts=True,
    ),
    _remark(
        "verdict_no_seed",
        _COMPARED,
        "settings",
        "they are not compared",
        "the seeds of both",
        "they share none",
    ),
    _remark(
        "verdict_other_pairs",
        _COMPARED,
        "settings",
        "they are not compared",
        "the held-out pairs of all runs",
        "they are not the same",
        counts=True,
    ),
    Judgement(
        "sweep.within",
        ("Explore",),
        "rule",
        "the position of the norm in the range",
        "the gradient norm at 41 values of λ",
        "where it crosses the band, between two of them by their logarithms",
        counts=True,
    ),
    Judgement(
        "sweep.agree",
        ("Explore",),
        "rule",
        "the scales at which both rules of the annotated derivation hold",
        "λ = α/σ of this batch; the gradient norm at 41 values of λ",
        "both ranges overlap",
        "sweep.contradict",
        counts=True,
    ),
    Judgement(
        "sweep.contradict",
        ("Explore",),
        "rule",
        "the two rules contradict each other on this batch",
        "the same",
        "they do not overlap",
        counts=True,
    ),
    Judgement(
        "sweep.never",
        ("Explore",),
        "rule",
        "the norm is nowhere in the band",
        "the gradient norm at 41 values of λ",
        "none inside, and no crossing between two",
        counts=True,
    ),
    _counted(
        "ui.heaviest_note",
        "Explore",
        "loss on batch",
        "the share of the weight of these terms",
        "∂L/∂term of every term",
    ),
    _counted(
        "large.heaviest_note",
        "Large",
        "loss on batch",
        "the share of the weight of the heaviest terms",
        "∂L/∂term of every term",
    ),
    *(
        _counted(
            key,
            "Large",
            "loss on batch",
            "the share of blocks that have nine tenths of the visible weight",
            "the weight of every visible block; not reported for fewer than 20 with a term",
        )
        for key in ("large.concentrated", "large.concentrated_all")
    ),
    _counted(
        "finetune.verdict_best",
        "Fine-tune",
        "run",
        "at which figure each way of training ended, the mean over its seeds",
        "the figure of every run on the same pairs",
    ),
    _counted(
        "finetune.few_queries",
        "Fine-tune",
        "run",
        "the change of the metric by one held-out query",
        "the number of held-out pairs",
    ),
    Judgement(
        "finetune.few",
        ("Fine-tune",),
        "model",
        "within which Spearman a model stays whose similarities say nothing of the labels",
        "the number of held-out pairs, where those that share a sentence count once",
        "Student's t of a rank correlation, at 98%",
    ),
    *(
        Judgement(
            f"finetune.{key}",
            ("Fine-tune",),
            "run",
            claims,
            f"the scores of all held-out pairs{more}",
            "counted: all within 0.02 of each other, looked at where those of the curve are",
            counts=True,
        )
        for key, claims, more in (
            (
                "alarm",
                "the encoder gives all held-out pairs the same score",
                "; for positives, of all their queries and keys",
            ),
            ("alarm_cross", "the same of a cross-encoder", ""),
        )
    ),
    Judgement(
        "finetune.alarm_at",
        ("Fine-tune",),
        "run",
        "the encoder gives all held-out pairs the same score",
        "the scores of all held-out pairs; for positives, of all their queries and keys",
        "counted: all within 0.02 of each other, looked at where those of the curve are",
        "finetune.alarm",
        counts=True,
    ),
    *(
        Judgement(
            f"problem.{key}",
            _COMPARED,
            "run",
            claims,
            evidence,
            "counted: NaN or ±∞" if key != "training_no_gradient" else "counted: none does",
            counts=True,
        )
        for key, claims, evidence in (
            (
                "training_not_finite",
                "a loss or gradient is NaN or infinite; a remedy if earlier steps grew",
                "the loss and the norm of every step",
            ),
            (
                "training_not_finite_at_once",
                "they are no numbers at the first step, which no learning rate has brought about",
                "the loss and the norm of the first step",
            ),
            (
                "training_own_not_finite",
                "a function of one's own makes no number of numbers",
                "its inputs, its value, and the gradient at its inputs",
            ),
            (
                "training_no_gradient",
                "training with a loss of one's own would change nothing",
                "whether its value has a gradient at its inputs",
            ),
        )
    ),
    Judgement(
        "compare.because.none_lower",
        _SIDES,
        "loss on batch",
        "why the loss does not draw this pair together as the other does",
        ("the labels that it reads, and its terms, each of which ranks one pair above another"),
        "counted: no label is lower, and no term ranks the pair above another",
        counts=True,
    ),
    Judgement(
        "compare.because.none_higher",
        _SIDES,
        "loss on batch",
        "the reason why the loss does not lower the score of this pair as the other does",
        ("the labels that it reads, and its terms, each of which ranks one pair above another"),
        "counted: no label is higher, and no term ranks the pair below another",
        counts=True,
    ),
    Judgement(
        "compare.because.no_weight",
        _SIDES,
        "loss on batch",
        "why the loss leaves this pair as it is, which the other moves",
        "∂L/∂term of every term with this pair",
        "counted: there are such terms, and it is 0 at each",
        counts=True,
    ),
    Judgement(
        "compare.because.not_positive",
        _SIDES,
        "loss on batch",
        "why the loss leaves this pair as it is, which the other moves",
        "the similarities that the loss compares, the label, the threshold",
        "none is of these two sentences, and the label is below the threshold",
        counts=True,
    ),
    *(
        _of_sides(f"apart.{one}.{other}", "on which pair two losses disagree most", _APART)
        for one in ("pulls", "pushes")
        for other in ("nothing", "pulls", "pushes")
    ),
    *(
        _of_sides(key, claims, "the definitions, inputs and parameters of both")
        for key, claims in (
            ("comparable_of", "the values of two losses may be compared"),
            ("not_beside", "the values of two losses must not be compared"),
            ("other.definition", "why: two definitions"),
            ("other.inputs", "why: they read different things"),
            ("other.kind", "why: two kinds"),
            ("other.loss", "why: two losses"),
            ("other.parameter", "why: another parameter"),
            ("other.scale", "why: another factor of the similarities"),
            ("same_formula", "two losses are one formula with the same parameters"),
        )
    ),
    *(
        _of_sides(f"answer.{question}.{verdict}", claims, evidence)
        for question, evidence, verdicts in (
            (
                "temperature",
                "the fewest pairs that have 99% of the gradient at both temperatures",
                {
                    "fewer": "the lower temperature has fewer",
                    "same": "it has as many",
                    "more": "it has more",
                },
            ),
            (
                "libraries",
                "the gradients, entry by entry, and the counts of pairs and comparisons",
                {
                    "factors": "each gradient is the first divided by this number",
                    "differ": "one of them is not",
                },
            ),
            (
                "ranking_or_contrast",
                "the sign of each pair's gradient under both losses, and their terms",
                {
                    "opposed": "these pairs have opposite signs",
                    "alike": "no pair has, but for rounding",
                },
            ),
            (
                "mnrl_nt_xent",
                "the values, but for rounding, and the counts of terms",
                {"differ": "one of them differs", "same": "both are the same"},
            ),
            (
                "temperatures",
                "minimum, value at collapse and value at every temperature",
                {
                    "differ": "minimum or value at collapse depends on the temperature",
                    "same": "neither does, but for rounding",
                },
            ),
            (
                "collapse",
                "the loss on the batch, and where all vectors are one point",
                {
                    "some": "it is lower there under some losses",
                    "all": "it is lower there under all",
                    "none": "it is lower there under none",
                },
            ),
            (
                "only_the_order",
                "the loss before and after all cosines rise, but for rounding",
                {
                    "some": "it changes under some losses",
                    "all": "it changes under all",
                    "none": "it changes under none",
                },
            ),
            (
                "small_batches",
                "loss, gradient and comparisons in one batch and in small ones",
                {
                    "fewer": "loss or gradient differs",
                    "same": "both are equal, to 1e-10 of them",
                },
            ),
            (
                "contrastive",
                "the largest and the smallest of the values",
                {
                    "apart": "they differ by more than 10%",
                    "zero": "the smallest is 0 and the largest is not",
                    "within": "they differ by at most 10%",
                },
            ),
            (
                "margins",
                "the minimum, and the triplets with weight at both margins",
                {
                    "above": "the minimum is above 0",
                    "reached": "the minimum is 0",
                },
            ),
        )
        for verdict, claims in verdicts.items()
    ),
    _of_sides("factor", "one gradient is the other times a number", "both gradients, every entry"),
    _of_sides("value_ratio", "how one value relates to the other", "both values"),
    *(
        _of_sides(f"vary.{key}", claims, "the loss at every step of the way to one point")
        for key, claims in (
            ("falls", "by its value one point for everything is better than this batch"),
            ("dips", "the loss falls on the way and ends no lower than it started"),
            ("none_falls", "no loss is lower anywhere on the way than at its start"),
        )
    ),
    _of_sides(
        "vary.limit",
        "the limit of the loss over its scale, and its bounds",
        "the largest violation of an ordered pair and the count of terms",
    ),
    *(
        _of_sides(f"vary.{key}", claims, "the loss before and after the change")
        for key, claims in (
            ("noticing", "the change gives the loss another value"),
            ("not_noticing", "the loss keeps its value but for rounding"),
        )
    ),
    *(
        Judgement(f"compare.vary.{key}", ("Compare",), "rule", claims, evidence, test, counts=True)
        for key, claims, evidence, test in (
            (
                "within",
                "the position of the norm in the range",
                "the gradient norm at every value of λ",
                "where it crosses the band, between two of them by their logarithms",
            ),
            (
                "never",
                "the norm is nowhere in the band",
                "the gradient norm at every value of λ",
                "none inside, and no crossing between two",
            ),
            (
                "advised",
                "which λ the rule of the annotated derivation gives here",
                "the standard deviation of the similarities",
                "λ = α/σ, for α from 10 to 30",
            ),
        )
    ),
    *(
        _counted(f"ui.parts.{key}", "Explore", "loss on batch", claims, "each part's gradient")
        for key, claims in (
            ("cosine", "how far the gradients of two parts agree"),
            ("no_cosine", "the gradient of one of two parts is 0"),
            (
                "opposed",
                "the number of pairs whose parts have opposite gradients, and what cancels",
            ),
            ("none_opposed", "on no pair the parts pull against each other"),
        )
    ),
    *(
        _of_data(key, claims)
        for key, claims in (
            ("batches_without_positive", "which share of random batches has no positive pair"),
            ("class_spellings", "how many class names differ in case, width or blanks alone"),
            ("classes_of_one", "how many classes have a single text"),
            (
                "conflicting_labels",
                "the number of pairs whose labels differ by more than 10 % of the scale",
            ),
            ("rater_noise", "how many pairs have labels that differ by at most 10 % of the scale"),
            ("inference_labels", "how many pairs are of entailment, neutral, of contradiction"),
            ("copies", "how many rows repeat one that stood before, or a candidate of their own"),
            ("degrees_lost", "of how many degrees the loss reads two"),
            ("labels_out_of_reach", "which share of the labels no cosine can reach"),
            ("labels_outside", "the share of labels outside the range that the loss is made for"),
            ("lists_of_one", "how many lists have one candidate"),
            ("lists_of_one_label", "how many lists have one label throughout"),
            ("lists_without_positive", "how many lists have no positive candidate"),
            ("groups_without_negative", "how many queries have no negative of their own"),
            ("margin_beyond", "the margin is larger than the largest distance of two unit vectors"),
            ("margins_out_of_reach", "at how many queries the teacher's margins are beyond 2"),
            ("mixed_scripts", "the number of pairs with a text in another script than the others"),
            ("negative_is_own", "how many triplets have their positive or anchor for a negative"),
            ("no_labels", "there are no labels, and the loss compares by them"),
            ("no_negative", "all pairs are positive, and the loss needs others"),
            ("no_positive", "no pair is positive, and the loss needs some"),
            ("no_teacher", "there are no scores of a teacher, and the loss needs them"),
            ("not_latin", "the number of pairs with a text in another script than Latin"),
            ("one_class", "all rows are of one class"),
            ("one_label", "all labels are equal"),
            ("rows_alone", "which share of the rows of a random batch has no other of its class"),
            ("same_on_both_sides", "the number of pairs with one text twice"),
            ("texts_again", "how many rows repeat a text in the same class"),
            ("texts_in_classes", "the number of texts in several classes"),
            ("twins", "how many pairs share a text, and how many of a random batch meet"),
            ("twins_met", "the same, of a loss that takes them for negatives"),
            ("two_scripts", "in how many pairs the scripts of both texts differ"),
        )
    ),
    *(
        Judgement(
            f"doctor.none_helps.{key}",
            _DOCTOR,
            "batch",
            claims,
            "epochs drawn from the rows, and the texts of the table",
            "counted",
            counts=True,
        )
        for key, claims in (
            ("twins", "no sampler, smaller batch or mask gives a whole epoch of a lower minimum"),
            ("twins_met", "none of these gives a whole epoch in which fewer such rows meet"),
            ("rows_alone", "no sampler and no larger batch leaves fewer rows alone"),
            ("batches_without_positive", "neither gives more batches a positive pair"),
            ("groups_without_negative", "the table has no text that can be mined for any of them"),
            ("lists_of_one", "the same, of lists of one candidate"),
            ("lists_of_one_label", "the same, of lists of one label"),
        )
    ),
    _of_data(
        "cut_off",
        ("about how many texts are longer than the encoder's limit; reported as an estimate"),
        "the words and letters of all texts: 1.3 tokens a word",
    ),
    _of_data(
        "tokens_cut_off",
        "the number of texts longer than the encoder's limit",
        "all texts, by its own tokenizer",
    ),
    *(
        Judgement(
            f"doctor.{key}",
            _DOCTOR,
            "batch",
            f"of what is looked for in {seen}, nothing is there; of the rest it says nothing",
            evidence,
            "counted: none of the findings above is made",
            counts=True,
        )
        for key, seen, evidence in (
            ("none_found", "texts and labels alone", "all findings of the table"),
            ("examined_none", "texts and labels alone", "all findings of the table"),
            ("class.examined_none", "texts and classes alone", "all findings of the table"),
            ("none_found_encoded", "these cosines", "all findings by an encoder"),
        )
    ),
    *(
        Judgement(
            f"doctor.similarities.{key}",
            _DOCTOR,
            "batch",
            claims,
            "the similarities of all queries at both moments",
            "counted anew from random queries",
            counts=True,
        )
        for key, claims in (
            ("gap_wider", "the mean of positives less that of negatives has grown"),
            ("gap_narrower", "the mean of positives less that of negatives has shrunk"),
            ("order_worse", "fewer of the comparisons within a query are in order"),
            ("reversed", "for how many queries a negative is above a positive"),
        )
    ),
    *_suited(
        "above_threshold classes degrees entailed given_triplets guide hard_negatives joined "
        "kinds_in_order lists mostly_positive positives positives_alone positives_of_labels "
        "positives_of_triplets prototypes spreads teacher triplet_labels yes_or_no",
        "why a loss can learn from these columns",
    ),
    *_suited(
        "alike alone as_cosines classes_of_pairs degrees_lost drawn_alike few_in_order few_lists "
        "kinds_as_degrees labels_unread lists_of_two negatives_halved negatives_unread "
        "nothing_to_learn one_negative only_pulls prototypes_of_these queries_unread "
        "second_encoder teacher_unread twins two_outputs",
        "a reason against a loss on these columns",
    ),
    *_suited("none none_classes", "no loss here can learn from these columns"),
    *_of_number(
        "relative.simsiam.floor relative.simsiam.start relative.simsiam.between "
        "relative.simsiam.beyond relative.dpo.start relative.dpo.above relative.dpo.below "
        "relative.dpo.beyond relative.classifier.start relative.classifier.above "
        "relative.classifier.below relative.classifier.beyond",
        ("a possible meaning of a value of a loss without a definition here, by its formula"),
    ),
    *_of_number(
        "collapse collapse_start start floor copies copied below_zero below_zero_fault "
        "below_zero_labels margin_beyond "
        "nothing.no_positive nothing.no_relevant nothing.one_class nothing.one_label "
        "nothing.one_pair",
        "a possible meaning of a value of a loss",
    ),
    *_of_number(
        "multiple.batch multiple.processes multiple.steps",
        "how many times a value that a loss may have the number is, where it is none itself",
    ),
    *_of_number(
        "chance.accuracy chance.always_no chance.mrr chance.mrr_cut chance.ndcg chance.ndcg_cut",
        "which metric has this value by chance, and among how many candidates",
    ),
    *_of_number(
        "standing.above standing.above_sharp standing.below standing.between standing.collapse "
        "standing.collapse_near standing.floor standing.negative standing.starting standing.under "
        "standing.below_assumed standing.labels_outside",
        "the position of a value of a loss between its reference values",
    ),
    _of_log(
        "at_collapse",
        "the loss ended at its value at collapse",
        _MARKS,
        f"{_LEVEL} is within three standard errors, or 0.5%, of it, these are less than a "
        "tenth of the distance to the minimum, and no logged cosine of negatives "
        "contradicts it",
    ),
    _of_log(
        "not_collapsed",
        "its loss is that of collapse, and its last batches had not collapsed",
        f"{_MARKS}; the mean cosine of the negatives of each batch that was looked at",
        f"{_LEVEL} is there, and the mean cosine of the last tenth is below 0.98",
    ),
    _of_log(
        "above_collapse",
        "the loss ended above its value at collapse; no claim on the order of pairs",
        _MARKS,
        f"{_LEVEL} is above it by more than three standard errors and 0.5%, and no correlation of "
        "held-out pairs was logged, or none that is 0.2 from 0",
    ),
    _of_log(
        "ordered",
        ("the loss ended no lower than its value at collapse, and held-out pairs are in order"),
        f"{_MARKS}; the last tenth of a logged correlation of held-out pairs with their labels",
        f"{_LEVEL} is not below it by more than three standard errors, and the correlation is 0.2 "
        "or more",
    ),
    _of_log(
        "turned",
        "the loss ended no lower than its value at collapse, and held-out pairs are in "
        "reverse order",
        f"{_MARKS}; the last tenth of a logged correlation of held-out pairs with their labels",
        f"{_LEVEL} is not below it by more than three standard errors, and the correlation is −0.2 "
        "or less",
    ),
    _of_log(
        "below_floor",
        "the assumed loss, parameters or batch are wrong",
        _MARKS,
        f"{_LEVEL} is below the minimum by more than three standard errors and 0.5%, for "
        "every possible kind of score and labels",
    ),
    _of_log(
        "below_assumed",
        "it is lower than on unit vectors and labels 1 and 0",
        _MARKS,
        f"{_LEVEL} is below that minimum by more than three standard errors and 0.5%, and "
        "not below that of other possible scores or labels",
    ),
    _of_log(
        "labels_outside",
        "some labels are outside the range in which the loss has a minimum",
        _MARKS,
        f"{_LEVEL} is below the minimum by more than three standard errors and 0.5%, of a "
        "loss without a minimum for labels outside this range",
    ),
    _of_log(
        "at_floor",
        "the batches have hardly anything left to teach",
        _MARKS,
        f"{_LEVEL} has gone 98% of the way from collapse to the least value, or more",
    ),
    _of_log(
        "between",
        "how far it has gone from collapse to the least value",
        _MARKS,
        "counted",
        counts=True,
    ),
    _of_log(
        "plateau",
        "from which step on the loss hardly moved any more",
        _CURVE,
        "from it on, every twentieth of the log is within three standard errors of the "
        "last quarter, a line through them moves, at two standard errors, by less than a "
        "tenth of the change before, and it is at least a quarter of the log",
    ),
    _of_log(
        "flat",
        "the loss did not fall, from the first step of the log to its last",
        _CURVE,
        "the mean of every part of the log (5 to 20, by its length), with three standard "
        "errors, is within 1% of the overall mean",
    ),
    _of_log(
        "jump",
        "the loss rose at once and stayed there",
        _CURVE,
        "the 10 to 50 values after a step exceed those before, on a common slope, by more"
        " than six standard errors; at least half of it came in that step, and half of it"
        " remains later",
    ),
    _of_log(
        "digits_lost",
        "the loss was stored in float16 or bfloat16",
        "all different values, with the digits in which they are written",
        "each is a number of the format, which by chance would happen once in 10⁹ logs",
    ),
    _of_log(
        "overfits",
        "a held-out loss rises after its minimum while the training loss does not",
        "the held-out loss at every evaluation, and the training loss after its minimum",
        "the last third since the least (of medians of three) is higher by 3.2 standard errors of "
        "evaluations that scatter about a line since then, or about the middle of their "
        "neighbours, which are taken to correlate by 0.7, and by 2% of the least or of the fall to "
        "it, and a line through the training loss does not rise by three",
    ),
    _of_log(
        "gap",
        "the training loss is near its minimum, and the held-out loss is far from it",
        "the last third of the held-out loss and the last fifth of the training loss, "
        "less the minimum (0 if none is known and no value is below); the first three "
        "values",
        "the held-out excess is ten times as large, beyond 3.2 and 3 standard errors, and"
        " at least a fifth of the excess at the start",
    ),
    _of_log(
        "leak",
        "the held-out rows are fitted as well as the training rows",
        "the same, and the epochs of the log",
        "both excesses are below 5% of those at the start, and neither is twice the "
        "other, at 1.65 standard errors; not reported for a single epoch",
    ),
    _of_log(
        "figure_falls",
        "a held-out metric falls after its best value, on these held-out pairs",
        "the figure at every evaluation",
        "the last third since the best (of medians of three) is worse by 3.2 standard errors of "
        "evaluations that scatter about a line since then, or about the middle of their "
        "neighbours, which are taken to correlate by 0.7",
    ),
    _of_log(
        "not_finite",
        "values of the loss are no numbers",
        "every value",
        "counted: NaN or ±∞",
        counts=True,
    ),
    _of_log(
        "gradient_not_finite",
        (
            "the norm of the gradient is NaN or infinite at the end, even if the logged loss "
            "is finite"
        ),
        "every value of the curve of that name",
        "counted: the last five or more are NaN or ±∞, and the loss ends with a number",
        counts=True,
    ),
    _of_log(
        "stops",
        "the loss has no value any more, and the log goes on",
        "the steps of the loss, of all other curves of the run, and of rows without a value",
        "counted: after it more than five entries, and more than twice as many as ever between two "
        "of its values",
        counts=True,
    ),
    _of_log(
        "zero",
        "the loss is 0 at the end",
        "every value",
        "counted: five or more, exactly 0; severe where the gradient norm is 0 there as well and "
        "an accuracy is below 1",
        counts=True,
    ),
    _of_log(
        "margin_beyond",
        "the margin is larger than the largest distance of two unit vectors",
        "the chosen margin, that of the model's card, or the default of the loss",
        "compared; reported with the note that normalisation of the vectors is unknown",
        counts=True,
    ),
    _of_log(
        "effective_candidates",
        "the number of equally scored candidates at which a query has this loss",
        "the mean of the last tenth of a softmax loss over the batch",
        "its exponential",
        counts=True,
    ),
    *(
        _of_log(key, claims, "loss, parameters and ends of both runs", "compared", "settings", True)
        for key, claims in (
            ("other_scale", "the values of runs at other parameters cannot be compared"),
            ("other_loss", "the values of two losses cannot be compared"),
            ("other_batch", "the values at other batches have other bounds"),
            ("comparable", "nothing known prevents a comparison of the values"),
            (
                "other_training",
                "one run took twice as many rows, or went twice as often through its own, or more",
            ),
            ("untold", "whether the values can be compared is not known: of one the loss is not"),
            ("untold_batch", "the same: of one the batch is not, on which the ends depend"),
        )
    ),
)

BY_KEY: dict[str, Judgement] = {one.key: one for one in JUDGEMENTS}
