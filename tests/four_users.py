"""Sets of four unequal users, full of ties: small enough for brute force."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from priori import Scores

ALPHAS = [Fraction(1, 5), Fraction(1, 2), Fraction(4, 5)]


def small(seed: int, shift: float = 2.0, names: str = "abcd", noise: bool = True) -> Scores:
    """Four users of unequal size, scores full of ties, both identities."""
    rng = np.random.default_rng(seed)
    user = np.repeat(list(names), [8, 7, 6, 5])
    label = np.concatenate([[0] * 5 + [1] * 3, [0] * 4 + [1] * 3, [0] * 4 + [1] * 2, [0] * 3 + [1] * 2])
    effect = dict(zip(names, rng.integers(-1, 2, len(names)), strict=True))
    score = np.round(rng.normal(0, 1.3, user.size) + shift * label + [effect[name] for name in user])
    probe = np.where(label == 1, user, rng.permutation(user))
    return Scores.from_predictions(label, score, user=user, probe_user=probe)
