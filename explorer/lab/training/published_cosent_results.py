"""The figures that the source of CoSENT printed for its comparison with cross-entropy."""

CITATION = "Su 2022, spaces.ac.cn/archives/9341"


DATA_SETS = ("ATEC", "BQ", "LCQMC", "PAWSX")


# Spearman's rank correlation and accuracy on the test sets, in percent, as the source prints them.
PRINTED_FIGURES: dict[str, dict[tuple[str, str], tuple[float, ...]]] = {
    "spearman": {
        ("BERT", "CE"): (48.01, 71.96, 78.53, 68.59),
        ("BERT", "CoSENT"): (48.09, 72.25, 78.70, 69.34),
        ("RoBERTa", "CE"): (49.70, 73.20, 79.13, 70.52),
        ("RoBERTa", "CoSENT"): (49.82, 73.09, 78.78, 70.54),
    },
    "accuracy": {
        ("BERT", "CE"): (85.38, 83.57, 88.10, 81.45),
        ("BERT", "CoSENT"): (85.55, 83.73, 87.92, 81.85),
        ("RoBERTa", "CE"): (85.97, 84.67, 88.14, 82.85),
        ("RoBERTa", "CoSENT"): (86.06, 84.23, 88.14, 83.03),
    },
}


# The averages that the source prints in its last column.
PRINTED_AVERAGES: dict[str, dict[tuple[str, str], float]] = {
    "spearman": {
        ("BERT", "CE"): 66.77,
        ("BERT", "CoSENT"): 67.10,
        ("RoBERTa", "CE"): 68.14,
        ("RoBERTa", "CoSENT"): 68.06,
    },
    "accuracy": {
        ("BERT", "CE"): 84.63,
        ("BERT", "CoSENT"): 84.76,
        ("RoBERTa", "CE"): 85.41,
        ("RoBERTa", "CoSENT"): 85.37,
    },
}
