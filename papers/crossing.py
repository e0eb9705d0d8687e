"""One ROC below another, and yet the worse error a priori: Figures 1-3 of the EPC papers, simulated and real."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

import priori
from priori.base.types import Floats
from priori.curves.epc import EPC
from priori.curves.roc import AposterioriROC
from priori.examples import NAMES, Sets, load
from priori.scores import Scores
from validation.coverage.simulation import population

__all__ = ["Pair", "Survey", "best_frr", "real_break_even_pair", "real_pair", "simulated_pair", "survey"]


@dataclass(frozen=True)
class Pair:
    """Two systems on the same sets: their ROCs a posteriori, their EPCs, and their break-even points a priori."""

    name: str
    a: str
    b: str
    roc_a: AposterioriROC
    roc_b: AposterioriROC
    epc_a: EPC
    epc_b: EPC
    at_break_even_a: EPC
    at_break_even_b: EPC

    @property
    def share_below(self) -> float:
        """The share of false acceptance rates at which the ROC of A is at or below that of B."""
        far = np.unique(np.concatenate([self.roc_a.fpr, self.roc_b.fpr]))
        above = best_frr(self.roc_a, far) > best_frr(self.roc_b, far)
        return float(1 - np.dot(above[:-1], np.diff(far)))  # 1, and not nearly 1, where A is nowhere above

    @property
    def test_eer(self) -> tuple[float, float]:
        """The equal error rates of A and B on the test set, a posteriori."""
        return self.roc_a.eer, self.roc_b.eer

    @property
    def break_even_hter(self) -> tuple[float, float]:
        """The test HTER of A and B with the thresholds of the development break-even points."""
        return float(self.at_break_even_a.value[0]), float(self.at_break_even_b.value[0])

    @property
    def b_better(self) -> Floats:
        """The alphas, 0 and 1 left out, at which B has the lower a priori HTER."""
        alpha = self.epc_a.alpha
        inner = (alpha > 0) & (alpha < 1)
        return alpha[inner & (self.epc_b.value < self.epc_a.value)]

    @property
    def b_better_by_wer(self) -> Floats:
        """The alphas, 0 and 1 left out, at which B has the lower a priori WER: what its thresholds minimise."""
        alpha = self.epc_a.alpha
        wer_a, wer_b = (alpha * curve.v1 + (1 - alpha) * curve.v2 for curve in (self.epc_a, self.epc_b))
        return alpha[(alpha > 0) & (alpha < 1) & (wer_b < wer_a)]

    @property
    def a_better(self) -> Floats:
        """The alphas, 0 and 1 left out, at which A has the lower a priori HTER."""
        alpha = self.epc_a.alpha
        inner = (alpha > 0) & (alpha < 1)
        return alpha[inner & (self.epc_a.value < self.epc_b.value)]


def best_frr(curve: AposterioriROC, far: Floats) -> Floats:
    """Return the lowest FRR that a ROC reaches without passing each FAR; no line is drawn between its points."""
    order = np.lexsort((curve.tpr, curve.fpr))
    fpr, frr = curve.fpr[order], 1 - curve.tpr[order]
    lowest = np.minimum.accumulate(frr)
    return lowest[np.searchsorted(fpr, far, side="right") - 1]


def make_pair(name: str, a: str, b: str, sets_a: Sets, sets_b: Sets) -> Pair:
    """Compute everything that the figures show of two systems."""
    curves = [priori.epc(*sets, name=label) for label, sets in ((a, sets_a), (b, sets_b))]
    points = [priori.epc(*sets, criterion="eer", alpha=0.5, name=label) for label, sets in ((a, sets_a), (b, sets_b))]
    rocs = [priori.roc(sets.test, points="all", name=label) for label, sets in ((a, sets_a), (b, sets_b))]
    return Pair(name, a, b, rocs[0], rocs[1], curves[0], curves[1], points[0], points[1])


def simulated_pair(n_users: int = 200) -> Pair:
    """Return A, whose classes lie further apart, and B, whose scores keep their place from development to test.

    The two share every draw, so that A's ROC is below B's by construction; A's development scores lie 0.6 lower
    than its test scores, a mismatch of conditions that no ROC of the test set can show.
    """

    def sets(separation: float, drift: float) -> Sets:
        def draw(number: int, shift: float) -> Scores:
            return population(
                n_users, 10, 50, separation=separation, user_effect_sd=0.3, shift=shift, rng=(2005, number)
            )

        return Sets(draw(1, -drift), draw(2, 0.0))

    return make_pair("simulated", "A", "B", sets(3.0, 0.6), sets(2.7, 0.0))


def real_pair() -> Pair:
    """Return two systems on the ORL faces: eigenfaces, and plain correlation of grey values."""
    systems = load("faces").systems
    return make_pair("faces", "eigenfaces", "correlation", systems["eigenfaces"], systems["correlation"])


def real_break_even_pair() -> Pair:
    """Return two classifiers of breast masses on the fourth fold: logistic regression and nearest neighbours.

    Found by looking through all our examples; `survey` counts how many there are.
    """
    systems = load("cancer").systems

    def fold(name: str) -> Sets:
        return Sets(systems[name].dev.by()["fold4"], systems[name].test.by()["fold4"])

    return make_pair("cancer, fold 4", "logistic", "neighbours", fold("logistic"), fold("neighbours"))


@dataclass(frozen=True)
class Survey:
    """How often one ROC is nowhere above the other, over all pairs of systems in all examples, folds and splits.

    ``at_break_even`` of them are in the reverse order a priori at the break-even point, ``somewhere`` at some alpha.
    """

    pairs: int
    dominated: int
    at_break_even: int
    somewhere: int


def survey() -> Survey:
    """Count, on our real scores, how often a ROC that is nowhere above the other errs more a priori."""
    pairs = dominated = at_break_even = somewhere = 0
    for name in NAMES:
        systems = {system: _split(sets) for system, sets in load(name).systems.items()}
        for a, b in permutations(systems, 2):
            for part, sets in systems[a].items():
                pair = make_pair(f"{name} {part}", a, b, sets, systems[b][part])
                pairs += 1
                if pair.share_below == 1 and pair.test_eer[0] < pair.test_eer[1]:
                    dominated += 1
                    at_break_even += pair.break_even_hter[1] < pair.break_even_hter[0]
                    somewhere += bool(pair.b_better.size)
    return Survey(pairs // 2, dominated, at_break_even, somewhere)


def _split(sets: Sets) -> dict[str, Sets]:
    if sets.dev.datasets is None:
        return {"": sets}
    dev, test = sets.dev.by(), sets.test.by()
    return {name: Sets(dev[name], test[name]) for name in dev}
