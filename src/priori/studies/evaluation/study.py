"""The study: everything a report shows, computed once and frozen. It holds numbers; the words are made from them."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from priori._version import __version__
from priori.base.cautions import Caution
from priori.base.errors import OptionError
from priori.base.types import Ints, Mask
from priori.curves.checks import MOVING, curve_cautions
from priori.curves.epc import EPC, curves_of
from priori.decisions.recipe import Recipe
from priori.scores.systems import System
from priori.studies.evaluation import particulars
from priori.studies.evaluation.drawing import deployable
from priori.studies.evaluation.member import Member
from priori.studies.evaluation.pairs import (
    Letters,
    Pair,
    Tested,
    compare_systems,
    letters_of,
    run_tests,
    with_confidence,
)
from priori.studies.evaluation.particulars import SystemCosts, priced
from priori.studies.evaluation.settings import Settings
from priori.uncertainty.bands.bands import Band, make_band
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.expected.influences import Estimates
from priori.uncertainty.ranking.leaderboard import Leaderboard, can_draw_tables, leaderboard_of
from priori.uncertainty.ranking.ranking import Ranking
from priori.uncertainty.ranking.ranks import ranks_of as places_of

#: Called with the name of the stage, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]

#: A page of more systems than this would not be read.
MOST_SYSTEMS = 200
#: Up to this many systems, each has a colour of its own and every pair a row.
FEW = 8
#: With more systems, this many have a colour: those that matter.
COLOURED = 5


@dataclass(frozen=True, eq=False)
class Study:
    """Everything a report shows. Made by `make_study`.

    Attributes
    ----------
    settings : Settings
    members : tuple of Member
        The systems, in the order given.
    pairs : tuple of Pair
        Every two systems against each other.
    letters : tuple or None
        For each alpha the letters of every system, of a few; those that share one do not differ significantly.
    ranking : Ranking or None
        The tests that the pairs of three or more systems come from.
    board : Leaderboard or None
        Three or more systems at the alpha of interest: ranks in advance and a posteriori, with intervals.
    estimates : Estimates or None
        What is expected of the systems as methods, where that was tested.
    priced : tuple of SystemCosts
        What the systems cost by the amounts of their trials, the cheapest first, where it was asked for.
    at : int
        The place of the alpha of interest among the alphas.
    versions : dict
        What computed it.
    command : str or None
        The command that makes the same report again.
    """

    settings: Settings
    members: tuple[Member, ...]
    pairs: tuple[Pair, ...]
    letters: Letters | None
    ranking: Ranking | None
    board: Leaderboard | None
    estimates: Estimates | None
    priced: tuple[SystemCosts, ...]
    at: int
    versions: dict[str, str]
    command: str | None = None

    @property
    def curves(self) -> tuple[EPC, ...]:
        """The Expected Performance Curves of the systems."""
        return tuple(member.curve for member in self.members)

    @property
    def many(self) -> bool:
        """Whether there are too many systems for a colour each."""
        return len(self.members) > FEW

    @cached_property
    def standings(self) -> tuple[Ints, Ints, Mask] | None:
        """For each system (row) at each alpha between which ranks it lies, and whether it could be the best.

        Where systems are many, only the latter is tested.
        """
        return None if self.ranking is None else self.ranking.standings()

    @cached_property
    def matter(self) -> tuple[int, ...]:
        """The systems that are drawn in colour; of many the best, the runner-up, and others that could be the best."""
        if not self.many:
            return tuple(range(len(self.members)))
        order = self.order_at(self.at)
        others = [system for system in order[2:] if self.standings is not None and self.standings[2][system, self.at]]
        return (*order[:2], *others[: COLOURED - 2])

    @cached_property
    def pairs_that_matter(self) -> tuple[Pair, ...]:
        """The pairs to look at one by one: all of a few systems; of many the best with each other that matters."""
        if not self.many:
            return self.pairs
        best, *others = self.matter
        of_two = {frozenset((pair.a, pair.b)): pair for pair in self.pairs}
        return tuple(of_two[frozenset((best, other))] for other in others)

    @cached_property
    def first_pair(self) -> int:
        """Which of the pairs to look at comes first: the best system and the runner-up."""
        best = set(self.order_at(self.at)[:2])
        return next((row for row, pair in enumerate(self.pairs_that_matter) if {pair.a, pair.b} == best), 0)

    def order_at(self, index: int) -> list[int]:
        """Return the systems from best to worst at an alpha."""
        return sorted(range(len(self.members)), key=ranks_of(self.curves, index).__getitem__)

    def best_at(self, index: int) -> Member:
        """Return the system that is best at an alpha."""
        return self.members[self.order_at(index)[0]]

    @cached_property
    def findings(self) -> tuple[tuple[Caution, ...], ...]:
        """What the checks of each system's scores and of its threshold at the alpha of interest find."""
        return tuple(curve_cautions(curve, [self.at])[0] for curve in self.curves)

    @cached_property
    def moving_findings(self) -> list[list[Caution]]:
        """What depends on the threshold of the best system, at each alpha."""
        best = [self.order_at(index)[0] for index in range(self.curves[0].alpha.size)]
        found: list[list[Caution]] = [[] for _ in best]
        for system in dict.fromkeys(best):
            rows = [index for index, leader in enumerate(best) if leader == system]
            for row, cautions in zip(rows, curve_cautions(self.curves[system], rows), strict=True):
                found[row] = [caution for caution in cautions if caution.code in MOVING]
        return found

    # What only some data have; see `particulars`.
    limits = cached_property(particulars.limited)
    calibration = cached_property(particulars.calibrated)
    settling = cached_property(particulars.settling)
    users = cached_property(particulars.users_of_best)
    groups = cached_property(particulars.groups_of_best)
    attacked = cached_property(particulars.attacked)
    report_card = cached_property(particulars.report_card)
    worst_errors = cached_property(particulars.worst_errors)


