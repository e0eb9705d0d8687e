"""User rates: who makes the errors. Each user's own rates, shrunken, and the zoo: goats, lambs and wolves.

G. Doddington, W. Liggett, A. Martin, M. Przybocki and D. Reynolds, "Sheep, goats, lambs and wolves: a statistical
analysis of speaker performance", ICSLP 1998: goats are hard to recognise, lambs are easily imitated, wolves imitate
well, sheep are the rest. N. Yager and T. Dunstone, "The biometric menagerie", IEEE PAMI 32, 2010: chameleons score high
and phantoms low whoever is there, doves are the best of all and worms the worst.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from priori.base.above import above
from priori.base.cautions import Caution
from priori.base.errors import InputError, unknown
from priori.base.layouts import CAUTIONS, LEVEL, NUMBER, SIZE, TEXT, Layout, choice, listed, of, record
from priori.base.results import Result
from priori.base.saved import Saved
from priori.base.types import Codes, Floats, Index, Ints, Mask
from priori.decisions.outcomes import as_threshold
from priori.scores import BOUND, Scores, ScoreSet, Trials, condense
from priori.scores.inputs import as_score_set
from priori.scores.people import no_people, unknown_impostors
from priori.uncertainty.rates.beta_binomial import fit_beta_binomial
from priori.uncertainty.rates.proportions import check_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["goat", "lamb", "wolf"]
Animal = Literal["chameleon", "phantom", "dove", "worm"]
#: The rate of each kind, what its trials are, and several of it.
KINDS: dict[Kind, tuple[str, str, str]] = {
    "goat": ("frr", "the user's own genuine trials", "goats"),
    "lamb": ("far", "impostor trials in which somebody claims to be the user", "lambs"),
    "wolf": ("far", "impostor trials in which the user claims to be somebody else", "wolves"),
}
#: Of each animal, whether its genuine and its impostor scores are among the highest quarter (or the lowest).
ANIMALS: dict[Animal, tuple[bool, bool]] = {
    "chameleon": (True, True),
    "phantom": (False, False),
    "dove": (True, False),
    "worm": (False, True),
}
#: With fewer users nothing can be told of how they differ.
FEW_USERS = 10
#: Permutations of the test that users err alike; of more users than this the permuted statistic is as good as gamma.
PERMUTATIONS, MANY_USERS = 1999, 8000
#: Numbers drawn at a time.
AT_A_TIME = 1 << 20

_TEST = record(
    {
        "kind": choice(*KINDS),
        "rate": TEXT,
        **of(SIZE, "users found"),
        **of(NUMBER, "overall correlation"),
        **of(NUMBER, "statistic freedom p_scores p_errors"),
    }
)
_ANIMAL = record({"animal": choice(*ANIMALS), "found": SIZE, **of(NUMBER, "expected p_value")})


@dataclass(frozen=True, eq=False, repr=False)
class UserRates(Result):
    """Each user's own error rates at one threshold. Made by `user_rates`.

    Attributes
    ----------
    user, kind : ndarray
        A row is a user in one of three roles: what would make him a ``goat`` (the FRR of his genuine trials), a
        ``lamb`` (the FAR against him) or a ``wolf`` (the FAR of his own attempts, where both identities are known).
    errors, trials, rate : ndarray
        What was counted.
    shrunken, lower, upper : ndarray
        The rate drawn towards everybody's, and the interval of his own rate (`priori.uncertainty.rates.beta_binomial`).
    found : ndarray
        Whether he is one: his interval lies above the rate of all users together. A user who is none is a sheep.
    mean_score : ndarray
        The mean of the finite scores of these trials.
    tests : tuple of dict
        For each kind: the users, how many were ``found``, the ``overall`` rate, the ``correlation`` of two errors of
        a user; the Kruskal-Wallis ``statistic`` of the scores, its degrees of ``freedom`` and p-value (``p_scores``);
        the p-value of users that err alike (``p_errors``).
    warnings : tuple of str
        Warnings about it.
    """

    user: NDArray[Any]
    kind: NDArray[Any]
    errors: Ints
    trials: Ints
    rate: Floats
    shrunken: Floats
    lower: Floats
    upper: Floats
    found: Mask
    mean_score: Floats
    tests: tuple[dict[str, Any], ...]
    threshold: float
    confidence_level: float
    warnings: tuple[str, ...] = ()

    _layout = Layout(
        "Each user's own error rates at a threshold fixed in advance: one row per user and role.",
        {**of("text", "user kind"), **of("integer", "errors trials"), **of("number", "rate shrunken lower upper")}
        | {"found": "boolean", "mean_score": "number"},
        {"tests": listed(_TEST), "animals": listed(_ANIMAL), "threshold": NUMBER, "confidence_level": LEVEL}
        | {"warnings": CAUTIONS},
        descriptions={
            "animals": "Users whose genuine and impostor scores are both extreme, by kind, and what chance would give.",
            "found": "Whether the user is of the kind: the interval lies above the rate of all users together.",
            "kind": "What a high rate in this role makes of a user.",
            "mean_score": "The mean of the finite scores of the trials.",
            "rate": "The user's rate.",
            "shrunken": "The rate drawn towards everybody's (beta-binomial).",
            "tests": "Whether users differ, by kind.",
        },
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        return super()._from_parts(saved, tests=tuple(saved["tests"]), animals=tuple(saved["animals"]), **known)

    def of_kind(self, kind: Kind, most: int | None = None) -> dict[str, NDArray[Any]]:
        """Return the rows of one role, the highest shrunken rate first; ``most`` of them."""
        if kind not in KINDS:
            raise unknown("kind", kind, KINDS)
        rows = np.flatnonzero(self.kind == kind)
        rows = rows[np.lexsort((-self.trials[rows], -self.shrunken[rows]))][:most]
        return {name: column[rows] for name, column in self.columns().items()}

    @cached_property
    def animals(self) -> tuple[dict[str, Any], ...]:
        """How many users are chameleons, phantoms, doves and worms, beside chance (Yager and Dunstone)."""
        genuine, impostor, _ = self.means()
        extremes = [[_extreme(scores, high=high) for high in (False, True)] for scores in (genuine, impostor)]
        counted = []
        for animal, (high_genuine, high_impostor) in ANIMALS.items():
            first, second = extremes[0][high_genuine], extremes[1][high_impostor]
            found, total = int((first & second).sum()), genuine.size
            sizes = int(first.sum()), int(second.sum())
            p_value = at_least(found, total, *sizes) if total else 1.0
            expected = sizes[0] * sizes[1] / total if total else 0.0
            counted.append({"animal": animal, "found": found, "expected": expected, "p_value": p_value})
        return tuple(counted)

    def means(self) -> tuple[Floats, Floats, NDArray[Any]]:
        """Return the mean genuine and impostor score of the users that have both, and their names."""
        names, user = np.unique(self.user, return_inverse=True)
        role = {kind: np.flatnonzero(self.kind == kind) for kind in KINDS}
        genuine = np.full(names.size, np.nan)
        genuine[user[role["goat"]]] = self.mean_score[role["goat"]]
        rows = np.concatenate([role["lamb"], role["wolf"]])
        weight = np.bincount(user[rows], self.trials[rows], names.size)
        total = np.bincount(user[rows], self.trials[rows] * self.mean_score[rows], names.size)
        impostor = np.divide(total, weight, out=np.full(names.size, np.nan), where=weight > 0)
        usable = np.isfinite(genuine) & np.isfinite(impostor)
        return genuine[usable], impostor[usable], names[usable].astype(object)

    def quarters(self) -> tuple[Floats, Floats]:
        """Return the first and third quartile of the mean genuine scores, and of the mean impostor scores."""
        genuine, impostor, _ = self.means()
        if not genuine.size:
            return genuine, impostor
        return np.quantile(genuine, [0.25, 0.75]), np.quantile(impostor, [0.25, 0.75])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the zoo plot: users by their mean genuine and impostor scores; returns the axes."""
        return above(self, "plot")(self, ax=ax)


