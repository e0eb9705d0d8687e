"""Coverage: the share of unseen curves that bands cover. The experiment of section 5 of Poh and Bengio, 2007."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError, OptionError
from priori.base.layouts import FLAG, LEVEL, NUMBERS, PLAIN_NUMBER, SIZE, Layout, Schema, choice, maybe, of, record
from priori.base.results import Result
from priori.base.saved import Saved, partly_saved
from priori.base.types import Floats, Progress
from priori.curves.epc import epc
from priori.curves.inputs import as_score_set
from priori.decisions.criteria import Criterion
from priori.decisions.measures import Measure, Task
from priori.decisions.outcomes import Outcomes
from priori.scores import ScoreSet
from priori.studies.experiments import FOUR, PREDICTION, Experiment, Pair, Tally, Thresholds, run, standard_error
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.plans import Resample
from priori.uncertainty.bootstrap.resampling import Resampling

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        return standard_error(self.covered)

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
            line = name
            if name in BOOTSTRAPS and BOOTSTRAPS[name].nested:
                line += f", S = {samples}" if samples == self.settings["fixed"] else f", U = {users}"
            found.setdefault(line, []).append(row)
        return found

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the coverage against the number of draws (Figure 2); returns the axes."""
        from priori.plots import plot_coverage

        return plot_coverage(self, ax=ax)

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
    resample: Resample = "both",
    thresholds: Thresholds = "kept",
    rng: int = 0,
    threads: int | None = None,
    task: str | Task = "authentication",
    criterion: str | Criterion | Callable[[Outcomes, float], Any] | None = None,
    measure: str | Measure | Callable[[Outcomes], Any] | None = None,
    points: int = 101,
    bounds: tuple[Any, Any] = (0, 1),
    alpha: Any = None,
    preset: str | None = None,
    progress: Progress | None = None,
) -> Coverage:
    """Make bands from some users and see how much of the curve of others they cover (2007, section 5, Figure 2).

    Parameters
    ----------
    systems : sequence or mapping of (dev, test)
        The pool: for each system its development and its test scores, with users.
    train_users, test_users : int
        How many users a band is made from, and how many others show the curve it should cover.
    bootstraps : sequence of str
        Any of ``sample``, ``user``, ``user-constrained``, ``joint``, all with the paper's percentile interval; and
        ``prediction``, our band that is to cover the curve of ``test_users`` unseen users.
    n_resamples : int or sequence of int
        The numbers of draws, U or S, to look at; of the joint bootstrap first U varies, then S, and the other is
        ``fixed``. The prediction band has as many replicates as the largest joint one.
    fixed : int
        The number that is held in the joint bootstrap; 30, as the paper found to be enough.
    repeats : int
        How often users are drawn.
    resample : {"both", "test"}
        Whether the four bootstraps resample the development set too (the paper's way) or the test set only.
    thresholds : {"kept", "anew"}
        The unseen curve has the thresholds of the band's own development users, fixed in advance; or those of as
        many other development users. The paper does not say which.
    task, criterion, measure, points, bounds, alpha, preset
        Of the curves, as in `priori.epc`.

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
    curve_of = partial(
        epc, task=task, criterion=criterion, measure=measure, points=points, bounds=bounds, alpha=alpha, preset=preset
    )
    shared = Resampling(confidence_level=confidence_level, resample=resample)
    experiment = Experiment(train_users, test_users, shared, thresholds, rng, tuple(bootstraps))
    given = systems.values() if isinstance(systems, Mapping) else systems
    pool = [_in_memory(pair) for pair in given]
    variants = experiment.variants(n_resamples, fixed)
    for pair in pool:
        experiment.check(pair)
    if not pool or repeats < 1:
        raise OptionError("give at least one system, as a pair of development and test scores, and one repeat")
    tally = Tally()
    for done, (number, repeat) in enumerate(np.ndindex(len(pool), repeats), start=1):
        run(experiment, variants, pool[number], (number, repeat), curve_of, tally, threads=threads)
        if progress:
            progress(done, len(pool) * repeats)
    shares, widths = np.array(list(tally.repeats.values())).T.copy()
    return Coverage(
        tuple(variant.bootstrap for variant in variants for _ in variant.rows),
        np.array([row for variant in variants for row in variant.rows], dtype=np.int64),
        shares,
        widths,
        {"systems": len(pool), "repeats": repeats, "fixed": fixed, **experiment.settings()},
    )._came_from(*(test for _, test in pool))


def _in_memory(system: Sequence[ScoreSet]) -> Pair:
    """Return the two sets of a system with their trials in memory: experiments resample them."""
    refusal = InputError("each system must be a pair of Scores: development and test")
    if len(system) != 2:
        raise refusal
    dev, test = (as_score_set(scores, refusal).load() for scores in system)
    return dev, test
