"""Units: what is drawn as a whole (users, trials, or random groups of many), and what influences of units become."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints
from priori.scores import Scores, Trials
from priori.uncertainty.bootstrap.plans import Identities
from priori.uncertainty.cluster_variance import kish

#: The seed of random groups, with the plan's own.
GROUPS = 3_000_019


@dataclass(frozen=True, eq=False)
class Units:
    """The unit of each trial of either class as a code; units from one of ``strata`` to the next are drawn together.

    ``partner`` is the other unit of a negative where trials are crossed, -1 where it has none. ``sizes`` are the trials
    of each class (rows) that units have.
    """

    negative: NDArray[np.int32]
    positive: NDArray[np.int32]
    partner: NDArray[np.int32] | None
    strata: Ints
    sizes: Floats

    @property
    def count(self) -> int:
        """The number of units."""
        return int(self.strata[-1])

    @property
    def classes(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The units of the negatives and of the positives."""
        return self.negative, self.positive

    @cached_property
    def correction(self) -> Floats:
        """What the influence of a unit lacks because deviations are taken from the mean observed: its inverse.

        A unit with the share h of a class pulls the mean to itself by so much (Bell and McCaffrey 2002, CR2); of n
        equal ones n / (n - 1) of the variance is left to add. More than half of a class counts as half.
        """
        share = (self.sizes / np.maximum(self.sizes.sum(axis=1, keepdims=True), 1e-300)).max(axis=0)
        return np.asarray(1 / np.sqrt(1 - np.minimum(share, 0.5))[:, None])

    @property
    def evenness(self) -> float:
        """The effective units of a class (Kish 1965) as a share of those that have any; 1 where all are alike."""
        return float((kish(self.sizes.T) / np.maximum(np.count_nonzero(self.sizes, axis=1), 1)).min())

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
        by_class = of_class @ (influence**2).sum(axis=1)
        spread = ((share.T @ by_class) ** 2).sum(axis=0)
        most = max(float(np.count_nonzero(sizes.sum(axis=0)) - 1), 1.0)
        effective = np.divide(by_class.sum(axis=0) ** 2, spread, out=np.full(spread.size, most + 1), where=spread > 0)
        return np.asarray(np.clip(effective - 1, 1.0, most))


def group_units(
    scores: Scores, identities: Identities | None, most: int, seed: int, *, by_class: bool = False
) -> Units:
    """Return what is drawn of a set: users, or trials class by class; of more than ``most``, random groups.

    Identities may be drawn ``by_class`` too, where they are random parts of the trials.
    """
    rng = np.random.default_rng((seed, GROUPS))
    classes = scores.negative, scores.positive

    def group(count: int, limit: int) -> NDArray[np.int32]:
        return (np.arange(count) if count <= limit else rng.permutation(count) % limit).astype(np.int32)

    partner = None
    if identities is None or by_class:
        if identities is None:
            negative, positive = (group(trials.score.size, most // 2) for trials in classes)
        else:
            codes = identities.negative, identities.positive
            negative, positive = (np.unique(own, return_inverse=True)[1].astype(np.int32) for own in codes)
        first = int(negative.max()) + 1
        positive = (positive + first).astype(np.int32)
        strata = np.array([0, first, int(positive.max()) + 1])
    else:
        groups = group(identities.count, most)
        negative, positive = groups[identities.negative], groups[identities.positive]
        if identities.negative_partner is not None:
            partner = groups[identities.negative_partner]
            # Two people of one group are drawn as one.
            partner[(identities.negative_partner < 0) | (partner == negative)] = -1
        strata = np.array([0, int(groups.max()) + 1])
    sizes = [
        _sizes(codes, trials, int(strata[-1])) for codes, trials in zip((negative, positive), classes, strict=True)
    ]
    if partner is not None:
        sizes[0] = sizes[0] + _sizes(partner + 1, scores.negative, int(strata[-1]) + 1)[1:]
    return Units(negative, positive, partner, strata, np.stack(sizes))


def row_units(scores: Scores) -> Identities:
    """Return every trial as a unit of its own, of whichever class: so the share of positives varies as well."""
    negatives, positives = scores.negative.score.size, scores.positive.score.size
    codes = np.arange(negatives + positives, dtype=np.int32)
    return Identities(codes[:negatives], codes[negatives:], None, negatives + positives)


def part_units(scores: Scores) -> Identities:
    """Return the parts that trials were counted by as units: the users of the set stand for them."""
    negative, positive = scores.negative.user, scores.positive.user
    assert negative is not None
    assert positive is not None
    return Identities(negative, positive, None, 1 + max(int(negative.max()), int(positive.max())))


def _sizes(codes: NDArray[Any], trials: Trials, units: int) -> Floats:
    return np.bincount(codes, trials.number, units).astype(np.float64)


def without_noise(influence: Floats, noise: Floats) -> Floats:
    """Return influences whose sums of products are those given minus those of ``noise``, else as near as can be.

    Both have a column for each value; what would be negative is 0.
    """
    left, size, right = np.linalg.svd(influence, full_matrices=False)
    kept = size > 1e-9 * size.max(initial=0.0)
    if not kept.any():
        return influence
    left, size, right = left[:, kept], size[kept], right[kept]
    across = noise @ right.T
    values, vectors = np.linalg.eigh(np.diag(size**2) - across.T @ across)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    turn_left, _, turn_right = np.linalg.svd(size[:, None] * root)
    return np.asarray(left @ (turn_left @ turn_right) @ root @ right)
