"""The joint bootstrap: users, then the trials of each drawn user (2007, Eq. 13)."""

from __future__ import annotations

from priori.uncertainty.bootstrap.designs.base import Bootstrap

JOINT = Bootstrap(
    name="joint",
    resamples="users, then the trials of each drawn user",
    choice="users, then their trials",
    draws_users=True,
    draws_trials=True,
    nested=True,
)
