"""The study: everything a report shows, computed once and frozen. It holds numbers; the words are made from them."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from priori._version import __version__
from priori.base.cautions import Caution
from priori.base.errors import OptionError
from priori.base.results import plain
from priori.curves.areas import Areas, areas
from priori.curves.epc import EPC, epc
from priori.curves.roc import AposterioriDET, AposterioriROC, a_posteriori_auc, a_posteriori_eer
from priori.scores.systems import SourceFile, System
from priori.studies.evaluation.drawing import ScoreHistogram, bin_scores, thinned_curves
from priori.studies.evaluation.pairs import Letters, Pair, make_pairs
from priori.studies.evaluation.settings import Settings
from priori.uncertainty.bands import Band, make_band

if TYPE_CHECKING:
    from priori.words.sentences import Answers

#: Called with the name of the stage, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]

#: More systems than this cannot be told apart by colour and line.
MOST_SYSTEMS = 32


@dataclass(frozen=True, eq=False)
class Member:
    """One system of a study: its curve and band, its a posteriori curves thinned for drawing, its scores in bins."""

    name: str
    curve: EPC
    band: Band | None
    roc: AposterioriROC
    det: AposterioriDET
    histogram: ScoreHistogram
    areas: Areas
    area: float | None
    auc: float
    eer: float
    dev_file: SourceFile | None
    test_file: SourceFile | None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists."""
        return {
            **self.curve.to_dict(),
            "band": None if self.band is None else self.band.to_dict(),
            "areas": {**plain(self.areas.to_dict()), "epc": self.area},
            "a_posteriori": {"auc": self.auc, "eer": self.eer},
            "histogram": plain(vars(self.histogram)),
            "files": {
                "dev": self.dev_file and asdict(self.dev_file),
                "test": self.test_file and asdict(self.test_file),
            },
        }


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
        For each alpha the letters of every system; those that share one do not differ significantly.
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
    at: int
    versions: dict[str, str]
    command: str | None = None

    @property
    def curves(self) -> tuple[EPC, ...]:
        """The Expected Performance Curves of the systems."""
        return tuple(member.curve for member in self.members)

    @cached_property
    def verdict(self) -> Answers:
        """The answers in words, at the alpha of interest."""
        from priori.words.sentences import verdict

        return verdict(self, self.at)

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """What to mind, at the alpha of interest."""
        from priori.words.cautions import cautions

        return cautions(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists, ready for JSON."""
        from priori.words.sentences import heading

        return {
            "title": heading(self),
            "settings": plain(self.settings.to_dict()),
            "verdict": {answer.key: answer.answer for answer in self.verdict.answers},
            "cautions": plain(list(self.cautions)),
            "systems": [member.to_dict() for member in self.members],
            "comparisons": [pair.to_dict() for pair in self.pairs],
            "ranks": ranks_of(self.curves, self.at),
            "letters": None if self.letters is None else list(self.letters[self.at]),
            "versions": self.versions,
            "command": self.command,
        }


def ranks_of(curves: Sequence[EPC], index: int) -> list[int]:
    """Return the rank of each curve at an alpha; 1 is best, equals share a rank."""
    sign = -1 if curves[0].measure.greater_is_better else 1
    values = [sign * float(curve.value[index]) for curve in curves]
    return [1 + sum(other < value for other in values) for value in values]


def make_study(
    systems: Sequence[System], settings: Settings | None = None, *, progress: Progress | None = None,
    command: str | None = None,
) -> Study:  # fmt: skip
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
    >>> print(study.verdict.answers[0].answer)
    At equal costs (alpha = 0.5), A's expected HTER is 5.8 %.
    """
    settings = settings or Settings()
    report = progress or (lambda stage, done, total: None)
    _check(systems)
    alphas, count = settings.alphas, len(systems)
    index = alphas.index(settings.alpha)
    curves = []
    for done, system in enumerate(systems):
        report("curves", done, count)
        curves.append(
            epc(system.dev, system.test, task=settings.domain, criterion=settings.rule, measure=settings.shown,
                alpha=alphas, name=system.name)
        )  # fmt: skip
    bands = [_band(curve, settings, partial(report, "bands"), done, count) for done, curve in enumerate(curves)]
    pairs, letters = make_pairs(curves, settings, progress=partial(report, "comparisons"))
    members = []
    for done, (system, curve, band) in enumerate(zip(systems, curves, bands, strict=True)):
        report("drawings", done, count)
        members.append(_member(system, curve, band, index))
    report("drawings", count, count)
    versions = {"priori": __version__, "python": platform.python_version(), "numpy": np.__version__}
    return Study(settings, tuple(members), pairs, letters, index, versions, command)


def _check(systems: Sequence[System]) -> None:
    if not systems:
        raise OptionError("a report needs at least one system")
    if len(systems) > MOST_SYSTEMS:
        raise OptionError(f"a report shows at most {MOST_SYSTEMS} systems, not {len(systems)}")
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OptionError(f"two systems are called {twice[:40]!r}; give each its own name")


def _band(curve: EPC, settings: Settings, progress: Callable[[int, int], None], done: int, count: int) -> Band | None:
    if settings.bootstrap is None:
        return None

    def over_all(part: int, whole: int) -> None:
        progress(done * whole + part, count * whole)

    return make_band(curve, settings.resampling, threads=settings.threads, progress=over_all)


def _member(system: System, curve: EPC, band: Band | None, index: int) -> Member:
    dev, test = system.dev, system.test
    try:
        area: float | None = curve.area
    except OptionError:  # a criterion without an exact curve
        area = None
    return Member(
        system.name, curve, band, *thinned_curves(test, system.name),
        bin_scores(dev, test, float(curve.threshold[index])), areas(dev, test, task=curve.task), area,
        a_posteriori_auc(test), a_posteriori_eer(test), system.dev_file, system.test_file,
    )  # fmt: skip
