"""Limits that error rates at thresholds fixed in advance must keep: for `priori check`, and for tests of your own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args
from xml.etree import ElementTree

from priori.base.errors import OptionError, unknown
from priori.base.quantiles import error_allowed
from priori.base.types import Progress
from priori.curves.epc import EPC, epc
from priori.decisions.criteria import get_criterion
from priori.decisions.measures import get_measure
from priori.decisions.recipe import AnyCriterion
from priori.decisions.tasks import Task
from priori.uncertainty.bands.bands import make_band
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparing.claims import Claim
from priori.uncertainty.comparing.comparison import comparison_of
from priori.uncertainty.comparing.evidence import gather_evidence

__all__ = ["assert_no_worse", "assert_rate"]

#: What a limit is held against: the end of the interval on the wrong side, or the value itself.
At = Literal["upper", "value"]


@dataclass(frozen=True)
class Checked:
    """One limit, what it was held against, and whether it is kept."""

    system: str
    what: str
    value: float
    lower: float
    upper: float
    limit: float
    at: str
    kept: bool
    rate: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What was asked, and what is."""
        return (
            f"{self.system}: {self.what} {self.value:.6g} (from {self.lower:.6g} to {self.upper:.6g}), limit "
            f"{self.limit:.6g} at {self.at}: {'kept' if self.kept else 'broken'}"
        )

    def asserted(self) -> Self:
        """Raise `AssertionError` where the limit is broken."""
        if not self.kept:
            raise AssertionError(self.sentence)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        names = ("system", "what", "value", "lower", "upper", "limit", "at", "kept")
        return {name: getattr(self, name) for name in names}


def check_limits(
    curve: EPC,
    maxima: Mapping[str, float],
    resampling: Resampling,
    *,
    at: At = "upper",
    minima: Mapping[str, float] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Checked]:
    """Hold measures of a system, at the one alpha of its curve, against limits.

    With ``at="upper"`` it is the end of the interval that must keep the limit: the upper one of a maximum, the lower
    one of a minimum.
    """
    if at not in get_args(At):
        raise unknown("end to hold a limit against", at, get_args(At))
    if curve.alpha.size != 1:
        raise OptionError("limits are held against at one alpha; give one")
    checked = []
    asked = [(name, limit, True) for name, limit in maxima.items()]
    asked += [(name, limit, False) for name, limit in (minima or {}).items()]
    for name, limit, most in asked:
        measure = get_measure(name)
        if measure.rate and not 0 <= limit <= 1:
            raise OptionError(f"{name} lies between 0 and 1, and so must its limit: 0.05 for 5 %, not {limit:g}")
        band = make_band(curve.showing(measure), resampling, threads=threads, progress=progress)
        value, lower, upper = (float(column[0]) for column in (band.value, band.lower, band.upper))
        held = value if at == "value" else upper if most else lower
        end = "value" if at == "value" else "upper" if most else "lower"
        kept = held <= limit if most else held >= limit
        checked.append(Checked(curve.name, name, value, lower, upper, limit, end, kept, measure.rate, band.warnings))
    return checked


