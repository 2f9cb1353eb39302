"""Words that datasets write for labels, with the scores that they stand for."""

# Words that datasets write where others write 1 and 0.
YES_NO = {
    **dict.fromkeys(("true", "t", "yes", "y", "是", "真", "对", "相似", "相关", "匹配"), 1.0),
    **dict.fromkeys(("similar", "relevant", "duplicate", "paraphrase", "重复"), 1.0),
    **dict.fromkeys(("match", "有关", "一致", "相同", "正例", "正样本"), 1.0),
    **dict.fromkeys(("positive", "pos", "equivalent"), 1.0),
    **dict.fromkeys(("false", "f", "no", "n", "否", "假", "错", "不是", "不对", "不相似"), 0.0),
    **dict.fromkeys(("no match", "mismatch", "无关", "不一致", "不同", "负例", "负样本"), 0.0),
    **dict.fromkeys(("negative", "neg", "not equivalent", "not match"), 0.0),
    **dict.fromkeys(("not relevant", "not duplicate", "not paraphrase"), 0.0),
    **dict.fromkeys(("不相关", "不匹配", "不重复", "dissimilar", "irrelevant"), 0.0),
    **dict.fromkeys(("not similar", "non relevant", "non duplicate", "non paraphrase"), 0.0),
}
# Natural language inference with three kinds, and with two.
INFERENCE_SCORES = {
    "entailment": 1.0,
    "neutral": 0.5,
    "contradiction": 0.0,
    "contradictory": 0.0,  # as XNLI translates MultiNLI
    "蕴含": 1.0,
    "中立": 0.5,
    "矛盾": 0.0,
}
TWO_WAY_INFERENCE = {"entailment": 1.0, "not entailment": 0.0, "蕴含": 1.0, "不蕴含": 0.0}
INFERENCE_LETTERS = {"e": 1.0, "n": 0.5, "c": 0.0}  # as ANLI writes them
WORD_SCORES = {**INFERENCE_LETTERS, **YES_NO, **INFERENCE_SCORES, **TWO_WAY_INFERENCE}
# The same as SNLI and MNLI number them: 0 entailment, 1 neutral, 2 contradiction; −1 is no label.
INFERENCE = {word: int(2 - 2 * score) for word, score in INFERENCE_SCORES.items()}
ENTAILMENT = INFERENCE_SCORES["entailment"]  # the kind that is positive
INFERENCE_WORDS = {
    INFERENCE_SCORES[word]: word for word in ("entailment", "neutral", "contradiction")
}
NO_INFERENCE = ("-", "-1")
