"""The bootstraps, in one table: what each draws, what that needs, how its interval is calibrated, its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from priori.base.cautions import Caution
from priori.base.errors import InputError, OptionError, argument
from priori.base.limits import FEW_USERS
from priori.base.types import Floats
from priori.decisions.measure import Measure
from priori.scores import Scores, ScoreSet
from priori.scores.influence import Spread
from priori.uncertainty.bootstrap.calibration import (
    Calibration,
    Other,
    clusters_of,
    differences_of,
    error_rates,
    slopes_of,
)
from priori.uncertainty.bootstrap.layout import Owners, identify, same_users

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.resampling import BootstrapPlan


@dataclass(frozen=True)
class Bootstrap:
    """One way to resample; its rules are those of users kept apart, and a subclass overrides what differs.

    Attributes
    ----------
    name : str
        What people type.
    resamples : str
        What is resampled, in words, for the page and the form.
    draws_users, draws_trials : bool
        Whether users are drawn; whether trials are drawn too, or come with their user.
    draws_rows : bool
        Whether trials are drawn with their labels, so that the classes' sizes vary, rather than within each class.
    by_user : bool
        Whether the trials of a user are kept apart from those of others.
    crossed : bool
        Whether a trial is weighted by both of its identities.
    nested : bool
        Whether (U, S) replicates make sense: U draws of users, S of their trials in each.
    calibrated : bool
        Whether `calibrate` knows how to put its interval right, which then is the default.
    preference : int
        The default is the bootstrap with the highest preference among those that suit the data.
    """

    name: str
    resamples: str
    draws_users: bool = False
    draws_trials: bool = False
    draws_rows: bool = False
    by_user: bool = True
    crossed: bool = False
    nested: bool = False
    calibrated: bool = False
    preference: int = 0

    @property
    def whole_users(self) -> bool:
        """Whether users come with all their trials and nothing else is drawn: sums by user are enough."""
        return self.draws_users and not self.draws_trials and not self.crossed

    @property
    def one_level(self) -> bool:
        """Whether one kind of unit is drawn, and nothing within it: what the claim about methods needs."""
        return self.draws_users != self.draws_trials and self.draws_users == self.by_user

    def suits(self, sets: Sequence[ScoreSet], measures: Sequence[Measure] = ()) -> bool:
        """Return whether these sets can have this bootstrap by default, for what is measured on them."""
        return False

    def check(self, scores: ScoreSet) -> None:
        """Raise an error where a set lacks what is drawn."""
        if not scores.has_users:
            raise OptionError(
                f"the {self.name} bootstrap needs the user of each trial, and {scores.source} has none; "
                "read a user column, or choose the sample bootstrap"
            )
        if scores.n_users < 2:
            raise InputError(
                f"{scores.source} has one user only; the {self.name} bootstrap needs two or more, "
                "or choose the sample bootstrap"
            )

    def warnings(self, sets: Sequence[ScoreSet]) -> list[str]:
        """Return warnings about these sets."""
        fewest = min(scores.n_users for scores in sets)
        text = f"only {fewest} users: too few for any interval to be trusted; test more users"
        return [Caution("few-units", text)] if fewest < FEW_USERS else []

    def identities(self, sets: Sequence[Scores], *, shared: bool = False) -> list[Owners]:
        """Return who the trials of each set belong to; with ``shared`` the same codes for the same names."""
        return identify(sets, crossed=self.crossed, shared=shared)

    def share(self, dev: ScoreSet, test: ScoreSet, asked: bool | None) -> tuple[bool, list[str]]:
        """Decide whether one draw of users serves both sets, and say warnings about it."""
        return same_users(dev, test, asked) if self.draws_users else (False, [])

    def spread(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, other: Other = None) -> Spread:
        """Measure how the errors of the test set at these thresholds vary with what is drawn.

        With ``other``, the same trials scored by another system at its own thresholds: how their difference varies.
        """
        return clusters_of(test, thresholds, plan, other=other)

    def calibrate(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, *, other: Other = None) -> Calibration:
        """Measure what the replicates need at these thresholds of the test set, or those of a difference."""
        spread, rate = self.spread(test, thresholds, plan, other), error_rates(test, thresholds)
        freedom, units = spread.joint_freedom(slopes_of(test, rate, plan))
        # Pseudo-users have no weight in the difference of paired systems.
        weight = spread.pseudo if other is None else np.zeros_like(rate)
        return Calibration(rate, np.ones_like(rate), weight, freedom, units, spread)


class _Trials(Bootstrap):
    """Trials as if they were independent, within each class or with their labels."""

    def suits(self, sets: Sequence[ScoreSet], measures: Sequence[Measure] = ()) -> bool:
        return not self.draws_rows or any("prevalence" in measure.depends_on for measure in measures)

    def check(self, scores: ScoreSet) -> None:
        """Any set will do."""

    def warnings(self, sets: Sequence[ScoreSet]) -> list[str]:
        # The number of users of a table would cost a scan. One user cannot be resampled.
        text = "users are known but trials are resampled: the interval is too narrow"
        several = (scores.has_users and (scores.scanned or scores.n_users > 1) for scores in sets)
        return [Caution("users-unused", f"{text}; use {argument('bootstrap', 'user')}")] if any(several) else []

    def spread(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, other: Other = None) -> Spread:
        """Return the spread of independent trials; each is a unit of its own, so no number of errors is too few."""
        rate = error_rates(test, thresholds)
        variance = rate * (1 - rate) / np.array([[test.n_negatives], [test.n_positives]])
        pseudo = np.ones_like(rate)
        if test.unmixed is not test and (mixture := test.load().mixture) is not None:
            variance[0] = mixture.variance(thresholds)
            pseudo[0] = mixture.heaviest  # half an error is that of the kind whose trials weigh most
        sure = np.full_like(rate, np.inf)
        return Spread(rate, variance, sure, sure, 0, pseudo=pseudo, erring=np.where(variance > 0, np.inf, 0.0))


class _Users(Bootstrap):
    """Users, each with all their trials (subset bootstrap)."""

    def suits(self, sets: Sequence[ScoreSet], measures: Sequence[Measure] = ()) -> bool:
        return all(scores.n_users >= 2 for scores in sets)

    def spread(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, other: Other = None) -> Spread:
        if other is None:
            return super().spread(test, thresholds, plan)
        return differences_of(test, thresholds, plan, other)


class _Crossed(Bootstrap):
    """Identities, a trial weighted by both of its own."""

    def suits(self, sets: Sequence[ScoreSet], measures: Sequence[Measure] = ()) -> bool:
        return all(scores.n_users >= 2 for scores in sets) and all(scores.has_identities for scores in sets)

    def left_out(self, sets: Sequence[ScoreSet]) -> list[str]:
        """Return a warning that this bootstrap could not be the default although identities are known."""
        ask = f"use {argument('bootstrap', 'crossed')}"
        warning = f"grouped by claimed user only, not by real identity; {ask}"
        left_out = [scores.source for scores in sets if scores.leaves_out_probes][:1]
        return [Caution("probes-left-out", f"{source}: {warning}") for source in left_out]

    def check(self, scores: ScoreSet) -> None:
        if scores.leaves_out_probes:
            raise OptionError(
                f"{scores.source}: a scan keeps the claimed identity of each trial only; for the crossed bootstrap "
                f"read the trials into memory ({argument('engine', 'memory')}), or choose another bootstrap"
            )
        if not scores.has_identities:
            raise OptionError(
                f"the crossed bootstrap needs both identities of each trial, and {scores.source} does not have them; "
                "read them as user (claimed) and probe_user (real), or choose another bootstrap"
            )
        super().check(scores)

    def calibrate(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, *, other: Other = None) -> Calibration:
        made = super().calibrate(test, thresholds, plan, other=other)
        return replace(made, scale=_crossed_scale(made.spread, made.units))


def _crossed_scale(spread: Spread, units: Floats) -> Floats:
    """Return the factor for identities drawn once and trials weighted by both: their pairs' spread counts thrice.

    By whole numbers of draws c_i of mean and variance 1, trials that share one identity have the covariance of
    their errors times 1, those that share both times 3; it should be 1 both times (Owen 2007).
    """
    shared = np.maximum(spread.by_person - 2 * spread.by_pair, 0.0)
    resampled = shared + 3 * spread.by_pair
    # Never below what independent trials, or the claimed identities alone, would have.
    variance = np.maximum(shared + spread.by_pair, spread.floor)
    # Two people in a trial: more of the variance is lost to the mean than the share that the tails allow for.
    wanted, drawn = variance * (1 - 1 / (units + 1)), resampled * (1 - spread.lost)
    return np.asarray(np.sqrt(np.divide(wanted, drawn, out=np.ones_like(drawn), where=drawn > 0)))


SAMPLE = _Trials(
    name="sample", resamples="trials, within each class", draws_trials=True, by_user=False, calibrated=True
)
ROWS = _Trials(
    name="rows",
    resamples="trials, with their labels (rows of the table)",
    draws_trials=True,
    draws_rows=True,
    by_user=False,
    calibrated=True,
    preference=1,
)
USER = _Users(
    name="user",
    resamples="users, with all their trials (subset bootstrap)",
    draws_users=True,
    calibrated=True,
    preference=2,
)
USER_CONSTRAINED = Bootstrap(
    name="user-constrained", resamples="the trials of each user, within each class", draws_trials=True
)
#: The 2007 paper's (Eq. 13).
JOINT = Bootstrap(
    name="joint",
    resamples="users, then the trials of each drawn user",
    draws_users=True,
    draws_trials=True,
    nested=True,
)
CROSSED = _Crossed(
    name="crossed",
    resamples="identities, a trial weighted by both of its own",
    draws_users=True,
    crossed=True,
    calibrated=True,
    preference=3,
)

#: Every bootstrap by the name people type; a new one is an object, with a class where its rules differ, and its place.
BOOTSTRAPS: dict[str, Bootstrap] = {
    bootstrap.name: bootstrap for bootstrap in (SAMPLE, ROWS, USER, USER_CONSTRAINED, JOINT, CROSSED)
}
