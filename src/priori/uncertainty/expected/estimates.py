"""Estimates: values of systems, and how much each independent unit of the data moves them.

A unit is a user, a trial, or a group of either that stays together. The variance of any contrast of systems is the
sum of the squares of what the units contribute to it, so one set of influences serves every comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from priori.base.types import Floats
from priori.scores.influence import satterthwaite, welch

#: The purpose of the stream of normal weights; one more for each part.
WEIGHTS = 2_000_003
#: Normal weights that are made at a time: some ten megabytes.
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
        columns = np.eye(self.value.shape[1]) if shares is None else np.asarray(shares, dtype=np.float64)[:, None]
        squares, degrees = [], []
        for part in self.parts:
            moved = np.einsum("usa,s->ua", part.influence, weights) @ columns
            squares.append((moved**2).sum(axis=0))
            most = part.degrees if shares is None else part.degrees @ columns
            degrees.append(satterthwaite(squares[-1], (moved**4).sum(axis=0), most, units=len(moved)))
        return weights @ self.value @ columns, np.sum(squares, axis=0), welch(squares, degrees)

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


def side_by_side(each: Sequence[Estimates], *, apart: bool = False) -> Estimates:
    """Return the estimates of several systems in one: of the same draws, or of systems that were drawn ``apart``."""
    value = np.concatenate([estimates.value for estimates in each])
    warnings = tuple(dict.fromkeys(warning for estimates in each for warning in estimates.warnings))
    if not apart:
        together = []
        for same in zip(*(estimates.parts for estimates in each), strict=True):
            moved = np.concatenate([part.influence for part in same], axis=1)
            together.append(Part(moved, np.min([part.degrees for part in same], axis=0)))
        return Estimates(value, tuple(together), warnings)
    parts, first = [], 0
    for estimates in each:
        for part in estimates.parts:
            influence = np.zeros((len(part.influence), *value.shape))
            influence[:, first : first + len(estimates.value)] = part.influence
            parts.append(Part(influence, part.degrees))
        first += len(estimates.value)
    return Estimates(value, tuple(parts), warnings)
