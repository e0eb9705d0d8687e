"""The experiment of the joint bootstrap paper: simulated systems at the NIST 2005 shape, bands and what they cover."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import priori
from priori.base.quantiles import percentile_bounds
from priori.base.types import Floats
from priori.curves.epc import EPC
from priori.scores import Scores
from priori.uncertainty.bands.bands import Band
from validation.coverage.simulation import population

__all__ = [
    "VARIANTS",
    "Coverage",
    "Covered",
    "Size",
    "System",
    "experiment",
    "joint_band",
    "single_split",
    "split_systems",
    "systems",
    "widths_of",
]


#: Section 4: 124 users, 1172 genuine and 11992 impostor trials.
USERS, GENUINE, IMPOSTOR = 124, 1172, 11992
TEST_USERS, LEVEL = 62, 0.95
#: Equal error rates of the best and the worst system, and the standard deviation of the user effect (of 1 in all):
#: chosen so that the widths are near the paper's.
BEST_EER, WORST_EER, USER_EFFECT = 0.05, 0.25, 0.8
VARIANTS = ("user-constrained", "sample", "user", "joint, U varies", "joint, S varies")


@dataclass(frozen=True)
class Size:
    """How large the experiment is: systems, repetitions with 31 and with 62 users, numbers of bootstraps.

    ``effects`` are other user effects than ours, to see what rests on that choice; ``splits`` is how often the users
    are split anew with all systems tried on the same ones; ``fixed`` is the number of bootstraps of the kind that is
    held fixed while the other varies; ``draws`` that of the conjecture on widths.
    """

    systems: int
    repeats: tuple[int, int]
    grid: tuple[int, ...]
    effects: tuple[float, ...]
    splits: int
    fixed: int = 30
    draws: int = 1000

    @property
    def largest(self) -> int:
        """The largest number of bootstraps S or U."""
        return self.grid[-1]


@dataclass(frozen=True)
class System:
    """A simulated system: how far apart its classes are, and how much its users differ."""

    separation: float
    user_effect: float = USER_EFFECT

    def draw(self, n_users: int, seed: tuple[int, ...]) -> Scores:
        """Draw users and their trials, as many as the NIST 2005 subset has on average."""
        return population(
            n_users,
            _spread(GENUINE, n_users),
            _spread(IMPOSTOR, n_users),
            separation=self.separation,
            user_effect_sd=self.user_effect,
            prefix=f"{seed[-1]}-",  # the sets of an experiment have users of their own, to be drawn apart
            rng=(2007, *seed),
        )


def systems(count: int, user_effect: float = USER_EFFECT) -> list[System]:
    """Return systems whose equal error rates are evenly spaced."""
    from scipy.special import ndtri

    return [System(float(-2 * ndtri(rate)), user_effect) for rate in np.linspace(BEST_EER, WORST_EER, count)]


def _spread(total: int, n_users: int) -> list[int]:
    """Return each user's trials: the paper's total, shared out evenly."""
    ends = np.rint(np.arange(n_users + 1) * total / USERS).astype(int)
    return [int(number) for number in np.diff(ends)]


# -- the experiment of section 5 -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Covered:
    """Of one system and one draw: the share of the future curve covered, and the mean width, by variant and size.

    ``same`` has the thresholds of the band's own development set, ``own`` those of 62 other development users.
    """

    same: Floats
    own: Floats
    width: Floats


def experiment(
    system: System, size: Size, train_users: int, seed: tuple[int, int], advance: Callable[[], None]
) -> Covered:
    """Make bands from some users and look how much of the curve of others they cover."""
    dev, eva = system.draw(train_users, (*seed, 1)), system.draw(train_users, (*seed, 2))
    unseen, other_dev = system.draw(TEST_USERS, (*seed, 3)), system.draw(TEST_USERS, (*seed, 4))
    curve = priori.epc(dev, eva)
    future = [priori.epc(chosen_on, unseen).value for chosen_on in (dev, other_dev)]
    same, own, width = (np.empty((len(VARIANTS), len(size.grid))) for _ in range(3))
    for row, (variant, replicates) in enumerate(_replicates(curve, size, 1000 * seed[0] + seed[1]).items()):
        for column, number in enumerate(size.grid):
            lower, upper = _bounds(replicates, variant, number)
            same[row, column], own[row, column] = (np.mean((v >= lower) & (v <= upper)) for v in future)
            width[row, column] = np.mean(upper - lower)
    advance()
    return Covered(same, own, width)


def _replicates(curve: EPC, size: Size, seed: int) -> dict[str, Floats]:
    """Return the replicates of each variant; those of the joint bootstrap as users by samples by alphas."""
    found: dict[str, Floats] = {}
    for variant in VARIANTS[:3]:
        band = curve.band(
            bootstrap=variant, n_resamples=size.largest, resample="both", interval="percentile", rng=seed, keep=True
        )
        assert band.replicates is not None
        found[variant] = band.replicates
    most = size.largest
    for variant, shape in ((VARIANTS[3], (most, size.fixed)), (VARIANTS[4], (size.fixed, most))):
        band = curve.band(
            bootstrap="joint", n_resamples=shape, resample="both", interval="percentile", rng=seed, keep=True
        )
        assert band.replicates is not None
        found[variant] = band.replicates.reshape(*shape, -1)
    return found


def _bounds(replicates: Floats, variant: str, number: int) -> tuple[Floats, Floats]:
    """Return the percentile bounds (section 3.2) from the first ``number`` draws."""
    used = replicates[:, :number] if variant == VARIANTS[4] else replicates[:number]
    return percentile_bounds(used.reshape(-1, used.shape[-1]), LEVEL)


def widths_of(system: System, number: int, draws: int, fixed: int) -> tuple[float, float, float]:
    """Return the mean widths of conjecture (14), samples alone, users alone and both, with many draws."""
    curve = priori.epc(system.draw(31, (14, number, 1)), system.draw(31, (14, number, 2)))
    shapes: dict[str, int | tuple[int, int]] = {"user-constrained": draws, "user": draws, "joint": (draws, fixed)}
    samples, users, both = (
        curve.band(bootstrap=name, n_resamples=shape, resample="both", interval="percentile", rng=number).expected_width
        for name, shape in shapes.items()
    )
    return 100 * samples, 100 * users, 100 * both


def joint_band(system: System, size: Size, n_users: int, number: int) -> Band:
    """Return the joint bootstrap's band for sets of ``n_users`` users each: Figure 1."""
    dev, eva = system.draw(n_users, (99, number, 1)), system.draw(n_users, (99, number, 2))
    return _joint(dev, eva, size, number)


