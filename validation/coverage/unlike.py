"""Users unlike each other: what intervals and tests do on populations of an audit, how wide they are, and who warns.

    python validation/coverage/unlike.py                  some 40 minutes on one core: unlike.csv
    python validation/coverage/unlike.py --repeats 40     rough numbers
    python validation/coverage/unlike.py --against OLD    widths relative to those of another record

Rows of kind ``healthy`` are populations as documented; those of kind ``unlike`` are the audit's; those of kind ``last``
were written down before they were measured; no interval and no caution was chosen on those of kind ``fresh``.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy.special import gammaincinv, logit, ndtr, ndtri, stdtrit

import priori
from priori.base.options import Resample
from priori.scores import Scores, Trials
from priori.testing import check_no_worse
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.rates.rate_intervals import RateTrials

RECORD = Path(__file__).with_suffix(".csv")
#: Widths are relative to these: those of intervals that did not hold where users are unlike each other.
BEFORE = RECORD.with_name("unlike_before.csv")
ALPHAS = tuple(k / 10 for k in range(1, 10))
#: The widths recorded are those at these of them, at which bands were measured before.
WIDTHS_AT = (1, 4, 7)
REPLICATES = 399
HEADER = "kind,population,result,nominal,measured,standard_error,width,ratio,warned,silent,cautions,repeats,codes"


@dataclass(frozen=True)
class Users:
    """Users with normal scores around an effect of their own, whose numbers of trials may grow with their errors.

    ``effect`` turns uniform numbers into what users add to the scores of impostors, and take from those of genuine
    trials; ``spread`` is the standard deviation of log sizes, and each adds ``follows`` to the effect. ``levels`` cuts
    scores into so many.
    """

    title: str
    users: int
    genuine: int = 9
    impostor: int = 20
    effect: Callable[[np.ndarray], np.ndarray] = field(default=lambda u: 0.5 * ndtri(u))
    spread: float = 0.0
    follows: float = 0.0
    separation: float = 2.5
    levels: int = 0
    kind: str = "unlike"
    sizes: Callable[[np.ndarray], np.ndarray] | None = None

    def _sizes(self, mean: int, uniform: np.ndarray) -> np.ndarray:
        if self.sizes is not None:
            return np.maximum(1, np.round(mean * self.sizes(uniform))).astype(int)
        return np.maximum(1, np.round(mean * np.exp(self.spread * ndtri(uniform)))).astype(int)

    def draw(self, rng: np.random.Generator, prefix: str = "u") -> Scores:
        """Draw a set."""
        uniform, effects = rng.random(self.users), self.effect(rng.random((2, self.users)))
        effects = effects + self.follows * ndtri(uniform)
        scores, owners, labels = [], [], []
        for label, mean, sign in ((0, self.impostor, 1), (1, self.genuine, -1)):
            owner = np.repeat(np.arange(self.users), self._sizes(mean, uniform))
            scores.append(sign * effects[label][owner] + rng.normal(label * self.separation, 1.0, owner.size))
            owners.append(owner)
            labels.append(np.full(owner.size, label))
        score = np.concatenate(scores)
        if self.levels:
            step = (self.separation + 4) / self.levels
            score = np.clip(np.round((score - self.separation / 2) / step), -self.levels // 2, self.levels // 2)
        names = np.char.add(prefix, np.concatenate(owners).astype(str))
        return Scores.from_predictions(np.concatenate(labels), score, user=names)

    @cached_property
    def _shifts(self) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Effects, what sizes add to them, and the share of the trials of each class that users of a size have."""
        effects = self.effect((np.arange(200) + 0.5) / 200 if self.follows else (np.arange(2000) + 0.5) / 2000)
        if not self.follows:
            return effects, np.zeros(1), (np.ones(1), np.ones(1))
        grid = (np.arange(400) + 0.5) / 400
        wide = np.concatenate([grid[:-1], 1 - np.geomspace(1 / 400, 1e-7, 100)])
        edges = np.concatenate([[0.0], (wide[1:] + wide[:-1]) / 2, [1.0]])
        shares = []
        for mean in (self.impostor, self.genuine):
            share = np.diff(edges) * self._sizes(mean, wide)
            shares.append(share / share.sum())
        return effects, self.follows * ndtri(wide), (shares[0], shares[1])

    def rates(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the FAR and the FRR of the population, per trial."""
        at = np.asarray(thresholds, dtype=float)
        if self.levels:  # scores above a threshold are those of higher levels
            step = (self.separation + 4) / self.levels
            half = self.levels // 2
            level = np.floor(np.clip(at, -self.levels, self.levels))
            at = np.where(level >= half, np.inf, np.where(level < -half, -np.inf, (level + 0.5) * step))
            at = at + self.separation / 2
        grid, far, frr = self._curves
        return np.interp(at, grid, far), np.interp(at, grid, frr)

    @cached_property
    def _curves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The error rates of the population at many thresholds."""
        effects, added, shares = self._shifts
        shift = np.clip(effects[:, None] + added, -20, 20).ravel()
        edges, grid = np.linspace(-20.005, 20.005, 4002), np.linspace(-12, 15, 1351)
        middle = (edges[1:] + edges[:-1]) / 2
        weights = [
            np.histogram(shift, edges, weights=np.broadcast_to(each, (effects.size, each.size)).ravel())[0]
            / effects.size
            for each in shares
        ]
        far = ndtr(middle - grid[:, None]) @ weights[0]
        return grid, far, ndtr(grid[:, None] - self.separation + middle) @ weights[1]

    @cached_property
    def auc(self) -> float:
        """The share of pairs of a negative and a positive trial, of different users, that are in order."""
        far, frr = self.rates(np.linspace(-8, 10, 1000))
        return float(1 - (np.diff(frr) * (far[1:] + far[:-1]) / 2).sum())


def _scaled(made: Callable[[np.ndarray], np.ndarray], sd: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda uniform: sd * made(uniform)


def _exponential(uniform: np.ndarray) -> np.ndarray:
    return -np.log1p(-uniform) - 1


def _mirrored(uniform: np.ndarray) -> np.ndarray:
    return 1 + np.log1p(-uniform)


def _cauchy(uniform: np.ndarray) -> np.ndarray:
    return np.tan(np.pi * (uniform - 0.5))


def _student(uniform: np.ndarray) -> np.ndarray:
    return stdtrit(3.0, uniform)


def _lambs(share: float, shift: float) -> Callable[[np.ndarray], np.ndarray]:
    """A share of the users errs far more than the others."""
    return lambda uniform: np.where(uniform > 1 - share, shift, 0.3 * ndtri(uniform / (1 - share)).clip(-5, 5))


GROWS = {"spread": 1.0, "follows": 0.5, "effect": _scaled(ndtri, 0.3)}
HEALTHY = (
    Users("62 users, 9 + 20 trials", 62, kind="healthy"),
    Users("30 users, 30 + 60 trials", 30, 30, 60, kind="healthy"),
    Users("20 users, 20 + 40 trials", 20, 20, 40, kind="healthy"),
    Users("62 users, log-normal sizes, unrelated to errors", 62, spread=1.0, kind="healthy"),
)
UNLIKE = (
    Users("60 users who try more err more", 60, **GROWS),
    Users("60 users, mildly", 60, spread=0.7, follows=0.3, effect=_scaled(ndtri, 0.3)),
    Users("150 users who try more err more", 150, **GROWS),
    Users("25 exponential users", 25, 20, 40, _scaled(_exponential, 0.7)),
    Users("25 mirrored exponential users", 25, 20, 40, _scaled(_mirrored, 0.7)),
    Users("25 Cauchy users", 25, 20, 40, _scaled(_cauchy, 0.3)),
    Users("60 users, 7 % goats and lambs", 60, 20, 40, _lambs(0.07, 2.0)),
    Users("40 users, 7 % goats and lambs", 40, 20, 40, _lambs(0.07, 2.0)),
)
LAMBS = Users("100 users, 5 % lambs", 100, 9, 20, _lambs(0.05, 2.0))
MORE = (
    Users(
        "50 users, a tenth of whom try ten times as often and err more",
        50,
        effect=_scaled(ndtri, 0.3),
        follows=0.4,
        sizes=lambda u: np.where(u > 0.9, 10.0, 1.0),
    ),
    Users("40 users of two kinds, half of them far worse", 40, effect=_lambs(0.5, 1.5)),
    Users("35 users, Pareto sizes, errors unrelated", 35, sizes=lambda u: 0.4 * (1 - u) ** -0.6),
)
#: Thought of after everything else was written down, and measured once.
LAST = (
    Users("50 users, Student's t with 3 degrees of freedom", 50, effect=_scaled(_student, 0.4), kind="last"),
    Users(
        "70 users who err less the more they try",
        70,
        effect=_scaled(ndtri, 0.3),
        follows=-0.4,
        sizes=lambda u: 0.1 + 1.8 * u,
        kind="last",
    ),
    Users("30 users, log-normal sizes, a fifth lambs", 30, effect=_lambs(0.2, 1.2), spread=0.8, kind="last"),
)
#: Once fresh themselves; intervals were changed since.
ONCE = (
    Users("28 users, Weibull effects", 28, 15, 30, lambda u: 0.5 * ((-np.log1p(-u)) ** 1.25 - 1.133), kind="last"),
    Users(
        "36 users, logistic effects, one to three times as many trials",
        36,
        effect=lambda u: 0.3 * logit(u),
        sizes=lambda u: 0.5 + u,
        kind="last",
    ),
    Users("22 users, a third of them worse", 22, 25, 50, _lambs(1 / 3, 1.0), kind="last"),
    Users("26 users, log-normal effects", 26, 18, 36, lambda u: 0.4 * np.exp(0.8 * ndtri(u)) - 0.55, kind="last"),
)
#: No interval and no caution was chosen on these.
FRESH = (
    Users("30 users, chi-squared effects", 30, 18, 36, lambda u: 0.35 * (ndtri(u) ** 2 - 1), kind="fresh"),
    Users(
        "34 users, Laplace effects, gamma sizes",
        34,
        effect=lambda u: -0.35 * np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5)),
        sizes=lambda u: gammaincinv(2.0, u) / 2,
        kind="fresh",
    ),
    Users("24 users of two kinds, equally many", 24, 12, 24, lambda u: np.where(u > 0.5, 0.6, -0.6), kind="fresh"),
)
#: Whose costs as log-likelihood ratios are measured.
COSTED = (*HEALTHY, *(one for one in (*UNLIKE, *LAST) if "Cauchy" not in one.title))


