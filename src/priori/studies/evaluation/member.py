"""One system of a study: its curves, and what its threshold does to each kind of trials, on both sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from priori.base.errors import OptionError
from priori.base.results import plain
from priori.base.types import Floats
from priori.curves.areas import Areas, areas
from priori.curves.epc import EPC, curves_of
from priori.curves.roc import AposterioriDET, AposterioriROC
from priori.decisions.recipe import Recipe
from priori.scores import ScoreSet, condense_all
from priori.scores.systems import SourceFile, System
from priori.studies.evaluation.drawing import ScoreHistogram, bin_scores, median, thinned_curves
from priori.uncertainty.bands.bands import Band
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.expected.thresholds import threshold_ranges
from priori.uncertainty.rates.combined import joint_interval
from priori.uncertainty.rates.rate_intervals import RateInterval, intervals_along

#: At one threshold the error rate of each kind of trials that there are: positives, negatives, attacks.
Rates = dict[str, RateInterval]
#: The number of cuts along the scores at which a page shows what a threshold would do.
CUTS = 121
#: No rate in a figure is off by more than this, or a thousandth with Spark.
FINE = 1e-5
#: A curve with more constant pieces than this is drawn at the alphas of the slider.
MOST_STEPS = 400


@dataclass(frozen=True, eq=False)
class Member:
    """One system of a study: its curve and band, its a posteriori curves thinned for drawing, its scores in bins.

    ``deployable`` is each threshold of the curve in the fewest digits that decide every trial as it does.
    ``level`` is that of the intervals of its rates, ``level_together`` where both rates of all systems are looked at.
    """

    name: str
    curve: EPC
    deployable: tuple[str, ...]
    band: Band | None
    roc: AposterioriROC
    det: AposterioriDET
    histogram: ScoreHistogram
    areas: Areas
    area: float | None
    medians: tuple[float, float]
    level: float
    level_together: float
    dev_file: SourceFile | None
    test_file: SourceFile | None

    @classmethod
    def of(
        cls,
        system: System,
        curve: EPC,
        deployable: tuple[str, ...],
        band: Band | None,
        *,
        index: int,
        level: float,
        systems: int,
    ) -> Member:
        """Return a system, one of so many, with its scores in bins around the threshold at an alpha."""
        (dev, _), (test, _) = condense_all([system.dev, system.test], narrow=FINE)
        try:
            area: float | None = replace(curve, dev=dev, test=test).area
        except OptionError:  # a criterion without an exact curve
            area = None
        return cls(
            system.name,
            curve,
            deployable,
            band,
            *thinned_curves(test, system.name),
            bin_scores(dev, test, float(curve.threshold[index])),
            areas(dev, test, task=curve.task),
            area,
            (median(test.negative), median(test.positive)),
            level,
            1 - (1 - level) / (2 * systems),
            system.dev_file,
            system.test_file,
        )

    @cached_property
    def steps(self) -> EPC | None:
        """The curve at the beginnings of its constant pieces; None where they are not known or too many."""
        curve = self.curve
        if curve.dev.scanned or curve.test.scanned or curve.measure.needs_alpha:
            return None
        how = Recipe(curve.task, curve.criterion, curve.measure, (), exact=True)
        try:
            (exact,) = curves_of({curve.name: (curve.dev, curve.test)}, how)
        except OptionError:
            return None
        return exact if exact.alpha.size <= MOST_STEPS else None

    @cached_property
    def cuts(self) -> Floats:
        """Thresholds along the scores, or distances as they were given, evenly spaced, in few digits."""
        even = np.linspace(0, 1, CUTS)
        low, high = self.histogram.edges[[0, -1]]
        digits = max(5, 3 + int(np.log10(max(abs(low), abs(high)) / (high / 2 - low / 2))))
        return np.array([float(f"{cut:.{digits}g}") for cut in low * (1 - even) + high * even])

    def _as_given(self, thresholds: Floats) -> Floats:
        """Return thresholds of scores as they were given, or the other way round: distances are negated."""
        return 0.0 - thresholds if self.curve.distances else thresholds

    @cached_property
    def _rates(self) -> list[list[Rates]]:
        thresholds = np.concatenate([self.curve.threshold, self._as_given(self.cuts)])
        return rates_at(self.curve.test, thresholds, [self.level, self.level_together])

    @property
    def rates(self) -> list[Rates]:
        """At each alpha the error rate of each kind of test trials that there are."""
        return self._rates[0][: self.curve.alpha.size]

    def hter_bounds(self, index: int) -> tuple[float, float]:
        """Return between which HTERs the bounds of the rates put it at an alpha, as if the rates were independent."""
        rates, shares = self.rates[index], mixture(self.rates[index])
        _, lower, upper = joint_interval([*rates.values()], [0.5 * shares.get(kind, 1.0) for kind in rates])
        return lower, upper

    @property
    def rates_along(self) -> list[Rates]:
        """The same at each of the `cuts` along the scores."""
        return self._rates[0][self.curve.alpha.size :]

    @cached_property
    def promises(self) -> list[dict[str, Promise]]:
        """At each alpha what the development set promised, for each kind of trials that both sets have."""
        (dev,) = rates_at(self.curve.dev, self.curve.threshold, [self.level_together])
        return [
            {kind: promise(own[kind], rate) for kind, rate in rates.items() if kind in own}
            for own, rates in zip(dev, self._rates[1], strict=False)
        ]

    @cached_property
    def best_threshold(self) -> Floats:
        """The threshold that the test set itself would choose at each alpha, which nobody could have known."""
        return self._as_given(self.curve.criterion.in_hindsight.choose(self.roc.scores, self.curve.fractions).threshold)

    @cached_property
    def threshold_ranges(self) -> dict[str, tuple[Floats, Floats]]:
        """The ranges of the threshold at each alpha, as `threshold_interval` has them: ``new``, ``best`` and ``good``.

        NaN at alpha 0 and 1, where nothing holds, and where a criterion has no cost. Empty where nothing was resampled,
        for tables, for a bootstrap of several levels, and where thresholds are not chosen on the development set.
        """
        curve, made = self.curve, None if self.band is None else self.band.settings
        if made is None or curve.dev.scanned or not curve.criterion.reads_development:
            return {}
        if not BOOTSTRAPS[made["bootstrap"]].one_level:
            return {}
        resampling = Resampling(made["bootstrap"], confidence_level=self.level, rng=made["seed"])
        inner = (curve.alpha > 0) & (curve.alpha < 1)
        found = {}
        for name, bounds in threshold_ranges(curve.dev, curve.criterion, curve.fractions, resampling).items():
            lower, upper = (self._as_given(np.where(inner, bound, np.nan)) for bound in bounds)
            found[name] = (upper, lower) if curve.distances else (lower, upper)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists."""
        return {
            **self.curve.to_dict(),
            "band": None if self.band is None else self.band.to_dict(),
            "areas": {**plain(self.areas.to_dict()), "epc": self.area},
            "a_posteriori": {"auc": self.roc.auc, "eer": self.roc.eer},
            "histogram": plain(vars(self.histogram)),
            "files": {
                "dev": self.dev_file and asdict(self.dev_file),
                "test": self.test_file and asdict(self.test_file),
            },
        }


