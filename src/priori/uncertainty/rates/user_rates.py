"""User rates: who makes the errors. Each user's own rates, shrunken, in each role, and whether users differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from priori.base.above import above
from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Level, Size
from priori.base.errors import InputError, unknown
from priori.base.results import Result
from priori.base.types import Codes, Floats, Index, Ints, Mask, Texts
from priori.decisions.outcomes import as_threshold
from priori.scores import Scores, ScoreSet, condense
from priori.scores.labels import no_people, unknown_impostors
from priori.uncertainty.rates.proportions import check_level
from priori.uncertainty.rates.rate_intervals import Rate, judge, only_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UserRole = Literal["genuine", "claimed", "impostor"]
#: The rate of a user in each role, and what its trials are.
ROLES: dict[UserRole, tuple[Rate, str]] = {
    "genuine": ("frr", "the user's own positives"),
    "claimed": ("far", "negatives under the user's name"),
    "impostor": ("far", "negatives in which the user claims to be somebody else"),
}
#: With fewer users nothing is known of how they differ.
FEW_USERS = 10


class RoleTest(TypedDict):
    """Whether users differ in one role; what each value is: `UserRates`."""

    role: UserRole
    rate: str
    users: Size
    above: Size
    overall: float
    correlation: float
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class UserRates(Result):
    """Each user's own error rates at a threshold fixed in advance: one row per user and role. Made by `user_rates`.

    Attributes
    ----------
    user, role : ndarray
        A row is a user in one of three roles: ``genuine`` (the FRR of their genuine trials), ``claimed`` (the FAR of
        impostor trials against them) or ``impostor`` (the FAR of their attempts, where both identities are known).
    errors, trials, rate : ndarray
        What was counted.
    shrunken, lower, upper : ndarray
        The rate shrunken towards everybody's, and the interval of the user's rate (`BetaBinomial`).
    above : ndarray
        Whether his interval lies above the rate of all users together.
    roles : tuple of dict
        For each role: the users, how many are ``above``, the ``overall`` rate, the ``correlation`` of two errors of a
        user, the p-value of users that err alike.
    warnings : tuple of str
        Warnings about it.
    """

    user: Texts
    role: Texts
    errors: Ints
    trials: Ints
    rate: Floats
    shrunken: Floats
    lower: Floats
    upper: Floats
    above: Mask
    roles: tuple[RoleTest, ...]
    threshold: float
    confidence_level: Level
    warnings: Cautions = ()

    def of_role(self, role: UserRole, most: int | None = None) -> dict[str, NDArray[Any]]:
        """Return the rows of one role, the highest shrunken rate first; ``most`` of them."""
        if role not in ROLES:
            raise unknown("role", role, ROLES)
        rows = np.flatnonzero(self.role == role)
        rows = rows[np.lexsort((-self.trials[rows], -self.shrunken[rows]))][:most]
        return {name: column[rows] for name, column in self.columns().items()}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the users' rates with their intervals, role by role, the highest first; returns the axes."""
        return above(self, "plot")(self, ax=ax)


