"""Simulated score sets whose users differ: known truth to try intervals on, at any size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.base.types import Floats
from priori.scores import Names, Scores, Trials

Rng = int | Sequence[int] | np.random.Generator


def generator(rng: Rng) -> np.random.Generator:
    """Return a generator; a seed, or a list such as (seed, replicate), gives its own counter-based stream."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(rng)))


def population(
    n_users: int,
    genuine_per_user: int | Sequence[int] = 9,
    impostor_per_user: int | Sequence[int] = 96,
    *,
    separation: float = 2.5,
    user_effect_sd: float = 0.5,
    genuine_effect_sd: float | None = None,
    probe_effect_sd: float = 0.0,
    crossed: bool = False,
    shift: float = 0.0,
    prefix: str = "u",
    rng: Rng = 0,
) -> Scores:
    """Draw the scores of one system on users whose models differ.

    The score of an impostor trial against user j is ``shift + a_j + noise``, of a genuine trial
    ``shift + separation + b_j + noise``. The effects a_j and b_j are normal and independent, and the noise is such
    that each class has variance 1: whatever the effects, the population's rates are those of `expected_rates`, and
    the square of an effect's standard deviation is the correlation of two scores of one user. This is the
    intra-model dependency of section 1 of the 2007 paper.

    Parameters
    ----------
    n_users : int
        How many users (models).
    genuine_per_user, impostor_per_user : int or sequence of int
        Trials of each user; the defaults are the averages of the NIST 2005 subset in section 4 of the 2007 paper.
    separation : float
        Distance between the class means; the equal error rate is Phi(-separation / 2).
    user_effect_sd, genuine_effect_sd : float
        Standard deviation of a_j, and of b_j if it differs.
    probe_effect_sd : float
        Standard deviation of an effect of the person who is really there, in impostor trials of ``crossed`` sets.
    crossed : bool
        Give every trial the identity of its probe: the user's own in genuine trials, another user's in the others.
    shift : float
        Added to every score; a development set and a test set with different shifts do not match.
    prefix : str
        What the users' names begin with. Sets with the same names hold the same people to whoever pairs them by name.
    rng : int, sequence of int or numpy Generator
        Seed. A sequence such as ``(seed, replicate)`` gives streams that do not overlap.

    Examples
    --------
    >>> from simulation import population
    >>> population(31, rng=1)
    Scores(2976 negatives, 279 positives, 31 users)
    """
    genuine_sd = user_effect_sd if genuine_effect_sd is None else genuine_effect_sd
    impostor_noise = 1 - user_effect_sd**2 - probe_effect_sd**2
    assert crossed or not probe_effect_sd, "an effect of the probe needs crossed identities"
    draw = generator(rng)
    effects = draw.standard_normal((3, n_users)) * [[user_effect_sd], [genuine_sd], [probe_effect_sd]]
    people = np.arange(n_users, dtype=np.int32)
    user, claimed = (np.repeat(people, each) for each in (impostor_per_user, genuine_per_user))
    score = shift + effects[0][user] + np.sqrt(impostor_noise) * draw.standard_normal(user.size)
    genuine_noise = np.sqrt(1 - genuine_sd**2) * draw.standard_normal(claimed.size)
    genuine_score = shift + separation + effects[1][claimed] + genuine_noise
    probe: NDArray[np.int32] | None = None
    if crossed:
        # Any user but the claimed one: skip it by adding 1 from there on.
        probe = draw.integers(0, n_users - 1, user.size, dtype=np.int32)
        probe = probe + (probe >= user).astype(np.int32)
        score = score + effects[2][probe]
    for array in (score, genuine_score):
        array.setflags(write=False)
    names = Names(np.array([f"{prefix}{number:0{len(str(n_users))}d}" for number in range(1, n_users + 1)]))
    genuine_trials = Trials(genuine_score, claimed, claimed if crossed else None)
    return Scores(Trials(score, user, probe), genuine_trials, users=names, source="simulated")


def expected_rates(thresholds: ArrayLike, *, separation: float = 2.5, shift: float = 0.0) -> tuple[Floats, Floats]:
    """Return the population's own FAR and FRR at thresholds: what an infinite sample of `population` would give.

    Examples
    --------
    >>> from simulation import expected_rates
    >>> far, frr = expected_rates([1.0], separation=2.0)
    >>> round(float(far[0]), 4), round(float(frr[0]), 4)
    (0.1587, 0.1587)
    """
    from scipy.special import ndtr

    shifted = np.asarray(thresholds, dtype=np.float64) - shift
    return np.asarray(ndtr(-shifted)), np.asarray(ndtr(shifted - separation))
