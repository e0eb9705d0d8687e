"""Where it is hard: populations on which an audit found the defaults too sure, and the warnings that results carry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from bands import EXPECTED, KEPT
from populations import ALPHAS, seeds
from rates import KEEPS
from scipy.special import ndtr
from simulation import expected_rates, generator, population
from tallies import Row, Tally

import priori
from priori.decisions.measures import get_measure
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores

PART, LIMIT_PART = "hard", "limits, hard"
DEFAULT = "default"


@dataclass(frozen=True)
class Hard:
    """A population: how a set is drawn (from a generator and a prefix for its users), and its rates at thresholds.

    ``positives`` is their share of all trials, for measures that depend on it. ``dev`` draws development sets of
    another kind of size; ``anew`` looks at bands of both sets.
    """

    title: str
    draw: Callable[[np.random.Generator, str], Scores]
    rates: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    measures: tuple[str, ...] = ("hter", "far")
    positives: float = 0.5
    dev: Callable[[np.random.Generator, str], Scores] | None = None
    anew: bool = False

    def set(self, which: str, *seed: int) -> Scores:
        """Draw a development or a test set, with its own random numbers."""
        rng = generator((crc32(f"{self.title} {which}".encode()), *seed))
        return (self.dev if which == "dev" and self.dev else self.draw)(rng, which)

    def value(self, measure: str, thresholds: np.ndarray) -> np.ndarray:
        """Return the population's own value of a measure."""
        far, frr = self.rates(np.asarray(thresholds, dtype=float))
        size = np.array([1 - self.positives, self.positives]) * 1e9
        counts = Outcomes(tp=size[1] * (1 - frr), fp=size[0] * far, tn=size[0] * (1 - far), fn=size[1] * frr)
        return get_measure(measure)(counts, np.array(ALPHAS))


def _normal(separation: float) -> Callable:
    return lambda at: expected_rates(at, separation=separation)


def _users(users: int, genuine, impostor, effect: float, separation: float = 2.5) -> dict:
    def draw(rng: np.random.Generator, prefix: str) -> Scores:
        counts = [size(rng) if callable(size) else size for size in (genuine, impostor)]
        return population(users, *counts, user_effect_sd=effect, separation=separation, prefix=prefix, rng=rng)

    return {"draw": draw, "rates": _normal(separation)}


def _lognormal(users: int, mean: float) -> Callable:
    return lambda rng: np.maximum(1, np.round(mean * np.exp(rng.normal(-0.5, 1.0, users)))).astype(int)


def _zipf(users: int, mean: float) -> np.ndarray:
    share = 1 / np.arange(1, users + 1)
    return np.maximum(1, np.round(mean * users * share / share.sum())).astype(int)