class Tally:
    """What was gathered about one result on one population."""

    def __init__(self, kind: str, population: str, result: str, nominal: float = 0.95) -> None:
        self.name, self.nominal = (kind, population, result), nominal
        self.shares: list[float] = []
        self.widths: list[float] = []
        self.said: list[list[str]] = []

    def add(self, share: float, width: float, warnings: tuple[str, ...]) -> None:
        """Count a result: the share of it that is right, and the codes of its cautions."""
        self.shares.append(float(share))
        self.widths.append(float(width))
        self.said.append([warning.code for warning in warnings])

    def row(self, before: dict[tuple[str, str], float]) -> list[str]:
        """Return the line of the record; ``silent`` is what is right of the results that carry no caution."""
        shares, quiet = np.array(self.shares), np.array([not codes for codes in self.said])
        error, width = shares.std(ddof=1) / np.sqrt(shares.size), float(np.mean(self.widths))
        old = before.get(self.name[1:])
        numbers = [self.nominal, shares.mean(), error, width, width / old if old else np.nan, 1 - quiet.mean()]
        numbers += [shares[quiet].mean() if quiet.any() else np.nan, np.mean([len(codes) for codes in self.said])]
        codes = Counter(code for said in self.said for code in set(said))
        told = "; ".join(f"{code} {100 * number / quiet.size:.0f}" for code, number in codes.most_common())
        return [*self.name, *(f"{number:.4f}" for number in numbers), str(quiet.size), told]


