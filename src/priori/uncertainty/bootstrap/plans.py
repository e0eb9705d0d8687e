"""Plans: what a bootstrap resamples, how often, from which random numbers, and how bounds come from its replicates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.errors import OptionError
from priori.base.options import Interval
from priori.base.options import Resample as Resample
from priori.base.types import Floats
from priori.decisions.measure import Measure
from priori.scores import Scores, ScoreSet
from priori.scores.trials import codes_in_use
from priori.uncertainty.bootstrap.intervals import bounds, deviation_bounds, normal_quantile, simultaneous_bounds

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.calibration import Calibration
    from priori.uncertainty.bootstrap.designs.base import Bootstrap


@dataclass(frozen=True)
class BootstrapPlan:
    """What runs: a `Resampling` settled against the data.

    ``outer`` draws of users with ``inner`` draws of trials within each. ``future`` is what is drawn from each
    replicate in turn, as (users, negatives, positives), zeros where nothing is; ``growth`` how many times as
    many negatives and positives the future set has; ``per_user`` the same for each of its users. ``streams``
    keeps the random numbers of systems that are drawn apart from each other apart. ``measure`` and
    ``alpha`` are those of the curve, where there is one.
    """

    design: Bootstrap
    resample: Resample
    outer: int
    inner: int
    shared_users: bool
    seed: int
    interval: Interval
    level: float
    simultaneous: bool
    future: tuple[int, int, int] = (0, 0, 0)
    growth: tuple[float, float] = (0.0, 0.0)
    per_user: tuple[float, float] = (1.0, 1.0)
    streams: int = 0
    warnings: tuple[str, ...] = ()
    measure: Measure | None = None
    alpha: Floats | None = field(default=None, compare=False)

    @property
    def n_resamples(self) -> int:
        """The number of replicates."""
        return self.outer * self.inner

    @property
    def of_method(self) -> bool:
        """Whether bounds are those of a system as a method: both sets resampled, calibrated, no future set."""
        return self.resample == "both" and self.interval == "calibrated" and not any(self.future)

    def calibration(self, test: ScoreSet, thresholds: Floats) -> Calibration | None:
        """Return the corrections of replicates at these thresholds of the test set, where there are any."""
        if self.interval == "calibrated" or self.per_user != (1.0, 1.0):
            return self.design.calibrate(test, thresholds, self)
        return None

    def bounds(self, values: Floats, calibration: Calibration | None, *, rate: bool) -> tuple[Floats, Floats]:
        """Return lower and upper bounds from replicates; of a rate, between 0 and 1."""
        if self.interval != "calibrated":
            calibration = None  # it mended the replicates; their quantiles are taken as they are
        stretch = calibration.reach if calibration else float
        of_rate = bool(rate and values.min() >= 0 and values.max() <= 1)
        if self.simultaneous:
            lower, upper = simultaneous_bounds(values, self.level, stretch=stretch, rates=of_rate)
        elif calibration and of_rate and not any(self.future):
            lower, upper = deviation_bounds(values, stretch(normal_quantile(self.level)), rates=True)
        else:
            level = calibration.level(self.level) if calibration else self.level
            lower, upper = bounds(values, level, centred=self.interval == "centred")
        if values.min() >= 0:
            lower = np.maximum(lower, 0.0)
        if of_rate:
            upper = np.minimum(upper, 1.0)
        return lower, upper

    def settings(self) -> dict[str, Any]:
        """Return everything that decides the numbers, for the record."""
        return {
            "bootstrap": self.design.name,
            "resample": self.resample,
            "n_resamples": self.n_resamples if self.inner == 1 else [self.outer, self.inner],
            "confidence_level": self.level,
            "interval": self.interval,
            "simultaneous": self.simultaneous,
            "promise": "prediction" if any(self.future) else "confidence",
            "future_users": self.future[0] or None,
            "future_growth": list(self.growth) if any(self.future) else None,
            "shared_users": self.shared_users,
            "seed": self.seed,
        }


def same_users(dev: ScoreSet, test: ScoreSet, forced: bool | None) -> tuple[bool, list[str]]:
    """Decide whether one draw of users serves both sets: when they hold the same users by name."""
    if forced is False:
        return False, []
    in_dev, in_test = (
        set(_names(scores, _codes_in_use(scores, crossed=False)).tolist()) for scores in (dev.load(), test.load())
    )
    common = len(in_dev & in_test)
    if forced and not common:
        raise OptionError("shared_users: no user of the development set is in the test set; leave the option out")
    if forced or in_dev == in_test:
        return True, []
    if common:
        return False, [
            Caution(
                "users-partly-shared",
                f"{common} users are in both sets, but not all of them: development and test users are drawn apart; "
                "shared_users=True draws them together",
            )
        ]
    return False, []


def _names(scores: Scores, codes: NDArray[Any]) -> NDArray[np.str_]:
    assert scores.users is not None
    return np.asarray(scores.users.values[codes].astype(np.str_))


# -- who is who ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Identities:
    """The identities of a set's trials as codes 0, 1, ..., ``count - 1``, class by class; partners -1 where none is."""

    negative: NDArray[Any]
    positive: NDArray[Any]
    negative_partner: NDArray[Any] | None
    count: int


def identify(sets: list[Scores], *, crossed: bool, shared: bool) -> list[Identities]:
    """Give the identities of each set their codes; with ``shared`` the same codes to the same names.

    An identity that only probes, never claims, counts only where trials are crossed.
    """
    used = [_codes_in_use(scores, crossed) for scores in sets]
    new, counts = [np.arange(codes.size) for codes in used], [codes.size for codes in used]
    if shared:
        names = [_names(scores, codes) for scores, codes in zip(sets, used, strict=True)]
        everyone = np.unique(np.concatenate(names))
        new, counts = [np.searchsorted(everyone, known) for known in names], [everyone.size] * len(sets)
    return [_identities(*parts, crossed) for parts in zip(sets, used, new, counts, strict=True)]


def identities_in_use(scores: ScoreSet, *, crossed: bool = False) -> int:
    """Return how many identities the trials of a set have; those that only probe count where trials are crossed."""
    return int(_codes_in_use(scores.load(), crossed).size) if crossed else scores.n_users


def _codes_in_use(scores: Scores, crossed: bool) -> NDArray[Any]:
    if not crossed:
        return scores.users_in_use
    return codes_in_use(scores.users_in_use, scores.negative.probe_user, scores.positive.probe_user)


def _identities(scores: Scores, used: NDArray[Any], new: NDArray[Any], count: int, crossed: bool) -> Identities:
    table = np.zeros(used[-1] + 1 if used.size else 0, dtype=np.int32)
    table[used] = new
    unchanged = np.array_equal(table, np.arange(table.size))

    def recode(codes: NDArray[Any] | None) -> NDArray[Any]:
        assert codes is not None
        return codes if unchanged else np.asarray(table[codes])

    partner = scores.negative.partner if crossed else None
    if partner is not None and not unchanged:
        partner = np.where(partner < 0, -1, table[partner]).astype(np.int32)
    return Identities(recode(scores.negative.user), recode(scores.positive.user), partner, count)
