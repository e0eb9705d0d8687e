"""What every bootstrap has: its flags and words, and rules that hold wherever users are kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from priori.base.cautions import Caution
from priori.base.errors import InputError, OptionError
from priori.base.types import Floats
from priori.decisions.measure import Measure
from priori.scores import Scores, ScoreSet
from priori.scores.influence import Spread
from priori.uncertainty.bootstrap.calibration import Calibration, Other, clusters_of
from priori.uncertainty.bootstrap.plans import BootstrapPlan, Identities, identify, identities_in_use, same_users

#: Below this many users the spread between them is hardly known: plain intervals cover less than they say.
FEW_USERS = 20
#: Below this many users any interval is doubtful, calibrated or not.
TOO_FEW_USERS = 10
TOO_FEW = "so few say little about everybody else, whatever the interval"

Trials = int | tuple[int, int]


@dataclass(frozen=True)
class Bootstrap:
    """One way to resample.

    Attributes
    ----------
    name : str
        What people type.
    resamples, choice : str
        What is resampled, in words: for the page, and shorter for the form.
    draws_users, draws_trials : bool
        Whether users are drawn; whether trials are, rather than come along with their user.
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
        Of the bootstraps that suit the data, the one with the highest is the default.
    """

    name: str
    resamples: str
    choice: str
    draws_users: bool = False
    draws_trials: bool = False
    draws_rows: bool = False
    by_user: bool = True
    crossed: bool = False
    nested: bool = False
    calibrated: bool = False
    preference: int = 0

    @property
    def trial_draws(self) -> int:
        """How trials come, as the kernels say it: along with their user (0), drawn within a class (1), as rows (2)."""
        return int(self.draws_trials) + int(self.draws_rows)

    @property
    def whole_users(self) -> bool:
        """Whether users come with all their trials and nothing else is drawn: sums by user are enough."""
        return self.draws_users and not self.draws_trials and not self.crossed

    @property
    def one_level(self) -> bool:
        """Whether one kind of unit is drawn, and nothing within it: what the claim about methods needs."""
        return self.draws_users != self.draws_trials and self.draws_users == self.by_user

    def suits(self, sets: Sequence[ScoreSet], measures: Sequence[Measure] = ()) -> bool:
        """Tell whether these sets can have this bootstrap by default, for what is measured on them."""
        return False

    def left_out(self, sets: Sequence[ScoreSet]) -> list[str]:
        """Return warnings that this bootstrap could not become the default where it might have."""
        return []

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
        if fewest >= TOO_FEW_USERS:
            return []
        return [Caution("few-units", f"only {fewest} users: {TOO_FEW}")]

    def identities(self, sets: Sequence[Scores], *, shared: bool = False) -> list[Identities]:
        """Return who the trials of each set belong to; with ``shared`` the same codes for the same names."""
        return identify(list(sets), crossed=self.crossed, shared=shared)

    def share(self, dev: ScoreSet, test: ScoreSet, asked: bool | None) -> tuple[bool, list[str]]:
        """Decide whether one draw of users serves both sets, and say warnings about it."""
        return same_users(dev, test, asked) if self.draws_users else (False, [])

    def predict(self, plan: BootstrapPlan, test: ScoreSet, users: int | None, trials: Trials | None) -> BootstrapPlan:
        """Add the future test set that a prediction band speaks of; by default one as large as the test set."""
        if trials is not None:
            raise OptionError(
                f"future_trials does not go with the {self.name} bootstrap; give future_users, or choose user"
            )
        now = identities_in_use(test, crossed=self.crossed)
        future = now if users is None else users
        return replace(plan, future=(future, 0, 0), growth=self.growth(future / now))

    def growth(self, ratio: float) -> tuple[float, float]:
        """Return how many times as many negatives and positives so many times as many users have."""
        return ratio, ratio

    def spread(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan) -> Spread:
        """Measure how the errors of the test set vary with what is drawn."""
        return clusters_of(test, thresholds, plan)

    def calibrate(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, *, other: Other = None) -> Calibration:
        """Measure what the replicates need at these thresholds of the test set.

        With ``other``, the same trials scored by another system at its own thresholds: what their difference needs.
        """
        raise NotImplementedError(f"the {self.name} bootstrap is not calibrated")


def future_sizes(trials: Trials | None, test: ScoreSet, ratio: float) -> tuple[tuple[int, int], tuple[float, float]]:
    """Return the negatives and positives of a future set, and how many times as many as now they are.

    A single number is shared out as they are now.
    """
    sizes = (test.n_negatives, test.n_positives)
    if trials is None:
        negatives, positives = (round(size * ratio) for size in sizes)
    else:
        pair = trials if isinstance(trials, (tuple, list)) else [trials * size / sum(sizes) for size in sizes]
        negatives, positives = (round(number) for number in pair)
        if min(negatives, positives) < 1:
            classes = f"{negatives} negatives, {positives} positives"
            raise OptionError(f"future_trials leaves a class without trials ({classes})")
    return (negatives, positives), (negatives / sizes[0], positives / sizes[1])
