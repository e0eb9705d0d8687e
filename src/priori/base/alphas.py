"""Alphas: the trade-off, always an exact fraction, so that no tie depends on rounding."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from priori.base.errors import OptionError, short

#: What an axis of alphas shows: alpha itself, or log(alpha / (1 - alpha)), the threshold of log-likelihood ratios.
AlphaAxis = Literal["alpha", "log-odds"]
#: The most points of a grid; each is an exact fraction, and more could not be told apart in any figure.
LARGEST_GRID = 10_000_000
#: The prefix of an alpha that is derived from costs.
COSTS = "costs:"


def read_fraction(text: str) -> Fraction:
    """Read a number or a fraction; one with a huge exponent is no trade-off and would fill memory."""
    if len(text) > 400 or re.search(r"e[+-]?0*[1-9]\d{3,}", text, re.IGNORECASE):
        raise ValueError("too many digits")
    return Fraction(text.strip())


def as_fraction(alpha: Any, name: str = "alpha") -> Fraction:
    """Return an alpha as the fraction its typed form means: 0.1 is one tenth.

    Examples
    --------
    >>> as_fraction(0.1)
    Fraction(1, 10)
    >>> as_fraction("99/109")
    Fraction(99, 109)
    >>> as_fraction("costs:10,1,0.01")  # what a false negative costs, a false positive, and the share of positives
    Fraction(99, 109)
    """
    if isinstance(alpha, str) and alpha.strip().startswith(COSTS):
        parts = alpha.strip().removeprefix(COSTS).split(",")
        if len(parts) != 3:
            raise OptionError(f"{name} {alpha!r}: write costs:COST_FN,COST_FP,PRIOR, for example costs:10,1,0.01")
        return from_costs(*parts)
    try:
        if isinstance(alpha, (int, Fraction)):
            value = Fraction(alpha)
        elif isinstance(alpha, str):
            value = read_fraction(alpha)
        else:
            value = Fraction(repr(float(alpha)))
    except (TypeError, ValueError, ZeroDivisionError):
        raise OptionError(f"{name} must be a number between 0 and 1, not {short(repr(alpha))}") from None
    if not 0 <= value <= 1:
        raise OptionError(f"{name} must lie between 0 and 1, not {short(str(alpha))}")
    return value


def as_fractions(alphas: Any, name: str = "alpha") -> tuple[Fraction, ...]:
    """Return one alpha, or many, as a tuple of exact fractions; a text may have several between commas."""
    if isinstance(alphas, str) and not alphas.strip().startswith(COSTS):
        alphas = [part for part in alphas.split(",") if part.strip()]
    if isinstance(alphas, (str, int, float, Fraction, np.generic)):
        alphas = [alphas]
    if not isinstance(alphas, Iterable):
        raise OptionError(f"{name} must be a number between 0 and 1, or a list of them, not {alphas!r}")
    fractions = tuple(as_fraction(alpha, name) for alpha in alphas)
    if not fractions:
        raise OptionError(f"no {name} given; give at least one number between 0 and 1")
    return fractions


def grid(points: int = 101, bounds: tuple[Any, Any] = (0, 1)) -> tuple[Fraction, ...]:
    """Return ``points`` equally spaced alphas from a to b: the exact fractions a + (b - a) k/(points - 1).

    Examples
    --------
    >>> grid(3)
    (Fraction(0, 1), Fraction(1, 2), Fraction(1, 1))
    """
    low, high = check_bounds(bounds)
    if isinstance(points, bool) or int(points) != points or points < 2:
        raise OptionError(f"a grid of alphas needs at least 2 points, not {points}")
    if points > LARGEST_GRID:
        raise OptionError(f"a grid of alphas has at most {LARGEST_GRID} points; ask for fewer, or for the exact curve")
    step = (high - low) / (int(points) - 1)
    return tuple(low + k * step for k in range(int(points)))


def check_bounds(bounds: tuple[Any, Any]) -> tuple[Fraction, Fraction]:
    """Return the bounds a < b of a range of alphas as fractions."""
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise OptionError(f"a range needs two numbers a < b, not {bounds!r}") from None
    low, high = as_fraction(low), as_fraction(high)
    if low >= high:
        raise OptionError(f"a range goes from a lower to a higher number, not from {bounds[0]} to {bounds[1]}")
    return low, high


def from_costs(cost_fn: Any = 10, cost_fp: Any = 1, prior: Any = "0.01") -> Fraction:
    """Return the alpha for which the weighted error is the detection cost function (Eq. 3.3), up to a factor.

    Examples
    --------
    >>> from_costs()  # NIST 2005: 0.9083
    Fraction(99, 109)
    """
    try:
        miss, alarm, positive = (read_fraction(str(value)) for value in (cost_fn, cost_fp, prior))
    except (ValueError, ZeroDivisionError):
        raise OptionError(f"costs and prior must be numbers, not {cost_fn!r}, {cost_fp!r}, {prior!r}") from None
    if miss <= 0 or alarm <= 0 or not 0 < positive < 1:
        raise OptionError(f"costs must be positive and the prior between 0 and 1, not {cost_fn}, {cost_fp}, {prior}")
    return alarm * (1 - positive) / (alarm * (1 - positive) + miss * positive)


def share(prior: Any) -> Fraction:
    """Return a share of positives as the fraction its typed form means, strictly between 0 and 1."""
    try:
        value = read_fraction(str(prior))
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if not 0 < value < 1:
        raise OptionError(f"the prior, the share of positives, must lie between 0 and 1, not {short(str(prior))}")
    return value
