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
    ("query", "product"),
    ("query", "producttitle"),
    ("query", "item"),
    ("question", "answer"),
    ("question", "sentence"),
    ("context", "hypothesis"),
    ("claim", "evidence"),
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
# Further names of positives, beside PAIR_NAMES.
POSITIVE_NAMES = (
    ("sent0", "sent1"),
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
# What a positive belongs to.
ANCHOR_NAMES = ("anchor", "query", "question", "prompt", "锚点", "锚句", "查询", "问题")
_PASSAGE = "(passage|document|doc|text|answer|response|sample|ctx|context)"
_POSITIVE = (
    rf"pos(itive)?s?|pos(itive)?{_PASSAGE}s?|{_PASSAGE}s?pos(itive)?s?"
    rf"|(correct|right|best|true){_PASSAGE}s?|正(例|样本)"
)
_MINED = "(hard|easy|soft|semihard|random|bm25|dense|mined)?"
_NEGATIVE = (
    rf"{_MINED}neg(ative)?s?|{_MINED}neg(ative)?{_PASSAGE}s?|{_PASSAGE}s?{_MINED}neg(ative)?s?"
    rf"|(incorrect|wrong|false){_PASSAGE}s?|distractors?|(困?难)?负(例|样本)"
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
    r"(q|query|question|topic|corpus|d|doc|document|p|passage|item|product|anchor|a|n"
    r"|pos(itive)?|(hard)?neg(ative)?)?(id|no)s?[0-9]*|(查询|文档|段落|问题)(编号|id)"
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
# "rank", "result_rank", "Rank_Position", "排名"; a "rank_score" is more the better.
RANK_NAMES = re.compile(
    r"((.+[\s_\-])?(rank|ranking|position|order)|rank[\s_\-]?(position|order|no|number|index))[0-9]*"
    r"|.*(排名|名次|位次|排序)"
)
# A number that counts rows, letters or days is no score.
COUNTS_ROWS = re.compile(
    r"(.*[\s_\-])?(id|idx|index|bytes|chars|characters|length|len|tokens|words|year|date|time"
    r"|timestamp|page|offset|start|end)|[a-z]id|docid|unnamed: ?0|.*(编号|序号|长度|字数|年份|日期)"
)
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
    "isselected",
    "isrelevant",
    "rating",
    "relevance",
    "分数",
    "得分",
    "评分",
    "打分",
    "相似度",
    "标签",
)
# "esci_label", "Score (0-5)", "human judgment": what may be a score, whatever is written there.
LIKE_SCORE = re.compile(
    r"(.*[\s_\-])?(labels?|scores?|grades?|ratings?|relevanc[ey]|judge?ments?|similarity|gold)"
    r"([\s_\-].*|[0-9]*)"
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
