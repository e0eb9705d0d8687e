"""Beta-binomial rates: users' own error rates, drawn towards everybody's as far as chance alone would spread them.

The errors of user i are binomial with his own rate, the rates of users a beta distribution with mean m and
concentration k (as many trials as the mean counts for): given both, user i's rate is Beta(k m + x, k (1 - m) + n - x).
Neither is known; both are averaged over by their posterior, on a grid: the mean is uniform beforehand, and so is
1 / (1 + k), the correlation of two errors of a user. So the intervals allow for how little is known of either, which
plugging in one estimate would not (C. Morris, "Parametric empirical Bayes inference", JASA 78, 1983). No upper limit is
below what as many trials as all users have would show without an error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from priori.base.types import Floats, Index

#: Points of the grid along either of its axes, and how often it is drawn closer.
POINTS, ZOOMS = 13, 6
#: Points whose weight is less than this share of the largest are left out.
LEAST = 1e-4
#: Steps to a quantile at most, and how small the last must be, as a share of it: after a step the error is its cube.
STEPS, NEAR = 64, 1e-5
#: Numbers held at a time.
AT_A_TIME = 1 << 20


@dataclass(frozen=True, eq=False)
class BetaBinomial:
    """The posterior of the mean and the concentration: points of a grid and their weights, which add to 1."""

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
        """Return the shrunken rate of each user, and the interval that holds his own rate with this probability."""
        pairs, place = _different(errors, trials)
        step = max(1, AT_A_TIME // self.weight.size)
        parts = [self._of_pairs(pairs[:, start : start + step], level) for start in range(0, pairs.shape[1], step)]
        shrunken, lower, upper = np.concatenate(parts, axis=1)
        upper = np.maximum(upper, -np.log((1 - level) / 2) / trials.sum())
        # Who made no error, or nothing but errors, may have a rate of 0, or 1.
        lower, upper = np.where(pairs[0] == 0, 0.0, lower), np.where(pairs[0] == pairs[1], 1.0, upper)
        return shrunken[place], lower[place], upper[place]

    def _of_pairs(self, pairs: Floats, level: float) -> Floats:
        a = self.mean * self.concentration + pairs[0][:, None]
        b = (1 - self.mean) * self.concentration + (pairs[1] - pairs[0])[:, None]
        tails = [_quantile(a, b, self.weight, tail) for tail in ((1 - level) / 2, (1 + level) / 2)]
        return np.stack([(a / (a + b)) @ self.weight, *tails])


def _different(errors: Floats, trials: Floats) -> tuple[Floats, Index]:
    """Return the different pairs of errors and trials, and which of them is each user's."""
    codes, place = np.unique(errors * (trials.max() + 1) + trials, return_inverse=True)
    return np.stack(np.divmod(codes, trials.max() + 1)), np.ravel(place)


def _quantile(a: Floats, b: Floats, weight: Floats, share: float) -> Floats:
    """Return a quantile of each row's mixture of beta distributions, by Halley's steps or bisection."""
    from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy

    # A first guess: that of the beta distribution which has the mixture's mean and variance.
    each = a / (a + b)
    mean = each @ weight
    variance = (each * (1 - each) / (a + b + 1) + (each - mean[:, None]) ** 2) @ weight
    size = mean * (1 - mean) / variance - 1
    guess = betaincinv(mean * size, (1 - mean) * size, share)
    low, high = np.zeros(a.shape[0]), np.ones(a.shape[0])
    constant = betaln(a, b)
    left = np.arange(a.shape[0])
    found = np.empty(a.shape[0])
    for _ in range(STEPS):
        inside = (guess > low) & (guess < high)
        guess = np.where(inside, guess, (low + high) / 2)
        x, rows = guess[:, None], (a[left], b[left])
        missing = share - betainc(*rows, x) @ weight
        low, high = np.where(missing > 0, guess, low), np.where(missing > 0, high, guess)
        density = np.exp(xlogy(rows[0] - 1, x) + xlog1py(rows[1] - 1, -x) - constant[left])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = (density * ((rows[0] - 1) / x - (rows[1] - 1) / (1 - x))) @ weight
            density = density @ weight
            step = missing / density
            step /= np.clip(1 + step * slope / (2 * density), 0.5, 2.0)  # a curved one, but for a wild first guess
        done = (np.abs(step) < NEAR * guess) | (high - low < NEAR**4)
        found[left[done]] = (guess + step)[done]
        left, low, high, guess = left[~done], low[~done], high[~done], (guess + step)[~done]
        if not left.size:
            return found
    found[left] = (low + high) / 2
    return found


def fit_beta_binomial(errors: Floats, trials: Floats) -> BetaBinomial:
    """Return what users' errors tell of the distribution of their rates.

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
