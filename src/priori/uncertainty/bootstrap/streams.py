"""Counter-based random numbers, and exact draws from them, compiled.

A stream is a place on the splitmix64 sequence (Steele, Lea and Flood 2014) fixed by hashing
(seed, purpose, replicate). So replicate r is the same on one thread or on eight and in any batch size.
Everything here is whole-number arithmetic on 64 bits except the binomial's logarithms.

Importing this module imports numba: only the kernels do, when a bootstrap runs.
"""

from __future__ import annotations

import numpy as np
from numba.core import config

from priori.base.compiling import compiled
from priori.base.errors import OptionError

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SALT = np.uint64(0xD1342543DE82EF95)
_S11, _S27, _S30, _S31, _S32 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_MASK = np.uint64(0xFFFFFFFF)
_TWO32 = np.uint64(1 << 32)
_UNIT = 1.0 / (1 << 53)

if getattr(config, "DISABLE_JIT"):  # noqa: B009 - numba makes its names when it is imported
    raise OptionError("bootstraps run compiled, and NUMBA_DISABLE_JIT forbids that; unset it")


@compiled
def mix(z):  # type: ignore[no-untyped-def]
    """Scramble 64 bits (the finaliser of splitmix64)."""
    z = (z ^ (z >> _S30)) * _A
    z = (z ^ (z >> _S27)) * _B
    return z ^ (z >> _S31)


@compiled
def stream(seed, purpose, replicate):  # type: ignore[no-untyped-def]
    """Return the state of the stream for one purpose of one replicate, in an array of one."""
    state = np.empty(1, np.uint64)
    state[0] = branch(branch(mix(np.uint64(seed) + GAMMA), purpose), replicate)
    return state


@compiled
def branch(key, number):  # type: ignore[no-untyped-def]
    """Return the state of one of many streams that begin at a state."""
    return mix((key ^ np.uint64(number)) * _SALT + GAMMA)


@compiled
def uniform(state):  # type: ignore[no-untyped-def]
    """Return a number in (0, 1)."""
    state[0] += GAMMA
    return fraction(mix(state[0]))


@compiled
def fraction(bits):  # type: ignore[no-untyped-def]
    """Return 64 bits as a number in (0, 1): the middle of one of 2^53 equal parts."""
    return (np.float64(bits >> _S11) + 0.5) * _UNIT


@compiled
def uniforms(seed, purpose, first, numbers):  # type: ignore[no-untyped-def]
    """Fill row i of ``numbers`` with the first numbers in (0, 1) of the stream of replicate ``first + i``."""
    for i in range(numbers.shape[0]):
        state = stream(seed, purpose, first + i)
        for j in range(numbers.shape[1]):
            numbers[i, j] = uniform(state)


@compiled
def _mend(low, high, z, size, salt):  # type: ignore[no-untyped-def]
    """Replace a draw that would favour some numbers (Lemire 2019) by rehashing, off the counter's path."""
    threshold = (_TWO32 - size) % size
    while low < threshold:
        salt += _SALT
        z = mix(z ^ salt)
        product = (z >> _S32) * size
        low, high = product & _MASK, product >> _S32
    return high


@compiled
def _below(half, z, size, salt):  # type: ignore[no-untyped-def]
    """Return a whole number in [0, size) from 32 bits, a half of ``z``."""
    product = half * size
    low, high = product & _MASK, product >> _S32
    if low < size:
        high = _mend(low, high, z, size, salt)
    return high


@compiled
def below(state, size):  # type: ignore[no-untyped-def]
    """Return a whole number in [0, size), all equally likely; size < 2^32."""
    state[0] += GAMMA
    z = mix(state[0])
    return np.int64(_below(z >> _S32, z, np.uint64(size), _SALT))


@compiled
def picks(state, count, bins, start, size, weights):  # type: ignore[no-untyped-def]
    """Draw ``count`` of ``bins[start:start+size]`` with replacement; add one to the weight of each.

    Two draws come from each 64 bits, and the counter is the loop's own, so that draws do not wait for one another.
    Indices are unsigned, so that no check for negative ones is compiled.
    """
    n = np.uint64(size)
    base = np.uint64(start)
    z = state[0]
    for _ in range(count >> 1):
        z += GAMMA
        bits = mix(z)
        weights[np.uint64(bins[base + _below(bits >> _S32, bits, n, _SALT)])] += 1
        weights[np.uint64(bins[base + _below(bits & _MASK, bits, n, GAMMA)])] += 1
    state[0] = z
    if count & 1:
        weights[bins[start + below(state, size)]] += 1


# -- the binomial distribution, exactly ----------------------------------------------------------------


#: Tails of Stirling's approximation of log k!, k from 0 to 9.
_TAILS = np.array(
    [
        0.08106146679532726,
        0.04134069595540929,
        0.02767792568499834,
        0.02079067210376509,
        0.01664469118982119,
        0.01387612882307075,
        0.01189670994589177,
        0.01041126526197209,
        0.009255462182712733,
        0.008330563433362871,
    ]
)


@compiled
def _stirling(k):  # type: ignore[no-untyped-def]
    """log k! minus Stirling's approximation at k + 1: the tail of Hoermann (1993)."""
    if k < 10:
        return _TAILS[np.int64(k)]
    x = 1.0 / (k + 1.0)
    square = x * x
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 * square) * square) * x


@compiled
def _by_inversion(state, n, p):  # type: ignore[no-untyped-def]
    """Walk the cumulative distribution from 0; the cost is the mean."""
    odds = p / (1.0 - p)
    start = np.exp(n * np.log1p(-p))
    while True:
        left = uniform(state)
        mass = start
        k = 0
        while left > mass:
            left -= mass
            k += 1
            mass *= odds * (n - k + 1) / k
            if k > 200:  # beyond any value that can occur: the tail was lost to rounding, draw again
                break
        if k <= n and k <= 200:
            return k


@compiled
def _by_rejection(state, n, p):  # type: ignore[no-untyped-def]
    """Transformed rejection with squeeze (BTRS, Hoermann 1993), for n p >= 10 and p <= 1/2."""
    odds = p / (1.0 - p)
    spread = np.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre = n * p + 0.5
    v_inner = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    m = np.floor((n + 1) * p)
    while True:
        v = uniform(state)
        u = uniform(state) - 0.5
        us = 0.5 - abs(u)
        real = np.floor((2.0 * a / us + b) * u + centre)
        if us >= 0.07 and v <= v_inner:
            return np.int64(real)
        if real < 0.0 or real > n:
            continue
        v = np.log(v * alpha / (a / (us * us) + b))
        bound = (
            (m + 0.5) * np.log((m + 1.0) / (odds * (n - m + 1.0)))
            + (n + 1.0) * np.log((n - m + 1.0) / (n - real + 1.0))
            + (real + 0.5) * np.log(odds * (n - real + 1.0) / (real + 1.0))
            + _stirling(m)
            + _stirling(n - m)
            - _stirling(real)
            - _stirling(n - real)
        )
        if v <= bound:
            return np.int64(real)


@compiled
def binomial(state, n, part, whole):  # type: ignore[no-untyped-def]
    """Return how many of ``n`` independent draws hit, each with probability part / whole (whole numbers).

    Given as two whole numbers so that the probability of missing is as exact as that of hitting.
    """
    if n <= 0 or part <= 0:
        return 0
    if part >= whole:
        return n
    flipped = part > whole - part
    p = np.float64(whole - part if flipped else part) / np.float64(whole)
    if n * p < 10.0:
        hits = _by_inversion(state, n, p)
    else:
        hits = _by_rejection(state, n, p)
    return n - hits if flipped else hits
