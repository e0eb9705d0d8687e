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
        "Thesis, section 3.1",
        "a posteriori: the threshold is set using the already seen examples; a priori: using unseen examples",
        "a posteriori: on the examples that are judged; a priori: on others, before these are seen",
        "The chapter sets a priori thresholds on a development set and judges on unseen test data (section 3.2).",
    ),
    Misprint(
        "Thesis, section 3.1, after Eq. 3.3",
        "Cost(FR) and Cost(FA)",
        "Cost(FN) and Cost(FP)",
        "Eq. 3.3, which the sentence explains, has Cost(FN) and Cost(FP).",
    ),
    Misprint(
        "Thesis, after Eq. 3.16",
        "precision and recall are penalty measures and instead of costs",
        "are gains instead of costs",
        "The sentence explains the negative sign with which Eq. 3.16 turns what is to be maximised into a cost.",
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
    Misprint(
        "Thesis, Eq. 3.22",
        "if Y_A is not statistically different from Y_B, Y_A - Y_B has the mean p_A - p_B",
        "the mean 0",
        "Eq. 3.23 beside it, and Eqs. 3.32 and 3.33 for the HTER, have 0: under the hypothesis p_A = p_B, and with the "
        "mean p_A - p_B the one-sided test of Eq. 3.20 would give one half whatever the data.",
    ),
    Misprint(
        "Thesis, section 3.3, after Eq. 3.35",
        "the variance of NAIVE in (3.35) ..., hence confidence tests using (3.34)",
        "tests using (3.35)",
        "The sentence is about NAIVE; Eq. 3.34 is CLASS, of which the same sentence was said a paragraph before.",
    ),
    Misprint(
        "Joint bootstrap paper of 2007, Eqs. 7 to 9",
        "Perf(Delta | eva) on the left",
        "Perf(Delta_beta | eva), a function of beta (and gamma) alone",
        "The right-hand sides are evaluated at Delta_beta, the threshold that Eq. 3 chose on the development set.",
    ),
    Misprint(
        "Joint bootstrap paper of 2007, Eqs. 10 to 13",
        "Psi = P(Y < Delta)",
        "P(Y <= Delta)",
        "A score that equals the threshold is rejected (Eq. 1 of the papers of 2004 and 2005, 3.1 of the thesis), so "
        "it belongs to the FRR; section 2 calls Psi the cumulative distribution up to the threshold.",
    ),
    Misprint(
        "Joint bootstrap paper of 2007, section 3.2",
        "a large confidence interval such as 24 %",
        "such as 15 %",
        "Figure 1, of which the sentence speaks, and section 5 have widths from 15.15 down to 8.28; 24 is how many "
        "systems there are.",
    ),
    Misprint(
        "Joint bootstrap paper of 2007, section 3",
        "Psi for the distribution of scores (Eqs. 1, 2, 10 to 13) and again for that of the values v_beta",
        "two letters",
        "A cumulative distribution of scores gives FAR and FRR; the bounds are quantiles of another, of S x U values.",
    ),
    Misprint(
        "On averaging ROC curves, section 4.1",
        "the threshold that minimises cost is where the ROC meets the line from (0, 1) with slope -pi_P c_P / pi_N c_N",
        "where a line of slope pi_N c_N / pi_P c_P touches the ROC",
        "With normal scores two standard deviations apart, costs 5 : 1 against false negatives and even classes, the "
        "point on that line costs 1.652 and the best one 0.600 (in units of a false positive); `tests/papers` computes "
        "both.",
    ),
    Misprint(
        "On averaging ROC curves, section 4.1",
        "the fp and tp axes are rotated clockwise",
        "the points are rotated clockwise, the axes anti-clockwise",
        "The matrix takes (0, 1) to (sin theta, cos theta): the point on the tp axis moves clockwise. At theta = pi/2 "
        "that averages fp at a fixed tp, horizontally, as the section says; the other way round it would not.",
    ),
    Misprint(
        "On averaging ROC curves, section 4.1",
        "for fixed error rate ratios, averaging should take place diagonally",
        "for a fixed sum of fp and tp; of the ratios only 1 : 1, the EER, is kept",
        "Rotation by pi/4 averages along the parallel lines fp + tp = constant. A fixed ratio fp : (1 - tp) is a line "
        "through (0, 1), and of those parallels only one passes there.",
    ),
)
