"""Simulated leaderboards: many systems on the same trials of the same users, and what is true of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np
from scipy.special import ndtr, ndtri
from simulation import generator

import priori

#: Trials of a user, negatives and positives; the standard deviation that a user adds; how alike systems are.
IMPOSTOR, GENUINE, EFFECT, ALIKE = 20, 9, 0.5, 0.5
#: Two systems are better than the rest, which are alike.
BETTER, REST = 3.2, 2.4
#: Scores of each class in a development set that gives its threshold without chance.
IDEAL = 400


@dataclass(frozen=True)
class LeaderboardPopulation:
    """Systems with normal scores of variance 1 in each class, ``ALIKE`` in what users and trials add to them.

    Systems are "two better" (exactly equal among themselves, as the rest are), or from bad to good in equal steps: with
    thresholds as good as can be ("graded"), so that both rankings agree in truth, or away from them ("moved").
    """

    systems: int
    users: int
    kind: str = "two better"

    @property
    def title(self) -> str:
        return f"{self.systems} systems, {self.users} users, {self.kind}"

    @cached_property
    def separations(self) -> np.ndarray:
        if self.kind == "two better":
            return np.repeat([BETTER, REST], [2, self.systems - 2])
        return np.linspace(1.8, 3.6, self.systems)

    @cached_property
    def offsets(self) -> np.ndarray:
        """How far each threshold lies from the best one."""
        moved = self.kind == "moved"
        return np.random.default_rng(self.systems).normal(0, 0.6 * moved, self.systems)

    @cached_property
    def ideal(self) -> list[priori.Scores]:
        """Development sets that give every system its threshold without chance."""
        grid = ndtri((np.arange(IDEAL) + 0.5) / IDEAL)
        return [
            priori.Scores.from_arrays(grid + offset, grid + separation + offset)
            for separation, offset in zip(self.separations, self.offsets, strict=True)
        ]

    def draw(self, *seed: int, prefix: str = "u") -> list[priori.Scores]:
        """Draw a set of trials with the scores of every system."""
        rng = generator((crc32(self.title.encode()), *seed))
        label = np.tile(np.repeat([0, 1], [IMPOSTOR, GENUINE]), self.users)
        user = np.repeat(np.arange(self.users), IMPOSTOR + GENUINE)

        def latent() -> np.ndarray:
            effect = rng.normal(0, EFFECT, (2, self.users))[label, user]
            return effect + rng.normal(0, np.sqrt(1 - EFFECT**2), label.size)

        shared, names = np.sqrt(ALIKE) * latent(), np.char.add(prefix, user.astype(str))
        return [
            priori.Scores.from_predictions(
                label, separation * label + shared + np.sqrt(1 - ALIKE) * latent(), user=names
            )
            for separation in self.separations
        ]

    def curves(self, claim: str, *seed: int) -> list[priori.EPC]:
        """Draw a leaderboard; a method is tuned on a development set that is drawn too."""
        test = self.draw(*seed, 1, prefix="t")
        dev = self.draw(*seed, 0, prefix="d") if claim == "method" else self.ideal
        pairs = enumerate(zip(dev, test, strict=True))
        return [priori.epc(*pair, alpha=[0.5], name=f"S{number}") for number, pair in pairs]

    def values(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the population's HTER of every system at its threshold."""
        return (ndtr(-thresholds) + ndtr(thresholds - self.separations)) / 2

    @property
    def equal_error_rates(self) -> np.ndarray:
        """The population's EER of every system."""
        return ndtr(-self.separations / 2)


SIZES = tuple((systems, users) for systems in (10, 30, 100) for users in (20, 62, 200))
BOARDS = tuple(LeaderboardPopulation(*size) for size in SIZES)
GRADED = tuple(LeaderboardPopulation(*size, kind) for kind in ("graded", "moved") for size in SIZES)
