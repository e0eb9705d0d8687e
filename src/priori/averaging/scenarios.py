"""The simulated data sets of the averaging paper, and what its Figures 1 and 2 show.

The paper does not print the parameters of its distributions; those here are ours, chosen so that the figures show
what its text says. What is tested is the text's conclusions, over many seeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from priori.averaging.result import AverageCurve
from priori.averaging.sampling import average
from priori.outcomes import count
from priori.scores import Scores, pool

__all__ = ["CLASSIFIERS", "FigureOne", "FigureTwo", "figure_one", "figure_two", "illustration", "simulate"]

Floats = NDArray[np.float64]

#: The classifiers of section 5. C-2a shifts both classes of a data set by the same noise, C-2b shifts the positives
#: by its absolute value.
CLASSIFIERS = ("C-1", "C-2a", "C-2b")


def illustration(rng: int | np.random.Generator = 0) -> dict[str, Scores]:
    """Simulate the two data sets of Figure 1: probabilities that separate well (150 per class) and poorly (75)."""
    generator = np.random.default_rng(rng)
    well = Scores.from_arrays(generator.beta(3, 6, 150), generator.beta(6, 3, 150), source="well separable")
    poor = Scores.from_arrays(generator.beta(4, 5, 75), generator.beta(5, 4, 75), source="poorly separable")
    return {well.source: well, poor.source: poor}


def simulate(
    rng: int | np.random.Generator = 0, *, datasets: int = 100, negatives: int = 100, positives: int = 100
) -> dict[str, dict[str, Scores]]:
    """Simulate the scores of the three classifiers of section 5 on the same collection of data sets.

    For data set i the class means are mu_i0 ~ N(0, 0.2) and mu_i1 ~ N(1.75, 0.2), the standard deviations uniform
    between 0.6 and 1.0, and the noise epsilon_i ~ N(0, 1) is the same for C-2a and C-2b.

    Examples
    --------
    >>> from priori.averaging.scenarios import simulate
    >>> sets = simulate(0, datasets=3)
    >>> list(sets), list(sets["C-1"])
    (['C-1', 'C-2a', 'C-2b'], ['1', '2', '3'])
    """
    generator = np.random.default_rng(rng)
    mean_negative, mean_positive = generator.normal(0.0, 0.2, datasets), generator.normal(1.75, 0.2, datasets)
    spread_negative, spread_positive = generator.uniform(0.6, 1.0, (2, datasets))
    noise = generator.normal(0.0, 1.0, datasets)
    still = np.zeros(datasets)
    shifts = {"C-1": (still, still), "C-2a": (noise, noise), "C-2b": (noise, np.abs(noise))}
    return {
        name: {
            str(i + 1): Scores.from_arrays(
                generator.normal(mean_negative[i] + shift_negative[i], spread_negative[i], negatives),
                generator.normal(mean_positive[i] + shift_positive[i], spread_positive[i], positives),
                source=f"{name} [{i + 1}]",
            )
            for i in range(datasets)
        }
        for name, (shift_negative, shift_positive) in shifts.items()
    }


@dataclass(frozen=True)
class FigureOne:
    """What Figure 1 shows: densities of the scores, three averages, and where one threshold falls on each curve.

    ``own_threshold`` gives the poorly separable set the false positive rate that ``threshold`` gives the other.
    """

    scores: dict[str, Scores]
    pooled: AverageCurve
    vertical: AverageCurve
    by_threshold: AverageCurve
    threshold: float
    own_threshold: float
    grid: Floats
    densities: dict[str, tuple[Floats, Floats]]
    points: dict[str, tuple[float, float]]


def figure_one(rng: int | np.random.Generator = 0, *, fpr: float = 0.12) -> FigureOne:
    """Compute Figure 1: the threshold gives the well separable set a false positive rate of 0.12, as in the paper."""
    scores = illustration(rng)
    well, poor = scores.values()
    merged = pool([well, poor])
    threshold, own = (float(part.negatives[len(part.negative) - 1 - round(fpr * len(part.negative))])
                      for part in (well, poor))  # fmt: skip
    grid = np.linspace(0, 1, 201)
    named = {**scores, "pooled": merged}
    points = {name: _point(part, threshold) for name, part in named.items()}
    points["poorly separable, own threshold"] = _point(poor, own)
    return FigureOne(
        scores=scores,
        pooled=average(scores, method="pooled", positions="exact"),
        vertical=average(scores, method="vertical", positions="exact"),
        by_threshold=average(scores, method="threshold", positions="exact"),
        threshold=threshold,
        own_threshold=own,
        grid=grid,
        densities={
            name: (_density(part.negatives, grid), _density(part.positives, grid)) for name, part in named.items()
        },
        points=points,
    )


def _point(scores: Scores, threshold: float) -> tuple[float, float]:
    found = count(scores, threshold)
    return float(found.fp / len(scores.negative)), float(found.tp / len(scores.positive))


def _density(values: Floats, grid: Floats) -> Floats:
    """Return a Gaussian kernel estimate, with Silverman's width."""
    width = 0.9 * float(np.std(values, ddof=1)) * values.size**-0.2
    away = (grid[:, None] - values[None, :]) / width
    return np.asarray(np.exp(-0.5 * away**2).sum(axis=1) / (values.size * width * np.sqrt(2 * np.pi)))


@dataclass(frozen=True)
class FigureTwo:
    """What Figure 2 shows: for each classifier, the vertical and the threshold average with their intervals."""

    vertical: dict[str, AverageCurve]
    by_threshold: dict[str, AverageCurve]


def figure_two(rng: int | np.random.Generator = 0, *, datasets: int = 100, positions: int = 501) -> FigureTwo:
    """Compute Figure 2: 95 % intervals under the assumption of normality, as in the paper."""
    sets = simulate(rng, datasets=datasets)

    def averages(method: str) -> dict[str, AverageCurve]:
        return {
            name: average(parts, method=method, interval="normal", positions=positions) for name, parts in sets.items()
        }

    return FigureTwo(averages("vertical"), averages("threshold"))
