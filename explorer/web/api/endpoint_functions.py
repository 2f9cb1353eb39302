"""LossPrism for programs: typed functions that answer with plain JSON.

`explorer.web.site` offers the same functions as named endpoints and as MCP tools. Numbers are JSON
numbers; inf and nan, which JSON lacks, are the words "inf", "-inf" and "nan", so a masked cell of a
step is "-inf". null marks absent values. Places count from 0.
"""

import base64
import dataclasses
from contextlib import nullcontext
from typing import Any, Literal, cast

from lossprism.explorer.core.batch import Batch, batch_of_scores, load_pairs
from lossprism.explorer.core.explore import SMALL_PAIRS, Exploration, explore, seconds_for
from lossprism.explorer.core.models_of_scenario import find_models, with_second_models
from lossprism.explorer.core.resolved_scenario import Resolved, resolve
from lossprism.explorer.core.scenario import FACETS, Data, Scenario
from lossprism.explorer.export.drawing_data_of_exploration import looking_at
from lossprism.explorer.export.figure.appearance import PALETTES, SIZES, Look
from lossprism.explorer.export.figure.figure_files import FIGURES, MADE_OF_SVG
from lossprism.explorer.lab.compare.loss_comparison import compare
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.number_report import ExplainedValue, number_answer
from lossprism.explorer.lab.doctor.possible_meanings_of_number import explain
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_json_types import Followed
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.current_visitor import has_key, own_key
from lossprism.explorer.runtime.device import device
from lossprism.explorer.runtime.json_encoding import MAX_INTEGER
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS, TRACED_PAIRS, TRAINED_PAIRS
from lossprism.explorer.runtime.owner_consent import with_consent
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.web.api.dataset_diagnosis import doctor_data
from lossprism.explorer.web.api.loss_descriptions import (
    CalledLoss,
    ListedLoss,
    called,
    described,
    summaries,
)
from lossprism.explorer.web.api.pasted_text_diagnosis import doctor_pasted
from lossprism.explorer.web.api.request_parsing import (
    check_lengths,
    for_visitor,
    read_choice,
    read_numbers,
    read_object,
    read_switch,
    read_text,
    rows_of,
    rules_of,
    scenario_of,
    scenario_under,
    sides_of,
    table_of,
)
from lossprism.explorer.web.api.response_schemas import (
    Answer,
    ComparedLosses,
    DrawnFigure,
    StartedTraining,
    StoppedTraining,
    Traced,
    UnsharedTraining,
    in_json,
)
from lossprism.explorer.web.api.responses_from_results import answer_of, comparison_of, traced_of
from lossprism.explorer.web.api.run_diagnosis import doctor_run
from lossprism.explorer.web.pages.figure_of_scenario_or_page import (
    PageFigure,
    html_of,
    opening,
    svg_of,
)
from lossprism.losses import LOSSES


