"""User rates: who makes the errors. Each user's own rates in each role, and whether users differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from priori.base.above import Plotted
from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Level, Size
from priori.base.errors import InputError, unknown
from priori.base.limits import FEW_USERS, check_level
from priori.base.results import Result
from priori.base.types import Codes, Floats, Ints, Mask, Texts
from priori.decisions.outcomes import as_threshold
from priori.scores import Scores, ScoreSet, condense
from priori.scores.labels import no_people, unknown_impostors
from priori.uncertainty.rates.rate_intervals import Rate, judge, only_scores

UserRole = Literal["genuine", "claimed", "impostor"]
#: The rate of a user in each role, and what its trials are.
ROLES: dict[UserRole, tuple[Rate, str]] = {
    "genuine": ("frr", "the user's own positives"),
    "claimed": ("far", "negatives under the user's name"),
    "impostor": ("far", "negatives in which the user claims to be somebody else"),
}


class RoleTest(TypedDict):
    """Whether users differ in one role; what each value is: `UserRates`."""

    role: UserRole
    rate: str
    users: Size
    above: Size
    overall: float
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class UserRates(Result, Plotted):
    """Each user's own error rates at a threshold fixed in advance: one row per user and role. Made by `user_rates`.

    Attributes
    ----------
    user, role : ndarray
        A row is a user in one of three roles: ``genuine`` (the FRR of his own genuine trials), ``claimed`` (the FAR of
        impostor trials against him) or ``impostor`` (the FAR of his own attempts, where both identities are known).
    errors, trials, rate, lower, upper : ndarray
        What was counted, and Wilson's interval of his own rate.
    above : ndarray
        Whether his rate is surely above that of all users together: by intervals that hold for all of them (Sidak).
    roles : tuple of dict
        For each role: the users, how many are ``above``, the ``overall`` rate, the p-value of users that err alike.
    warnings : tuple of str
        Warnings about it.
    """

    user: Texts
    role: Texts
    errors: Ints
    trials: Ints
    rate: Floats
    lower: Floats
    upper: Floats
    above: Mask
    roles: tuple[RoleTest, ...]
    threshold: float
    confidence_level: Level
    warnings: Cautions = ()

    def of_role(self, role: UserRole, most: int | None = None) -> dict[str, NDArray[Any]]:
        """Return the rows of one role, highest lower bound first (by the lower bound); ``most`` of them."""
        if role not in ROLES:
            raise unknown("role", role, ROLES)
        rows = np.flatnonzero(self.role == role)
        rows = rows[np.lexsort((-self.rate[rows], -self.lower[rows]))][:most]
        return {name: column[rows] for name, column in self.columns().items()}


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
    A user's own few trials say little: of many users the one with the highest rate is mostly unlucky. So users are
    ordered by the lower bounds of their rates.

    The p-value is of users that err alike: the chi-square statistic of equal rates, as a gamma variable with its exact
    mean and variance over all permutations of the errors. It takes a user's trials for independent: where both
    identities matter it is right for ``claimed`` as long as everybody is attacked by about the same people.

    Examples
    --------
    >>> import priori, priori.examples
    >>> dev, test = priori.examples.load("faces").systems["correlation"]
    >>> found = priori.user_rates(test, priori.choose_threshold(dev, alpha=0.5))
    >>> [f"{each['role']}: {each['above']} of {each['users']} users" for each in found.roles]
    ['genuine: 1 of 15 users', 'claimed: 3 of 15 users', 'impostor: 2 of 15 users']
    >>> worst = found.of_role("genuine", 1)
    >>> f"{worst['user'][0]}: {worst['errors'][0]} of {worst['trials'][0]}, at least {worst['lower'][0]:.2f}"
    's35: 5 of 7, at least 0.36'
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
    lower, upper = found.limits(level)
    overall = float(found.errors.sum() / found.trials.sum())
    columns = {
        "user": known.users.values[present].astype(str),
        "role": np.full(present.size, role),
        "errors": found.errors,
        "trials": found.trials,
        "rate": found.rate,
        "lower": lower,
        "upper": upper,
        "above": found.limits(level ** (1 / present.size))[0] > overall,
    }
    return columns, {
        "role": role,
        "rate": rate,
        "users": present.size,
        "above": int(columns["above"].sum()),
        "overall": overall,
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
