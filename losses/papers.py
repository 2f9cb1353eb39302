"""The papers that losses come from, as BibTeX for the card of a trained model.

Of the `references` of a `LossSpec`, those that brought the loss; papers about an option of it or
its background are named in `docs/sources.md` alone. Sentence-BERT, where `cosine_mse` is from, is
cited by every card of sentence-transformers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper and its place: "arXiv:…", "doi:…" or an address."""

    authors: str
    year: int
    title: str
    place: str

    @property
    def bibtex(self) -> str:
        """The entry of a bibliography; its key is the first author, the year and the first word."""
        first = self.authors.partition(" and ")[0].split()[-1]
        key = re.sub(r"[^a-z0-9]", "", f"{first}{self.year}{self.title.split()[0]}".lower())
        kind, _, number = self.place.partition(":")
        entries = {"title": self.title, "author": self.authors, "year": self.year}
        if kind == "arXiv":
            entries |= {"eprint": number, "archivePrefix": kind}
        else:
            entries |= {"doi": number} if kind == "doi" else {"url": self.place}
        lines = (f"    {name}={{{value}}},\n" for name, value in entries.items())
        return f"@misc{{{key},\n{''.join(lines)}}}\n"


def citation(references: Iterable[str]) -> str:
    """Return the BibTeX of the papers among these references of a loss, "" without any."""
    named = (PAPERS.get(re.sub(r",? eq\. .*", "", reference)) for reference in references)
    return "".join(paper.bibtex for paper in dict.fromkeys(named) if paper)