def _rng(population: str, *seed: int) -> np.random.Generator:
    return np.random.default_rng((crc32(population.encode()), *seed))


def single_system(population: Users, repeats: int) -> Iterator[Tally]:
    """Bands and cross-fitted curves of one system."""
    tallies: dict[str, Tally] = {}

    def tally(result: str) -> Tally:
        return tallies.setdefault(result, Tally(population.kind, population.title, result))

    for repeat in range(repeats):
        rng = _rng(population.title, repeat)
        dev, test = population.draw(rng, "d"), population.draw(rng)
        options = {"n_resamples": REPLICATES, "rng": repeat, "threads": 1}
        for measure in ("hter", "far"):
            curve = priori.epc(dev, test, alpha=ALPHAS, measure=measure)
            far, frr = population.rates(curve.threshold)
            truth = (far + frr) / 2 if measure == "hter" else far
            for result, more in (("band", {}), ("simultaneous band", {"simultaneous": True})):
                band = curve.band(**options, **more)
                inside = (band.lower <= truth) & (truth <= band.upper)
                right = inside.all() if more else inside.mean()
                tally(f"{result} {measure}").add(right, band.width[[*WIDTHS_AT]].mean(), band.warnings)
        folds = priori.cross_epc(test, folds=5, alpha=ALPHAS, rng=repeat)
        band = folds.band(**options)
        shares = [np.bincount(own) / own.size for own in folds.fold]
        rates = [population.rates(part.threshold) for part in folds.curves]
        far, frr = (np.stack(each) for each in zip(*rates, strict=True))
        truth = (shares[0] @ far + shares[1] @ frr) / 2
        tally("cross_epc band hter").add(band.covers(truth), band.width[[*WIDTHS_AT]].mean(), band.warnings)
    yield from tallies.values()