@in_json
def compute_loss(
    loss: str,
    sentences1: list[str] | None = None,
    sentences2: list[str] | None = None,
    scores: list[float] | None = None,
    parameters: dict[str, Any] | None = None,
    encoder: str = EMBEDDED,
    convention: str = "",
    threshold: float | None = None,
    label_range: list[float] | None = None,
    extra_negatives: bool = True,
    prototypes: list[list[float]] | None = None,
    twins: str = "keep",
    guide: str = "",
    teacher: str = "",
    teacher_scores: list[float] | None = None,
    table: str | list[dict[str, Any]] = "",
    columns: dict[str, str] | None = None,
) -> Answer:
    """Encode up to 512 sentence pairs, compute a loss on them, and say what drives it.

    Args:
        loss: any name of a loss, such as "cosent", "MultipleNegativesRankingLoss",
            "info_nce+angle" or "matryoshka(info_nce)"; list_losses names them all
        sentences1: the first sentence of each pair; null where a table is given
        sentences2: the second sentence of each pair
        scores: the label of each pair, any finite number, on the scale label_range; null for none:
            all pairs are then positives
        parameters: the loss's parameters by name, such as {"scale": 20}; others keep defaults
        encoder: all-MiniLM-L6-v2 (embedded), the hub id of another sentence encoder, or a folder
        convention: another library's definition that list_losses names, "" for our own
        threshold: a pair whose label reaches it is positive; left out, the middle of label_range
        label_range: the ends of the labels' scale, such as [1, 5]; left out, as on the page, 0 to 1
            or -1 to 1 where all labels lie within, else their least and largest if these are whole
            numbers (of 2 to 5, 1 to 5), else 1 to 5, 0 to 5, 0 to 10 or 0 to 100
        extra_negatives: whether the other pairs' second sentences are negatives too
        prototypes: a row of numbers for each class; left out, the means of the classes
        twins: "keep", or "leave_out": a key of the query's or the own key's text is no negative
        guide: a second encoder for a loss that asks one ("gist"), in place of a table's vectors;
            "" for these, or else for the first encoder's, held still
        teacher: an encoder or a cross-encoder from whose cosines or scores a loss learns
            ("distill_kl", "margin_mse"); "" for none
        teacher_scores: what a teacher gave each pair, in place of a model; a pair of the same two
            sentences has one score
        table: in place of the lists, as many rows as objects, or as the text of a CSV, TSV, JSON
            lines or JSON array: a pair with its label; {"anchor": …, "positive": …, "negative": …},
            negatives also as a list or in several columns; or a text with a list of candidates and
            one of their labels
        columns: which of its columns is "first", "second", "score" ("none" for no labels) and
            "teacher", or "anchor", "positive" and "negative", and which have a guide's vectors of
            these, "guide_first" … "guide_negative" ("none" for none); left out, recognised

    Returns:
        An object with
        loss; scores, the similarity of each pair; labels, as sent, or 1 for each pair; label_range
        and threshold, how they were read, and positive_pairs, how many pairs are positive by it;
        score_gradient, ∂L/∂s: the change of the loss for each unit of each pair's similarity, all
        others held (NaN of a pair that the loss does not compare; null where it has none);
        projected_gradient, of a loss on vectors (else null): the gradient by the sentence vectors,
        projected on the direction in which each pair's similarity rises fastest, as the change of
        the loss for each unit of it; the pair's similarities to other sentences change with it;
        ordered_pairs and violated_pairs, how many pairs of pairs the labels order, and how many
        of those stand the other way round by similarity; spearman, similarities against labels;
        active_terms, the fewest terms that carry 90% of the weight, and effective_terms, the
        exponential of the entropy of the weights (a term's weight is the size of the loss's
        gradient at the term itself, as a share of all terms);
        gradient_norm, the length of the gradient by all sentence vectors (by the scores, where
        those are given and there are no vectors);
        collapse_value, the loss if all embeddings were equal, and floor, the least possible;
        floor_is_bound, whether the floor is only a bound, which perhaps no embedding reaches: it
        is the least where each pair can be moved by itself, in enough dimensions, and here a
        sentence stands in several pairs, or there are fewer dimensions than pairs;
        heaviest_terms, up to 20 of {i, j, value, weight}: the pairs that the indices i and j of
        the term belong to (of a sentence in several pairs, the first), its value, and its
        weight; j is null for a term of one pair;
        reading, sentences that say which columns of a table were taken as what, which were left,
        and when sentence-transformers would read them in another order;
        device and milliseconds.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Examples:
        >>> cats, sun = ["A cat sleeps.", "A cat sleeps."], ["A cat is asleep.", "The sun is hot."]
        >>> answer = compute_loss("cosent", cats, sun, scores=[1, 0], parameters={"scale": 20})
        >>> answer["ordered_pairs"], answer["violated_pairs"], answer["labels"]
        (1, 0, [1.0, 0.0])
    """
    pairs = (sentences1, sentences2, scores)
    rules = rules_of(threshold, label_range, extra_negatives, prototypes, twins)
    second = (guide, teacher, teacher_scores, table, columns)
    resolved, reading = scenario_of(loss, *pairs, parameters, encoder, convention, rules, *second)
    return answer_of(_explored(resolved), reading)