def user_rates(scores: ScoreSet, threshold: float, *, confidence_level: float = 0.95) -> UserRates:
    """Return who makes the errors at a threshold fixed in advance: each user's own rates, and whether users differ.

    Parameters
    ----------
    scores : Scores
        The test scores, with users; rates of users as impostors need both identities (``user`` and ``probe_user``).
    threshold : float
        Accept when score > threshold.
    confidence_level : float
        That of the interval of each user's own rate, on average over users.

    Notes
    -----
    A user's own few trials say little: of many users the one with the highest rate is mostly unlucky. Shrunken rates
    draw each towards the rate of all, the more the fewer trials he has and the less users differ.

    The p-value is of users that err alike: the chi-square statistic of equal rates, as a gamma variable with its exact
    mean and variance over all permutations of the errors. It takes a user's trials for independent: where both
    identities matter it is right for ``claimed`` as long as everybody is attacked by about the same people.

    Examples
    --------
    >>> import priori, priori.examples
    >>> dev, test = priori.examples.load("faces").systems["correlation"]
    >>> found = priori.user_rates(test, priori.choose_threshold(dev, alpha=0.5))
    >>> [f"{each['role']}: {each['above']} of {each['users']} users" for each in found.roles]
    ['genuine: 1 of 15 users', 'claimed: 3 of 15 users', 'impostor: 3 of 15 users']
    >>> worst = found.of_role("genuine", 1)
    >>> f"{worst['user'][0]}: {worst['errors'][0]} of {worst['trials'][0]}, shrunken to {worst['shrunken'][0]:.2f}"
    's35: 5 of 7, shrunken to 0.60'
    """
    level, threshold = check_level(confidence_level), as_threshold(threshold)
    known = only_scores(scores)
    if not known.has_users:
        raise InputError(f"{known.source}: the users of the trials are not known; read a user column")
    parts, notes = _by_role(known, threshold, level)
    columns = {name: np.concatenate([part[name] for part, _ in parts]) for name in parts[0][0]}
    roles = tuple(role for _, role in parts)
    few = min(role["users"] for role in roles)
    warnings: tuple[str, ...] = notes
    if few < FEW_USERS:
        warnings = (Caution("few-units", f"only {few} users: too few to tell whether users differ"), *notes)
    found = UserRates(**columns, roles=roles, threshold=threshold, confidence_level=level, warnings=warnings)
    return found._came_from(known)


#: The columns of users in one role, and whether they differ.
_Role = tuple[dict[str, NDArray[Any]], RoleTest]


def _by_role(scores: ScoreSet, threshold: float, level: float) -> tuple[list[_Role], tuple[str, ...]]:
    """Return the rates of users in each role that trials have, and what to say of the trials."""
    known, notes = condense(scores, ("user",), cuts=[threshold])
    roles = [
        _of_role("genuine", known, known.positive.user, threshold, level),
        _of_role("claimed", known, known.negative.user, threshold, level),
    ]
    if scores.has_identities or scores.leaves_out_probes:
        known, _ = condense(scores, ("probe_user",), cuts=[threshold])
        owner = known.negative.partner if known.has_users else _people(known, scores)
        if owner is not None:
            roles.append(_of_role("impostor", known, owner, threshold, level))
        if known.nobody:
            notes = (*notes, unknown_impostors(known.nobody))
    return roles, notes


def _of_role(role: UserRole, known: Scores, owner: Codes | None, threshold: float, level: float) -> _Role:
    """Return the rates of the users who own the trials of one role; an owner of -1 is nobody."""
    assert known.users is not None
    assert owner is not None
    rate = ROLES[role][0]
    present, user = np.unique(owner[owner >= 0], return_inverse=True)
    found = judge(known, threshold, rate).only(owner >= 0).counted("none", user, present.size)
    errors, trials = found.errors.astype(np.float64), found.trials.astype(np.float64)
    fitted = fit_beta_binomial(errors, trials)
    shrunken, lower, upper = fitted.rates(errors, trials, level)
    overall = float(errors.sum() / trials.sum())
    columns = {
        "user": known.users.values[present].astype(str),
        "role": np.full(present.size, role),
        "errors": found.errors,
        "trials": found.trials,
        "rate": found.rate,
        "shrunken": shrunken,
        "lower": lower,
        "upper": upper,
        "above": lower > overall,
    }
    return columns, {
        "role": role,
        "rate": rate,
        "users": present.size,
        "above": int(columns["above"].sum()),
        "overall": overall,
        "correlation": fitted.correlation,
        "p_value": alike(found.errors, found.trials),
    }


