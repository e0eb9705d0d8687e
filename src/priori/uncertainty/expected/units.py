"""Units: what is drawn as a whole (users, trials, or random groups of many), and what influences of units become."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints
from priori.scores import Scores
from priori.scores.influence import People, freedom_of_sizes, kish
from priori.uncertainty.bootstrap.layout import Identities

#: The seed of random groups, with the plan's own.
GROUPS = 3_000_019


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
        return np.asarray(freedom_of_sizes(sizes, (of_class @ (influence**2).sum(axis=1))[:, None])[0])


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
        negatives = int(negative.max()) + 1
        positive = (positive + negatives).astype(np.int32)
        strata = np.array([0, negatives, int(positive.max()) + 1])
    else:
        groups = group(identities.count, most)
        negative, positive = groups[identities.negative], groups[identities.positive]
        if identities.negative_partner is not None:
            partner = groups[identities.negative_partner]
            # Two people of one group are drawn as one.
            partner[(identities.negative_partner < 0) | (partner == negative)] = -1
        strata = np.array([0, int(groups.max()) + 1])
    count, (number, positive_number) = int(strata[-1]), (trials.number for trials in classes)
    people = People(negative, count, partner, number), People(positive, count, number=positive_number)
    return Units(people, strata)


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