def _joint(dev: Scores, eva: Scores, size: Size, seed: int) -> Band:
    shape = (size.largest, size.fixed)
    return priori.epc(dev, eva).band(
        bootstrap="joint", n_resamples=shape, resample="both", interval="percentile", rng=seed
    )


# -- one split of the users, as the paper has it ---------------------------------------------------------------------


def split_systems(size: Size) -> list[System]:
    """Return some of the systems: on the same users they move together, so that a few tell as much as all."""
    return systems(size.systems)[:: max(1, size.systems // 6)]


def single_split(size: Size, number: int) -> tuple[float, float]:
    """Return the mean coverage (%) over systems with 31 and with 62 training users, all systems on the same people.

    The 31 are among the 62, and both bands are tried on the same 62 unseen users.
    """
    covered = []
    for system in split_systems(size):
        unseen = system.draw(TEST_USERS, (77, number, 3))
        halves = {kind: [system.draw(31, (77, number, kind + more)) for more in (0, 10)] for kind in (1, 2)}
        for sets in ([halves[1][0], halves[2][0]], [_together(halves[1]), _together(halves[2])]):
            band, future = _joint(sets[0], sets[1], size, number), priori.epc(sets[0], unseen).value
            covered.append(np.mean((future >= band.lower) & (future <= band.upper)))
    few, many = 100 * np.reshape(covered, (-1, 2)).mean(axis=0)
    return float(few), float(many)


def _together(parts: list[Scores]) -> Scores:
    """Return the users of several sets as one set."""
    values = []
    for of_class in ("negative", "positive"):
        classes = [(part.users, getattr(part, of_class)) for part in parts]
        values.append(np.concatenate([trials.score for _, trials in classes]))
        values.append(np.concatenate([users.values[trials.user] for users, trials in classes if users is not None]))
    return Scores.from_arrays(values[0], values[2], negative_user=values[1], positive_user=values[3])


@dataclass(frozen=True)
class Coverage:
    """Coverage in per cent of every experiment (experiment, variant, number of bootstraps), and mean widths."""

    grid: tuple[int, ...]
    each: Floats
    own: Floats
    width: Floats

    @classmethod
    def of(cls, found: list[Covered], size: Size) -> Coverage:
        """Gather the experiments."""
        return cls(
            size.grid,
            100 * np.array([one.same for one in found]),
            100 * np.mean([one.own for one in found], axis=0),
            100 * np.mean([one.width for one in found], axis=0),
        )

    @property
    def same(self) -> Floats:
        """Mean coverage, by variant and number of bootstraps."""
        return np.asarray(self.each.mean(axis=0))

    @property
    def standard_error(self) -> Floats:
        """The standard error of `same`."""
        return np.asarray(self.each.std(axis=0, ddof=1) / np.sqrt(len(self.each)))

    def gap(self, first: int, second: int) -> tuple[Floats, Floats]:
        """Return by how much one variant covers more than another on the same draws, and the standard error."""
        gaps = self.each[:, first] - self.each[:, second]
        return gaps.mean(axis=0), gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))