def rates(population: Users, repeats: int) -> Iterator[Tally]:
    """Single rates at one threshold: all sets are groups of one, whose users are drawn by their numbers of errors."""
    threshold, users = 1.7, population.users
    truths = (float(each[0]) for each in population.rates(np.array([threshold])))
    rng = _rng(population.title, 7)
    uniform = rng.random((repeats, users))
    effects = population.effect(rng.random((2, repeats, users))) + population.follows * ndtri(uniform)
    shares = ndtr(effects[0] - threshold), ndtr(threshold - population.separation + effects[1])
    sizes_of = population.impostor, population.genuine
    for rate, truth, share, mean in zip(("far", "frr"), truths, shares, sizes_of, strict=True):
        sizes = population._sizes(mean, uniform)
        errors = rng.binomial(sizes, share)
        number = np.concatenate([errors.ravel(), (sizes - errors).ravel()])
        seen, wrong = number > 0, np.repeat([True, False], errors.size)
        group, user = (np.tile(each.ravel(), 2)[seen] for each in np.indices(errors.shape))
        trials = RateTrials(Trials(np.zeros(user.size), user, number=number[seen]), wrong[seen])
        counted = trials.counted("user", group, repeats)
        lower, upper = counted.limits(0.95)
        tally = Tally(population.kind, population.title, f"rate_interval {rate}")
        for row, inside in enumerate((lower <= truth) & (truth <= upper)):
            tally.add(inside, upper[row] - lower[row], counted.cautions(row))
        yield tally


def areas(population: Users, repeats: int) -> Iterator[Tally]:
    """The AUC of one system."""
    tally = Tally(population.kind, population.title, "auc interval")
    for repeat in range(repeats):
        area = priori.a_posteriori_auc_interval(population.draw(_rng(population.title, repeat, 7)))
        tally.add(area.lower <= population.auc <= area.upper, area.width, area.warnings)
    yield tally


# -- two systems and more ----------------------------------------------------------------------------------------


def pairs(population: Users, repeats: int) -> Iterator[Tally]:
    """How often two systems on the same trials, equal in truth, are found to differ."""
    names = "compare, as methods, alpha 0.5", "compare, these thresholds, alpha 0.5", "AUC test"
    method, deployed, areas = (Tally(population.kind, population.title, name, 0.05) for name in names)
    options = {"n_resamples": 999, "threads": 1}
    for repeat in range(repeats):
        rng = _rng(population.title, repeat, 8)
        dev, test = (_systems(population, 2, rng, prefix) for prefix in "du")
        curves = [priori.epc(*sets, alpha=[0.5], name=name) for *sets, name in zip(dev, test, "AB", strict=True)]
        found = priori.compare(*curves, rng=repeat, **options)
        method.add(np.mean(found.p_value < 0.05), float((found.upper - found.lower)[0]), found.warnings)
        fixed = _ideal(population)
        curves = [priori.epc(fixed, each, alpha=[0.5], name=name) for each, name in zip(test, "AB", strict=True)]
        found = priori.compare(*curves, claim="deployed", rng=repeat, **options)
        deployed.add(np.mean(found.p_value < 0.05), float((found.upper - found.lower)[0]), found.warnings)
        tested = priori.a_posteriori_auc_test(*test)
        areas.add(tested.p_value < 0.05, tested.upper - tested.lower, tested.warnings)
    yield from (method, deployed, areas)