def user_rates(
    scores: ScoreSet, threshold: float, *, confidence_level: float = 0.95, rng: int | np.random.Generator = 0
) -> UserRates:
    """Return who makes the errors at a threshold fixed in advance: each user's own rates, and whether users differ.

    Parameters
    ----------
    scores : Scores
        The test scores, with users; wolves need both identities (``user`` and ``probe_user``).
    threshold : float
        Accept when score > threshold.
    confidence_level : float
        That of the interval of each user's own rate, on average over users.
    rng : int or Generator
        Seed of the permutations.

    Notes
    -----
    A user's own few trials say little: of many users the one with the highest rate is mostly unlucky. Shrunken rates
    draw each towards the rate of all, the more the fewer trials he has and the less users differ.

    Two tests say whether users differ at all. Kruskal and Wallis's is of their scores, whatever the threshold, as in
    the paper of 1998. The other is of their errors: the chi-square statistic of equal rates among permutations of the
    errors over the trials; of more than 8,000 users, from their exact mean and variance. Both take a user's trials for
    independent: where both identities matter, a test of lambs is right as long as everybody is attacked by about the
    same people.

    Examples
    --------
    >>> import priori
    >>> from priori.studies.simulation import population
    >>> found = priori.user_rates(population(60, 9, 20, user_effect_sd=0.8, rng=1), 1.25)
    >>> [f"{test['found']} of {test['users']} {test['kind']}s" for test in found.tests]
    ['4 of 60 goats', '8 of 60 lambs']
    >>> worst = found.of_kind("goat", 1)
    >>> f"{worst['user'][0]}: {worst['errors'][0]} of {worst['trials'][0]}, shrunken to {worst['shrunken'][0]:.2f}"
    'u41: 5 of 9, shrunken to 0.40'
    """
    level, threshold = check_level(confidence_level), as_threshold(threshold)
    refusal = InputError(f"the scores must be Scores (priori.read, Scores.from_...), not {type(scores).__name__}")
    known = as_score_set(scores, refusal)
    if not known.has_users:
        raise InputError(f"{known.source}: the users of the trials are not known; read a user column")
    roles, notes = _roles(known, threshold)
    draw = np.random.default_rng(rng)
    parts = [role.judged(level, draw) for role in roles]
    columns = {name: np.concatenate([part[name] for part, _ in parts]) for name in parts[0][0]}
    tests = tuple(test for _, test in parts)
    few = min(test["users"] for test in tests)
    warnings: tuple[str, ...] = notes
    if few < FEW_USERS:
        warnings = (Caution("few-units", f"only {few} users: nothing can be told of how users differ"), *notes)
    return UserRates(**columns, tests=tests, threshold=threshold, confidence_level=level, warnings=warnings)._came_from(
        known
    )