def _people(probed: Scores, scores: ScoreSet) -> Codes:
    """Return who was really there, -1 where it is no person, where entries tell of nobody else."""
    assert probed.users is not None
    assert scores.users is not None
    assert probed.negative.probe_user is not None
    names, probe = probed.users.values, probed.negative.probe_user
    claimed = np.flatnonzero(np.isin(names.astype(str), scores.users.values.astype(str)))
    return np.where(np.isin(probe, no_people(names, probe, claimed, probed.negative.number)), np.int32(-1), probe)


def alike(errors: Ints, trials: Ints) -> float:
    """Return the p-value of users that err alike: how often errors that fall on any trial are spread as unevenly.

    The chi-square statistic has a known mean and variance over all permutations of the errors; a gamma variable with
    both stands for it. J. B. S. Haldane, "The mean and variance of chi-squared, when used as a test of homogeneity,
    when expectations are small", Biometrika 31, 1940.
    """
    from scipy.special import gammaincc

    n, wrong, users = float(trials.sum()), float(errors.sum()), errors.size
    if users < 2 or not 0 < wrong < n or n < 4:
        return 1.0
    statistic = n**2 / (wrong * (n - wrong)) * (float((errors**2 / trials).sum()) - wrong**2 / n)
    mean = n / (n - 1) * (users - 1)
    uneven = float((n / trials).sum() - users**2) / (n - 2)
    rare = (n / wrong + n / (n - wrong) - 4) / (n - 2)
    rows, columns = (users - 1) * (n - users) / (n - 1), (n - 2) / (n - 1)
    variance = 2 * n / (n - 3) * (rows - uneven) * (columns - rare) + n**2 / (n - 1) * uneven * rare
    return float(gammaincc(mean**2 / variance, statistic * mean / variance)) if variance > 0 else 1.0


# -- beta-binomial rates ---------------------------------------------------------------------------------------------

#: Points of the grid along either of its axes, and how often it is drawn closer.
POINTS, ZOOMS = 13, 6
#: Points whose weight is less than this share of the largest are left out.
LEAST = 1e-4
#: Steps to a quantile: after 12 all that are above 1e-6 are found to the last digits.
STEPS = 12
#: Numbers held at once.
AT_A_TIME = 1 << 20