def _systems(population: Users, number: int, rng: np.random.Generator, prefix: str = "u") -> list[Scores]:
    """Draw systems that are equally good on the same trials of the same users."""
    first = population.draw(rng, prefix)
    made = []
    for _ in range(number):
        own = population.effect(rng.random((2, population.users))) / 2
        parts = []
        for label, trials in enumerate((first.negative, first.positive)):
            sign = 1 - 2 * label
            parts.append(trials.score + sign * own[label][trials.user] + rng.normal(0, 0.7, trials.score.size))
        label = np.repeat([0, 1], [first.n_negatives, first.n_positives])
        names = first.users.values[np.concatenate([first.negative.user, first.positive.user])]
        made.append(Scores.from_predictions(label, np.concatenate(parts), user=names))
    return made


def _ideal(population: Users) -> Scores:
    """Return scores as wide as those of `_systems`, or development and test set would disagree."""
    grid = ndtri((np.arange(400) + 0.5) / 400)
    sd = np.sqrt(1.49 + 1.25 * np.var(population.effect(ndtr(grid))) + population.follows**2)
    return Scores.from_arrays(sd * grid, sd * grid + population.separation)


def leaderboard(population: Users, repeats: int, systems: int = 12) -> Iterator[Tally]:
    """How often `rank` finds a difference among systems that are equal."""
    tally = Tally(population.kind, population.title, f"rank of {systems} equal systems", 0.05)
    ideal = _ideal(population)
    for repeat in range(repeats):
        sets = _systems(population, systems, _rng(population.title, repeat, 1))
        curves = [priori.epc(ideal, each, alpha=[0.5], name=f"S{k}") for k, each in enumerate(sets)]
        board = priori.rank(curves, n_resamples=999, rng=repeat, threads=1)
        apart = (board.rank_lower > 1) | (board.rank_upper < systems)
        tally.add(bool(apart.any()), 0.0, board.warnings)
    yield tally


def _harmed(users: int, share: float, harm: float, rng: np.random.Generator) -> tuple[Scores, Scores]:
    """Two systems of which one rejects a share of the users in ``harm`` more of their genuine trials."""
    effect = rng.normal(0, 0.5, (2, users))
    sets, harmed = [], rng.random(users) < share
    noise = [rng.normal(0, 0.7, users * 20), rng.normal(0, 0.7, users * 10)]
    names = np.char.add(
        "u", np.concatenate([np.repeat(np.arange(users), 20), np.repeat(np.arange(users), 10)]).astype(str)
    )
    label = np.repeat([0, 1], [users * 20, users * 10])
    for worse in (True, False):
        negative = np.repeat(effect[0], 20) + noise[0] + rng.normal(0, 0.7, noise[0].size)
        positive = 2.5 - np.repeat(effect[1], 10) + noise[1] + rng.normal(0, 0.7, noise[1].size)
        if worse:
            lost = np.repeat(harmed, 10) & (rng.random(positive.size) < harm)
            positive = np.where(lost, positive - 9.0, positive)
        sets.append(Scores.from_predictions(label, np.concatenate([negative, positive]), user=names))
    return sets[0], sets[1]


