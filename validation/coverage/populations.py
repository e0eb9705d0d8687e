"""The populations on which coverage is measured: what is drawn, and what is true of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
from simulation import expected_rates, generator, population

from priori.scores import Scores

#: Where curves are looked at. At 0 and 1 thresholds are the extreme scores of a set, and no bootstrap knows those.
ALPHAS = tuple(k / 10 for k in range(1, 10))


@dataclass(frozen=True)
class Population:
    """Users with normal scores of variance 1 in each class, as `simulation.population` draws them.

    ``effect`` is the standard deviation that a user adds, ``probe`` the one that the person really there adds where
    trials are crossed; ``step`` rounds scores to its multiples, so that they tie.
    """

    title: str
    users: int
    genuine: int = 9
    impostor: int = 20
    effect: float = 0.5
    separation: float = 2.5
    step: float = 0.0
    probe: float | None = None

    def draw(self, *seed: int, users: int | None = None, prefix: str = "u") -> Scores:
        """Draw a set; ``users`` of them instead of the population's own number."""
        count = users or self.users
        crossed = self.probe is not None
        scores = population(
            count,
            self.genuine,
            # Everybody probes everybody's model about once, whatever the number of people.
            round(self.impostor * (count - 1) / (self.users - 1)) if crossed else self.impostor,
            separation=self.separation,
            user_effect_sd=self.effect,
            probe_effect_sd=self.probe or 0.0,
            crossed=crossed,
            prefix=prefix,
            # Its own random numbers: what chance does to one population says nothing about another.
            rng=(crc32(self.title.encode()), *seed),
        )
        if not self.step:
            return scores
        rounded = [
            replace(t, score=np.round(t.score / self.step) * self.step) for t in (scores.negative, scores.positive)
        ]
        return replace(scores, negative=rounded[0], positive=rounded[1])

    def rates(self, thresholds):
        """Return the population's FAR and FRR at thresholds."""
        at = np.asarray(thresholds, dtype=float)
        if self.step:  # a rounded score is above a threshold when the score is above the middle of a step
            at = (np.floor(at / self.step) + 0.5) * self.step
        return expected_rates(at, separation=self.separation)

    def value(self, thresholds):
        """Return the population's HTER at thresholds."""
        return sum(self.rates(thresholds)) / 2

    def best_thresholds(self, alphas=ALPHAS):
        """Return the thresholds that the criterion wer chooses on the whole population."""
        alpha = np.asarray(alphas)
        if not self.step:
            return self.separation / 2 + np.log(alpha / (1 - alpha)) / self.separation
        grid = np.arange(-8, 8 + self.separation, self.step) + self.step / 4
        far, frr = self.rates(grid)
        return grid[np.argmin(alpha[:, None] * far + (1 - alpha[:, None]) * frr, axis=1)]


GRID = (
    Population("62 users, 9 + 20 trials, independent", 62, effect=0.0),
    Population("62 users, 9 + 20 trials, weak effect", 62, effect=0.3),
    Population("62 users, 9 + 20 trials, medium effect", 62, effect=0.5),
    Population("62 users, 9 + 20 trials, strong effect", 62, effect=0.8),
    Population("10 users, 9 + 20 trials, medium effect", 10),
    Population("20 users, 9 + 20 trials, medium effect", 20),
    Population("31 users, 9 + 96 trials, medium effect", 31, impostor=96),
    Population("124 users, 9 + 96 trials, medium effect", 124, impostor=96),
    Population("500 users, 5 + 5 trials, medium effect", 500, 5, 5),
    Population("62 users, 5 + 5 trials, medium effect", 62, 5, 5),
    Population("31 users, 100 + 100 trials, medium effect", 31, 100, 100),
    Population("62 users, 9 + 96 trials, medium effect, rare errors (EER 1.2 %)", 62, 9, 96, separation=4.5),
    Population("62 users, 9 + 20 trials, medium effect, ties (9 to 12 distinct scores)", 62, step=0.5),
    Population("40 people, 9 + 39 trials, crossed, weak effects", 40, 9, 39, effect=0.3, probe=0.3),
)
#: Ten users are too few for any bootstrap to be sure of itself; the rules of the defaults leave them out.
REASONABLE = tuple(one.title for one in GRID if one.users >= 20)


def seeds(*parts: int) -> int:
    """Return one seed from several numbers."""
    return int(generator(parts).integers(0, 2**62))