def check_no_worse(
    curve: EPC,
    other: EPC,
    margin: float,
    resampling: Resampling,
    *,
    claim: Claim = "deployed",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Checked:
    """Test that a system is no worse than another by more than a margin, at the one alpha of both."""
    evidence = gather_evidence([curve, other], resampling, claim, margin=margin, threads=threads, progress=progress)
    found = comparison_of(evidence)
    assert found.margin is not None
    kept = bool(found.margin.a_no_worse[0] < error_allowed(found.margin.confidence_level) / 2)
    greater = curve.measure.greater_is_better
    what = f"{curve.measure.name} minus that of {other.name}"
    value, lower, upper = (float(column[0]) for column in (found.difference, found.lower, found.upper))
    limit, end = (-margin, "lower") if greater else (margin, "upper")
    return Checked(curve.name, what, value, lower, upper, limit, end, kept, curve.measure.rate, found.warnings)


def junit_xml(checked: Sequence[Checked]) -> str:
    """Return the limits as a JUnit report, one test case each."""
    broken = sum(not each.kept for each in checked)
    suite = ElementTree.Element("testsuite", name="priori check", tests=str(len(checked)), failures=str(broken))
    for each in checked:
        case = ElementTree.SubElement(suite, "testcase", classname=each.system, name=f"{each.what} {each.limit:.6g}")
        if not each.kept:
            ElementTree.SubElement(case, "failure", message=each.sentence)
        ElementTree.SubElement(case, "system-out").text = each.sentence
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


# -- for tests of your own -----------------------------------------------------------------------------------------


def assert_rate(
    dev: Any,
    test: Any,
    rate: str = "hter",
    *,
    maximum: float | None = None,
    minimum: float | None = None,
    at: At = "upper",
    alpha: Any = None,
    task: str | Task = "authentication",
    criterion: AnyCriterion = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: int = 0,
    name: str = "system",
) -> Checked:
    """Raise `AssertionError` unless a rate on the test scores keeps a limit, at the threshold of development scores.

    Parameters
    ----------
    dev, test : Scores, Table, or frame
        As in `priori.epc`.
    rate : str
        A measure: ``hter``, ``far``, ``frr``, ``recall``, ...
    maximum, minimum : float
        The limit; give one of them.
    at : {"upper", "value"}
        Hold the end of the confidence interval against it (the lower one against a minimum), or the value itself.
    alpha, task, criterion
        How the threshold is chosen, as in `priori.choose_threshold`.
    confidence_level, n_resamples, rng
        How the interval is made, as in `priori.EPC.band`.

    Examples
    --------
    >>> import numpy as np, priori
    >>> from priori.testing import assert_rate
    >>> rng = np.random.default_rng(1)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 500), rng.normal(3, 1, 500)) for _ in range(2))
    >>> assert_rate(dev, test, "hter", maximum=0.10).kept
    True
    >>> assert_rate(dev, test, "far", maximum=0.001)
    Traceback (most recent call last):
    ...
    AssertionError: system: far 0.124 (from 0.0984684 to 0.156662), limit 0.001 at upper: broken
    """
    if (maximum is None) == (minimum is None):
        raise OptionError("give a maximum or a minimum")
    chosen = get_criterion(criterion, task).alpha_or_half(alpha)
    curve = epc(dev, test, task=task, criterion=criterion, measure=rate, alpha=[chosen], name=name)
    resampling = Resampling(n_resamples=n_resamples, confidence_level=confidence_level, rng=rng)
    maxima, minima = ({} if limit is None else {rate: limit} for limit in (maximum, minimum))
    return check_limits(curve, maxima, resampling, at=at, minima=minima)[0].asserted()


def assert_no_worse(
    system: tuple[Any, Any],
    other: tuple[Any, Any],
    margin: float,
    rate: str = "hter",
    *,
    claim: Claim = "deployed",
    alpha: Any = None,
    task: str | Task = "authentication",
    criterion: AnyCriterion = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: int = 0,
    names: tuple[str, str] = ("system", "other"),
) -> Checked:
    """Raise `AssertionError` unless a system is shown to be no worse than another by more than a margin.

    Parameters
    ----------
    system, other : pairs of Scores, Table, or frame
        The development and the test scores of each, on the same test trials.
    margin : float
        By how much the system may be worse: 0.005 is half a percentage point.
    rate, alpha, task, criterion, confidence_level, n_resamples, rng
        As in `assert_rate`.
    claim : {"deployed", "method"}
        About these thresholds, or systems tuned on similar development sets, as in `priori.compare`.

    Examples
    --------
    >>> import numpy as np, priori
    >>> from priori.testing import assert_no_worse
    >>> rng = np.random.default_rng(1)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 500), rng.normal(3, 1, 500)) for _ in range(2))
    >>> assert_no_worse((dev, test), (dev, test), margin=0.01, n_resamples=1000).kept
    True
    """
    chosen = get_criterion(criterion, task).alpha_or_half(alpha)
    settings: dict[str, Any] = {"task": task, "criterion": criterion, "measure": rate, "alpha": [chosen]}
    curve, against = (epc(*sets, **settings, name=name) for sets, name in zip((system, other), names, strict=True))
    resampling = Resampling(n_resamples=n_resamples, confidence_level=confidence_level, rng=rng)
    return check_no_worse(curve, against, margin, resampling, claim=claim).asserted()