def margins(repeats: int) -> Iterator[Tally]:
    """How often the gate passes a system whose HTER is worse by exactly the margin; and one as good."""
    at = 1.25
    dev = Scores.from_arrays([at - 1], [at + 1])
    still_right = 1 - float(ndtr((at - 2.5) / np.sqrt(0.25 + 0.98)))
    for users in (20, 30, 40, 80):
        for share, harm in ((0.06, 0.29 / 0.45), (0.03, 0.9), (0.12, 0.3), (0.0, 0.0)):
            true = share * harm * still_right / 2 if share else 0.0
            kind = "unlike" if share else "power"
            name = (
                f"{users} users, {100 * share:g} % harmed by {harm:.2f}" if share else f"{users} users, nobody harmed"
            )
            tally = Tally(kind, name, "no worse by the margin", 0.025 if share else 1.0)
            for repeat in range(repeats):
                a, b = _harmed(users, share, harm, _rng(name, repeat))
                curves = [priori.epc(dev, each, alpha=[0.5], name=n) for each, n in ((a, "A"), (b, "B"))]
                found = check_no_worse(*curves, true or 0.03, Resampling(n_resamples=999, rng=repeat), threads=1)
                tally.add(found.kept, found.upper - found.lower, found.warnings)
            yield tally


def limits(population: Users, repeats: int) -> Iterator[Tally]:
    """How often the rate of the population keeps the limit of at-most-far:0.95."""
    for limit in (0.01, 0.05):
        tally = Tally(population.kind, population.title, f"at-most-far:0.95, {100 * limit:g} %")
        for repeat in range(repeats):
            dev = population.draw(_rng(population.title, repeat, 2))
            curve = priori.epc(dev, dev, criterion="at-most-far:0.95", alpha=[limit], measure="far")
            far, frr = population.rates(curve.threshold)
            said = tuple(warning for warning in curve.warnings if warning.code in LIMIT_CODES)
            tally.add(far[0] <= limit, frr[0], said)
        yield tally


#: What a curve says about its limit, besides what it says of development and test set being the same.
LIMIT_CODES = ("limit-by-users", "limit-not-kept")


def plans(population: Users, repeats: int, width: float) -> Iterator[Tally]:
    """How often a study of the planned size is as narrow as asked, with assurance 80 %."""
    tally = Tally(population.kind, population.title, "plan, assurance 80 %", 0.8)
    for repeat in range(repeats):
        rng = _rng(population.title, repeat, 3)
        pilot = priori.epc(population.draw(rng, "d"), population.draw(rng), alpha=[0.5])
        planned = priori.plan(width=width, pilot=pilot, assurance=0.8)
        larger = replace(population, users=planned.users)
        study = priori.epc(larger.draw(rng, "d"), larger.draw(rng), alpha=[0.5])
        found = study.band(n_resamples=REPLICATES, rng=repeat, threads=1).width[0]
        tally.add(found <= width, planned.users, planned.warnings)
    yield tally


def levels(repeats: int) -> Iterator[Tally]:
    """Bands of both sets where scores have few levels: the expected curve is the mean over all sets."""
    for number in (4, 6):
        population = Users(f"62 users, {number + 1} distinct scores", 62, levels=number)
        found = []
        resample: Resample = "both"
        for repeat in range(repeats):
            rng = _rng(population.title, repeat)
            curve = priori.epc(population.draw(rng, "d"), population.draw(rng), alpha=[0.1, 0.5, 0.9])
            band = curve.band(resample=resample, n_resamples=REPLICATES, rng=repeat, threads=1)
            far, frr = population.rates(curve.threshold)
            found.append(((far + frr) / 2, band))
        truth = np.mean([value for value, _ in found], axis=0)
        tally = Tally("unlike", population.title, "band hter, resample both")
        for _, band in found:
            tally.add(band.covers(truth), band.expected_width, band.warnings)
        yield tally


def skewed_pairs(repeats: int) -> Iterator[Tally]:
    """How often `compare` finds a difference between a skewed system and its mirror image, which are equal."""
    tally = Tally("unlike", "20 users, skewed against mirrored system", "compare, alpha 0.1 and 0.9", 0.05)
    values = []
    for repeat in range(repeats):
        rng = _rng("skewed", repeat)
        sets = [_skewed(rng, prefix) for prefix in "du"]
        curves = [priori.epc(sets[0][k], sets[1][k], alpha=[0.1, 0.9], name="AB"[k]) for k in range(2)]
        values.append(priori.compare(*curves, n_resamples=999, rng=repeat, threads=1))
    # In truth the difference at 0.1 is minus that at 0.9, and not 0: the null is the mean over all sets.
    truth = np.mean([found.pointwise.expected for found in values], axis=0)
    for found in values:
        outside = (found.lower > truth) | (found.upper < truth)
        tally.add(outside.mean(), float(np.mean(found.upper - found.lower)), found.warnings)
    yield tally