class _Role(NamedTuple):
    """The trials of one role: whose they are, which are errors."""

    kind: Kind
    names: NDArray[Any]
    owner: Codes
    trials: Trials
    wrong: Mask

    def judged(self, level: float, rng: np.random.Generator) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the columns of the users' rates, and the tests."""
        names = self.names
        times = np.ones(self.owner.size, dtype=np.int64) if self.trials.number is None else self.trials.number
        trials = np.bincount(self.owner, times, len(names)).astype(np.int64)
        present = np.flatnonzero(trials)
        trials = trials[present]
        errors = np.bincount(self.owner, times * self.wrong, len(names)).astype(np.int64)[present]
        fitted = fit_beta_binomial(errors.astype(np.float64), trials.astype(np.float64))
        shrunken, lower, upper = fitted.rates(errors.astype(np.float64), trials.astype(np.float64), level)
        overall = float(errors.sum() / trials.sum())
        found = lower > overall
        statistic, freedom, p_scores = kruskal_wallis(self.trials.score, self.owner, self.trials.number)
        test = {
            "kind": self.kind,
            "rate": KINDS[self.kind][0],
            "users": present.size,
            "found": int(found.sum()),
            "overall": overall,
            "correlation": fitted.correlation,
            "statistic": statistic,
            "freedom": freedom,
            "p_scores": p_scores,
            "p_errors": alike(errors, trials, rng),
        }
        columns = {
            "user": names[present].astype(str),
            "kind": np.full(present.size, self.kind),
            "errors": errors,
            "trials": trials,
            "rate": errors / trials,
            "shrunken": shrunken,
            "lower": lower,
            "upper": upper,
            "found": found,
            "mean_score": self._means(times, len(names))[present],
        }
        return columns, test

    def _means(self, times: Ints, users: int) -> Floats:
        finite = np.isfinite(self.trials.score)
        owner, times = self.owner[finite], times[finite]
        number = np.bincount(owner, times, users)
        total = np.bincount(owner, self.trials.score[finite] * times, users)
        return np.asarray(np.divide(total, number, out=np.full(users, np.nan), where=number > 0))


