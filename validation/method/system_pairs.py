"""Pairs of systems on which the method test is measured: what is drawn, and what is true of it."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from scipy.stats import gumbel_r, norm
from simulation import generator

from priori import Scores

ALPHAS = tuple(k / 10 for k in range(1, 10))
#: A gumbel variable of mean 0 and variance 1 is one over this, minus Euler's constant over it.
SCALE = np.pi / np.sqrt(6)


@dataclass(frozen=True)
class Systems:
    """Two systems on the same trials, the scores of each class of variance 1 before they are given a shape.

    ``correlation`` is that of the systems' scores, ``effect`` the standard deviation that a user adds and ``probe``
    the one of the person really there; ``shape`` is "normal", "gumbel" (the second system's scores are skewed),
    "mirrored" (both are, in opposite ways) or "probability" (scores squeezed between 0 and 1).
    ``unequal`` gives users log-normal numbers of trials; without ``known`` users every trial is independent.
    """

    title: str
    dev: int = 62
    test: int = 62
    genuine: int = 9
    impostor: int = 20
    effect: float = 0.5
    probe: float | None = None
    separations: tuple[float, float] = (2.4, 2.4)
    correlation: float = 0.5
    shape: str = "normal"
    unequal: bool = False
    known: bool = True

    @property
    def exchangeable(self) -> bool:
        """Whether the true difference is 0 because the systems are drawn alike."""
        return self.separations[0] == self.separations[1] and self.shape in ("normal", "probability")

    def draw(self, users: int, *seed: int, prefix: str) -> list[Scores]:
        """Draw a set of both systems."""
        rng = generator((crc32(self.title.encode()), *seed))
        mean = np.array([self.impostor, self.genuine])[:, None]
        numbers = np.broadcast_to(mean, (2, users))
        if self.unequal:
            numbers = np.maximum(np.round(mean * rng.lognormal(-0.5, 1.0, users)), 1).astype(int)
        claimed, own = (np.repeat(np.arange(users), number) for number in numbers)
        probing = (claimed + 1 + np.arange(claimed.size) % (users - 1)) % users if users > 1 else claimed
        root = np.linalg.cholesky([[1, self.correlation], [self.correlation, 1]])
        label = np.repeat([0, 1], [claimed.size, own.size])
        probe = self.probe or 0.0
        effects = rng.standard_normal((3, users, 2)) * np.array([self.effect, self.effect, probe])[:, None, None]
        left = np.sqrt(1 - self.effect**2 - np.array([probe, 0.0]) ** 2)
        latent = left[label][:, None] * rng.standard_normal((label.size, 2))
        latent += np.concatenate([effects[0][claimed] + effects[2][probing], effects[1][own]])
        latent = latent @ root.T
        who = {}
        if self.known:
            who["user"] = np.char.add(prefix, np.concatenate([claimed, own]).astype(str))
        if self.probe is not None:
            who["probe_user"] = np.char.add(prefix, np.concatenate([probing, own]).astype(str))
        return [Scores.from_predictions(label, self._shown(s, latent[:, s], label), **who) for s in range(2)]

    def _shown(self, system: int, latent: np.ndarray, label: np.ndarray) -> np.ndarray:
        sign = self._skew(system)
        if sign:
            share = norm.cdf(sign * latent)
            latent = sign * (gumbel_r.ppf(np.clip(share, 1e-15, 1 - 1e-16)) - np.euler_gamma) / SCALE
        score = latent + self.separations[system] * label
        return 1 / (1 + np.exp(-4 * (score - 1.2))) if self.shape == "probability" else score

    def _skew(self, system: int) -> int:
        return {"gumbel": (0, 1), "mirrored": (-1, 1)}.get(self.shape, (0, 0))[system]

    def value(self, system: int, thresholds: np.ndarray) -> np.ndarray:
        """Return the population's HTER at thresholds."""
        if self.shape == "probability":
            with np.errstate(divide="ignore"):
                thresholds = 1.2 + np.log(thresholds / (1 - thresholds)) / 4
        sign = self._skew(system)

        def below(x: np.ndarray) -> np.ndarray:
            if not sign:
                return norm.cdf(x)
            share = gumbel_r.cdf(sign * x * SCALE + np.euler_gamma)
            return share if sign > 0 else 1 - share

        return (1 - below(thresholds) + below(thresholds - self.separations[system])) / 2


NULLS = (
    Systems("62 + 62 users"),
    Systems("62 + 62 users, systems not correlated", correlation=0.0),
    Systems("62 + 62 users, systems correlated 0.95", correlation=0.95),
    Systems("20 + 20 users", 20, 20),
    Systems("20 development, 200 test users", 20, 200),
    Systems("200 development, 20 test users", 200, 20),
    Systems("500 + 50 users, 5 + 5 trials", 500, 50, 5, 5),
    Systems("62 + 62 users, log-normal numbers of trials", unequal=True),
    Systems("100 + 100 development trials, 1000 + 1000 test trials, no users", 100, 1000, 1, 1, 0.0, known=False),
    Systems("40 + 40 people, 9 + 39 trials, crossed", 40, 40, 9, 39, 0.3, probe=0.3),
    Systems("20 + 20 users, 9 + 96 trials, EER 1.4 %", 20, 20, 9, 96, separations=(4.4, 4.4)),
    Systems("62 + 62 users, probabilities", shape="probability"),
    Systems("62 + 62 users, normal against gumbel", shape="gumbel"),
    Systems("62 + 62 users, gumbel against its mirror image", shape="mirrored"),
    Systems("20 + 62 users, normal against gumbel", 20, 62, shape="gumbel"),
)
ALTERNATIVES = (
    Systems("62 + 62 users, d' 2.4 against 2.02", separations=(2.4, 2.02)),
    Systems("20 + 62 users, d' 2.4 against 1.9", 20, 62, separations=(2.4, 1.9)),
)
#: Where one system's band falls short, and says so.
SMALL = (Systems("30 + 30 development trials, 1000 + 1000 test trials, no users", 30, 1000, 1, 1, 0.0, known=False),)