def _skewed(rng: np.random.Generator, prefix: str) -> list[Scores]:
    users, sizes = 20, (20, 9)
    label = np.repeat([0, 1], [users * size for size in sizes])
    owner = np.concatenate([np.repeat(np.arange(users), size) for size in sizes])
    effect = rng.normal(0, 0.5, (2, users))[label, owner]
    gumbel = rng.gumbel(0, 1, label.size)
    noise = (gumbel - 0.5772) / 1.2825
    names = np.char.add(prefix, owner.astype(str))
    return [Scores.from_predictions(label, 2.4 * label + sign * (noise + effect), user=names) for sign in (1.0, -1.0)]


def crossed(repeats: int) -> Iterator[Tally]:
    """The AUC where named outsiders, skewed as users are, made the impostor trials."""
    tally = Tally("unlike", "30 skewed users attacked by 15 named outsiders", "auc interval")
    sd = 0.6
    grid = _exponential((np.arange(200) + 0.5) / 200) * sd
    total = grid[:, None, None] + grid[:, None] + grid
    truth = float(ndtr((2.5 - total) / np.sqrt(2)).mean())
    for repeat in range(repeats):
        rng = _rng("outsiders", repeat)
        own, outside = _exponential(rng.random((2, 30))) * sd, _exponential(rng.random(15)) * sd
        claimed, probe = np.repeat(np.arange(30), 15), np.tile(np.arange(15), 30)
        genuine = np.repeat(np.arange(30), 9)
        negative = own[0][claimed] + outside[probe] + rng.normal(size=claimed.size)
        positive = 2.5 - own[1][genuine] + rng.normal(size=genuine.size)
        users = np.char.add("u", np.concatenate([claimed, genuine]).astype(str))
        probes = np.concatenate([np.char.add("o", probe.astype(str)), np.char.add("u", genuine.astype(str))])
        label = np.repeat([0, 1], [claimed.size, genuine.size])
        scores = Scores.from_predictions(label, np.concatenate([negative, positive]), user=users, probe_user=probes)
        found = priori.a_posteriori_auc_interval(scores)
        tally.add(found.lower <= truth <= found.upper, found.width, found.warnings)
    yield tally


def averages(repeats: int) -> Iterator[Tally]:
    """The mean AUC over six data sets whose quality is skewed."""
    tally = Tally("unlike", "6 data sets of skewed quality", "average, AUC")
    grid = (np.arange(20_000) + 0.5) / 20_000
    truth = float(ndtr((2.2 - 0.5 * -np.log1p(-grid)) / np.sqrt(2)).mean())
    for repeat in range(repeats):
        rng = _rng("averages", repeat)
        qualities = 2.2 - 0.5 * rng.exponential(size=6)
        parts = [Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(each, 1, 200)) for each in qualities]
        found = priori.average(parts, positions=[0.2])
        tally.add(found.auc.lower <= truth <= found.auc.upper, found.auc.upper - found.auc.lower, found.warnings)
    yield tally


def costs(population: Users, repeats: int) -> Iterator[Tally]:
    """Cllr of scores that are nearly log-likelihood ratios."""
    tally = Tally(population.kind, population.title, "llr_costs, Cllr")

    def drawn(users: int, *seed: int) -> Scores:
        made = replace(population, users=users).draw(_rng(population.title, *seed))
        negative, positive = (
            population.separation * (trials.score - population.separation / 2)
            for trials in (made.negative, made.positive)
        )
        names = made.users.values
        users_of = {"negative_user": names[made.negative.user], "positive_user": names[made.positive.user]}
        return Scores.from_arrays(negative, positive, **users_of)

    large = drawn(20_000, 0, 5)
    truth = priori.llr_costs(large, large, dependence="none").value[0]
    for repeat in range(repeats):
        test = drawn(population.users, repeat, 4)
        found = priori.llr_costs(test, test)
        lower, upper = found.lower[0], found.upper[0]
        tally.add(lower <= truth <= upper, upper - lower, found.warnings)
    yield tally