@dataclass(frozen=True, eq=False)
class BetaBinomial:
    """Users' own rates, drawn towards everybody's as far as chance alone would spread them.

    The errors of user i are binomial with a rate of their own, the rates of users a beta distribution with mean m and
    concentration k (as many trials as the mean counts for): given both, his rate is Beta(k m + x, k (1 - m) + n - x).
    Neither is known; both are averaged over by their posterior, on a grid whose points and weights these are: the mean
    is uniform beforehand, and so is 1 / (1 + k), the correlation of two errors of a user. So the intervals allow for
    how little is known of either, which plugging in one estimate would not (C. Morris, "Parametric empirical Bayes
    inference", JASA 78, 1983). No upper limit is below what as many trials as all users have would show without an
    error.
    """

    mean: Floats
    concentration: Floats
    weight: Floats

    @property
    def overall(self) -> float:
        """The expected mean."""
        return float(self.weight @ self.mean)

    @property
    def correlation(self) -> float:
        """The expected correlation of two errors of one user, 1 / (1 + k): 0 where users do not differ."""
        return float(self.weight @ (1 / (1 + self.concentration)))

    def rates(self, errors: Floats, trials: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Return the shrunken rate of each user, and the interval that holds the user's rate with this probability."""
        pairs, user = np.unique(np.stack([errors, trials]), axis=1, return_inverse=True)
        step = max(1, AT_A_TIME // self.weight.size)
        parts = [self._of_pairs(pairs[:, start : start + step], level) for start in range(0, pairs.shape[1], step)]
        shrunken, lower, upper = np.concatenate(parts, axis=1)
        upper = np.maximum(upper, -np.log((1 - level) / 2) / trials.sum())
        # Who made no error, or nothing but errors, may have a rate of 0, or 1.
        lower, upper = np.where(pairs[0] == 0, 0.0, lower), np.where(pairs[0] == pairs[1], 1.0, upper)
        user = np.ravel(user)
        return shrunken[user], lower[user], upper[user]

    def _of_pairs(self, pairs: Floats, level: float) -> Floats:
        a = self.mean * self.concentration + pairs[0][:, None]
        b = (1 - self.mean) * self.concentration + (pairs[1] - pairs[0])[:, None]
        tails = [_quantile(a, b, self.weight, tail) for tail in ((1 - level) / 2, (1 + level) / 2)]
        return np.stack([(a / (a + b)) @ self.weight, *tails])


def _quantile(a: Floats, b: Floats, weight: Floats, share: float) -> Floats:
    """Return a quantile of each row's mixture of beta distributions.

    Newton's steps, none past half the way to 0 or 1, from that of the beta distribution with its mean and variance.
    """
    from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy

    each = a / (a + b)
    mean = each @ weight
    variance = (each * (1 - each) / (a + b + 1) + (each - mean[:, None]) ** 2) @ weight
    size = mean * (1 - mean) / variance - 1
    found, constant = betaincinv(mean * size, (1 - mean) * size, share), betaln(a, b)
    for _ in range(STEPS):
        x = found[:, None]
        missing = share - betainc(a, b, x) @ weight
        with np.errstate(over="ignore"):
            density = np.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - constant) @ weight
        found = np.clip(found + missing / np.maximum(density, 1e-300), found / 2, (1 + found) / 2)
    return np.asarray(found)


def fit_beta_binomial(errors: Floats, trials: Floats) -> BetaBinomial:
    """Return the posterior of the distribution of users' rates, given their errors.

    Examples
    --------
    >>> import numpy as np
    >>> fitted = fit_beta_binomial(np.array([0.0, 1, 0, 9, 2, 0, 1, 0]), np.full(8, 20.0))
    >>> print(f"{fitted.overall:.3f} {fitted.correlation:.2f}")
    0.141 0.36
    """
    counted = [np.unique(values, return_counts=True) for values in (errors, trials - errors, trials)]
    box = np.array([[-16.0, 16.0], [-7.0, 14.0]])  # of the logit of the mean, of the logarithm of the concentration
    for _ in range(ZOOMS):
        axes = [np.linspace(low, high, POINTS) for low, high in box]
        logit, log_k = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
        density = _log_posterior(logit, log_k, counted)
        kept: Index = np.flatnonzero(density > density.max() + np.log(LEAST))
        limits = np.array([[values[kept].min(), values[kept].max()] for values in (logit, log_k)])
        step = (box[:, 1] - box[:, 0]) / (POINTS - 1)
        box = np.clip(limits + step[:, None] * [-1, 1], box[:, :1], box[:, 1:])
    weight = np.exp(density[kept] - density.max())
    mean = 1 / (1 + np.exp(-logit[kept]))
    return BetaBinomial(mean, np.exp(log_k[kept]), weight / weight.sum())


def _log_posterior(logit: Floats, log_k: Floats, counted: list[tuple[Floats, Index]]) -> Floats:
    """Return the logarithm of the posterior density, on the scales of the grid, up to a constant.

    What is counted are the different numbers of errors, of trials without one and of trials, and how many users have
    each: B(a + x, b + y) / B(a, b) falls into a factor of each.
    """
    from scipy.special import gammaln, log_expit

    mean_log, rest_log = log_expit(logit), log_expit(-logit)
    a, b = np.exp(mean_log + log_k), np.exp(rest_log + log_k)
    # A uniform mean and a uniform 1 / (1 + k), turned into densities of the logit and of log k.
    prior = mean_log + rest_log + log_k - 2 * np.logaddexp(0.0, log_k)
    wrong, right, both = (
        users @ (gammaln(size + number[:, None]) - gammaln(size))
        for size, (number, users) in zip((a, b, np.exp(log_k)), counted, strict=True)
    )
    return np.asarray(prior + wrong + right - both)