@in_json
def loss_from_scores(
    loss: str,
    scores: list[float],
    labels: list[float],
    parameters: dict[str, Any] | None = None,
    convention: str = "",
    threshold: float | None = None,
    label_range: list[float] | None = None,
    extra_negatives: bool = True,
    prototypes: list[list[float]] | None = None,
    twins: str = "keep",
) -> Answer:
    """Compute a loss on up to 512 pairs whose similarities are given: no sentences, no encoder.

    A loss on vectors gets unit vectors with these cosines, from -1 to 1, each pair in a plane of
    its own.

    Args:
        loss: see compute_loss
        scores: the similarity of each pair, such as its cosine
        labels: the label of each pair, on the scale label_range
        parameters, convention, threshold, label_range, extra_negatives, prototypes, twins: see
            compute_loss

    Returns:
        The same object as compute_loss; places are those of the pairs.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Examples:
        >>> answer = loss_from_scores("cosent", [0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
        >>> round(answer["loss"], 12), answer["ordered_pairs"], answer["collapse_value"]
        (7.919774e-06, 4, 1.6094379124341003)
        >>> answer["heaviest_terms"][0]["i"], answer["heaviest_terms"][0]["j"]
        (2, 1)
    """
    columns = {"scores": read_numbers("scores", scores), "labels": read_numbers("labels", labels)}
    count = check_lengths("loss_from_scores", EXPLORED_PAIRS, columns)
    pairs = Pairs(
        first=tuple(f"a{place}" for place in range(count)),
        second=tuple(f"b{place}" for place in range(count)),
        labels=columns["labels"],
        scores=columns["scores"],
    )
    rules = rules_of(threshold, label_range, extra_negatives, prototypes, twins)
    return answer_of(_explore_pairs(scenario_under(loss, parameters, convention, rules), pairs))


@in_json
def trace_loss(
    loss: str,
    sentences1: list[str] | None = None,
    sentences2: list[str] | None = None,
    scores: list[float] | None = None,
    parameters: dict[str, Any] | None = None,
    encoder: str = EMBEDDED,
    similarities: list[float] | None = None,
    convention: str = "",
    threshold: float | None = None,
    label_range: list[float] | None = None,
    extra_negatives: bool = True,
    prototypes: list[list[float]] | None = None,
    twins: str = "keep",
    guide: str = "",
    teacher: str = "",
    teacher_scores: list[float] | None = None,
    table: str | list[dict[str, Any]] = "",
    columns: dict[str, str] | None = None,
) -> Traced:
    """Like compute_loss, for up to 64 pairs, with every step of the computation written out.

    Args:
        loss, sentences1, sentences2, scores, parameters, encoder: see compute_loss
        similarities: given for each pair, they take the place of the encoder's cosines
        convention, threshold, label_range, extra_negatives, prototypes, twins, guide, teacher,
            teacher_scores, table, columns: see compute_loss

    Returns:
        The object of compute_loss and, in it, steps: first what the loss reads, then what each
        line of its definition assigns, in order. A step has name, line (its number in the
        source file), source (the line itself), latex, axes (what each dimension counts: pair,
        query, key, sentence …), shape, value (nested lists; a masked cell is "-inf") and
        gradient, the derivative of the loss by the value, null where there is none.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Examples:
        >>> answer = trace_loss("cosent", ["a", "c"], ["b", "d"], [0, 1], similarities=[0.5, 0.25])
        >>> [step["name"] for step in answer["steps"]]
        ['scores', 'labels', 'scaled', 'differences', 'ordered', 'terms', 'loss']
        >>> answer["steps"][5]["value"]
        [['-inf', 5.0], ['-inf', '-inf']]
    """
    pairs = (sentences1, sentences2, scores)
    rules = rules_of(threshold, label_range, extra_negatives, prototypes, twins)
    second = (guide, teacher, teacher_scores, table, columns)
    resolved, reading = scenario_of(loss, *pairs, parameters, encoder, convention, rules, *second)
    count = len(resolved.scenario.data.rows)
    if count > TRACED_PAIRS:
        raise Problem("api_too_many", count=count, name="trace_loss", most=TRACED_PAIRS)
    if similarities is None:
        exploration = _explored(resolved)
    else:
        values, data = read_numbers("similarities", similarities), resolved.scenario.data
        others = {"sentences1": data.rows} if scores is None else {"scores": scores}
        check_lengths("trace_loss", TRACED_PAIRS, {**others, "similarities": values})
        exploration = _explore_pairs(resolved, _scored(data, values))
    return traced_of(exploration, reading)


