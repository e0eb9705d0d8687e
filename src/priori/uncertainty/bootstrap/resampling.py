"""Resampling: the one description of how to resample: checked once, then settled against the sets."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, get_args

import numpy as np

from priori.base.cautions import Caution
from priori.base.declarations import FLAG, LEVEL, SIZE, TEXT, Flat, Schema, listed, maybe
from priori.base.errors import OptionError, argument, unknown
from priori.base.limits import MOST_RESAMPLES, check_level
from priori.base.options import Interval, Resample, ResamplingOptions
from priori.base.quantiles import few_replicates
from priori.base.types import Floats, Progress
from priori.curves.epc import EPC
from priori.decisions.measure import Measure
from priori.scores import ScoreSet
from priori.uncertainty.bootstrap.calibration import (
    FEW_FOR_PLAIN,
    Calibration,
    bounds,
    deviation_bounds,
    simultaneous_bounds,
)
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS, CROSSED, USER, Bootstrap
from priori.uncertainty.bootstrap.layout import bins_caution
from priori.uncertainty.rates.proportions import quantile as normal_quantile

#: A development set is small with fewer trials of a class, or users, and this many times as many in the test set.
SMALL, SMALLER = 300, 3

_ONE_OR_MORE: Schema = {"type": "integer", "minimum": 1}
#: What the file of a bootstrap's result says about how it was made: `BootstrapPlan.settings`; for layouts.
RESAMPLED: dict[str, Schema] = {
    "bootstrap": {"enum": list(BOOTSTRAPS)},
    "resample": {"enum": list(get_args(Resample))},
    "n_resamples": {"anyOf": [_ONE_OR_MORE, listed(_ONE_OR_MORE, 2)]},
    "confidence_level": LEVEL,
    "interval": TEXT,
    "simultaneous": FLAG,
    "shared_users": maybe(FLAG),
    "seed": SIZE,
}
#: The settings of such a result.
ResampledSettings = Annotated[dict[str, Any], Flat(RESAMPLED)]


@dataclass(frozen=True)
class Resampling(ResamplingOptions):
    """How to resample; `priori.EPC.band` explains each field.

    Examples
    --------
    >>> Resampling(n_resamples=500).confidence_level
    0.95
    """

    def __post_init__(self) -> None:
        check_level(self.confidence_level)
        for what, value, choices in (
            ("set to resample", self.resample, get_args(Resample)),
            ("bootstrap", self.bootstrap, [None, *BOOTSTRAPS]),
            ("interval", self.interval, [None, *get_args(Interval)]),
        ):
            if value not in choices:
                raise unknown(what, value, [choice for choice in choices if choice is not None])
        pair = isinstance(self.n_resamples, (tuple, list))
        numbers: Any = self.n_resamples if pair else (self.n_resamples, 1)
        whole = len(numbers) == 2 and all(_is_whole(number) and number >= 1 for number in numbers)
        if not whole or numbers[0] < 2 or numbers[0] * numbers[1] > MOST_RESAMPLES:
            raise OptionError(
                f"{argument('n_resamples')} must be a whole number from 2 up to {MOST_RESAMPLES}, or a pair (U, S) of "
                f"so many together, not {self.n_resamples}: one replicate has no spread, and more fit no memory"
            )
        if self.rng is None or isinstance(self.rng, np.random.Generator):
            return
        if not _is_whole(self.rng) or not 0 <= self.rng < 2**63:
            raise OptionError(
                f"{argument('rng')} must be a whole number from 0 to 2^63 - 1, a numpy Generator, or None, "
                f"not {self.rng!r}"
            )

    @property
    def may_keep_users(self) -> bool:
        """Whether the trials of users are kept apart, or may be where the data choose the bootstrap."""
        return self.bootstrap is None or BOOTSTRAPS[self.bootstrap].by_user

    @property
    def by_both_identities(self) -> bool:
        """Whether trials are weighted by both of their identities, as asked for."""
        return self.bootstrap is not None and BOOTSTRAPS[self.bootstrap].crossed

    def settle(
        self,
        dev: ScoreSet | None,
        test: ScoreSet,
        curve: EPC | None = None,
        *,
        measures: Sequence[Measure] = (),
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> BootstrapPlan:
        """Return what runs on these sets: what is left open is decided by the data, what they lack is an error.

        What is computed on them matters too: a ``curve``, or numbers by several ``measures``.
        """
        sets = [test] if self.resample == "test" or dev is None else [dev, test]
        if curve is not None and curve.weight == "user":  # users come with all their trials, and thresholds are kept
            design, warnings = BOOTSTRAPS[USER.name], list[str]()
            if self.bootstrap not in (None, USER.name) or self.resample != "test":
                raise OptionError(
                    f"users that weigh alike (weight 'user') go with the {USER.name} bootstrap of the test set; leave "
                    "out the other options, or weigh trials"
                )
        else:
            design, warnings = self._choose(sets, measures if curve is None else [curve.measure])
        for scores in sets:
            design.check(scores)
        warnings += design.warnings(sets)
        shared = False
        if len(sets) == 2:
            shared, notes = design.share(sets[0], sets[1], self.shared_users)
            warnings += [*notes, *_small_development(sets[0], sets[1], by_user=design.by_user)]
        outer, inner = self._numbers(design)
        decided: dict[str, Any] = {
            "bootstrap": design.name,
            "n_resamples": outer * inner,
            "inner": inner,
            "interval": self._interval(design),
            "rng": secrets.randbits(63) if self.rng is None else self.rng,
            "shared_users": shared,
            "threads": threads,
            "progress": progress,
        }
        if isinstance(self.rng, np.random.Generator):
            decided["rng"] = int(self.rng.integers(0, 2**63 - 1))
        plan = BootstrapPlan(**{**vars(self), **decided})
        warnings += plan.cautions(sets)
        if curve is None:
            return replace(plan, warnings=tuple(warnings))
        return replace(plan, warnings=tuple(warnings), measure=curve.measure, alpha=curve.alpha)

    def _choose(self, sets: list[ScoreSet], measures: Sequence[Measure]) -> tuple[Bootstrap, list[str]]:
        """Return the bootstrap asked for, or the one that suits the data, with the cautions about it."""
        if self.bootstrap is not None:
            return BOOTSTRAPS[self.bootstrap], []
        suitable = [bootstrap for bootstrap in BOOTSTRAPS.values() if bootstrap.suits(sets, measures)]
        return max(suitable, key=lambda bootstrap: bootstrap.preference), CROSSED.left_out(sets)

    def _interval(self, bootstrap: Bootstrap) -> Interval:
        if self.interval is None:
            return "calibrated" if bootstrap.calibrated else "percentile"
        if self.interval == "calibrated" and not bootstrap.calibrated:
            names = ", ".join(name for name, other in BOOTSTRAPS.items() if other.calibrated)
            raise OptionError(
                f"the calibrated interval goes with the bootstraps {names}, not with {bootstrap.name}; "
                "choose percentile"
            )
        return self.interval

    def _numbers(self, bootstrap: Bootstrap) -> tuple[int, int]:
        """Return how many draws of users there are, and of their trials in each."""
        if not isinstance(self.n_resamples, (tuple, list)):
            return int(self.n_resamples), 1
        if not bootstrap.nested:
            nested = " and the ".join(name for name, other in BOOTSTRAPS.items() if other.nested)
            raise OptionError(
                f"(U, S) replicates belong to the {nested} bootstrap; the {bootstrap.name} one takes a whole number"
            )
        outer, inner = self.n_resamples
        return int(outer), int(inner)


@dataclass(frozen=True)
class BootstrapPlan(Resampling):
    """A resampling settled against the data: nothing is left open.

    Each draw of users serves ``inner`` replicates. ``streams`` keeps apart the random numbers of systems that are drawn
    apart. ``measure`` and ``alpha`` are those of the curve, where there is one.
    """

    bootstrap: str = USER.name
    n_resamples: int = 10_000
    interval: Interval = "percentile"
    rng: int = 0
    shared_users: bool = False
    inner: int = 1
    streams: int = 0
    warnings: tuple[str, ...] = ()
    measure: Measure | None = None
    alpha: Floats | None = field(default=None, compare=False)
    threads: int | None = field(default=None, compare=False)
    progress: Progress | None = field(default=None, compare=False)

    @property
    def design(self) -> Bootstrap:
        """The bootstrap itself."""
        return BOOTSTRAPS[self.bootstrap]

    @property
    def seed(self) -> int:
        """The key of the random numbers."""
        return self.rng

    @property
    def of_method(self) -> bool:
        """Whether bounds are those of a system as a method: both sets resampled, calibrated."""
        return self.resample == "both" and self.interval == "calibrated"

    def calibration(self, test: ScoreSet, thresholds: Floats) -> Calibration | None:
        """Return the corrections of replicates at these thresholds of the test set, where there are any."""
        return self.design.calibrate(test, thresholds, self) if self.interval == "calibrated" else None

    def bounds(self, values: Floats, calibration: Calibration | None, *, rate: bool) -> tuple[Floats, Floats]:
        """Return lower and upper bounds from replicates; of a rate, between 0 and 1."""
        stretch = calibration.reach if calibration else float
        of_rate = bool(rate and values.min() >= 0 and values.max() <= 1)
        if self.simultaneous:
            lower, upper = simultaneous_bounds(values, self.confidence_level, stretch=stretch, rates=of_rate)
        elif calibration and of_rate:
            lower, upper = deviation_bounds(values, stretch(normal_quantile(self.confidence_level)), rates=True)
        else:
            level = calibration.level(self.confidence_level) if calibration else self.confidence_level
            lower, upper = bounds(values, level, centred=self.interval == "centred")
        if values.min() >= 0:
            lower = np.maximum(lower, 0.0)
        if rate and values.max() <= 1:
            upper = np.minimum(upper, 1.0)
        return lower, upper

    def as_seen(self, value: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return the bounds of rates: pseudo-trials say that there may be errors where none was seen, not must."""
        if self.interval != "calibrated":
            return lower, upper
        return np.where(value <= 0, 0.0, lower), np.where(value >= 1, 1.0, upper)

    def settings(self) -> dict[str, Any]:
        """Return everything that decides the numbers, for the record."""
        return {
            "bootstrap": self.bootstrap,
            "resample": self.resample,
            "n_resamples": self.n_resamples if self.inner == 1 else [self.n_resamples // self.inner, self.inner],
            "confidence_level": float(self.confidence_level),
            "interval": self.interval,
            "simultaneous": self.simultaneous,
            "shared_users": self.shared_users,
            "seed": self.seed,
        }

    def cautions(self, sets: Sequence[ScoreSet]) -> list[str]:
        """Return the cautions about these sets, the last of them the test set, resampled so."""
        design, found = self.design, list[str]()
        if design.calibrated and design.by_user and self.interval != "calibrated":
            users = min(scores.n_users for scores in sets)
            if users < FEW_FOR_PLAIN:
                text = f"a {self.interval} interval from {users} users covers up to 10 points too little"
                found.append(Caution("few-users-plain", f"{text}; use {argument('interval', 'calibrated')}"))
        if len(sets) == 2 and not self.of_method:
            found += bins_caution(*sets)
        found += few_replicates(self.n_resamples, self.confidence_level)
        return found


def _small_development(dev: ScoreSet, test: ScoreSet, *, by_user: bool) -> list[str]:
    """Warn that new thresholds vary more than a bootstrap of so few development trials can show."""
    counts = [("users", dev.n_users, test.n_users)] if by_user else []
    counts += [("negatives", dev.n_negatives, test.n_negatives), ("positives", dev.n_positives, test.n_positives)]
    small = [
        f"{few} {name}, {many} in the test set" for name, few, many in counts if few < SMALL and SMALLER * few < many
    ]
    if not small:
        return []
    text = f"small development set ({small[0]})"
    return [Caution("small-development", f"{text}: intervals cover too little far from alpha 0.5")]


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)