def _roles(scores: ScoreSet, threshold: float) -> tuple[list[_Role], tuple[str, ...]]:
    """Return the roles that trials have, each counted by the identity that it is about, and what to say of that."""
    known, notes = condense(scores, ("user",), cuts=[threshold], narrow=BOUND)
    negative, positive = known.negative, known.positive
    assert known.users is not None
    assert negative.user is not None
    assert positive.user is not None
    roles = [
        _Role("goat", known.users.values, positive.user, positive, positive.score <= threshold),
        _Role("lamb", known.users.values, negative.user, negative, negative.score > threshold),
    ]
    if scores.has_identities or scores.leaves_out_probes:
        known, _ = condense(scores, ("probe_user",), cuts=[threshold], narrow=BOUND)
        assert known.users is not None
        owner = known.negative.partner if known.has_users else _people(known, scores)
        if owner is not None:
            there = np.flatnonzero(owner >= 0)
            negative = known.negative.take(there)
            roles.append(_Role("wolf", known.users.values, owner[there], negative, negative.score > threshold))
        if known.nobody:
            notes = (*notes, unknown_impostors(known.nobody))
    return roles, notes


def _people(probed: Scores, scores: ScoreSet) -> Codes:
    """Return who was really there, -1 where it is no person, where entries tell of nobody else."""
    assert probed.users is not None
    assert scores.users is not None
    assert probed.negative.probe_user is not None
    names, probe = probed.users.values, probed.negative.probe_user
    claimed = np.flatnonzero(np.isin(names.astype(str), scores.users.values.astype(str)))
    return np.where(np.isin(probe, no_people(names, probe, claimed, probed.negative.number)), np.int32(-1), probe)


# -- tests ---------------------------------------------------------------------------------------------------------


def kruskal_wallis(scores: Floats, owner: Codes, number: NDArray[Any] | None = None) -> tuple[float, float, float]:
    """Return the Kruskal-Wallis statistic of scores by owner, its degrees of freedom and its p-value.

    Examples
    --------
    >>> import numpy as np
    >>> statistic, freedom, p_value = kruskal_wallis(np.array([1.0, 2, 3, 4, 5, 6]), np.array([0, 0, 0, 1, 1, 1]))
    >>> f"{statistic:.4f} {freedom:.0f} {p_value:.4f}"
    '3.8571 1 0.0495'
    """
    from scipy.special import chdtrc

    weight = np.ones(scores.size, dtype=np.int64) if number is None else number
    values, place = np.unique(scores, return_inverse=True)
    times = np.bincount(np.ravel(place), weight).astype(np.int64)
    n, number = int(weight.sum()), np.bincount(owner, weight)
    last = np.cumsum(times)
    ranks = ((last - times + 1 + last) / 2)[np.ravel(place)]
    owners = int(np.count_nonzero(number))
    spread = (n**3 - n - float((times.astype(np.float64) ** 3 - times).sum())) / 12
    if owners < 2 or spread == 0 or values.size < 2:
        return 0.0, float(owners - 1), 1.0
    off = np.bincount(owner, weight * (ranks - (n + 1) / 2))[number > 0]
    statistic = float((off**2 / number[number > 0]).sum()) * (n - 1) / spread
    return statistic, float(owners - 1), float(chdtrc(owners - 1, statistic))