@in_json
def compare_losses(
    losses: list[dict[str, Any]],
    sentences1: list[str] | None = None,
    sentences2: list[str] | None = None,
    scores: list[float] | None = None,
    encoder: str = EMBEDDED,
    similarities: list[float] | None = None,
    threshold: float | None = None,
    label_range: list[float] | None = None,
    extra_negatives: bool = True,
    prototypes: list[list[float]] | None = None,
    twins: str = "keep",
    guide: str = "",
    teacher: str = "",
    teacher_scores: list[float] | None = None,
    table: str | list[dict[str, Any]] = "",
    columns: dict[str, str] | None = None,
) -> ComparedLosses:
    """Two to six losses, or one under several libraries' conventions, on up to 512 same pairs.

    Args:
        losses: an object for each, such as {"loss": "info_nce", "parameters": {"temperature": 0.1},
            "convention": ""}; the last two may be left out
        sentences1, sentences2, scores, encoder: see compute_loss
        similarities: see trace_loss
        threshold, label_range, extra_negatives, prototypes, twins, guide, teacher, teacher_scores,
            table, columns: see compute_loss

    Returns:
        An object with
        losses, each as it was named (of, with the parameters in force; name, in words), and
        problem, a sentence where it could not be computed on this batch (the others stand), else
        null; loss, floor, floor_is_bound, collapse_value, gradient_norm, active_terms,
        effective_terms, score_gradient and projected_gradient, as compute_loss has them; terms,
        how many there are, and moving_terms, how many carry any weight at all; of a loss that
        looks for the right one, looks_for ("key", "class" or "prototype") and how many of the
        anchors have found it nearest;
        two, for every two of them that could be computed: first and second, their places;
        comparable, whether their values may be put side by side, and if not, reasons, each with
        a key and a sentence; gradient, of which gradient of the pairs the rest is: "score", ∂L/∂s,
        where both have it, else "pair", the projected one of a loss on vectors; tau, Kendall's
        τ-b of the two gradients over all pairs, and cosine, that of the gradients by all sentence
        vectors, each null where it does not exist; factor, by which the first gradient is to be
        multiplied to be the second, null unless one number does it; disagreement, the pair whose
        share of the gradient differs most, both shares (below 0: drawn together), their ranks, and
        sentences, the same in words, with the reason where a count says so (formerly told);
        scores, labels, label_range, threshold, positive_pairs, ordered_pairs, violated_pairs and
        reading, as compute_loss has them.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Examples:
        >>> sides = [{"loss": "cosent"}, {"loss": "cosent", "parameters": {"scale": 5}}]
        >>> found = compare_losses(sides, ["a", "c"], ["b", "d"], [0, 1], similarities=[0.5, 0.4])
        >>> [round(one["loss"], 4) for one in found["losses"]]
        [2.1269, 0.9741]
        >>> found["two"][0]["tau"], found["two"][0]["reasons"][0]["key"]
        (1.0, 'compare.other.scale')
    """
    sides = sides_of("losses", losses)
    pairs = (sentences1, sentences2, scores, table, columns)
    sent = rows_of("compare_losses", EXPLORED_PAIRS, *pairs)
    rows, data = sent.rows, table_of(sent, encoder, guide, teacher, teacher_scores)
    rules = rules_of(threshold, label_range, extra_negatives, prototypes, twins)
    scenario, batch = Scenario(data=data, rules=rules), None
    if similarities is not None:
        values = read_numbers("similarities", similarities)
        check_lengths(
            "compare_losses", EXPLORED_PAIRS, {"sentences1": rows, "similarities": values}
        )
        batch = batch_of_scores(_scored(data, values), rules)
    with jobs.heavy_work_turn_if(len(sides) * len(rows) > SMALL_PAIRS):
        return comparison_of(compare(scenario, sides, batch), sent.reading)


