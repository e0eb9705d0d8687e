"""Proportions: intervals for a single rate, and tests of two rates (thesis, Eqs. 3.19-3.25 and 3.28)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from priori.base.declarations import Column, Level
from priori.base.errors import InputError, unknown
from priori.base.limits import check_level
from priori.base.results import Result
from priori.base.types import Floats

Alternative = Literal["two-sided", "less", "greater"]
IntervalMethod = Literal["normal", "wilson", "exact"]

#: Below this many expected n p (1 - p) the normal approximation of a binomial is doubtful (thesis, section 3.3).
NORMAL_RULE = 10.0


# -- the normal distribution -----------------------------------------------------------------------------------


def check_rate(name: str, rate: float) -> None:
    """Raise an error for a number that is no rate, with a hint for percentages."""
    if not 0 <= rate <= 1:
        hint = f"; if it is a percentage, give {rate / 100:g}" if 1 < rate <= 100 else ""
        raise InputError(f"{name} = {rate:g} is not a rate between 0 and 1{hint}")


def check_alternative(alternative: str) -> None:
    """Raise an error for an unknown direction of a test."""
    if alternative not in get_args(Alternative):
        raise unknown("alternative", alternative, get_args(Alternative))


def quantile(confidence_level: float, alternative: Alternative = "two-sided", freedom: float = np.inf) -> float:
    """Return Z: the half-width of an interval in standard deviations, Z_{a/2} two-sided and Z_a one-sided.

    With finite degrees of freedom it is Student's.
    """
    check_alternative(alternative)
    level = check_level(confidence_level)
    return float(quantiles((1 + level) / 2 if alternative == "two-sided" else level, np.array(freedom)))


def quantiles(tail: float, freedom: Floats) -> Floats:
    """Return Student's quantile for each number of degrees of freedom; for infinitely many it is the normal one."""
    from scipy.special import ndtri, stdtrit

    known = np.isfinite(freedom)
    return np.asarray(np.where(known, stdtrit(np.where(known, freedom, 1.0), tail), ndtri(tail)))


def student_of(deviations: Any, freedom: Any) -> Floats:
    """Return how far Student's t lies out where a normal variable lies so many deviations out."""
    from scipy.special import log_ndtr, stdtrit

    known = np.isfinite(freedom)
    far = -stdtrit(np.where(known, freedom, 1.0), np.exp(log_ndtr(-np.asarray(deviations, dtype=np.float64))))
    return np.asarray(np.where(known, far, deviations))


def normal_of(deviations: Any, freedom: Any) -> Floats:
    """Return the inverse of `student_of`."""
    from scipy.special import ndtri_exp, stdtr

    known = np.isfinite(freedom)
    tail = stdtr(np.where(known, freedom, 1.0), -np.asarray(deviations, dtype=np.float64))
    return np.asarray(np.where(known, -ndtri_exp(np.log(np.maximum(tail, 1e-300))), deviations))


def p_values(statistic: ArrayLike, alternative: Alternative = "two-sided", freedom: ArrayLike = np.inf) -> Floats:
    """Return the p-values of normal (or Student's) statistics; ``1 - p`` is the thesis's delta (Eqs. 3.20, 3.21)."""
    from scipy.special import ndtr, stdtr

    check_alternative(alternative)
    z, known = np.asarray(statistic, dtype=np.float64), np.isfinite(freedom)
    tail = {"two-sided": -np.abs(z), "less": z, "greater": -z}[alternative]
    below = np.where(known, stdtr(np.where(known, freedom, 1.0), tail), ndtr(tail))
    return np.asarray(2 * below if alternative == "two-sided" else below)


def standardise(difference: ArrayLike, sd: ArrayLike) -> Floats:
    """Return difference / sd; no difference is 0 whatever the deviation, a sure one is infinite."""
    top, bottom = np.broadcast_arrays(np.asarray(difference, dtype=np.float64), np.asarray(sd, dtype=np.float64))
    certain = np.where(top == 0, 0.0, np.copysign(np.inf, top))
    return np.asarray(np.divide(top, bottom, out=certain, where=bottom > 0))