def _goats(share: float, separation: float = 6.5, shift: float = 4.0) -> dict:
    """62 users with 9 + 96 trials; a few let half of the impostors in, the others hardly any."""

    def draw(rng: np.random.Generator, prefix: str) -> Scores:
        made = population(62, 9, 96, user_effect_sd=0.3, separation=separation, prefix=prefix, rng=rng)
        goat = rng.random(62) < share
        return _moved(made, made.negative.score + shift * goat[made.negative.user])

    def rates(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        far, frr = expected_rates(at, separation=separation)
        return share * ndtr(shift - at) + (1 - share) * far, frr

    return {"draw": draw, "rates": rates}


def _moved(made: Scores, negatives: np.ndarray) -> Scores:
    names = made.users.values
    return Scores.from_arrays(
        negatives, made.positive.score, negative_user=names[made.negative.user], positive_user=names[made.positive.user]
    )


def _outsiders(rng: np.random.Generator, prefix: str) -> Scores:
    """62 users, each attacked once by each of 20 outsiders whom no column names."""
    made = population(62, 9, 20, user_effect_sd=0.3, prefix=prefix, rng=rng)
    outsider = rng.normal(0, 0.5, 20)[np.tile(np.arange(20), 62)]
    label = np.repeat(["impostor", "genuine"], [made.n_negatives, made.n_positives])
    score = np.append(np.sqrt(1 - 0.25) * made.negative.score + outsider, made.positive.score)
    user = made.users.values[np.append(made.negative.user, made.positive.user)]
    return Scores.from_predictions(label, score, user=user)


def _independent(rng: np.random.Generator, prefix: str, *, trials: int = 4000, share: float = 0.01) -> Scores:
    """Trials of which each is positive by chance."""
    label = rng.random(trials) < share
    label[:2] = [False, True]
    return Scores.from_predictions(label.astype(int), rng.normal(3.0 * label))


def _sized(size: int) -> Callable:
    return lambda rng, prefix: Scores.from_arrays(rng.normal(0, 1, size), rng.normal(2.5, 1, size))


HARD = (
    Hard("62 users, log-normal numbers of trials", **_users(62, _lognormal(62, 9), _lognormal(62, 20), 0.5)),
    Hard("62 users, Zipf's numbers of trials", **_users(62, _zipf(62, 9), _zipf(62, 20), 0.5)),
    Hard(
        "208 users, 8 with positives and 200 with negatives",
        **_users(208, np.repeat([70, 0], [8, 200]), np.repeat([0, 10], [8, 200]), 0.5),
    ),
    Hard("62 users, 1 % lambs make the false acceptances", **_goats(0.01)),
    Hard("62 users, 2 % lambs make the false acceptances", **_goats(0.02)),
    Hard("62 users, 2 % lambs make most false acceptances", **_goats(0.02, 5.5, 2.75)),
    Hard("62 users, 9 + 96 trials, very strong effect, EER 1.6 %", **_users(62, 9, 96, 0.9, 4.3)),
    Hard("62 users, 9 + 96 trials, very strong effect, EER 0.3 %", **_users(62, 9, 96, 0.9, 5.5)),
    Hard("20 users, 9 + 96 trials, strong effect, EER 1.6 %", **_users(20, 9, 96, 0.8, 4.3)),
    Hard("62 users attacked by 20 outsiders, no probe column", _outsiders, _normal(2.5)),
    Hard(
        "4000 independent trials, 1 in 100 positive by chance",
        _independent,
        _normal(3.0),
        ("f1", "precision", "accuracy"),
        0.01,
    ),
    Hard(
        "30 + 30 development trials, 1000 + 1000 test trials",
        _sized(1000),
        _normal(2.5),
        ("hter",),
        dev=_sized(30),
        anew=True,
    ),
)


def measure_hard(number: int, repeats: int, replicates: int, step=lambda: None) -> list[Row]:
    """Make the default band of each measure, see what it covers, and which warnings came with it.

    The population is given by its number in `HARD`, which another process knows as well.
    """
    hard = HARD[number]
    tally = Tally(PART, hard.title)
    promise = EXPECTED if hard.anew else KEPT
    waiting, expected = [], []
    for repeat in range(repeats):
        dev, test = hard.set("dev", repeat), hard.set("test", repeat)
        for measure in hard.measures:
            curve = priori.epc(dev, test, alpha=ALPHAS, measure=measure)
            options = {"n_resamples": replicates, "rng": seeds(repeat, 5), "threads": 1}
            for name, wide in ((measure, False), (f"{measure}, simultaneous", True)):
                band = curve.band(simultaneous=wide, resample="both" if hard.anew else "test", **options)
                key = (f"{DEFAULT}, {name}", promise)
                tally.say(key, band.warnings)
                waiting.append((key, band.lower, band.upper, hard.value(measure, curve.threshold), wide))
            expected.append(hard.value(measure, curve.threshold))
        step()
    mean = np.mean(expected, axis=0) if hard.anew else None
    for key, lower, upper, truth, wide in waiting:
        tally.cover(key, lower, upper, truth if mean is None else mean, whole=wide)
    return tally.rows()


#: What a curve says about its limit and who errs, besides what it says of development and test set being the same.
LIMIT_CODES = ("limit-by-users", "limit-not-kept", "few-units")
#: Where a limit is hard to keep: users unlike the others, or with many more trials.
LIMITED = tuple(hard for hard in HARD if "lambs" in hard.title or "numbers of trials" in hard.title)


def measure_limits(repeats: int) -> list[Row]:
    """How often the rate of the population keeps the limit of the safe form of at-most-far."""
    rows: list[Row] = []
    for hard in LIMITED:
        tally = Tally(LIMIT_PART, hard.title)
        for repeat in range(repeats):
            dev = hard.set("dev", repeat)
            alone = Scores.from_arrays(dev.negative.score, dev.positive.score)
            for limit in (0.01, 0.05):
                for name, sample in (("trials", alone), ("users", dev)):
                    method = f"at-most-far:0.95, {name}, {100 * limit:g} %"
                    curve = priori.epc(sample, sample, criterion="at-most-far:0.95", alpha=[limit], measure="far")
                    tally.cover((method, KEEPS), 0.0, limit, hard.rates(curve.threshold)[0])
                    tally.say((method, KEEPS), [warning for warning in curve.warnings if warning.code in LIMIT_CODES])
        rows += tally.rows()
    return rows
