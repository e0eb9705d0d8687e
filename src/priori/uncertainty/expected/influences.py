"""Influences: what each unit of a set moves the value of a system by, under thresholds that vary.

A unit is what is drawn as a whole: a user, a trial, or a random group of many. A value is a function of the counts of
the four outcomes; a trial moves it by the slope of the function in the count that the trial is part of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.base.types import Floats, Ints
from priori.scores import Scores
from priori.scores.influence import Moves, People, freedom_of_sizes, kish, satterthwaite, welch
from priori.uncertainty.bootstrap.layout import Owners, attacks_of

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.resampling import BootstrapPlan

#: The seed of random groups, beside the plan's.
GROUPS = 3_000_019
#: Pairs of identities are added up in this many random sums, enough for the sum of their squares.
PAIR_SUMS = 1000
EVERY = slice(None)


@dataclass(frozen=True, eq=False)
class Units:
    """The units of the negatives and of the positives; those from one of ``strata`` to the next are drawn together."""

    classes: tuple[People, People]
    strata: Ints

    @property
    def count(self) -> int:
        """The number of units."""
        return int(self.strata[-1])

    @property
    def partner(self) -> NDArray[Any] | None:
        """The other unit of each negative where trials are crossed, -1 where it has none."""
        return self.classes[0].partner

    @cached_property
    def sizes(self) -> Floats:
        """The trials of each class (rows) that units have, in either role."""
        return np.stack([people.sizes.sum(axis=0) for people in self.classes])

    @cached_property
    def correction(self) -> Floats:
        """What the influence of a unit lacks because deviations are taken from the mean observed: its inverse.

        A unit with the share h of a class pulls the mean to itself by so much (Bell and McCaffrey 2002, CR2); of n
        equal ones n / (n - 1) of the variance is left to add. More than half of a class counts as half. What is lost
        of a single class (`People.lost`) is more where trials are crossed, and too much here: the test of methods was
        conservative with it (2.0 % of 5 with 30 people, and intervals a tenth wider with 15).
        """
        share = (self.sizes / np.maximum(self.sizes.sum(axis=1, keepdims=True), 1e-300)).max(axis=0)
        return np.asarray(1 / np.sqrt(1 - np.minimum(share, 0.5))[:, None])

    @property
    def effective(self) -> float:
        """The effective units of the class that has fewer (Kish 1965)."""
        return float(kish(self.sizes.T).min())

    def centre(self, influence: Floats) -> Floats:
        """Return influences that add up to 0 in every stratum, by trials where strata are classes."""
        sizes = self.sizes.sum(axis=0) if self.strata.size > 2 else np.ones(self.count)
        centred = influence.copy()
        for start, end in pairwise(self.strata):
            share = sizes[start:end] / sizes[start:end].sum()
            centred[start:end] -= np.multiply.outer(share, influence[start:end].sum(axis=0))
        return centred

    def degrees(self, influence: Floats, sizes: Floats | None = None) -> Floats:
        """Return the degrees of freedom of influences (units, systems, alphas) at each alpha.

        The effective units (Kish 1965) of both classes together, each class with its share of the variance: a user
        in both is one unit, and classes of different users are as Welch and Satterthwaite have them.
        """
        sizes = self.sizes if sizes is None else sizes
        share = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1e-300)
        of_class = share / np.maximum(share.sum(axis=0), 1e-300)
        return np.asarray(freedom_of_sizes(sizes, (of_class @ (influence**2).sum(axis=1))[:, None])[0])


def group_units(scores: Scores, plan: BootstrapPlan, most: int, identities: Owners | None = None) -> Units:
    """Return what a plan draws of a set: users (by ``identities`` that are known, or its own), or trials.

    Where these are more than ``most``, random groups of them. Trials are drawn class by class, or in rows so that the
    share of positives varies. Of trials that are counted by random parts, the parts are drawn.
    """
    rng, classes = np.random.default_rng((plan.seed, GROUPS)), (scores.negative, scores.positive)
    sizes, counted = [trials.score.size for trials in classes], scores.negative.number is not None

    def group(count: int, limit: int) -> NDArray[np.int32]:
        return (np.arange(count) if count <= limit else rng.permutation(count) % limit).astype(np.int32)

    if identities is None and plan.design.by_user:
        (identities,) = plan.design.identities([scores])
    starts, partner, count = [0], None, 0
    if identities is not None:
        groups, others = group(identities[0].count, most), identities[0].partner
        count = int(groups.max()) + 1  # users of whom this set has no trial among them: the other set may have some
        negative, positive = (groups[each.unit] for each in identities)
        if others is not None:
            partner = groups[others]
            partner[(others < 0) | (partner == negative)] = -1  # two people in one group are drawn as one
    elif plan.design.draws_rows:
        parts = People.of(*classes, crossed=False) if counted else None
        negative, positive = [each.unit for each in parts] if parts else np.split(group(sum(sizes), most), sizes[:1])
    else:
        parts = [People.of(trials, crossed=False)[0] for trials in classes] if counted else None
        negative, positive = [each.unit for each in parts] if parts else [group(size, most // 2) for size in sizes]
        starts.append(int(negative.max()) + 1)
        positive = (positive + starts[-1]).astype(np.int32)
    count = max(count, int(negative.max()) + 1, int(positive.max()) + 1)
    people = People(negative, count, partner, classes[0].number), People(positive, count, number=classes[1].number)
    return Units(people, np.array([*starts, count]))


class Judged(NamedTuple):
    """One system on the test set: ``values`` (sets, alphas) at the thresholds of each set, and what every trial of
    either class moves their mean by at each alpha.
    """

    values: Floats
    classes: tuple[Moves, Moves]


def influence_of(
    tests: Sequence[Scores], judged: Iterable[Judged], each: Sequence[Units]
) -> tuple[Floats, Floats | float]:
    """Return what each unit of the test set moves each value by, (units, systems, alphas), and a share.

    Where trials are crossed, the sums of both roles have the variance of pairs of units twice; the share of the
    variance that is left without it, at each alpha, is the second value. Systems are gone through once.
    """
    units = each[0]
    sums: list[list[Floats]] = [[], [], []]
    for test, system, own in zip(tests, judged, each, strict=True):
        weights = test.negative_weights, test.positive.number
        found = zip(system.classes, own.classes, weights, strict=True)
        of_units = sum(moves.sums(people.unit, units.count, EVERY, number) for moves, people, number in found)
        if test.mixture is not None:
            of_units = of_units - _of_shares(test, system.classes[0], own)
        sums[0].append(np.asarray(of_units))
        for found_sums, more in zip(sums[1:], _crossed(system.classes[0], own.classes[0], weights[0]), strict=False):
            found_sums.append(more)
    of_claimed = np.stack(sums[0], axis=1)
    one_way = units.correction[:, :, None] * units.centre(of_claimed)
    if not sums[1]:
        return one_way, 1.0
    of_partners, by_pair = (np.stack(each_system, axis=1) for each_system in sums[1:])
    either = units.centre(of_claimed + of_partners)
    two_way = units.correction[:, :, None] * without_noise(either, by_pair)
    lowest, variance = (one_way**2).sum(axis=0), (two_way**2).sum(axis=0)
    # Never below what the claimed identities alone would have: few people can leave nothing, or less, of two-way sums.
    influence = np.where(variance >= lowest, two_way, one_way)
    twice = ((units.correction[:, :, None] * either) ** 2).sum(axis=(0, 1))
    share = np.divide((influence**2).sum(axis=(0, 1)), twice, out=np.ones_like(twice), where=twice > 0)
    return influence, np.clip(share, 0.5, 1.0)


def _of_shares(test: Scores, negatives: Moves, units: Units) -> Floats:
    """Return what units would move values by that had more attacks, or impostors, than their share: these are fixed."""
    claimed = units.classes[0].unit
    weights = np.ones(claimed.size) if test.negative_weights is None else test.negative_weights
    total = np.zeros((units.count, negatives.moves.shape[1]))
    for part in (attacks_of(test), ~attacks_of(test)):
        mean = negatives.sums(np.zeros(claimed.size, np.intp)[part], 1, part, None)[0] / np.count_nonzero(part)
        total += np.multiply.outer(np.bincount(claimed[part], weights[part], units.count), mean)
    return total


def _crossed(negatives: Moves, people: People, weights: NDArray[Any] | None) -> list[Floats]:
    """Return what units move values by as partners, and random sums of what pairs do, the same for all systems."""
    if len(people.roles) < 2:
        return []
    partner, crossed = people.roles[1]
    number = np.ones(partner.size) if weights is None else weights[crossed]
    (pair, sizes, _), rng = people.pairs, np.random.default_rng(0)
    sums = np.arange(sizes.size) if sizes.size <= PAIR_SUMS else rng.integers(0, PAIR_SUMS, sizes.size)
    signs = rng.choice([-1.0, 1.0], sizes.size)
    by_pair = negatives.sums(sums[pair], min(sizes.size, PAIR_SUMS), crossed, signs[pair] * number)
    return [negatives.sums(partner, people.count, crossed, number), by_pair]


def without_noise(influence: Floats, noise: Floats) -> Floats:
    """Return influences (units, systems, alphas) whose sums of products are those given minus those of ``noise``.

    At each alpha they are, for all systems together, as if that alpha were alone: what would be negative is 0. Between
    alphas they are as near as can be.
    """
    given, lost = (each.reshape(len(each), -1) for each in (influence, noise))
    left, size, right = np.linalg.svd(given, full_matrices=False)
    kept = size > 1e-9 * size.max(initial=0.0)
    if not kept.any():
        return influence
    left, size, right = left[:, kept], size[kept], right[kept]
    across = lost @ right.T
    together = left @ _nearest(np.diag(size), np.diag(size**2) - across.T @ across) @ right
    # To be possible at all alphas together products grew: each alpha goes back to its own, and where nothing of it is
    # left in common, to the influences that it had.
    guide = (together + 1e-6 * given).reshape(influence.shape).transpose(2, 0, 1)
    return _nearest(guide, _products(influence) - _products(noise)).transpose(1, 2, 0)


def _products(influence: Floats) -> Floats:
    """Return the sums of products of systems at each alpha: (alphas, systems, systems)."""
    at_alpha = influence.transpose(2, 1, 0)
    return np.asarray(at_alpha @ at_alpha.swapaxes(1, 2))


def _nearest(influence: Floats, products: Floats) -> Floats:
    """Return the influences nearest to these (last two axes) that have such products, as far as none is negative."""
    values, vectors = np.linalg.eigh(products)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]) @ vectors.swapaxes(-1, -2)
    left, _, right = np.linalg.svd(influence @ root, full_matrices=False)
    return np.asarray(left @ right @ root)


# -- what units move the values of systems by ------------------------------------------------------------------------

#: The purpose of the stream of normal weights; one more for each part.
WEIGHTS = 2_000_003
#: Normal weights made at once: some ten megabytes.
AT_A_TIME = 1 << 21


@dataclass(frozen=True, eq=False)
class Part:
    """One source of variation: the test set, the development set, or both where they have the same users.

    ``influence`` has the shape (units, systems, alphas): what each unit moves each value by. The variance of a
    contrast is the sum of its squares; the correction for few units is inside. ``degrees`` are the most degrees of
    freedom that this variance can have at each alpha; see `satterthwaite`.
    """

    influence: Floats
    degrees: Floats


@dataclass(frozen=True, eq=False)
class Estimates:
    """The expected value of each system (rows) at each alpha (columns), with independent sources of variation.

    The variance of any contrast of systems is the sum of the squares of what the units contribute to it, so one set of
    influences serves every comparison.

    ``warnings`` say where they are not to be trusted.
    """

    value: Floats
    parts: tuple[Part, ...]
    warnings: tuple[str, ...] = ()

    @property
    def fewest(self) -> Floats:
        """The most degrees of freedom of the smallest part at each alpha: those of what no unit showed."""
        return np.asarray(np.min([part.degrees for part in self.parts], axis=0))

    def at(self, point: int, systems: slice | Sequence[int] = slice(None)) -> Estimates:
        """Return the estimates of the systems, or of some of them, at one alpha."""
        here = slice(point, point + 1)
        parts = tuple(Part(part.influence[:, systems, here], part.degrees[here]) for part in self.parts)
        return Estimates(self.value[systems, here], parts, self.warnings)

    def contrast(self, weights: ArrayLike, shares: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """Return a weighted sum of the systems at each alpha, its variance and degrees of freedom.

        With ``shares``, the weights of the alphas, the same of the mean over alphas, in arrays of one. The degrees of
        several parts come together by Welch and Satterthwaite.

        Examples
        --------
        >>> import numpy as np
        >>> part = Part(np.array([[[1.0], [0.0]], [[0.0], [2.0]]]), np.array([1.0]))
        >>> difference, variance, degrees = Estimates(np.array([[3.0], [1.0]]), (part,)).contrast([1, -1])
        >>> difference.tolist(), variance.tolist(), degrees.tolist()
        ([2.0], [5.0], [1.0])
        """
        weights = np.asarray(weights, dtype=np.float64)
        value, squares, degrees = weights @ self.value, [], []
        for part in self.parts:
            moved = sum(weights[system] * part.influence[:, system] for system in np.flatnonzero(weights))
            most = part.degrees
            if shares is not None:
                moved, most = (moved @ shares)[:, None], np.atleast_1d(most @ shares)
            square = moved**2
            squares.append(square.sum(axis=0))
            degrees.append(satterthwaite(squares[-1], (square**2).sum(axis=0), most, units=len(moved)))
        value = value if shares is None else np.atleast_1d(value @ shares)
        return value, np.sum(squares, axis=0), welch(squares, degrees)

    def draws(self, n: int, seed: int, first: int = 0) -> Floats:
        """Return ``n`` draws, from number ``first`` on, of how far estimates lie from what they estimate.

        The influences of the units times independent standard normal numbers, the same for all systems and alphas:
        (n, systems, alphas).
        """
        from scipy.special import ndtri

        from priori.uncertainty.bootstrap.streams import uniforms

        deviations = np.zeros((n, *self.value.shape))
        for number, part in enumerate(self.parts):
            units = len(part.influence)
            step = max(1, AT_A_TIME // max(units, 1))
            for start in range(0, n, step):
                rows = deviations[start : start + step]
                normal = np.empty((len(rows), units))
                uniforms(seed, WEIGHTS + number, first + start, normal)
                rows += (ndtri(normal) @ part.influence.reshape(units, -1)).reshape(rows.shape)
        return deviations


def side_by_side(each: Sequence[Estimates]) -> Estimates:
    """Return the estimates of several systems that were drawn apart in one."""
    value = np.concatenate([estimates.value for estimates in each])
    warnings = tuple(dict.fromkeys(warning for estimates in each for warning in estimates.warnings))
    parts, first = [], 0
    for estimates in each:
        for part in estimates.parts:
            influence = np.zeros((len(part.influence), *value.shape))
            influence[:, first : first + len(estimates.value)] = part.influence
            parts.append(Part(influence, part.degrees))
        first += len(estimates.value)
    return Estimates(value, tuple(parts), warnings)