@in_json
def explain_loss_value(
    value: float,
    loss: str = "",
    batch: int | None = None,
    negatives: int | None = None,
    classes: int | None = None,
    temperature: float | None = None,
    scale: float | None = None,
    margin: float | None = None,
    processes: int | None = None,
    dimension: int | None = None,
    language: str = "en",
) -> ExplainedValue:
    """Explain a loss value: find every reference value of a loss or convention with this number.

    A reference value is the loss when all vectors are alike (collapse) or any two orthogonal
    (start), or its minimum (floor), searched over the counts that are not given.

    Args:
        value: the number, rounded as it was seen, such as 5.545
        loss: any name of a single loss, such as "cosent" or "MultipleNegativesRankingLoss"; "" for
            any
        batch: pairs of a batch (of a loss on classes, sentences); null if not known
        negatives: hard negatives of each query; null if not known
        classes: classes of a batch; null if not known
        temperature: of the similarities; null for the loss's own, or where scale is given
        scale: 1 over the temperature; null if not known
        margin: of a loss that has one; null for the loss's own
        processes: that train together, each on a batch of its own; null for one
        dimension: of the vectors; null if not known
        language: of the sentences in the answer, "en" or "zh"

    Returns:
        An object with
        value; count, of how many numbers it is the mean; fits, whether anything does; sentences,
        the answer in words (formerly told); known, what was given;
        findings, the likeliest first, or, where nothing fits, the nearest: each with kinds
        ("collapse", "start", "floor", "nothing" to compare), value, gap (less the number), exact
        (to the digits given), said (a sentence), copies (how often a positive stands among its
        own candidates whose loss can be no less, or null), factor (the number is so many times the
        value) and summed (over what, "steps", "processes" or "batch"; "" of none), losses, and
        more, how many of them are not listed. Each of the losses has loss, convention, parameters
        that differ from its defaults, counts, kind, reason (why there is nothing to compare),
        value, doubled (with twice the count that is open), other (at the start, of a value at
        collapse, and the other way round), assumed (how much was, least first), shows ("loss" or
        "floor" of the scenario) and scene, the end of a link that opens Explore there, of the first
        loss of each finding, null where the batch is larger than Explore shows;
        standing, where one loss and its counts are given: floor, collapse, start, place
        ("negative" where the loss cannot be, "below" the floor, "floor", "between", "collapse",
        "starting" between collapse and start, or "above"), share of the way down, and said;
        none, the sentence where nothing fits; signs, the sentences about a value below 0;
        below_zero, the losses that can be below 0, for a value that is.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Examples:
        >>> answer = explain_loss_value(5.545, "siglip")
        >>> answer["findings"][0]["kinds"], answer["findings"][0]["losses"][0]["counts"]
        (['collapse'], {'batch': 8})
    """
    known = Known(
        loss=read_text("loss", loss),
        batch=batch,
        negatives=negatives,
        classes=classes,
        processes=processes,
        dimension=dimension,
        temperature=temperature,
        scale=scale,
        margin=margin,
    )
    read_choice("language", language, LANGUAGES)
    return number_answer(explain(value, known), language)