# -- one rate --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ProportionInterval(Result):
    """Intervals of rates: one row per rate. Made by `proportion_interval`."""

    errors: Floats
    trials: Floats
    rate: Floats
    lower: Floats
    upper: Floats
    method: str
    confidence_level: Level

    @property
    def width(self) -> Column[Floats]:
        """The whole interval, upper minus lower."""
        return self.upper - self.lower


def proportion_interval(
    errors: ArrayLike, trials: ArrayLike, *, method: IntervalMethod = "wilson", confidence_level: float = 0.95
) -> ProportionInterval:
    """Return a two-sided interval for a rate of errors.

    Parameters
    ----------
    errors, trials : array-like
        How many errors in how many trials. A published rate times its trials need not be a whole number.
    method : {"wilson", "normal", "exact"}
        ``normal`` is Eq. 3.28 of the thesis, poor where n p (1 - p) < 10; ``wilson`` inverts the score test and
        holds its level on average; ``exact`` is Clopper and Pearson's, never below its level.
    confidence_level : float
        0.95 by default.

    Examples
    --------
    >>> interval = proportion_interval(10, 400, method="exact")
    >>> f"{interval.lower:.4f} {interval.upper:.4f}"
    '0.0121 0.0455'
    """
    level = check_level(confidence_level)
    x, n = check_counts(errors, trials)
    if method not in get_args(IntervalMethod):
        raise unknown("interval", method, get_args(IntervalMethod))
    rate, z = x / n, quantile(level)
    if method == "normal":
        half = z * np.sqrt(rate * (1 - rate) / n)
        lower, upper = rate - half, rate + half
    else:
        lower, upper = wilson(x, n, z) if method == "wilson" else _exact(x, n, level)
    return ProportionInterval(x, n, rate, np.clip(lower, 0.0, rate), np.clip(upper, rate, 1.0), method, level)


