"""Names of columns, by what the columns hold: `column_names.json` has those that are compared
whole, without case, blanks, hyphens and underscores: "Sentence_A" is "sentencea"."""

import re
from pathlib import Path

from lossprism.explorer.runtime.json_reading import read_json

_LISTED = read_json(Path(__file__).with_name("column_names.json").read_text("utf-8"))


def _names(kind: str) -> tuple[str, ...]:
    return tuple(_LISTED[kind])


def _pairs(kind: str) -> tuple[tuple[str, str], ...]:
    return tuple((first, second) for first, second in _LISTED[kind])


PAIR_NAMES = _pairs("pairs")
# What documents are judged for.
QUERY_NAMES = _names("queries")
# Beside these, three whole numbers are kinds of inference and no degrees.
INFERENCE_NAMES = _pairs("inference")
# Further names of positives, beside PAIR_NAMES.
POSITIVE_NAMES = _pairs("positives")
# What a positive belongs to.
ANCHOR_NAMES = _names("anchors")
_PASSAGE = "(passage|document|doc|text|answer|response|sample|ctx|context)"
_POSITIVE = (
    rf"pos(itiv[eoa]?|itif)?s?|pos(itive)?{_PASSAGE}s?|{_PASSAGE}s?pos(itive)?s?"
    rf"|(correct|right|best|true|relevant){_PASSAGE}s?|synonyms?|正(例|样本)|[同近]义词"
)
_MINED = "(hard|easy|soft|semihard|random|bm25|dense|mined)?"
_NEGATIVE = (
    rf"{_MINED}n[eé]g(ativ[eoa]?|atif)?s?|{_MINED}neg(ative)?{_PASSAGE}s?"
    rf"|{_PASSAGE}s?{_MINED}neg(ative)?s?|(incorrect|wrong|false|(ir|non)relevant){_PASSAGE}s?"
    r"|distractors?|antonyms?|(困?难)?负(例|样本)|反义词"
)
# "positive", "pos_1", "HP1", "chosen", "positive_passages".
POSITIVE = re.compile(
    rf"({_POSITIVE})[0-9]*|hp[0-9]+|chosen(response|output|answer|completion|message)?s?[0-9]*"
)
# "negative", "negative_1", "hard_negatives", "HN1", "rejected_response", "negative_passages".
NEGATIVE = re.compile(
    rf"({_NEGATIVE})[0-9]*|hn[0-9]+|rejected(response|output|answer|completion|message)?s?[0-9]*"
)
# Lists of turns, of which the last answer is a positive.
DIALOGUES = ("messages", "conversations")
# Instructions to a model, which are no part of a text.
INSTRUCTION_NAMES = re.compile(
    r"(query|passage|document|corpus|task)?(instruction|prompt)s?|(系统)?(提示词?|指令)"
    r"|(messages|conversations|positive|negative)?system(prompt|message)?s?"
)
# "query-id", "corpus_id", "qid", "docid", "pos_id", "文档编号".
ID_NAMES = re.compile(
    r"(q|query|question|topic|corpus|d|doc|document|p|passage|item|product|anchor|a|n|user|visitor"
    r"|session|movie|pos(itive)?|(hard)?neg(ative)?)?(id|no)s?[0-9]*|(查询|文档|段落|问题)(编号|id)"
)
# What stands beside ids, apart from scores and ranks, in judgements and runs.
BESIDE_IDS = _names("beside_ids")
# Places in an order, of which 1 is the best, are no degrees.
# "rank", "result_rank", "Rank_Position", "排名"; a "rank_score" is more the better.
RANK_NAMES = re.compile(
    r"((.+[\s_\-])?(rank|ranking|position|order)|rank[\s_\-]?(position|order|no|number|index))[0-9]*"
    r"|.*(排名|名次|位次|排序)"
)
# A number that counts rows, letters or days is no score.
COUNTS_ROWS = re.compile(
    r"(.*[\s_\-])?(id|idx|index|bytes|chars|characters|length|len|tokens|words|year|date|time"
    r"|timestamp|price|page|offset|start|end|number|nr)|[a-z]id|docid|unnamed: ?0"
    r"|.*(编号|序号|长度|字数|价格|年份|日期)"
)
SCORE_NAMES = _names("scores")
# "esci_label", "Score (0-5)", "human judgment": what may be a score, whatever is written there.
LIKE_SCORE = re.compile(
    r"(.*[\s_\-])?(labels?|scores?|grades?|ratings?|relevanc[ey]|judge?ments?|similarity|gold)"
    r"([\s_\-].*|[0-9]*)"
)
TEACHER_NAMES = _names("teacher_scores")
# "bm25_score", "retriever_similarity": what a search gave, to find candidates; no judgement.
SEARCH_SCORES = re.compile(
    r"(bm25|tfidf|dense|sparse|retriev(al|er|ed)|search|firststage|faiss|elastic(search)?)"
    r"(score|similarity)s?|(检索|召回)(分数|得分|相似度)"
)
# Of triplets: the margins, or scores in a column that tells nothing else there; or the positive's
# score, beside those of the negatives.
MARGIN_NAMES = _names("margins")
OF_TRIPLET = (*TEACHER_NAMES, *MARGIN_NAMES, "label", "labels", "score", "scores")
_SCORES = "(teacher|rerank(er)?|crossencoder|ce)?(scores?|logits?)"
OF_POSITIVE = re.compile(
    rf"({_POSITIVE})[0-9]*{_SCORES}[0-9]*|{_SCORES}({_POSITIVE})[0-9]*|正例分数[0-9]*"
)
OF_NEGATIVES = re.compile(
    rf"({_NEGATIVE})[0-9]*{_SCORES}[0-9]*|{_SCORES}({_NEGATIVE})[0-9]*|负例分数[0-9]*"
)
# "guide_1", "guide_vector_a", "引导向量2", "guide_question", "question_guide_embedding".
GUIDE = r"(?:guide|引导)(?:vec(?:tor)?s?|emb(?:edding)?s?|向量)?"
# "embedding1", "vec_a", "image_embeds", "句子向量".
VECTORS = r"(?:vec(?:tor)?s?|emb(?:ed(?:ding)?)?s?|features?|向量)"
NAMES_GUIDE = re.compile(rf"{GUIDE}.*|.+{GUIDE}")
# A column of texts beside one of these holds what they are, and no second text of a pair.
CLASS_NAMES = _names("classes")
# "class_name", "label_text", "fine_label", "sentiment": what a text is, in words or numbers.
NAMES_CLASS = re.compile(
    r"(.+[\s_\-])?(class|category|intent|topic|cluster|sentiment|emotion|domain|genre|tag)"
    r"([\s_\-](names?|labels?|texts?|str|index))?|label[\s_\-](names?|texts?|str)"
    r"|(fine|coarse)[\s_\-]label|(类别|分类|意图|主题|领域|情感)(名称?|标签)?"
)
# What a row belongs to, and says nothing of its texts.
BOOKKEEPING = ("split", "partition", "fold", "subset", "lang", "language", "locale")
# Those that never name a score.
ONLY_CLASSES = frozenset(CLASS_NAMES) - frozenset(SCORE_NAMES)
# Above a table without a header these two would be an odd pair.
TEXT_NAMES = _names("texts")
# Above nothing but words these are the names of columns, where none of them comes again below.
HEADS = frozenset(_names("heads"))
# No longer cell names a column; a long text is asked some hundred times whether it does.
MAX_NAME_LETTERS = 1000


def plain_name(name: str) -> str:
    """The name as it is compared.

    >>> plain_name(" Sentence_A ")
    'sentencea'
    """
    name = name.strip()
    if len(name) <= MAX_NAME_LETTERS:
        name = re.sub(r"[\s_.\-]+", "", name)
    return name.casefold()


# Names of two sides of one kind, beside those that differ in a number or letter at their end alone.
_SAME_KINDS = ({"first", "second"}, {"left", "right"})
_COUNTED_SIDE = re.compile("[0-9ab一二甲乙]$")


def name_same_kind(first: str, second: str) -> bool:
    """True if two columns hold texts of one kind, so that a pair is the same the other way round.

    >>> name_same_kind("sentence1", "sentence2"), name_same_kind("question", "answer")
    (True, False)
    """
    one, other = plain_name(first), plain_name(second)
    counted = all(map(_COUNTED_SIDE.search, (one, other)))
    return {one, other} in _SAME_KINDS or (counted and one != other and one[:-1] == other[:-1])