@in_json
def figure(
    scene: str = "",
    loss: str = "cosent",
    sentences1: list[str] | None = None,
    sentences2: list[str] | None = None,
    scores: list[float] | None = None,
    parameters: dict[str, Any] | None = None,
    encoder: str = EMBEDDED,
    convention: str = "",
    kind: str = "matrix",
    step: str = "",
    facet: str = "",
    language: str = "en",
    dark: bool = False,
    format: str = "svg",
    guide: str = "",
    teacher: str = "",
    teacher_scores: list[float] | None = None,
    threshold: float | None = None,
    label_range: list[float] | None = None,
    extra_negatives: bool = True,
    prototypes: list[list[float]] | None = None,
    twins: str = "keep",
    table: str | list[dict[str, Any]] = "",
    columns: dict[str, str] | None = None,
    palette: str = "",
    size: str = "slide",
    picture_only: bool = False,
) -> DrawnFigure:
    """The figure of a scenario (SVG, PNG, PDF, HTML) with legend and caption: of a link, or of up
    to 512 pairs.

    Args:
        scene: a link of the page (the whole address, or what stands after its #), as
            explain_loss_value and this function answer it, or a page, such as /doctor, of which
            what it opens with is drawn. "" for the pairs that follow
        loss, sentences1, sentences2, scores, parameters, encoder, convention: see compute_loss
        kind: "matrix", a step of the computation, or "bars", the gradient of every pair
        step: name of a step in trace_loss, such as "terms"; "" for that of the scenario, or the
            terms
        facet: "value", "mask", "weight" (of a term) or "gradient" of it; "" for that of the
            scenario
        language: "en" or "zh"
        dark: drawn for a dark page
        format: "svg", "png" (two pixels a unit), "pdf", or "html", to point at cells
        guide, teacher, teacher_scores, threshold, label_range, extra_negatives, prototypes, twins,
            table, columns: see compute_loss
        palette: "light", "dark" or "print", whose colours differ in grey; "" for that of dark
        size: "slide", "two_columns" (7 in) or "one_column" (3.3 in), the last two with text of
            7 to 9 points
        picture_only: without title, formula and caption

    Returns:
        An object with svg, the text of the figure, html, that of a page with it (a matrix then has
        the size "slide"), or png or pdf, the file in base64 (a PNG as a tool of MCP: an image
        beside the object), the others null; remark, a sentence where letters
        of a file are in no font of the server, else null; kind, "page" for a page such as /large
        that shows no scenario of Explore; step and facet, what it shows; scene, the end of a link
        that opens Explore there, each "" of such a page; and reading, of a table, as compute_loss
        has it.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Examples:
        >>> pairs = {"sentences1": ["a", "c"], "sentences2": ["b", "d"], "scores": [0, 1]}
        >>> found = figure(loss="cosent", **pairs)
        >>> found["svg"][:4], found["step"]
        ('<svg', 'terms')
    """
    read_choice("kind", kind, tuple(FIGURES))
    read_choice("language", language, LANGUAGES)
    read_choice("facet", facet, ("", *FACETS))
    read_choice("format", format, ("svg", "png", "pdf", "html"))
    read_choice("palette", palette, ("", *PALETTES))
    read_choice("size", size, tuple(SIZES))
    for name, switch in (("dark", dark), ("picture_only", picture_only)):
        read_switch(name, switch)
    look = Look(language=language, dark=dark, palette=palette, size=size, picture_only=picture_only)
    if read_text("scene", scene):
        source = opening(scene, language) or Scenario.from_link(scene)
        if not isinstance(source, Scenario):
            return _drawn(source, kind, format, look)
        resolved, reading = resolve(source), ()
    else:
        sent = (sentences1, sentences2, scores)
        rules = rules_of(threshold, label_range, extra_negatives, prototypes, twins)
        second = (guide, teacher, teacher_scores, table, columns)
        resolved, reading = scenario_of(
            loss, *sent, parameters, encoder, convention, rules, *second
        )
    # A link may be somebody else's; a call that names a model itself agrees to fetch it.
    with with_consent({}) if scene.strip() else nullcontext():
        shown, in_view = looking_at(_explored(resolved), read_text("step", step), facet)
    return dataclasses.replace(
        _drawn(shown, kind, format, look),
        kind=cast("Literal['matrix', 'bars']", kind),
        step=in_view,
        facet=shown.scenario.view.facet,
        scene=shown.scenario.shown().to_link(),
        reading=list(reading),
    )


def _drawn(shown: Exploration | PageFigure, kind: str, format: str, look: Look) -> DrawnFigure:
    """Return the answer with a figure in a format, as of a page that shows no scenario."""
    page = html_of(shown, kind, look) if format == "html" else None
    drawn = "" if page else svg_of(shown, kind, look)
    file = None
    if make := MADE_OF_SVG.get(f".{format}"):
        with jobs.heavy_work_turn():  # it takes up to a second of a processor
            file = make(drawn)
    content = file and base64.b64encode(file.content).decode("ascii")
    return DrawnFigure(
        svg=drawn if format == "svg" else None,
        html=page,
        png=content if format == "png" else None,
        pdf=content if format == "pdf" else None,
        remark=(file and file.remark(look.get("language", "en"))) or None,
        kind="page",
        step="",
        facet="",
        scene="",
        reading=[],
    )