def rates_at(scores: ScoreSet, thresholds: Floats, levels: Sequence[float]) -> list[list[Rates]]:
    """Return the error rates at thresholds with intervals at each of several confidence levels, from one scan."""
    cuts, row_of = np.unique(thresholds, return_inverse=True)
    (counted,) = scores.count([cuts], ("user", "attack"))
    attack = counted.negative.attack
    kinds = {"positives": counted, "negatives": counted}
    if attack is not None and attack.any():
        masks = {"negatives": attack == 0, "attacks": attack > 0}
        parts = {kind: counted.negative.take(np.flatnonzero(mask)) for kind, mask in masks.items()}
        del kinds["negatives"]
        kinds |= {kind: replace(counted, negative=trials) for kind, trials in parts.items() if len(trials)}
    columns = [
        intervals_along(trials, cuts, rate="frr" if kind == "positives" else "far", levels=levels)
        for kind, trials in kinds.items()
    ]
    return [
        [{kind: column[at] for kind, column in zip(kinds, of_level, strict=True)} for at in row_of]
        for of_level in zip(*columns, strict=True)
    ]


def mixture(rates: Rates) -> dict[str, float]:
    """Return the share of each kind of trials among those that are no positives, as the set has them."""
    trials = {kind: rate.trials for kind, rate in rates.items() if kind != "positives"}
    return {kind: number / sum(trials.values()) for kind, number in trials.items()}


class Promise(NamedTuple):
    """A rate on the development set, and between what chance lets the rate on the test set lie."""

    rate: float
    lower: float
    upper: float


def promise(dev: RateInterval, test: RateInterval) -> Promise:
    """Return what the development set promised: a rate beyond its bounds differs from it more than chance explains.

    The interval of a difference, from the distances of both rates to their own bounds (Zou and Donner 2008), leaves
    out 0 just there.
    """
    below = float(np.hypot(dev.rate - dev.lower, test.upper - test.rate))
    above = float(np.hypot(dev.upper - dev.rate, test.rate - test.lower))
    return Promise(dev.rate, max(dev.rate - below, 0.0), min(dev.rate + above, 1.0))
