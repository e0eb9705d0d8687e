"""Trials of which nobody knows who was really there."""

from __future__ import annotations

import numpy as np

from priori import Scores


def attacked(scores: Scores, share: float, name: str = "attack", seed: int = 0) -> Scores:
    """Return scores with the real identity of a share of the negatives called by one name."""
    assert scores.users is not None
    names = scores.users.values.astype(str)
    user, probe = names[scores.negative.user], names[scores.negative.probe_user]
    probe = np.where(np.random.default_rng(seed).random(probe.size) < share, name, probe)
    own = names[scores.positive.user]
    return Scores.from_predictions(
        np.repeat([0, 1], [user.size, own.size]),
        np.concatenate([scores.negative.score, scores.positive.score]),
        user=np.concatenate([user, own]),
        probe_user=np.concatenate([probe, own]),
    )