@in_json
def list_losses(
    name: str = "", detail: str = "short"
) -> dict[str, dict[str, str]] | CalledLoss | list[ListedLoss]:
    """List the losses by kind and name with a line on each, or all facts about one or all of them.

    A sum is named info_nce+angle, a loss on prefixes of the vectors matryoshka(info_nce,256,64);
    parameters then name their losses, temperature_of_info_nce, as do the weights,
    weight_of_angle.

    Args:
        name: of one loss, as the field calls it, such as "MultipleNegativesRankingLoss", of which
            all facts follow; "" for all losses
        detail: "short", a line on each, or "full", all facts about each

    Returns:
        For all losses in short an object of kinds ("pair_scores", "lists", "in_batch" …), each an
        object of names with what the loss does; common sums, such as Piccolo's, are the last
        kind. Else an object for the loss, or a list of one for
        each, with name, title, group (its kind), formula (LaTeX) and about (one line);
        parameters, each with name, symbol, kind (number, switch, choice or list), default,
        minimum, maximum and choices; reads, which input of a batch each argument takes;
        conventions, the same loss as other libraries define it, each with its formula and
        parameters; references; aliases, other names it goes by, those of libraries' classes among
        them; related_classes (formerly akin), the classes of sentence-transformers that have no
        loss here, such as AdaptiveLayerLoss, at the one to look at in their place, each with name
        and about, which says why; collapse_formula, the loss if all embeddings were equal, and
        floor_formula, the least value it can reach, each null where it has none; and, of one loss,
        convention, the one that the name selects, "" for our own definition.

    Raises:
        Problem: for a name of no loss, with similar ones, or of several, with their names.

    Examples:
        >>> list_losses()["pair_scores"]["cosent"]
        'Penalises every two pairs that are ranked in the wrong order.'
        >>> found = list_losses("MultipleNegativesRankingLoss")
        >>> found["name"], found["convention"], found["parameters"][0]["name"]
        ('info_nce', 'sentence-transformers 6.2 MultipleNegativesRankingLoss', 'temperature')
    """
    read_choice("detail", detail, ("short", "full"))
    if read_text("name", name):
        return called(name)
    if detail == "full":
        return [described(spec) for spec in LOSSES.known()]
    return summaries(LOSSES.known())


@in_json
def start_training(
    loss: str,
    sentences1: list[str] | None = None,
    sentences2: list[str] | None = None,
    scores: list[float] | None = None,
    parameters: dict[str, Any] | None = None,
    encoder: str = EMBEDDED,
    options: dict[str, Any] | None = None,
    key: str = "",
    guide: str = "",
    teacher: str = "",
    teacher_scores: list[float] | None = None,
    table: str | list[dict[str, Any]] = "",
    columns: dict[str, str] | None = None,
) -> StartedTraining:
    """Fine-tune a sentence encoder on up to 100,000 pairs with a loss, in the background.

    A fifth of the pairs is held out, with no sentence on both sides. Runs take turns. The model
    stays on the computer that trains it.

    Args:
        loss, sentences1, sentences2: see compute_loss
        scores: the label of each pair, as compute_loss has them, on the scale options.label_range
        parameters: see compute_loss
        encoder: all-MiniLM-L6-v2 (embedded), the hub id of a transformer, a folder, or "scratch"
        options: how to train, such as {"kind": "cross", "steps": 60, "batch_size": 16,
            "learning_rate": 2e-5, "schedule": "cosine", "warmup": 0.1, "seed": 0}, and by which
            rules: threshold, label_range and extra_negatives, as compute_loss takes them
        key: of an earlier training of yours, on a page that strangers share; else ""
        guide: a second encoder for a loss that asks one ("gist"); "" has the model guide itself,
            since a trainer reads no vectors of a guide from a table
        teacher: as compute_loss has it, or for "embedding_mse" an encoder with the dimension of the
            model; asked once, before the first step
        teacher_scores: what a teacher gave each pair, in place of a model
        table: see compute_loss
        columns: as compute_loss has them, without a guide's vectors

    Returns:
        An object with id, by which training_status and stop_training know the run;
        queue_position, 0 if it trains at once; queue_seconds, how long those before it still
        train, null where that is not known; reading, of a table, as compute_loss has it; and key,
        by which a page that strangers share knows whose it is: send it with each later call, and
        keep it to yourself ("" on any other, and for a client that keeps cookies, which has it as
        one).

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.
    """
    sent = (sentences1, sentences2, scores, table, columns)
    read = rows_of("start_training", TRAINED_PAIRS, *sent)
    sources = table_of(read, encoder, guide, teacher, teacher_scores)
    chosen = read_object("options", options)
    for name in ("data", "own_loss"):  # what would read or run files of this computer
        if name in chosen:
            raise Problem("training_entry_unknown", where=f"options.{name}")
    plan = TrainingPlan.from_json(
        {
            **chosen,
            "loss": read_text("loss", loss),
            "parameters": parameters or {},
            "encoder": sources.encoder,
            "guide": sources.guide,
            "teacher_model": sources.teacher_model,
            "data": {
                "source": "rows",
                "rows": read.rows,
                "teacher": sources.teacher,
                "triplets": read.triplets,
            },
        }
    )
    runs = Runs(device=str(device()))
    with for_visitor(key):
        name = runs.start(plan)
        status = runs.status(name)
        # Who keeps cookies has the key where no script reads it.
        own = own_key() if key or not has_key() else ""
        return StartedTraining(
            id=name,
            queue_position=status.queue_position,
            queue_seconds=status.queue_seconds,
            key=own,
            reading=list(read.reading),
        )