def alike(errors: Ints, trials: Ints, rng: np.random.Generator) -> float:
    """Return the p-value of users that err alike: how often errors that fall on any trial are spread as unevenly."""
    total = int(errors.sum())
    if errors.size < 2 or not 0 < total < trials.sum():
        return 1.0
    # With the sum fixed, the chi-square statistic is a rising function of the sum of x^2 / n.
    observed = float((errors**2 / trials).sum()) * (1 - 1e-12)
    if errors.size > MANY_USERS:
        return _alike_by_moments(errors, trials)
    step, uneven = max(1, AT_A_TIME // errors.size), 0
    for start in range(0, PERMUTATIONS, step):
        rows = min(step, PERMUTATIONS - start)
        drawn = rng.multivariate_hypergeometric(trials, total, size=rows, method="marginals")
        uneven += int(((drawn**2 / trials).sum(axis=1) >= observed).sum())
    return (1 + uneven) / (1 + PERMUTATIONS)


def _alike_by_moments(errors: Ints, trials: Ints) -> float:
    """Return the same from the exact mean and variance of the chi-square statistic over all permutations.

    J. B. S. Haldane, "The mean and variance of chi-squared, when used as a test of homogeneity, when expectations are
    small", Biometrika 31, 1940; a gamma variable with both stands for it.
    """
    from scipy.special import gammaincc

    n, wrong, users = float(trials.sum()), float(errors.sum()), errors.size
    statistic = n**2 / (wrong * (n - wrong)) * (float((errors**2 / trials).sum()) - wrong**2 / n)
    mean = n / (n - 1) * (users - 1)
    uneven = float((n / trials).sum() - users**2) / (n - 2)
    rare = (n / wrong + n / (n - wrong) - 4) / (n - 2)
    rows, columns = (users - 1) * (n - users) / (n - 1), (n - 2) / (n - 1)
    variance = 2 * n / (n - 3) * (rows - uneven) * (columns - rare) + n**2 / (n - 1) * uneven * rare
    return float(gammaincc(mean**2 / variance, statistic * mean / variance)) if variance > 0 else 1.0


def _extreme(scores: Floats, *, high: bool) -> Mask:
    """Return the users in the highest (or lowest) quarter."""
    size = scores.size // 4
    order: Index = np.argsort(scores, kind="stable")
    chosen = np.zeros(scores.size, dtype=np.bool_)
    chosen[order[scores.size - size :] if high else order[:size]] = True
    return chosen


def at_least(found: int, total: int, first: int, second: int) -> float:
    """Return the probability that two subsets drawn at random, of these sizes, share at least so many (hypergeometric).

    Examples
    --------
    >>> f"{at_least(3, 12, 3, 3):.5f}"
    '0.00455'
    """
    from scipy.special import gammaln, logsumexp

    def ways(of: int, chosen: NDArray[Any]) -> Floats:
        return np.asarray(gammaln(of + 1) - gammaln(chosen + 1) - gammaln(of - chosen + 1))

    shared = np.arange(max(found, first + second - total), min(first, second) + 1)
    if not shared.size:
        return 0.0
    all_ways = ways(total, np.array(second))
    return min(1.0, float(np.exp(logsumexp(ways(first, shared) + ways(total - first, second - shared)) - all_ways)))