def check_counts(errors: ArrayLike, trials: ArrayLike) -> tuple[Floats, Floats]:
    """Return errors and trials as arrays of one shape, or say what is wrong with them."""
    try:
        x, n = np.broadcast_arrays(np.asarray(errors, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"errors and trials must be numbers, of one shape ({error})") from None
    if not ((n >= 1) & np.isfinite(n)).all():
        raise InputError("a rate needs at least one trial")
    if not ((x >= 0) & (x <= n)).all():
        raise InputError("errors must lie between 0 and the number of trials")
    return x, n


def wilson(x: Floats, n: Floats, z: Floats | float) -> tuple[Floats, Floats]:
    """Return the limits of Wilson's interval that reaches ``z`` standard deviations; counts need not be whole."""
    centre = (x + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * np.sqrt(x * (n - x) / n + z * z / 4)
    # At no error (or nothing but errors) the limit is 0 (or 1), which subtraction would only nearly give.
    return np.where(x == 0, 0.0, centre - half), np.where(x == n, 1.0, centre + half)


def _exact(x: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    inside, some = np.where(x == n, 0.0, x), np.where(x == 0, 1.0, x)
    lower = np.where(x == 0, 0.0, betaincinv(some, n - some + 1, tail))
    return lower, np.where(x == n, 1.0, betaincinv(inside + 1, n - inside, 1 - tail))


# -- two rates -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ProportionTest(Result):
    """Tests of the difference between two rates: one row per test. Made by `proportion_test` and `mcnemar_test`.

    The difference is A's rate minus B's; ``confidence`` is the thesis's delta: 1 minus the p-value.
    """

    difference: Floats
    sd: Floats
    statistic: Floats
    p_value: Floats
    method: str
    alternative: Alternative

    @property
    def confidence(self) -> Column[Floats]:
        """The confidence that the rates differ (thesis, Eqs. 3.20, 3.21, 3.25)."""
        return 1 - self.p_value


def proportion_test(
    errors_a: ArrayLike,
    trials_a: ArrayLike,
    errors_b: ArrayLike,
    trials_b: ArrayLike,
    *,
    pooled: bool = True,
    alternative: Alternative = "two-sided",
) -> ProportionTest:
    """Test whether two rates from independent sets of trials differ.

    Parameters
    ----------
    errors_a, trials_a, errors_b, trials_b : array-like
        How many errors in how many trials, of A and of B.
    pooled : bool
        Take one rate for both in the variance (thesis, Eq. 3.23), as it is when they do not differ; otherwise each
        its own (Eq. 3.22).
    alternative : {"two-sided", "less", "greater"}
        Whether A's rate differs, is below, or is above B's (Eq. 3.20 is "greater").

    Examples
    --------
    >>> test = proportion_test(30, 200, 18, 200)
    >>> f"{test.statistic:.4f} {test.p_value:.4f}"
    '1.8464 0.0648'
    """
    check_alternative(alternative)
    (x_a, n_a), (x_b, n_b) = check_counts(errors_a, trials_a), check_counts(errors_b, trials_b)
    p_a, p_b = x_a / n_a, x_b / n_b
    each_a, each_b = [(x_a + x_b) / (n_a + n_b)] * 2 if pooled else (p_a, p_b)
    difference, sd = p_a - p_b, np.sqrt(each_a * (1 - each_a) / n_a + each_b * (1 - each_b) / n_b)
    statistic = standardise(difference, sd)
    method = "pooled (3.23)" if pooled else "unpooled (3.22)"
    return ProportionTest(difference, sd, statistic, p_values(statistic, alternative), method, alternative)


def mcnemar_test(
    only_a: ArrayLike, only_b: ArrayLike, trials: ArrayLike, *, alternative: Alternative = "two-sided"
) -> ProportionTest:
    """Test whether two rates on the same trials differ, from the trials that only one system gets wrong.

    Parameters
    ----------
    only_a, only_b : array-like
        Errors of A that B does not make, and of B that A does not make.
    trials : array-like
        How many trials there are in all.
    alternative : {"two-sided", "less", "greater"}
        Whether A's rate differs, is below, or is above B's.

    Notes
    -----
    The statistic is that of equations 3.24 and 3.25 of the thesis; its square is McNemar's chi-square without
    continuity correction. The p-value is the mid-p of the binomial distribution of the trials on which the systems
    differ: half of the probability of what was seen counts, so that it holds its level where they are few and wastes
    none of it. M. Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary matched-pairs data: mid-p and
    asymptotic are better than exact conditional", BMC Medical Research Methodology 13, 2013.

    Examples
    --------
    >>> test = mcnemar_test(12, 25, 1000)
    >>> f"{test.statistic:.4f} {test.p_value:.4f}"
    '-2.1372 0.0336'
    """
    check_alternative(alternative)
    (a, n), (b, _) = check_counts(only_a, trials), check_counts(only_b, trials)
    check_counts(a + b, n)
    difference, sd = (a - b) / n, np.sqrt((a + b) / (n * n))
    statistic = standardise(difference, sd)
    return ProportionTest(difference, sd, statistic, _mid_p(a, b, alternative), "McNemar's, mid-p", alternative)


def _mid_p(a: Floats, b: Floats, alternative: Alternative) -> Floats:
    """Return the mid-p of a + b trials falling a to one side and b to the other when either is as likely."""
    from scipy.special import betainc, betaln

    x, n = a, a + b
    # P(X <= x) of a binomial with p = 1/2, as an incomplete beta function: counts need not be whole.
    at_most = np.where(x >= n, 1.0, betainc(np.maximum(n - x, 1e-300), x + 1, 0.5))
    half = np.exp(-np.log(n + 1) - betaln(x + 1, n - x + 1) - n * np.log(2)) / 2
    less, greater = at_most - half, 1 - at_most + half
    if alternative == "two-sided":
        return np.asarray(np.minimum(1.0, 2 * np.minimum(less, greater)))
    return np.asarray(less if alternative == "less" else greater)