@in_json
def training_status(id: str, offset: int = 0, key: str = "") -> Followed:
    """Report a training: its state, its progress, and its records.

    Args:
        id: as start_training answered it
        offset: as the last call answered it, to get only what is new; 0 for everything
        key: on a page that strangers share, what start_training answered as key; else ""

    Returns:
        An object with
        state: queued, loading, training, paused, saving, finished, stopped, failed, interrupted;
        queue_position, queue_seconds (of training that those before it have), step, steps,
        seconds, seconds_left (null where not known yet);
        problem, a sentence if something went wrong, else null;
        summary, once it has ended: loss, and the held-out figures before and after;
        records: of each step loss, gradient_norm and learning_rate, of each evaluation spearman,
        pearson and more; and offset, to ask from next.

    Raises:
        Problem: if there is no such training.
    """
    if type(offset) is not int or not 0 <= offset <= MAX_INTEGER:
        raise Problem("api_one_number", name="offset", value=shortened(offset, write=repr))
    with for_visitor(key):
        status = Runs().status(id, offset)
    problem = status.problem and str(status.problem)
    return Followed(**{**vars(status), "problem": problem})


@in_json
def stop_training(id: str, key: str = "") -> StoppedTraining:
    """End a training after its current step; the model so far is kept.

    Args:
        id, key: see training_status

    Returns:
        An object with id.

    Raises:
        Problem: if there is no such training, or it has ended already.
    """
    with for_visitor(key):
        Runs().stop(id)
    return StoppedTraining(id)


@in_json
def unshare_training(id: str, key: str = "") -> UnsharedTraining:
    """Take back the link of a training: whoever has it cannot read the training any more.

    "Copy link" on a page that strangers share gives it; copied again, it is another one.

    Args:
        id, key: see training_status

    Returns:
        An object with id.

    Raises:
        Problem: if there is no such training, or it is somebody else's.
    """
    with for_visitor(key):
        Runs().unshare(id)
    return UnsharedTraining(id)


ENDPOINTS = (
    compute_loss,
    loss_from_scores,
    trace_loss,
    compare_losses,
    explain_loss_value,
    doctor_data,
    doctor_run,
    doctor_pasted,
    figure,
    list_losses,
    start_training,
    training_status,
    stop_training,
    unshare_training,
)
# Those that start, end or hide something; the others only answer.
CHANGING = (start_training, stop_training, unshare_training)


def _scored(data: Data, scores: tuple[float, ...]) -> Pairs:
    """Return the pairs of the data with these scores, and the values of guide and teacher."""
    pairs = dataclasses.replace(load_pairs(data), scores=scores)
    return with_second_models(pairs, data, find_models(data, with_scores=True))


def _explore_pairs(resolved: Resolved, pairs: Pairs) -> Exploration:
    return _explored(resolved, batch_of_scores(pairs, resolved.scenario.rules))


def _explored(resolved: Resolved, batch: Batch | None = None) -> Exploration:
    """Explore, on a hosted page in the visitor's turn."""
    batch = resolved.batch if batch is None else batch
    with jobs.light_work_turn(seconds_for(len(batch))):
        return explore(resolved, batch)
