"""Names of columns, by what the columns hold."""

from __future__ import annotations

import re

# Compared without case, blanks, hyphens and underscores: "Sentence_A" is "sentencea".
PAIR_NAMES = (
    ("sentence1", "sentence2"),
    ("sentencea", "sentenceb"),
    ("sent1", "sent2"),
    ("senta", "sentb"),
    ("text1", "text2"),
    ("texta", "textb"),
    ("question1", "question2"),
    ("q1", "q2"),
    ("s1", "s2"),
    ("a", "b"),
    ("first", "second"),
    ("left", "right"),
    ("premise", "hypothesis"),
    ("query", "passage"),
    ("query", "document"),
    ("query", "doc"),
    ("query", "docs"),
    ("query", "documents"),
    ("query", "passages"),
    ("query", "candidates"),
    ("question", "answer"),
    ("句子1", "句子2"),
    ("句子一", "句子二"),
    ("句子a", "句子b"),
    ("文本1", "文本2"),
    ("文本一", "文本二"),
    ("问题1", "问题2"),
    ("前提", "假设"),
    ("查询", "段落"),
    ("查询", "文档"),
)
# What documents are judged for.
QUERY_NAMES = ("query", "question", "topic", "查询", "问题", "提问")
# Beside these, three whole numbers are kinds of inference and no degrees.
INFERENCE_NAMES = (("premise", "hypothesis"), ("前提", "假设"))
# What tells positives beside PAIR_NAMES and, without a negative, ANCHOR_NAMES.
POSITIVE_NAMES = (
    ("query", "answer"),
    ("query", "response"),
    ("query", "text"),
    ("query", "context"),
    ("question", "response"),
    ("question", "context"),
    ("question", "passage"),
    ("question", "document"),
    ("prompt", "response"),
    ("prompt", "completion"),
    ("instruction", "response"),
    ("instruction", "output"),
    ("input", "output"),
    ("source", "target"),
    ("title", "abstract"),
    ("title", "body"),
    ("title", "text"),
    ("标准问题", "相似问题"),
    ("标准问", "相似问"),
    ("问题", "答案"),
    ("问题", "回答"),
    ("问题", "段落"),
    ("提问", "回答"),
    ("查询", "答案"),
    ("标题", "正文"),
    ("标题", "摘要"),
    ("指令", "回答"),
    ("输入", "输出"),
)
ANCHOR_NAMES = (
    ("anchor", "positive"),
    ("query", "positive"),
    ("query", "pos"),
    *(
        (query, positive)
        for query in ("query", "question")
        for positive in (
            *("positives", "positivepassage", "positivepassages", "positivectx", "positivectxs"),
            *("positivedoc", "positivedocs", "positivedocument", "positivedocuments"),
            *("positivetext", "positiveresponse", "positiveanswer"),
        )
    ),
    *((query, "chosen") for query in ("prompt", "query", "question")),
    ("anchor", "pos"),
    ("sent0", "sent1"),
    ("question", "positive"),
    ("question", "pos"),
    *(
        (query, positive)
        for query in ("锚点", "锚句", "查询", "问题")
        for positive in ("正例", "正样本")
    ),
)
# "negative", "negative_1" …, "hard_negatives", "HN1", "rejected_response", "negative_passages".
NEGATIVE = re.compile(
    r"(hard)?neg(ative)?s?[0-9]*|hn[0-9]+|rejected(response|output|answer|completion)?s?[0-9]*"
    r"|(hard)?neg(ative)?(passage|document|doc|text|answer|response|sample|ctx|context)s?[0-9]*"
    r"|(困?难)?负(例|样本)[0-9]*"
)
# "query-id", "corpus_id", "qid", "docid", "pos_id", "文档编号".
ID_NAMES = re.compile(
    r"(q|query|question|topic|corpus|d|doc|document|p|passage|item|product|anchor|a|n"
    r"|pos(itive)?|neg(ative)?)?(id|no)s?[0-9]*|(查询|文档|段落|问题)(编号|id)"
)
# What stands beside ids, apart from scores and ranks, in judgements and runs.
BESIDE_IDS = (
    "rel",
    "relevant",
    "relevancy",
    "judgment",
    "judgement",
    "iteration",
    "iter",
    "q0",
    "tag",
)
# Places in an order, of which 1 is the best, are no degrees.
RANK_NAMES = ("rank", "ranking", "position", "排名", "名次", "位次")
# A number that counts rows is no score.
COUNTS_ROWS = re.compile(r"(.*[\s_\-])?(id|idx|index)|[a-z]id|docid|unnamed: ?0|.*(编号|序号)")
SCORE_NAMES = (
    "score",
    "scores",
    "similarityscore",
    "similarity",
    "relatednessscore",
    "goldscore",
    "gold",
    "goldlabel",
    "label",
    "labels",
    "isduplicate",
    "rating",
    "relevance",
    "分数",
    "得分",
    "评分",
    "打分",
    "相似度",
    "标签",
)
TEACHER_NAMES = (
    "teacher",
    "teacherscore",
    "teacherscores",
    "teacherlogit",
    "teacherlogits",
    "rerankscore",
    "rerankscores",
    "rerankerscore",
    "rerankerscores",
    "crossencoderscore",
    "crossencoderscores",
    "cescore",
    "cescores",
    "教师",
    "教师分数",
    "教师得分",
    "重排分数",
)
# Of triplets: the margins, or scores in a column that tells nothing else there; or the positive's
# score, beside those of the negatives.
MARGIN_NAMES = ("margin", "margins", "teachermargin", "teachermargins", "边际", "教师边际")
OF_TRIPLET = (*TEACHER_NAMES, *MARGIN_NAMES, "label", "labels", "score", "scores")
OF_POSITIVE = re.compile(r"pos(itive)?s?(teacher)?scores?|正例分数")
OF_NEGATIVES = re.compile(r"neg(ative)?s?(teacher)?scores?[0-9]*|负例分数[0-9]*")
# "guide_1", "guide_vector_a", "引导向量2", "guide_question", "question_guide_embedding".
GUIDE = r"(?:guide|引导)(?:vec(?:tor)?s?|emb(?:edding)?s?|向量)?"
NAMES_GUIDE = re.compile(rf"{GUIDE}.*|.+{GUIDE}")
# A column of texts beside one of these holds what they are, and no second text of a pair.
CLASS_NAMES = (
    "class",
    "label",
    "labels",
    "category",
    "intent",
    "topic",
    "target",
    "cluster",
    "类别",
    "分类",
    "标签",
    "意图",
    "主题",
)
# Those that never name a score.
ONLY_CLASSES = frozenset(CLASS_NAMES) - frozenset(SCORE_NAMES)
# Above a table without a header these two would be an odd pair.
TEXT_NAMES = (
    "text",
    "sentence",
    "utterance",
    "query",
    "question",
    "title",
    "content",
    "comment",
    "review",
    "message",
    "文本",
    "句子",
    "问题",
    "标题",
    "内容",
    "评论",
)
