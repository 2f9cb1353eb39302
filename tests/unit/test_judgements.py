"""Every sentence that judges is listed, appears where it is true, and not where it is false."""

from __future__ import annotations

import itertools
import re
from fnmatch import fnmatchcase

import pytest

from lossprism.explorer.lab.doctor.candidate_list_faults import MINING_HELPS
from lossprism.explorer.locale import LANGUAGES, catalogue
from tests.judgements import SIMULATIONS, Simulation, appearances, load, rates, within_bounds
from tests.judgements import __main__ as command
from tests.judgements.__main__ import DOCUMENT
from tests.judgements.claims import BY_KEY, JUDGEMENTS, OF
from tests.unit.described import DESCRIBED

load()
TEXT = DOCUMENT.read_text(encoding="utf-8")


def of_prefix(prefix, test):
    return {key: test for key in BY_KEY if key.startswith(prefix)}


# What only repeats what was counted or quotes a rule has nothing to be drawn; these tests hold it.
ELSEWHERE = {
    "doctor.data.near_duplicates": (
        "test_pair_dataset_checks_by_encoder.py::test_what_was_planted_is_counted"
    ),
    "doctor.data.false_negatives": (
        "test_pair_dataset_checks_by_encoder.py::test_what_was_planted_is_counted"
    ),
    "doctor.data.inference_labels": (
        "test_dataset_reader.py::test_kinds_of_inference_are_no_degrees"
    ),
    **of_prefix(
        "doctor.relative.",
        "test_possible_meanings_of_number.py::test_losses_without_a_definition_here_are_known",
    ),
    "remark.same_text": "test_duplicate_negatives.py::test_the_shares_are_those_of_the_softmax",
    **dict.fromkeys(
        ("doctor.data.margin_beyond", "doctor.run.margin_beyond"),
        "test_pair_dataset_checks.py::test_a_margin_that_no_two_vectors_have",
    ),
    "doctor.data.negative_is_own": (
        "test_cleaned_dataset_writer.py::test_a_negative_that_is_its_own_positive_is_named_by_its_row"
    ),
    **of_prefix(
        "doctor.similarities.",
        "test_similarity_gap_findings.py::test_the_change_is_what_the_numbers_say",
    ),
    "doctor.data.margins_out_of_reach": (
        "test_pair_dataset_checks.py::test_margins_that_no_cosines_have"
    ),
    **dict.fromkeys(
        ("remark.alone", "remark.all_alone"),
        "test_remarks.py::test_sentences_without_another_of_their_class_are_counted",
    ),
    "remark.encoder_error": (
        "test_openvino_encoder.py::test_the_error_is_the_largest_difference_of_cosines"
    ),
    "remark.labels_outside": "test_remarks.py::test_labels_that_a_convention_takes_as_they_are",
    "remark.same_text_floor": "test_duplicate_negatives.py::test_duplicates_bound_the_minimum",
    "remark.same_text_left_out": "test_duplicate_negatives.py::test_left_out_they_are_counted",
    **dict.fromkeys(
        ("remark.run_closer", "remark.run_apart"),
        "test_run_remarks.py::test_all_held_out_sentences_show_whether_they_drew_closer",
    ),
    "problem.training_not_finite": "test_training_run.py::test_no_number_any_more",
    "problem.training_not_finite_at_once": "test_training_run.py::test_no_number_any_more",
    **dict.fromkeys(
        ("problem.training_own_not_finite", "problem.training_no_gradient"),
        "test_training_run.py::test_a_fault_of_a_users_loss_is_reported_as_its_own",
    ),
    "remark.run_pair": "test_run_remarks.py::test_the_pair_that_came_home",
    "remark.verdict_alike": "test_run_remarks.py::test_models_that_order_these_pairs_alike",
    **dict.fromkeys(
        ("remark.verdict_not_tuned", "remark.verdict_setting"),
        "test_lead_explained_by_loss_setting.py::test_the_share_of_the_setting_is_what_goes_with_tuning",
    ),
    "remark.verdict_other_pairs": (
        "test_run_comparison.py::test_other_held_out_pairs_do_not_compare"
    ),
    **of_prefix(
        "sweep.",
        "verdicts.test.js::two rules agree where a range of the band holds what the other advises, "
        "and nowhere else",
    ),
    "ui.heaviest_note": "test_ranks_and_term_weights.py::test_nine_of_ten_equal_terms_are_active",
    "large.heaviest_note": "test_heaviest_terms.py::test_among_a_million",
    **of_prefix(
        "large.concentrated",
        "verdicts.test.js::where the weight is, is said of all blocks or of those in view, and not "
        "of too few",
    ),
    "finetune.verdict_best": "test_run_comparison.py::test_mean_spread_and_difference",
    "finetune.few_queries": (
        "test_metric_uncertainty.py::test_one_query_moves_the_share_of_those_found_by_its_own"
    ),
    "ui.suspects_equal": "label_corrections.test.js::an empty list says why it is empty",
    "ui.suspects_against": "label_corrections.test.js::an empty list says why it is empty",
    "remark.run_unmoved": "test_run_remarks.py::test_pairs_that_kept_their_places",
    "ui.suggested_scale": "test_remarks.py::test_the_advised_scale_is_alpha_over_sigma",
    "finetune.alarm_at": "test_training_run.py::test_what_few_held_out_pairs_show_is_no_alarm",
    "finetune.alarm": "test_training_run.py::test_what_few_held_out_pairs_show_is_no_alarm",
    "finetune.alarm_cross": "test_training_run.py::test_what_few_held_out_pairs_show_is_no_alarm",
    **of_prefix(
        "compare.apart.",
        "test_loss_comparison.py::test_the_pair_is_the_one_whose_shares_differ_most",
    ),
    **of_prefix(
        "compare.other.", "test_loss_comparison.py::test_what_must_not_be_compared_says_why"
    ),
    **dict.fromkeys(
        ("compare.comparable_of", "compare.same_formula"),
        "test_page.py::test_a_loss_and_itself_are_one_formula",
    ),
    "compare.not_beside": "test_page.py::test_the_page_shows_what_is_computed",
    "compare.factor": "test_loss_comparison.py::test_one_factor_between_two_conventions_is_found",
    "compare.value_ratio": (
        "test_loss_comparison.py::test_one_factor_between_two_conventions_is_found"
    ),
    **dict.fromkeys(
        ("compare.vary.falls", "compare.vary.dips", "compare.vary.none_falls"),
        "verdicts.test.js::of each loss it is said whether it falls on its way to one point, is "
        "least on it, or neither",
    ),
    "compare.vary.limit": (
        "test_experiment_request_handlers.py::test_a_loss_by_its_scale_runs_to_the_largest_violation"
    ),
    **dict.fromkeys(
        ("compare.vary.noticing", "compare.vary.not_noticing"),
        "verdicts.test.js::each loss that has a value after a change either notices it or does not",
    ),
    **dict.fromkeys(
        ("compare.vary.within", "compare.vary.never"),
        "test_parameter_sweep.py::test_ranges_end_where_the_line_leaves_the_band",
    ),
    "compare.vary.advised": "test_remarks.py::test_the_advised_scale_is_alpha_over_sigma",
    **of_prefix(
        "ui.parts.",
        "verdicts.test.js::two parts agree by a cosine, unless one of them has no gradient, and "
        "pull against each other or do not",
    ),
    **of_prefix(
        "doctor.suited.",
        "test_suitable_losses.py::"
        "test_every_reason_is_given_where_it_holds_and_not_where_it_does_not",
    ),
    **of_prefix(
        "doctor.suited.none",
        "test_suitable_losses.py::test_where_nothing_can_be_learnt_no_loss_is_named",
    ),
    **of_prefix("doctor.multiple.", "test_log_values.py::test_a_multiple_is_named_by_its_factor"),
    **of_prefix("doctor.chance.", "test_log_values.py::test_chance_levels_are_named"),
    **of_prefix(
        "doctor.standing.", "test_possible_meanings_of_number.py::test_where_a_number_stands"
    ),
    **dict.fromkeys(
        ("doctor.standing.above", "doctor.standing.above_sharp", "doctor.standing.starting"),
        "test_possible_meanings_of_number.py::test_above_collapse_no_sentence_judges_the_embeddings",
    ),
    "doctor.standing.collapse_near": "test_log_values.py::test_near_collapse_is_log_noise",
    **of_prefix(
        "doctor.nothing.",
        "test_possible_meanings_of_number.py::test_a_loss_that_is_zero_at_collapse",
    ),
    **dict.fromkeys(
        ("doctor.collapse", "doctor.collapse_start", "doctor.start", "doctor.floor"),
        "test_possible_meanings_of_number.py::test_questions_of_people_are_answered",
    ),
    "doctor.copies": (
        "test_possible_meanings_of_number.py::test_a_positive_that_stands_three_times_among_its_candidates"
    ),
    "doctor.margin_beyond": (
        "test_possible_meanings_of_number.py::test_a_minimum_left_by_a_margin_is_reported_as_that"
    ),
    "doctor.copied": (
        "test_possible_meanings_of_number.py::test_duplicates_are_reported_for_a_named_loss"
    ),
    "doctor.below_zero": "test_possible_meanings_of_number.py::test_below_zero",
    "doctor.below_zero_fault": "test_possible_meanings_of_number.py::test_below_zero",
    "doctor.below_zero_labels": (
        "test_possible_meanings_of_number.py::test_below_zero_by_labels_outside"
    ),
    **of_prefix(
        "doctor.none_helps.",
        "test_sampler_and_batch_size_remedies.py::test_where_nothing_helps_nothing_is_advised",
    ),
    **dict.fromkeys(
        (f"doctor.none_helps.{n}" for n in MINING_HELPS),
        "test_sampler_and_batch_size_remedies.py::test_mining_is_advised_where_there_is_a_text_to_mine",
    ),
    "doctor.none_found": "test_pair_dataset_checks.py::test_nothing_is_invented",
    "doctor.examined_none": "test_pair_dataset_checks.py::test_nothing_is_invented",
    "doctor.class.examined_none": "test_class_dataset_checks.py::test_nothing_is_invented",
    "doctor.none_found_encoded": "test_pair_dataset_checks_by_encoder.py::test_nothing_is_invented",
    **{
        f"doctor.data.{name}": f"test_{test}"
        for test, names in {
            "pair_dataset_checks.py::test_meetings_are_what_batches_have": (
                "twins twins_met batches_without_positive"
            ),
            "class_dataset_checks.py::"
            "test_rows_without_another_of_their_class_are_what_batches_have": ("rows_alone"),
            "class_dataset_checks.py::test_what_was_planted_is_found_and_nothing_else": (
                "class_spellings classes_of_one one_class texts_again texts_in_classes"
            ),
            "pair_dataset_checks_by_encoder.py::"
            "test_texts_beyond_the_encoders_limit_are_counted_in_its_own_tokens": (
                "tokens_cut_off"
            ),
            "pair_dataset_checks.py::test_what_labels_cannot_teach": (
                "degrees_lost labels_out_of_reach labels_outside lists_of_one_label "
                "lists_without_positive groups_without_negative no_labels no_negative no_positive "
                "no_teacher "
                "one_label lists_of_one"
            ),
            "conflicting_labels.py::test_labels_within_a_tenth_of_the_scale_are_noise": (
                "rater_noise"
            ),
            "pair_dataset_checks.py::test_what_was_planted_is_found_and_nothing_else": (
                "conflicting_labels copies cut_off mixed_scripts not_latin same_on_both_sides "
                "two_scripts"
            ),
        }.items()
        for name in names.split()
    },
    **of_prefix(
        "compare.answer.", "test_loss_question_answers.py::test_another_batch_has_another_answer"
    ),
    "compare.because.none_lower": (
        "test_loss_comparison.py::test_limits_of_the_lowest_label_are_reported"
    ),
    "compare.because.none_higher": (
        "test_loss_comparison.py::test_limits_of_the_highest_label_are_reported"
    ),
    "compare.because.no_weight": "test_loss_comparison.py::test_terms_without_weight_are_counted",
    "compare.because.not_positive": "test_loss_comparison.py::test_a_pair_that_is_no_positive",
    "doctor.run.gradient_not_finite": (
        "test_missing_values.py::test_a_gradient_that_is_none_beside_a_loss_that_is_one"
    ),
    "doctor.run.stops": "test_missing_values.py::test_a_loss_that_is_not_logged_any_more",
    **{
        f"doctor.run.{name}": f"test_findings.py::{test}"
        for test, names in {
            "test_where_a_curve_stands": ("between", "effective_candidates"),
            "test_values_that_are_none": ("not_finite", "zero"),
            "test_what_two_runs_can_say": (
                "other_scale",
                "other_loss",
                "other_batch",
                "comparable",
                "other_training",
                "untold",
                "untold_batch",
            ),
        }.items()
        for name in names
    },
}


