"""Attacks: which negatives are attacks and of which type, and what each weighs where attacks have a share of their own.

Given omega, FAR_omega = omega IAPMR + (1 - omega) FAR (Chingovska, Anjos and Marcel 2014) is a rate of false acceptance
whose negatives weigh differently: an attack omega / attacks, a zero-effort impostor (1 - omega) / impostors. Multiplied
by the denominator of omega and by the sizes of both, these are whole numbers, so the hull, the ties and every threshold
are exact as always, and an EPSC at one omega is an EPC of such a set. A trial that weighs nothing is as if it were not
there: at omega 0 and 1 the set is that of impostors, or of attacks, alone.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.base.dataframes import as_text, is_missing, unmasked
from priori.base.errors import InputError
from priori.base.types import Codes, Counts, Floats, Mask
from priori.scores.labels import normal
from priori.scores.trials import Names, Trials, one_column

#: What stands in a column of attack types where a trial is no attack; compared in lower case.
NO_ATTACK = (
    "",
    "-",
    "none",
    "no",
    "na",
    "n/a",
    "nan",
    "<na>",
    "null",
    "bonafide",
    "bona fide",
    "bona-fide",
    "genuine",
    "licit",
    "real",
    "impostor",
    "nontarget",
    "zero-effort",
)


def attack_codes(
    types: NDArray[Any] | None, marked: Mask | None, labels: NDArray[Any], positive: Mask
) -> tuple[Names | None, Codes | None]:
    """Return the names of the attack types, "" first, and the code of every trial's; None where nothing names attacks.

    ``types`` is a column of attack types, ``marked`` says which labels mark attacks; one without a type has its label
    as type. Without marks, a trial of the negative class is an attack where its type is neither a word for none nor one
    that a positive trial has too.

    Examples
    --------
    >>> names, codes = attack_codes(np.array(["real", "-", "mask"]), None, np.zeros(3), np.array([True, False, False]))
    >>> names.values.tolist(), codes.tolist()
    (['', 'mask'], [0, 0, 1])
    """
    if types is None and marked is None:
        return None, None
    if marked is None:
        assert types is not None
        values, index = np.unique(types.astype(str), return_inverse=True)
        none = {*NO_ATTACK, *(normal(value) for value in values[np.unique(index[positive])])}
        marked = ~np.array([normal(value) in none for value in values], dtype=np.bool_)[index]
    attack = marked & ~positive
    held = labels.astype(str)
    if types is not None:
        held = np.where(types.astype(str) == "", held, types.astype(str))
    values, index = np.unique(held[attack], return_inverse=True)
    codes = np.zeros(attack.size, dtype=np.int32)
    codes[attack] = index + 1
    return Names(np.append(np.array([""], dtype=values.dtype), values)), codes


def type_names(values: ArrayLike, size: int) -> NDArray[Any]:
    """Return a column of attack types as text; where one is missing, the trial is no attack."""
    array = one_column(unmasked(np.asanyarray(values)))
    if array.ndim != 1 or array.size != size:
        raise InputError(f"attack: {array.size} values for {size} scores")
    return as_text(np.array(["" if is_missing(value) else value for value in array.tolist()], dtype=object), "attack")


class Mixture(NamedTuple):
    """The negatives of a set whose attacks have the share omega: two strata, and what a trial of each weighs."""

    impostors: Trials
    attacks: Trials
    impostor_weight: int
    attack_weight: int

    @classmethod
    def of(cls, negative: Trials, omega: Fraction) -> Mixture:
        """Take the negatives of a set apart; ``omega`` lies between 0 and 1."""
        assert negative.attack is not None
        attack = negative.attack > 0
        impostors, attacks = (negative.take(np.flatnonzero(mask)) for mask in (~attack, attack))
        p, q = omega.numerator, omega.denominator
        weights = (q - p) * len(attacks), p * len(impostors)
        common = gcd(*weights)
        return cls(impostors, attacks, weights[0] // common, weights[1] // common)

    @property
    def whole(self) -> int:
        """What all negatives weigh together."""
        return self.impostor_weight * len(self.impostors) + self.attack_weight * len(self.attacks)

    @property
    def heaviest(self) -> float:
        """How many average trials the heaviest trial is worth."""
        trials = len(self.impostors) + len(self.attacks)
        return max(self.impostor_weight, self.attack_weight) * trials / self.whole

    def rejected(self, thresholds: Any) -> Counts:
        """Return what the negatives at or below each threshold weigh."""
        tn = [weight * part.rejected(thresholds) for part, weight in zip(self[:2], self[2:], strict=True)]
        return np.asarray(tn[0] + tn[1])

    def variance(self, thresholds: Any) -> Floats:
        """Return the variance of FAR_omega at each threshold, trials being independent."""
        variance = np.zeros(np.shape(thresholds))
        for part, weight in zip(self[:2], self[2:], strict=True):
            rate = 1 - part.rejected(thresholds) / len(part)
            variance += (weight * len(part) / self.whole) ** 2 * rate * (1 - rate) / len(part)
        return variance

    def weights(self, negative: Trials) -> Floats:
        """Return what each negative weighs, in average trials."""
        assert negative.attack is not None
        each = np.where(negative.attack > 0, float(self.attack_weight), float(self.impostor_weight))
        number = 1.0 if negative.number is None else negative.number
        return np.asarray(number * each * (len(negative) / self.whole))