def defaults(population: Users, repeats: int) -> Iterator[Tally]:
    """What a band and a comparison of two equal systems say on the default grid of alphas."""
    band = Tally(population.kind, population.title, "band hter, default grid")
    pair = Tally(population.kind, population.title, "compare, default grid", 0.05)
    for repeat in range(repeats):
        rng = _rng(population.title, repeat, 6)
        sets = [_systems(population, 2, rng, prefix) for prefix in "du"]
        curves = [priori.epc(dev, test, name=name) for dev, test, name in zip(*sets, "AB", strict=True)]
        options = {"n_resamples": 999, "rng": repeat, "threads": 1}
        made = priori.epc(population.draw(rng, "d"), population.draw(rng)).band(**options)
        band.add(made.covers(_hter(population, made.curve.threshold)), made.expected_width, made.warnings)
        found = priori.compare(*curves, **options)
        outside = (found.lower > 0) | (found.upper < 0)
        pair.add(outside.mean(), float(np.mean(found.upper - found.lower)), found.warnings)
    yield from (band, pair)


def _hter(population: Users, thresholds: np.ndarray) -> np.ndarray:
    far, frr = population.rates(thresholds)
    return (far + frr) / 2


#: Everything that is measured, by a name.
def tasks(repeats: int) -> dict[str, Callable[[], Iterator[Tally]]]:
    few = max(repeats // 2, 20)
    work: dict[str, Callable[[], Iterator[Tally]]] = {}
    for one in (*HEALTHY, *UNLIKE, *MORE, *LAST):
        work[one.title] = lambda one=one: single_system(one, repeats)
    grows = Users("40 users who try more err more", 40, **GROWS)
    return work | {
        "rates": lambda: (t for one in (*HEALTHY, *UNLIKE, *MORE, *LAST, *ONCE) for t in rates(one, 20 * repeats)),
        "areas": lambda: (t for one in (*HEALTHY, *UNLIKE, *MORE, *LAST, *ONCE) for t in areas(one, 5 * repeats)),
        "tests": lambda: (t for one in ONCE for t in pairs(one, 2 * repeats)),
        "fresh, rates": lambda: (t for one in FRESH for t in rates(one, 20 * repeats)),
        "fresh": lambda: (t for one in FRESH for made in (areas, pairs) for t in made(one, 2 * repeats)),
        "rank": lambda: leaderboard(grows, few),
        "rank, healthy": lambda: leaderboard(Users("40 users, 9 + 20 trials", 40, kind="healthy"), few),
        "margins": lambda: margins(2 * repeats),
        "limits": lambda: (t for one in (*HEALTHY[:1], *UNLIKE) for t in limits(one, repeats)),
        "limits, lambs": lambda: limits(LAMBS, 3 * repeats),
        "plan": lambda: plans(UNLIKE[0], few, 0.06),
        "plan, healthy": lambda: plans(HEALTHY[0], few, 0.05),
        "levels": lambda: levels(few),
        "skewed": lambda: skewed_pairs(few),
        "costs": lambda: (t for one in COSTED for t in costs(one, repeats)),
        "defaults": lambda: (t for one in HEALTHY for t in defaults(one, few)),
        "crossed": lambda: crossed(repeats),
        "averages": lambda: averages(repeats),
    }


def _read(path: Path) -> list[list[str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=300, help="sets a population; half for what is slow")
    parser.add_argument("--only", action="append", help="measure this and keep the rest of the record")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--against", type=Path, default=BEFORE, help="a record with the widths to compare with")
    given = parser.parse_args()
    work = tasks(given.repeats)
    if given.only and not set(given.only) <= set(work):
        parser.error(f"--only takes {', '.join(work)}")
    before = {(row[1], row[2]): float(row[6]) for row in _read(given.against)}
    rows = {(row[1], row[2]): row for row in (_read(given.record) if given.only else [])}
    for name in given.only or work:
        start = time.monotonic()
        made = [tally.row(before) for tally in work[name]()]
        rows |= {(row[1], row[2]): row for row in made}
        with given.record.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER.split(","))
            writer.writerows(rows.values())
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