def test_every_remark_is_listed_once():
    keys = [one.key for one in JUDGEMENTS]
    assert len(keys) == len(set(keys))
    remarks = {key for key in catalogue("en") if key.startswith("remark.")}
    assert remarks == {key for key in keys if key.startswith("remark.")}
    findings = {key for key in catalogue("en") if key.startswith("doctor.run.do.")}
    of_runs = {key for key in keys if key.startswith("doctor.run.")}
    assert {key.replace(".do.", ".") for key in findings} == of_runs


def test_every_judgement_is_whole():
    lacking = [
        one.key
        for one in JUDGEMENTS
        if not all((one.where, one.claims, one.evidence, one.test)) or one.of not in OF
    ]
    assert not lacking
    for language in LANGUAGES:
        words = catalogue(language)
        sentences = {key for one in JUDGEMENTS for key in (one.key, one.otherwise) if key}
        assert not [key for key in sorted(sentences) if not words[key]]
    counting = {one.key for one in JUDGEMENTS if one.counts}
    assert SIMULATIONS.keys() == BY_KEY.keys() - counting, "what infers is drawn"
    assert ELSEWHERE.keys() == counting, "what counts has a test of its own"


# A sentence may be silent in one draw of ten where it is true, so that one of these draws shows it.
FEW_DRAWS = 3


