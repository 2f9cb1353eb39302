"""Practice sentences: scenes put together from parts, so that their likeness is known exactly.

A scene has five parts (who, how they look, what they do, where, when), and each part can be written
in several ways. Two scenes are as alike as the number of parts that mean the same, from 0 to 5,
however differently they are worded: an encoder that only counts common words does poorly, and
one that has learnt which words mean the same does well.
"""

import functools
import random

Pair = tuple[str, str, float]

PARTS = 5
# Each line is one part; each entry one meaning with its wordings.
_ENGLISH = (
    ("A man/A guy/A gentleman", "A woman/A lady", "A child/A kid/A youngster",
     "A doctor/A physician", "A cook/A chef"),
    ("in a red coat/wearing a scarlet jacket", "in a blue coat/wearing a navy jacket",
     "with a big smile/who looks happy", "with tired eyes/who looks exhausted"),
    ("is running/is jogging/is sprinting", "is eating/is having a meal/is having something to eat",
     "is singing/is humming a tune", "is sleeping/is taking a nap/is dozing",
     "is dancing/is moving to the music"),
    ("by the sea/on the beach/at the shore", "in the street/on the sidewalk/along the road",
     "in the woods/in the forest/among the trees", "at home/in the house/indoors"),
    ("at dawn/early in the morning/at sunrise", "at night/after dark/late in the evening",
     "at noon/around midday/at lunchtime", "in winter/in the snow/in freezing weather"),
)  # fmt: skip
_CHINESE = (
    ("清晨/一大早/日出时分", "夜里/深夜/天黑以后", "中午/正午/午饭时间", "冬天/下雪天/寒冷的日子"),
    ("海边/沙滩上/岸边", "街上/马路上/人行道上", "森林里/树林里/林间", "家里/屋里/室内"),
    ("穿红衣的/一身红色的/身着红装的", "穿蓝衣的/一身蓝色的/身着蓝装的",
     "高兴的/面带微笑的/开心的", "疲惫的/打着哈欠的/困倦的"),
    ("男人/男子/先生", "女人/女士/妇女", "孩子/小孩/儿童", "小狗/犬/狗", "厨师/大厨/面点师"),
    ("在跑步/在奔跑/在慢跑", "在吃饭/在用餐/在进食", "在唱歌/在哼曲子/在歌唱",
     "在睡觉/在打盹/在休息", "在跳/在蹦/在跳跃"),
)  # fmt: skip
PRACTICE = {"practice_english": (_ENGLISH, " ", "."), "practice_chinese": (_CHINESE, "", "。")}


@functools.cache
def practice_pairs(name: str, count: int = 640) -> tuple[Pair, ...]:
    """`count` pairs of scenes, the same at every call; the label counts the common meanings."""
    parts, between, end = PRACTICE[name]
    draw = random.Random(name)
    return tuple(_pair(parts, between, end, draw) for _ in range(count))


def _pair(parts: tuple, between: str, end: str, draw: random.Random) -> Pair:
    alike = draw.sample(range(PARTS), draw.randint(0, PARTS))
    first, second = [], []
    for place, meanings in enumerate(parts):
        one, other = draw.sample(meanings, 2)
        first.append(draw.choice(one.split("/")))
        second.append(draw.choice((one if place in alike else other).split("/")))
    return between.join(first) + end, between.join(second) + end, float(len(alike))
