"""Cross-fitted curves of one labelled set: what their bands cover."""

from __future__ import annotations

import numpy as np
from populations import ALPHAS, Population, seeds
from tallies import Row, Tally

import priori

PART = "folds"
#: What a band may be asked to cover: the curve that the folds' thresholds have on the population, on average; that of
#: the thresholds of the whole set; and the mean, over such sets, of the first.
KEPT, WHOLE, EXPECTED = "thresholds of the folds", "thresholds of the whole set", "expected curve"
METHOD = "5 folds, by user"
APART = "5 folds, users in several"
POPULATIONS = (
    Population("one set of 62 users, 9 + 20 trials, medium effect", 62),
    Population("one set of 62 users, 9 + 20 trials, strong effect", 62, effect=0.8),
    Population("one set of 20 users, 9 + 20 trials, medium effect", 20),
    Population("one set of 124 users, 9 + 96 trials, medium effect", 124, impostor=96),
)


def measure_folds(population: Population, repeats: int, replicates: int) -> list[Row]:
    """Measure the bands of cross-fitted curves on one population."""
    tally, kept, made = Tally(PART, population.title), [], []
    for repeat in range(repeats):
        scores = population.draw(repeat, 60)
        for method, together in ((METHOD, True), (APART, False)):
            curve = priori.cross_epc(scores, folds=5, alpha=ALPHAS, rng=repeat, together=together)
            band = curve.band(n_resamples=replicates, rng=seeds(repeat, 61), threads=1)
            shares = [np.bincount(own) / own.size for own in curve.fold]
            rates = [population.rates(part.threshold) for part in curve.curves]
            far, frr = (np.stack(rate) for rate in zip(*rates, strict=True))
            truth = (shares[0] @ far + shares[1] @ frr) / 2
            tally.add((method, KEPT), band.covers(truth), band.expected_width)
            tally.add((method, WHOLE), band.covers(population.value(curve.threshold)), band.expected_width)
            if together:
                kept.append(truth)
                made.append(band)
    expected = np.mean(kept, axis=0)
    for band in made:
        tally.add((METHOD, EXPECTED), band.covers(expected), band.expected_width)
    return tally.rows()