def test_every_sentence_appears_where_it_is_true_and_not_where_it_is_false():
    """Once each; ``python -m tests.judgements`` measures how often."""

    def first_draws(one):
        return itertools.islice(appearances(one), FEW_DRAWS)

    wrong = [
        key
        for key, one in SIMULATIONS.items()
        if not any(first_draws(one.true)) or all(first_draws(one.false))
    ]
    assert not wrong


def test_the_rates_of_the_document_are_within_bounds():
    """Those of all draws, as they were when it was written."""
    rates = re.findall(
        r"^### `([^`]+)`\n(?:(?!###).)*?: ([\d.]+)%\. \*\*False alarms.*?: ([\d.]+)%\.",
        TEXT,
        re.S | re.M,
    )
    assert {key for key, *_ in rates} == SIMULATIONS.keys()
    wrong = [one for one in rates if not within_bounds(*(float(rate) / 100 for rate in one[1:]))]
    assert not wrong


@pytest.mark.parametrize(
    ("true", "false", "fails"), [(0.97, 0.02, False), (0.7, 0.02, True), (0.97, 0.2, True)]
)
def test_the_command_fails_where_a_sentence_appears_by_chance(
    monkeypatch, tmp_path, true, false, fails
):
    written = tmp_path / "judgements.md"
    written.write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(command, "DOCUMENT", written)
    key = "remark.one_pair"
    made = Simulation(lambda d: d.random() < true, lambda d: d.random() < false, "", "")
    monkeypatch.setitem(SIMULATIONS, key, made)
    rates.cache_clear()
    assert command.main(key) == fails
    assert catalogue("en")[key] in written.read_text(encoding="utf-8")
    rates.cache_clear()


