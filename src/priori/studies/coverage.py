"""Promises: does a band hold the curve it speaks of? The experiment of section 5 of Poh and Bengio, 2007."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import OptionError
from priori.base.layouts import FLAG, LEVEL, NUMBERS, PLAIN_NUMBER, SIZE, Layout, Schema, choice, maybe, of, record
from priori.base.results import Result
from priori.base.saved import Saved, partly_saved
from priori.base.types import Floats, Progress
from priori.curves.epc import epc
from priori.scores.remote import loaded
from priori.studies.experiments import FOUR, PREDICTION, Design, Pair, Thresholds, Variant
from priori.studies.simulation import generator
from priori.uncertainty.proportions import check_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PREDICTION", "Conjecture", "Coverage", "coverage"]


@dataclass(frozen=True)
class Conjecture:
    """Conjecture (14) of the 2007 paper: width(S, 1) <= width(1, U) <= width(S, U), at the largest S and U.

    ``widths`` are the mean ones of the user-constrained, the user and the joint bootstrap; ``share`` of the single
    bands it holds, ``holds`` says whether it does for the means.
    """

    widths: tuple[float, float, float]
    share: float

    @property
    def holds(self) -> bool:
        """Whether the mean widths are in the order conjectured."""
        return self.widths[0] <= self.widths[1] <= self.widths[2]


SETTINGS: dict[str, Schema] = {
    **of(SIZE, "systems repeats"),
    "fixed": {"type": "integer", "minimum": 1},
    "confidence_level": LEVEL,
    **of(SIZE, "train_users test_users"),
    "resample": choice("test", "both"),
    "thresholds": choice(*get_args(Thresholds)),
    "seed": SIZE,
}


@partly_saved
@dataclass(frozen=True, eq=False, repr=False)
class Coverage(Result):
    """The share of unseen curves that bands cover, and how wide they are. Made by `coverage`.

    Attributes
    ----------
    bootstrap : tuple of str
        The bootstrap of each row.
    draws : ndarray
        U and S of each row: draws of users, and of trials within each (1 where none is made).
    covered, widths : ndarray
        For each experiment (a system and a draw of users) and each row: the share of the unseen curve inside the
        band, and the band's expected width.
    settings : dict
        Everything that decides the numbers.
    """

    bootstrap: tuple[str, ...]
    draws: NDArray[np.int64]
    covered: Floats
    widths: Floats
    settings: dict[str, Any]

    _layout = Layout(
        "The share of unseen curves that bands cover: one row per bootstrap and number of draws.",
        {"bootstrap": "text", **of("integer", "U S"), **of("number", "coverage standard_error width")},
        {
            **SETTINGS,
            "experiments": SIZE,
            "conjecture": maybe(record({"widths": NUMBERS, "share": PLAIN_NUMBER, "holds": FLAG})),
        },
        settings=SETTINGS,
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        told, table = saved["conjecture"], saved.columns("bootstrap", "U", "S")
        return super()._from_parts(
            saved,
            bootstrap=tuple(table["bootstrap"].tolist()),
            draws=np.column_stack([table["U"], table["S"]]),
            _experiments=saved["experiments"],
            conjecture=Conjecture(tuple(told["widths"]), told["share"]) if told else None,
            **known,
        )

    @cached_property
    def _experiments(self) -> int:
        return len(self.covered)

    @cached_property
    def coverage(self) -> Floats:
        """The mean share covered, by row."""
        return np.asarray(self.covered.mean(axis=0))

    @cached_property
    def standard_error(self) -> Floats:
        """The standard error of the mean share, experiments taken for independent; NaN for one experiment."""
        size = len(self.covered)
        if size < 2:
            return np.full(self.covered.shape[1], np.nan)
        return np.asarray(self.covered.std(axis=0, ddof=1) / np.sqrt(size))

    @cached_property
    def width(self) -> Floats:
        """The mean expected width, by row."""
        return np.asarray(self.widths.mean(axis=0))

    @cached_property
    def conjecture(self) -> Conjecture | None:
        """Conjecture (14), where the three bootstraps it speaks of were run."""
        found_rows = [self._last(name) for name in ("user-constrained", "user", "joint")]
        rows = [row for row in found_rows if row is not None]
        if len(rows) < 3:
            return None
        found = self.widths[:, rows]
        narrow, middle, wide = (float(width) for width in found.mean(axis=0))
        share = float(np.mean((found[:, 0] <= found[:, 1]) & (found[:, 1] <= found[:, 2])))
        return Conjecture((narrow, middle, wide), share)

    def _last(self, bootstrap: str) -> int | None:
        """Return the row with the most draws of a bootstrap; the joint one's with the most draws of users."""
        rows = [row for row, name in enumerate(self.bootstrap) if name == bootstrap]
        return max(rows, key=lambda row: (*self.draws[row],), default=None)

    def lines(self) -> dict[str, list[int]]:
        """Return the rows of each line of Figure 2, by name: the joint bootstrap has one for U and one for S."""
        found: dict[str, list[int]] = {}
        for row, (name, (users, samples)) in enumerate(zip(self.bootstrap, self.draws.tolist(), strict=True)):
            of = f"{name}, S = {samples}" if name == "joint" and samples == self.settings["fixed"] else name
            of = f"{name}, U = {users}" if name == "joint" and of == name else of
            found.setdefault(of, []).append(row)
        return found

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the coverage against the number of draws (Figure 2); returns the axes."""
        from priori.plots import plot_coverage

        return plot_coverage(self, ax=ax, **options)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per bootstrap and number of draws."""
        return {
            "bootstrap": np.array(self.bootstrap),
            "U": self.draws[:, 0],
            "S": self.draws[:, 1],
            "coverage": self.coverage,
            "standard_error": self.standard_error,
            "width": self.width,
        }

    def summary(self) -> dict[str, Any]:
        """Return the settings and conjecture (14)."""
        found = self.conjecture
        told = None if found is None else {"widths": list(found.widths), "share": found.share, "holds": found.holds}
        return {**self.settings, "experiments": self._experiments, "conjecture": told}


