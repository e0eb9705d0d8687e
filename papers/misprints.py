"""Misprints found in the papers while redoing them, each with how we know."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MISPRINTS", "Misprint"]


class Misprint(NamedTuple):
    """What is printed where, what it should be, and the evidence."""

    where: str
    printed: str
    meant: str
    evidence: str


MISPRINTS: tuple[Misprint, ...] = (
    Misprint(
        "EPC report of 2004, Eq. 2",
        "FAR = FP / (FP + TP)",
        "FAR = FP / (FP + TN)",
        "Eq. 2 of the 2005 paper and Eq. 3.2 of the thesis have TN; with TP it would not be a share of the impostors.",
    ),
    Misprint(
        "Joint bootstrap paper of 2007, section 4",
        "1192 impostor accesses",
        "11992 impostor accesses",
        "Section 3 of the same paper has 11992; 124 users with 96 impostor trials on average are about 11900, "
        "and 1192 would be 9.6 a user.",
    ),
    Misprint(
        "Joint bootstrap paper of 2007, section 5",
        "the evaluation set contains the scores of 64 users",
        "62 users",
        "The caption of Figure 2 has 62, as have Figure 1 and the widths at 31, 62 and 124 users; the abstract speaks "
        "of two times more users than 31.",
    ),
    Misprint(
        "Joint bootstrap paper of 2007, section 3.2",
        "a (1 - alpha) x 100 % confidence region, with alpha = 0.95",
        "an alpha x 100 % region",
        "The bounds are the quantiles (1 - alpha)/2 and (1 + alpha)/2, between which lies a share alpha.",
    ),
    Misprint(
        "Thesis, section 3.1",
        "true negatives (where both the desired and the obtained classes is 1)",
        "... classes are -1",
        "Table 3.1 beside it has TN where both are -1, and true positives are said to be 1 and 1.",
    ),
    Misprint(
        "Thesis, Eqs. 3.38 and 3.40",
        "1 > 1 / (NP + NN)",
        "(NN - NP)^2 > 0",
        "With FAR = FRR = p, Eq. 3.37 is (1/NN + 1/NP)/4 > 1/(NN + NP), that is (NN + NP)^2 > 4 NN NP: always true but "
        "for NN = NP, where the two variances are equal.",
    ),
    Misprint(
        "Thesis, Table 3.7",
        "the row named sigma squared",
        "sigma",
        "The caption says sigma, the standard deviation; from the published rates Eq. 3.32 gives sigma = 0.0028, as "
        "printed, and sigma squared = 0.0000077.",
    ),
)