def test_the_document_describes_every_judgement():
    parts = {part.partition("`")[0]: part for part in TEXT.split("\n### `")}
    wrong = [
        key
        for key, one in BY_KEY.items()
        if f"> {catalogue('en')[key]}\n" not in parts.get(key, "")
        or one.evidence not in parts[key]
        or ("**Power**" in parts[key]) != (key in SIMULATIONS)
    ]
    assert not wrong, "run python -m tests.judgements"


# Sentences of findings judge even without a value in them.
OF_FINDINGS = (
    "remark.",
    "doctor.",
    "compare.answer.",
    "compare.because.",
    "compare.other.",
    "compare.vary.",
    "sweep.",
    "finetune.alarm",
    "finetune.verdict",
    "finetune.unseen_",
    "ui.suspects",
    "ui.no_",
    "ui.parts.",
    "large.no_",
    "large.suspects",
)
# What cannot be used is refused, which `test_locale` holds; Compare's questions ask.
NOT_OF_DATA = ("problem.", "compare.question.", "doctor.data.do.")


def judging() -> list[str]:
    """Return the keys of all sentences on findings."""
    return [
        key
        for key, sentence in catalogue("en").items()
        if re.search(r"[.!?](\s|$)", sentence)
        and ("{" in sentence or key.startswith(OF_FINDINGS))
        and not key.startswith(NOT_OF_DATA)
    ]


def reasons(key: str) -> list[str]:
    return [why for why, some in DESCRIBED.items() if any(fnmatchcase(key, one) for one in some)]


def test_a_sentence_of_what_was_found_is_listed_or_judges_nothing():
    wrong = [key for key in judging() if (key in BY_KEY) + len(reasons(key)) != 1]
    assert not wrong, "neither listed nor described, or both"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_problem_that_advises_how_to_train_is_listed(language):
    advice = re.compile("learning rate|clipping|usually|helps|学习率|裁剪梯度")
    words = catalogue(language)
    advising = {key for key in words if key.startswith("problem.") and advice.search(words[key])}
    assert advising <= BY_KEY.keys()


def test_no_sentence_is_described_that_does_not_exist():
    keys = judging()
    for one in itertools.chain.from_iterable(DESCRIBED.values()):
        assert any(fnmatchcase(key, one) for key in keys), one


def test_tests_named_as_evidence_exist():
    known = {}
    for file in (DOCUMENT.parents[1] / "tests").rglob("*test*.[pj][ys]"):
        known[file.name] = known.get(file.name, "") + file.read_text(encoding="utf-8")
    for where in set(ELSEWHERE.values()):
        file, _, test = where.partition("::")
        begun = f'test("{test}"' if file.endswith(".js") else f"def {test}("
        assert test, where
        assert begun in known[file], where
