"""Resampling: the one description of how to resample, checked once; signatures, options, forms and files follow it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from priori.base.cautions import Caution
from priori.base.errors import OptionError, argument, unknown
from priori.base.layouts import FLAG, INTEGER, LEVEL, NUMBERS, SIZE, TEXT, Schema, choice, listed, maybe
from priori.base.limits import MOST_PLANNED, MOST_RESAMPLES, MOST_USERS, whole_number
from priori.base.options import Interval, Resample, ResamplingOptions
from priori.base.options import Promise as Promise
from priori.base.quantiles import few_replicates
from priori.curves.epc import EPC
from priori.decisions.measure import Measure
from priori.decisions.measures import FAR
from priori.scores import ScoreSet
from priori.scores.people import unknown_impostors
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS, USER, Bootstrap
from priori.uncertainty.bootstrap.designs.base import FEW_USERS
from priori.uncertainty.bootstrap.draws import bins_caution
from priori.uncertainty.bootstrap.plans import BootstrapPlan
from priori.uncertainty.rates.proportions import check_level

#: A development set is small with fewer trials of a class, or users, and this many times as many in the test set.
SMALL, SMALLER = 300, 3

_ONE_OR_MORE: Schema = {"type": "integer", "minimum": 1}
#: What the file of a bootstrap's result says about how it was made: `Plan.settings`; for layouts.
RESAMPLED: dict[str, Schema] = {
    "bootstrap": choice(*BOOTSTRAPS),
    "resample": choice(*get_args(Resample)),
    "n_resamples": {"anyOf": [_ONE_OR_MORE, listed(_ONE_OR_MORE, 2)]},
    "confidence_level": LEVEL,
    "interval": TEXT,
    "simultaneous": FLAG,
    "promise": choice(*get_args(Promise)),
    "future_users": maybe(INTEGER),
    "future_growth": maybe(NUMBERS),
    "shared_users": maybe(FLAG),
    "seed": SIZE,
}


@dataclass(frozen=True)
class Resampling(ResamplingOptions):
    """How to resample; what each field means is said in `priori.EPC.band`.

    Examples
    --------
    >>> Resampling(n_resamples=500).confidence_level
    0.95
    """

    def __post_init__(self) -> None:
        check_level(self.confidence_level)
        if self.promise not in get_args(Promise):
            raise unknown("promise", self.promise, get_args(Promise))
        if self.resample not in get_args(Resample):
            raise unknown("set to resample", self.resample, get_args(Resample))
        if self.bootstrap is not None and self.bootstrap not in BOOTSTRAPS:
            raise unknown("bootstrap", self.bootstrap, BOOTSTRAPS)
        if self.interval is not None and self.interval not in get_args(Interval):
            raise unknown("interval", self.interval, get_args(Interval))
        numbers = self._numbers()
        whole = len(numbers) == 2 and all(_is_whole(number) and number >= 1 for number in numbers)
        if not whole or numbers[0] < 2 or numbers[0] * numbers[1] > MOST_RESAMPLES:
            raise OptionError(
                f"{argument('n_resamples')} must be a whole number from 2 up to {MOST_RESAMPLES}, or a pair (U, S) of "
                f"so many together, not {self.n_resamples}: one replicate has no spread, and more fit no memory"
            )
        if self.future_users is not None:
            whole_number(self.future_users, "future_users", 2, MOST_USERS)
        for number in self.future_trials if isinstance(self.future_trials, (tuple, list)) else (self.future_trials,):
            if number is not None:
                whole_number(number, "future_trials", 0, MOST_PLANNED)
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
        self, dev: ScoreSet | None, test: ScoreSet, curve: EPC | None = None, *, measures: Sequence[Measure] = ()
    ) -> BootstrapPlan:
        """Return what runs on these sets: what is left open is decided by the data, what they lack is an error.

        What is computed on them matters too: a ``curve``, or numbers by several ``measures``.
        """
        sets = [test] if self.resample == "test" or dev is None else [dev, test]
        if curve is not None and curve.weight == "user":
            chosen, warnings = self._weighing(), list[str]()
        else:
            chosen, warnings = self._choose(sets, measures if curve is None else [curve.measure])
        for scores in sets:
            chosen.check(scores)
        warnings += chosen.warnings(sets)
        if isinstance(self.n_resamples, (tuple, list)) and not chosen.nested:
            nested = " and the ".join(name for name, bootstrap in BOOTSTRAPS.items() if bootstrap.nested)
            raise OptionError(
                f"(U, S) replicates belong to the {nested} bootstrap; the {chosen.name} one takes a whole number"
            )
        shared = False
        if len(sets) == 2:
            shared, notes = chosen.share(sets[0], sets[1], self.shared_users)
            warnings += [*notes, *_small_development(sets[0], sets[1], by_user=chosen.by_user)]
        interval = self._interval(chosen)
        outer, inner = (int(number) for number in self._numbers())
        level = float(self.confidence_level)
        plan = BootstrapPlan(
            chosen, self.resample, outer, inner, shared, self._seed(), interval, level, self.simultaneous
        )
        if self.promise == "prediction":
            plan = chosen.predict(plan, test, self.future_users, self.future_trials)
        elif self.future_users is not None or self.future_trials is not None:
            raise OptionError("a future set belongs to the promise 'prediction'; a confidence band has none")
        if chosen.calibrated and chosen.by_user and interval != "calibrated":
            users = min(scores.n_users for scores in sets)
            if users < FEW_USERS:
                warnings.append(
                    Caution(
                        "few-users-plain",
                        f"a {interval} interval from {users} users covers up to ten points less than it "
                        "says; choose calibrated",
                    )
                )
        if len(sets) == 2 and not plan.of_method:
            warnings += bins_caution(*sets)
        warnings += few_replicates(plan.n_resamples, level)
        if curve is None:
            return replace(plan, warnings=tuple(warnings))
        accepted = curve.task.v1 is FAR and "negatives" in curve.measure.depends_on
        if accepted and chosen.by_user and test.has_users and test.nobody:
            warnings.append(unknown_impostors(test.nobody))
        return replace(plan, warnings=tuple(warnings), measure=curve.measure, alpha=curve.alpha)

    def _weighing(self) -> Bootstrap:
        """Return the bootstrap of users that weigh alike: they come with all their trials, thresholds kept."""
        if self.bootstrap not in (None, USER.name) or self.resample != "test" or self.promise != "confidence":
            raise OptionError(
                f"users that weigh alike (weight 'user') go with the {USER.name} bootstrap of the test set, to cover "
                "the whole population; leave out the other options, or weigh trials"
            )
        return USER

    def _choose(self, sets: list[ScoreSet], measures: Sequence[Measure]) -> tuple[Bootstrap, list[str]]:
        """Return the bootstrap asked for, or the one that suits the data, with what is to be said about it."""
        if self.bootstrap is not None:
            return BOOTSTRAPS[self.bootstrap], []
        suitable = [bootstrap for bootstrap in BOOTSTRAPS.values() if bootstrap.suits(sets, measures)]
        warnings = [line for bootstrap in BOOTSTRAPS.values() for line in bootstrap.left_out(sets)]
        return max(suitable, key=lambda bootstrap: bootstrap.preference), warnings

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

    def _numbers(self) -> tuple[int, ...]:
        return (*self.n_resamples,) if isinstance(self.n_resamples, (tuple, list)) else (self.n_resamples, 1)

    def _seed(self) -> int:
        """Return the key of the random numbers: a seed, or one drawn from a generator, or a fresh one for None."""
        if self.rng is None:
            return secrets.randbits(63)
        if isinstance(self.rng, np.random.Generator):
            return int(self.rng.integers(0, 2**63 - 1))
        return int(self.rng)


def _small_development(dev: ScoreSet, test: ScoreSet, *, by_user: bool) -> list[str]:
    """Say so where new thresholds vary more than a bootstrap of so few development trials can know."""
    counts = [("users", dev.n_users, test.n_users)] if by_user else []
    counts += [("negatives", dev.n_negatives, test.n_negatives), ("positives", dev.n_positives, test.n_positives)]
    small = [f"{few} {name} to {many}" for name, few, many in counts if few < SMALL and SMALLER * few < many]
    if not small:
        return []
    what = "a development set this small beside the test set"
    return [
        Caution(
            "small-development",
            f"{what} ({', '.join(small)}): at alphas far from 0.5 the interval of new "
            "thresholds covers less than it says",
        )
    ]


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)