def coverage(
    systems: Sequence[Pair] | Mapping[str, Pair],
    *,
    train_users: int = 31,
    test_users: int = 62,
    bootstraps: Sequence[str] = (*FOUR, PREDICTION),
    n_resamples: int | Sequence[int] = (10, 30, 100),
    fixed: int = 30,
    repeats: int = 1,
    confidence_level: float = 0.95,
    resample: Literal["test", "both"] = "both",
    thresholds: Thresholds = "kept",
    rng: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    **curve: Any,
) -> Coverage:
    """Make bands from some users and see how much of the curve of others they cover (2007, section 5, Figure 2).

    Parameters
    ----------
    systems : sequence or mapping of (dev, test)
        The pool: for each system its development and its test scores, with users.
    train_users, test_users : int
        How many users a band is made from, and how many others show the curve it should hold.
    bootstraps : sequence of str
        Any of ``sample``, ``user``, ``user-constrained``, ``joint``, all with the paper's percentile interval; and
        ``prediction``, our band with the promise of holding the curve of ``test_users`` unseen users.
    n_resamples : int or sequence of int
        The numbers of draws, U or S, to look at; of the joint bootstrap first U varies, then S, and the other is
        ``fixed``. The prediction band has as many replicates as the largest joint one.
    fixed : int
        The number that is held in the joint bootstrap; 30, as the paper found to be enough.
    repeats : int
        How often users are drawn anew.
    resample : {"both", "test"}
        Whether the four bootstraps redraw the development set too (the paper's way) or the test set only.
    thresholds : {"kept", "anew"}
        The unseen curve has the thresholds of the band's own development users, fixed in advance; or those of as
        many other development users. The paper does not say which.
    **curve
        Options of `priori.epc`: task, criterion, measure, points, alpha.

    Returns
    -------
    Coverage
        With ``coverage``, ``standard_error``, ``width`` by row, and ``conjecture`` (14).

    Examples
    --------
    >>> import priori
    >>> from priori.studies.simulation import systems
    >>> pool = systems(2, 40, 5, 20, rng=1)
    >>> found = priori.coverage(pool, train_users=12, test_users=24, n_resamples=40, points=11)
    >>> found.bootstrap
    ('sample', 'user', 'user-constrained', 'joint', 'joint', 'prediction')
    """
    design = Design(
        train_users, test_users, check_level(confidence_level), resample, thresholds, rng, threads, tuple(bootstraps)
    )
    given = systems.values() if isinstance(systems, Mapping) else systems
    pool = [tuple(map(loaded, pair)) for pair in given]  # experiments redraw trials: they must be in memory
    variants = design.variants(n_resamples, fixed)
    for pair in pool:
        design.check(pair)
    if not pool or repeats < 1:
        raise OptionError("give at least one system, as a pair of development and test scores, and one repeat")
    found = []
    for done, (number, repeat) in enumerate(np.ndindex(len(pool), repeats), start=1):
        found.append(_experiment(design, variants, pool[number], (number, repeat), curve))
        if progress:
            progress(done, len(pool) * repeats)
    shares, widths = np.moveaxis(np.array(found), 2, 0)
    return Coverage(
        tuple(variant.bootstrap for variant in variants for _ in variant.rows),
        np.array([row for variant in variants for row in variant.rows], dtype=np.int64),
        shares,
        widths,
        {"systems": len(pool), "repeats": repeats, "fixed": fixed, **design.settings()},
    )._came_from(*(test for _, test in pool))


def _experiment(
    design: Design, variants: Sequence[Variant], pair: Pair, which: tuple[int, int], options: Mapping[str, Any]
) -> list[tuple[float, float]]:
    """Return, for each row, the share of an unseen curve that a band covers, and the band's expected width."""
    number, repeat = which
    seen, unseen = design.draw(*pair, repeat)
    curve, future = epc(*seen, **options), epc(*unseen, **options).value
    seed = int(generator((design.seed, repeat, number)).integers(0, 2**62))
    return [
        (float(np.mean((lower <= future) & (future <= upper))), float(np.mean(upper - lower)))
        for variant in variants
        for lower, upper in variant.bounds(curve, {**design.band_options(variant.bootstrap), "rng": seed})
    ]
