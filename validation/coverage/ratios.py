"""Costs of log-likelihood ratios: intervals of Cllr; tests of it, of its minimum and of the loss."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from populations import Population
from sizes import NULL, two_systems
from tallies import Row, Tally

import priori
from priori.decisions.likelihood_ratios import AffineMap
from priori.scores import Scores

PART, PROMISE = "likelihood ratios", "whole population"
#: Names of the costs, in the order of the rows of `priori.llr_costs`; minimum and loss have no interval.
COSTS = ("Cllr", "minimum Cllr", "Cllr loss")


@dataclass(frozen=True)
class Ratios:
    """A population whose scores are log-likelihood ratios times ``scale``; 1 is perfect calibration."""

    drawn: Population
    scale: float = 1.0

    @property
    def title(self) -> str:
        return self.drawn.title + ("" if self.scale == 1 else f", ratios times {self.scale:g}")

    def draw(self, seed: int) -> Scores:
        """Draw a set of scores, as ratios of the population."""
        apart = self.drawn.separation
        return AffineMap("", self.scale * apart, -self.scale * apart**2 / 2).apply(self.drawn.draw(seed))

    def truth(self) -> float:
        """Return Cllr in the population, by Gauss and Hermite."""
        node, weight = np.polynomial.hermite_e.hermegauss(200)
        apart, weight = self.drawn.separation, weight / weight.sum()
        ratio = apart * (node - apart / 2)  # of negatives; that of positives is the same with the sign turned
        return float(weight @ np.logaddexp(0, self.scale * ratio)) / np.log(2)


POPULATIONS = (
    Ratios(Population("200 + 200 independent trials", 200, 1, 1, 0.0, 2.0)),
    Ratios(Population("200 + 200 independent trials", 200, 1, 1, 0.0, 2.0), 2.0),
    Ratios(Population("500 + 2000 independent trials", 500, 1, 4, 0.0, 2.0)),
    Ratios(Population("400 + 400 independent trials, few errors", 400, 1, 1, 0.0, 4.0)),
    Ratios(Population("62 users, 9 + 20 trials, medium effect", 62)),
    Ratios(Population("62 users, 9 + 20 trials, medium effect", 62), 2.0),
    Ratios(Population("62 users, 9 + 20 trials, strong effect", 62, effect=0.8), 0.5),
    Ratios(Population("20 users, 9 + 20 trials, medium effect", 20)),
)


def measure_ratios(ratios: Ratios, repeats: int) -> list[Row]:
    """Return what the intervals of one population cover, without a development set and with logistic calibration."""
    tally, truth = Tally(PART, ratios.title), ratios.truth()
    for repeat in range(repeats):
        test = ratios.draw(2 * repeat)
        if not ratios.drawn.effect:  # trials of their own
            test = replace(
                test, users=None, **{name: replace(getattr(test, name), user=None) for name in ("negative", "positive")}
            )
        costs = priori.llr_costs(test, test)
        tally.cover((COSTS[0], PROMISE), costs.lower[0], costs.upper[0], truth)
    return tally.rows()


#: Two systems that are as good as each other, their scores correlated by a half.
TESTED = "tests of likelihood ratios"
PAIRS = tuple(
    Population(f"{users} users, 9 + 20 trials, {words} effect", users, effect=effect)
    for users in (20, 62, 200)
    for words, effect in (("medium", 0.5), ("strong", 0.8))
)


def measure_comparisons(population: Population, repeats: int) -> list[Row]:
    """Return how often `compare_llr_costs` says that two systems differ which do not."""
    tally, apart = Tally(TESTED, population.title, nominal=0.05), population.separation
    ratios = AffineMap("", apart, -(apart**2) / 2)
    for repeat in range(repeats):
        drawn = [ratios.apply(scores) for scores in two_systems(population, 0.5, repeat, 23)]
        found = priori.compare_llr_costs(*(priori.llr_costs(scores, scores) for scores in drawn))
        for row, name in enumerate(COSTS):
            tally.add((name, NULL), found.significant[row], float(found.upper[row] - found.lower[row]))
    return tally.rows()