PAPERS = {
    "kexue.fm/archives/8847": Paper(
        "Jianlin Su",
        2022,
        "CoSENT (1): a sentence embedding scheme more effective than Sentence-BERT",
        "https://kexue.fm/archives/8847",
    ),
    "doi.org/10.1109/TASLP.2024.3402087": Paper(
        "Xiang Huang and Hao Peng and Dongcheng Zou and Zhiwei Liu and Jianxin Li and Kay Liu and "
        "Jia Wu and Jianlin Su and Philip S. Yu",
        2024,
        "CoSENT: Consistent Sentence Embedding via Similarity Ranking",
        "doi:10.1109/TASLP.2024.3402087",
    ),
    "Sun et al. 2020": Paper(
        "Yifan Sun and Changmao Cheng and Yuhan Zhang and Chi Zhang and Liang Zheng and "
        "Zhongdao Wang and Yichen Wei",
        2020,
        "Circle Loss: A Unified Perspective of Pair Similarity Optimization",
        "arXiv:2002.10857",
    ),
    "Burges et al. 2005": Paper(
        "Chris Burges and Tal Shaked and Erin Renshaw and Ari Lazier and Matt Deeds and "
        "Nicole Hamilton and Greg Hullender",
        2005,
        "Learning to Rank using Gradient Descent",
        "doi:10.1145/1102351.1102363",
    ),
    "Li & Li 2023": Paper(
        "Xianming Li and Jing Li", 2023, "AnglE-optimized Text Embeddings", "arXiv:2309.12871"
    ),
    "Cao et al. 2007": Paper(
        "Zhe Cao and Tao Qin and Tie-Yan Liu and Ming-Feng Tsai and Hang Li",
        2007,
        "Learning to Rank: From Pairwise Approach to Listwise Approach",
        "doi:10.1145/1273496.1273513",
    ),
    "Bruch et al. 2019": Paper(
        "Sebastian Bruch and Xuanhui Wang and Michael Bendersky and Marc Najork",
        2019,
        "An Analysis of the Softmax Cross Entropy Loss for Learning-to-Rank with Binary Relevance",
        "doi:10.1145/3341981.3344221",
    ),
    "Xia et al. 2008": Paper(
        "Fen Xia and Tie-Yan Liu and Jue Wang and Wensheng Zhang and Hang Li",
        2008,
        "Listwise Approach to Learning to Rank: Theory and Algorithm",
        "doi:10.1145/1390156.1390306",
    ),
    "Wang et al. 2018": Paper(
        "Xuanhui Wang and Cheng Li and Nadav Golbandi and Michael Bendersky and Marc Najork",
        2018,
        "The LambdaLoss Framework for Ranking Metric Optimization",
        "doi:10.1145/3269206.3271784",
    ),
    "Qin et al. 2010": Paper(
        "Tao Qin and Tie-Yan Liu and Hang Li",
        2010,
        "A general approximation framework for direct optimization of information retrieval "
        "measures",
        "doi:10.1007/s10791-009-9124-x",
    ),
    "Schlatt et al. 2024": Paper(
        "Ferdinand Schlatt and Maik Fröbe and Harrisen Scells and Shengyao Zhuang and "
        "Bevan Koopman and Guido Zuccon and Benno Stein and Martin Potthast and Matthias Hagen",
        2024,
        "Rank-DistiLLM: Closing the Effectiveness Gap Between Cross-Encoders and LLMs for Passage "
        "Re-ranking",
        "arXiv:2405.07920",
    ),
    "van den Oord et al. 2018": Paper(
        "Aaron van den Oord and Yazhe Li and Oriol Vinyals",
        2018,
        "Representation Learning with Contrastive Predictive Coding",
        "arXiv:1807.03748",
    ),
    "KaLM-Embedding-V2 2025": Paper(
        "Xinping Zhao and Xinshuo Hu and Zifei Shan and Shouzheng Huang and Yao Zhou and Xin Zhang "
        "and Zetian Sun and Zhenyu Liu and Dongfang Li and Xinyuan Wei and Youcheng Pan and "
        "Yang Xiang and Meishan Zhang and Haofen Wang and Jun Yu and Baotian Hu and Min Zhang",
        2025,
        "KaLM-Embedding-V2: Superior Training Techniques and Data Inspire A Versatile Embedding "
        "Model",
        "arXiv:2506.20923",
    ),
    "Hou & Li 2023": Paper(
        "Pengyue Hou and Xingyu Li",
        2023,
        "Improving Contrastive Learning of Sentence Embeddings with Focal-InfoNCE",
        "arXiv:2310.06918",
    ),
    "Chen et al. 2024 (M3)": Paper(
        "Jianlv Chen and Shitao Xiao and Peitian Zhang and Kun Luo and Defu Lian and Zheng Liu",
        2024,
        "M3-Embedding: Multi-Linguality, Multi-Functionality, Multi-Granularity Text Embeddings "
        "Through Self-Knowledge Distillation",
        "arXiv:2402.03216",
    ),
    "Solatorio 2024 (GISTEmbed)": Paper(
        "Aivin V. Solatorio",
        2024,
        "GISTEmbed: Guided In-sample Selection of Training Negatives for Text Embedding "
        "Fine-tuning",
        "arXiv:2402.16829",
    ),
    "Yeh et al. 2022 (DCL)": Paper(
        "Chun-Hsiao Yeh and Cheng-Yao Hong and Yen-Chi Hsu and Tyng-Luh Liu and Yubei Chen and "
        "Yann LeCun",
        2022,
        "Decoupled Contrastive Learning",
        "arXiv:2110.06848",
    ),
    "Wieting & Gimpel 2018 (ParaNMT)": Paper(
        "John Wieting and Kevin Gimpel",
        2018,
        "ParaNMT-50M: Pushing the Limits of Paraphrastic Sentence Embeddings with Millions of "
        "Machine Translations",
        "arXiv:1711.05732",
    ),
    "Chen et al. 2020 (SimCLR)": Paper(
        "Ting Chen and Simon Kornblith and Mohammad Norouzi and Geoffrey Hinton",
        2020,
        "A Simple Framework for Contrastive Learning of Visual Representations",
        "arXiv:2002.05709",
    ),
    "Chuang et al. 2020 (debiased)": Paper(
        "Ching-Yao Chuang and Joshua Robinson and Lin Yen-Chen and Antonio Torralba and "
        "Stefanie Jegelka",
        2020,
        "Debiased Contrastive Learning",
        "arXiv:2007.00224",
    ),
    "Robinson et al. 2021 (HCL)": Paper(
        "Joshua Robinson and Ching-Yao Chuang and Suvrit Sra and Stefanie Jegelka",
        2021,
        "Contrastive Learning with Hard Negative Samples",
        "arXiv:2010.04592",
    ),
    "Gutmann & Hyvärinen 2010": Paper(
        "Michael Gutmann and Aapo Hyvärinen",
        2010,
        "Noise-contrastive estimation: A new estimation principle for unnormalized statistical "
        "models",
        "https://proceedings.mlr.press/v9/gutmann10a.html",
    ),
    "Zhai et al. 2023": Paper(
        "Xiaohua Zhai and Basil Mustafa and Alexander Kolesnikov and Lucas Beyer",
        2023,
        "Sigmoid Loss for Language Image Pre-Training",
        "arXiv:2303.15343",
    ),
    "Khosla et al. 2020": Paper(
        "Prannay Khosla and Piotr Teterwak and Chen Wang and Aaron Sarna and Yonglong Tian and "
        "Phillip Isola and Aaron Maschinot and Ce Liu and Dilip Krishnan",
        2020,
        "Supervised Contrastive Learning",
        "arXiv:2004.11362",
    ),
    "Hadsell et al. 2006": Paper(
        "Raia Hadsell and Sumit Chopra and Yann LeCun",
        2006,
        "Dimensionality Reduction by Learning an Invariant Mapping",
        "doi:10.1109/CVPR.2006.100",
    ),
    "Wang et al. 2019 (Multi-Similarity)": Paper(
        "Xun Wang and Xintong Han and Weilin Huang and Dengke Dong and Matthew R. Scott",
        2019,
        "Multi-Similarity Loss with General Pair Weighting for Deep Metric Learning",
        "arXiv:1904.06627",
    ),
    "Sohn 2016 (N-pair)": Paper(
        "Kihyuk Sohn",
        2016,
        "Improved Deep Metric Learning with Multi-class N-pair Loss Objective",
        "https://papers.nips.cc/paper/2016/hash/6b180037abbebea991d8b1232f8a8ca9-Abstract.html",
    ),
    "Schroff et al. 2015": Paper(
        "Florian Schroff and Dmitry Kalenichenko and James Philbin",
        2015,
        "FaceNet: A Unified Embedding for Face Recognition and Clustering",
        "arXiv:1503.03832",
    ),
    "Hermans et al. 2017": Paper(
        "Alexander Hermans and Lucas Beyer and Bastian Leibe",
        2017,
        "In Defense of the Triplet Loss for Person Re-Identification",
        "arXiv:1703.07737",
    ),
    "Song et al. 2016 (lifted structure)": Paper(
        "Hyun Oh Song and Yu Xiang and Stefanie Jegelka and Silvio Savarese",
        2016,
        "Deep Metric Learning via Lifted Structured Feature Embedding",
        "arXiv:1511.06452",
    ),
    "Deng et al. 2019": Paper(
        "Jiankang Deng and Jia Guo and Niannan Xue and Stefanos Zafeiriou",
        2019,
        "ArcFace: Additive Angular Margin Loss for Deep Face Recognition",
        "arXiv:1801.07698",
    ),
    "Wang et al. 2018 (CosFace)": Paper(
        "Hao Wang and Yitong Wang and Zheng Zhou and Xing Ji and Dihong Gong and Jingchao Zhou and "
        "Zhifeng Li and Wei Liu",
        2018,
        "CosFace: Large Margin Cosine Loss for Deep Face Recognition",
        "arXiv:1801.09414",
    ),
    "Movshovitz-Attias et al. 2017 (Proxy-NCA)": Paper(
        "Yair Movshovitz-Attias and Alexander Toshev and Thomas K. Leung and Sergey Ioffe and "
        "Saurabh Singh",
        2017,
        "No Fuss Distance Metric Learning using Proxies",
        "arXiv:1703.07464",
    ),
    "Kim et al. 2020 (Proxy-Anchor)": Paper(
        "Sungyeon Kim and Dongwon Kim and Minsu Cho and Suha Kwak",
        2020,
        "Proxy Anchor Loss for Deep Metric Learning",
        "arXiv:2003.13911",
    ),
    "Wang & Isola 2020": Paper(
        "Tongzhou Wang and Phillip Isola",
        2020,
        "Understanding Contrastive Representation Learning through Alignment and Uniformity on the "
        "Hypersphere",
        "arXiv:2005.10242",
    ),
    "Bardes et al. 2022 (VICReg)": Paper(
        "Adrien Bardes and Jean Ponce and Yann LeCun",
        2022,
        "VICReg: Variance-Invariance-Covariance Regularization for Self-Supervised Learning",
        "arXiv:2105.04906",
    ),
    "Zbontar et al. 2021 (Barlow Twins)": Paper(
        "Jure Zbontar and Li Jing and Ishan Misra and Yann LeCun and Stéphane Deny",
        2021,
        "Barlow Twins: Self-Supervised Learning via Redundancy Reduction",
        "arXiv:2103.03230",
    ),
    "Zhang et al. 2017 (GOR)": Paper(
        "Xu Zhang and Felix X. Yu and Sanjiv Kumar and Shih-Fu Chang",
        2017,
        "Learning Spread-out Local Feature Descriptors",
        "arXiv:1708.06320",
    ),
    "Hofstätter et al. 2020": Paper(
        "Sebastian Hofstätter and Sophia Althammer and Michael Schröder and Mete Sertkan and "
        "Allan Hanbury",
        2020,
        "Improving Efficient Neural Ranking Models with Cross-Architecture Knowledge Distillation",
        "arXiv:2010.02666",
    ),
    "Hinton et al. 2015": Paper(
        "Geoffrey Hinton and Oriol Vinyals and Jeff Dean",
        2015,
        "Distilling the Knowledge in a Neural Network",
        "arXiv:1503.02531",
    ),
    "Lin et al. 2020": Paper(
        "Sheng-Chieh Lin and Jheng-Hong Yang and Jimmy Lin",
        2020,
        "Distilling Dense Representations for Ranking using Tightly-Coupled Teachers",
        "arXiv:2010.11386",
    ),
    "Reimers & Gurevych 2020": Paper(
        "Nils Reimers and Iryna Gurevych",
        2020,
        "Making Monolingual Sentence Embeddings Multilingual using Knowledge Distillation",
        "arXiv:2004.09813",
    ),
    "Huang et al. 2024 (Piccolo2)": Paper(
        "Junqin Huang and Zhongjie Hu and Zihao Jing and Mengya Gao and Yichao Wu",
        2024,
        "Piccolo2: General Text Embedding with Multi-task Hybrid Loss Training",
        "arXiv:2405.06932",
    ),
    "Kusupati et al. 2022 (MRL)": Paper(
        "Aditya Kusupati and Gantavya Bhatt and Aniket Rege and Matthew Wallingford and "
        "Aditya Sinha and Vivek Ramanujan and William Howard-Snyder and Kaifeng Chen and "
        "Sham Kakade and Prateek Jain and Ali Farhadi",
        2022,
        "Matryoshka Representation Learning",
        "arXiv:2205.13147",
    ),
}