def ranks_of(curves: Sequence[EPC], index: int) -> list[int]:
    """Return the rank of each curve at an alpha; 1 is best, equals share a rank."""
    sign = -1 if curves[0].measure.greater_is_better else 1
    ranks: list[int] = places_of(sign * np.array([curve.value[index] for curve in curves])).tolist()
    return ranks


def make_study(
    systems: Sequence[System],
    settings: Settings | None = None,
    *,
    progress: Progress | None = None,
    command: str | None = None,
) -> Study:
    """Compute everything a report shows.

    Parameters
    ----------
    systems : sequence of System
        One or more, each with its own name.
    settings : Settings, optional
        What to compute.
    progress : callable, optional
        Called with (stage, done, total) as the work goes on. To cancel, raise an exception from it.
    command : str, optional
        The command that makes the same report again, to be shown in it.

    Raises
    ------
    OptionError, InputError
        Where the systems or the settings do not allow it; the message says what to do.

    Examples
    --------
    >>> import numpy as np
    >>> from priori import Scores
    >>> from priori.report import Settings, System, make_study
    >>> rng = np.random.default_rng(0)
    >>> dev, test = (Scores.from_arrays(rng.normal(0, 1, 500), rng.normal(3, 1, 300)) for _ in range(2))
    >>> study = make_study([System("A", dev, test)], Settings(bootstrap=None))
    >>> study.curves[0].value[study.at].round(3)
    np.float64(0.058)
    """
    settings = settings or Settings()
    report = progress or (lambda stage, done, total: None)
    _check(systems)
    alphas, count = settings.alphas, len(systems)
    index = alphas.index(settings.alpha)
    costs = priced(systems, settings)
    report("curves", 0, count)
    recipe = Recipe(settings.domain, settings.rule, settings.shown, ()).at(alphas)
    curves = curves_of({system.name: (system.dev, system.test) for system in systems}, recipe)
    tested = run_tests(curves, settings, few=count <= FEW, progress=partial(report, "comparisons"))
    bands = [_band(curve, tested, settings, partial(report, "bands"), done, count) for done, curve in enumerate(curves)]
    pairs = compare_systems(curves, tested)
    ranking = tested.result if tested and isinstance(tested.result, Ranking) else None
    letters = letters_of(tested.result, pairs) if tested and count <= FEW else None
    board = _board(curves, bands, tested, settings)
    members = []
    drawn = zip(systems, curves, deployable(curves), bands, strict=True)
    for done, parts in enumerate(drawn):
        report("drawings", done, count)
        members.append(Member.of(*parts, index=index, level=settings.confidence_level, systems=min(count, FEW)))
    report("drawings", count, count)
    versions = {"priori": __version__, "python": platform.python_version(), "numpy": np.__version__}
    estimates = tested.evidence.estimates if tested else None
    made = Study(settings, tuple(members), pairs, letters, ranking, board, estimates, costs, index, versions, command)
    return replace(made, pairs=with_confidence(pairs, curves, set(made.matter), settings))


def _check(systems: Sequence[System]) -> None:
    if not systems:
        raise OptionError("a report needs at least one system")
    if len(systems) > MOST_SYSTEMS:
        raise OptionError(f"a report shows at most {MOST_SYSTEMS} systems, not {len(systems)}")
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OptionError(f"two systems are called {twice[:40]!r}; give each its own name")


def _board(
    curves: Sequence[EPC], bands: Sequence[Band | None], tested: Tested | None, settings: Settings
) -> Leaderboard | None:
    """Rank three or more systems that were tested on the same trials, where these can be drawn."""
    index, name = settings.alphas.index(settings.alpha), settings.testing.bootstrap
    drawn = name is None or can_draw_tables(BOOTSTRAPS[name]) or not any(curve.test.scanned for curve in curves)
    if tested is None or not isinstance(tested.result, Ranking) or settings.unpaired or not drawn:
        return None
    lower, upper = np.array([(band.lower[index], band.upper[index]) for band in bands if band is not None]).T
    return leaderboard_of(tested.evidence, tested.result, index, (lower, upper))


def _band(
    curve: EPC, tested: Tested | None, settings: Settings, progress: Callable[[int, int], None], done: int, count: int
) -> Band | None:
    if settings.bootstrap is None:
        return None

    def over_all(part: int, whole: int) -> None:
        progress(done * whole + part, count * whole)

    estimated = None if tested is None else tested.evidence.estimated(done)
    return make_band(curve, settings.resampling, threads=settings.threads, progress=over_all, estimated=estimated)
